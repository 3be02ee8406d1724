#include "fluid/grid/pressure_solver.h"

#include <doctest/doctest.h>

#include <Eigen/Dense>

#include "fluid/grid/surface.h"
#include "linalg/multigrid.h"
#include "near.h"
#include "validate/case_tools.h"
#include "worlds.h"

using namespace flotsam;

namespace {

Domain box(Int3 cells) {
    Domain domain;
    domain.cells = cells;
    domain.h = 1.0 / cells.x;
    return domain;
}

template <class Distance>
Field<double> distance_field(const Domain& domain, const Distance& distance) {
    Field<double> phi(whole_tiling(domain.cells), outside_distance(domain));
    for_each_cell(phi.tiling(), domain.cells,
                  [&](Int3 c, std::int64_t n) { phi[n] = distance(domain.cell_center(c)); });
    return phi;
}

MacGrid noisy_velocity(const Domain& domain, const std::shared_ptr<const Tiling>& tiling) {
    MacGrid u;
    for (int axis = 0; axis < 3; ++axis) {
        u[axis] = Field<double>(tiling, 0);
        for_each_cell(*tiling, domain.cells + unit(axis),
                      [&](Int3, std::int64_t n) { u[axis][n] = test::noise(3 * n + axis); });
    }
    return u;
}

const double dt = 0.01;
SolverSettings tight(Solver solver = Solver::iccg) { return {solver, {1e-12, 1e-15, 2000}}; }

template <class Body>
void for_each_cell_on_one_thread(const Tiling& tiling, Int3 end, const Body& body) {
    for (std::int64_t slot = 0; slot < tiling.tile_count(); ++slot)
        for_each_cell_of_tile(tiling, slot, end, body);
}

double largest(const MacGrid& u, const std::array<Field<char>, 3>& where) {
    double m = 0;
    for (int axis = 0; axis < 3; ++axis)
        for (std::int64_t n = 0; n < u[axis].tiling().value_count(); ++n)
            if (where[axis][n]) m = std::max(m, std::abs(u[axis][n]));
    return m;
}

// Gravity must move nothing.
PressureUpdate stays_at_rest(const PressureSystem& system) {
    MacGrid u;
    for (auto& component : u) component = Field<double>(system.phi.shared_tiling(), 0);
    Field<double> potential(system.phi.shared_tiling(), 0), source(system.phi.shared_tiling(), 0);
    PressureUpdate report = solve_pressure(system, source, dt, {}, u, potential);
    CHECK(report.solve.converged);
    CHECK(largest(u, report.changed) < 1e-6);
    return report;
}

}  // namespace

TEST_CASE("water at rest with an exactly known surface stays at rest at every level against the grid") {
    for (const double level : {0.5, 0.51, 0.5371, 0.55, 0.4999})
        for (const Int3 cells : {Int3{16, 16, 16}, Int3{32, 32, 1}}) {
            const Domain domain = box(cells);
            const PressureSystem system =
                pressure_system(domain, distance_field(domain, [&](Vec3 p) { return p.y - level; }),
                                {0, -9.81, 0}, 1000, no_obstacles);
            const PressureUpdate report = stays_at_rest(system);
            // The floor carries the weight of the water, and the sides balance.
            const double weight = 1000 * 9.81 * level * domain.size().x * domain.size().z * dt;
            CHECK(report.loads.wall_impulse.y == near(weight).relative(1e-10));
            CHECK(std::abs(report.loads.wall_impulse.x) < 1e-6 * weight);
        }
}

TEST_CASE("a tilted gravity has a tilted surface at rest") {
    const Domain domain = box({24, 24, 24});
    const Vec3 up{0.3, 0.9, -0.2};
    const PressureSystem system =
        pressure_system(domain,
                        distance_field(domain,
                                       [&](Vec3 p) {
                                           return dot(up, p - Vec3{0.5, 0.5, 0.5}) / length(up);
                                       }),
                        -10.0 * up, 1000, no_obstacles);
    stays_at_rest(system);
}

TEST_CASE("the projection leaves no divergence, and projecting again changes nothing") {
    const Domain domain = box({16, 12, 10});
    const PressureSystem system =
        pressure_system(domain,
                        distance_field(domain,
                                       [](Vec3 p) {
                                           return length(p - Vec3{0.5, 0.3, 0.3}) - 0.27;
                                       }),
                        {}, 1000, no_obstacles);
    MacGrid u = noisy_velocity(domain, system.phi.shared_tiling());
    Field<double> potential(system.phi.shared_tiling(), 0), source(system.phi.shared_tiling(), 0);
    PressureUpdate report = solve_pressure(system, source, dt, tight(), u, potential);
    CHECK(report.solve.converged);
    CHECK(report.largest_divergence < 1e-8 / domain.h);
    const MacGrid once = u;
    potential.fill(0);
    report = solve_pressure(system, source, dt, tight(), u, potential);
    double difference = 0;
    for (int axis = 0; axis < 3; ++axis)
        for (std::size_t n = 0; n < u[axis].values().size(); ++n)
            difference = std::max(difference, std::abs(u[axis].values()[n] - once[axis].values()[n]));
    CHECK(difference < 1e-9);
}

TEST_CASE("what the pressure takes is orthogonal to what it leaves: gradient and divergence are transposes") {
    // With masses theta on the faces, <G x, u - G x> = 0 for the projected u: Pythagoras for kinetic energy.
    const Domain domain = box({17, 13, 9});
    const PressureSystem system =
        pressure_system(domain, distance_field(domain, [](Vec3 p) { return p.y + 0.2 * p.x - 0.45; }), {},
                        1000, no_obstacles);
    MacGrid u = noisy_velocity(domain, system.phi.shared_tiling());
    Field<double> potential(system.phi.shared_tiling(), 0), source(system.phi.shared_tiling(), 0);
    const MacGrid before = u;
    const PressureUpdate report = solve_pressure(system, source, dt, tight(Solver::multigrid), u, potential);
    double product = 0, size = 0;
    for (int axis = 0; axis < 3; ++axis)
        for_each_cell_on_one_thread(
            system.phi.tiling(), domain.cells + unit(axis), [&](Int3 c, std::int64_t n) {
                if (!report.changed[axis][n] || c[axis] == 0 || c[axis] == domain.cells[axis])
                    return;  // walls do no work
                const double theta = system.face(c, axis, 0, system.phi(c), system.phi(c - unit(axis))).theta;
                const double taken = before[axis][n] - u[axis][n];
                product += theta * taken * u[axis][n];
                size += theta * taken * taken;
            });
    CHECK(size > 1);
    CHECK(std::abs(product) < 1e-9 * size);
}

TEST_CASE("the assembled matrix is symmetric positive definite") {
    const Domain domain = box({7, 6, 5});
    const PressureSystem system =
        pressure_system(domain, distance_field(domain, [](Vec3 p) { return p.y + 0.2 * p.x - 0.55; }),
                        {0, -9.81, 0}, 1000, no_obstacles);
    const SymmetricMatrix matrix = assemble(system.network).matrix;
    const int rows = matrix.rows();
    REQUIRE(rows > 20);
    Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(rows, rows);
    for (int r = 0; r < rows; ++r)
        for (int e = matrix.row_begin[r]; e < matrix.row_begin[r + 1]; ++e)
            dense(r, matrix.column[e]) = dense(matrix.column[e], r) = matrix.value[e];
    CHECK(Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(dense).eigenvalues().minCoeff() > 1e-3);
}

TEST_CASE("multigrid and ICCG give the same velocity, in 2D and 3D, for tiles full, cut and empty") {
    for (const Int3 cells : {Int3{40, 36, 28}, Int3{100, 60, 1}, Int3{9, 33, 2}, Int3{3, 3, 3}}) {
        Domain domain = box(cells);
        domain.walls[y_high].kind = WallKind::open;
        const Vec3 size = domain.size();
        const auto distance = [&](Vec3 p) {
            return std::min(p.y - 0.6 * size.y + 0.1 * p.x, length(p - size) - 0.3 * size.y);
        };
        const PressureSystem system =
            pressure_system(domain, distance_field(domain, distance), {0, -9.81, 0}, 1000, no_obstacles);
        std::array<MacGrid, 2> u;
        std::array<int, 2> iterations;
        for (int s = 0; s < 2; ++s) {
            u[s] = noisy_velocity(domain, system.phi.shared_tiling());
            Field<double> potential(system.phi.shared_tiling(), 0), source(system.phi.shared_tiling(), 0);
            const PressureUpdate report = solve_pressure(
                system, source, dt, tight(s == 0 ? Solver::multigrid : Solver::iccg), u[s], potential);
            CHECK(report.solve.converged);
            iterations[s] = report.solve.iterations;
        }
        double difference = 0;
        for (int axis = 0; axis < 3; ++axis)
            for (std::size_t n = 0; n < u[0][axis].values().size(); ++n)
                difference = std::max(difference, std::abs(u[0][axis].values()[n] - u[1][axis].values()[n]));
        CHECK(difference < 1e-8);
        CHECK(iterations[0] <= 25);
    }
}

TEST_CASE("the V-cycle is symmetric and positive") {
    const Domain domain = box({20, 20, 20});
    const PressureSystem system =
        pressure_system(domain, distance_field(domain, [](Vec3 p) { return p.y + 0.3 * p.z - 0.6; }),
                        {0, -9.81, 0}, 1000, no_obstacles);
    Multigrid multigrid(system.network);
    const std::int64_t values = system.network.tiling().value_count();
    std::vector<double> a(values, 0.0), b(values, 0.0);
    for (std::int64_t n = 0; n < values; ++n)
        if (system.network.coefficients(n / 512).diagonal[n % 512] > 0)
            a[n] = test::noise(n), b[n] = test::noise(2 * n + 1);
    const std::vector<float> ma = multigrid.precondition(a), mb = multigrid.precondition(b);
    double ab = 0, ba = 0, aa = 0;
    for (std::int64_t n = 0; n < values; ++n) ab += ma[n] * b[n], ba += mb[n] * a[n], aa += ma[n] * a[n];
    CHECK(aa > 0);
    CHECK(std::abs(ab - ba) < 1e-5 * aa);
}

TEST_CASE("a brim-full closed box is solved up to a constant, and what cannot flow is reported") {
    const Domain domain = box({8, 8, 8});
    const PressureSystem system = pressure_system(domain, distance_field(domain, [](Vec3) { return -1.0; }),
                                                  {0, -9.81, 0}, 1000, no_obstacles);
    REQUIRE(system.sealed.size() == 1);
    CHECK(system.sealed[0].size() == 8 * 8 * 8);
    MacGrid u = noisy_velocity(domain, system.phi.shared_tiling());
    Field<double> potential(system.phi.shared_tiling(), 0), source(system.phi.shared_tiling(), 0);
    PressureUpdate report = solve_pressure(system, source, dt, {}, u, potential);
    CHECK(report.solve.converged);
    CHECK(report.largest_divergence < 1e-4);
    source.fill(0.5);  // everything wants to expand, nothing can
    report = solve_pressure(system, source, dt, {}, u, potential);
    CHECK(report.removed_flux == near(0.5).relative(1e-12));
    CHECK(report.solve.converged);
}

TEST_CASE("an open side lets the pressure out") {
    Domain domain = box({8, 8, 8});
    domain.walls[x_high].kind = WallKind::open;
    const PressureSystem system =
        pressure_system(domain, distance_field(domain, [](Vec3) { return -1.0; }), {}, 1000, no_obstacles);
    CHECK(system.sealed.empty());
    MacGrid u;
    for (auto& component : u) component = Field<double>(system.phi.shared_tiling(), 0);
    Field<double> potential(system.phi.shared_tiling(), 0), source(system.phi.shared_tiling(), 1.0);
    source.fill(1.0);
    const PressureUpdate report = solve_pressure(system, source, dt, tight(), u, potential);
    CHECK(report.removed_flux == 0);
    double outflow = 0;
    for (int j = 0; j < 8; ++j)
        for (int k = 0; k < 8; ++k) outflow += u[0](8, j, k) * domain.h * domain.h;
    CHECK(outflow == near(1.0).relative(1e-12));  // all of the unit cube's expansion leaves there
}

TEST_CASE("layers of any density stay at rest, and a heavier layer above a lighter one does not") {
    for (const Int3 cells : {Int3{16, 16, 16}, Int3{24, 24, 1}})
        for (const bool stable : {true, false}) {
            CAPTURE(cells.z);
            CAPTURE(stable);
            const Domain domain = box(cells);
            const double surface = 0.8371, gravity = 9.81;
            Field<double> phi = distance_field(domain, [&](Vec3 p) { return p.y - surface; });
            // Density depends on the height alone, or, for what must turn over, on x, too.
            const auto density = [&](Vec3 p) {
                return stable      ? 400 + 1200 * test::noise(std::int64_t(p.y / domain.h)) * 0.4 + 300
                       : p.x < 0.5 ? 1500.0
                                   : 500.0;
            };
            Lightness lightness;
            for (int axis = 0; axis < 3; ++axis) {
                lightness[axis] = Field<double>(phi.shared_tiling(), 1);
                for_each_cell(phi.tiling(), domain.cells + unit(axis), [&](Int3 c, std::int64_t n) {
                    const Vec3 face = Vec3(c) * domain.h + Vec3{0.5, 0.5, 0.5} * domain.h -
                                      Vec3(unit(axis)) * (0.5 * domain.h);
                    lightness[axis][n] = 1000 / density(face);
                });
            }
            const PressureSystem system =
                pressure_system(domain, std::move(phi), {0, -gravity, 0}, 1000, no_obstacles, lightness);
            MacGrid u;
            for (auto& component : u) component = Field<double>(system.phi.shared_tiling(), 0);
            const Field<double> none(system.phi.shared_tiling(), 0);
            const PressureUpdate report = solve_pressure(system, none, dt, tight(Solver::multigrid), u, none);
            CHECK(report.solve.converged);
            CHECK(report.largest_divergence < 1e-6);
            if (stable) {
                CHECK(largest(u, report.changed) < 1e-6);
                continue;
            }
            // The heavy side goes down, the light one up, by as much.
            const int j = cells.y / 4;
            CHECK(u[1](cells.x / 4, j, 0) < -0.05 * gravity * dt);
            CHECK(u[1](3 * cells.x / 4, j, 0) > 0.05 * gravity * dt);
        }
}

TEST_CASE(
    "with a density of its own at every face the pressure still takes what is orthogonal to what it leaves") {
    const Domain domain = box({16, 12, 10});
    Field<double> phi = distance_field(domain, [](Vec3 p) { return p.y - 0.5 + 0.2 * p.x; });
    Lightness lightness;
    for (int axis = 0; axis < 3; ++axis) {
        lightness[axis] = Field<double>(phi.shared_tiling(), 1);
        for_each_cell(phi.tiling(), domain.cells + unit(axis),
                      [&](Int3, std::int64_t n) { lightness[axis][n] = 1.5 + test::noise(3 * n + axis); });
    }
    const PressureSystem system = pressure_system(domain, std::move(phi), {}, 1000, no_obstacles, lightness);
    MacGrid u = noisy_velocity(domain, system.phi.shared_tiling());
    const Field<double> none(system.phi.shared_tiling(), 0);
    const MacGrid before = u;
    const PressureUpdate report = solve_pressure(system, none, dt, tight(), u, none);
    CHECK(report.largest_divergence < 1e-8 / domain.h);
    double product = 0, size = 0;
    for (int axis = 0; axis < 3; ++axis)
        for_each_cell_on_one_thread(
            system.phi.tiling(), domain.cells + unit(axis), [&](Int3 c, std::int64_t n) {
                if (!report.changed[axis][n] || c[axis] == 0 || c[axis] == domain.cells[axis]) return;
                const Face f = system.face(c, axis, 0, system.phi(c), system.phi(c - unit(axis)));
                // Its mass: density times the volume between where potentials are known.
                const double mass = f.theta / f.lightness, taken = before[axis][n] - u[axis][n];
                product += mass * taken * u[axis][n];
                size += mass * taken * taken;
            });
    CHECK(std::abs(product) < 1e-8 * size);
}

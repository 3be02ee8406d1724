#include "fluid/grid/obstacles.h"
#include "fluid/grid/confines.h"

#include <doctest/doctest.h>

#include <numbers>

#include "fluid/grid/pressure_solver.h"
#include "fluid/grid/pressure_stages.h"
#include "fluid/grid/solid_interface.h"
#include "fluid/grid/surface.h"
#include "geometry/solid_shape.h"
#include "near.h"
#include "validate/case_tools.h"
#include "worlds.h"

using namespace flotsam;

namespace {

// A solid in a box of n^3 cells of 1 m, moving as a whole from one pose to another.
struct Setting {
    Domain domain;
    std::shared_ptr<const Tiling> tiling;
    SolidShape shape;
    Obstacles obstacles;

    Setting(Int3 cells, SolidShape s, Pose before, Pose after, double dt) : shape(std::move(s)) {
        domain.cells = cells;
        domain.h = 1.0 / cells.x;
        tiling = whole_tiling(cells);
        TriangleMesh mesh = shape.mesh;
        for (Vec3& v : mesh.vertices) v = after.to_world(v);
        const auto cut = std::make_shared<CutSolid>(cut_solid(mesh, cells, domain.h));
        obstacles = place_obstacles(
            {{shape.distance, before, after, 1.0, twist_between(before, after, dt), cut}}, domain, tiling);
    }
};

// One projection of water at rest: nothing moves. Returns what the solids feel.
PressureUpdate check_rest(const Setting& s, const Field<double>& phi) {
    const PressureSystem system = pressure_system(s.domain, phi, {0, -9.81, 0}, 1000, s.obstacles);
    MacGrid u;
    for (auto& component : u) component = Field<double>(s.tiling, 0);
    Field<double> potential(s.tiling, 0), source(s.tiling, 0);
    PressureUpdate report = solve_pressure(system, source, 0.01, {}, u, potential);
    CHECK(report.solve.converged);
    double fastest = 0;
    for (int axis = 0; axis < 3; ++axis)
        for (std::int64_t n = 0; n < s.tiling->value_count(); ++n)
            if (report.changed[axis][n]) fastest = std::max(fastest, std::abs(u[axis][n]));
    CHECK(fastest < 1e-6);
    return report;
}

const Pose tilted{{0.52, 0.43, 0.49}, Rotation::about({1, 2, 0.5}, 0.6)};

std::vector<SolidShape> shapes() {
    return {solid_sphere(0.2, 0.02), solid_box({0.3, 0.2, 0.25}), solid_torus(0.2, 0.06, 0.02),
            solid_cone(0.2, 0.3, 0.02), solid_box({0.5, 0.012, 0.4})};
}

}  // namespace

TEST_CASE("liquid and solid moving together have no divergence in any cut cell, after every clamp") {
    const Vec3 v{1.3, -0.7, 2.1};
    const double dt = 0.01;
    for (const SolidShape& shape : shapes()) {
        Pose before = tilted;
        before.position -= v * dt;
        const Setting s({20, 20, 20}, shape, before, tilted, dt);
        double worst = 0;
        int cut_cells = 0;
        for (std::int64_t slot = 0; slot < s.tiling->tile_count(); ++slot)
            for_each_cell_of_tile(*s.tiling, slot, s.domain.cells, [&](Int3 c, std::int64_t n) {
                double sum = s.obstacles.outflow[n];
                for (int a = 0; a < 3; ++a)
                    sum += v[a] * (s.obstacles.open_face[a](c + unit(a)) - s.obstacles.open_face[a][n]);
                worst = std::max(worst, std::abs(sum));
                cut_cells += s.obstacles.outflow[n] != 0;
            });
        CHECK(cut_cells > 20);
        CHECK(worst < 1e-12);
    }
}

TEST_CASE(
    "around an immersed solid water stays at rest and pushes with the weight it displaces, at any pose") {
    for (const SolidShape& shape : shapes())
        for (const double level : {0.8, 0.913}) {
            const Setting s({24, 24, 24}, shape, tilted, tilted, 0.01);
            Field<double> phi(s.tiling, outside_distance(s.domain));
            for_each_cell(*s.tiling, s.domain.cells,
                          [&](Int3 c, std::int64_t n) { phi[n] = s.domain.cell_center(c).y - level; });
            const PressureUpdate report = check_rest(s, phi);
            const double weight = 1000 * 9.81 * enclosed_volume(shape.mesh);
            CHECK(report.loads.solids[0].force.y == near(weight).relative(1e-10));
            CHECK(std::abs(report.loads.solids[0].force.x) < 1e-3 * weight);
            CHECK(std::abs(report.loads.solids[0].force.z) < 1e-3 * weight);
        }
}

TEST_CASE("a sloping surface that a solid pierces is solved to no divergence, by both solvers alike") {
    const Setting s({24, 24, 24}, solid_sphere(0.3, 0.02), tilted, tilted, 0.01);
    Field<double> phi(s.tiling, outside_distance(s.domain));
    for_each_cell(*s.tiling, s.domain.cells, [&](Int3 c, std::int64_t n) {
        const Vec3 p = s.domain.cell_center(c);
        phi[n] = 0.9 * (p.y + 0.4 * p.x - 0.7);
    });
    const PressureSystem system = pressure_system(s.domain, phi, {0, -9.81, 0}, 1000, s.obstacles);
    std::array<Vec3, 2> force;
    for (const int solver : {0, 1}) {
        MacGrid u;
        for (int axis = 0; axis < 3; ++axis) {
            u[axis] = Field<double>(s.tiling, 0);
            for (std::int64_t n = 0; n < s.tiling->value_count(); ++n) u[axis][n] = test::noise(3 * n + axis);
        }
        Field<double> potential(s.tiling, 0), source(s.tiling, 0);
        const SolverSettings settings{solver ? Solver::iccg : Solver::multigrid, {1e-11, 0, 500}};
        const PressureUpdate report = solve_pressure(system, source, 0.01, settings, u, potential);
        CHECK(report.solve.converged);
        CHECK(report.solve.iterations <= (solver ? 200 : 25));
        CHECK(report.largest_divergence < 1e-5);
        force[solver] = report.loads.solids[0].force;
    }
    CHECK(length(force[0] - force[1]) < 1e-6 * length(force[0]));
}

TEST_CASE(
    "a plate thinner than a cell holds two water levels apart, wherever it stands and however it is turned") {
    for (const double place : {0.5, 0.512, 0.53, 0.541})
        for (const double turn : {0.0, 0.21}) {
            const Int3 cells{24, 24, 24};
            const double thickness = 0.3 / cells.x;
            const Pose pose{{place, 0.5, 0.5}, Rotation::about({0, 1, 0.3}, turn)};
            const Setting s(cells, solid_box({thickness, 4.0, 4.0}), pose, pose, 0.01);
            // The distance of each side's level, taken at the place that stands for the cell.
            Field<double> phi(s.tiling, outside_distance(s.domain));
            const auto left = [&](Vec3 p) {
                const double x = pose.to_body(p).x;
                return std::abs(x) < 0.5 * thickness
                           ? s.obstacles.list[0].normal(p, 0.01 * s.domain.h).x * pose.rotation.row[0].x < 0
                           : x < 0;
            };
            for_each_cell(*s.tiling, s.domain.cells, [&](Int3 c, std::int64_t n) {
                const Vec3 p = s.domain.cell_center(c);
                phi[n] = p.y - (left(p) ? 0.7 : 0.31);
            });
            const PressureUpdate report = check_rest(s, phi);
            // The load is the difference of the two sides' hydrostatic forces, per metre of width.
            if (turn == 0) {
                const double load = 0.5 * 1000 * 9.81 * (0.7 * 0.7 - 0.31 * 0.31);
                CHECK(report.loads.solids[0].force.x == near(load).relative(2e-3));
            }
        }
}

TEST_CASE("no particle enters a solid or passes through it, however thin and fast") {
    const double dt = 0.02;
    Domain domain;  // everything is open: only the solid holds the particles
    domain.cells = {20, 20, 20};
    domain.h = 0.05;
    for (Wall& wall : domain.walls) wall.kind = WallKind::open;
    for (const SolidShape& shape : {solid_box({1.0, 0.01, 1.0}), solid_sphere(0.3, 0.02)})
        for (const double speed : {0.0, 3.0, 20.0}) {
            Pose before{{0.5, 0.5, 0.5}, {}}, after = before;
            after.position.y += speed * dt;
            after.rotation = Rotation::about({0, 0, 1}, 0.1);
            const std::vector<Obstacle> obstacles{{shape.distance, before, after, 1.0, {}, nullptr}};
            for (int i = 0; i < 2000; ++i) {
                const Vec3 from{0.5 + 0.4 * test::noise(i), 0.5 + 0.5 * test::noise(i + 7000),
                                0.5 + 0.4 * test::noise(i + 14000)};
                const Vec3 way = Vec3{test::noise(i + 1), test::noise(i + 2), test::noise(i + 3)} * 0.4;
                if (shape.distance->contains(before.to_body(from))) continue;
                const Vec3 to = Confines(domain, obstacles).stop(from, from + way);
                const Vec3 start = before.to_body(from), end = after.to_body(to);
                CHECK(shape.distance->distance(end) > 0);
                // Above the plate stays above it, unless it went around the edge.
                const bool beside = std::abs(start.x) > 0.45 || std::abs(start.z) > 0.45 ||
                                    std::abs(end.x) > 0.45 || std::abs(end.z) > 0.45;
                if (shape.mesh.vertices.size() == 8 && !beside) CHECK(start.y * end.y > 0);
            }
        }
}

TEST_CASE("a particle that meets a face slides on along it as far as it wanted to go that way") {
    Domain domain;
    domain.cells = {20, 20, 20};
    domain.h = 0.05;
    const SolidShape slab = solid_box({0.8, 0.2, 0.8});
    const Pose pose{{0.5, 0.4, 0.5}, Rotation::about({1, 0.5, 2}, 0.3)};
    const std::vector<Obstacle> obstacles{{slab.distance, pose, pose, 1.0, {}, nullptr}};
    const Confines confines(domain, obstacles);
    for (int i = 0; i < 50; ++i) {
        // In the slab's coordinates, whose upper face is at 0.1: from above it into it.
        const Vec3 from{0.2 * test::noise(i), 0.105, 0.2 * test::noise(i + 1000)};
        const Vec3 to = from + Vec3{0.06 * test::noise(i + 2000), -0.03, 0.06 * test::noise(i + 3000)};
        const Vec3 end = pose.to_body(confines.stop(pose.to_world(from), pose.to_world(to)));
        CHECK(length(end - Vec3{to.x, 0.1 + confines.gap(), to.z}) < 1e-9);
    }
}

TEST_CASE("no particle slips under a solid that stands on the floor, or between it and a wall") {
    Domain domain;
    domain.cells = {20, 20, 20};
    domain.h = 0.05;
    const SolidShape shape = solid_box({0.3, 0.2, 0.4});
    const Pose pose{{0.5, 0.1, 0.2}, {}};  // touches the floor and the back wall
    const std::vector<Obstacle> obstacles{{shape.distance, pose, pose, 1.0, {}, nullptr}};
    int tried = 0;
    for (int i = 0; i < 20000; ++i) {
        const Vec3 from{0.5 + 0.3 * test::noise(i), 1e-4 + 0.1 * (1 + test::noise(i + 7000)),
                        1e-4 + 0.3 * (1 + test::noise(i + 14000))};
        if (obstacles[0].distance(from) < 5e-5) continue;
        const Vec3 way{0.1 * test::noise(i + 1), 0.1 * test::noise(i + 2), 0.1 * test::noise(i + 3)};
        const Vec3 to = Confines(domain, obstacles).stop(from, from + way);
        CHECK(obstacles[0].distance(to) > 0);
        CHECK(domain.has_cell(domain.cell_of(to)));
        ++tried;
    }
    CHECK(tried > 5000);
}

TEST_CASE("a piston pushes exactly the liquid it displaces out of a brim-full tank with an open top") {
    const double dt = 0.01, speed = 0.5;
    Pose before{{0.0, 0.5, 0.5}, {}}, after = before;  // reaches through the left side
    after.position.x += speed * dt;
    Setting s({20, 20, 20}, solid_box({0.4, 2.0, 2.0}), before, after, dt);
    s.domain.walls[y_high].kind = WallKind::open;
    Field<double> phi(s.tiling, outside_distance(s.domain));
    for_each_cell(*s.tiling, s.domain.cells, [&](Int3, std::int64_t n) { phi[n] = -1; });
    const PressureSystem system = pressure_system(s.domain, phi, {}, 1000, s.obstacles);
    MacGrid u;
    for (auto& component : u) component = Field<double>(s.tiling, 0);
    Field<double> potential(s.tiling, 0), source(s.tiling, 0);
    const PressureUpdate report = solve_pressure(system, source, dt, {}, u, potential);
    CHECK(report.solve.converged);
    double out = 0;
    for (int i = 0; i < 20; ++i)
        for (int k = 0; k < 20; ++k)
            out += u[1](i, 20, k) * s.obstacles.open_face[1](i, 20, k) * s.domain.h * s.domain.h;
    CHECK(report.largest_divergence < 1e-4);
    CHECK(out == near(speed * 1.0).relative(1e-8));  // its speed times the tank's cross-section
    CHECK(report.loads.solids[0].force.x < 0);       // and the liquid resists
}

TEST_CASE("a particle under a ball that comes down on the floor is squeezed out, not swallowed") {
    Domain domain;
    domain.cells = {24, 24, 24};
    domain.h = 1.0 / 24;
    const SolidShape ball = solid_sphere(0.2, 0.02);
    for (const double beside : {0.0, 0.002, 0.005, 0.01}) {
        // Contacts may let it a little into the floor.
        for (const double height : {0.2005, 0.1985}) {
            const Pose before{{0.5, 0.25, 0.5}, {}}, after{{0.5, height, 0.5}, {}};
            const Vec3 from{0.5 + beside, 0.01, 0.5};
            const std::vector<Obstacle> obstacles{{ball.distance, before, after, 1.0, {}, nullptr}};
            const Vec3 to = Confines(domain, obstacles).stop(from, from);
            CAPTURE(beside);
            CAPTURE(height);
            CHECK(length(to - after.position) > 0.2);
            CHECK(to.y > 0);
            CHECK(length(to - from) < 2 * domain.h);
        }
    }
}

TEST_CASE("a bubble that a solid leaves behind becomes liquid, a cavity that is open to the air does not") {
    const Pose pose{{0.5, 0.5, 0.5}, {}};
    Setting s({20, 20, 20}, solid_sphere(0.2, 0.02), pose, pose, 0.01);
    for (const bool open : {false, true}) {
        Field<double> phi(s.tiling, outside_distance(s.domain));
        // Three cells above the ball are empty, or all of the column above it.
        for_each_cell(*s.tiling, s.domain.cells, [&](Int3 c, std::int64_t n) {
            const bool above = c.x == 10 && c.z == 10 && c.y >= 13 && (open || c.y < 16);
            phi[n] = above || c.y >= 18 ? 0.02 : -0.02;
        });
        close_voids(phi, s.obstacles, s.domain, 0.5);
        CHECK((phi(10, 14, 10) < 0) == !open);
        CHECK(phi(10, 19, 10) > 0);
    }
}

TEST_CASE("a closed box that is full has no bubbles, however large") {
    const Pose pose{{0.5, 0.5, 0.5}, {}};
    Setting s({20, 20, 20}, solid_sphere(0.2, 0.02), pose, pose, 0.01);
    const double room = 1 - 4.0 / 3 * std::numbers::pi * std::pow(0.2, 3);
    for (const double liquid : {0.99 * room, room}) {
        Field<double> phi(s.tiling, outside_distance(s.domain));
        for_each_cell(*s.tiling, s.domain.cells,
                      [&](Int3 c, std::int64_t n) { phi[n] = c.x > 5 && c.y < 6 ? 0.02 : -0.02; });
        close_voids(phi, s.obstacles, s.domain, liquid);
        CHECK((phi(10, 2, 10) < 0) == (liquid == room));
    }
}

TEST_CASE(
    "a pocket of less than a cell's volume is left out of the solve, a larger one and open water are not") {
    Domain domain;
    domain.cells = {24, 16, 16};
    domain.h = 1.0 / 16;
    const auto tiling = whole_tiling(domain.cells);
    // Two thick boxes, each with a cavity: of 0.8 and of 1.3 cells along its edges, neither on the grid's
    // planes.
    TriangleMesh boxes;
    const auto add_box = [&](Vec3 center, double edge, bool inside_out) {
        const int first = int(boxes.vertices.size());
        const TriangleMesh box = solid_box(Vec3{1, 1, 1} * (edge * domain.h)).mesh;
        for (const Vec3 v : box.vertices) boxes.vertices.push_back(v + center * domain.h);
        for (auto [a, b, c] : box.triangles) {
            if (inside_out) std::swap(b, c);
            boxes.triangles.push_back({first + a, first + b, first + c});
        }
    };
    const Vec3 small{6.4, 6.3, 7.1}, large{16.6, 6.7, 7.4};
    for (const Vec3 center : {small, large}) add_box(center, 6.1, false);
    add_box(small, 0.8, true);
    add_box(large, 1.3, true);
    const Obstacles obstacles =
        place_obstacles({{make_box(Vec3{}, domain.size()),
                          {},
                          {},
                          1.0,
                          {},
                          std::make_shared<CutSolid>(cut_solid(boxes, domain.cells, domain.h))}},
                        domain, tiling);
    Field<double> phi(tiling, 1);
    for_each_cell(*tiling, domain.cells,
                  [&](Int3 c, std::int64_t n) { phi[n] = domain.cell_center(c).y - 0.8; });
    const auto is_liquid = [&](const PressureSystem& system, Vec3 at) {
        return system.phi(domain.cell_of(at * domain.h)) < 0;
    };
    PressureSystem system = pressure_system(domain, phi, {0, -9.81, 0}, 1000, obstacles);
    REQUIRE(system.sealed.size() == 2);
    CHECK(leave_out_slits(system, obstacles.open_volume));
    CHECK(!is_liquid(system, small));
    CHECK(is_liquid(system, large));
    CHECK(is_liquid(system, {11.5, 6, 7}));  // between the boxes
    PressureSystem rest = pressure_system(domain, std::move(system.phi), {0, -9.81, 0}, 1000, obstacles);
    CHECK(rest.sealed.size() == 1);
    CHECK(!leave_out_slits(rest, obstacles.open_volume));
}

TEST_CASE("a particle between two crates that close on each other leaves along their faces") {
    Domain domain;
    domain.cells = {24, 24, 24};
    domain.h = 1.0 / 24;
    const SolidShape crate = solid_box({0.16, 0.12, 0.14});
    const Rotation tilted = Rotation::about({3, -1, 2}, 0.9);
    const Vec3 up = tilted * Vec3{0, 1, 0}, center{0.5, 0.45, 0.5};
    const SolidShape plank = solid_box({0.7, 0.12, 0.2});
    for (const double left : {2e-5, 5e-6, -2e-5})  // between them; contacts may let them overlap a little
        for (const double lifted : {0.0, 0.02}) {  // both, meanwhile: the lower one is a plank then
            const Pose lower{center, tilted}, moved{center + lifted * up, tilted},
                before{center + (0.12 + 5e-3) * up, tilted},
                after{center + (0.12 + left + lifted) * up, tilted};
            const std::vector<Obstacle> obstacles{
                {lifted > 0 ? plank.distance : crate.distance, lower, moved, 1.0, {}, nullptr},
                {crate.distance, before, after, 1.0, {}, nullptr}};
            for (int i = 0; i < 50; ++i) {
                CAPTURE(left);
                CAPTURE(lifted);
                CAPTURE(i);
                const Vec3 from =
                    center + tilted * Vec3{0.07 * test::noise(i), 0.06 + 2.5e-3, 0.06 * test::noise(i + 99)};
                const Vec3 to = Confines(domain, obstacles).stop(from, from);
                for (const Obstacle& o : obstacles) CHECK(o.distance(to) > 0);
                CHECK(length(to - from) < 0.2);
            }
        }
}

TEST_CASE("water at rest turns an immersed solid as a push at the middle of its volume does") {
    const auto off = [](const SolidShape& shape, int n) {
        const Setting s({n, n, n}, shape, tilted, tilted, 0.01);
        Field<double> phi(s.tiling, outside_distance(s.domain));
        for_each_cell(*s.tiling, s.domain.cells,
                      [&](Int3 c, std::int64_t k) { phi[k] = s.domain.cell_center(c).y - 0.9; });
        const SolidLoad load = check_rest(s, phi).loads.solids[0];
        const Vec3 middle = tilted.to_world(enclosed_moments(shape.mesh).center);
        const Vec3 weight{0, 1000 * 9.81 * enclosed_volume(shape.mesh), 0};
        const Box box = bounds(shape.mesh);
        return length(load.torque - cross(middle - tilted.position, weight)) /
               (weight.y * length(box.high - box.low));
    };
    // Not the last one: of a plate thinner than a cell both sides act at one place, and its torque is wrong.
    std::vector<SolidShape> thick = shapes();
    thick.pop_back();
    for (const SolidShape& shape : thick) {
        // Exact, but for cells that thin walls divide.
        const double fine = off(shape, 48), coarse = off(shape, 24);
        CHECK(fine < 1e-3);
        CHECK(fine <= std::max(0.3 * coarse, 1e-12));
    }
    CHECK(off(solid_box({0.4, 0.3, 0.35}), 24) < 1e-12);
}

TEST_CASE("a pressure that is the same everywhere neither pushes nor turns a solid") {
    for (const SolidShape& shape : shapes()) {
        const Setting s({20, 20, 20}, shape, tilted, tilted, 0.01);
        const Field<double> phi(s.tiling, -1);
        const PressureSystem system = pressure_system(s.domain, phi, {}, 1000, s.obstacles);
        const std::vector<double> x(system.network.value_count(), system.to_unknown(0.01));  // pi = 1000 Pa
        const SolidLoad load = interface_loads(system, x, 0.01).solids[0];
        const double all = 1000 * load.wetted_area;
        CHECK(all > 1000 * 0.2);  // the smallest has 0.33 m^2
        CHECK(length(load.force) < 1e-12 * all);
        CHECK(length(load.torque) < 1e-12 * all);
    }
}

TEST_CASE("two patches in one cell feel the pressure of their own piece of it, in the loads and in J alike") {
    // A cell in which the box's surface gets a second piece of liquid, as if a sheet lay there.
    Setting s({16, 16, 16}, solid_box({0.25, 0.25, 0.25}), {{0.5, 0.5, 0.5}, {}}, {{0.5, 0.5, 0.5}, {}},
              0.01);
    const Int3 c{12, 8, 8};
    const std::int64_t cell = s.tiling->find(c);
    ObstaclePatch left{0, cell, c, {0.75, 0, 0}, s.domain.cell_center(c), {}};
    ObstaclePatch right = left;
    right.area = {-0.75, 0, 0};
    right.piece = 0;
    s.obstacles.patches = {left, right};
    PressureSystem system = pressure_system(s.domain, Field<double>(s.tiling, -1), {}, 1000, s.obstacles);
    ListedNodes<double> listed;
    listed.cell = {c};
    listed.ground = {0};
    listed.links = {{0, system.network.tiling().find(c + unit(0)), 0.5}};
    system.network.list(listed);
    system.network.finish([&](std::int64_t, int) { return true; });

    std::vector<double> x(system.network.value_count(), 5 * system.to_unknown(0.01));
    x[system.network.first_listed()] = 2 * system.to_unknown(0.01);  // 5000 Pa on the left, 2000 on the right
    const double h = s.domain.h;
    const SolidLoad load = interface_loads(system, x, 0.01).solids[0];
    CHECK(load.force.x == near(0.75 * h * h * 3000).relative(1e-12));
    CHECK(load.force.y == 0);

    std::vector<Pocket> sealed;
    const BodyInertia body{0, {0.5, 0.5, 0.5}, {1, 1, 1}, {}};
    const RigidBlocks rigid = rigid_blocks(system, {body}, {}, 0.01, sealed);
    const Six<double> gathered = rigid.interface.gather(x)[0];
    CHECK(impulse_scale(system) * gathered[0] == near(load.force.x * 0.01).relative(1e-12));
    SolidSystem solids;
    solids.rigid = rigid;
    std::vector<double> outflow(system.network.value_count(), 0.0);
    solids.add_outflow({.rigid = {{2, 0, 0, 0, 0, 0}}, .nodes = {}}, 1, outflow);
    CHECK(outflow[system.network.tiling().find(c)] == 1.5);
    CHECK(outflow[system.network.first_listed()] == -1.5);
}

TEST_CASE("a side wall that water stands against pushes back with the triangle of its pressure") {
    // A plate from side to side keeps the water on the left, so that no other wall makes up for mistakes.
    const Setting s({16, 16, 16}, solid_box({0.125, 2, 2}), {{0.5625, 0.5, 0.5}, {}},
                    {{0.5625, 0.5, 0.5}, {}}, 0.01);
    // The centre of the uppermost cell is under water, so that it counts.
    for (const double level : {0.5, 0.535, 0.545, 0.56}) {
        CAPTURE(level);
        Field<double> phi(s.tiling, outside_distance(s.domain));
        for_each_cell(*s.tiling, s.domain.cells, [&](Int3 c, std::int64_t n) {
            const Vec3 p = s.domain.cell_center(c);
            phi[n] = p.x < 0.6 ? p.y - level : outside_distance(s.domain);
        });
        const double pushed = check_rest(s, phi).loads.wall_impulse.x / 0.01;
        CHECK(std::abs(pushed / (0.5 * 9810 * level * level) - 1) < 1e-5);
    }
}

TEST_CASE(
    "liquid rubs on a solid in a layer of the depth that is given, wherever the solid lies in the cells") {
    for (const int n : {8, 16, 32})
        for (const double depth : {0.03, 0.15, 0.4})
            for (const double top : {0.25, 0.2731, 0.301}) {
                CAPTURE(n);
                CAPTURE(depth);
                CAPTURE(top);
                Domain slab;
                slab.cells = {n, n, 1};
                slab.h = 1.0 / n;
                const auto tiling = whole_tiling(slab.cells);
                // A block that goes right through the slab.
                SolidShape block = solid_rectangle(3, top, 3 * slab.h);
                const Pose pose{{0.5, 0.5 * top, 0.5 * slab.h}, {}};
                TriangleMesh mesh = block.mesh;
                for (Vec3& v : mesh.vertices) v = pose.to_world(v);
                Obstacle obstacle{block.distance, pose, pose, 0.25, {}, nullptr};
                obstacle.cut = std::make_shared<CutSolid>(cut_solid(mesh, slab.cells, slab.h));
                const Rubbing rubbing{1000, 1.0 / 24, depth};
                const Obstacles obstacles = place_obstacles({obstacle}, slab, tiling, rubbing.reach(slab.h));
                Field<double> phi(tiling, -1);
                MacGrid u;
                for (auto& component : u) component = Field<double>(tiling, 0);
                u[0].fill(1);
                std::vector<SolidImpulse> impulse(1);
                const double expected = 1000 * depth * 0.75 * slab.h * (n + 1) / n;
                const auto drag = obstacle_drag(u, phi, obstacles, 0, {}, slab, rubbing);
                REQUIRE(drag);
                CHECK(drag->impulse[0] == near(expected).relative(1e-9));
                const Vec3 on_liquid = apply_obstacle_friction(u, phi, obstacles, slab, rubbing, impulse);
                CHECK(impulse[0].linear.x == near(expected).relative(1e-9));
                CHECK(on_liquid.x == near(-expected).relative(1e-9));
            }
}

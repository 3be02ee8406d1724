#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "core/parallel.h"
#include "elastic_bodies.h"
#include "near.h"
#include "solid/elastic/elastic_equation.h"

using namespace flotsam;

namespace {

constexpr ElasticModel models[] = {ElasticModel::linear, ElasticModel::corotational,
                                   ElasticModel::neo_hookean, ElasticModel::st_venant_kirchhoff};

ElasticMaterial made_of(ElasticModel model, double young = 1e5, double poisson = 0.3) {
    ElasticMaterial material;
    material.model = model;
    material.young = young;
    material.poisson = poisson;
    return material;
}

double total_energy(const ElasticMesh& mesh, const std::vector<Vec3>& x) {
    std::vector<double> energy;
    evaluate_elements(mesh.batches, mesh.material, x, {.energy = &energy});
    double sum = 0;
    for (const double e : energy) sum += e;
    return sum;
}

std::vector<Vec3> forces_of(const ElasticMesh& mesh, const std::vector<Vec3>& x) {
    std::vector<ElementForces> elements;
    evaluate_elements(mesh.batches, mesh.material, x, {.forces = &elements});
    std::vector<Vec3> sum;
    gather_forces(mesh, elements, sum);
    return sum;
}

BlockMatrix stiffness_of(const ElasticMesh& mesh, const std::vector<Vec3>& x, bool definite) {
    std::vector<ElementStiffness> elements;
    evaluate_elements(mesh.batches, mesh.material, x, {.stiffness = &elements, .definite = definite});
    BlockMatrix k = mesh.pattern;
    k.value.resize(k.column.size());
    gather_stiffness(mesh, elements, k);
    return k;
}

Eigen::MatrixXd dense(const BlockMatrix& m) {
    Eigen::MatrixXd d = Eigen::MatrixXd::Zero(3 * m.rows(), 3 * m.rows());
    for (int r = 0; r < m.rows(); ++r)
        for (int k = m.row_begin[r]; k < m.row_begin[r + 1]; ++k)
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j) d(3 * r + i, 3 * m.column[k] + j) = m.value[k].row[i][j];
    return d;
}

// Nodes of a small block that is turned and strongly deformed.
std::vector<Vec3> deformed(const ElasticMesh& mesh, double amount, std::uint64_t seed) {
    std::vector<Vec3> x = shaken(mesh.rest.nodes, amount, seed);
    const Rotation turn = Rotation::about({1, 2, 3}, 2.0);
    for (Vec3& p : x) p = turn * p;
    return x;
}

}  // namespace

TEST_CASE("forces are minus the slope of the energy, stiffness minus that of the forces") {
    for (const ElasticModel model : models) {
        const ElasticProperties p = lattice_properties({1, 1, 1.5}, {1, 1, 2}, made_of(model));
        // Shaken by 0.45 of the spacing some tetrahedra are inside out.
        for (const double amount : {0.05, 0.45}) {
            std::vector<Vec3> x = deformed(*p.mesh, amount, 7);
            const std::vector<Vec3> f = forces_of(*p.mesh, x);
            const Eigen::MatrixXd k = dense(stiffness_of(*p.mesh, x, false));
            const double step = 1e-6;
            double force_error = 0, force_size = 0, stiffness_error = 0;
            for (std::size_t n = 0; n < x.size(); ++n)
                for (int a = 0; a < 3; ++a) {
                    const double here = x[n][a];
                    x[n][a] = here + step;
                    const double up = total_energy(*p.mesh, x);
                    const std::vector<Vec3> f_up = forces_of(*p.mesh, x);
                    x[n][a] = here - step;
                    const double down = total_energy(*p.mesh, x);
                    const std::vector<Vec3> f_down = forces_of(*p.mesh, x);
                    x[n][a] = here;
                    force_error = std::max(force_error, std::abs((down - up) / (2 * step) - f[n][a]));
                    force_size = std::max(force_size, std::abs(f[n][a]));
                    for (std::size_t m = 0; m < x.size(); ++m)
                        for (int b = 0; b < 3; ++b)
                            stiffness_error =
                                std::max(stiffness_error,
                                         std::abs((f_down[m][b] - f_up[m][b]) / (2 * step) -
                                                  k(Eigen::Index(3 * m + b), Eigen::Index(3 * n + a))));
                }
            CAPTURE(int(model));
            CAPTURE(amount);
            CHECK(force_error < 1e-6 * force_size);
            CHECK(stiffness_error < 1e-6 * k.cwiseAbs().maxCoeff());
            CHECK((k - k.transpose()).cwiseAbs().maxCoeff() < 1e-12 * k.cwiseAbs().maxCoeff());
        }
    }
}

TEST_CASE("what the solver sees of the stiffness has no negative direction, and is the true one near rest") {
    for (const ElasticModel model : models) {
        CAPTURE(int(model));
        const ElasticProperties p = lattice_properties({1, 1, 1}, {1, 2, 1}, made_of(model));
        for (const double amount : {0.0, 0.2, 0.45, 3.0}) {
            const std::vector<Vec3> x = deformed(*p.mesh, amount, 3);
            const Eigen::MatrixXd k = dense(stiffness_of(*p.mesh, x, true));
            const Eigen::VectorXd e = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(k).eigenvalues();
            CHECK(e.minCoeff() > -1e-10 * e.maxCoeff());
        }
        // Stretched a little, every direction resists.
        std::vector<Vec3> x = p.mesh->rest.nodes;
        for (Vec3& v : x) v *= 1.01;
        const Eigen::MatrixXd with = dense(stiffness_of(*p.mesh, x, true)),
                              without = dense(stiffness_of(*p.mesh, x, false));
        CHECK((with - without).cwiseAbs().maxCoeff() < 1e-12 * with.cwiseAbs().maxCoeff());
    }
}

TEST_CASE("at rest all models have the stiffness that Young's modulus and Poisson's ratio say") {
    // A bar pulled by a small strain, free at its sides.
    for (const ElasticModel model : models) {
        CAPTURE(int(model));
        ElasticProperties p = lattice_properties({1, 1, 4}, {2, 2, 8}, made_of(model, 2e5, 0.35));
        p.newton_tolerance = 1e-12;
        p.newton_steps = 30;
        std::vector<ElasticBody> bodies{make_elastic_body(0, p, {})};
        Pin low{{}, {false, false, true}, {}, {}, 1e300}, corner, other;
        ElasticLoad pull;
        pull.pressure = -20;  // strain 1e-4
        const std::vector<Vec3>& x = p.mesh->rest.nodes;
        for (int n = 0; n < int(x.size()); ++n) {
            if (x[n].z < -1.999) low.nodes.push_back(n);
            if (x[n] == Vec3{0, 0, -2}) corner.nodes.push_back(n);
            if (x[n] == Vec3{0.5, 0, -2}) other.nodes.push_back(n);
        }
        other.axes = {false, true, false};
        for (const Int3 t : p.mesh->triangles)
            if (x[t.x].z > 1.999 && x[t.y].z > 1.999 && x[t.z].z > 1.999) pull.triangles.push_back(t);
        p.pins = {low, corner, other};
        p.loads = {pull};
        ElasticStepper stepper;
        CHECK(stepper.rest(bodies, {&p}, {}).converged);
        // Linear tetrahedra hold the same strain everywhere exactly; what is left is the strain's square.
        for (std::size_t n = 0; n < x.size(); ++n) {
            const Vec3 moved = bodies[0].position[n] - x[n];
            if (x[n].z > 1.999) CHECK(moved.z == near(4e-4).relative(3e-4));
            if (x[n].x > 0.499) CHECK(moved.x == near(-0.5 * 0.35 * 1e-4).relative(3e-4));
        }
    }
}

TEST_CASE("the nearest rotation is one for anything") {
    for (int i = 0; i < 300; ++i) {
        Mat3 f;
        for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 3; ++c) f.row[r][c] = noise(combine(5, 9 * i + 3 * r + c));
        if (i % 4 == 1) f.row[2] = f.row[0] + f.row[1];          // flat
        if (i % 4 == 2) f.row[1] = f.row[0] * 2, f.row[2] = {};  // a line
        if (i == 3) f = {};                                      // a point
        if (i == 7) f = Mat3::diagonal({-1, -1, -1});            // inside out
        if (i == 11) f = Mat3::diagonal({1, 1, 1}) * 1e-160;
        const Mat3 r = nearest_rotation(f), square = r.transposed() * r;
        double off = 0;
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b) off = std::max(off, std::abs(square.row[a][b] - (a == b)));
        CHECK(off < 1e-12);
        CHECK(dot(r.row[0], cross(r.row[1], r.row[2])) == near(1).relative(1e-12));
        // Nearest: R^T F is symmetric, and no rotation about an axis brings it closer.
        const Mat3 s = r.transposed() * f;
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b) CHECK(std::abs(s.row[a][b] - s.row[b][a]) < 1e-12);
        for (int n = 0; n < 6; ++n) {
            const Vec3 axis{noise(n), noise(n + 10), noise(n + 20)};
            const Mat3 near = Mat3{Rotation::about(axis, 0.3 * (n + 1)).row} * r;
            CHECK((near.transposed() * f).trace() <= s.trace() + 1e-12);
        }
    }
}

TEST_CASE("a body turned rigidly is free of stress") {
    for (const ElasticModel model : {ElasticModel::corotational, ElasticModel::neo_hookean}) {
        const ElasticProperties p = lattice_properties({1, 1, 1}, {3, 3, 3}, made_of(model));
        ElasticBody body = make_elastic_body(0, p, {});
        for (int i = 0; i <= 36; ++i) {
            const Rotation turn = Rotation::about({1, -2, 0.5}, i * std::numbers::pi / 18);
            for (std::size_t n = 0; n < body.position.size(); ++n)
                body.position[n] = turn * p.mesh->rest.nodes[n] + Vec3{3, 1, 2};
            for (const Mat3& s : stresses(body)) CHECK(von_mises(s) < 1e-10 * 1e5);
        }
    }
}

TEST_CASE("a free spinning bar keeps its momentum") {
    for (const ElasticModel model : {ElasticModel::corotational, ElasticModel::neo_hookean}) {
        ElasticProperties p = lattice_properties({0.2, 0.2, 1}, {2, 2, 8}, made_of(model, 1e5));
        p.integrator = ElasticIntegrator::midpoint;
        p.newton_tolerance = 1e-11;
        p.newton_steps = 40;
        p.velocity = {0.3, 0.2, -0.1};
        p.spin = {0.5, 6, 0.2};
        std::vector<ElasticBody> bodies{make_elastic_body(0, p, {})};
        const Vec3 push = momentum(bodies[0]), turn = angular_momentum(bodies[0]);
        const double energy = kinetic_energy(bodies[0]);
        ElasticStepper stepper;
        for (int i = 0; i < 200; ++i) CHECK(stepper.step(bodies, {&p}, {}, i * 0.01, 0.01).converged);
        CHECK(length(momentum(bodies[0]) - push) < 1e-8 * length(push));
        CHECK(length(angular_momentum(bodies[0]) - turn) < 1e-8 * length(turn));
        // It turned about twice, and still does.
        CHECK(kinetic_energy(bodies[0]) + elastic_energy(bodies[0]) == near(energy).relative(2e-3));
    }
}

TEST_CASE("crushed flat, turned inside out and let go, a cube is whole again") {
    for (const ElasticModel model : {ElasticModel::corotational, ElasticModel::neo_hookean}) {
        for (const double size : {0.0, -0.7}) {
            CAPTURE(int(model));
            CAPTURE(size);
            ElasticMaterial material = made_of(model, 1e5);
            material.stiffness_damping = 0.02;
            ElasticProperties p = lattice_properties({1, 1, 1}, {12, 12, 12}, material);
            p.squeeze = {1, size, 1};
            std::vector<ElasticBody> bodies{make_elastic_body(0, p, {})};
            // A flat body has no side to prefer.
            bodies[0].position = shaken(bodies[0].position, 1e-3);
            ElasticStepper stepper;
            // The first steps end before Newton's method does; none fails.
            for (int i = 0; i < 36; ++i) CHECK(stepper.step(bodies, {&p}, {}, i / 24.0, 1 / 24.0).solved);
            CHECK(smallest_determinant(bodies[0]) > 0.95);
            CHECK(volume(bodies[0]) == near(1).relative(2e-3));
        }
    }
}

TEST_CASE("one step a frame, from jelly to steel") {
    for (const ElasticModel model : models)
        for (const double young : {1e3, 1e5, 1e7, 1e9}) {
            CAPTURE(int(model));
            CAPTURE(young);
            // A beam held at one end falls; it must neither gain energy nor come apart.
            ElasticProperties p = lattice_properties({0.2, 0.2, 1}, {2, 2, 8}, made_of(model, young));
            for (int n = 0; n < int(p.mesh->rest.nodes.size()); ++n)
                if (p.mesh->rest.nodes[n].z < -0.499) {
                    p.pins.resize(1);
                    p.pins[0].nodes.push_back(n);
                }
            std::vector<ElasticBody> bodies{make_elastic_body(0, p, {})};
            ElasticStepper stepper;
            const auto energy = [&] {
                return kinetic_energy(bodies[0]) + elastic_energy(bodies[0]) +
                       9.81 * p.mesh->total_mass() * center_of_mass(bodies[0]).y;
            };
            double before = energy();
            for (int i = 0; i < 96; ++i) {
                // Such steps are long for soft beams: some end before Newton's method does; none fails.
                CHECK(stepper.step(bodies, {&p}, {0, -9.81, 0}, i / 24.0, 1 / 24.0).solved);
                const double after = energy();
                CHECK(after < before + 1e-3 * p.mesh->total_mass() * 9.81);
                before = after;
            }
        }
}

TEST_CASE("a step says whether Newton's method came to its end") {
    // Strongly deformed and let go, with a step in which it would swing to and fro many times.
    const auto stepped = [](int newton_steps) {
        ElasticProperties p =
            lattice_properties({1, 1, 1}, {3, 3, 3}, made_of(ElasticModel::neo_hookean, 1e6));
        p.newton_steps = newton_steps;
        ElasticStepper stepper;
        std::vector<ElasticBody> bodies{make_elastic_body(0, p, {})};
        bodies[0].position = shaken(bodies[0].position, 0.25);
        return stepper.step(bodies, {&p}, {}, 0, 0.04);
    };
    const ElasticReport hurried = stepped(2), whole = stepped(100), linear = stepped(1);
    CHECK(hurried.solved);
    CHECK(!hurried.converged);
    CHECK(hurried.disagreement > 0.01);
    CHECK(whole.solved);
    CHECK(whole.converged);
    CHECK(whole.disagreement == 0);
    CHECK(linear.converged);  // one step is the thesis's linear equation, which has no more to it
}

TEST_CASE("a line search that finds no lower energy is not the end of Newton's method") {
    // A corner of a falling cube is about to touch something hard that the first Newton step cannot know of:
    // it goes much too deep into that, and so does every share of it that the line search tries.
    ElasticProperties p = lattice_properties({1, 1, 1}, {2, 2, 2}, made_of(ElasticModel::corotational, 1e5));
    const double dt = 0.01, speed = 10;
    p.velocity = {0, -speed, 0};
    ElasticContact contact;
    contact.normal.add(0, {0, 1, 0});
    contact.gap = 1e-9;
    contact.stiffness = 1e6 * p.mesh->total_mass() / (dt * dt);
    for (const int most : {1, 2, 50}) {
        p.newton_steps = most;
        ElasticStepper stepper;
        std::vector<ElasticBody> bodies{make_elastic_body(0, p, {})};
        const ElasticReport report = stepper.step(bodies, {&p}, {}, 0, dt, {contact});
        CAPTURE(most);
        REQUIRE(report.solved);
        if (most == 1) continue;  // no search, and all that is asked for
        CHECK(report.converged == (most == 50));
        // One corner stops, the rest goes on.
        if (report.converged) CHECK(momentum(bodies[0]).y < -0.7 * speed * p.mesh->total_mass());
        if (report.converged) CHECK(std::abs(bodies[0].velocity[0].y) < 0.01 * speed);
    }
}

TEST_CASE("the same bits on any number of threads") {
    std::vector<std::vector<Vec3>> ends;
    for (const int threads : {1, 2, 7}) {
        set_thread_count(threads);
        ElasticProperties p = lattice_properties({1, 1, 1}, {9, 9, 9}, made_of(ElasticModel::corotational));
        p.spin = {1, 2, 3};
        std::vector<ElasticBody> bodies{make_elastic_body(0, p, {})};
        ElasticStepper stepper;
        for (int i = 0; i < 3; ++i)
            CHECK(stepper.step(bodies, {&p}, {0, -9.81, 0}, i / 24.0, 1 / 24.0).converged);
        ends.push_back(bodies[0].position);
    }
    set_thread_count(0);
    CHECK(ends[0] == ends[1]);
    CHECK(ends[0] == ends[2]);
}

TEST_CASE("systems of blocks: iteration and factors agree, with rows that couple the parts") {
    const ElasticProperties p =
        lattice_properties({1, 1, 3}, {4, 4, 12}, made_of(ElasticModel::corotational, 1e6));
    const ElasticBody body = make_elastic_body(0, p, {});
    ElasticEquation equation;
    equation.begin({body}, {&p}, {0, -9.81, 0}, 0, 0.02, {}, {});
    REQUIRE(equation.linearize());
    const BlockMatrix& matrix = equation.matrix(0);
    const int n = matrix.rows();
    const auto exact = cholesky_preconditioner(matrix);
    const auto lumps = two_level_preconditioner(matrix, p.mesh->rest.nodes);
    std::vector<Vec3> b(2 * n + 2);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = {noise(3 * i), noise(3 * i + 1), noise(3 * i + 2)};
    BlockSystem system;
    system.singles = {Mat3::diagonal({2, 2, 2}), Mat3::diagonal({1, 2, 3})};
    for (int r = 0; r < 40; ++r) {
        BlockRow row;
        row.stiffness = 1e3;
        row.add(7 * r, {0, 1, 0.5});
        row.add(n + 5 * r, {0.2, -1, 0});
        row.add(2 * n + r % 2, {0, 0, 1});
        system.rows.push_back(row);
    }
    std::vector<std::vector<Vec3>> results;
    for (BlockPreconditioner* use : {exact.get(), lumps.get()}) {
        const auto second = use == exact.get() ? cholesky_preconditioner(matrix)
                                               : two_level_preconditioner(matrix, p.mesh->rest.nodes);
        system.parts = {{&matrix, use, p.mesh->rest.nodes}, {&matrix, second.get(), p.mesh->rest.nodes}};
        std::vector<Vec3> x(b.size()), back(b.size());
        CHECK(solve(system, b, x, {.relative = 1e-12, .absolute = 0, .max_iterations = 2000}).converged);
        system.multiply(x, back);
        double off = 0;
        for (std::size_t i = 0; i < b.size(); ++i) off = std::max(off, length(back[i] - b[i]));
        CHECK(off < 1e-10);
        results.push_back(x);
        // Made ready for many: with exact factors the rows are joined, and nothing is left to iterate.
        CHECK(BlockSolver(system, true)
                  .solve(b, x, {.relative = 1e-12, .absolute = 0, .max_iterations = 2000})
                  .converged);
        results.push_back(x);
    }
    for (const std::vector<Vec3>& result : results)
        for (std::size_t i = 0; i < b.size(); ++i) CHECK(length(results[0][i] - result[i]) < 1e-8);
    // Factors make numbers of anything but of what is none.
    system.parts = {{&matrix, exact.get(), p.mesh->rest.nodes}};
    system.rows.clear();
    system.singles.clear();
    std::vector<Vec3> broken(n), x(n);
    broken[3].y = std::nan("");
    CHECK(!BlockSolver(system, true).solve(broken, x, {}).converged);
}

TEST_CASE("a body that starts turned spins about the world's axis, without stretching") {
    ElasticProperties p = lattice_properties({0.4, 0.2, 0.3}, {2, 1, 2}, made_of(ElasticModel::neo_hookean));
    p.spin = {1, -2, 3};
    p.velocity = {0.5, 0, 0};
    const ElasticBody body = make_elastic_body(0, p, {{1, 2, 3}, Rotation::about({1, 1, 0}, 0.9)});
    const Vec3 center = center_of_mass(body);
    for (std::size_t n = 0; n < body.position.size(); ++n)
        CHECK(length(body.velocity[n] - p.velocity - cross(p.spin, body.position[n] - center)) < 1e-12);
}

TEST_CASE("stretched and sheared a little, all models hold the energy of Hooke's law") {
    for (const ElasticModel model : models) {
        CAPTURE(int(model));
        const ElasticMaterial material = made_of(model);
        const ElasticProperties p = lattice_properties({1, 1, 1}, {2, 2, 2}, material);
        const auto energy = [&](auto moved) {
            std::vector<Vec3> x = p.mesh->rest.nodes;
            for (Vec3& node : x) node = moved(node);
            return total_energy(*p.mesh, x);
        };
        const double e = 1e-4, mu = material.mu(), lambda = material.lambda();
        const double stretched = energy([&](Vec3 q) { return Vec3{(1 + e) * q.x, q.y, q.z}; });
        const double sheared = energy([&](Vec3 q) { return Vec3{q.x + e * q.y, q.y, q.z}; });
        const double swollen = energy([&](Vec3 q) { return (1 + e) * q; });
        CHECK(std::abs(stretched / ((0.5 * lambda + mu) * e * e) - 1) < 1e-3);
        CHECK(std::abs(sheared / (0.5 * mu * e * e) - 1) < 1e-3);
        CHECK(std::abs(swollen / ((4.5 * lambda + 3 * mu) * e * e) - 1) < 1e-3);
    }
}

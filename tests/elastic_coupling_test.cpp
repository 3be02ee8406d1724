// Elastic bodies in water: the interface map, the coupled solve, and what follows from them.
#include <doctest/doctest.h>

#include <cmath>

#include "coupling/coupled_solve.h"
#include "coupling/cut_cell.h"
#include "elastic_bodies.h"
#include "fluid/grid/pressure_solver.h"
#include "geometry/solid_shape.h"
#include "near.h"
#include "solid/rigid/rigid_body.h"
#include "validate/case_tools.h"
#include "worlds.h"

using namespace flotsam;

namespace {

constexpr double density = 1000, step = 0.01;

// A tank with an elastic block in it, at one moment, and all that a pressure solve needs.
struct WetBlock {
    Scenario scenario;
    World world;
    Obstacles obstacles;
    std::shared_ptr<const Tiling> tiling;

    WetBlock(Int3 cells, Vec3 size, Int3 lattice, Vec3 place, const ElasticMaterial& material,
             double shake = 0, const Rotation& turn = {}) {
        scenario = test::tank(cells, 0);
        Solid solid;
        solid.name = "block";
        solid.motion = Motion::elastic;
        solid.start = {place, turn};
        solid.elastic = lattice_properties(size, lattice, material);
        solid.elastic.newton_steps = 1;
        scenario.solids.push_back(solid);
        world.elastics = bodies_at_start(scenario.solids).elastics;
        ElasticBody& body = world.elastics[0];
        body.position = shaken(body.position, shake);
        tiling = whole_tiling(scenario.domain.cells);
        obstacles = place_obstacles({still_elastic_obstacle(body, scenario.domain)}, scenario.domain, tiling);
    }

    struct Result {
        std::vector<Vec3> velocity;
        CoupledSolution report;
    };
    // Everything starts from rest.
    Result solve(double level, ElasticCoupling coupling = ElasticCoupling::strong, double dt = step,
                 const SolverSettings& solver = {Solver::multigrid, {1e-12, 1e-15, 2000}}) {
        const Domain& domain = scenario.domain;
        Field<double> phi(tiling, 0), source(tiling, 0);
        for_each_cell(*tiling, domain.cells,
                      [&](Int3 c, std::int64_t n) { phi[n] = domain.cell_center(c).y - level; });
        MacGrid u;
        for (auto& component : u) component = Field<double>(tiling, 0);
        WetElastic elastic(coupling);
        scenario.solver = solver;
        Result result;
        result.report =
            solve_coupled({scenario, world, 0, dt, obstacles, phi, source, nullptr, {}, {}, world.elastics},
                          &elastic, std::move(u), Field<double>(tiling, 0));
        const std::span<const Vec3> velocity = elastic.equation().velocity(0);
        result.velocity.assign(velocity.begin(), velocity.end());
        return result;
    }
    const ElasticBody& body() const { return world.elastics[0]; }
};

Vec3 total_momentum(const ElasticBody& body, const std::vector<Vec3>& velocity) {
    Vec3 sum;
    for (std::size_t n = 0; n < velocity.size(); ++n) sum += body.mesh->mass[n] * velocity[n];
    return sum;
}

const Rotation tilted = Rotation::about({1, 2, 3}, 0.7);

}  // namespace

TEST_CASE("what the nodes have of the surface adds up to it in every cell, clamped ones too") {
    struct Case {
        Vec3 size;
        Int3 lattice;
        Vec3 place;
        double shake;
        Rotation turn;
    };
    // The third is a plate thinner than a cell, the last one lies along the grid.
    for (const Case& c : {Case{{0.3, 0.4, 0.2}, {3, 4, 2}, {0.51, 0.47, 0.5}, 0.01, {}},
                          Case{{0.3, 0.4, 0.2}, {3, 4, 2}, {0.51, 0.47, 0.5}, 0, tilted},
                          Case{{0.6, 0.02, 0.5}, {6, 1, 5}, {0.5, 0.503, 0.5}, 0.001, {}},
                          Case{{0.25, 0.25, 0.25}, {2, 2, 2}, {0.5, 0.5, 0.5}, 0, {}}}) {
        const WetBlock block({16, 16, 16}, c.size, c.lattice, c.place, {}, c.shake, c.turn);
        const Obstacles& o = block.obstacles;
        double largest_area = 0, wrong_area = 0, wrong_moment = 0;
        Vec3 outward;
        double lifted = 0;
        for (const ObstaclePatch& patch : o.patches) {
            Vec3 area = patch.area;
            std::array<Vec3, 3> moment = patch.moment;
            for (const NodePatch& entry : o.node_patches)
                if (entry.cell == patch.cell) {
                    area -= entry.area;
                    for (int d = 0; d < 3; ++d) moment[d] -= entry.moment[d];
                }
            largest_area = std::max(largest_area, length(patch.area));
            wrong_area = std::max(wrong_area, length(area));
            for (const Vec3& row : moment) wrong_moment = std::max(wrong_moment, length(row));
        }
        for (const NodePatch& entry : o.node_patches) {
            outward += entry.area;
            lifted += entry.moment[1].y;
        }
        CHECK(largest_area > 0.1);
        CHECK(wrong_area < 1e-12);
        CHECK(wrong_moment < 1e-12);
        CHECK(length(outward) < 1e-10);  // a closed surface
        // By Gauss: the integral of y n_y is the volume.
        CHECK(lifted == near(volume(block.body())).relative(1e-12));
    }
}

TEST_CASE("liquid and elastic body get equal and opposite impulses, and the liquid keeps its volume") {
    for (const double rho : {10.0, 1000.0, 100000.0})
        for (const double young : {1e3, 1e6, 1e9}) {
            WetBlock block({16, 16, 16}, {0.3, 0.3, 0.3}, {3, 3, 3}, {0.52, 0.45, 0.49},
                           {.young = young, .density = rho}, 0, tilted);
            const auto [velocity, report] = block.solve(0.8);
            CHECK(report.solve.converged);
            CHECK(report.largest_divergence < 1e-6);
            const double mass = block.body().mesh->total_mass();
            const Vec3 given = total_momentum(block.body(), velocity) - mass * step * block.scenario.gravity;
            CHECK(length(given - report.loads.solids[0].force * step) < 1e-8 * length(given));
            CHECK(velocity[0].y * (rho < density ? 1 : rho > density ? -1 : 0) >= 0);
        }
}

TEST_CASE("the torque on an elastic body is about its position, as that on any solid") {
    // A stiff ball far from the origin in water that rushes past it: the torque is that on a rigid one.
    const auto load_on = [](Motion motion) {
        Scenario s = test::tank({16, 16, 16}, 0.7);
        s.liquid.fills[0].velocity = {1, 0, 0.5};
        Solid solid;
        solid.name = "block";
        solid.motion = motion;
        solid.start.position = {0.4, 0.35, 0.5};
        solid.shape = solid_box({0.3, 0.2, 0.25});
        solid.rigid.mass = mass_properties(enclosed_moments(solid.shape.mesh), 1000);
        ElasticMaterial material;
        material.young = 1e8;
        solid.elastic = lattice_properties({0.3, 0.2, 0.25}, {4, 3, 4}, material);
        s.solids.push_back(solid);
        Driver driver(s, make_scheme("cut-cell"));
        driver.start();
        (void)driver.advance();
        return driver.world().loads[0];
    };
    const SolidLoad rigid = load_on(Motion::rigid), elastic = load_on(Motion::elastic);
    CHECK(length(elastic.force - rigid.force) < 0.01 * length(rigid.force));
    CHECK(length(elastic.torque - rigid.torque) < 0.01 * 0.3 * length(rigid.force));
}

TEST_CASE("a stiff elastic body moves as a rigid one does") {
    const Vec3 place{0.47, 0.42, 0.53};
    const double rho = 300;
    double before = 1;
    for (const double young : {1e6, 1e7, 1e9}) {
        WetBlock block({16, 16, 16}, {0.3, 0.2, 0.25}, {3, 2, 3}, place, {.young = young, .density = rho}, 0,
                       tilted);
        const auto elastic = block.solve(0.8);
        // The same nodes and the same map, as a rigid body of the same mass and inertia.
        BodyInertia rigid;
        const ElasticBody& body = block.body();
        rigid.center = center_of_mass(body);
        const double mass = body.mesh->total_mass();
        rigid.inverse_mass = Vec3{1, 1, 1} / mass;
        Mat3 inertia;
        for (std::size_t n = 0; n < body.position.size(); ++n) {
            const Vec3 r = body.position[n] - rigid.center;
            for (int a = 0; a < 3; ++a) inertia.row[a][a] += body.mesh->mass[n] * dot(r, r);
            inertia = inertia - Mat3::outer(r, r) * body.mesh->mass[n];
        }
        rigid.inverse_inertia = inertia.inverse();
        Obstacles obstacles = block.obstacles;
        obstacles.node_patches.clear();
        Field<double> phi(block.tiling, 0), source(block.tiling, 0), potential(block.tiling, 0);
        for_each_cell(*block.tiling, block.scenario.domain.cells,
                      [&](Int3 c, std::int64_t n) { phi[n] = block.scenario.domain.cell_center(c).y - 0.8; });
        MacGrid u;
        for (auto& component : u) component = Field<double>(block.tiling, 0);
        const PressureSystem system = pressure_system(block.scenario.domain, std::move(phi),
                                                      block.scenario.gravity, density, obstacles);
        std::vector<Pocket> sealed = system.sealed;
        SolidSystem solids{impulse_scale(system), rigid_blocks(system, {rigid}, {}, step, sealed), {}};
        solids.rigid.from[0] = as_six({block.scenario.gravity * step, {}});
        const PressureUpdate report = solve_pressure(
            system, source, step, {Solver::multigrid, {1e-12, 1e-15, 2000}}, u, potential, solids, sealed);
        CHECK(report.solve.converged);
        const Vec3 mean = total_momentum(body, elastic.velocity) / mass;
        const Vec3 motion = as_twist(report.velocity.rigid[0]).velocity;
        const double off = length(mean - motion) / length(motion);
        CHECK(off < before);
        before = off;
    }
    // What clamping takes from faces acts in the middle of a rigid body's patch, and all over an elastic
    // one's.
    CHECK(before < 2e-3);
}

TEST_CASE("water at rest on a body at rest: nothing moves but what gravity presses together") {
    // As heavy as water and stiff: the nodes' loads are the exact integrals of the pressure.
    WetBlock block({16, 16, 16}, {0.3, 0.3, 0.3}, {3, 3, 3}, {0.517, 0.431, 0.5},
                   {.young = 1e12, .density = density}, 0, tilted);
    const std::vector<Vec3> velocity = block.solve(0.8).velocity;
    double fastest = 0;
    for (const Vec3 v : velocity) fastest = std::max(fastest, length(v));
    CHECK(fastest < 1e-6);
}

TEST_CASE("weak coupling gives a light body far too much, and damping alone ignores its stiffness") {
    WetBlock block({16, 16, 16}, {0.3, 0.3, 0.3}, {3, 3, 3}, {0.5, 0.45, 0.5},
                   {.young = 1e6, .density = 100});
    const double mass = block.body().mesh->total_mass();
    const double strong = total_momentum(block.body(), block.solve(0.8).velocity).y / mass;
    const double weak =
        total_momentum(block.body(), block.solve(0.8, ElasticCoupling::weak).velocity).y / mass;
    // The added mass of a cube is about two thirds of what it displaces: (1 - s) / (s + 0.67) g dt; the weak
    // one has (1 - s) / s g dt: all of the buoyancy and none of the added mass.
    CHECK(strong == near(0.9 / 0.77 * 9.81 * step).relative(0.1));
    CHECK(weak == near(0.9 / 0.1 * 9.81 * step).relative(1e-9));
    const auto damped = block.solve(0.8, ElasticCoupling::damping);
    CHECK(damped.report.solve.converged);
    // Of itself it moves rightly; but its nodes do not hold together: their velocities differ more.
    const auto spread = [&](const std::vector<Vec3>& v) {
        const Vec3 mean = total_momentum(block.body(), v) / mass;
        double most = 0;
        for (const Vec3 each : v) most = std::max(most, length(each - mean));
        return most;
    };
    CHECK(spread(damped.velocity) > 5 * spread(block.solve(0.8).velocity));
}

TEST_CASE("what is inside a bent, spinning body does not turn it; only what damps its masses slows it down") {
    for (const ElasticIntegrator integrator :
         {ElasticIntegrator::backward_euler, ElasticIntegrator::midpoint})
        for (const double slow : {0.0, 2.0}) {
            CAPTURE(slow);
            ElasticMaterial material{.model = ElasticModel::neo_hookean, .young = 1e5, .density = 500};
            material.stiffness_damping = 0.02;
            material.mass_damping = slow;
            WetBlock block({8, 8, 8}, {1, 0.4, 0.2}, {5, 2, 1}, {4, 4, 4}, material, 0.05);
            block.scenario.solids[0].elastic.integrator = integrator;
            block.scenario.solids[0].elastic.newton_steps = 3;
            ElasticBody& body = block.world.elastics[0];
            const std::size_t count = body.position.size();
            Vec3 center;
            double mass = 0;
            for (std::size_t n = 0; n < count; ++n)
                center += body.mesh->mass[n] * body.position[n], mass += body.mesh->mass[n];
            center = center / mass;
            const auto arm = [&](std::size_t n) { return body.position[n] - center; };
            const Vec3 spin{1, 4, -2};
            std::vector<Vec3> impulse(count);
            for (std::size_t n = 0; n < count; ++n) {
                body.velocity[n] = cross(spin, arm(n)) + Vec3(0.3, -0.2, 0.1);
                impulse[n] = 0.01 * Vec3(std::sin(3.0 * double(n)), std::cos(5.0 * double(n)), 1);
            }
            ElasticEquation equation;
            equation.begin(block.world.elastics, {&block.scenario.solids[0].elastic}, {}, 0, step, {}, {});
            std::vector<Vec3> v;
            int rounds = 0;
            do {
                REQUIRE(equation.linearize());
                v = equation.velocity_with(impulse);
                ++rounds;
            } while (equation.take(v, impulse).again);
            v.assign(equation.velocity().begin(), equation.velocity().end());
            CHECK(rounds > 1);
            Vec3 rest, exchanged;
            const double late = integrator == ElasticIntegrator::midpoint ? 0.5 : 1;
            for (std::size_t n = 0; n < count; ++n) {
                const double m = body.mesh->mass[n];
                const Vec3 slowed = step * slow * m * (late * v[n] + (1 - late) * body.velocity[n]);
                rest += cross(arm(n), m * (v[n] - body.velocity[n]) + slowed - impulse[n]);
                exchanged += cross(arm(n), m * body.velocity[n]);
            }
            CHECK(length(rest) < 1e-9 * length(exchanged));
        }
}

TEST_CASE("held nodes stay, and moved ones go where they are told") {
    WetBlock block({16, 16, 16}, {0.2, 0.5, 0.2}, {2, 5, 2}, {0.5, 0.4, 0.5}, {.young = 1e5, .density = 200});
    ElasticProperties& elastic = block.scenario.solids[0].elastic;
    Pin pin;
    for (std::size_t n = 0; n < block.body().position.size(); ++n)
        if (block.body().position[n].y > 0.64) pin.nodes.push_back(int(n));
    pin.script.velocity = Vec3{0.1, 0, 0};
    elastic.pins.push_back(pin);
    const auto [velocity, report] = block.solve(0.8);
    CHECK(report.solve.converged);
    for (const int n : pin.nodes) CHECK(length(velocity[n] - Vec3{0.1, 0, 0}) < 1e-12);
}

namespace {

// A platform from wall to wall, held at its ends, with water on it; two-dimensional.
Scenario water_on_platform(int cells, double thickness) {
    Scenario s = test::tank({cells, cells, 1}, 0);
    const double h = s.domain.h, bottom = 0.4123;
    s.liquid.fills = {{make_box({0, bottom + thickness, 0}, {1, bottom + thickness + 0.2, h}), {}}};
    Solid platform;
    platform.name = "platform";
    platform.motion = Motion::elastic;
    platform.start.position = {0, bottom, 0};
    ElasticProperties& elastic = platform.elastic;
    // So that it sags alike at any thickness, by some centimetres.
    const double young = 800 / std::pow(thickness, 3);
    elastic.mesh = std::make_shared<ElasticMesh>(make_elastic_mesh(
        tet_lattice({}, {1, thickness, h}, {2 * cells, 2, 1}), {.young = young, .density = density}));
    elastic.pins.push_back(hold_flat(*elastic.mesh));
    Pin ends;
    for (std::size_t n = 0; n < elastic.mesh->rest.nodes.size(); ++n)
        if (const double x = elastic.mesh->rest.nodes[n].x; x < 1e-9 || x > 1 - 1e-9)
            ends.nodes.push_back(int(n));
    elastic.pins.push_back(ends);
    platform.shape.mesh = elastic.mesh->skin;
    platform.shape.distance = std::make_shared<MeshSurface>(platform.shape.mesh);
    s.solids.push_back(platform);
    return s;
}

}  // namespace

TEST_CASE("a soft platform holds water for ten seconds, two cells thick or a third of one") {
    for (const double in_cells : {2.0, 1.0 / 3}) {
        CAPTURE(in_cells);
        constexpr int cells = 24;
        Scenario scenario = water_on_platform(cells, in_cells / cells);
        double lowest = 1, start = 0, lost = 0, sag = 0;
        simulate(scenario, "cut-cell", 10, [&](const World& world, double) {
            const ElasticBody& platform = world.elastics[0];
            for (const Vec3 p : platform.position) lowest = std::min(lowest, p.y);
            sag = std::max(sag, scenario.solids[0].start.position.y - lowest);
            const auto& places = world.liquid.particles.position;
            if (start == 0) start = double(places.size());
            lost = start - double(places.size());
            for (const Vec3f& p : places) lost += p.y < lowest;
        });
        CHECK(start > 400);
        CHECK(lost <= 1e-3 * start);
        CHECK(sag > 0.001);  // it does give way
        CHECK(sag < 0.2);
    }
}

TEST_CASE(
    "one step a frame: from jelly to hard plastic, from a hundredth of the water's density to a hundred "
    "times") {
    // In 6 cm of water, so that the softest is not crushed: its bulk modulus is 3.3 kPa, the pressure 0.6
    // kPa.
    constexpr double side = 0.1, level = 0.06;
    const Vec3 size{0.03, 0.025, 0.03};
    for (const double young : {1e3, 1e5, 1e7, 1e9})
        for (const double share : {0.01, 0.1, 1.0, 10.0, 100.0})
            for (const double damping : {0.0, 0.01}) {
                CAPTURE(young);
                CAPTURE(share);
                CAPTURE(damping);
                Scenario s = test::tank({12, 12, 12}, level);
                s.domain.h = side / 12;
                s.time.frames_per_second = 24;
                s.time.retry = false;
                Solid solid;
                solid.name = "box";
                solid.motion = Motion::elastic;
                solid.start = {{0.053, 0.034, 0.049}, tilted};
                ElasticMaterial material{.model = ElasticModel::corotational,
                                         .young = young,
                                         .poisson = 0.45,
                                         .density = share * density};
                material.stiffness_damping = damping;
                solid.elastic = lattice_properties(size, {3, 3, 3}, material);
                s.solids.push_back(solid);
                const std::unique_ptr<Scheme> scheme = make_scheme("cut-cell");
                World now = world_at_start(s), next;
                scheme->start(now, s);
                double most_energy = 0, least_volume = 1;
                for (int step = 0; step < 12; ++step) {
                    const StepReport report = scheme->step(now, next, {s, now.time, 1.0 / 24, step});
                    REQUIRE(report.accepted);
                    std::swap(now, next);
                    const ElasticBody& box = now.elastics[0];
                    double energy = 0;
                    for (const Vec3f v : now.liquid.particles.velocity)
                        energy += 0.5 * s.particle_mass() * dot(Vec3(v), Vec3(v));
                    for (std::size_t n = 0; n < box.velocity.size(); ++n)
                        energy += 0.5 * box.mesh->mass[n] * dot(box.velocity[n], box.velocity[n]);
                    most_energy = std::max(most_energy, energy);
                    for (const auto& tet : box.mesh->rest.tets) {
                        const auto volume = [&](const std::vector<Vec3>& x) {
                            return dot(x[tet[1]] - x[tet[0]],
                                       cross(x[tet[2]] - x[tet[0]], x[tet[3]] - x[tet[0]]));
                        };
                        least_volume =
                            std::min(least_volume, volume(box.position) / volume(box.mesh->rest.nodes));
                    }
                }
                // All that moves is paid for by what falls or rises: the box through the tank, and the water
                // by no more than a cell.
                const double weight = 9.81 * density * size.x * size.y * size.z * std::abs(share - 1);
                const double paid = weight * side + 9.81 * density * side * side * level * s.domain.h;
                CHECK(most_energy < paid);
                if (young >= 1e7) CHECK(least_volume > 0.9);  // stiff as they are
            }
}

TEST_CASE("water inside an elastic shell stays inside, full or half full") {
    // A cube of rubber with a cubic hole.
    for (const double fill : {1.0, 0.5}) {
        CAPTURE(fill);
        Scenario s = test::tank({20, 20, 20}, 0);
        Solid shell;
        shell.name = "shell";
        shell.motion = Motion::elastic;
        shell.start.position = {0.5, 0.3, 0.5};
        TetMesh mesh = tet_lattice({-0.2, -0.2, -0.2}, {0.2, 0.2, 0.2}, {6, 6, 6});
        std::erase_if(mesh.tets, [&](const auto& tet) {
            Vec3 center;
            for (const int n : tet) center += mesh.nodes[n] / 4.0;
            return std::max({std::abs(center.x), std::abs(center.y), std::abs(center.z)}) < 0.2 / 1.5;
        });
        std::vector<int> number(mesh.nodes.size(), -1);
        std::vector<Vec3> used;
        for (auto& tet : mesh.tets)
            for (int& n : tet) {
                if (number[n] < 0) number[n] = int(used.size()), used.push_back(mesh.nodes[n]);
                n = number[n];
            }
        mesh.nodes = used;
        shell.elastic.mesh = std::make_shared<ElasticMesh>(
            make_elastic_mesh(std::move(mesh), {.young = 1e6, .density = density}));
        shell.shape.mesh = shell.elastic.mesh->skin;
        shell.shape.distance = std::make_shared<MeshSurface>(shell.shape.mesh);
        s.solids.push_back(shell);
        constexpr double inner = 0.4 / 3;
        s.liquid.fills = {{make_box(Vec3{0.5 - inner, 0.3 - inner, 0.5 - inner},
                                    Vec3{0.5 + inner, 0.3 - inner + 2 * inner * fill, 0.5 + inner}),
                           {}}};
        double count = 0, inside = 0;
        simulate(s, "cut-cell", 0.5, [&](const World& world, double) {
            const MeshSurface skin(skin_of(world.elastics[0]));
            Box box = skin.bounds();
            count = double(world.liquid.particles.position.size());
            inside = 0;
            for (const Vec3f& p : world.liquid.particles.position) inside += box.contains(Vec3(p));
        });
        CHECK(count > 500);
        CHECK(inside == count);
    }
}

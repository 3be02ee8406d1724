// Génevaux 2003: markers and springs repel each other.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/state_hash.h"
#include "coupling/marker_springs.h"
#include "fluid/grid/viscosity.h"
#include "scene/scene.h"
#include "sim/measure.h"
#include "tests/near.h"
#include "tests/saved_state.h"
#include "world/expected.h"
#include "worlds.h"

using namespace flotsam;

namespace {

// A tank with water to its middle that spring solids are put into.
Scenario spring_tank(Int3 cells, double level = 0.6) {
    Scenario s = test::tank(cells, level);
    s.method = "marker-springs";
    s.liquid.carrier = Carrier::markers;
    s.time.duration = 1e6;
    return s;
}

Solid& add_ball(Scenario& s, Vec3 at, double radius, double density) {
    Solid solid;
    solid.name = "ball" + std::to_string(s.solids.size());
    solid.motion = Motion::spring;
    solid.shape = solid_sphere(radius, 0.5 * s.domain.h);
    solid.start.position = at;
    solid.spring.net = std::make_shared<SpringNet>(single_node(solid.shape, radius, density));
    s.solids.push_back(solid);
    fit_repulsion(s.solids.back().spring, marked_liquid(s), highest_pressure(s));
    return s.solids.back();
}

Solid& add_cube(Scenario& s, Vec3 at, double edge, double spacing, double density, double stiffness) {
    Solid solid;
    solid.name = "cube" + std::to_string(s.solids.size());
    solid.motion = Motion::spring;
    solid.shape = solid_box({edge, edge, edge});
    solid.start.position = at;
    solid.spring.net =
        std::make_shared<SpringNet>(spring_lattice(solid.shape, spacing, {density, stiffness, 0.2}));
    solid.shape.mesh = solid.spring.net->mesh;
    s.solids.push_back(solid);
    fit_repulsion(s.solids.back().spring, marked_liquid(s), highest_pressure(s));
    return s.solids.back();
}

struct Run {
    explicit Run(Scenario s) : scenario(std::move(s)), driver(scenario, make_scheme(scenario.method)) {
        driver.start();
    }
    template <class Watch>
    void until(double time, const Watch& watch) {
        while (driver.world().time < time - 1e-9) {
            const auto [report, dt] = driver.advance();
            watch(report, dt);
        }
    }
    void until(double time) {
        until(time, [](const StepReport&, double) {});
    }
    const World& world() const { return driver.world(); }
    std::uint64_t hash() {
        return state_hash([&](StateVisitor& visit) { driver.visit_state(visit); });
    }
    double inside() const {
        for (const Quantity& q : quantities())
            if (q.name == "liquid.particles_inside_solids") return q.value(world(), scenario, {});
        return -1;
    }
    Scenario scenario;
    Driver driver;
};

double total(const std::vector<Vec3>& forces) {
    double sum = 0;
    for (const Vec3 f : forces) sum += length(f);
    return sum;
}

}  // namespace

TEST_CASE("marker-springs: what the liquid receives is what the solids give, every step, to rounding") {
    // A light ball, a heavy one on the floor beside a wall, and a cube that falls in.
    Scenario s = spring_tank({16, 16, 16});
    add_ball(s, {0.4, 0.3, 0.5}, 0.13, 300);
    add_ball(s, {0.87, 0.14, 0.87}, 0.13, 2000);
    add_cube(s, {0.6, 0.72, 0.3}, 0.2, 0.06, 600, 2e4);
    Run run(s);
    int steps = 0;
    double largest = 0, stood = 0;
    run.until(0.3, [&](const StepReport& report, double dt) {
        Vec3 received;
        double scale = 0;
        for (const SolidLoad& load : run.world().loads) {
            received += load.force * dt;
            scale += length(load.force) * dt;
        }
        ++steps;
        largest = std::max(largest, scale);
        // Forces on single nodes and cells are larger than their sum: rounding is of those.
        CHECK(length(report.ledger.solids + received) < 1e-13 * (scale + 10));
        const BodyLedger& bodies = report.ledger.bodies;
        CHECK(length(bodies.unaccounted) < 1e-12 * (scale + 10));
        CHECK(length(bodies.liquid - received) < 1e-12 * (scale + 10));
        REQUIRE(bodies.contact.size() == 3);
        stood += bodies.contact[1].linear.y;
    });
    CHECK(stood > 0);  // the heavy ball on the floor
    CHECK(steps > 20);
    CHECK(largest > 0.1);
}

TEST_CASE("marker-springs: faces share a cell's force; closed ones leave theirs to the other") {
    Domain domain;
    domain.cells = {8, 8, 8};
    domain.h = 0.1;
    domain.walls[x_high].kind = WallKind::open;
    const auto tiling =
        std::make_shared<Tiling>(domain.cells, std::vector<Int3>{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}});
    MacGrid u;
    for (Field<double>& component : u) component = Field<double>(tiling, 0);
    std::vector<Repulsion::CellForce> forces;
    Vec3 sum;
    for (const Int3 c : {Int3{3, 3, 3}, Int3{0, 0, 0}, Int3{7, 7, 7}, Int3{4, 3, 3}, Int3{7, 0, 2}}) {
        const Vec3 f{1.0 + c.x, -2.0 + c.y, 0.5 * c.z - 1};
        forces.push_back({c, tiling->find(c), f});
        sum += f;
    }
    const PressureSystem system = pressure_system(domain, Field<double>(tiling, -1), {}, 900, no_obstacles);
    const FacePush push = push_faces(forces, u, system, 0.01);
    CHECK(length(push.given - sum * 0.01) < 1e-15);
    CHECK(push.blocked == Vec3{});
    const double mass = 900 * 0.001;
    for (int axis = 0; axis < 3; ++axis) {
        double given = 0;
        for (std::int64_t n = 0; n < tiling->value_count(); ++n) given += mass * u[axis][n];
        if (axis == 0)  // half of the mass of a face in an open side lies outside
            for (int j = 0; j < 8; ++j)
                for (int k = 0; k < 8; ++k) given -= 0.5 * mass * u[0](8, j, k);
        CHECK(given == near(sum[axis] * 0.01).relative(1e-12));
    }
    CHECK(u[0](3, 3, 3) == near(0.5 * 4 * 0.01 / mass).relative(1e-12));
    CHECK(u[0](4, 3, 3) == near(0.5 * (4 + 5) * 0.01 / mass).relative(1e-12));  // the mean of two cells
    CHECK(u[0](0, 0, 0) == 0);                                                  // a closed side
    CHECK(u[0](1, 0, 0) == near(1 * 0.01 / mass).relative(1e-12));
    CHECK(u[0](8, 7, 7) == near(8 * 0.01 / (1.5 * mass)).relative(1e-12));  // an open one
}

TEST_CASE("marker-springs: nodes and cells are pushed alike, whatever share of the markers takes part") {
    Scenario s = spring_tank({16, 16, 16});
    add_ball(s, {0.5, 0.35, 0.5}, 0.15, 500);
    add_cube(s, {0.25, 0.3, 0.7}, 0.2, 0.05, 500, 1e4);
    for (const int share : {1, 8, 16}) {
        for (Solid& solid : s.solids) solid.spring.share = share;
        Run run(s);
        World& world = run.driver.world();
        world.springs[0].position[0] += Vec3{0.03, 0, 0.02};  // into the water
        const CellRanges cells = sort_into_cells(world.liquid.particles, s.domain, *world.liquid.tiling);
        const Repulsion r = repel_markers(world.springs, s.solids, world.liquid.particles, cells,
                                          world.liquid.velocity, s.domain, marked_liquid(s), 0.004);
        Vec3 sum;
        double scale = 0;
        for (const auto& nodes : r.on_node) {
            for (const Vec3 f : nodes) sum += f;
            scale += total(nodes);
        }
        CHECK(scale > 10);
        CHECK(length(r.on_node[0][0]) > 10);
        CHECK(total(r.on_node[1]) > 1);
        for (const Repulsion::CellForce& f : r.on_cell) sum += f.force;
        CHECK(length(sum) < 1e-12 * scale);
        CHECK(r.on_node[0][0].x < 0);  // back to where it came from
        CHECK(r.on_node[0][0].z < 0);
    }
}

TEST_CASE("marker-springs: a ball under water surfaces by itself, and water stays out of it") {
    Scenario s = spring_tank({24, 24, 24});
    const double radius = 0.15, displaced = 4.0 / 3 * std::numbers::pi * std::pow(radius, 3);
    add_ball(s, {0.5, 0.25, 0.5}, radius, 300);
    Run run(s);
    double inside = 0, lift = 0, steps = 0, surfaced = 0;
    run.until(0.5, [&](const StepReport&, double) {
        inside = std::max(inside, run.inside());
        if (run.world().time < 0.1) lift += run.world().loads[0].force.y, ++steps;
        if (surfaced == 0 && run.world().springs[0].position[0].y > 0.6) surfaced = run.world().time;
    });
    // An accelerating ball also has to move water: (rho - rho_s) V g is shared by its mass and half of
    // the water's, so that 0.3 + (1 - 0.3) 0.3 / 0.8 of the water's weight acts on it.
    CHECK(lift / steps == near(0.5625 * 9810 * displaced).relative(0.05));
    CHECK(surfaced > 0.2);
    CHECK(surfaced < 0.45);
    CHECK(inside < 0.02 * displaced / s.particle_volume());
    CHECK(run.world().springs[0].position[0].y > 0.6);
}

TEST_CASE("marker-springs: currents around a heavy ball at rest on the floor stay bounded") {
    // They do not vanish: the force field is as coarse as the grid [Genevaux03 4]. docs/marker_springs.md
    // tells what does not change them.
    Scenario s = spring_tank({20, 20, 20});
    add_ball(s, {0.5, 0.15, 0.5}, 0.15, 3000);
    Run run(s);
    run.until(0.5);
    double mean = 0, top = 0;
    int steps = 0;
    run.until(1.0, [&](const StepReport&, double) {
        for (const Quantity& q : quantities()) {
            const double value = q.value(run.world(), run.scenario, {});
            if (q.name == "liquid.kinetic_energy") mean += value, ++steps;
            if (q.name == "liquid.top_speed") top = std::max(top, value);
        }
    });
    const double mass = s.particle_mass() * double(run.world().liquid.particles.count());
    const double speed = std::sqrt(2 * mean / steps / mass);
    MESSAGE("spurious currents: mean " << speed << " m/s, fastest " << top << " m/s");
    CHECK(speed < 0.3);
    CHECK(top < 10);
    CHECK(length(run.world().springs[0].position[0] - Vec3{0.5, 0.15, 0.5}) < 0.1 * s.domain.h);
}

TEST_CASE("marker-springs: a ball displaces more than its volume, by less than a layer of half a cell") {
    Scenario s = spring_tank({20, 20, 20});
    const double radius = 0.15, g = 9.81;
    add_ball(s, {0.5, 0.3, 0.5}, radius, 1000);
    Run run(s);
    run.until(0.2);
    const double time = run.world().time, way = run.world().springs[0].position[0].y - 0.3;
    const double a = 2 * way / (time * time);
    // A ball as heavy as its own volume of water that displaces v times that: (1 + v / 2) a = (v - 1) g.
    const double volume = (g + a) / (g - 0.5 * a), layer = radius * (std::cbrt(volume) - 1);
    MESSAGE("displaces " << volume << " of its volume: a layer of " << layer / s.domain.h << " cells more");
    CHECK(layer > 0);
    CHECK(layer < 0.5 * s.domain.h);
}

TEST_CASE("marker-springs: an elastic cube falls into water, is dented, floats and regains its shape") {
    Scenario s = spring_tank({16, 20, 16}, 0.5);
    const double edge = 0.25;
    add_cube(s, {0.5, 0.85, 0.5}, edge, edge / 5, 400, 2e4);
    Run run(s);
    const auto volume = [&] { return enclosed_volume(skin_of(run.world().springs[0])) / std::pow(edge, 3); };
    CHECK(volume() == near(1).relative(1e-12));
    double least = 1;
    run.until(1.5, [&](const StepReport&, double) { least = std::min(least, volume()); });
    CHECK(least < 0.97);
    CHECK(least > 0.5);
    CHECK(volume() == near(1).relative(0.05));
    CHECK(pose_of(run.world().springs[0]).position.y > 0.42);
    CHECK(pose_of(run.world().springs[0]).position.y < 0.75);
}

TEST_CASE("marker-springs: the same bits on 1, 2 and 7 threads, and after a restart") {
    Scenario s = spring_tank({16, 16, 16});
    s.time.frames_per_second = 60;
    add_ball(s, {0.4, 0.3, 0.5}, 0.13, 300);
    add_cube(s, {0.65, 0.62, 0.35}, 0.2, 0.06, 600, 2e4);
    std::vector<std::uint64_t> hashes;
    for (const int threads : {1, 2, 7}) {
        set_thread_count(threads);
        Run run(s);
        for (int step = 0; step < 12; ++step) (void)run.driver.advance();
        CHECK(length(run.world().loads[0].force) > 0);
        CHECK(length(run.world().loads[1].force) > 0);
        hashes.push_back(run.hash());
    }
    set_thread_count(0);
    CHECK(hashes[1] == hashes[0]);
    CHECK(hashes[2] == hashes[0]);

    Run first(s), second(s);
    for (int step = 0; step < 5; ++step) (void)first.driver.advance();
    SavingVisitor saving;
    first.driver.visit_state(saving);
    for (int step = 0; step < 2; ++step) (void)second.driver.advance();
    RestoringVisitor restoring(saving.saved);
    second.driver.visit_state(restoring);
    for (int step = 0; step < 7; ++step) {
        (void)first.driver.advance();
        (void)second.driver.advance();
    }
    CHECK(first.hash() == hashes[0]);
    CHECK(second.hash() == hashes[0]);
}

TEST_CASE("viscosity: momentum is kept, and a shear flow decays as it should") {
    Domain domain;
    domain.cells = {8, 32, 8};
    domain.h = 1.0 / 32;
    const auto tiling = std::make_shared<Tiling>(domain.cells, std::vector<Int3>{{0, 0, 0},
                                                                                 {0, 1, 0},
                                                                                 {0, 2, 0},
                                                                                 {0, 3, 0},
                                                                                 {1, 0, 0},
                                                                                 {1, 1, 0},
                                                                                 {1, 2, 0},
                                                                                 {1, 3, 0},
                                                                                 {0, 4, 0},
                                                                                 {0, 0, 1},
                                                                                 {0, 1, 1},
                                                                                 {0, 2, 1},
                                                                                 {0, 3, 1}});
    MacGrid u;
    for (Field<double>& component : u) component = Field<double>(tiling, 0);
    const Field<double> phi(tiling, -1);
    const auto shape = [&](int j) { return std::cos(std::numbers::pi * (j + 0.5) / 32); };
    const auto sum = [&] {
        double total = 0;
        for (int k = 0; k < 8; ++k)
            for (int j = 0; j < 32; ++j)
                for (int i = 1; i < 8; ++i) total += u[0](i, j, k);
        return total;
    };
    for (int k = 0; k < 8; ++k)
        for (int j = 0; j < 32; ++j)
            for (int i = 1; i < 8; ++i) u[0].at({i, j, k}) = 3 + shape(j);
    const double before = sum(), nu = 0.02, time = 2;
    diffuse_velocity(u, phi, no_obstacles, domain, nu, time);
    CHECK(sum() == near(before).relative(1e-12));
    const double left = std::exp(-nu * std::numbers::pi * std::numbers::pi * time);
    for (const int j : {0, 7, 31}) CHECK(u[0](4, j, 4) - 3 == near(left * shape(j)).relative(5e-4));
}

TEST_CASE("spring scenes: few keys are enough; mistakes are told, weak repulsion is warned of") {
    const auto load = [](const std::string& solid, const std::string& more = "",
                         const std::string& scene = "") {
        return parse_scene(
            "[scene]\nduration = 1\n" + (scene.empty() ? "method = \"marker-springs\"" : scene) +
                "\n[domain]\nsize = [1, 1, 1]\nresolution = 16\n[liquid]\n" + more +
                "\n[[liquid.fill]]\nlevel = 0.5\n[[solid]]\nname = \"a\"\nposition = [0.5, 0.7, "
                "0.5]\n" +
                solid,
            "test.toml");
    };
    const auto refusal = [&](const std::string& solid, const std::string& more = "",
                             const std::string& scene = "") {
        try {
            (void)load(solid, more, scene);
        } catch (const UserError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const std::string cube = "motion = \"spring\"\nshape = { box = [0.2, 0.2, 0.2] }\n";
    const Scene plain = load(cube + "density = 500\nstiffness = 1e4\n");
    const SpringProperties& springs = plain.scenario.solids[0].spring;
    CHECK(plain.warnings.empty());
    CHECK(plain.scenario.liquid.carrier == Carrier::markers);
    CHECK(springs.net->rest.size() == 27);
    CHECK(springs.net->total_mass() == near(4).relative(1e-12));
    CHECK(springs.repulsion > 0);
    CHECK(springs.repulsion_damping > 0);
    CHECK(penetration(springs, marked_liquid(plain.scenario), highest_pressure(plain.scenario)) <
          springs.radius);

    CHECK(refusal(cube + "stiffness = 1e4\n").find("needs its density") != std::string::npos);
    CHECK(refusal(cube + "density = 500\n").find("needs its stiffness") != std::string::npos);
    CHECK(refusal(cube + "density = 500\nsprings = { structure = \"node\" }\n").find("only a sphere") !=
          std::string::npos);
    CHECK(refusal(cube + "density = 500\nstiffness = 1e4\nsprings = { spacing = 0.3 }\n")
              .find("do not fill this solid") != std::string::npos);
    CHECK(refusal(cube + "density = 500\nstiffness = 1e4\nsprings = { spacing = 0.001 }\n").find("nodes") !=
          std::string::npos);
    CHECK(refusal("shape = { sphere = 0.1 }\nstiffness = 5\n").find("only a solid made of springs") !=
          std::string::npos);
    CHECK(refusal(cube + "density = 500\nstiffness = 1e4\n", "carrier = \"apic\"")
              .find("does not admit the carrier") != std::string::npos);
    CHECK(refusal(cube + "density = 500\nstiffness = 1e4\n", "", "gravity = 9.81")
              .find("does not admit spring solids") != std::string::npos);
    CHECK(refusal("shape = { sphere = 0.1 }\n", "viscosity = 1.0", "gravity = 9.81")
              .find("knows no viscosity") != std::string::npos);

    const auto warning = [&](const std::string& springs_table, const std::string& scene = "") {
        const Scene scene_with = load(
            "motion = \"spring\"\nshape = { sphere = 0.1 }\ndensity = 500\nsprings = { "
            "structure = \"node\"" +
                springs_table + " }\n",
            "", scene);
        return scene_with.warnings.empty() ? std::string() : scene_with.warnings[0];
    };
    CHECK(warning("").empty());
    CHECK(warning(", repulsion = 1").find("water will come") != std::string::npos);
    CHECK(warning("", "method = \"marker-springs\"\ntime_step = 0.1").find("too long for the repulsion") !=
          std::string::npos);
}

TEST_CASE("marker-springs: more markers make the same ball rise alike") {
    double height[2] = {};
    for (const int per_edge : {2, 4}) {
        Scenario s = spring_tank({16, 16, 16});
        s.domain.particles_per_edge = per_edge;
        add_ball(s, {0.5, 0.3, 0.5}, 0.15, 300).spring.share = per_edge == 2 ? 1 : 8;
        Run run(s);
        run.until(0.2);
        height[per_edge == 4] = run.world().springs[0].position[0].y;
        CHECK(run.world().liquid.particles.count() > 8 * (per_edge - 1) * 16 * 16 * 9);
    }
    CHECK(height[0] > 0.38);
    CHECK(height[1] - 0.3 == near(height[0] - 0.3).relative(0.1));
}

TEST_CASE("marker-springs: water at rest around a ball at the start is not pushed away first") {
    Scenario s = spring_tank({24, 24, 24});
    add_ball(s, {0.5, 0.3, 0.5}, 0.15, 300);
    Run run(s);
    const double lift = 1000 * 9.81 * 4.0 / 3 * std::numbers::pi * std::pow(0.15, 3);
    (void)run.driver.advance();
    // Less than its buoyancy, for it accelerates at once; with water up to its surface it is a tenth of that.
    CHECK(run.world().loads[0].force.y > 0.4 * lift);
    CHECK(run.world().loads[0].force.y < 1.3 * lift);
}

TEST_CASE(
    "marker-springs: markers come as deep into a lattice's spheres as its repulsion holds their pressure") {
    Scenario s = spring_tank({16, 16, 16});
    const SpringProperties& solid = add_cube(s, {0.5, 0.5, 0.5}, 0.3, 0.1, 500, 1e4).spring;
    const double markers = 8 / s.domain.cell_volume(), spacing = solid.net->spacing;
    for (const double pressure : {500.0, 3000.0, 9000.0}) {
        CAPTURE(pressure);
        const double depth = penetration(solid, marked_liquid(s), pressure), nearest = solid.radius - depth;
        // What a node does to all markers beyond a plane, across it: over shells of equal distance, each with
        // the mean of the cosine.
        double push = 0;
        const int shells = 20000;
        for (int n = 0; n < shells; ++n) {
            const double d = nearest + (n + 0.5) * depth / shells;
            push += solid.repulsion * (solid.radius - d) * std::numbers::pi * (d * d - nearest * nearest) *
                    depth / shells;
        }
        CHECK(std::abs(push * markers / (spacing * spacing) / pressure - 1) < 1e-3);
    }
}

// Bodies that lie flat on the floor or on each other: the film under them carries the pressure of the water
// around, so they are lifted at once or rest.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "fluid/grid/pressure_solver.h"
#include "geometry/solid_shape.h"
#include "near.h"
#include "sim/driver.h"
#include "validate/case_tools.h"
#include "worlds.h"

using namespace flotsam;

namespace {

constexpr double water = 1000;

// A box of these edges with its centre at `center`; in a slab it is as thick as the slab.
Solid box(const Domain& domain, Vec3 edges, Vec3 center, double density) {
    Solid solid;
    solid.name = "box";
    solid.motion = Motion::rigid;
    solid.start.position = center;
    solid.shape = domain.flat() ? solid_rectangle(edges.x, edges.y, 3 * domain.h) : solid_box(edges);
    solid.rigid.mass = mass_properties(enclosed_moments(solid.shape.mesh), density);
    if (domain.flat()) {
        solid.rigid.mass.mass /= 3;
        solid.rigid.mass.inertia = solid.rigid.mass.inertia * (1.0 / 3);
        solid.rigid.locked = {false, false, true, true, true, false};
    }
    return solid;
}

// A slab of water, 1 m wide and 0.6 m deep, in cells of 20 mm, and a box of 0.2 x 0.1 m above height `floor`.
constexpr Vec3 flat_box{0.2, 0.1, 0};
Scenario slab_with_box(double gap, double density, double x = 0.503, double floor = 0) {
    Scenario s = test::tank({50, 50, 1}, 0.6);
    s.solids.push_back(box(s.domain, flat_box, {x, floor + 0.5 * flat_box.y + gap, 0.01}, density));
    return s;
}

// Lift of the displaced water on the slab's box [N].
double archimedes(const Scenario& s) { return water * g * flat_box.x * flat_box.y * s.domain.h; }

// Steps until `time`, showing every world to watch(world).
template <class Watch>
void run(Scenario s, double time, const Watch& watch) {
    s.time.duration = 1e6;
    Driver driver(s, make_scheme(s.method));
    driver.start();
    while (driver.world().time < time - 1e-9) {
        (void)driver.advance();
        watch(driver.world());
    }
}

// How far the last body rises until `time`, and the furthest that it comes down in a step [m].
struct Rise {
    double height = 0, fall = 0, fastest = 0;  // [m], [m], up or down [m/s]
};
Rise rise(const Scenario& s, double time) {
    Rise rise;
    const double start = s.solids.back().start.position.y;
    run(s, time, [&](const World& world) {
        const RigidBody& body = world.bodies.back();
        const double height = body.center.y - start;
        rise.fall = std::max(rise.fall, rise.height - height);
        rise.height = height;
        rise.fastest = std::max(rise.fastest, std::abs(body.velocity.y));
    });
    return rise;
}

// The force of water with an exactly level surface on a box that is free to move.
Vec3 force_at_rest(const Domain& domain, const Solid& solid, double level) {
    const auto tiling = whole_tiling(domain.cells);
    const Pose pose = solid.start;
    TriangleMesh mesh = solid.shape.mesh;
    for (Vec3& v : mesh.vertices) v = pose.to_world(v);
    Obstacle obstacle{solid.shape.distance, pose, pose, 1.0, {}, nullptr};
    obstacle.cut = std::make_shared<CutSolid>(cut_solid(mesh, domain.cells, domain.h));
    obstacle.underflowed = true;
    const Obstacles obstacles = place_obstacles({obstacle}, domain, tiling);
    Field<double> phi(tiling, outside_distance(domain));
    for_each_cell(*tiling, domain.cells,
                  [&](Int3 c, std::int64_t n) { phi[n] = domain.cell_center(c).y - level; });
    const PressureSystem system = pressure_system(domain, phi, {0, -g, 0}, water, obstacles);
    MacGrid u;
    for (auto& component : u) component = Field<double>(tiling, 0);
    Field<double> potential(tiling, 0), source(tiling, 0);
    const PressureUpdate found = solve_pressure(system, source, 0.01, {}, u, potential);
    CHECK(found.solve.converged);
    return found.loads.solids[0].force;
}

}  // namespace

TEST_CASE("under a level surface a flat box feels its lift exactly, at any gap and offset") {
    Domain slab, tank;
    slab.cells = {32, 24, 1};
    tank.cells = {20, 14, 18};
    slab.h = tank.h = 0.02;
    for (const Domain& domain : {slab, tank})
        for (int offset = 0; offset < 20; ++offset)
            for (const double gap : {-1e-6, 0.0, 1e-7, 1e-4, 5e-4, 2e-3, 5e-3, 1e-2, 2e-2, 3e-2}) {
                CAPTURE(domain.flat());
                CAPTURE(offset);
                CAPTURE(gap);
                const Vec3 edges{0.15, 0.06 + 1e-3 * offset, 0.12};
                const Vec3 shift = 0.001 * Vec3{double(offset), 0, double(7 * offset % 20)};
                const Vec3 center{0.18 + shift.x, 0.5 * edges.y + gap,
                                  domain.flat() ? 0.5 * domain.h : 0.17 + shift.z};
                const double volume =
                    edges.x * std::min(edges.y, edges.y + gap) * (domain.flat() ? domain.h : edges.z);
                const Vec3 force = force_at_rest(domain, box(domain, edges, center, 500), 0.213);
                const double lift = water * g * volume;
                // What touches to a ten-thousandth of a cell lies on the side.
                CHECK(force.y == near(lift).relative(gap == 1e-7 ? 3e-5 : 1e-8));
                CHECK(std::abs(force.x) < 1e-6 * lift);
                if (!domain.flat()) CHECK(std::abs(force.z) < 1e-6 * lift);
            }
}

TEST_CASE("a box that is held above the floor feels its lift from the first step on") {
    for (const double gap : {0.0, 5e-4, 2e-3, 5e-3, 1e-2, 2e-2, 3e-2})
        for (const bool fixed : {false, true}) {
            if (fixed && gap == 0) continue;  // it stands on the floor
            CAPTURE(gap);
            CAPTURE(fixed);
            Scenario s = slab_with_box(gap, 200, 0.507);
            if (fixed)
                s.solids[0].motion = Motion::fixed;
            else
                s.solids[0].rigid.release = 1e3;
            double mean = 0, furthest = 0, last = 0;
            int steps = 0;
            run(s, 0.4, [&](const World& world) {
                last = world.loads[0].force.y / archimedes(s);
                mean += last;
                ++steps;
                furthest = std::max(furthest, std::abs(last - 1));
            });
            // Its own weight in water is a sixth of the load on its top, and particles that have just been
            // seeded leave the pressure uncertain by a hundredth.
            CHECK(furthest < 0.1);
            CHECK(mean / steps == near(1).absolute(0.02));
            CHECK(last == near(1).absolute(0.02));
        }
}

TEST_CASE("a light box that lies flat on the floor rises at once and all the time") {
    for (const double density : {50.0, 200.0, 500.0, 950.0})
        for (const double gap : {0.0, 5e-4, 2e-3})
            for (const double step : {0.0, 0.005}) {  // 0: as long as is stable
                CAPTURE(density);
                CAPTURE(gap);
                CAPTURE(step);
                Scenario s = slab_with_box(gap, density);
                if (step > 0) s.time.time_step = step;
                const Rise soon = rise(s, 0.1), later = rise(s, 0.3);
                CHECK(soon.height > (density < 900 ? 1e-4 : 1e-5));
                CHECK(later.height > 3 * soon.height);
                CHECK(later.fall == 0);
            }
}

TEST_CASE("a box lifts off as fast as the water can follow into the film under it") {
    for (const double gap : {5e-4, 2e-3}) {
        // A film of length L and height d has the inertia of rho L^3 / 12 d per width.
        const double film = water * std::pow(flat_box.x, 3) / (12 * gap);
        const double mass = flat_box.x * flat_box.y * 200, displaced = flat_box.x * flat_box.y * water;
        const double acceleration = (displaced - mass) * g / (film + mass);
        // In one step, and in eight: the film keeps its velocity from one to the next.
        for (const double step : {1.0 / 48, 1.0 / 384}) {
            Scenario s = slab_with_box(gap, 200);
            s.time.time_step = step;
            double speed = 0;
            run(s, 1.0 / 48, [&](const World& world) { speed = world.bodies[0].velocity.y; });
            CHECK(speed * 48 == near(acceleration).relative(0.15));
        }
    }
}

TEST_CASE("a heavy box lies still on the floor, on its film") {
    for (const double density : {1100.0, 2500.0})
        for (const double step : {0.0, 0.005}) {
            CAPTURE(density);
            CAPTURE(step);
            Scenario s = slab_with_box(0, density);
            if (step > 0) s.time.time_step = step;
            const Rise rest = rise(s, 0.5);
            CHECK(std::abs(rest.height) < 0.002 * s.domain.h);
            CHECK(rest.fastest < 1e-3);
        }
}

TEST_CASE("a box that lies flat on another solid rises or rests, wherever the two meet in a cell") {
    for (const double top : {0.1, 0.1013, 0.107})  // the first is in a plane of the grid
        for (const double gap : {0.0, 1e-4, 5e-4})
            for (const double density : {200.0, 2500.0}) {
                CAPTURE(top);
                CAPTURE(gap);
                CAPTURE(density);
                Scenario s = slab_with_box(gap, density, 0.503, top);
                Solid base = box(s.domain, {0.4, top, 0}, {0.5, 0.5 * top, 0.01}, density);
                base.motion = Motion::fixed;
                s.solids.insert(s.solids.begin(), base);
                const Rise found = rise(s, 0.3);
                if (density < water) {
                    CHECK(found.height > 2e-3);
                    CHECK(found.fall == 0);
                } else {
                    CHECK(found.height == near(-gap).absolute(1e-4));
                }
            }
}

namespace {

Rise rise_of_block(double gap) {
    Scenario s;
    s.domain.cells = {20, 16, 20};
    s.domain.h = 0.008;
    s.liquid.fills.push_back({make_level(0.1), {}});
    const Vec3 edges{0.049, 0.024, 0.048};
    s.solids = {box(s.domain, edges, {0.081, 0.5 * edges.y + gap, 0.079}, 800)};
    return rise(s, 0.3);
}

}  // namespace

TEST_CASE("a flat block rises in three dimensions as well") {
    CHECK(rise_of_block(0).height > 2e-3);
    const Rise over_a_gap = rise_of_block(5e-4);
    CHECK(over_a_gap.height > 2e-3);
    CHECK(over_a_gap.fall == 0);
}

// It sinks back by 2 mm on its way up; the cause is not known.
TEST_CASE("a flat block that touches the floor in three dimensions never sinks back" *
          doctest::should_fail()) {
    CHECK(rise_of_block(0).fall == 0);
}

// Films hold no particles, so that tiles must be made for them.
TEST_CASE("a box feels its lift where no particle is near its underside or its side") {
    struct Case {
        Vec3 edges, center;
        double under_water;  // height of its part under water
    };
    // On the floor, its middle 20 cells from the nearest particle; beside a wall, reaching out of the water.
    for (const Case& c :
         {Case{{0.8, 0.3, 0}, {0.503, 0.15, 0.01}, 0.3}, Case{{0.32, 0.7, 0}, {0, 0.63, 0.01}, 0.32}}) {
        CAPTURE(c.edges.x);
        Scenario s = test::tank({50, 60, 1}, 0.6);
        s.solids.push_back(box(s.domain, c.edges, c.center, 500));
        s.solids[0].rigid.release = 1e3;
        const double width = std::min(c.edges.x, c.center.x + 0.5 * c.edges.x);
        double mean = 0;
        int steps = 0;
        run(s, 0.4, [&](const World& world) {
            mean += world.loads[0].force.y / (water * g * width * c.under_water * s.domain.h);
            ++steps;
        });
        CHECK(mean / steps == near(1).absolute(0.03));
    }
}

TEST_CASE("the film under a dam of which one side is dry runs no faster than water falls") {
    Scenario s = test::tank({50, 25, 1}, 0);
    s.liquid.fills = {{make_box({0, 0, 0}, {0.3, 0.3, 1}), {}}};
    s.solids.push_back(box(s.domain, {0.4, 0.4, 0}, {0.51, 0.2, 0.01}, 5000));
    s.solids[0].rigid.release = 1e3;
    double fastest = 0;
    run(s, 3, [&](const World& world) {
        for (const double v : world.liquid.slits.velocity[0]) fastest = std::max(fastest, std::abs(v));
    });
    CHECK(fastest > 0.1 * std::sqrt(2 * g * 0.3));
    CHECK(fastest < 1.2 * std::sqrt(2 * g * 0.3));
}

TEST_CASE("faces that have become wide take what particles bring, not what the film did") {
    Domain slab;
    slab.cells = {32, 24, 1};
    slab.h = 0.02;
    const Solid solid = box(slab, {0.15, 0.06, 0}, {0.3, 0.2, 0.01}, 500);
    const auto tiling = whole_tiling(slab.cells);
    TriangleMesh mesh = solid.shape.mesh;
    for (Vec3& v : mesh.vertices) v = solid.start.to_world(v);
    Obstacle obstacle{solid.shape.distance, solid.start, solid.start, 1.0, {}, nullptr};
    obstacle.cut = std::make_shared<CutSolid>(cut_solid(mesh, slab.cells, slab.h));
    const Obstacles obstacles = place_obstacles({obstacle}, slab, tiling);
    MacGrid u;
    for (auto& component : u) component = Field<double>(tiling, 1);
    SlitFlow slits;
    slits.face[0] = {{2, 0, 0}};
    slits.velocity[0] = {5};
    slits.open[0] = {0.01};
    resume_slits(u, slits, obstacles, slab, 0.01);
    CHECK(u[0](2, 0, 0) == 1);
}

TEST_CASE("a box in a corner is pushed alike at the low and the high side, and not across a slab") {
    Domain slab, tank;
    slab.cells = {32, 24, 1};
    tank.cells = {16, 14, 16};
    slab.h = tank.h = 0.02;
    for (const Domain& domain : {slab, tank}) {
        CAPTURE(domain.flat());
        const double z = domain.flat() ? 0.5 * domain.h : 0.5 * domain.size().z;
        const auto force_at = [&](double x) {
            return force_at_rest(domain, box(domain, {0.11, 0.06, 0.1}, {x, 0.03, z}, 500), 0.213);
        };
        const Vec3 low = force_at(0.055), high = force_at(domain.size().x - 0.055);
        CHECK(low.y == near(high.y).relative(1e-8));
        CHECK(low.x == near(-high.x).absolute(1e-8 * low.y));
        CHECK(std::abs(low.z) < 1e-8 * low.y);
        CHECK(std::abs(high.z) < 1e-8 * low.y);
    }
}

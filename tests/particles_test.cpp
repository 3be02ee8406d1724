#include "fluid/grid/particles.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/rotation.h"
#include "fluid/grid/advect.h"
#include "fluid/grid/extrapolate.h"
#include "fluid/grid/friction.h"
#include "fluid/grid/markers.h"
#include "fluid/grid/sample.h"
#include "fluid/grid/sources.h"
#include "fluid/grid/surface.h"
#include "fluid/grid/transfer.h"
#include "near.h"
#include "validate/case_tools.h"
#include "worlds.h"

using namespace flotsam;

namespace {

// Face values of a velocity given as a function of place.
template <class Velocity>
MacGrid velocity_field(const Domain& domain, const std::shared_ptr<const Tiling>& tiling,
                       const Velocity& velocity) {
    MacGrid u;
    for (int axis = 0; axis < 3; ++axis) {
        u[axis] = Field<double>(tiling, 0);
        for_each_cell(*tiling, domain.cells + unit(axis), [&](Int3 c, std::int64_t n) {
            u[axis][n] = velocity(domain.face_center(c, axis))[axis];
        });
    }
    return u;
}

// A linear velocity field: what trilinear interpolation and APIC must reproduce exactly.
Vec3 linear_velocity(Vec3 p) { return {1 + 2 * p.x - p.y, -0.5 + p.z, 3 * p.y - 2 * p.z + p.x}; }

struct Blob {
    Scenario s;
    Particles particles;
    std::shared_ptr<const Tiling> tiling;
    CellRanges cells;
    explicit Blob(int n) : s(test::tank({n, n, n}, 0)) {
        s.liquid.fills = {{make_sphere({0.5, 0.5, 0.5}, 0.25), {}}};
        particles = seed_fills(s.domain, s.liquid);
        resize_like_positions(particles, Carrier::apic);
        tiling = tiling_around(particles, s.domain, 4);
        cells = sort_into_cells(particles, s.domain, *tiling);
    }
};

}  // namespace

TEST_CASE("cells are seeded with eight particles, one in each eighth, and slabs with four") {
    const Particles deep = seed_fills(test::tank({8, 8, 8}, 0.5).domain, test::tank({8, 8, 8}, 0.5).liquid);
    CHECK(deep.count() == 8 * 4 * 8 * 8);
    const Scenario slab = test::tank({16, 16, 1}, 0.5);
    const Particles flat = seed_fills(slab.domain, slab.liquid);
    CHECK(flat.count() == 16 * 8 * 4);
    for (const Vec3f p : flat.position) CHECK(p.z == near(0.5 / 16).relative(1e-12));
}

TEST_CASE("sorting puts every particle into its cell and keeps each particle's values together") {
    Blob blob(20);
    for (std::int64_t i = 0; i < blob.particles.count(); ++i)
        blob.particles.velocity[i] = blob.particles.position[i];
    blob.cells = sort_into_cells(blob.particles, blob.s.domain, *blob.tiling);
    for (std::int64_t n = 0; n < blob.tiling->value_count(); ++n)
        for (std::int32_t i = blob.cells.begin[n]; i < blob.cells.begin[n + 1]; ++i) {
            CHECK(blob.tiling->find(blob.s.domain.cell_of(Vec3(blob.particles.position[i]))) == n);
            CHECK(blob.particles.velocity[i] == blob.particles.position[i]);
        }
    CHECK(blob.cells.begin.back() == blob.particles.count());
}

TEST_CASE("tiles exist within the margin of every particle") {
    const Blob blob(40);
    for (const Vec3f p : blob.particles.position) {
        const Int3 c = blob.s.domain.cell_of(Vec3(p));
        for (int axis = 0; axis < 3; ++axis)
            for (const int step : {-4, 4}) CHECK(blob.tiling->find(c + unit(axis) * step) >= 0);
    }
    CHECK(blob.tiling->tile_count() < 5 * 5 * 5);  // and not everywhere
}

TEST_CASE("APIC carries a linear velocity field to the grid and back unchanged") {
    Blob blob(20);
    const MacGrid exact = velocity_field(blob.s.domain, blob.tiling, linear_velocity);
    grid_to_particles_apic(blob.particles, blob.cells, exact, blob.s.domain);
    for (std::int64_t i = 0; i < blob.particles.count(); ++i) {
        const Vec3 v = linear_velocity(Vec3(blob.particles.position[i]));
        for (int a = 0; a < 3; ++a) CHECK(blob.particles.velocity[i][a] == near(v[a]).relative(1e-6));
    }
    const MacGrid back = particles_to_grid(blob.particles, blob.cells, blob.s.domain, blob.tiling);
    for (const Vec3f p : blob.particles.position)
        for (int axis = 0; axis < 3; ++axis)
            CHECK(sample_component(back, blob.s.domain, Vec3(p), axis) ==
                  near(linear_velocity(Vec3(p))[axis]).relative(1e-6));
}

TEST_CASE("the transfer to the grid conserves momentum") {
    Blob blob(20);
    Vec3 momentum;
    for (std::int64_t i = 0; i < blob.particles.count(); ++i) {
        for (int a = 0; a < 3; ++a) {
            blob.particles.velocity[i][a] = float(test::noise(7 * i + a));
            blob.particles.affine[a][i] = {float(test::noise(i)), float(test::noise(i + 1)),
                                           float(test::noise(i + 2))};
        }
        momentum += Vec3(blob.particles.velocity[i]);
    }
    const MacGrid u = particles_to_grid(blob.particles, blob.cells, blob.s.domain, blob.tiling);
    // Weights of the faces, by carrying the velocity 1: momentum = sum of weight times velocity.
    for (int axis = 0; axis < 3; ++axis) {
        double on_grid = 0;
        for (std::int64_t i = 0; i < blob.particles.count(); ++i)
            on_grid += sample_component(u, blob.s.domain, Vec3(blob.particles.position[i]), axis);
        CHECK(on_grid == near(momentum[axis]).relative(1e-12));
    }
}

TEST_CASE("FLIP with nothing changing leaves particles alone, PIC takes the grid's velocity") {
    Blob blob(16);
    for (std::int64_t i = 0; i < blob.particles.count(); ++i)
        blob.particles.velocity[i] = {float(test::noise(i)), 0, 0};
    const std::vector<Vec3f> before = blob.particles.velocity;
    const MacGrid u = velocity_field(blob.s.domain, blob.tiling, [](Vec3) { return Vec3{5, 0, 0}; });
    const MacGrid none = velocity_field(blob.s.domain, blob.tiling, [](Vec3) { return Vec3{}; });
    grid_to_particles_flip(blob.particles, blob.cells, u, none, blob.s.domain, 1.0);
    CHECK(blob.particles.velocity == before);
    grid_to_particles_flip(blob.particles, blob.cells, u, none, blob.s.domain, 0.0);
    CHECK(blob.particles.velocity[0].x == 5);
}

TEST_CASE(
    "particles turn with a rigid rotation; the midpoint rule's error shrinks with the square of the step") {
    const Blob blob(32);
    const MacGrid u = velocity_field(blob.s.domain, blob.tiling, [](Vec3 p) {
        return Vec3{0.5 - p.y, p.x - 0.5, 0};
    });
    double previous = 0;
    for (const double dt : {0.4, 0.2, 0.1}) {
        Particles moved = blob.particles;
        for (int n = 0; n < std::lround(0.8 / dt); ++n) advance_particles(moved, u, blob.s.domain, dt);
        double worst = 0;
        for (std::int64_t i = 0; i < moved.count(); ++i) {
            const Vec3 r = Vec3(blob.particles.position[i]) - Vec3{0.5, 0.5, 0.5};
            const Vec3 exact = Vec3{r.x * std::cos(0.8) - r.y * std::sin(0.8),
                                    r.x * std::sin(0.8) + r.y * std::cos(0.8), r.z} +
                               Vec3{0.5, 0.5, 0.5};
            worst = std::max(worst, length(Vec3(moved.position[i]) - exact));
        }
        if (previous > 0) CHECK(worst < previous / 3.5);
        previous = worst;
    }
}

TEST_CASE("semi-Lagrangian advection carries a linear field exactly along a constant wind") {
    const Blob blob(16);
    const Vec3 wind{0.3, -0.2, 0.1};
    const MacGrid u = velocity_field(blob.s.domain, blob.tiling, [&](Vec3) { return wind; });
    const MacGrid moved = advect_velocity(u, blob.s.domain, blob.tiling, 0.1);
    CHECK(sample_velocity(moved, blob.s.domain, {0.5, 0.5, 0.5}).x == near(wind.x).relative(1e-12));
}

TEST_CASE("closed sides keep particles in, open ones let them out") {
    Scenario s = test::tank({8, 8, 8}, 1.0);
    s.domain.walls[x_high].kind = WallKind::open;
    Particles particles = seed_fills(s.domain, s.liquid);
    const auto tiling = tiling_around(particles, s.domain, 2);
    const MacGrid u = velocity_field(s.domain, tiling, [](Vec3) { return Vec3{1, 1, 1}; });
    const std::int64_t before = particles.count();
    Particles markers = particles;
    const Displaced held = advance_particles(particles, u, s.domain, 0.2);
    const Displaced held_markers = advance_markers(markers, markers, u, s.domain, 0.2).displaced;
    // What wanted to go through the closed sides above and behind was held back by as much as it went too
    // far.
    for (const Displaced& d : {held, held_markers}) {
        CHECK(std::abs(double(d.count) / double(before) - (1 - 0.8 * 0.8)) < 0.02);
        CHECK(std::abs(d.way.y / double(before) + 0.5 * 0.2 * 0.2) < 1e-3);
        CHECK(d.way.x == 0);
        CHECK(d.farthest < std::sqrt(2.0) * 0.2 + 1e-3);
        CHECK(d.farthest > 0.2);
        CHECK(d.distance > length(d.way));
    }
    CHECK(held.count == held_markers.count);
    const Exchange out = drain(particles, u, s.domain, s.liquid, 0);
    CHECK(double(out.count) / double(before) == near(0.2).relative(0.01));
    CHECK(particles.count() == before - out.count);
    for (const Vec3f p : particles.position) CHECK(s.domain.has_cell(s.domain.cell_of(Vec3(p))));
}

TEST_CASE("an emitter brings its cross-section times its speed, at any time step") {
    // In the longest, liquid passes the region one and a half times.
    for (const double dt : {0.003, 0.02, 0.075}) {
        Scenario s = test::tank({32, 32, 32}, 0);
        s.liquid.fills.clear();
        s.liquid.emitters.push_back({make_box({0.2, 0.2, 0.2}, {0.3, 0.5, 0.6}), {2, 0, 0}});
        Particles particles;
        double emitted = 0;
        emit(particles, s.domain, s.liquid, 0, dt, dt);  // fills the region itself
        CHECK(double(particles.count()) * s.particle_volume() == near(0.1 * 0.3 * 0.4).relative(0.01));
        const int steps = int(0.5 / dt);
        for (int n = 1; n <= steps; ++n)
            emitted += double(emit(particles, s.domain, s.liquid, n * dt, dt, (n + 1) * dt).count);
        CHECK(emitted * s.particle_volume() == near(0.3 * 0.4 * 2 * steps * dt).relative(3e-3));
    }
}

TEST_CASE("an emitter brings nothing where an obstacle is, and as much as ever beside it") {
    Scenario s = test::tank({32, 32, 32}, 0);
    s.liquid.fills.clear();
    s.liquid.emitters.push_back({make_box({0.2, 0.2, 0.2}, {0.6, 0.6, 0.6}), {2, 0, 0}});
    const Pose pose{{0.4, 0.4, 0.4}, {}};
    Obstacle ball;
    ball.shape = make_sphere({}, 0.15);
    ball.before = ball.after = pose;
    Particles all, around;
    const double dt = 0.02;
    for (int n = 0; n < 3; ++n) {
        const Exchange in = emit(all, s.domain, s.liquid, n * dt, dt, (n + 0.5) * dt);
        const auto kept = std::count_if(all.position.end() - in.count, all.position.end(),
                                        [&](Vec3f p) { return ball.distance(Vec3(p)) > 0; });
        CHECK(emit(around, s.domain, s.liquid, n * dt, dt, (n + 0.5) * dt, {ball}).count == kept);
    }
    CHECK(around.count() < all.count());
    for (const Vec3f p : around.position) CHECK(ball.distance(Vec3(p)) > -1e-6);
}

TEST_CASE("reseeding fills a hole from crowded cells and keeps the number of particles") {
    Scenario s = test::tank({16, 16, 16}, 1.0);
    Particles particles = seed_fills(s.domain, s.liquid);
    // Empty two cells deep inside and put their particles into another of the same tile.
    for (Vec3f& p : particles.position) {
        const Int3 c = s.domain.cell_of(Vec3(p));
        if (c == Int3{5, 10, 10} || c == Int3{6, 10, 10}) p.x = float((2 + 0.3) / 16);
    }
    resize_like_positions(particles, Carrier::apic);
    const auto tiling = tiling_around(particles, s.domain, 4);
    CellRanges cells = sort_into_cells(particles, s.domain, *tiling);
    const Surface surface = surface_from_particles(particles, cells, s.domain, tiling);
    const MacGrid u = velocity_field(s.domain, tiling, [](Vec3) { return Vec3{1, 2, 3}; });
    const std::int64_t before = particles.count();

    // A thin plate between them, and nothing goes through; what must leave the crowd finds no room beside it.
    const SolidShape plate = solid_box({0.2 / 16, 2, 2});
    const Pose pose{{4.5 / 16, 0.5, 0.5}, {}};
    TriangleMesh mesh = plate.mesh;
    for (Vec3& v : mesh.vertices) v = pose.to_world(v);
    const auto cut = std::make_shared<CutSolid>(cut_solid(mesh, s.domain.cells, s.domain.h));
    const Obstacles divided = place_obstacles({{plate.distance, pose, pose, 1.0, {}, cut}}, s.domain, tiling);
    CHECK(reseed(particles, cells, s.domain, s.liquid, surface.phi, divided, u, 0).count == 0);

    // Twelve stay in the crowded cell.
    const Displaced moved = reseed(particles, cells, s.domain, s.liquid, surface.phi, no_obstacles, u, 0);
    CHECK(moved.count == 12);
    CHECK(moved.distance > 12 * 2.0 / 16);  // two to four cells further on
    CHECK(moved.farthest < 5.0 / 16);
    CHECK(length(moved.velocity - 12 * Vec3{1, 2, 3}) < 1e-5);  // before, they had none
    CHECK(particles.count() == before);
    cells = sort_into_cells(particles, s.domain, *tiling);
    CHECK(cells.count(tiling->find(2, 10, 10)) == 12);
    CHECK(cells.count(tiling->find(5, 10, 10)) + cells.count(tiling->find(6, 10, 10)) == 12);
    CHECK(particles.velocity[cells.begin[tiling->find(5, 10, 10)]].z == near(3).relative(1e-12));
}

TEST_CASE("extrapolation continues a constant and reaches as many layers as asked") {
    const Blob blob(32);
    Field<double> values(blob.tiling, 0);
    Field<char> known(blob.tiling, 0);
    values.at({16, 16, 16}) = 5;
    known.at({16, 16, 16}) = 1;
    extrapolate(values, known, blob.s.domain.cells, 3);
    CHECK(values(19, 16, 16) == 5);
    CHECK(values(17, 15, 15) == 5);
    CHECK(values(20, 16, 16) == 0);
}

TEST_CASE("friction slows the liquid at a wall alone, by the same amount whatever the time step") {
    Scenario s = test::tank({8, 8, 8}, 1.0);
    s.domain.walls[y_low].slip = 0.25;
    const auto tiling = std::make_shared<Tiling>(
        s.domain.cells, std::vector<Int3>{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}});
    Field<double> phi(tiling, 1);
    phi.fill(-1);
    MacGrid once = velocity_field(s.domain, tiling, [](Vec3) { return Vec3{1, 0, 0}; }), thrice = once;
    const Vec3 impulse = apply_wall_friction(once, phi, no_obstacles, s.domain, {1000, 1.0 / 24});
    for (int i = 0; i < 3; ++i) apply_wall_friction(thrice, phi, no_obstacles, s.domain, {1000, 1.0 / 72});
    CHECK(once[0](4, 0, 4) == near(0.25).relative(1e-12));
    CHECK(thrice[0](4, 0, 4) == near(0.25).relative(1e-12));
    CHECK(once[0](4, 1, 4) == 1);
    CHECK(impulse.x < 0);
    s.domain.walls[y_low].slip = 0;
    apply_wall_friction(once, phi, no_obstacles, s.domain, {1000, 1e-4});
    CHECK(once[0](4, 0, 4) == 0);
}

TEST_CASE("the layer that rubs on a wall may be given: then friction does not depend on the cells") {
    for (const int n : {8, 16, 32})
        for (const double depth : {0.02, 0.1, 0.25}) {
            CAPTURE(n);
            CAPTURE(depth);
            Scenario s = test::tank({n, n, n}, 1.0);
            s.domain.walls[y_low].slip = s.domain.walls[y_high].slip = 0.25;
            const auto tiling = whole_tiling(s.domain.cells);
            Field<double> phi(tiling, -1);
            MacGrid u = velocity_field(s.domain, tiling, [](Vec3) { return Vec3{1, 0, 0}; });
            const Vec3 impulse = apply_wall_friction(u, phi, no_obstacles, s.domain, {1000, 1.0 / 24, depth});
            // Along x there is a face more than there are cells.
            CHECK(impulse.x == near(-1000 * 2 * depth * 0.75 * (n + 1) / n).relative(1e-9));
        }
}

TEST_CASE("markers: many at a time go where one at a time goes, in any order and anywhere") {
    Domain domain;
    domain.cells = {20, 12, 9};
    domain.h = 0.05;
    domain.walls[x_high].kind = WallKind::open;
    for (const int per_edge : {2, 5}) {
        domain.particles_per_edge = per_edge;
        LiquidSettings settings;
        settings.fills.push_back({make_level(0.5), {}});
        Particles markers = seed_fills(domain, settings);
        markers.velocity.clear();
        const auto tiling = tiling_around(markers, domain, 4);
        sort_into_cells(markers, domain, *tiling);
        CHECK(markers.count() == 20 * 10 * 9 * per_edge * per_edge * per_edge);
        // Some are far from their neighbours in the list.
        for (std::int64_t i = 0; i < markers.count(); i += 97)
            std::swap(markers.position[i], markers.position[markers.count() - 1 - i]);
        const MacGrid u = velocity_field(domain, tiling, [](Vec3 p) {
            return Vec3{std::sin(7 * p.y), std::cos(5 * p.x + p.z), 0.6 * std::sin(9 * p.x)};
        });
        const double dt = 0.08;  // more than a cell
        Vec3 sum;
        double squares = 0, fastest = 0;
        for (const Vec3f p : markers.position) {
            const Vec3 v = sample_velocity(u, domain, Vec3(p));
            sum += v;
            squares += dot(v, v);
            fastest = std::max(fastest, length(v));
        }
        const MarkerVelocities measured = velocities_of(markers, u, domain);
        CHECK(length(measured.sum - sum) < 1e-6 * double(markers.count()));
        CHECK(measured.squares == near(squares).relative(1e-6));
        CHECK(measured.fastest == near(fastest).relative(1e-6));

        Particles one_by_one = markers;
        advance_particles(one_by_one, u, domain, dt);
        const Vec3 at_start = advance_markers(markers, markers, u, domain, dt).velocity_sum;
        CHECK(length(at_start - sum) < 1e-6 * double(markers.count()));
        double furthest = 0;
        for (std::int64_t i = 0; i < markers.count(); ++i)
            furthest = std::max(furthest, length(Vec3(markers.position[i]) - Vec3(one_by_one.position[i])));
        CHECK(furthest < 1e-5 * domain.h);
    }
}

TEST_CASE("particles that go by their own velocity and its gradient follow a whirl") {
    Domain domain = test::tank({32, 32, 32}, 0).domain;
    const Vec3 center{0.5, 0.5, 0.5};
    const double spin = 2, dt = 0.05;  // about z: a tenth of a radian in a step
    Particles particles;
    for (const Vec3 arm : {Vec3{0.2, 0, 0}, Vec3{-0.1, 0.15, 0.1}}) {
        particles.position.push_back(Vec3f(center + arm));
        particles.velocity.push_back(Vec3f(Vec3{-spin * arm.y, spin * arm.x, 0}));
        particles.affine[0].push_back({0, float(-spin), 0});
        particles.affine[1].push_back({float(spin), 0, 0});
        particles.affine[2].push_back({});
    }
    const Particles before = particles;
    advance_by_own_velocity(particles, domain, dt, {});
    for (std::int64_t i = 0; i < particles.count(); ++i) {
        const Vec3 arm = Vec3(before.position[i]) - center;
        const Vec3 exact = center + rotation_by({0, 0, spin * dt}) * arm;
        // The midpoint's error is a sixth of the third power of the angle; on the tangent it is half of the
        // second.
        CHECK(length(Vec3(particles.position[i]) - exact) < 0.25 * std::pow(spin * dt, 3) * length(arm));
    }
}

TEST_CASE("a sink drains while it is open, and only then") {
    Scenario s = test::tank({16, 16, 16}, 0.5);
    s.liquid.sinks.push_back({make_box({0.25, 0, 0.25}, {0.5, 0.25, 0.5}), 1, 2});
    const Particles full = seed_fills(s.domain, s.liquid);
    for (const double time : {0.0, 0.99, 1.0, 1.99, 2.0, 5.0}) {
        CAPTURE(time);
        Particles particles = full;
        CHECK(drain(particles, {}, s.domain, s.liquid, time).count ==
              (time >= 1 && time < 2 ? 8 * 4 * 4 * 4 : 0));
    }
}

TEST_CASE("reseeded particles take the velocity of the place and its gradient") {
    Scenario s = test::tank({16, 16, 16}, 1.0);
    Particles particles = seed_fills(s.domain, s.liquid);
    for (Vec3f& p : particles.position)
        if (s.domain.cell_of(Vec3(p)) == Int3{5, 10, 10}) p.x = float((2 + 0.3) / 16);
    resize_like_positions(particles, Carrier::apic);
    const auto tiling = tiling_around(particles, s.domain, 4);
    CellRanges cells = sort_into_cells(particles, s.domain, *tiling);
    const Surface surface = surface_from_particles(particles, cells, s.domain, tiling);
    const MacGrid u = velocity_field(s.domain, tiling, linear_velocity);
    REQUIRE(reseed(particles, cells, s.domain, s.liquid, surface.phi, no_obstacles, u, 0).count == 4);
    cells = sort_into_cells(particles, s.domain, *tiling);
    const std::int64_t cell = tiling->find(5, 10, 10);
    REQUIRE(cells.count(cell) == 4);
    for (std::int32_t i = cells.begin[cell]; i < cells.begin[cell + 1]; ++i) {
        CHECK(length(Vec3(particles.velocity[i]) - linear_velocity(Vec3(particles.position[i]))) < 1e-5);
        CHECK(length(Vec3(particles.affine[0][i]) - Vec3{2, -1, 0}) < 1e-4);
        CHECK(length(Vec3(particles.affine[1][i]) - Vec3{0, 0, 1}) < 1e-4);
        CHECK(length(Vec3(particles.affine[2][i]) - Vec3{1, 3, -2}) < 1e-4);
    }
}

TEST_CASE("every side's friction acts in the cells beside it, and the audit is told what it took") {
    for (int side = 0; side < 6; ++side) {
        CAPTURE(side);
        Scenario s = test::tank({8, 8, 8}, 1.0);
        s.domain.walls[side].slip = 0.25;
        std::vector<Int3> tiles(8);
        for (int t = 0; t < 8; ++t) tiles[t] = {t & 1, t >> 1 & 1, t >> 2};
        const auto tiling = std::make_shared<Tiling>(s.domain.cells, tiles);
        Field<double> phi(tiling, 1);
        for_each_cell(*tiling, s.domain.cells, [&](Int3, std::int64_t n) { phi[n] = -1; });
        MacGrid u = velocity_field(s.domain, tiling, [](Vec3) { return Vec3{1, 1, 1}; });
        const Vec3 impulse = apply_wall_friction(u, phi, no_obstacles, s.domain, {1000, 1.0 / 24});
        const int normal = side / 2, along = (normal + 1) % 3;
        Int3 beside{4, 4, 4}, further{4, 4, 4};
        beside[normal] = side % 2 ? 7 : 0;
        further[normal] = side % 2 ? 6 : 1;
        CHECK(std::abs(u[along](beside) - 0.25) < 1e-12);
        CHECK(u[along](further) == 1);
        CHECK(u[normal](beside) == 1);
        // 9 x 8 faces each way, sides included, lose three quarters of their velocity.
        const double lost = 0.75 * 9 * 8 * 1000 * s.domain.cell_volume();
        for (int axis = 0; axis < 3; ++axis)
            CHECK(std::abs(impulse[axis] + (axis == normal ? 0 : lost)) < 1e-9 * lost);
    }
}

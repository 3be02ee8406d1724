// Mass, centre and inertia of bodies, and how they move while nothing acts on them.
#include "solid/rigid/rigid_body.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "core/random.h"
#include "core/state_hash.h"
#include "geometry/solid_shape.h"
#include "near.h"
#include "world/world.h"

using namespace flotsam;

namespace {

constexpr double pi = std::numbers::pi;

void check_inertia(const TriangleMesh& mesh, double volume, Vec3 center, Vec3 inertia, double tolerance) {
    const MassProperties m = mass_properties(enclosed_moments(mesh), 3);
    CHECK(m.mass == near(3 * volume).relative(1e-12));
    CHECK(length(m.center - center) < 1e-12);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            const double exact = i == j ? m.mass * inertia[i] : 0;
            CHECK(std::abs(m.inertia.row[i][j] - exact) < tolerance * m.mass * inertia.x);
        }
}

double turns(const RigidBody& body, double time) { return length(spin_of(body)) * time / (2 * pi); }

RigidBody brick() {
    RigidProperties p;
    p.mass = mass_properties(enclosed_moments(solid_box({1, 2, 3}).mesh), 700);
    return make_rigid_body(0, p, {});
}

}  // namespace

TEST_CASE("mass, centre and inertia of the shapes are the textbook's") {
    const double fine = 0.01;
    check_inertia(solid_box({1, 2, 3}).mesh, 6, {}, {13.0 / 12, 10.0 / 12, 5.0 / 12}, 1e-12);
    check_inertia(solid_sphere(0.5, fine).mesh, 4 * pi / 3 / 8, {}, Vec3{1, 1, 1} * 0.1, 1e-3);
    check_inertia(solid_cylinder(0.5, 2, fine).mesh, pi / 2, {},
                  {0.0625 + 4.0 / 12, 0.125, 0.0625 + 4.0 / 12}, 1e-3);
    // The centre of a cone lies a quarter of its height above the base.
    const double r2 = 0.25, h2 = 4;
    check_inertia(solid_cone(0.5, 2, fine).mesh, pi / 6, {0, -0.5, 0},
                  {3.0 / 80 * (4 * r2 + h2), 0.3 * r2, 3.0 / 80 * (4 * r2 + h2)}, 1e-3);
    const double ring = 1, tube = 0.25;
    const double across = 5.0 / 8 * tube * tube + 0.5 * ring * ring;
    check_inertia(solid_torus(ring, tube, fine).mesh, 2 * pi * pi * ring * tube * tube, {},
                  {across, ring * ring + 0.75 * tube * tube, across}, 1e-3);
    // A capsule is a cylinder and two half balls, each with its centre 3/8 r beyond the cylinder's end.
    const double r = 0.5, l = 1, rod = pi * r * r * l, balls = 4 * pi / 3 * r * r * r, whole = rod + balls;
    const double along = (rod * r * r / 2 + balls * 0.4 * r * r) / whole;
    const double about_x =
        (rod * (r * r / 4 + l * l / 12) + balls * (0.4 * r * r + l * l / 4 + 3.0 / 8 * l * r)) / whole;
    check_inertia(solid_capsule(r, l, fine).mesh, whole, {}, {about_x, along, about_x}, 1e-3);
}

TEST_CASE("inertia does not depend on where the mesh is") {
    TriangleMesh mesh = solid_box({1, 2, 3}).mesh;
    for (Vec3& v : mesh.vertices) v += Vec3{40, -20, 70};
    check_inertia(mesh, 6, {40, -20, 70}, {13.0 / 12, 10.0 / 12, 5.0 / 12}, 1e-10);
}

TEST_CASE("a hollow body weighs what its wall weighs") {
    const SolidShape box = solid_box({1, 2, 3}), ball = solid_sphere(0.5, 0.01);
    for (const double wall : {0.02, 0.1, 0.3}) {
        const VolumeMoments inner = moments_deeper_than(*box.distance, wall);
        const double a = 1 - 2 * wall, b = 2 - 2 * wall, c = 3 - 2 * wall;
        CHECK(6 - inner.volume == near(6 - a * b * c).relative(2e-3));
        const MassProperties shell = mass_properties(enclosed_moments(box.mesh) - inner, 1);
        const double exact = (6 * 13 - a * b * c * (b * b + c * c)) / 12;
        CHECK(shell.inertia.row[0].x == near(exact).relative(2e-3));
        CHECK(length(shell.center) < 1e-6);

        const double hole = 0.5 - wall;
        CHECK(moments_deeper_than(*ball.distance, wall).volume ==
              near(4 * pi / 3 * hole * hole * hole).relative(2e-3));
    }
}

TEST_CASE("a free asymmetric top keeps energy and angular momentum over 100 turns") {
    for (const double dt : {1.0 / 24, 1e-3}) {
        RigidBody body = brick();
        set_spin(body, {0.1, 5, 0.2});  // about the axis that is not stable: it tumbles
        const double energy = kinetic_energy(body);
        const Vec3 momentum = body.angular_momentum;
        const int steps = int(std::ceil(100 * 2 * pi / 5 / dt));
        double drift = 0, least = 1e30, most = 0;
        for (int i = 0; i < steps; ++i) {
            advance(body, dt);
            drift = std::max(drift, std::abs(kinetic_energy(body) / energy - 1));
            const double about_y = (body.rotation.inverse() * spin_of(body)).y;
            least = std::min(least, about_y), most = std::max(most, about_y);
        }
        MESSAGE("dt ", dt, ": energy drift ", drift);
        CHECK(drift < 1e-10);
        CHECK(body.angular_momentum == momentum);
        CHECK(least < -4.5);  // it does turn over
        CHECK(most > 4.5);
    }
}

TEST_CASE("the tumbling of a free top converges at second order") {
    const auto after = [](int steps) {
        RigidBody body = brick();
        set_spin(body, {0.5, 2, 1});
        for (int i = 0; i < steps; ++i) advance(body, 2.0 / steps);
        return body.rotation;
    };
    const Rotation exact = after(20000);
    const auto error = [&](int steps) { return length(rotation_vector(after(steps) * exact.inverse())); };
    CHECK(error(200) < 1e-3);
    CHECK(std::log2(error(200) / error(400)) == near(2).absolute(0.002));
}

TEST_CASE("a steady spin turns by exactly its angle, and a locked body only where it may") {
    RigidBody body = brick();
    body.velocity = {1, 2, 3};
    set_spin(body, {0, 0, 30});
    for (int i = 0; i < 10; ++i) advance(body, 0.1);
    CHECK(length(body.center - Vec3{1, 2, 3}) < 1e-14);
    CHECK(length(rotation_vector(body.rotation * Rotation::about({0, 0, 1}, 30).inverse())) < 1e-12);

    RigidProperties p;
    p.mass = mass_properties(enclosed_moments(solid_box({1, 2, 3}).mesh), 1);
    p.locked[lock_x] = p.locked[lock_rotate_y] = true;
    p.velocity = {1, 1, 1};
    p.spin = {1, 1, 1};
    RigidBody held = make_rigid_body(0, p, {{}, Rotation::about({1, 2, 3}, 1)});
    apply_impulse(held, {{5, 5, 5}, {5, 5, 5}});
    for (int i = 0; i < 10; ++i) advance(held, 0.05);
    CHECK(held.center.x == pose_of(make_rigid_body(0, p, {})).position.x);
    CHECK(held.center.y > 0.5);
    CHECK(spin_of(held).y == 0);
    CHECK(length(spin_of(held)) > 0.5);
    CHECK(turns(held, 1) > 0);
}

TEST_CASE("bodies are restored to the last bit, their masses from the scenario") {
    Scenario scenario;
    for (int i = 0; i < 3; ++i) {
        Solid solid;
        solid.name = "s" + std::to_string(i);
        solid.motion = i == 1 ? Motion::fixed : Motion::rigid;
        solid.shape = solid_box({1, 2, 3});
        solid.rigid.mass = mass_properties(enclosed_moments(solid.shape.mesh), 100 * (i + 1));
        solid.rigid.spin = {1, 2, 3};
        scenario.solids.push_back(solid);
    }
    std::vector<RigidBody> bodies = bodies_at_start(scenario.solids).bodies;
    REQUIRE(bodies.size() == 2);
    CHECK(bodies[1].solid == 2);
    CHECK(bodies[1].mass == near(1800).relative(1e-12));

    World world;
    world.bodies = bodies;
    CHECK(body_of(world.bodies, 1) == nullptr);
    CHECK(body_of(world.bodies, 2) == &world.bodies[1]);
    const auto hash = [](std::vector<RigidBody>& of) {
        return state_hash([&](StateVisitor& visit) { visit_state(of, visit, "bodies"); });
    };
    const auto before = hash(bodies);
    advance(bodies[1], 0.1);
    CHECK(hash(bodies) != before);
    CHECK(length(pose_of(world, scenario, 2).position) < 1e-12);
}

TEST_CASE("a body that may not turn about one axis tumbles about the others at second order") {
    const auto after = [](int steps) {
        RigidProperties p;
        p.mass = mass_properties(enclosed_moments(solid_box({1, 2, 3}).mesh), 1);
        p.locked[lock_rotate_y] = true;
        RigidBody body = make_rigid_body(0, p, {{}, Rotation::about({1, 2, 3}, 1)});
        set_spin(body, {1.5, 0, 1});
        for (int i = 0; i < steps; ++i) advance(body, 1.0 / steps);
        return body.rotation;
    };
    const Rotation exact = after(4000);
    const auto error = [&](int steps) { return length(rotation_vector(after(steps) * exact.inverse())); };
    CHECK(error(100) < 1e-3);
    CHECK(error(50) / error(100) > 3.5);
    CHECK(error(50) / error(100) < 4.5);
}

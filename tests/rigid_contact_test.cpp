// Contacts of rigid bodies: friction, rolling, bouncing, stacks, speed, and the same bits every time.
#include "solid/rigid/contact.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "core/state_hash.h"
#include "solid/rigid/convex_decomposition.h"
#include "solid/rigid/support.h"
#include "tests/near.h"
#include "tests/rigid_worlds.h"

using namespace flotsam;

namespace {

constexpr double g = 9.81;

// Two boxes in the shape of an L, 2 x 2 x 1, as one mesh.
TriangleMesh l_mesh() {
    const Vec3 outline[] = {{0, 0, 0}, {2, 0, 0}, {2, 1, 0}, {1, 1, 0}, {1, 2, 0}, {0, 2, 0}};
    TriangleMesh mesh;
    for (const double z : {-0.5, 0.5})
        for (const Vec3& p : outline) mesh.vertices.push_back(p + Vec3{-0.75, -0.75, z});
    for (const Int3& t : {Int3{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}}) {
        mesh.triangles.push_back({t.x + 6, t.y + 6, t.z + 6});
        mesh.triangles.push_back({t.x, t.z, t.y});
    }
    for (int i = 0; i < 6; ++i) {
        const int j = (i + 1) % 6;
        mesh.triangles.push_back({i, j, j + 6});
        mesh.triangles.push_back({i, j + 6, i + 6});
    }
    return mesh;
}

std::uint64_t hash_of(std::vector<RigidBody>& bodies) {
    return state_hash([&](StateVisitor& visit) { visit_state(bodies, visit, "bodies"); });
}

RigidWorld heap() {
    RigidWorld world;
    world.walls = {{{-1, 0, -1}, {1, 9, 1}}, {true, true, true, true, true, true}};
    world.add(solid_box({0.5, 0.3, 0.4}), {{0.3, 0.1, 0}, Rotation::about({1, 1, 0}, 0.3)}, Motion::fixed);
    for (int i = 0; i < 12; ++i) {
        const Pose pose{{0.4 * std::sin(2.0 * i), 0.7 + 0.35 * i, 0.4 * std::cos(3.0 * i)},
                        Rotation::about({1, 0.5 * i, 2}, i)};
        world.add(i % 4 == 0   ? solid_box({0.3, 0.2, 0.25})
                  : i % 4 == 1 ? solid_sphere(0.12, 0.03)
                  : i % 4 == 2 ? solid_cylinder(0.1, 0.3, 0.03)
                               : solid_torus(0.15, 0.05, 0.03),
                  pose, Motion::rigid, 0.4, 0.3);
    }
    return world;
}

}  // namespace

TEST_CASE("a sliding box comes to rest after v^2 / 2 mu g") {
    for (const Vec3 velocity : {Vec3{3, 0, 0}, Vec3{1.8, 0, 2.4}}) {  // friction knows no axes
        RigidWorld world;
        world.add(solid_box({1, 0.4, 0.6}), {{0, 0.2, 0}, {}}, Motion::rigid, 0.3);
        world.last().rigid.velocity = velocity;
        world.run(2, 1.0 / 100);
        const Vec3 way = world.bodies[0].center - Vec3{0, 0.2, 0};
        const double exact = 9 / (2 * 0.3 * g);
        // What is left of the speed ends within a step: at most mu g dt^2 / 8 of the way.
        CHECK(length(way) == near(exact).absolute(0.3 * g * 1e-4 / 8));
        CHECK(length(way - velocity * (exact / 3)) < 2e-3 * exact);
        CHECK(length(world.bodies[0].velocity) < 1e-6);
    }
}

TEST_CASE("a sphere rolls down a slope with 5/7 g sin when friction is enough, and slides when not") {
    const double slope = 0.5;
    for (const double friction : {0.9, 1.1}) {  // of what is enough
        const double mu = friction * 2.0 / 7 * std::tan(slope);
        for (const bool on_a_solid : {false, true}) {
            RigidWorld world;
            if (on_a_solid) world.add(solid_box({50, 1, 2}), {{0, -0.5, 0}, {}}, Motion::fixed, mu);
            world.walls.closed[2] = !on_a_solid;
            world.gravity = {g * std::sin(slope), -g * std::cos(slope), 0};
            world.add(solid_sphere(0.5, 0.02), {{0, 0.5, 0}, {}}, Motion::rigid, mu);
            world.run(1, 1e-2);
            const double rolling = 5.0 / 7 * g * std::sin(slope);
            const double sliding = g * (std::sin(slope) - mu * std::cos(slope));
            CHECK(world.bodies[0].velocity.x == near(std::max(rolling, sliding)).relative(5e-5));
        }
    }
}

TEST_CASE("a ball rebounds to e^2 of its height, and never higher") {
    for (const double e : {0.0, 0.5, 0.8, 1.0}) {
        RigidWorld world;
        world.add(solid_sphere(0.1, 0.02), {{0, 1.1, 0}, {}}, Motion::rigid, 0.5, e);
        double top = 0;
        bool hit = false;
        world.run(1.4, 1e-3, [&](const RigidWorld& w, const ContactImpulses& impulses) {
            for (const Vec3& impulse : impulses.on_a) hit |= impulse.y > 0;
            if (hit && w.time < 0.452 + 0.9 * e) top = std::max(top, w.bodies[0].center.y - 0.1);
        });
        // The impact takes up to g dt^2 / 8 (see below), and the top lies between two steps by as much.
        CHECK(top == near(e * e).absolute(2 * g * 1e-6 / 8));
        CHECK(top < e * e + 1e-12);
    }
}

TEST_CASE("stacks of ten boxes stand for 10 s") {
    for (const bool tidy : {true, false}) {
        RigidWorld world;
        for (int i = 0; i < 10; ++i) {
            const double off = tidy ? 0 : 0.03 * (i % 3);
            world.add(solid_box({1, 1, 1}),
                      {{off, 0.5 + i, 0.5 * off}, Rotation::about({0, 1, 0}, tidy ? 0 : 0.1 * i)});
        }
        world.run(10, 1.0 / 24);
        double drift = 0;
        for (const RigidBody& body : world.bodies)
            drift = std::max(drift, length(body.center - world.solids[body.solid].start.position));
        MESSAGE("drift ", drift, " of the size");
        CHECK(drift < 0.01);
    }
}

TEST_CASE("nothing passes a thin plate at 20 m/s") {
    const double cell = 0.02;
    for (const double dt : {1.0 / 24, 1e-3}) {
        RigidWorld world;
        world.walls.closed[2] = false;
        world.add(solid_box({6, 0.3 * cell, 3}), {{0, 0, 0}, {}}, Motion::fixed);
        const std::vector<SolidShape> shapes{solid_box({0.1, 0.1, 0.1}),      solid_sphere(0.05, 0.01),
                                             solid_cylinder(0.05, 0.1, 0.01), solid_cone(0.05, 0.1, 0.01),
                                             solid_capsule(0.03, 0.1, 0.01),  solid_torus(0.1, 0.03, 0.02),
                                             solid_gear(0.1, 0.03, 9),        solid_duck(0.2, 0.01)};
        for (std::size_t i = 0; i < shapes.size(); ++i) {
            world.add(shapes[i], {{-2.1 + 0.6 * double(i), 0.5 + 0.01 * double(i), 0},
                                  Rotation::about({1, 2, 3}, 0.4 * double(i))});
            world.last().rigid.velocity = {1, -20, 0};
        }
        double lowest = 1;
        world.run(0.5, dt, [&](const RigidWorld& w, const ContactImpulses&) {
            for (const RigidBody& body : w.bodies) lowest = std::min(lowest, body.center.y);
        });
        CHECK(lowest > 0.017);  // the gear lies flat
        for (const RigidBody& body : world.bodies) CHECK(std::abs(body.velocity.y) < 1);
    }
}

TEST_CASE("bodies of all shapes come to rest on the floor and in each other's way, without overlap") {
    RigidWorld world = heap();
    double last = 1e30, gain = 0;
    world.run(8, 1.0 / 60, [&](const RigidWorld& w, const ContactImpulses&) {
        double energy = 0;
        for (const RigidBody& b : w.bodies) energy += kinetic_energy(b) + b.mass * g * b.center.y;
        gain = std::max(gain, energy - last);
        last = energy;
    });
    CHECK(gain < 0.01);  // of some 1000 J
    for (const RigidBody& body : world.bodies) {
        CAPTURE(body.solid);
        const bool rolls = body.solid % 4 == 2;  // balls may go on for long
        CHECK(length(body.velocity) < (rolls ? 0.5 : 0.02));
        CHECK(body.center.y > 0.04);
        CHECK(std::abs(body.center.x) < 1);
    }
    const std::vector<PlacedSolid> placed = place_solids(world.solids, world.bodies, world.time, 0.01);
    const ContactShapes shapes(world.solids, {});
    for (const Contact& contact : shapes.find(placed, world.walls, 0.01, 0)) CHECK(contact.distance > -2e-3);
}

TEST_CASE("the same bits twice, and after the state was saved and restored") {
    RigidWorld first = heap(), second = heap();
    first.run(1.5, 1.0 / 60);
    second.run(0.5, 1.0 / 60);
    // Only what visit_state lists goes over to a fresh world.
    RigidWorld third = heap();
    third.run(1.0 / 60, 1.0 / 60);
    third.time = second.time;
    for (std::size_t n = 0; n < third.bodies.size(); ++n) {
        third.bodies[n].center = second.bodies[n].center;
        third.bodies[n].rotation = second.bodies[n].rotation;
        third.bodies[n].velocity = second.bodies[n].velocity;
        third.bodies[n].angular_momentum = second.bodies[n].angular_momentum;
    }
    second.run(1, 1.0 / 60);
    third.run(1, 1.0 / 60);
    CHECK(hash_of(first.bodies) == hash_of(second.bodies));
    CHECK(hash_of(third.bodies) == hash_of(second.bodies));
}

TEST_CASE("contacts give and take the same momentum") {
    RigidWorld world;
    world.gravity = {};
    world.walls.closed[2] = false;
    world.add(solid_box({1, 1, 1}), {{0, 0, 0}, {}}, Motion::rigid, 0.7, 0.5);
    world.add(solid_sphere(0.4, 0.05), {{2, 0.3, 0.1}, {}}, Motion::rigid, 0.7, 0.5);
    world.last().rigid.velocity = {-5, 0, 0};
    world.last().rigid.spin = {3, 7, -2};
    const auto momenta = [](const std::vector<RigidBody>& bodies) {
        Impulse sum;
        for (const RigidBody& b : bodies)
            sum += {b.velocity * b.mass, b.angular_momentum + cross(b.center, b.velocity * b.mass)};
        return sum;
    };
    world.run(0.01, 0.01);
    const Impulse before = momenta(world.bodies);
    const double energy = kinetic_energy(world.bodies[0]) + kinetic_energy(world.bodies[1]);
    world.run(1, 0.01);
    const Impulse after = momenta(world.bodies);
    CHECK(length(world.bodies[0].velocity) > 1);
    CHECK(length(after.linear - before.linear) < 1e-12 * length(before.linear));
    CHECK(length(after.angular - before.angular) < 1e-12 * length(before.angular));
    CHECK(kinetic_energy(world.bodies[0]) + kinetic_energy(world.bodies[1]) < energy);
}

TEST_CASE("a moving plate carries what lies on it") {
    RigidWorld world;
    world.add(solid_box({4, 0.2, 2}), {{0, 1, 0}, {}}, Motion::scripted);
    world.last().script.velocity = {0.5, 0.2, 0};
    world.add(solid_box({0.4, 0.4, 0.4}), {{0, 1.3, 0}, {}});
    world.run(2, 1.0 / 50);
    CHECK(world.bodies[0].velocity.x == near(0.5).relative(3e-7));
    CHECK(world.bodies[0].center.y == near(1.7).relative(5e-10));
}

TEST_CASE("concave meshes are divided once, and things fit into their hollows") {
    const TriangleMesh mesh = l_mesh();
    REQUIRE(boundary_edge_count(mesh) == 0);
    REQUIRE(enclosed_volume(mesh) == near(3).relative(1e-12));
    const std::vector<ConvexPiece> pieces = convex_decomposition(mesh);
    CHECK(pieces.size() >= 2);
    CHECK(pieces.size() <= 6);
    CHECK(convex_decomposition(solid_sphere(1, 0.2).mesh).size() == 1);

    // A ball lies in the corner of an L that stands on its back.
    RigidWorld world;
    SolidShape shape{make_box({-1, -1, -1}, {1, 1, 1}), mesh, {}};
    world.add(shape, {{0, 0.75, 0}, {}}, Motion::fixed, 0.5);
    world.add(solid_sphere(0.3, 0.05), {{0.8, 2, 0}, {}});
    world.run(2, 1.0 / 60);
    CHECK(world.bodies[0].center.y == near(1.3).relative(1e-12));
}

TEST_CASE("a ball that is dropped into a boat lies in it") {
    RigidWorld world;
    world.add(solid_boat(0.8, 0.24, 0.44, 0.01, 0.02), {{0, 0.12, 0}, {}}, Motion::fixed);
    world.add(solid_sphere(0.07, 0.02), {{0.2, 0.6, 0.05}, {}});
    world.add(solid_sphere(0.09, 0.02), {{-0.15, 1.2, -0.06}, {}});
    world.run(4, 1.0 / 60);
    for (const RigidBody& ball : world.bodies) {
        CHECK(length(ball.velocity) < 0.3);  // nothing stops it from rolling to and fro
        CHECK(ball.center.y < 0.18);
        CHECK(std::hypot(ball.center.x / 0.4, ball.center.z / 0.22) < 0.8);
    }
    CHECK(world.bodies[0].center.y > 0.07 + 0.009);
    CHECK(world.bodies[1].center.y > 0.09 + 0.009);
}

TEST_CASE("a duck stands on its flat bottom") {
    RigidWorld world;
    const SolidShape duck = solid_duck(1, 0.02);
    const double bottom = bounds(duck.mesh).low.y;
    world.add(duck, {{0, -bottom + 0.01, 0}, {}});
    world.run(3, 1.0 / 60);
    CHECK(world.bodies[0].rotation.row[1].y > 0.99);
    CHECK(length(world.bodies[0].velocity) < 1e-3);
}

TEST_CASE("a ball rebounds as high at long steps as at short ones") {
    for (const double dt : {1.0 / 240, 1.0 / 60, 1.0 / 24})
        for (const double e : {0.5, 0.8, 1.0})
            for (const double height : {1.0, 0.97, 1.06}) {  // the impact is anywhere in a step
                CAPTURE(dt);
                CAPTURE(e);
                CAPTURE(height);
                RigidWorld world;
                world.add(solid_sphere(0.1, 0.02), {{0, height + 0.1, 0}, {}}, Motion::rigid, 0.5, e);
                double top = 0;
                world.run(0.46 + 0.9 * e, dt, [&](const RigidWorld& w, const ContactImpulses&) {
                    // The top of its flight, from where it is and how fast; energy is known between steps,
                    // too.
                    const RigidBody& ball = w.bodies[0];
                    if (ball.velocity.y > 0)
                        top =
                            std::max(top, ball.center.y - 0.1 + ball.velocity.y * ball.velocity.y / (2 * g));
                });
                // In the middle of a step, where velocities change, half a step of gravity is missing: the
                // flight seems higher by g dt^2 / 8, and an impact takes its share of that, too.
                const double extra = g * dt * dt / 8;
                CHECK(top == near(e * e * (height + extra) - extra).relative(1e-12));
            }
}

TEST_CASE("friction between two solids is the geometric mean of theirs, whichever comes first") {
    for (const bool swapped : {false, true}) {
        RigidWorld world;
        world.add(solid_box({2, 1, 2}), {{0, -0.5, 0}, {}}, Motion::fixed, swapped ? 0.8 : 0.2);
        world.add(solid_box({1, 1, 1}), {{0, 0.5, 0}, {}}, Motion::rigid, swapped ? 0.2 : 0.8);
        world.walls.closed.fill(false);
        const std::vector<PlacedSolid> placed{{world.solids[0].start, {}}, {world.solids[1].start, {}}};
        const std::vector<Contact> contacts =
            ContactShapes(world.solids, {}).find(placed, world.walls, 0.01, 0);
        CHECK(contacts.size() == 4);
        for (const Contact& contact : contacts) CHECK(contact.friction == near(0.4).relative(1e-12));
    }
}

TEST_CASE("a body moves alike seen from its shape's origin and from its centre of mass") {
    RigidWorld world;
    world.add(solid_box({1, 1, 1}), {{0.3, 0.2, -0.5}, Rotation::about({1, 2, 3}, 0.7)});
    world.last().rigid.mass.center = {0.2, -0.1, 0.3};
    world.last().rigid.velocity = {1, 2, 3};
    world.last().rigid.spin = {-2, 0.5, 4};
    const RigidBody body = make_rigid_body(0, world.last().rigid, world.last().start);
    const PlacedSolid placed = place_solids(world.solids, {body}, 0, 0.01).front();
    for (const Vec3 p : {Vec3{}, Vec3{1, 0, 0}, Vec3{-0.3, 2, 0.4}})
        CHECK(length(placed.motion.at(p - placed.pose.position) - twist_of(body).at(p - body.center)) <
              1e-12);
}

TEST_CASE("what a piece shows in the direction of one of its faces or edges is all of it") {
    using Kind = ConvexPiece::Kind;
    const Vec3 half{0.3, 0.4, 0.2};
    struct Shown {
        Kind kind;
        Vec3 direction;  // in the piece's own coordinates
        std::size_t corners;
    };
    for (const Shown& shown : {Shown{Kind::sphere, {1, 2, 3}, 1},
                               {Kind::capsule, {1, 0, 2}, 2},
                               {Kind::box, {0, 0, -1}, 4},
                               {Kind::box, {1, 0, 0}, 4},
                               {Kind::cylinder, {0, 1, 0}, 8},
                               {Kind::cylinder, {0, -1, 0}, 8},
                               {Kind::cylinder, {3, 0, 1}, 2},
                               {Kind::cone, {0, -1, 0}, 8},
                               {Kind::cone, {2 * half.y, half.x, 0}, 2}}) {
        CAPTURE(int(shown.kind));
        const Pose pose{{0.1, 0.2, 0.3}, Rotation::about({1, 1, 0}, 0.8)};
        const Support support(ConvexPiece{shown.kind, pose, half, {}});
        const Vec3 direction = pose.rotation * shown.direction;
        const std::vector<Vec3> corners = support.face(direction);
        REQUIRE(corners.size() == shown.corners);
        for (const Vec3& corner : corners)
            CHECK(dot(corner, direction) ==
                  near(dot(support.farthest(direction), direction)).absolute(1e-12));
        if (corners.size() > 2)  // counter-clockwise seen from outside
            CHECK(dot(cross(corners[1] - corners[0], corners[2] - corners[0]), direction) > 0);
    }
}

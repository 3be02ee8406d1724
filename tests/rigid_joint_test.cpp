// Joints: pendulums, limits, motors, sliders, springs.
#include "solid/rigid/joint.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "tests/near.h"
#include "tests/rigid_worlds.h"

using namespace flotsam;

namespace {

constexpr double pi = std::numbers::pi, g = 9.81;

// Turns x into z, so that joints turn about z.
const Rotation about_z = Rotation::about({0, 1, 0}, -pi / 2);

Joint joint(Joint::Kind kind, int a, Pose frame_a, Pose frame_b, int b = the_world) {
    Joint result;
    result.kind = kind;
    result.a = a;
    result.b = b;
    result.frame_a = frame_a;
    result.frame_b = frame_b;
    return result;
}

RigidWorld pendulum(Joint::Kind kind, double degrees) {
    RigidWorld world;
    world.walls.closed[2] = false;
    const double angle = degrees * pi / 180;
    const Vec3 arm{std::sin(angle), -std::cos(angle), 0};
    world.add(solid_box({0.2, 0.2, 0.2}), {arm, {}});
    world.joints = {joint(kind, 0, {-arm, about_z}, {{}, about_z})};
    return world;
}

// From one passage to the next in the same direction.
double period(RigidWorld& world, double dt) {
    std::vector<double> passages;
    double last = 1;
    world.run(13, dt, [&](const RigidWorld& w, const ContactImpulses&) {
        const double x = w.bodies[0].center.x;
        if (last > 0 && x <= 0) passages.push_back(w.time - dt * x / (x - last));
        last = x;
    });
    return passages.size() > 1 ? passages[1] - passages[0] : 0;
}

double turn_about_z(const RigidBody& body) { return rotation_vector(body.rotation).z; }

}  // namespace

TEST_CASE("a pendulum's period grows with its swing as theory says") {
    const double small = 2 * pi * std::sqrt((1 + 0.04 / 6) / g);
    for (const Joint::Kind kind : {Joint::Kind::ball, Joint::Kind::hinge})
        for (const auto& [degrees, ratio] : {std::pair{30.0, 1.017409},
                                             {60.0, 1.073182},
                                             {90.0, 1.180341},
                                             {120.0, 1.372881},
                                             {170.0, 2.439363}}) {
            RigidWorld world = pendulum(kind, degrees);
            CHECK(period(world, 0.005) / small == near(ratio).relative(1e-4));
            CHECK(std::abs(length(world.bodies[0].center) - 1) < 1e-3);  // the joint is closed
        }
}

TEST_CASE("a hinge turns in the plane that a body is locked to, wherever rounding puts its axis") {
    for (const Joint::Kind kind : {Joint::Kind::ball, Joint::Kind::hinge}) {
        RigidWorld world = pendulum(kind, 60);
        for (const int lock : {lock_z, lock_rotate_x, lock_rotate_y}) world.last().rigid.locked[lock] = true;
        const double small = 2 * pi * std::sqrt((1 + 0.04 / 6) / g);
        CHECK(period(world, 0.005) / small == near(1.073182).relative(1e-4));
    }
}

TEST_CASE("a pendulum keeps its energy over 100 s, at a second-order error of its joint") {
    const auto run = [](double dt) {
        RigidWorld world = pendulum(Joint::Kind::hinge, 120);
        double lowest = 1e30, highest = -1e30, open = 0;
        world.run(100, dt, [&](const RigidWorld& w, const ContactImpulses&) {
            const RigidBody& b = w.bodies[0];
            const double energy = kinetic_energy(b) / b.mass + g * b.center.y;
            lowest = std::min(lowest, energy), highest = std::max(highest, energy);
            open = std::max(open, std::abs(length(b.center) - 1));
        });
        return std::pair{(highest - lowest) / g, open};
    };
    const auto [swing_coarse, open_coarse] = run(0.01);
    const auto [swing_fine, open_fine] = run(0.005);
    CHECK(swing_coarse < 5e-3);
    CHECK(swing_fine < 0.3 * swing_coarse);
    CHECK(open_fine < 0.3 * open_coarse);
}

TEST_CASE("a motor reaches its speed, no faster than its torque allows") {
    RigidWorld world;
    world.gravity = {};
    world.add(solid_gear(0.5, 0.1, 8), {{0, 3, 0}, Rotation::about({1, 0, 0}, pi / 2)});
    Joint axle = joint(Joint::Kind::hinge, 0, {{}, Rotation::about({1, 0, 0}, -pi / 2) * about_z},
                       {{0, 3, 0}, about_z});
    axle.motor_speed = 4;
    axle.motor_torque = 10;
    world.joints = {axle};
    world.run(0.5, 0.01);
    const double inertia = inertia_in_world(world.bodies[0]).row[2].z;
    CHECK(spin_of(world.bodies[0]).z == near(10 / inertia * 0.5).relative(1e-12));
    world.run(20, 0.01);
    CHECK(spin_of(world.bodies[0]).z == near(4).relative(1e-12));
    CHECK(length(world.bodies[0].center - Vec3{0, 3, 0}) < 1e-6);
}

TEST_CASE("a hinge stops at its limits") {
    for (const double dt : {1.0 / 24, 0.002}) {
        RigidWorld world = pendulum(Joint::Kind::hinge, 90);
        world.joints[0].low = -0.7;  // it falls clockwise about z
        world.joints[0].high = 0.5;
        double least = 0, most = 0;
        world.run(3, dt, [&](const RigidWorld& w, const ContactImpulses&) {
            least = std::min(least, turn_about_z(w.bodies[0]));
            most = std::max(most, turn_about_z(w.bodies[0]));
        });
        CHECK(least > -0.7 - 2e-3);
        CHECK(least < -0.69);
        CHECK(most < 0.5);
        CHECK(length(spin_of(world.bodies[0])) < 1e-5);
    }
}

TEST_CASE("a slider slides without turning, within its limits") {
    RigidWorld world;
    world.walls.closed[2] = false;
    const Vec3 axis = Vec3{1, -1, 0} / std::sqrt(2.0);
    const Rotation turn = Rotation::about({0, 0, 1}, -pi / 4);
    world.add(solid_box({0.2, 0.4, 0.2}), {{0, 0, 0}, {}});
    world.last().rigid.spin = {0, 0, 1};
    Joint rail = joint(Joint::Kind::slider, 0, {{0.05, 0.1, 0}, turn}, {{0.05, 0.1, 0}, turn});
    rail.high = 0.8;
    world.joints = {rail};
    world.run(0.4, 0.005);
    CHECK(length(world.bodies[0].center - axis * (0.5 * g / std::sqrt(2.0) * 0.16)) < 1e-3);
    CHECK(length(rotation_vector(world.bodies[0].rotation)) < 1e-3);
    world.run(2, 0.005);
    CHECK(length(world.bodies[0].center - axis * 0.8) < 2e-3);
    CHECK(length(world.bodies[0].velocity) < 1e-4);
}

TEST_CASE("a spring swings at its frequency, and any stiffness is stable") {
    for (const double damping : {0.0, 30.0}) {
        RigidWorld world;
        world.gravity = {};
        world.add(solid_box({0.1, 0.1, 0.1}), {{1.2, 2, 0}, {}});  // 1 kg
        Joint spring = joint(Joint::Kind::spring, 0, {}, {{0, 2, 0}, {}});
        spring.stiffness = 100;
        spring.damping = damping;
        spring.rest_length = 1;
        world.joints = {spring};
        double last = 0.2, top = 0;
        std::vector<double> passages;
        world.run(10, 0.01, [&](const RigidWorld& w, const ContactImpulses&) {
            const double x = w.bodies[0].center.x - 1;
            if (last > 0 && x <= 0) passages.push_back(w.time - 0.01 * x / (x - last));
            if (w.time > 9) top = std::max(top, std::abs(x));
            last = x;
        });
        if (damping > 0) {
            CHECK(passages.empty());  // more than critical
            CHECK(top < 1e-3);
        } else {
            // An implicit spring swings as if the mass were m + k dt^2 / 4.
            const double period = 2 * pi * std::sqrt((1 + 100 * 0.01 * 0.01 / 4) / 100);
            CHECK((passages.back() - passages.front()) / double(passages.size() - 1) ==
                  near(period).relative(3e-7));
            CHECK(top == near(0.2).relative(2e-4));  // nothing is lost
        }
        world.joints[0].stiffness = 1e9;
        world.run(1, 0.01);
        CHECK(length(world.bodies[0].center - Vec3{1, 2, 0}) < 0.25);
    }
}

TEST_CASE("fixed joints make one body of two, and of a body and the world") {
    RigidWorld world;
    world.walls.closed[2] = false;
    world.add(solid_box({0.4, 0.2, 0.2}), {{0.2, 1, 0}, {}});
    world.add(solid_box({0.4, 0.2, 0.2}), {{0.6, 1, 0}, {}});
    world.joints = {joint(Joint::Kind::fixed, 0, {{-0.2, 0, 0}, {}}, {{0, 1, 0}, {}}),
                    joint(Joint::Kind::fixed, 1, {{-0.2, 0, 0}, {}}, {{0.2, 0, 0}, {}}, 0)};
    world.run(5, 1.0 / 60);
    CHECK(length(world.bodies[1].center - Vec3{0.6, 1, 0}) < 1e-4);
    CHECK(length(rotation_vector(world.bodies[1].rotation)) < 1e-4);
}

TEST_CASE("a chain of ten hangs together") {
    RigidWorld world;
    world.walls.closed[2] = false;
    for (int i = 0; i < 10; ++i) {
        world.add(solid_capsule(0.03, 0.14, 0.01),
                  {{0.1 + 0.2 * i, 5, 0}, Rotation::about({0, 0, 1}, pi / 2)});
        // The capsule's own y points along -x.
        world.joints.push_back(joint(Joint::Kind::ball, i, {{0, 0.1, 0}, {}},
                                     i == 0 ? Pose{{0, 5, 0}, {}} : Pose{{0, -0.1, 0}, {}}, i - 1));
    }
    double open = 0, most_energy = 0;
    world.run(5, 0.005, [&](const RigidWorld& w, const ContactImpulses&) {
        for (int i = 1; i < 10; ++i)
            open = std::max(open, length(pose_of(w.bodies[i]).to_world({0, 0.1, 0}) -
                                         pose_of(w.bodies[i - 1]).to_world({0, -0.1, 0})));
        double energy = 0;  // from its height at the start
        for (const RigidBody& b : w.bodies) energy += kinetic_energy(b) / b.mass + g * (b.center.y - 5);
        most_energy = std::max(most_energy, energy);
    });
    CHECK(open < 5e-3);            // while it whips around
    CHECK(most_energy < 0.1 * g);  // each link came down by about a metre
}

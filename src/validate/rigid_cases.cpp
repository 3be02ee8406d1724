// Cases of rigid bodies without any liquid. No scheme takes part, so every method shows the same numbers;
// `resolution` is steps per second.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "solid/rigid/rigid_step.h"
#include "validate/case_tools.h"
#include "validate/cases.h"

namespace flotsam {

namespace {

constexpr double pi = std::numbers::pi;

struct Bodies {
    std::vector<Solid> solids{};
    std::vector<Joint> joints{};
    Vec3 gravity{0, -g, 0};
    bool floor = true;
    std::vector<RigidBody> bodies{};

    Solid& add(SolidShape shape, Vec3 position, double friction, double restitution = 0) {
        Solid solid;
        solid.motion = Motion::rigid;
        solid.start.position = position;
        solid.rigid.mass = mass_properties(enclosed_moments(shape.mesh), 1000);
        solid.rigid.friction = friction;
        solid.rigid.restitution = restitution;
        solid.shape = std::move(shape);
        solids.push_back(solid);
        return solids.back();
    }

    // Shows every state to watch(time).
    template <class Watch>
    void run(double duration, int steps_per_second, const Watch& watch) {
        for (std::size_t s = 0; s < solids.size(); ++s)
            bodies.push_back(make_rigid_body(int(s), solids[s].rigid, solids[s].start));
        const ContactShapes shapes(solids, joints);
        const ContactWalls walls{{{-1e3, 0, -1e3}, {1e3, 1e3, 1e3}},
                                 {false, false, floor, false, false, false}};
        const double dt = 1.0 / steps_per_second;
        for (int i = 0; i < int(std::round(duration * steps_per_second)); ++i) {
            step_rigid(bodies, solids, joints, shapes, walls, gravity, i * dt, dt);
            watch((i + 1) * dt);
        }
    }
};

double slide_to_rest(int rate) {
    Bodies world;
    world.add(solid_box({1, 0.4, 0.6}), {0, 0.2, 0}, 0.3).rigid.velocity = {3, 0, 0};
    world.run(2, rate, [](double) {});
    return world.bodies[0].center.x;
}

double roll(int rate, double slope, double friction) {
    Bodies world;
    world.gravity = {g * std::sin(slope), -g * std::cos(slope), 0};
    world.add(solid_sphere(0.5, 0.01), {0, 0.5, 0}, friction);
    world.run(1, rate, [](double) {});
    return world.bodies[0].velocity.x;
}

// Period of a box on a hinge, one metre from its centre, over that of small swings.
double swing(int rate, double degrees) {
    Bodies world;
    world.floor = false;
    const double angle = degrees * pi / 180;
    const Vec3 arm{std::sin(angle), -std::cos(angle), 0};
    world.add(solid_box({0.2, 0.2, 0.2}), arm, 0);
    Joint hinge;
    hinge.kind = Joint::Kind::hinge;
    hinge.a = 0;
    const Rotation about_z = Rotation::about({0, 1, 0}, -pi / 2);
    hinge.frame_a = {-arm, about_z};
    hinge.frame_b = {{}, about_z};
    world.joints = {hinge};
    std::vector<double> passages;
    double last = 1;
    world.run(9, rate, [&](double time) {
        const double x = world.bodies[0].center.x;
        if (last > 0 && x <= 0) passages.push_back(time - x / (x - last) / rate);
        last = x;
    });
    const double small = 2 * pi * std::sqrt((1 + 0.04 / 6) / g);
    return passages.size() > 1 ? (passages[1] - passages[0]) / small : 0;
}

// A brick spinning about its unstable axis for 100 turns: drift of energy and of |L|, as shares.
std::pair<double, double> tumble(int rate) {
    Bodies world;
    world.floor = false;
    world.gravity = {};
    world.add(solid_box({1, 2, 3}), {}, 0).rigid.spin = {0.1, 5, 0.2};
    const RigidBody start = make_rigid_body(0, world.solids[0].rigid, {});
    double energy = 0, momentum = 0;
    world.run(100 * 2 * pi / 5, rate, [&](double) {
        const RigidBody& body = world.bodies[0];
        energy = larger(energy, std::abs(kinetic_energy(body) / kinetic_energy(start) - 1));
        momentum =
            larger(momentum, std::abs(length(body.angular_momentum) / length(start.angular_momentum) - 1));
    });
    return {energy, momentum};
}

// Ten crates on each other for 10 s: how far any has moved, in crates.
double stack(int rate) {
    Bodies world;
    for (int i = 0; i < 10; ++i) world.add(solid_box({1, 1, 1}), {0, 0.5 + i, 0}, 0.5);
    double drift = 0;
    world.run(10, rate, [&](double) {
        for (const RigidBody& body : world.bodies)
            drift = larger(drift, length(body.center - world.solids[body.solid].start.position));
    });
    return drift;
}

double rebound(int rate, double restitution) {
    Bodies world;
    world.add(solid_sphere(0.1, 0.01), {0, 1.1, 0}, 0.5, restitution);
    double top = 0;
    bool rises = false;
    world.run(0.46 + 0.5 * restitution, rate, [&](double) {
        rises |= world.bodies[0].velocity.y > 0;
        if (rises) top = std::max(top, world.bodies[0].center.y - 0.1);
    });
    return top;
}

}  // namespace

void validate_rigid_alone(const ValidationRun& run) {
    for (const int rate : run.quick ? std::vector{240} : std::vector{240, 480}) {
        const auto report = [&](const std::string& variant, const char* quantity, double value,
                                double reference, double tolerance_percent) {
            run.report({"", variant, "", rate, quantity, value, reference, tolerance_percent});
        };
        report("slide", "way to rest", slide_to_rest(rate), 9 / (2 * 0.3 * g), 0.5);
        const double slope = 0.5, enough = 2.0 / 7 * std::tan(slope);
        report("roll", "acceleration, friction enough", roll(rate, slope, 1.1 * enough),
               5.0 / 7 * g * std::sin(slope), 0.1);
        report("roll", "acceleration, friction too small", roll(rate, slope, 0.5 * enough),
               g * (std::sin(slope) - 0.5 * enough * std::cos(slope)), 0.1);
        for (const auto& [degrees, ratio] :
             {std::pair{30, 1.017409}, {60, 1.073182}, {90, 1.180341}, {120, 1.372881}, {170, 2.439363}})
            report(fmt::format("pendulum {} deg", degrees), "T / T0", swing(rate, degrees), ratio, 0.1);
        const auto [energy, momentum] = tumble(rate);
        report("free top", "energy drift over 100 turns", energy, 0, 1e-4);  // 1e-6, in per cent
        report("free top", "|L| drift over 100 turns", momentum, 0, 1e-4);
        report("ten crates", "drift in 10 s / size", stack(rate), 0, 1);
        for (const double e : {0.5, 0.9})
            report(fmt::format("bounce e = {}", e), "height", rebound(rate, e), e * e, 2);
    }
}

}  // namespace flotsam

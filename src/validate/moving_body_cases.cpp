// Cases of bodies that move far: through an unbounded liquid, and from the air into water.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "validate/body_tools.h"
#include "validate/cases.h"

namespace flotsam {

namespace {

constexpr double pi = std::numbers::pi;

// -------------------------------------------------------------------------------- an ellipse in free flight

// Semi-axes along x and y, before it turns.
constexpr double across = 0.75, along = 1.25;

class Ellipse final : public Shape {
  public:
    // The nearest point of the ellipse: from a guess to its centre of curvature, and back through p. A few
    // rounds do, also near the axes, where Newton's method has trouble.
    double distance(Vec3 p) const override {
        const double x = std::abs(p.x), y = std::abs(p.y);
        double tx = std::sqrt(0.5), ty = std::sqrt(0.5);
        constexpr double focal = across * across - along * along;
        for (int i = 0; i < 8; ++i) {
            const double ex = focal * tx * tx * tx / across, ey = -focal * ty * ty * ty / along;
            const double rx = across * tx - ex, ry = along * ty - ey, qx = x - ex, qy = y - ey;
            const double r = std::hypot(rx, ry), q = std::max(std::hypot(qx, qy), 1e-300);
            tx = std::clamp((qx * r / q + ex) / across, 0.0, 1.0);
            ty = std::clamp((qy * r / q + ey) / along, 0.0, 1.0);
            const double t = std::hypot(tx, ty);
            tx /= t, ty /= t;
        }
        const double d = std::hypot(x - across * tx, y - along * ty);
        const bool inside = x * x / (across * across) + y * y / (along * along) < 1;
        return inside ? -d : d;
    }
    Box bounds() const override { return {{-across, -along, -1e9}, {across, along, 1e9}}; }
};

SolidShape solid_ellipse(double depth, double spacing) {
    SolidShape shape = solid_disc(1, depth, spacing / along);
    for (Vec3& v : shape.mesh.vertices) v.x *= across, v.y *= along;
    shape.distance = through_slab(std::make_shared<Ellipse>(), depth);
    return shape;
}

// Velocity u - i v of the liquid around the ellipse at the origin that moves with (1, 0) and turns with 1:
// with z = w - 1 / (4 w) the ellipse is the circle |w| = 1, and its stream function y - (x^2 + y^2) / 2 there
// continues as the potential -(5/4) / w + (i/4) / w^2.
std::complex<double> conjugate_flow(std::complex<double> z) {
    std::complex<double> w = 0.5 * (z + std::sqrt(z * z + 1.0));
    if (std::abs(w) < 0.5) w = z - w;  // the other root, outside
    const std::complex<double> i(0, 1);
    return (along / (w * w) - 0.5 * i / (w * w * w)) / (1.0 + 0.25 / (w * w));
}

// The liquid's motion at the start.
void set_flow(World& world, const Domain& domain, Vec3 center) {
    const auto z_at = [&](Vec3 p) { return std::complex<double>(p.x - center.x, p.y - center.y); };
    const Ellipse ellipse;
    LiquidState& liquid = world.liquid;
    Particles& p = liquid.particles;
    for (std::int64_t i = 0; i < p.count(); ++i) {
        const std::complex<double> z = z_at(Vec3(p.position[i])), flow = conjugate_flow(z);
        const double e = 1e-4;
        const std::complex<double> slope = (conjugate_flow(z + e) - conjugate_flow(z - e)) / (2 * e);
        p.velocity[i] = {float(flow.real()), float(-flow.imag()), 0};
        p.affine[0][i] = {float(slope.real()), float(-slope.imag()), 0};
        p.affine[1][i] = {float(-slope.imag()), float(-slope.real()), 0};
    }
    for (int axis = 0; axis < 2; ++axis)
        for_each_cell(*liquid.tiling, domain.cells + unit(axis), [&](Int3 c, std::int64_t n) {
            const Vec3 x = domain.face_center(c, axis);
            const std::complex<double> z = z_at(x);
            if (ellipse.distance({z.real(), z.imag(), 0}) < 0)
                liquid.velocity[axis][n] = axis == 0 ? 1 - z.imag() : z.real();
            else
                liquid.velocity[axis][n] = axis == 0 ? conjugate_flow(z).real() : -conjugate_flow(z).imag();
        });
}

// Where it is after a time from (0, 0): place, angle, spin.
struct Flight {
    double t, x, y, angle, spin;
};

// Kirchhoff's equations (Lamb, Hydrodynamics, art. 124 ff.): with added masses pi b^2, pi a^2 and inertia
// (pi/8) (a^2 - b^2)^2 momentum and angular momentum of body and liquid are kept. By Runge and Kutta.
std::vector<Flight> kirchhoff(double s, double until) {
    const double mass = s * pi * across * along, inertia = mass * (across * across + along * along) / 4;
    const double mx = mass + pi * along * along, my = mass + pi * across * across;
    const double turning = inertia + pi / 8 * std::pow(across * across - along * along, 2);
    using State = std::array<double, 6>;  // x, y, angle, velocity in body axes, spin
    const auto rate = [&](const State& q) {
        const auto [x, y, angle, u, v, spin] = q;
        return State{u * std::cos(angle) - v * std::sin(angle),
                     u * std::sin(angle) + v * std::cos(angle),
                     spin,
                     my / mx * v * spin,
                     -mx / my * u * spin,
                     (mx - my) * u * v / turning};
    };
    const auto plus = [](State q, const State& d, double f) {
        for (int i = 0; i < 6; ++i) q[i] += f * d[i];
        return q;
    };
    State q{0, 0, 0, 1, 0, 1};
    std::vector<Flight> flight{{0, 0, 0, 0, 1}};
    constexpr double dt = 0.005;
    for (int i = 1; i <= int(std::round(until / dt)); ++i) {
        const State k1 = rate(q), k2 = rate(plus(q, k1, 0.5 * dt)), k3 = rate(plus(q, k2, 0.5 * dt)),
                    k4 = rate(plus(q, k3, dt));
        q = plus(plus(plus(plus(q, k1, dt / 6), k2, dt / 3), k3, dt / 3), k4, dt / 6);
        flight.push_back({i * dt, q[0], q[1], q[2], q[5]});
    }
    return flight;
}

// The box of liquid with the ellipse in it, `n` cells along its length.
Scenario closed_box(double s, int n) {
    constexpr double box = 40;
    const int cells = int(std::round(box / (2 * along) * n));
    Scenario scenario = box_of_water({cells, cells, 1}, box, make_level(2 * box));
    // Next to none: where there is none at all, crowded particles spread over ten steps, however short those
    // are, and what that does to the flow drowns it.
    scenario.gravity = {0, -1e-6, 0};
    scenario.liquid.density = water;
    const Domain& domain = scenario.domain;
    scenario.solids.push_back(body_in_water(domain, solid_ellipse(figure_depth(domain), 0.25 * domain.h),
                                            {0.5 * box - 2.7, 0.5 * box, 0.5 * domain.h}, s));
    RigidProperties& rigid = scenario.solids[0].rigid;
    rigid.velocity = {1, 0, 0};
    rigid.spin = {0, 0, 1};
    rigid.locked = {false, false, true, true, true, false};
    return scenario;
}

std::vector<Flight> simulated_flight(const std::string& method, double s, int n, double until) {
    Scenario scenario = closed_box(s, n);
    scenario.time.frames_per_second =
        6 * n;  // steps must shrink with the cells, or their error hides the cells'
    const Vec3 start = scenario.solids[0].start.position;
    std::vector<Flight> flight;
    double angle = 0;
    simulate(
        scenario, method, until, [&](World& world) { set_flow(world, scenario.domain, start); },
        [&](const World& world, double) {
            const RigidBody& body = world.bodies[0];
            const Vec3 edge = body.rotation * Vec3{1, 0, 0};
            angle += std::remainder(std::atan2(edge.y, edge.x) - angle, 2 * pi);
            flight.push_back(
                {world.time, body.center.x - start.x, body.center.y - start.y, angle, spin_of(body).z});
        });
    return flight;
}

// What is left of its motion when the liquid, at rest before, has taken its share.
Twist motion_after_impulse(const std::string& method, double s, int n) {
    Scenario scenario = closed_box(s, n);
    scenario.time.frames_per_second = 1000;
    Twist motion;
    simulate(scenario, method, 1e-3, [&](const World& world, double) { motion = twist_of(world.bodies[0]); });
    return motion;
}

TimeSeries series_of(const std::vector<Flight>& flight, double Flight::*quantity, std::size_t every = 1) {
    TimeSeries series;
    for (std::size_t i = 0; i < flight.size(); i += every)
        series.push_back({flight[i].t, flight[i].*quantity});
    return series;
}

}  // namespace

void validate_kirchhoff_ellipse(const ValidationRun& run) {
    // No gravity, no free surface, a closed box of 16 lengths. The body starts with v = (1, 0) and spin 1 and
    // the liquid with the potential flow around it. A body without mass cannot be had: a thousandth of
    // water's density stands for it (this changes the reference by less than 0.1 %).
    constexpr double until = 5;
    struct Body {
        const char* name;
        double s;
    };
    // First the solve alone: what is left of a motion that the liquid is not yet part of.
    for (const int n : run.quick ? std::vector{8} : std::vector{16, 32}) {
        const Twist motion = motion_after_impulse(run.method, 1, n);
        const double mass = pi * across * along, inertia = mass * (across * across + along * along) / 4;
        run.report({"", "impulse, s = 1", "", n, "velocity left [m/s]", motion.velocity.x,
                    mass / (mass + pi * along * along), 2});
        run.report({"", "impulse, s = 1", "", n, "spin left [rad/s]", motion.spin.z,
                    inertia / (inertia + pi / 8 * std::pow(along * along - across * across, 2)), 2});
    }
    if (run.quick) return;  // the flight below needs minutes
    for (const Body& b : {Body{"s = 0.001", 0.001}, Body{"s = 1", 1}}) {
        const std::vector<Flight> exact = kirchhoff(b.s, until);
        ObservedOrder order(run, "place");
        for (const int n : {16, 32}) {
            const std::vector<Flight> flight = simulated_flight(run.method, b.s, n, until);
            const auto at = [&](double Flight::*quantity, double t) {
                return value_at(series_of(flight, quantity), t) - value_at(series_of(exact, quantity), t);
            };
            const std::string quantities[2] = {"place at t = 2, off by / path",
                                               "place at t = 5, off by / path"};
            for (const double t : {2.0, 5.0}) {
                double path = 0;
                for (std::size_t i = 1; i < exact.size() && exact[i].t < t + 1e-9; ++i)
                    path += std::hypot(exact[i].x - exact[i - 1].x, exact[i].y - exact[i - 1].y);
                const ValidationRow row{"",
                                        b.name,
                                        "",
                                        n,
                                        quantities[t == 5],
                                        std::hypot(at(&Flight::x, t), at(&Flight::y, t)) / path,
                                        0,
                                        2};
                if (t == 5)
                    order.add(row);
                else
                    run.report(row);
            }
            // The phase of its rocking: when the spin last changed its sign, as a share of that time.
            const std::vector<double> wanted = zeros_of(series_of(exact, &Flight::spin)),
                                      found = zeros_of(series_of(flight, &Flight::spin));
            const std::size_t last = wanted.size() - 1;
            run.report({"", b.name, "", n, fmt::format("zero {} of the spin [s]", last + 1),
                        last < found.size() ? found[last] : NAN, wanted[last], 3});
            run.show({"", "", n, fmt::format("Spin of an ellipse in free flight, {}", b.name), "time", "s",
                      "spin", "rad/s", "Kirchhoff", series_of(flight, &Flight::spin),
                      series_of(exact, &Flight::spin, 20)});
        }
    }
}

void validate_cylinder_entry(const ValidationRun& run) {
    // Greenhow & Lin 1983 ("Nonlinear free surface effects: experiments and theory", MIT report 83-19): a
    // cylinder of half of water's density, D = 0.11 m, dropped with its centre 0.5 m above water 0.3 m deep
    // in a tank 1 m wide; depth of its lowest point in diameters over t sqrt(g / D) since it touched the
    // water. The boundary-element computation and the digitised points are those of Sun et al. 2018.
    static constexpr std::array<std::array<double, 2>, 14> computed{{{0.0873, 0.1588},
                                                                     {0.1507, 0.2631},
                                                                     {0.2358, 0.4054},
                                                                     {0.3210, 0.5263},
                                                                     {0.4039, 0.6449},
                                                                     {0.5044, 0.7683},
                                                                     {0.5873, 0.8680},
                                                                     {0.6681, 0.9559},
                                                                     {0.7314, 1.0271},
                                                                     {0.8384, 1.1293},
                                                                     {0.9127, 1.1934},
                                                                     {0.9847, 1.2671},
                                                                     {1.0786, 1.3361},
                                                                     {1.1594, 1.3885}}};
    static constexpr std::array<std::array<double, 2>, 5> measured{
        {{0.1004, 0.1683}, {0.2773, 0.4954}, {0.3777, 0.6094}, {0.7969, 1.0676}, {1.1310, 1.2205}}};
    constexpr double diameter = 0.11, depth = 0.3, half_width = 0.5;
    const double unit_time = std::sqrt(diameter / g), speed = std::sqrt(2 * g * (0.5 - 0.5 * diameter));
    ObservedOrder order(run, "depth, boundary elements",
                        "another computation, digitised: the difference to it need not vanish");
    for (const int n : run.quick ? std::vector{16} : std::vector{16, 32}) {
        // Half of the tank: its middle plane is a mirror that cuts the cylinder. Cells divide the half-width.
        const int cells = int(std::round(half_width / diameter * n));
        Scenario s = box_of_water({cells, 5 * cells / 4, 1}, half_width, make_level(depth));
        const Domain& domain = s.domain;
        s.domain.walls[x_low].kind = WallKind::mirror;
        s.solids.push_back(body_in_water(domain,
                                         solid_disc(0.5 * diameter, figure_depth(domain), 0.25 * domain.h),
                                         {0, depth + 0.5 * diameter, 0.5 * domain.h}, 0.5));
        s.solids[0].rigid.locked = only_heave;
        s.solids[0].rigid.velocity = {0, -speed, 0};
        // Water that is thrown aside leaves the cylinder. If it clings, its suction pulls the cylinder down,
        // 11 % of D deeper at t* = 1 at any resolution.
        s.liquid.separation = make_scheme(run.method)->capabilities().separation;
        s.time.frames_per_second = 240;
        TimeSeries fall;
        simulate(s, run.method, 1.2 * unit_time, [&](const World& world, double) {
            fall.push_back(
                {world.time / unit_time, (depth + 0.5 * diameter - world.bodies[0].center.y) / diameter});
        });
        const auto off = [&](const auto& points, double until) {
            double worst = 0;
            for (const auto& [t, y] : points)
                if (t <= until) worst = larger(worst, std::abs(value_at(fall, t) - y));
            return worst;
        };
        order.add(
            {"", "boundary elements", "", n, "worst depth to t* = 1, off by / D", off(computed, 1), 0, 4});
        run.report({"", "experiment", "", n, "worst depth, off by / D", off(measured, 2), 0, 8});
        for (const auto& [t, y] : measured)
            run.report({"", "experiment", "", n, fmt::format("depth / D at t* = {:.3f}, off by", t),
                        value_at(fall, t) - y, 0, 8});
        const auto show = [&](const char* name, TimeSeries reference) {
            run.show({"", "", n, fmt::format("A cylinder falls into water: {}", name), "t √(g/D)", "1",
                      "depth/D", "1", name, fall, std::move(reference)});
        };
        show("boundary elements, Sun et al. 2018", {computed.begin(), computed.end()});
        show("experiment, Greenhow & Lin 1983", {measured.begin(), measured.end()});
    }
}

}  // namespace flotsam

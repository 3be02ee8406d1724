// Cases of a liquid alone in a box.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>

#include "fluid/grid/advect.h"
#include "fluid/grid/particles.h"
#include "fluid/grid/pressure_solver.h"
#include "sim/measure.h"
#include "validate/case_tools.h"
#include "validate/cases.h"

namespace flotsam {

namespace {

// Slope and zero of the straight line through points (t, x).
struct Line {
    double slope, zero;
};
Line fit_line(const std::vector<std::array<double, 2>>& points) {
    double t = 0, x = 0, tt = 0, tx = 0;
    for (const auto& [pt, px] : points) t += pt / double(points.size()), x += px / double(points.size());
    for (const auto& [pt, px] : points) tt += (pt - t) * (pt - t), tx += (pt - t) * (px - x);
    return {tx / tt, t - x * tt / tx};
}

// The largest velocity that one projection leaves in water whose surface is known exactly, over sqrt(g H).
double exact_surface_rest(Int3 cells, double level) {
    Domain domain;
    domain.cells = cells;
    domain.h = 1.0 / cells.x;
    const auto tiling = whole_tiling(cells);
    Field<double> phi(tiling, outside_distance(domain)), source(tiling, 0), potential(tiling, 0);
    for_each_cell(*tiling, cells, [&](Int3 c, std::int64_t n) { phi[n] = domain.cell_center(c).y - level; });
    MacGrid u{Field<double>(tiling, 0), Field<double>(tiling, 0), Field<double>(tiling, 0)};
    const PressureUpdate report =
        solve_pressure(pressure_system(domain, std::move(phi), {0, -g, 0}, 1000, no_obstacles), source, 0.01,
                       {}, u, potential);
    double largest = report.solve.converged ? 0 : NAN;
    for (int axis = 0; axis < 3; ++axis)
        for (std::int64_t n = 0; n < tiling->value_count(); ++n)
            if (report.changed[axis][n]) largest = larger(largest, std::abs(u[axis][n]));
    return largest / std::sqrt(g * level);
}

}  // namespace

void validate_rest(const ValidationRun& run) {
    for (const int n : run.quick ? std::vector{24} : std::vector{24, 48}) {
        run.report({"", "exact surface", "", n, "max speed / sqrt(gH)",
                    exact_surface_rest({n, n, n}, 0.5 + 0.37 / n), 0, 1e-4});

        // Carried by particles: RMS speed of the two layers under the surface, contact line included, and its
        // flatness.
        Scenario s = box_of_water({n, n, n}, 1, make_level(0.5));
        const double duration = 2.5, h = s.domain.h;
        double before = 0, last = 0, flat_rms = 0, flat_max = 0;
        int steps_before = 0, steps_last = 0;
        simulate(s, run.method, duration, [&](const World& world, double) {
            if (world.time <= 1.5) return;
            double sum = 0;
            std::int64_t count = 0;
            const Particles& p = world.liquid.particles;
            const std::vector<Vec3f> velocity = particle_velocities(world, s.domain);
            for (std::int64_t i = 0; i < p.count(); ++i)
                if (p.position[i].y > 0.5 - 2 * h) sum += double(dot(velocity[i], velocity[i])), ++count;
            (world.time <= 2 ? before : last) += sum / double(count);
            ++(world.time <= 2 ? steps_before : steps_last);
            const double level = mean_level(world, s);
            flat_rms = flat_max = 0;
            for (int i = 0; i < n; ++i)
                for (int k = 0; k < n; ++k) {
                    const double d =
                        (surface_height(world.liquid.phi, s.domain, (i + 0.5) * h, (k + 0.5) * h) - level) /
                        h;
                    flat_rms += d * d / (n * n);
                    flat_max = larger(flat_max, std::abs(d));
                }
        });
        before = std::sqrt(before / steps_before), last = std::sqrt(last / steps_last);
        run.report({"", "particles", "", n, "RMS surface speed / sqrt(g dx)", last / std::sqrt(g * h), 0, 2});
        run.report(
            {"", "particles", "", n, "speed, last 0.5 s over 0.5 s before", growth(before, last, h), 0, 100});
        run.report({"", "particles", "", n, "flatness RMS / dx", std::sqrt(flat_rms), 0, 15});
        run.report({"", "particles", "", n, "flatness max / dx", flat_max, 0, 50});
    }
    validate_rest_around_solids(run);
}

void validate_standing_wave(const ValidationRun& run) {
    // w^2 = g k tanh(k h) with k = pi/L, times 1 + (kA)^2/8 for the amplitude (validation.md): 1.1827 s.
    constexpr double length = 1, depth = 0.5, amplitude = 0.025, period = 1.1827;
    ObservedOrder order(run, "period");
    for (const int n : run.quick ? std::vector{32} : std::vector{32, 64}) {
        Scenario s = box_of_water({n, n, 1}, length, make_level(depth, amplitude, 2 * length));
        std::vector<std::array<double, 2>> crossings;  // their number and time
        double previous = 0;
        simulate(s, run.method, 6, [&](const World& world, double dt) {
            double mode = 0;  // amplitude of cos(pi x / L) in the surface
            for (int i = 0; i < n; ++i) {
                const double x = (i + 0.5) * s.domain.h;
                mode += 2.0 / n * std::cos(std::numbers::pi * x) *
                        surface_height(world.liquid.phi, s.domain, x, 0.5 * s.domain.h);
            }
            if (previous * mode < 0)
                crossings.push_back({double(crossings.size()), world.time - dt * mode / (mode - previous)});
            previous = mode;
        });
        order.add({"", "", "", n, "period [s]", 2 * fit_line(crossings).slope, period, 1});
    }
}

void validate_zalesak(const ValidationRun& run) {
    // Zalesak 1979: disc R = 0.15 at (0.5, 0.75), slot 0.05 x 0.25, one turn. The area is the particles'
    // surface's.
    class SlottedDisc final : public Shape {
      public:
        double distance(Vec3 p) const override {
            const double disc = std::hypot(p.x - 0.5, p.y - 0.75) - 0.15;
            const double slot = std::max(std::abs(p.x - 0.5) - 0.025, p.y - 0.85);
            return std::max(disc, -slot);
        }
        Box bounds() const override { return {{0.35, 0.6, -1}, {0.65, 0.9, 1}}; }
    };
    for (const int n : run.quick ? std::vector{50} : std::vector{50, 100}) {
        Scenario s = box_of_water({n, n, 1}, 1, std::make_shared<SlottedDisc>());
        Particles particles = seed_fills(s.domain, s.liquid);
        particles.velocity.clear();
        const auto area = [&] {
            const auto tiling = tiling_around(particles, s.domain, 6);
            const CellRanges cells = sort_into_cells(particles, s.domain, *tiling);
            return liquid_volume(surface_from_particles(particles, cells, s.domain, tiling).phi, s.domain) /
                   s.domain.h;
        };
        const double start = area();
        const int steps = 4 * n;
        const double dt = 2 * std::numbers::pi / steps;
        const auto everywhere = whole_tiling(s.domain.cells);
        MacGrid u{Field<double>(everywhere, 0), Field<double>(everywhere, 0), Field<double>(everywhere, 0)};
        for (int axis = 0; axis < 2; ++axis)
            for_each_cell(*everywhere, s.domain.cells + unit(axis), [&](Int3 c, std::int64_t m) {
                const Vec3 x = s.domain.face_center(c, axis);
                u[axis][m] = axis == 0 ? 0.5 - x.y : x.x - 0.5;
            });
        for (int step = 0; step < steps; ++step) advance_particles(particles, u, s.domain, dt);
        run.report({"", "", "", n, "area after one turn [m^2]", area(), start, 1});
    }
}

void validate_dam_break_front(const ValidationRun& run) {
    // Martin & Moyce 1952, a column twice as high as wide, a = 2.25 in: x/a at t sqrt(2g/a).
    static constexpr std::array<std::array<double, 2>, 9> measured{{{0.832, 1.217},
                                                                    {1.219, 1.474},
                                                                    {1.997, 2.292},
                                                                    {2.547, 2.995},
                                                                    {3.345, 4.134},
                                                                    {4.034, 4.944},
                                                                    {4.418, 5.881},
                                                                    {5.091, 6.980},
                                                                    {6.306, 8.966}}};
    constexpr double a = 0.05715;
    const double unit_time = std::sqrt(a / (2 * g));
    // Past the first acceleration the front moves almost uniformly: straight lines through the points beyond
    // x/a = 2 give a speed and a start time for the experiment and, at the same instants, for us.
    std::vector<std::array<double, 2>> late;
    for (const auto& point : measured)
        if (point[1] > 2) late.push_back(point);
    const Line experiment = fit_line(late);
    for (const int n : run.quick ? std::vector{16} : std::vector{16, 32}) {
        Scenario s = box_of_water({14 * n, 5 * n / 2, 1}, 14 * a, make_box({-1, -1, -1}, {a, 2 * a, 1}));
        s.time.frames_per_second = 240;
        std::vector<std::array<double, 2>> front;
        const bool at_frames = make_scheme(run.method)->capabilities().compressible;
        simulate(s, run.method, 6.35 * unit_time, [&](const World& world, double) {
            // Between frames SPH shows the surface of the last one: up to 0.08 of the time's unit too old.
            const double frames = world.time * s.time.frames_per_second;
            if (!at_frames || std::abs(frames - std::round(frames)) < 1e-6)
                front.push_back({world.time / unit_time, liquid_front(world, s) / a});
        });
        run.show({"",
                  "",
                  n,
                  "Front of a collapsing column",
                  "t √(2g/a)",
                  "1",
                  "front x/a",
                  "1",
                  "Martin & Moyce 1952",
                  front,
                  {measured.begin(), measured.end()}});
        const auto front_at = [&](double t) {
            std::size_t i = 1;
            while (front[i][0] < t) ++i;
            const double share = (t - front[i - 1][0]) / (front[i][0] - front[i - 1][0]);
            return front[i - 1][1] + share * (front[i][1] - front[i - 1][1]);
        };
        std::vector<std::array<double, 2>> ours;
        ours.reserve(late.size());
        for (const auto& point : late) ours.push_back({point[0], front_at(point[0])});
        const Line line = fit_line(ours);
        run.report(
            {"", "experiment", "", n, "front speed / sqrt(2 g a)", line.slope / 2, experiment.slope / 2, 7});
        run.report({"", "experiment", "", n, "time shift / sqrt(a/g)",
                    (line.zero - experiment.zero) / std::sqrt(2.0), 0, 10});
        // Without a gate and without friction: the particle computation of Koshizuka & Oka 1996.
        for (const auto& [t, x] : {std::array{1.095, 1.637}, {1.858, 2.480}, {2.943, 3.997}})
            run.report(
                {"", "inviscid", "", n, fmt::format("front x/a at t sqrt(2g/a) = {}", t), front_at(t), x, 5});
    }
}

void validate_sloshing(const ValidationRun& run) {
    // A half-full tank released with its surface tilted by 0.4 m over 1 m.
    class Tilted final : public Shape {
      public:
        double distance(Vec3 p) const override {
            return (p.y - 0.5 - 0.4 * (p.x - 0.5)) / std::hypot(1, 0.4);
        }
        Box bounds() const override { return {{-1e9, -1e9, -1e9}, {1e9, 1e9, 1e9}}; }
    };
    const auto tank = [&](Int3 cells, const char* variant) {
        Scenario s = box_of_water(cells, 1, std::make_shared<Tilted>());
        double volume = 0, level = 0, volume_at_start = 0, level_at_start = 0;
        simulate(s, run.method, 10, [&](const World& world, double) {
            if (world.step > 0 && world.time < 10 - 1e-9) return;
            volume = liquid_volume(world.liquid.phi, s.domain);
            level = mean_level(world, s);
            if (world.step == 0) volume_at_start = volume, level_at_start = level;
        });
        run.report({"", variant, "", cells.x, "volume after 10 s [m^3]", volume, volume_at_start, 1});
        run.report({"", variant, "", cells.x, "mean level after 10 s [m]", level, level_at_start, 1});
    };
    tank({48, 48, 1}, "2D");
    if (run.quick) return;
    tank({96, 96, 1}, "2D");
    tank({32, 32, 16}, "3D");
}

}  // namespace flotsam

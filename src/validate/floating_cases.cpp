// Cases of bodies that float: where they come to rest, and how they get there.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "validate/body_tools.h"
#include "validate/cases.h"

namespace flotsam {

namespace {

constexpr double pi = std::numbers::pi;

// ------------------------------------------------------------------------------------------------- draft

enum class Floater { box, cube, sphere };

// Draft over height of a floating body of relative density s. A sphere's cap of depth d has the share
// d^2 (3 - 2 d) of its volume (d in diameters).
double exact_draft(Floater floater, double s) {
    if (floater != Floater::sphere) return s;
    double low = 0, high = 1;
    for (int i = 0; i < 60; ++i) {
        const double d = 0.5 * (low + high);
        (d * d * (3 - 2 * d) < s ? low : high) = d;
    }
    return low;
}

// Draft over height, the mean of the last half of 8 s, of a body `n` cells high that is released a tenth of
// its height too high in a tank 5 heights wide and 2 deep. The middle planes of body and tank are mirrors:
// half of it in 2D, a quarter in 3D. The level is that of water more than a height away from the axis.
double measured_draft(const std::string& method, Floater floater, double s, int n) {
    constexpr double height = 0.5, level = 2 * height;
    const bool flat = floater == Floater::box;
    const int length = 5 * n / 2;
    Scenario scenario = box_of_water({length, 3 * n, flat ? 1 : length}, 2.5 * height, make_level(level));
    scenario.domain.walls[x_low].kind = WallKind::mirror;
    if (!flat) scenario.domain.walls[z_low].kind = WallKind::mirror;
    const Domain& domain = scenario.domain;
    const double h = domain.h;
    const SolidShape shape = floater == Floater::box ? solid_rectangle(height, height, figure_depth(domain))
                             : floater == Floater::cube ? solid_box({height, height, height})
                                                        : solid_sphere(0.5 * height, 0.25 * h);
    const double y = level + (0.5 - exact_draft(floater, s) + 0.1) * height;
    scenario.solids.push_back(body_in_water(domain, shape, {0, y, flat ? 0.5 * h : 0.0}, s));
    scenario.solids[0].rigid.locked = only_heave;
    constexpr double duration = 8;
    double draft = 0, time = 0;
    simulate(scenario, method, duration, [&](const World& world, double dt) {
        if (world.time < 0.5 * duration) return;
        double far = 0;
        int columns = 0;
        for (int i = 0; i < domain.cells.x; ++i)
            for (int k = 0; k < domain.cells.z; ++k) {
                const double x = (i + 0.5) * h, z = flat ? 0 : (k + 0.5) * h;
                if (std::hypot(x, z) < height) continue;
                far += surface_height(world.liquid.phi, domain, x, (k + 0.5) * h);
                ++columns;
            }
        draft += dt * (far / columns - (world.bodies[0].center.y - 0.5 * height));
        time += dt;
    });
    return draft / time / height;
}

// ------------------------------------------------------------------------------------------- a square log

// Tilt of a floating square log over the last third of 15 s: its mean as an angle between 0 and 45 degrees,
// and the largest. It starts flat but for 3 degrees, at rest.
struct Tilt {
    double mean = 0, largest = 0;  // [degrees]
};
Tilt log_tilt(const std::string& method, double s, int n) {
    constexpr double side = 0.5, level = 2 * side, duration = 15;
    Scenario scenario = box_of_water({6 * n, 7 * n / 2, 1}, 6 * side, make_level(level));
    const Domain& domain = scenario.domain;
    scenario.solids.push_back(body_in_water(domain, solid_rectangle(side, side, figure_depth(domain)),
                                            {3 * side, level + (0.5 - s) * side, 0.5 * domain.h}, s));
    scenario.solids[0].start.rotation = Rotation::about({0, 0, 1}, 3 * pi / 180);
    scenario.solids[0].rigid.locked = {false, false, true, true, true, false};
    Tilt tilt;
    double time = 0, angle = 0;
    simulate(scenario, method, duration, [&](const World& world, double dt) {
        const Vec3 edge = world.bodies[0].rotation * Vec3{1, 0, 0};
        angle += std::remainder(std::atan2(edge.y, edge.x) * 180 / pi - angle, 360);
        if (world.time < duration * 2 / 3) return;
        tilt.mean += dt * angle;
        tilt.largest = larger(tilt.largest, std::abs(angle));
        time += dt;
    });
    tilt.mean = std::abs(std::remainder(tilt.mean / time, 90));
    return tilt;
}

}  // namespace

void validate_draft(const ValidationRun& run) {
    struct Body {
        const char* name;
        Floater floater;
        int cells[2];
    };
    for (const Body& b : {Body{"box", Floater::box, {16, 32}}, Body{"cube", Floater::cube, {8, 16}},
                          Body{"sphere", Floater::sphere, {8, 16}}}) {
        if (run.quick && b.floater == Floater::cube) continue;
        ObservedOrder order(run, "worst draft");
        for (int level = 0; level < (run.quick ? 1 : 2); ++level) {
            double worst = 0;
            for (const double s : {0.25, 0.5, 0.8}) {
                if (run.quick && s != 0.5) continue;
                const double off =
                    measured_draft(run.method, b.floater, s, b.cells[level]) - exact_draft(b.floater, s);
                worst = larger(worst, std::abs(off));
                run.report({"", fmt::format("{}, s = {}", b.name, s), "", b.cells[level],
                            "draft, off by / height", off, 0, 1});
            }
            order.add({"", b.name, "", b.cells[level], "worst draft, off by / height", worst, 0, 1});
        }
    }
    // A square log floats flat where GM = 1 / (12 s) - (1 - s) / 2 > 0, that is s < 0.2113 or s > 0.7887;
    // from 9/32 to 23/32 its potential energy is least with an edge down, turned by 45 degrees.
    for (const int n : run.quick ? std::vector{16} : std::vector{16, 32}) {
        for (const double s : run.quick ? std::vector<double>{} : std::vector{0.1, 0.9})
            run.report({"", fmt::format("log, s = {}", s), "", n, "largest tilt / 45 deg (started with 3)",
                        log_tilt(run.method, s, n).largest / 45, 0, 100 * 3.0 / 45});
        for (const double s : run.quick ? std::vector{0.5} : std::vector{0.3, 0.5, 0.7})
            run.report({"", fmt::format("log, s = {}", s), "", n, "mean tilt [deg]",
                        log_tilt(run.method, s, n).mean, 45, 5});
    }
}

void validate_heave_cylinder(const ValidationRun& run) {
    // A half-immersed cylinder released y0 = a / 10 above and below its place of rest in deep water: linear
    // potential theory (Ursell 1964, "The decay of the free motion of a floating body", J. Fluid Mech. 19;
    // the radiation problem solved by series and inverted by Fourier for the project's validation notes), y /
    // y0 over t sqrt(g / a).
    static constexpr std::array zeros{2.060, 5.778, 9.002};
    static constexpr std::array<std::array<double, 2>, 3> extrema{
        {{3.720, -0.6409}, {7.225, 0.3045}, {10.595, -0.2136}}};
    // Half of the tank: its middle plane is a mirror that cuts the cylinder. What the cylinder displaces
    // lifts the level everywhere before any crest comes back from the tank's end: 40 a instead of 60 a move
    // the last extremum by some 0.01.
    constexpr double a = 1, depth = 8 * a, y0 = 0.1 * a, last = 11.2;
    constexpr int radii = 60;
    const double unit_time = std::sqrt(a / g);
    const auto heave_from = [&](double start, int n) {
        Scenario s = box_of_water({radii * n, 19 * n / 2, 1}, radii * a, make_level(depth));
        s.domain.walls[x_low].kind = WallKind::mirror;
        s.solids.push_back(body_in_water(s.domain, solid_disc(a, figure_depth(s.domain), 0.25 * s.domain.h),
                                         {0, depth + start, 0.5 * s.domain.h}, 0.5));
        s.solids[0].rigid.locked = only_heave;
        TimeSeries heave;
        simulate(s, run.method, last * unit_time, [&](const World& world, double) {
            heave.push_back({world.time / unit_time, (world.bodies[0].center.y - depth) / y0});
        });
        return heave;
    };
    ObservedOrder zero_order(run, "worst zero"), extremum_order(run, "worst extremum");
    for (const int n : run.quick ? std::vector{8} : std::vector{12, 24}) {
        // Linear theory knows no difference between a release from above and one from below, turned over. A
        // swing of a tenth of the radius does: up to 0.04 y0 at both. Half of their difference is free of it.
        TimeSeries heave = heave_from(y0, n);
        const TimeSeries below = heave_from(-y0, n);
        for (auto& [t, y] : heave) y = 0.5 * (y - value_at(below, t));
        run.show({"",
                  "",
                  n,
                  "Heave of a half-immersed cylinder",
                  "t √(g/a)",
                  "1",
                  "y/y0",
                  "1",
                  "zeros and extrema of linear theory",
                  heave,
                  {{0, 1},
                   {2.060, 0},
                   {3.720, -0.6409},
                   {5.778, 0},
                   {7.225, 0.3045},
                   {9.002, 0},
                   {10.595, -0.2136}}});
        const std::vector<double> found = zeros_of(heave);
        double worst = 0;
        for (std::size_t i = 0; i < zeros.size(); ++i) {
            const double at = i < found.size() ? found[i] : NAN;
            run.report({"", fmt::format("zero {}", i + 1), "", n, "t sqrt(g/a)", at, zeros[i], 2});
            worst = larger(worst, std::abs(at / zeros[i] - 1));
        }
        zero_order.add({"", "", "", n, "worst zero, share of its time", worst, 0, 2});
        worst = 0;
        for (std::size_t i = 0; i < extrema.size(); ++i) {
            // The largest swing within 0.8 of where it should be.
            double swing = 0;
            for (const auto& [t, y] : heave)
                if (std::abs(t - extrema[i][0]) < 0.8 && std::abs(y) > std::abs(swing)) swing = y;
            run.report({"", fmt::format("extremum {}", i + 1), "", n,
                        fmt::format("y/y0, off from {}", extrema[i][1]), swing - extrema[i][1], 0, 3});
            worst = larger(worst, std::abs(swing - extrema[i][1]));
        }
        extremum_order.add({"", "", "", n, "worst extremum, off by / y0", worst, 0, 3});
    }
}

}  // namespace flotsam

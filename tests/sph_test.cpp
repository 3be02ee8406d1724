// The liquid made of particles: its kernel, who is whose neighbour, and what neighbours do to each other.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/parallel.h"
#include "core/rotation.h"
#include "fluid/sph/kernel_cover.h"
#include "fluid/sph/sph_forces.h"
#include "geometry/solid_shape.h"
#include "worlds.h"

using namespace flotsam;

namespace {

constexpr double spacing = 0.05;

SphModel model_of(bool flat) { return make_sph_model(flat, spacing, 0.1, 1000, 30, 0.1); }

// Particles on a lattice in a unit box, shaken, each with some velocity and density.
SphLiquid shaken(bool flat) {
    SphLiquid liquid;
    const int n = 20;
    std::int64_t key = 0;
    for (int k = 0; k < (flat ? 1 : n); ++k)
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) {
                const auto noise = [&] { return test::noise(++key); };
                Vec3 p{(i + 0.5 + 0.3 * noise()) * spacing, (j + 0.5 + 0.3 * noise()) * spacing,
                       (k + 0.5 + 0.3 * noise()) * spacing};
                Vec3f v(Vec3{noise(), noise(), noise()});
                if (flat) p.z = 0.05, v.z = 0;
                liquid.position.push_back(p);
                liquid.velocity.push_back(v);
                liquid.density.push_back(float(1000 + 10 * noise()));
            }
    return liquid;
}

struct Sorted {
    SphLiquid liquid;
    SphCells cells;
    SphModel model;
    SphColumns columns{};
};
Sorted sorted(bool flat) {
    Sorted s{shaken(flat), {}, model_of(flat)};
    s.cells = SphCells({1, 1, 1}, s.model.kernel.support(), flat);
    const SphLiquid unsorted = s.liquid;
    sort_by_cell(unsorted, s.cells, s.liquid);
    fill_columns(s.liquid, s.model, s.columns);
    return s;
}

std::vector<float> all_open(const SphLiquid& liquid) { return std::vector<float>(liquid.count(), 1.f); }

}  // namespace

TEST_CASE("the kernel integrates to one, in the plane and in space") {
    for (const bool flat : {true, false}) {
        const CubicSpline kernel(0.37, flat);
        const int pieces = 20000;
        const double dr = kernel.support() / pieces;
        double integral = 0;
        for (int n = 0; n < pieces; ++n) {
            const double r = (n + 0.5) * dr;
            integral += kernel.value(r) * dr * 2 * std::numbers::pi * r * (flat ? 1 : 2 * r);
        }
        CHECK(std::abs(integral - 1) < 1e-7);
        CHECK(kernel.value(kernel.support()) == 0);
        CHECK(kernel.gradient_factor(1.01 * kernel.support()) == 0);
    }
}

TEST_CASE("the kernel's gradient is that of its value") {
    for (const bool flat : {true, false}) {
        const CubicSpline kernel(0.37, flat);
        const double step = 1e-6;
        for (const double r : {0.01, 0.1, 0.3, 0.36, 0.4, 0.6, 0.73}) {
            const double slope = (kernel.value(r + step) - kernel.value(r - step)) / (2 * step);
            CHECK(std::abs(kernel.gradient_factor(r) * r - slope) < 1e-6 * kernel.value(0) / kernel.h);
        }
        CHECK(std::abs(kernel.gradient_factor(0) / kernel.gradient_factor(1e-7) - 1) < 1e-5);
    }
}

TEST_CASE("what a wall covers of the kernel is the lattice behind it, to the last digits") {
    for (const bool flat : {true, false}) {
        const SphModel m = model_of(flat);
        const PlaneCover cover(m);
        CHECK(cover.share(cover.reach()) == 0);
        CHECK(std::abs(cover.share(-2.5 * spacing) - 1) < 1e-5);
        for (const int layer : {0, 1, 2}) {
            double open = 0;  // of the lattice around a particle in that layer, counted from the wall
            for (int k = flat ? 0 : -3; k <= (flat ? 0 : 3); ++k)
                for (int j = -3; j <= 3; ++j)
                    for (int i = -layer; i <= 3; ++i)
                        open += m.kernel_volume() * m.kernel.value(spacing * length(Vec3(Int3{i, j, k})));
            const double distance = (layer + 0.5) * spacing;
            CHECK(std::abs(1 - cover.share(distance) - open / m.lattice_sum()) < 1e-5);
        }
        for (const double d : {-0.03, 0.01, 0.04, 0.08, 0.11}) {
            const double step = 1e-3 * spacing;
            const double slope = (cover.share(d + step) - cover.share(d - step)) / (2 * step);
            CHECK(std::abs(cover.slope(d) - slope) < 2e-3 / spacing);
        }
    }
}

TEST_CASE("a solid covers as much as a plane at its distance where it is flat, less at edges") {
    for (const bool flat : {true, false}) {
        const SphModel m = model_of(flat);
        const PlaneCover plane(m);
        const SolidShape box = solid_box({1, 0.6, 1});
        const SolidCover cover(*box.distance, bounds(box.mesh), m);
        for (const double d : {0.5, 0.9, 1.25, 1.5}) {
            const auto side = cover.at({0.123, 0.3 + d * spacing, 0.017});
            CHECK(std::abs(plane.share(side.distance) - plane.share(d * spacing)) < 3e-4);
            CHECK(length(side.gradient - Vec3{0, 1, 0}) < 0.02);
            const auto edge = cover.at({0.5, 0.3 + d * spacing, 0.017});
            CHECK(edge.distance > side.distance + 0.1 * spacing);
            CHECK(edge.gradient.x > 0.1);
        }
        CHECK(cover.at({0, 0.3 + 1.5 * plane.reach(), 0}).distance >= plane.reach());
        CHECK(cover.at({5, 0, 0}).distance >= plane.reach());
    }
}

TEST_CASE("sorting finds every neighbour and follows the curve") {
    for (const bool flat : {true, false}) {
        Sorted s = sorted(flat);
        sum_kernel(s.columns, s.cells, s.model);
        double worst = 0;
        for (std::int64_t a = 0; a < s.liquid.count(); ++a) {
            double expected = 0;
            for (std::int64_t b = 0; b < s.liquid.count(); ++b)
                expected += s.model.kernel_volume() *
                            s.model.kernel.value(length(s.liquid.position[a] - s.liquid.position[b]));
            worst = std::max(worst, std::abs(s.columns.sum()[a] - expected));
        }
        CHECK(worst < 1e-5);
        for (std::int64_t a = 0; a + 1 < s.liquid.count(); ++a)
            REQUIRE(s.cells.cell_of(s.liquid.position[a]) <= s.cells.cell_of(s.liquid.position[a + 1]));
    }
}

TEST_CASE("densities and accelerations are the sums of the paper, pair by pair in double precision") {
    for (const bool flat : {true, false}) {
        Sorted s = sorted(flat);
        const SphModel& m = s.model;
        const SphLiquid before = s.liquid;
        std::vector<float> open;
        for (std::int64_t i = 0; i < before.count(); ++i) open.push_back(float(0.8 + 0.2 * test::noise(i)));
        SphColumns columns = s.columns;  // the kernel's sum and accelerations take the same place
        pair_accelerations(s.liquid, s.columns, s.cells, m, open);
        find_density(s.liquid, columns, s.cells, m, open);
        double full = 0;  // the kernel's sum on the lattice of rest
        for (int k = flat ? 0 : -3; k <= (flat ? 0 : 3); ++k)
            for (int j = -3; j <= 3; ++j)
                for (int i = -3; i <= 3; ++i)
                    full += m.kernel_volume() * m.kernel.value(spacing * length(Vec3(Int3{i, j, k})));
        double worst = 0, largest = 0, worst_density = 0;
        for (std::int64_t a = 0; a < before.count(); a += 7) {
            Vec3 expected;
            double filled = 0;
            for (std::int64_t b = 0; b < before.count(); ++b) {
                const Vec3 x = before.position[a] - before.position[b];
                const Vec3 v = Vec3(before.velocity[a]) - Vec3(before.velocity[b]);
                const double ra = before.density[a], rb = before.density[b], h = m.kernel.h;
                const double factor = m.kernel.gradient_factor(length(x));
                const double pi =
                    -2 * m.alpha * h * m.sound_speed / (ra + rb) * dot(v, x) / (dot(x, x) + 0.01 * h * h);
                expected -= m.kernel_mass() * factor *
                            (liquid_pressure(m, ra) / (ra * ra * open[a]) +
                             liquid_pressure(m, rb) / (rb * rb * open[b]) + pi) *
                            x;
                filled += m.kernel_volume() * m.kernel.value(length(x));
            }
            const double expected_density = m.rest_density * filled / (full * open[a]);
            largest = std::max(largest, length(expected));
            worst = std::max(worst, length(Vec3(s.columns.acceleration(a)) - expected));
            worst_density = std::max(worst_density, std::abs(s.liquid.density[a] / expected_density - 1));
        }
        CHECK(worst < 1e-5 * largest);
        CHECK(worst_density < 2e-6);
    }
}

TEST_CASE("what particles do to each other sums up to nothing") {
    for (const bool flat : {true, false}) {
        Sorted s = sorted(flat);
        pair_accelerations(s.liquid, s.columns, s.cells, s.model, all_open(s.liquid));
        Vec3 sum, moment;
        double all = 0, arms = 0;
        for (std::int64_t i = 0; i < s.liquid.count(); ++i) {
            sum += Vec3(s.columns.acceleration(i));
            moment += cross(s.liquid.position[i], Vec3(s.columns.acceleration(i)));
            all += length(Vec3(s.columns.acceleration(i)));
            arms += length(s.liquid.position[i]) * length(Vec3(s.columns.acceleration(i)));
        }
        CHECK(all > 0);
        CHECK(length(sum) < 1e-8 * all);
        CHECK(length(moment) < 1e-7 * arms);
    }
}

TEST_CASE("pairs give the same bits on any number of threads, and wherever the pair is") {
    for (const bool flat : {true, false}) {
        std::vector<std::vector<Vec3f>> results;
        for (const int threads : {1, 2, 7}) {
            set_thread_count(threads);
            Sorted s = sorted(flat);
            pair_accelerations(s.liquid, s.columns, s.cells, s.model, all_open(s.liquid));
            std::vector<Vec3f>& result = results.emplace_back();
            for (std::int64_t i = 0; i < s.liquid.count(); ++i) result.push_back(s.columns.acceleration(i));
        }
        set_thread_count(0);
        CHECK(results[0] == results[1]);
        CHECK(results[0] == results[2]);
    }
    // Two lone particles in different cells, far from the origin: exactly opposite.
    const SphModel model = model_of(false);
    SphLiquid two;
    two.position = {{0.951, 0.87, 0.95}, {0.9717, 0.8531, 0.9411}};
    two.velocity = {{1, 2, 3}, {-0.3f, 0.1f, 0.7f}};
    two.density = {1007, 1003};
    SphCells cells({1, 1, 1}, model.kernel.support(), false);
    SphLiquid ordered;
    SphColumns columns;
    sort_by_cell(two, cells, ordered);
    fill_columns(ordered, model, columns);
    pair_accelerations(ordered, columns, cells, model, all_open(ordered));
    CHECK(columns.acceleration(0) == -columns.acceleration(1));
    CHECK(length(columns.acceleration(0)) > 1);
}

TEST_CASE("Tait's equation and its inverse") {
    const SphModel model = model_of(false);
    for (const double pressure : {0.0, 10.0, 5000.0, 1e5})
        CHECK(std::abs(tait_pressure(model, tait_density(model, pressure)) - pressure) < 1e-6 * 1e5);
    CHECK(liquid_pressure(model, 999) == 0);  // no tension
    // For small changes the pressure is c^2 times them.
    CHECK(std::abs(tait_pressure(model, 1000.01) / (30 * 30 * 0.01) - 1) < 1e-4);
}

TEST_CASE("the artificial viscosity is the viscosity that was asked for, in the plane and in space") {
    // Where the velocity along t is half of the square of the way along n, its Laplacian is one, and the
    // liquid is accelerated by nu. On a lattice that depends on the direction, by a fifth: the mean over many
    // counts.
    for (const bool flat : {true, false}) {
        CAPTURE(flat);
        const double nu = 0.02;
        SphModel m = model_of(flat);
        m.alpha = alpha_of_viscosity(m, flat, nu);
        const int side = 7, turns = flat ? 16 : 60;
        double sum = 0;
        for (int turn = 0; turn < turns; ++turn) {
            const Rotation r = flat ? Rotation::about({0, 0, 1}, std::numbers::pi * turn / turns)
                                    : Rotation::about({test::noise(3 * turn), test::noise(3 * turn + 1),
                                                       test::noise(3 * turn + 2)},
                                                      0.5 + turn);
            const Vec3 along = r * Vec3{1, 0, 0}, across = r * Vec3{0, 1, 0};
            SphLiquid liquid;
            const Vec3 middle = Vec3{0.5, 0.5, flat ? 0.05 : 0.5};
            Int3 c;
            for (c.z = flat ? 0 : -side / 2; c.z <= (flat ? 0 : side / 2); ++c.z)
                for (c.y = -side / 2; c.y <= side / 2; ++c.y)
                    for (c.x = -side / 2; c.x <= side / 2; ++c.x) {
                        const Vec3 arm = Vec3(c) * spacing;
                        const double way = dot(arm, across);
                        liquid.position.push_back(middle + arm);
                        liquid.velocity.push_back(Vec3f(along * (0.5 * way * way)));
                        liquid.density.push_back(1000);
                    }
            SphCells cells({1, 1, 1}, m.kernel.support(), flat);
            SphLiquid ordered;
            SphColumns columns;
            sort_by_cell(liquid, cells, ordered);
            fill_columns(ordered, m, columns);
            pair_accelerations(ordered, columns, cells, m, all_open(ordered));
            for (std::int64_t i = 0; i < ordered.count(); ++i)
                if (ordered.position[i] == middle) sum += dot(Vec3(columns.acceleration(i)), along);
        }
        // The kernel reaches few neighbours, and what softens pairs that meet takes one per cent.
        CHECK(std::abs(sum / turns / nu - 1) < 0.05);
    }
}

#include "fluid/grid/surface.h"

#include <doctest/doctest.h>

#include "near.h"
#include "worlds.h"

using namespace flotsam;

namespace {

struct Seeded {
    Particles particles;
    std::shared_ptr<const Tiling> tiling;
    CellRanges cells;
    Surface surface;
};
Seeded seed(const Scenario& s) {
    Seeded out;
    out.particles = seed_fills(s.domain, s.liquid);
    out.tiling = tiling_around(out.particles, s.domain, 6);
    out.cells = sort_into_cells(out.particles, s.domain, *out.tiling);
    out.surface = surface_from_particles(out.particles, out.cells, s.domain, out.tiling);
    return out;
}

}  // namespace

TEST_CASE("the share of a cube below a plane is exact") {
    CHECK(cube_fraction_below(0, {0, 1, 0}) == near(0.5).relative(1e-9));
    CHECK(cube_fraction_below(0.2, {0, 1, 0}) == near(0.3).relative(1e-9));
    CHECK(cube_fraction_below(-0.5, {0, 0, -2}) == near(1).relative(5e-5));
    CHECK(cube_fraction_below(3, {1, 1, 1}) == 0);
    // The corner x + y + z < 1/2 of a unit cube has the volume 1/48.
    CHECK(cube_fraction_below(1 / std::sqrt(3.0), {1, 1, 1}) == near(1.0 / 48).relative(1e-12));
    // A wedge: half of (1/2 cell)^2 along the third axis.
    CHECK(cube_fraction_below(0.5 / std::sqrt(2.0), {1, 1, 0}) == near(0.125).relative(1e-7));
}

TEST_CASE("a level surface is found where it is, up to the walls, whatever its offset against the grid") {
    for (const Int3 cells : {Int3{24, 24, 24}, Int3{48, 48, 1}})
        for (const double level : {0.5, 0.513, 0.5271}) {
            const Scenario s = test::tank(cells, level);
            const Seeded w = seed(s);
            double mean = 0, square = 0, worst = 0;
            int count = 0;
            for (int i = 0; i < cells.x; ++i)
                for (int k = 0; k < cells.z; ++k) {
                    const double error = (surface_height(w.surface.phi, s.domain, (i + 0.5) * s.domain.h,
                                                         (k + 0.5) * s.domain.h) -
                                          level) /
                                         s.domain.h;
                    mean += error;
                    square += error * error;
                    worst = std::max(worst, std::abs(error));
                    ++count;
                }
            CHECK(std::abs(mean / count) < 0.03);     // cells
            CHECK(std::sqrt(square / count) < 0.15);  // the jitter of single particles
            CHECK(worst < 0.5);
            CHECK(liquid_volume(w.surface.phi, s.domain) ==
                  near(level * s.domain.size().x * s.domain.size().z).relative(2e-3));
        }
}

TEST_CASE("a sphere's volume and distance converge") {
    double previous = 1;
    for (const int n : {16, 32, 64}) {
        Scenario s = test::tank({n, n, n}, 0);
        s.liquid.fills = {{make_sphere({0.5, 0.5, 0.5}, 0.3), {}}};
        const Seeded w = seed(s);
        const double volume = 4.0 / 3 * 3.14159265 * 0.027;
        const double error = std::abs(liquid_volume(w.surface.phi, s.domain) / volume - 1);
        CHECK(error < 0.4 * previous);  // the kernel rounds a surface of radius R by h^2/R: second order
        previous = error;
        double square = 0;
        int count = 0;
        for (std::int64_t slot = 0; slot < w.tiling->tile_count(); ++slot)
            for_each_cell_of_tile(*w.tiling, slot, s.domain.cells, [&](Int3 c, std::int64_t m) {
                const double exact = length(s.domain.cell_center(c) - Vec3{0.5, 0.5, 0.5}) - 0.3;
                if (std::abs(exact) > s.domain.h) return;
                square += (w.surface.phi[m] - exact) * (w.surface.phi[m] - exact);
                ++count;
            });
        CHECK(std::sqrt(square / count) < 0.2 * s.domain.h);
    }
}

TEST_CASE("a single droplet and a thin film take part in the solve, a level surface is left alone") {
    Scenario s = test::tank({16, 16, 16}, 0.03);  // half a cell of water on the floor, and one droplet
    s.liquid.fills.push_back({make_sphere({0.53, 0.53, 0.53}, 0.02), {}});
    Seeded w = seed(s);
    Field<double> phi = w.surface.phi;
    include_thin_liquid(phi, w.cells, s.domain, {0, -9.81, 0});
    for (std::int64_t n = 0; n < w.tiling->value_count(); ++n)
        if (w.cells.count(n) > 0) CHECK(phi[n] < 0);

    s = test::tank({16, 16, 16}, 0.5 + 0.3 / 16);
    w = seed(s);
    phi = w.surface.phi;
    include_thin_liquid(phi, w.cells, s.domain, {0, -9.81, 0});
    CHECK(phi.values() == w.surface.phi.values());
}

TEST_CASE("crowded particles ask for room and evenly spread ones for none") {
    const Scenario s = test::tank({16, 16, 16}, 0.5);
    Seeded w = seed(s);
    const auto mean_source = [&](const Surface& surface) {
        const Field<double> source = crowding_source(surface, s.domain, 1.0);
        return sum_over_cells<double>(*w.tiling, s.domain.cells,
                                      [&](Int3, std::int64_t n) { return source[n]; }) /
               (16 * 16 * 8);
    };
    CHECK(std::abs(mean_source(w.surface)) < 0.01);
    Particles twice = w.particles;
    twice.position.insert(twice.position.end(), w.particles.position.begin(), w.particles.position.end());
    twice.velocity.clear();
    const CellRanges cells = sort_into_cells(twice, s.domain, *w.tiling);
    CHECK(mean_source(surface_from_particles(twice, cells, s.domain, w.tiling)) > 0.3);
}

TEST_CASE("cells that hold many particles are filled as those that hold few, only faster") {
    for (const Int3 cells : {Int3{20, 18, 11}, Int3{30, 20, 1}}) {
        Scenario s = test::tank(cells, 0.31);
        s.liquid.fills.push_back({make_sphere({0.5, 0.5, 0.2}, 0.17), {}});
        const Seeded few = seed(s);
        // The same particles, each of which stands for less now.
        Domain dense = s.domain;
        dense.particles_per_edge = 3;
        const Surface many = surface_from_particles(few.particles, few.cells, dense, few.tiling);
        const double ratio = double(particles_per_cell(s.domain)) / particles_per_cell(dense);
        double furthest = 0, fullest = 0;
        for_each_cell(*few.tiling, s.domain.cells, [&](Int3, std::int64_t n) {
            furthest = std::max(furthest, std::abs(double(many.filling[n]) - ratio * few.surface.filling[n]));
            fullest = std::max(fullest, double(few.surface.filling[n]));
        });
        CHECK(furthest < 1e-5);
        CHECK(fullest > 0.9);
    }
}

TEST_CASE("a surface of spheres: exact around one particle, around many more than half a cell too far out") {
    Scenario s = test::tank({16, 16, 16}, 0);
    Particles one;
    one.position = {{0.513f, 0.487f, 0.5f}};
    const auto tiling = tiling_around(one, s.domain, 6);
    const CellRanges cells = sort_into_cells(one, s.domain, *tiling);
    const Field<double> phi = surface_from_particles(one, cells, s.domain, tiling, no_obstacles, true).phi;
    const double radius = 0.505 * std::sqrt(3.0) * s.domain.h;
    const Vec3 place(one.position[0]);
    int inside = 0;
    for (std::int64_t slot = 0; slot < tiling->tile_count(); ++slot)
        for_each_cell_of_tile(*tiling, slot, s.domain.cells, [&](Int3 c, std::int64_t n) {
            const double exact = length(s.domain.cell_center(c) - place) - radius;
            CHECK((phi[n] < 0) == (exact < 0));
            if (exact < 0) CHECK(phi[n] == near(exact).relative(1e-12));
            inside += exact < 0;
        });
    CHECK(inside > 1);

    s = test::tank({16, 16, 16}, 0.5);
    const Seeded w = seed(s);
    const Surface many = surface_from_particles(w.particles, w.cells, s.domain, w.tiling, no_obstacles, true);
    const double raised = (surface_height(many.phi, s.domain, 0.53, 0.53) - 0.5) / s.domain.h;
    CHECK(raised > 0.5);
    CHECK(raised < 0.505 * std::sqrt(3.0));
}

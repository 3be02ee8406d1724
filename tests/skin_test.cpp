// The surface that pictures show: calm water flat, sheets whole, drops round, lonely particles as spray.
#include "fluid/grid/skin.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "fluid/grid/particles.h"
#include "fluid/grid/surface.h"
#include "geometry/surface_nets.h"

using namespace flotsam;

namespace {

Domain box(int n) {
    Domain domain;
    domain.cells = {n, n, n};
    domain.h = 1.0 / n;
    return domain;
}

Skin skin_of(Particles particles, const Domain& domain) {
    const auto tiling = tiling_around(particles, domain, 6);
    const CellRanges cells = sort_into_cells(particles, domain, *tiling);
    const Surface surface = surface_from_particles(particles, cells, domain, tiling);
    return make_skin(particles, surface.phi, domain, 2);
}

Particles particles_in(const ShapePtr& shape, const Domain& domain) {
    LiquidSettings settings;
    settings.fills.push_back({shape, {}});
    return seed_fills(domain, settings);
}

}  // namespace

TEST_CASE("calm water is flat") {
    for (const double level : {0.4, 0.411, 0.42}) {
        const Domain domain = box(32);
        const Skin skin = skin_of(particles_in(make_level(level), domain), domain);
        CHECK(skin.spray.count() == 0);
        const SurfaceMesh mesh = extract_surface(skin.phi, skin.domain.h);
        double sum = 0, squares = 0, largest = 0;
        int count = 0;
        for (const Vec3f& v : mesh.vertices) {
            if (v.y < 0.2f || v.x == 0 || v.z == 0 || v.x == 1 || v.z == 1) continue;
            const double off = double(v.y) - level;
            sum += off;
            squares += off * off;
            largest = std::max(largest, std::abs(off));
            ++count;
        }
        REQUIRE(count > 1000);
        // The jitter of freshly seeded particles leaves a few hundredths of a cell.
        CHECK(std::abs(sum / count) < 0.1 * domain.h);
        CHECK(std::sqrt(squares / count - sum * sum / count / count) < 0.08 * domain.h);
        CHECK(largest < 0.25 * domain.h);
    }
}

TEST_CASE("a sheet thinner than a cell has no holes, and the simulated surface alone does not show it") {
    const Domain domain = box(32);
    for (const double height : {0.5, 0.508, 0.515}) {
        Particles sheet;  // one layer, tilted against the grid
        for (int i = 0; i < 40; ++i)
            for (int k = 0; k < 40; ++k) {
                const double x = 0.2 + 0.015 * i, z = 0.2 + 0.015 * k;
                sheet.position.push_back(Vec3f(Vec3{x, height + 0.2 * (x - 0.5) + 0.1 * (z - 0.5), z}));
            }
        sheet.velocity.resize(sheet.position.size());
        const Skin skin = skin_of(sheet, domain);
        int holes = 0;
        for (int i = 2; i < 38; ++i)
            for (int k = 2; k < 38; ++k) {
                const double x = 0.2 + 0.015 * i + 0.004, z = 0.2 + 0.015 * k + 0.009;
                const double y = height + 0.2 * (x - 0.5) + 0.1 * (z - 0.5);
                bool found = false;
                for (int tenths = -4; tenths <= 4; ++tenths) {
                    const Int3 c = skin.domain.cell_of({x, y + 0.1 * tenths * domain.h, z});
                    found = found || skin.phi(c) < 0;
                }
                holes += !found;
            }
        CHECK(holes == 0);
        CHECK(skin.spray.count() < sheet.count() / 50);

        const auto tiling = tiling_around(sheet, domain, 6);
        const CellRanges cells = sort_into_cells(sheet, domain, *tiling);
        const Surface coarse = surface_from_particles(sheet, cells, domain, tiling);
        const SurfaceMesh without = extract_surface(coarse.phi, domain.h);
        CHECK(without.triangles.size() < 500);
    }
}

TEST_CASE("a drop's surface lies inside it by less the larger it is") {
    // The simulated surface smooths what is a cell wide: a drop 5 cells across looks a quarter smaller than
    // it is.
    const Domain domain = box(48);
    double previous = 0;
    for (const double cells : {2.5, 5.0, 10.0, 20.0}) {
        const double radius = cells * domain.h;
        const Particles drop = particles_in(make_sphere({0.507, 0.493, 0.511}, radius), domain);
        const Skin skin = skin_of(drop, domain);
        const double exact = 4.0 / 3 * std::numbers::pi * radius * radius * radius;
        const double error = 1 - enclosed_volume(extract_surface(skin.phi, skin.domain.h)) / exact;
        CAPTURE(cells);
        CAPTURE(error);
        CHECK(error < 2.2 / (cells * cells));
        if (previous > 0) CHECK(previous / error > 3.5);
        previous = error;
    }
}

TEST_CASE("a drop stays round; lonely particles are spray") {
    const Domain domain = box(32);
    const double radius = 2.5 * domain.h;
    const Vec3 center{0.507, 0.493, 0.511};
    Particles drop = particles_in(make_sphere(center, radius), domain);
    drop.position.push_back({0.1f, 0.8f, 0.1f});
    drop.position.push_back({0.8f, 0.2f, 0.7f});
    drop.velocity.resize(drop.position.size());
    for (std::size_t n = 0; n < drop.velocity.size(); ++n) drop.velocity[n] = {float(n), 0, 0};
    const auto last = float(drop.velocity.size() - 1);
    const Skin skin = skin_of(drop, domain);
    REQUIRE(skin.spray.count() == 2);
    CHECK(skin.spray.velocity[0].x + skin.spray.velocity[1].x == last + last - 1);
    const SurfaceMesh mesh = extract_surface(skin.phi, skin.domain.h);
    double least = 10, most = 0;
    for (const Vec3f& v : mesh.vertices) {
        const double r = length(Vec3(v) - center);
        least = std::min(least, r);
        most = std::max(most, r);
    }
    CHECK(least > radius - 0.5 * domain.h);
    CHECK(most < radius + 0.4 * domain.h);
}

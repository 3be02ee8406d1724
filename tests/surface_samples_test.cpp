// A solid's surface as evenly spread points.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "geometry/surface_samples.h"
#include "worlds.h"

using namespace flotsam;

namespace {

// Distance from p to the nearest sample that faces its way.
double gap(const std::vector<SurfaceSample>& samples, Vec3 p, Vec3 normal) {
    double nearest = 1e30;
    for (const SurfaceSample& s : samples)
        if (dot(s.normal, normal) > 0.7) nearest = std::min(nearest, length(s.point - p));
    return nearest;
}

}  // namespace

TEST_CASE("samples of a box cover every face up to its edges, evenly and with its normal") {
    const double spacing = 0.05;
    const SolidShape box = solid_box({0.4, 0.3, 0.2});
    const auto samples = sample_surface(box, spacing, false);
    for (std::size_t a = 0; a < samples.size(); ++a) {
        REQUIRE(std::abs(box.distance->distance(samples[a].point)) < 1e-9);
        const Vec3 n = samples[a].normal;
        REQUIRE(std::max({std::abs(n.x), std::abs(n.y), std::abs(n.z)}) > 1 - 1e-9);
        for (std::size_t b = 0; b < a; ++b)
            if (dot(samples[a].normal, samples[b].normal) > 0.7)
                REQUIRE(length(samples[a].point - samples[b].point) > 0.999 * spacing);
    }
    double worst = 0;
    for (int i = 0; i <= 40; ++i)
        for (int j = 0; j <= 40; ++j) {
            const double u = i / 40.0 - 0.5, v = j / 40.0 - 0.5;
            worst = std::max({worst, gap(samples, {0.2, 0.3 * u, 0.2 * v}, {1, 0, 0}),
                              gap(samples, {0.4 * u, -0.15, 0.2 * v}, {0, -1, 0}),
                              gap(samples, {0.4 * u, 0.3 * v, 0.1}, {0, 0, 1})});
        }
    CHECK(worst < 1.34 * spacing);
}

TEST_CASE("samples of a sphere lie on the sphere and not on its mesh") {
    const double radius = 0.2;
    const auto samples = sample_surface(solid_sphere(radius, 0.05), 0.03, false);
    double worst = 0;
    for (int n = 0; n < 2000; ++n) {
        Vec3 out{test::noise(3 * n), test::noise(3 * n + 1), test::noise(3 * n + 2)};
        out = out / length(out);
        worst = std::max(worst, gap(samples, radius * out, out));
    }
    CHECK(worst < 1.34 * 0.03);
    for (const SurfaceSample& s : samples) {
        CHECK(std::abs(length(s.point) - radius) < 1e-6);
        CHECK(dot(s.normal, s.point / length(s.point)) > 0.9999);
    }
}

TEST_CASE("in a slab only the outline is sampled") {
    const double spacing = 0.02;
    const auto samples = sample_surface(solid_disc(0.2, 0.05, 0.02), spacing, true);
    double worst = 0;
    for (int n = 0; n < 500; ++n) {
        const double angle = 2 * M_PI * n / 500;
        const Vec3 out{std::cos(angle), std::sin(angle), 0};
        worst = std::max(worst, gap(samples, 0.2 * out, out));
    }
    CHECK(worst < 1.34 * spacing);
    for (const SurfaceSample& s : samples) CHECK((s.point.z == 0 && s.normal.z == 0));
    CHECK(samples.size() < 2 * M_PI * 0.2 / spacing);
}

TEST_CASE("a particle touches the side of a thin plate that it comes from") {
    const double radius = 0.05, thickness = 0.01;
    const SampledSurface plate(sample_surface(solid_box({1, thickness, 1}), 0.5 * radius, false), radius);
    int touched = 0;
    for (int n = 0; n < 200; ++n) {
        const Vec3 place{0.45 * test::noise(2 * n), 0, 0.45 * test::noise(2 * n + 1)};
        const Vec3 above = place + Vec3{0, 0.055, 0}, inside = place + Vec3{0, 0.002, 0};
        for (const Vec3 to : {inside, -inside}) {
            const auto sample = plate.touched({place.x, to.y, place.z}, above);
            REQUIRE(sample);
            CHECK(sample->normal.y > 0.99);
            CHECK(std::abs(sample->point.y - 0.5 * thickness) < 1e-9);
            ++touched;
        }
        CHECK(!plate.touched(place + Vec3{0, 0.06, 0}, above));
    }
    CHECK(touched == 400);
}

#include "render/floor_light.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>

#include "core/parallel.h"
#include "core/random.h"
#include "render/sampling.h"

namespace flotsam {

namespace {

// A separable blur with weights 1 2 1, repeated `times` times: removes the noise of single photons.
template <class Map>
void blur(Map& map, int times) {
    for (int round = 0; round < 2 * times; ++round) {
        const Map before = map;
        const bool along_rows = round % 2 == 0;
        parallel_for(map.rows, 8, [&](std::int64_t row) {
            for (int column = 0; column < map.columns; ++column) {
                const auto at = [&](int step) {
                    const int c = along_rows ? std::clamp(column + step, 0, map.columns - 1) : column;
                    const int r = along_rows ? int(row) : std::clamp(int(row) + step, 0, map.rows - 1);
                    return before.at(c, r);
                };
                map.at(column, int(row)) = at(-1) * 0.25f + at(0) * 0.5f + at(1) * 0.25f;
            }
        });
    }
}

struct Photon {
    Vec3f place;
    Color power;
    bool arrived = false;
};

// Traces light from above through liquid to the floor. Light that meets no liquid is not counted: shine_past
// finds it with less noise.
Photon follow(const Stage& stage, Ray ray, int bounces) {
    Photon photon{{}, {1, 1, 1}};
    bool inside = false, bent = false;
    for (int bounce = 0; bounce < bounces; ++bounce) {
        const RayHit hit = stage.liquid.nearest(ray);
        const float to_floor = ray.direction.y < 0 ? -ray.origin.y / ray.direction.y : 1e30f;
        const float distance = std::min(hit.distance, to_floor);
        Ray way = ray;
        way.far = distance;
        if (distance > 1e29f || stage.solids.blocked(way)) return photon;
        if (inside)
            for (int c = 0; c < 3; ++c) photon.power[c] *= std::exp(-stage.absorption[c] * distance);
        if (to_floor < hit.distance) {
            photon.place = ray.at(to_floor);
            photon.arrived = bent;
            return photon;
        }
        const Bend bend = bend_at(stage.liquid_normal(hit), hit.face_normal, ray.direction);
        if (bend.reflected > 0.999f) {
            ray = {ray.at(hit.distance), bend.reflection, 1e-3f * stage.gap};
        } else {
            photon.power *= 1 - bend.reflected;
            inside = bend.entering;
            ray = {ray.at(hit.distance), bend.refraction, 1e-3f * stage.gap};
        }
        bent = true;
    }
    return photon;
}

}  // namespace

Color FloorLight::Map::between(float column, float row) const {
    const float c = std::clamp(column, 0.0f, float(columns - 1)), r = std::clamp(row, 0.0f, float(rows - 1));
    const int c0 = std::min(int(c), columns - 2), r0 = std::min(int(r), rows - 2);
    const float fc = c - float(c0), fr = r - float(r0);
    return mix(mix(at(c0, r0), at(c0 + 1, r0), fc), mix(at(c0, r0 + 1), at(c0 + 1, r0 + 1), fc), fr);
}

FloorLight::FloorLight(const Stage& stage, const Quality& quality) {
    // The tank's shadow, and as much again for the shade under the sky.
    const Vec3 size = stage.tank.high;
    const float steep = std::max(0.15f, stage.to_light.y);
    const float margin = 0.35f * float(std::max({size.x, size.y, size.z}));
    const float shift_x = -stage.to_light.x / steep * float(size.y),
                shift_z = -stage.to_light.z / steep * float(size.y);
    left_ = std::min(0.0f, shift_x) - margin;
    back_ = std::min(0.0f, shift_z) - margin;
    width_ = float(size.x) + std::max(0.0f, shift_x) + margin - left_;
    depth_ = float(size.z) + std::max(0.0f, shift_z) + margin - back_;
    const float texel = std::max(width_, depth_) / float(quality.floor_texels);
    const auto map = [&](float edge) {
        Map m;
        m.columns = std::max(2, int(width_ / edge));
        m.rows = std::max(2, int(depth_ / edge));
        m.texels.assign(std::size_t(m.columns) * m.rows, {});
        return m;
    };
    sun_ = map(texel);
    sky_ = map(6 * texel);
    shine_past(stage, quality);
    shine_through(stage, quality);
    add_sky(stage, quality);
}

Vec3f FloorLight::place(const Map& map, float column, float row) const {
    return {left_ + (column + 0.5f) * width_ / float(map.columns), 0,
            back_ + (row + 0.5f) * depth_ / float(map.rows)};
}

void FloorLight::shine_past(const Stage& stage, const Quality& quality) {
    parallel_for(sun_.rows, 1, [&](std::int64_t row) {
        for (int column = 0; column < sun_.columns; ++column) {
            const std::uint64_t key = combine(combine(11, std::uint64_t(row)), std::uint64_t(column));
            float open = 0;
            for (int n = 0; n < quality.light_samples; ++n) {
                const Vec3f from = place(sun_, column, float(row));
                const Ray ray{from, towards_sun(stage, key, n, quality.light_samples), 1e-3f * stage.gap};
                open += !stage.solids.blocked(ray) && !stage.liquid.blocked(ray);
            }
            const float share = open / float(quality.light_samples);
            sun_.at(column, int(row)) = Color{share, share, share};
        }
    });
    blur(sun_, 1);
}

void FloorLight::shine_through(const Stage& stage, const Quality& quality) {
    if (stage.liquid.empty()) return;
    // Photons start above the tank, on a grid that is as fine as the map and shifted towards the sun: without
    // refraction they would be evenly spread on the floor.
    const Vec3 size = stage.tank.high;
    const float texel_x = width_ / float(sun_.columns), texel_z = depth_ / float(sun_.rows);
    const float steep = std::max(0.15f, stage.to_light.y);
    const Vec3f lift = stage.to_light * (float(size.y) / steep);  // from the floor to the top of the tank
    // On the floor, what lies under the tank's box as the sun sees it.
    const int columns = sun_.columns, rows = sun_.rows, per_side = quality.photons;
    constexpr float unit = 1 << 20;  // sums of whole numbers do not depend on the order of threads
    std::unique_ptr<std::atomic<std::int64_t>[]> gathered(
        new std::atomic<std::int64_t>[3 * std::size_t(columns) * rows]());
    const auto deposit = [&](int column, int row, Color power) {
        if (column < 0 || row < 0 || column >= columns || row >= rows) return;
        for (int c = 0; c < 3; ++c)
            gathered[3 * (std::size_t(row) * columns + column) + c].fetch_add(std::int64_t(power[c] * unit),
                                                                              std::memory_order_relaxed);
    };
    parallel_for(std::int64_t(rows) * per_side, 4, [&](std::int64_t row) {
        for (int column = 0; column < columns * per_side; ++column) {
            const std::uint64_t key = combine(combine(12, std::uint64_t(row)), std::uint64_t(column));
            const float c = (float(column) + float(uniform(combine(key, 1)))) / per_side - 0.5f;
            const float r = (float(row) + float(uniform(combine(key, 2)))) / per_side - 0.5f;
            const Vec3f sun = towards_sun(stage, key, 0, 1);
            const Vec3f start = place(sun_, c, r) + lift + stage.to_light * 1e-3f;
            const Photon photon = follow(stage, {start, -sun, 0}, quality.bounces);
            if (!photon.arrived) continue;
            const float at_c = (photon.place.x - left_) / texel_x - 0.5f,
                        at_r = (photon.place.z - back_) / texel_z - 0.5f;
            const int c0 = int(std::floor(at_c)), r0 = int(std::floor(at_r));
            const float fc = at_c - float(c0), fr = at_r - float(r0);
            const Color power = photon.power / float(per_side * per_side);
            deposit(c0, r0, power * ((1 - fc) * (1 - fr)));
            deposit(c0 + 1, r0, power * (fc * (1 - fr)));
            deposit(c0, r0 + 1, power * ((1 - fc) * fr));
            deposit(c0 + 1, r0 + 1, power * (fc * fr));
        }
    });
    Map bent = sun_;
    for (std::size_t n = 0; n < bent.texels.size(); ++n)
        for (int c = 0; c < 3; ++c) bent.texels[n][c] = float(gathered[3 * n + c].load()) / unit;
    blur(bent, 2);
    for (std::size_t n = 0; n < bent.texels.size(); ++n) sun_.texels[n] += bent.texels[n];
}

void FloorLight::add_sky(const Stage& stage, const Quality& quality) {
    const int samples = 4 * quality.light_samples;
    parallel_for(sky_.rows, 1, [&](std::int64_t row) {
        for (int column = 0; column < sky_.columns; ++column) {
            const std::uint64_t key = combine(combine(13, std::uint64_t(row)), std::uint64_t(column));
            Color sum;
            for (int n = 0; n < samples; ++n) {
                const Vec3f direction = over_hemisphere({0, 1, 0}, key, n, samples);
                sum += straight_light(stage, {place(sky_, column, float(row)), direction, 1e-3f * stage.gap});
            }
            sky_.at(column, int(row)) = sum / float(samples);
        }
    });
    blur(sky_, 1);
}

Color FloorLight::at(float x, float z) const {
    const float across = (x - left_) / width_, along = (z - back_) / depth_;
    Color sun{1, 1, 1}, sky_share{1, 1, 1};
    if (across > 0 && across < 1 && along > 0 && along < 1) {
        sun = sun_.between(across * float(sun_.columns) - 0.5f, along * float(sun_.rows) - 0.5f);
        sky_share = sky_.between(across * float(sky_.columns) - 0.5f, along * float(sky_.rows) - 0.5f);
    }
    return sun_light % sun + sky_light % sky_share;
}

}  // namespace flotsam

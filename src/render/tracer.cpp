#include "render/tracer.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "render/color_map.h"
#include "render/sampling.h"

namespace flotsam {

namespace {

constexpr Color light_tile{0.52f, 0.51f, 0.49f}, dark_tile{0.30f, 0.31f, 0.33f};

// Clamps single rays that look into the sun, which would dominate their pixel.
constexpr float brightest = 5;

}  // namespace

Tracer::Tracer(const Stage& stage, const Quality& quality, double pixel_angle)
    : stage_(stage), quality_(quality), floor_light_(stage, quality), pixel_angle_(float(pixel_angle)) {
    const Vec3 size = stage.tank.high;
    size_ = float(std::max({size.x, size.y, size.z}));
    tile_ = float(round_up(0.1 * double(size_)));
}

Color Tracer::seen(const Ray& ray, std::uint64_t key) const {
    const Color light = follow(ray, false, 0, 1, key);
    const float largest = std::max({light.x, light.y, light.z});
    return largest > brightest ? light * (brightest / largest) : light;
}

Color Tracer::follow(const Ray& ray, bool inside, int bounce, float weight, std::uint64_t key) const {
    const Meeting meeting = meet(ray, inside);
    Color light;
    switch (meeting.kind) {
        case Meeting::Kind::sky:
            light = sky(stage_, ray.direction, bounce > 0);
            break;
        case Meeting::Kind::floor:
            light = of_floor(ray, meeting.distance);
            break;
        case Meeting::Kind::solid:
            light = of_solid(ray, meeting, inside, key);
            break;
        case Meeting::Kind::liquid:
            light = at_liquid(ray, meeting, bounce, weight, key);
            break;
    }
    if (inside && meeting.kind != Meeting::Kind::sky)
        for (int c = 0; c < 3; ++c) light[c] *= std::exp(-stage_.absorption[c] * meeting.distance);
    if (!inside && bounce < 2) light = behind_tank(ray, meeting.distance, light);
    return light;
}

Color Tracer::at_liquid(const Ray& ray, const Meeting& meeting, int bounce, float weight,
                        std::uint64_t key) const {
    const Bend bend = bend_at(meeting.normal, meeting.face_normal, ray.direction);
    const Vec3f place = ray.at(meeting.distance);
    const float near = 1e-3f * stage_.gap;
    // Beyond the last bounce, and for light that hardly counts, the sky replaces whatever is there.
    const auto light_along = [&](Vec3f direction, bool inside, float share, std::uint64_t turn) {
        if (share <= 0) return Color{};
        if (bounce + 1 >= quality_.bounces || weight * share < 0.015f)
            return sky(stage_, {direction.x, std::abs(direction.y), direction.z}, false) * share;
        return follow({place, direction, near}, inside, bounce + 1, weight * share, combine(key, turn)) *
               share;
    };
    return light_along(bend.reflection, !bend.entering, bend.reflected, 1) +
           light_along(bend.refraction, bend.entering, 1 - bend.reflected, 2);
}

Tracer::Meeting Tracer::meet(Ray ray, bool inside) const {
    Meeting meeting = stage_.cuts.empty() ? meet_whole(ray, inside) : meet_cut(ray, inside, stage_.cuts[0]);
    // The floor is seen only from above.
    if (ray.direction.y < 0) {
        const float to_floor = -ray.origin.y / ray.direction.y;
        if (to_floor > 0 && to_floor < meeting.distance) {
            meeting.kind = Meeting::Kind::floor;
            meeting.distance = to_floor;
        }
    }
    return meeting;
}

Tracer::Meeting Tracer::meet_whole(const Ray& ray, bool inside) const {
    Meeting meeting;
    const RayHit liquid = stage_.liquid.nearest(ray), solid = stage_.solids.nearest(ray);
    // The liquid's surface along a solid is not exactly the solid's: a ray must not find air between the two.
    const bool leaving = liquid && dot(liquid.face_normal, ray.direction) > 0;
    const float reach = liquid.distance + (inside && leaving ? stage_.gap : 0);
    if (solid && solid.distance < reach) {
        meeting = {Meeting::Kind::solid, solid.distance, stage_.solid_normal(solid), solid.face_normal,
                   stage_.solid_color(solid)};
    } else if (liquid) {
        meeting = {
            Meeting::Kind::liquid, liquid.distance, stage_.liquid_normal(liquid), liquid.face_normal, {}};
    }
    return meeting;
}

Tracer::Meeting Tracer::meet_cut(const Ray& ray, bool inside, const CutAway& cut) const {
    const float side = cut.high_side ? 1.0f : -1.0f;
    const float height = side * (ray.origin[cut.axis] - cut.at), climb = side * ray.direction[cut.axis];
    const float crossing = climb != 0 ? -height / climb : -1;
    Vec3f normal;
    normal[cut.axis] = side;
    const Meeting through{Meeting::Kind::liquid, crossing, normal, normal, {}};
    const bool in_kept_part = crossing > ray.near ? climb > 0 : height + climb * ray.near < 0;
    if (in_kept_part) {
        Ray kept = ray;
        if (crossing > ray.near) kept.far = crossing;
        const Meeting meeting = meet_whole(kept, inside);
        return meeting.distance >= kept.far && inside && crossing > ray.near ? through : meeting;
    }
    if (crossing <= ray.near) return {};  // nothing is left where this ray goes
    const Vec3f entry = ray.at(crossing);
    const RayHit above = stage_.solids.nearest({entry, {0.01f, 0.99995f, 0}, 0});
    if (above && dot(above.face_normal, Vec3f{0, 1, 0}) > 0)
        return {Meeting::Kind::solid, crossing, normal, normal, stage_.solid_color(above)};
    if (in_liquid(entry)) return through;
    Ray kept = ray;
    kept.near = crossing;
    return meet_whole(kept, inside);
}

bool Tracer::in_liquid(Vec3f point) const {
    const RayHit above = stage_.liquid.nearest({point, {0.01f, 0.99995f, 0}, 0});
    return above && above.face_normal.y > 0;
}

Color Tracer::of_solid(const Ray& ray, const Meeting& meeting, bool inside, std::uint64_t key) const {
    Vec3f normal = meeting.normal, face = meeting.face_normal;
    if (dot(face, ray.direction) > 0) face = -face, normal = -normal;
    const Vec3f place = ray.at(meeting.distance) + face * (1e-3f * stage_.gap);

    Color sun;
    for (int n = 0; n < quality_.shadow_samples; ++n) {
        const Vec3f direction = towards_sun(stage_, combine(key, 31), n, quality_.shadow_samples);
        const float cosine = dot(normal, direction);
        if (cosine > 0 && dot(face, direction) > 0)
            sun += straight_light(stage_, {place, direction}) * cosine;
    }
    sun = sun % sun_light * (1 / (float(quality_.shadow_samples) * stage_.to_light.y));

    // Near objects hide some of the sky.
    const int sky_samples = 2 * quality_.shadow_samples;
    float open = 0;
    for (int n = 0; n < sky_samples; ++n) {
        Ray out{place, over_hemisphere(normal, combine(key, 32), n, sky_samples), 0, 0.5f * size_};
        open += !stage_.solids.blocked(out);
    }
    open = 0.25f + 0.75f * open / float(sky_samples);
    const Color from_floor = mix(light_tile, dark_tile, 0.5f) % (sun_light * 0.35f + sky_light * 0.6f);
    Color ambient = mix(from_floor, sky_light, 0.5f + 0.5f * normal.y) * open;
    if (inside) {
        // The sky's light comes down through the liquid above.
        const RayHit above = stage_.liquid.nearest({place, {0, 1, 0}});
        for (int c = 0; above && c < 3; ++c) ambient[c] *= std::exp(-stage_.absorption[c] * above.distance);
    }
    Color light = meeting.color % (sun + ambient);
    if (!inside) {
        // A thin clear coat.
        const float cosine = std::clamp(-dot(normal, ray.direction), 0.0f, 1.0f);
        const Vec3f mirrored = ray.direction + normal * (2 * cosine);
        const float coat = 0.04f + 0.5f * std::pow(1 - cosine, 5.0f);
        const Vec3f up{mirrored.x, std::abs(mirrored.y), mirrored.z};
        light = mix(light, sky(stage_, up, false) * open, coat);
    }
    return light;
}

Color Tracer::of_floor(const Ray& ray, float distance) const {
    const Vec3f place = ray.at(distance);
    const bool dark = (int(std::floor(place.x / tile_)) + int(std::floor(place.z / tile_))) & 1;
    // Far away the squares are smaller than a pixel: there they blend to one grey.
    const float footprint = distance * pixel_angle_ / std::max(0.02f, -ray.direction.y);
    const float contrast = std::clamp(1.5f - 2 * footprint / tile_, 0.0f, 1.0f);
    const Color middle = mix(light_tile, dark_tile, 0.5f);
    const Color tile = mix(middle, dark ? dark_tile : light_tile, contrast);
    const Color light = tile % floor_light_.at(place.x, place.z) * 0.5f;
    const Vec3f middle_of_tank = Vec3f(0.5 * (stage_.tank.low + stage_.tank.high));
    const float far = length(Vec3f{place.x - middle_of_tank.x, 0, place.z - middle_of_tank.z}) / (12 * size_);
    const Vec3f flat{ray.direction.x, 0, ray.direction.z};
    return mix(sky(stage_, flat / std::max(1e-6f, length(flat)), false), light, std::exp(-far * far));
}

Color Tracer::behind_tank(const Ray& ray, float distance, Color light) const {
    // The panes reflect a little of the sky.
    for (int side = 0; side < 6; ++side) {
        const int axis = side / 2, b = (axis + 1) % 3, c = (axis + 2) % 3;
        if (!stage_.pane[side] || axis == 1) continue;
        const float wall = side % 2 ? float(stage_.tank.high[axis]) : 0;
        const float to_pane = (wall - ray.origin[axis]) / ray.direction[axis];
        if (!(to_pane > ray.near) || to_pane > distance) continue;
        const Vec3f place = ray.at(to_pane);
        if (place[b] < 0 || place[b] > float(stage_.tank.high[b]) || place[c] < 0 ||
            place[c] > float(stage_.tank.high[c]))
            continue;
        Vec3f mirrored = ray.direction;
        mirrored[axis] = -mirrored[axis];
        mirrored.y = std::abs(mirrored.y);
        light =
            mix(light, sky(stage_, mirrored, false), 0.5f * fresnel(std::abs(ray.direction[axis]), 1 / 1.5f));
    }
    Ray near = ray;
    near.far = distance;
    if (stage_.tank_edges.blocked(near)) light = mix(light, {0.10f, 0.13f, 0.16f}, 0.45f);
    return light;
}

Image photograph(const Stage& stage, const Camera& camera, int width, int height, const Quality& quality,
                 const std::atomic<bool>& stop) {
    const Tracer tracer(stage, quality, camera.pixel_angle());
    Image image(width, height);
    parallel_for(height, 1, [&](std::int64_t row) {
        if (stop) return;
        for (int column = 0; column < width; ++column) {
            const std::uint64_t pixel = combine(combine(1, std::uint64_t(row)), std::uint64_t(column));
            Color sum;
            const int side = quality.samples;
            for (int down = 0; down < side; ++down)
                for (int across = 0; across < side; ++across) {
                    const std::uint64_t key =
                        combine(pixel, std::uint64_t(across) + std::uint64_t(side) * std::uint64_t(down));
                    const double x = column + (across + uniform(combine(key, 1))) / side;
                    const double y = double(row) + (down + uniform(combine(key, 2))) / side;
                    sum += tracer.seen(camera.ray(x, y), key);
                }
            image.at(column, int(row)) = sum / float(side * side);
        }
    });
    return image;
}

}  // namespace flotsam

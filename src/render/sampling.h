// Directions of rays. Random numbers are keyed by place and index, so that a picture does not depend on which
// thread computes which pixel.
#pragma once

#include <cmath>
#include <numbers>

#include "core/random.h"
#include "render/stage.h"

namespace flotsam {

// The n-th of `count` points of the unit square: evenly spread (a rank-1 lattice), shifted as a whole by the
// key.
struct SquarePoint {
    float a, b;
};
inline SquarePoint square_point(std::uint64_t key, int n, int count) {
    const double a = (n + uniform(combine(key, 101))) / count;
    const double b = n * 0.6180339887498949 + uniform(combine(key, 102));
    return {float(a - std::floor(a)), float(b - std::floor(b))};
}

// Two directions perpendicular to `normal` and to each other.
inline void frame_of(Vec3f normal, Vec3f& a, Vec3f& b) {
    a = std::abs(normal.x) < 0.7f ? Vec3f{1, 0, 0} : Vec3f{0, 1, 0};
    a = cross(normal, a);
    a = a / length(a);
    b = cross(normal, a);
}

// A direction with a cosine-weighted distribution about the normal, as a matt surface weighs light.
inline Vec3f over_hemisphere(Vec3f normal, std::uint64_t key, int n, int count) {
    const SquarePoint p = square_point(key, n, count);
    const float radius = std::sqrt(p.a), angle = 2 * std::numbers::pi_v<float> * p.b;
    Vec3f a, b;
    frame_of(normal, a, b);
    const Vec3f way = a * (radius * std::cos(angle)) + b * (radius * std::sin(angle)) +
                      normal * std::sqrt(std::max(0.0f, 1 - p.a));
    return way / length(way);
}

// A direction to a point of the sun's disc, which is larger than the real one so that shadows soften within a
// tank's size.
inline Vec3f towards_sun(const Stage& stage, std::uint64_t key, int n, int count) {
    constexpr float sun_radius = 0.035f;  // [rad]
    const SquarePoint p = square_point(key, n, count);
    const float radius = sun_radius * std::sqrt(p.a), angle = 2 * std::numbers::pi_v<float> * p.b;
    Vec3f a, b;
    frame_of(stage.to_light, a, b);
    const Vec3f way = stage.to_light + a * (radius * std::cos(angle)) + b * (radius * std::sin(angle));
    return way / length(way);
}

// Reflection and refraction of a ray at a liquid's surface.
struct Bend {
    bool entering;
    float reflected;  // share of the light
    Vec3f reflection, refraction;
};
inline Bend bend_at(Vec3f normal, Vec3f face_normal, Vec3f direction) {
    Bend bend{};
    bend.entering = dot(face_normal, direction) < 0;
    if (!bend.entering) normal = -normal;
    float cosine = -dot(normal, direction);
    // Near an outline the smooth normal can point away from the ray: bend it back until it grazes.
    if (cosine < 0.02f) {
        normal = normal - direction * (dot(normal, direction) + 0.02f);
        normal = normal / length(normal);
        cosine = std::max(0.01f, -dot(normal, direction));
    }
    const float ratio = bend.entering ? 1 / refraction_index : refraction_index;
    bend.reflected = fresnel(cosine, ratio);
    bend.reflection = direction + normal * (2 * cosine);
    const float inner = 1 - ratio * ratio * (1 - cosine * cosine);
    if (inner > 0) bend.refraction = direction * ratio + normal * (ratio * cosine - std::sqrt(inner));
    bend.reflection = bend.reflection / length(bend.reflection);
    if (inner > 0) bend.refraction = bend.refraction / length(bend.refraction);
    return bend;
}

}  // namespace flotsam

#include "render/stage.h"

#include <cmath>

#include "render/color_map.h"

namespace flotsam {

const Color sun_light{2.30f, 2.18f, 1.98f}, sky_light{0.80f, 0.88f, 1.00f};

namespace {

// Solids without a colour of their own take these in turn, in sRGB.
constexpr std::array<Vec3f, 6> solid_palette{Vec3f{0.86f, 0.36f, 0.20f}, Vec3f{0.95f, 0.72f, 0.25f},
                                             Vec3f{0.36f, 0.55f, 0.36f}, Vec3f{0.55f, 0.38f, 0.60f},
                                             Vec3f{0.30f, 0.48f, 0.72f}, Vec3f{0.75f, 0.75f, 0.73f}};

// The side of the domain that a triangle lies on, as Side + 1; 0 for the free surface.
std::uint8_t side_of(const SurfaceMesh& surface, const std::array<std::int32_t, 3>& triangle,
                     const Domain& domain) {
    const Vec3 size = domain.size();
    const double slack = 1e-3 * domain.h;
    for (int side = 0; side < 6; ++side) {
        const int axis = side / 2;
        const double wall = side % 2 ? size[axis] : 0;
        bool on_wall = true;
        for (const std::int32_t v : triangle)
            on_wall = on_wall && std::abs(double(surface.vertices[v][axis]) - wall) < slack;
        if (on_wall) return std::uint8_t(side + 1);
    }
    return 0;
}

void append_box(std::vector<Vec3f>& vertices, Triangles& triangles, Vec3 low, Vec3 high) {
    const SolidShape box = solid_box(high - low);
    const auto first = std::int32_t(vertices.size());
    for (const Vec3& v : box.mesh.vertices) vertices.emplace_back(v + 0.5 * (low + high));
    for (const Int3& t : box.mesh.triangles) triangles.push_back({first + t.x, first + t.y, first + t.z});
}

// The twelve edges of the tank as thin rods, where a closed side needs them.
void add_tank_edges(Stage& stage) {
    const Vec3 size = stage.tank.high;
    const double thickness = 0.0022 * length(size);
    std::vector<Vec3f> vertices;
    Triangles triangles;
    for (int axis = 0; axis < 3; ++axis)
        for (int edge = 0; edge < 4; ++edge) {
            const int b = (axis + 1) % 3, c = (axis + 2) % 3;
            const bool high_b = edge & 1, high_c = edge >> 1;
            if (!stage.pane[2 * b + high_b] && !stage.pane[2 * c + high_c]) continue;
            Vec3 low, high;
            low[axis] = -thickness, high[axis] = size[axis] + thickness;
            // Outside the tank, so that they intersect nothing.
            low[b] = high_b ? size[b] : -thickness, high[b] = low[b] + thickness;
            low[c] = high_c ? size[c] : -thickness, high[c] = low[c] + thickness;
            append_box(vertices, triangles, low, high);
        }
    if (!triangles.empty()) stage.tank_edges.add_triangles(vertices, triangles);
}

}  // namespace

float fresnel(float cosine, float ratio) {
    const float sine2 = ratio * ratio * std::max(0.0f, 1 - cosine * cosine);
    if (sine2 >= 1) return 1;
    const float beyond = std::sqrt(1 - sine2);
    const float across = (ratio * cosine - beyond) / (ratio * cosine + beyond);
    const float along = (cosine - ratio * beyond) / (cosine + ratio * beyond);
    return 0.5f * (across * across + along * along);
}

Color straight_light(const Stage& stage, Ray ray) {
    if (stage.solids.blocked(ray)) return {};
    Color light{1, 1, 1};
    float entered = ray.near;
    for (int surfaces = 0; surfaces < 12; ++surfaces) {
        const RayHit hit = stage.liquid.nearest(ray);
        if (!hit) break;
        const float cosine = dot(stage.liquid_normal(hit), ray.direction);
        light *= 1 - fresnel(std::abs(cosine), 1 / refraction_index);
        if (dot(hit.face_normal, ray.direction) > 0) {
            const float depth = hit.distance - entered;
            for (int c = 0; c < 3; ++c) light[c] *= std::exp(-stage.absorption[c] * depth);
        }
        entered = hit.distance;
        ray.near = hit.distance * (1 + 1e-5f) + 1e-3f * stage.gap;
        if (brightness(light) < 0.01f) break;
    }
    return light;
}

Color sky(const Stage& stage, Vec3f direction, bool sun) {
    const Color horizon{0.60f, 0.68f, 0.78f}, zenith{0.16f, 0.31f, 0.62f}, ground{0.42f, 0.42f, 0.42f};
    const float height = direction.y;
    Color light = height >= 0 ? mix(horizon, zenith, std::pow(std::min(1.0f, height), 0.55f))
                              : mix(horizon, ground, std::min(1.0f, -4 * height));
    const float towards = dot(direction, stage.to_light);
    if (towards > 0) {
        light += sun_light * (0.12f * std::pow(towards, 24.0f));  // haze around the sun
        if (sun) light += sun_light * (6 * std::pow(towards, 1400.0f));
    }
    return light;
}

Color look_color(const Solid& solid, std::size_t n) {
    return light_of(solid.color ? Vec3f(*solid.color) : solid_palette[n % solid_palette.size()]);
}

void set_stage(Stage& stage, const Scene& scene, double time) {
    const Domain& domain = scene.scenario.domain;
    stage.tank = {{}, domain.size()};
    for (int side = 0; side < 6; ++side) stage.pane[side] = !domain.open(side);
    stage.gap = float(0.75 * domain.h);
    const Vec3 light = scene.view.light;
    stage.to_light = Vec3f(light / length(light));
    const Vec3 size = domain.size();
    const double depth = 0.5 * std::max({size.x, size.y, size.z});
    for (int c = 0; c < 3; ++c)
        stage.absorption[c] = float(-std::log(std::clamp(scene.view.liquid_color[c], 1e-3, 1.0)) / depth);

    for (std::size_t n = 0; n < scene.scenario.solids.size(); ++n) {
        const Solid& solid = scene.scenario.solids[n];
        const TriangleMesh mesh = mesh_at(solid, time);
        std::vector<Vec3f> vertices(mesh.vertices.begin(), mesh.vertices.end());
        Triangles triangles;
        for (const Int3& t : mesh.triangles) triangles.push_back({t.x, t.y, t.z});
        stage.solid_looks.push_back(
            {smooth(std::move(vertices), std::move(triangles), 35), look_color(solid, n)});
        stage.solids.add_triangles(stage.solid_looks.back().mesh.vertices,
                                   stage.solid_looks.back().mesh.triangles);
    }
    add_tank_edges(stage);
}

void add_liquid(Stage& stage, const Scene& scene, const SurfaceMesh& surface,
                const std::vector<Vec3f>& droplets) {
    const Domain& domain = scene.scenario.domain;
    Triangles triangles;
    std::vector<std::uint8_t> side;
    for (const auto& triangle : surface.triangles) {
        const std::uint8_t on = side_of(surface, triangle, domain);
        // Liquid stands on the floor without a layer of air between them.
        if (on == y_low + 1) continue;
        triangles.push_back(triangle);
        side.push_back(on);
    }
    stage.liquid_mesh = smooth(surface.vertices, std::move(triangles), 180, side);
    stage.liquid.add_triangles(stage.liquid_mesh.vertices, stage.liquid_mesh.triangles);
    if (droplets.empty()) return;
    // Smaller than a particle's volume: spray is a mist of drops of all sizes, and large ones look like
    // beads.
    const auto radius = float(0.7 * std::cbrt(0.75 / 3.14159265 * scene.scenario.particle_volume()));
    stage.liquid.add_spheres(droplets, std::vector<float>(droplets.size(), radius));
}

void add_particles(Stage& stage, const Scene& scene, const std::vector<Vec3f>& position,
                   const std::vector<Vec3f>& velocity, double top_speed) {
    if (position.empty()) return;
    stage.particle_colors.reserve(position.size());
    for (const Vec3f& v : velocity)
        stage.particle_colors.push_back(color_at(ColorMap::rising, double(length(v)) / top_speed));
    const auto radius = float(0.3 * scene.scenario.domain.h);
    stage.solids.add_spheres(position, std::vector<float>(position.size(), radius));
}

void raise_curtain(Stage& stage) {
    stage.liquid.commit();
    stage.solids.commit();
    stage.tank_edges.commit();
}

}  // namespace flotsam

// The content of a picture, prepared for ray tracing: the liquid, the solids, the tank, the floor, the sky
// and the light.
#pragma once

#include <array>
#include <vector>

#include "geometry/surface_nets.h"
#include "render/image.h"
#include "render/smooth_mesh.h"
#include "scene/scene.h"

namespace flotsam {

struct SolidLook {
    SmoothMesh mesh;
    Color color;
};

// A half-space that is removed to look inside: everything beyond `at` along an axis.
struct CutAway {
    int axis = 2;
    float at = 0;
    bool high_side = true;  // removes the higher side
};

struct Stage {
    // Liquid. Object 0 is its surface; object 1, if any, are droplets as spheres.
    RayScene liquid;
    SmoothMesh liquid_mesh;
    Color absorption;  // of light in the liquid [1/m]

    // Opaque objects: object n of `solids` is solid_looks[n], then particles as spheres.
    RayScene solids;
    std::vector<SolidLook> solid_looks;
    std::vector<Color> particle_colors;

    RayScene tank_edges;
    Box tank;                    // from the origin to the domain's size; the floor is its bottom
    std::array<bool, 6> pane{};  // which sides of the tank are closed
    std::vector<CutAway> cuts;   // at most one
    float gap = 0;               // liquid and a solid closer than this touch [m]

    Vec3f to_light;  // direction, length 1

    Vec3f liquid_normal(const RayHit& hit) const {
        return hit.object == 0 ? liquid_mesh.normal_at(hit) : hit.face_normal;
    }
    Vec3f solid_normal(const RayHit& hit) const {
        return hit.object < int(solid_looks.size()) ? solid_looks[hit.object].mesh.normal_at(hit)
                                                    : hit.face_normal;
    }
    Color solid_color(const RayHit& hit) const {
        return hit.object < int(solid_looks.size()) ? solid_looks[hit.object].color
                                                    : particle_colors[hit.part];
    }
};

constexpr float refraction_index = 1.333f;  // of water

// Share of light that a smooth surface reflects; `cosine` between ray and normal, `ratio` of the index of
// refraction on the ray's side to that on the other side. 1 for total reflection.
float fresnel(float cosine, float ratio);

// Share of light that arrives along a straight line through liquid; zero where a solid is in the way. Without
// refraction: for soft lighting of everything but the floor.
Color straight_light(const Stage& stage, Ray ray);

// Light from the sky in a direction; `sun` adds the sun's own disc, as seen in reflections.
Color sky(const Stage& stage, Vec3f direction, bool sun);

// The sun's and the sky's light on a horizontal surface in the open.
extern const Color sun_light, sky_light;

// The colour of the n-th solid of a scene: its own, or one of a few in turn.
Color look_color(const Solid& solid, std::size_t n);

// Adds everything of a frame but its liquid: solids at `time`, tank, light.
void set_stage(Stage& stage, const Scene& scene, double time);
void add_liquid(Stage& stage, const Scene& scene, const SurfaceMesh& surface,
                const std::vector<Vec3f>& droplets);
// Particles as spheres coloured by speed, up to `top_speed` [m/s].
void add_particles(Stage& stage, const Scene& scene, const std::vector<Vec3f>& position,
                   const std::vector<Vec3f>& velocity, double top_speed);
// Call when everything was added.
void raise_curtain(Stage& stage);

}  // namespace flotsam

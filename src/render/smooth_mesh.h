// Triangles with normals that look smooth where the true surface is smooth.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/vec.h"
#include "render/ray_scene.h"

namespace flotsam {

using Triangles = std::vector<std::array<std::int32_t, 3>>;

struct SmoothMesh {
    std::vector<Vec3f> vertices;
    Triangles triangles;                        // counter-clockwise seen from outside
    std::vector<std::array<Vec3f, 3>> normals;  // at the corners of each triangle, length 1

    // Interpolated between the corners' normals.
    Vec3f normal_at(const RayHit& hit) const;
};

// The normal of a corner is the mean over the triangles around it whose normals differ by less than `crease`
// [degrees] from its triangle's own. `group` (empty: all the same) keeps triangles of different groups
// separate whatever their angle.
SmoothMesh smooth(std::vector<Vec3f> vertices, Triangles triangles, double crease,
                  const std::vector<std::uint8_t>& group = {});

}  // namespace flotsam

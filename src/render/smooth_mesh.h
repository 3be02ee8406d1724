// Triangles that look smooth where the surface they stand for is smooth.
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

    // Between the corners' normals.
    Vec3f normal_at(const RayHit& hit) const;
};

// The normal of a corner is the mean of those of the triangles around it that are turned by less than
// `crease` [degrees] against its own. `group` (empty: all the same) keeps triangles of different groups apart
// whatever their angle.
SmoothMesh smooth(std::vector<Vec3f> vertices, Triangles triangles, double crease,
                  const std::vector<std::uint8_t>& group = {});

}  // namespace flotsam

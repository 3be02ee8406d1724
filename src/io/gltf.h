// Moving solids as one binary glTF file (.glb), for Blender, three.js and every other viewer.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/rotation.h"
#include "geometry/triangle_mesh.h"

namespace flotsam {

struct AnimatedSolid {
    std::string name;
    const TriangleMesh* mesh;   // in body coordinates
    Vec3 color{0.8, 0.8, 0.8};  // red, green and blue from 0 to 1, as a screen shows them
    std::vector<Pose> poses{};  // one per time, or a single one for all
};

// Edges sharper than 40 degrees stay sharp, others are shaded smoothly.
void write_gltf(const std::filesystem::path& file, const std::vector<AnimatedSolid>& solids,
                const std::vector<double>& times);

}  // namespace flotsam

// Surfaces and particles as binary PLY files, for Blender, Houdini, MeshLab and our own pictures.
#pragma once

#include <filesystem>
#include <vector>

#include "core/vec.h"
#include "geometry/surface_nets.h"

namespace flotsam {

// `velocity` of each vertex [m/s], for motion blur.
void write_ply(const std::filesystem::path& file, const SurfaceMesh& mesh,
               const std::vector<Vec3f>& velocity);

// Points at `position` [m] with `velocity` [m/s].
void write_ply(const std::filesystem::path& file, const std::vector<Vec3f>& position,
               const std::vector<Vec3f>& velocity);

// The content of a file written by write_ply. `triangles` is empty for particles.
struct PlyContent {
    SurfaceMesh mesh;
    std::vector<Vec3f> velocity;  // of each vertex [m/s]
};
// Throws IoError that says what is wrong with a file that cannot be read, is damaged or not one of ours.
PlyContent read_ply(const std::filesystem::path& file);

}  // namespace flotsam

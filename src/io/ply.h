// Surfaces and particles as binary PLY files, for Blender, Houdini, MeshLab and the like.
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

}  // namespace flotsam

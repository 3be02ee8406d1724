// Volumes as OpenVDB files.
#pragma once

#include <filesystem>

#include "fluid/grid/liquid.h"

namespace flotsam {

// Two grids on one transform (voxel (i, j, k) is our cell (i, j, k)):
//   distance  level set of the liquid, 3 cells to both sides [m]
//   velocity  staggered: each component on the low face of the voxel [m/s]
// `h` is the edge of a cell [m]. Equal states give equal files: OpenVDB's random identifier is replaced by a
// hash.
void write_vdb(const std::filesystem::path& file, const Field<double>& phi, const MacGrid& velocity,
               double h);

}  // namespace flotsam

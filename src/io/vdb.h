// Volumes as OpenVDB files.
#pragma once

#include <filesystem>

#include "fluid/grid/liquid.h"

namespace flotsam {

// Three grids on one transform (voxel (i, j, k) is our cell (i, j, k)):
//   distance  level set of the liquid, 3 cells to both sides [m]
//   velocity  staggered: each component on the low face of the voxel [m/s]
//   pressure  in the liquid, relative to the air [Pa]
// `h` is the edge of a cell [m]. Equal states give equal files: OpenVDB's random identifier is replaced by a
// hash.
void write_vdb(const std::filesystem::path& file, const Field<double>& phi, const MacGrid& velocity,
               const Field<double>& pressure, double h);

// The content of a file written by write_vdb; fields that the file does not hold are empty.
struct VolumeFrame {
    Field<double> distance;
    MacGrid velocity;
    Field<double> pressure;
};
// Throws IoError that says what is wrong with a file that cannot be read or is not of this domain.
VolumeFrame read_vdb(const std::filesystem::path& file, const Domain& domain);

}  // namespace flotsam

// Elastic solids as legacy VTK files, for ParaView: tetrahedra with stress and velocity.
#pragma once

#include <filesystem>

#include "world/world.h"

namespace flotsam {

// All elastic solids of a world in one unstructured grid: displacement and velocity of nodes; Cauchy stress,
// von Mises stress, determinant of the deformation and number of the solid for tetrahedra.
void write_tet_vtk(const std::filesystem::path& file, const World& world);

}  // namespace flotsam

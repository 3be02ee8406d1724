// Reads tetrahedral meshes from files that others made.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "geometry/tet_mesh.h"

namespace flotsam {

// Reads Gmsh .msh (text, format 2.2 or 4.1), legacy .vtk (text, unstructured grid), or TetGen: .node or .ele,
// the other of the two beside it. Only tetrahedra are taken (of those of second order the four corners), and
// only the nodes they use. Tetrahedra that all turn the other way are turned; other defects are left for
// tet_defect. Throws UserError that says what is wrong with the file and what to do.
TetMesh read_tet_mesh(const std::filesystem::path& file);

// The same for content in memory; `name` is what messages call it. A TetGen mesh has two contents.
TetMesh parse_msh(std::string_view content, std::string_view name);
TetMesh parse_vtk(std::string_view content, std::string_view name);
TetMesh parse_tetgen(std::string_view nodes, std::string_view elements, std::string_view name);

}  // namespace flotsam

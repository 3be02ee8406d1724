// Reads tetrahedral meshes from files of other programs.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "geometry/tet_mesh.h"

namespace flotsam {

// Reads Gmsh .msh (text, format 2.2 or 4.1), legacy .vtk (text, unstructured grid), or TetGen: .node or .ele,
// with the other of the two beside it. Only tetrahedra are taken (the four corners of second-order ones), and
// only the nodes they use. If all tetrahedra have the opposite orientation, they are turned; other defects
// are left for tet_defect. Throws UserError that says what is wrong with the file and what to do.
TetMesh read_tet_mesh(const std::filesystem::path& file);

// The same for content in memory; `name` is used in messages. A TetGen mesh has two contents.
TetMesh parse_msh(std::string_view content, std::string_view name);
TetMesh parse_vtk(std::string_view content, std::string_view name);
TetMesh parse_tetgen(std::string_view nodes, std::string_view elements, std::string_view name);

}  // namespace flotsam

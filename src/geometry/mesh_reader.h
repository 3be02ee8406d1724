// Reads triangle meshes from files of other programs.
#pragma once

#include <filesystem>
#include <string_view>

#include "geometry/triangle_mesh.h"

namespace flotsam {

// Reads .obj, .ply (text or binary) or .stl (text or binary); polygons become triangle fans; vertices closer
// than a millionth of the mesh's size are merged. Throws UserError that says what is wrong with the file and
// what to do.
TriangleMesh read_mesh(const std::filesystem::path& file);

// The same without merging: vertices and triangles as the file lists them, for comparison with other files.
TriangleMesh read_unmerged_mesh(const std::filesystem::path& file);

// As read_mesh, for a file's content in memory; `name` is used in messages, and its ending chooses the
// format.
TriangleMesh parse_mesh(std::string_view content, std::string_view name);

// Vertices of a file that are closer than this are merged [m].
double merging_distance(const TriangleMesh& mesh);

}  // namespace flotsam

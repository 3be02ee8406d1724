// Reads triangle meshes from files that others made.
#pragma once

#include <filesystem>
#include <string_view>

#include "geometry/triangle_mesh.h"

namespace flotsam {

// Reads .obj, .ply (text or binary) or .stl (text or binary); polygons become triangle fans; vertices closer
// than a millionth of the mesh's size are merged. Throws UserError that says what is wrong with the file and
// what to do.
TriangleMesh read_mesh(const std::filesystem::path& file);

// The same for a file's content in memory; `name` (its ending chooses the format) is what messages call it.
TriangleMesh parse_mesh(std::string_view content, std::string_view name);

}  // namespace flotsam

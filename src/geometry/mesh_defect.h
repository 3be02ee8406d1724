// Whether a mesh bounds a volume.
#pragma once

#include <string>

#include "geometry/triangle_mesh.h"

namespace flotsam {

// The reason why a closed mesh does not bound a volume, in words that complete "the mesh ..."; empty when it
// does: every edge belongs to two triangles that agree on which side is out, they face outwards, and no part
// overlaps another.
std::string mesh_defect(const TriangleMesh& mesh);

// Throws UserError, calling the mesh `name`, when it has holes.
void check_closed(const TriangleMesh& mesh, const std::string& name);

}  // namespace flotsam

// Signed distance to a closed triangle mesh.
#pragma once

#include <string>

#include "geometry/shape.h"
#include "geometry/triangle_mesh.h"

namespace flotsam {

// Sampled on voxels of `spacing` [m]. Throws UserError, calling the mesh `name`, when it is not closed, far
// too large, or too small to be seen.
ShapePtr mesh_distance(const TriangleMesh& mesh, const std::string& name, double spacing);

// A clean mesh around the volume that a closed mesh encloses, however its triangles face and overlap: the
// zero surface of that distance. Sharp edges are rounded, and parts thinner than `spacing` are lost.
TriangleMesh mesh_from_distance(const TriangleMesh& mesh, const std::string& name, double spacing);

}  // namespace flotsam

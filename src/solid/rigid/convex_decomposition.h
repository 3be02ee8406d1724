// Concave meshes as a few convex pieces.
#pragma once

#include <vector>

#include "geometry/convex_piece.h"
#include "geometry/triangle_mesh.h"

namespace flotsam {

// Cuts a closed mesh by planes along its axes, each time the part whose hull bulges most, where it helps
// most, until the hulls together are hardly larger than the mesh. Hollows stay hollow; pieces overlap in
// nothing but their cuts. Takes up to a few seconds. (Bullet's HACD groups triangles instead, and the hull of
// a hole's wall is a plug.)
std::vector<ConvexPiece> convex_decomposition(const TriangleMesh& mesh);

}  // namespace flotsam

// Concave meshes as a few convex pieces.
#pragma once

#include <vector>

#include "geometry/convex_piece.h"
#include "geometry/triangle_mesh.h"

namespace flotsam {

// Cuts a closed mesh by axis-aligned planes until the hulls of its parts are together hardly larger than the
// mesh. Each time it cuts the part whose hull exceeds it most, by the plane that helps most. Cavities stay
// hollow; pieces overlap in their cuts alone. Takes up to a few seconds. (Bullet's HACD groups triangles
// instead, and the hull of a hole's wall is a plug.)
std::vector<ConvexPiece> convex_decomposition(const TriangleMesh& mesh);

}  // namespace flotsam

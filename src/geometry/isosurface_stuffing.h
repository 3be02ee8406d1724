// Tetrahedra inside any closed surface, from its distance function alone [Labelle & Shewchuk 2007].
#pragma once

#include "geometry/shape.h"
#include "geometry/tet_mesh.h"

namespace flotsam {

// Fills a shape with tetrahedra whose edges are about `spacing` [m]: a body-centred cubic lattice, whose
// points move onto the surface where they are close to it, and whose tetrahedra are cut there otherwise.
// Parts thinner than `spacing` are lost; pieces that come off thereby are left out if they have less than a
// hundredth of the volume. Empty when no part of the shape is thick enough.
TetMesh stuff(const Shape& shape, double spacing);

}  // namespace flotsam

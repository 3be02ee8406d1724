// The surface of a liquid as triangles, by naive surface nets (Gibson 1998): one vertex for every cube of
// eight neighbouring samples with a change of sign, one quad for every pair of neighbouring samples with one.
//
// The liquid ends at the walls of the domain: beyond them every sample counts as outside, and the surface
// closes exactly on the wall. A vertex on a wall (edge, corner) is placed by the samples in the layer (row,
// cell) next to it, as if the surface met the wall at a right angle; so still liquid in a box is measured
// exactly.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/tiles.h"
#include "core/vec.h"

namespace flotsam {

struct SurfaceMesh {
    std::vector<Vec3f> vertices;                         // [m]
    std::vector<std::array<std::int32_t, 3>> triangles;  // counter-clockwise seen from outside
};

// The zero surface of `phi`, given at cell centres of edge `h` [m], negative inside. Closed: every edge
// belongs to two triangles, or to four where two pieces of liquid touch along an edge of cells. The same bits
// and the same order on any number of threads.
SurfaceMesh extract_surface(const Field<double>& phi, double h);

// Volume inside a closed surface [m^3].
double enclosed_volume(const SurfaceMesh& mesh);

}  // namespace flotsam

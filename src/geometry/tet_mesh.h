// Tetrahedral meshes as plain data, and functions of them.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/vec.h"
#include "geometry/triangle_mesh.h"

namespace flotsam {

using Tet = std::array<int, 4>;

struct TetMesh {
    std::vector<Vec3> nodes;  // [m]
    std::vector<Tet> tets;    // the first three nodes turn counter-clockwise seen from the fourth: volume > 0
};

double tet_volume(Vec3 a, Vec3 b, Vec3 c, Vec3 d);  // signed [m^3]
double volume(const TetMesh& mesh);                 // [m^3]

// The faces that belong to one tetrahedron only, facing outwards, by the mesh's node indices.
std::vector<Int3> surface_of(const TetMesh& mesh);

struct TetQuality {
    double smallest_angle = 0, largest_angle = 0;  // between two faces of a tetrahedron [deg]
    double smallest_volume = 0;                    // [m^3]
    double mean_edge = 0;                          // [m]
};
TetQuality quality(const TetMesh& mesh);

// The reason why a mesh is unfit for a body, with the indices of the first nodes or tetrahedra concerned, in
// words that complete "the mesh ..."; empty when it is fit. Parts that are not connected through faces are
// refused.
std::string tet_defect(const TetMesh& mesh);

// Cubes with `cells` of them along each axis between two corners, each divided into six tetrahedra around the
// same diagonal, so that neighbours match; the nodes are the cubes' corners [Zarifi17 Chapter 6].
TetMesh tet_lattice(Vec3 low, Vec3 high, Int3 cells);

// The tetrahedron that contains a point, and the point's weights in it; the nearest one for a point outside,
// where a weight is negative.
struct TetPlace {
    int tet = 0;
    std::array<double, 4> weight{};
};
std::vector<TetPlace> places_in(const TetMesh& mesh, const std::vector<Vec3>& points);

}  // namespace flotsam

// Tetrahedral meshes as plain data, and what can be asked of them.
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
    std::vector<Tet> tets;    // the fourth node lies on the side that the first three turn about: volume > 0
};

double tet_volume(Vec3 a, Vec3 b, Vec3 c, Vec3 d);  // signed [m^3]
double volume(const TetMesh& mesh);                 // [m^3]

// The faces that belong to one tetrahedron only, facing outwards, on the numbers of the mesh's nodes.
std::vector<Int3> surface_of(const TetMesh& mesh);

struct TetQuality {
    double smallest_angle = 0, largest_angle = 0;  // between two faces of a tetrahedron [deg]
    double smallest_volume = 0;                    // [m^3]
    double mean_edge = 0;                          // [m]
};
TetQuality quality(const TetMesh& mesh);

// What makes a mesh unfit for a body, with the numbers of the first nodes or tetrahedra that do, in words
// that complete "the mesh ..."; empty when nothing does. Parts that share no node are refused, and so are
// parts that hang together by less than a face.
std::string tet_defect(const TetMesh& mesh);

// Cubes with `cells` of them along each axis between two corners, each divided into six tetrahedra around
// the same diagonal: neighbours fit, and the nodes are those of the cubes [Zarifi17 Chapter 6].
TetMesh tet_lattice(Vec3 low, Vec3 high, Int3 cells);

// Which tetrahedron holds a point and with what weights; the nearest one for a point outside, where a weight
// is negative.
struct TetPlace {
    int tet = 0;
    std::array<double, 4> weight{};
};
std::vector<TetPlace> places_in(const TetMesh& mesh, const std::vector<Vec3>& points);

}  // namespace flotsam

// Triangle meshes as plain data, and functions of them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/vec.h"

namespace flotsam {

struct TriangleMesh {
    std::vector<Vec3> vertices;   // [m]
    std::vector<Int3> triangles;  // indices of vertices, counter-clockwise seen from outside
};

// The smallest box that holds every vertex; empty meshes give a point at the origin.
Box bounds(const TriangleMesh& mesh);

// Merges vertices closer than `tolerance` [m] and drops triangles that thereby lose an edge. Formats like STL
// repeat a vertex for every triangle; without this no two triangles would share an edge.
TriangleMesh weld(const TriangleMesh& mesh, double tolerance);

// Which vertices to merge: for every vertex its index afterwards.
std::vector<int> merged_numbers(const std::vector<Vec3>& vertices, double tolerance);
// Merges vertices with the same new index, and drops triangles that thereby lose an edge.
TriangleMesh merged(const TriangleMesh& mesh, const std::vector<int>& number);

// Edges with an odd number of triangles: 0 for a closed mesh.
std::int64_t boundary_edge_count(const TriangleMesh& mesh);

double surface_area(const TriangleMesh& mesh);     // [m^2]
double enclosed_volume(const TriangleMesh& mesh);  // [m^3], negative when the triangles face inwards

}  // namespace flotsam

// Animated meshes: one list of triangles whose corners move from file to file.
#pragma once

#include <filesystem>
#include <vector>

#include "geometry/triangle_mesh.h"

namespace flotsam {

struct MeshSequence {
    std::vector<Int3> triangles;              // the same in every file
    std::vector<std::vector<Vec3>> vertices;  // of each file [m]
    double rate = 24;                         // files per second
    bool loop = false;  // goes from the last file back to the first; otherwise the last one stays
};

// Reads files that must have the same vertices and triangles, and bound a volume each. Throws UserError that
// names the first file that does not, and says why.
MeshSequence read_mesh_sequence(const std::vector<std::filesystem::path>& files, double scale);

// Vertices move linearly from file to file; the first file is at time 0.
std::vector<Vec3> vertices_at(const MeshSequence& sequence, double time);

// The fastest vertex between two times [m/s].
double largest_speed(const MeshSequence& sequence, double from, double until);

// A box that holds every file.
Box bounds(const MeshSequence& sequence);

}  // namespace flotsam

// Displacements of particles that their velocities do not explain.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/vec.h"

namespace flotsam {

// Walls and solids push particles aside, and reseeding moves them. No force accounts for these displacements,
// so they are recorded.
struct Displaced {
    std::int64_t count = 0;
    double distance = 0, farthest = 0;  // of all particles; of one [m]
    Vec3 way;                           // sum of the displacements [m]
    Vec3 velocity;                      // sum of the velocity changes [m/s]

    // Displacements up to `least` [m] only keep a particle clear of a surface and are ignored.
    void add(Vec3 by, double least = 0) {
        const double length_of_way = length(by);
        if (length_of_way <= least) return;
        ++count;
        distance += length_of_way;
        farthest = std::max(farthest, length_of_way);
        way += by;
    }
    Displaced& operator+=(const Displaced& o) {
        count += o.count;
        distance += o.distance;
        farthest = std::max(farthest, o.farthest);
        way += o.way;
        velocity += o.velocity;
        return *this;
    }
};

}  // namespace flotsam

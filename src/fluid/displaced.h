// Particles that are somewhere else than their velocity takes them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/vec.h"

namespace flotsam {

// Walls and solids push particles aside, reseeding takes them elsewhere. No force does that, so it is
// counted.
struct Displaced {
    std::int64_t count = 0;
    double distance = 0, farthest = 0;  // of all together; of one [m]
    Vec3 way;                           // sum of the ways [m]
    Vec3 velocity;                      // sum of what their velocities changed by [m/s]

    // Less than `least` [m] is no more than keeping clear of a surface.
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

// The convex pieces of a body, for contact with others.
#pragma once

#include <vector>

#include "core/rotation.h"
#include "core/vec.h"

namespace flotsam {

struct ConvexPiece {
    enum class Kind { sphere, box, capsule, cylinder, cone, hull };
    Kind kind = Kind::sphere;
    Pose pose;  // from the piece's own coordinates to the body's; axes of symmetry along y
    // Half the edges of a box; {radius, half the length, .} of a capsule (between its caps' centres), a
    // cylinder or a cone (tip up); {radius, ., .} of a sphere. [m]
    Vec3 half;
    std::vector<Vec3> points;  // of a hull [m]
};

// A few points whose hull is nearly the hull of all: the farthest ones in evenly spread directions.
std::vector<Vec3> outermost_points(const std::vector<Vec3>& points);

}  // namespace flotsam

// Motion that is told beforehand.
#pragma once

#include <vector>

#include "core/rotation.h"

namespace flotsam {

// Where a scripted solid is at a time.
struct Keyframe {
    double time = 0;  // [s]
    Pose pose;
};

struct Script {
    std::vector<Keyframe> keyframes;  // by time, at least one or none; then velocity and spin do not count
    bool smooth = false;              // ease in and out between keyframes instead of moving uniformly
    Vec3 velocity;                    // constant [m/s]
    Vec3 spin;                        // constant angular velocity about its position [rad/s]
};

Pose pose_at(const Script& script, const Pose& start, double time);

}  // namespace flotsam

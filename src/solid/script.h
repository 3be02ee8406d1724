// Prescribed motion.
#pragma once

#include <vector>

#include "core/rotation.h"

namespace flotsam {

// The pose of a scripted solid at a time.
struct Keyframe {
    double time = 0;  // [s]
    Pose pose;
};

struct Script {
    std::vector<Keyframe> keyframes;  // sorted by time; if there are any, velocity and spin are ignored
    bool smooth = false;              // ease in and out between keyframes instead of moving uniformly
    Vec3 velocity;                    // constant [m/s]
    Vec3 spin;                        // constant angular velocity about its position [rad/s]
};

Pose pose_at(const Script& script, const Pose& start, double time);

}  // namespace flotsam

// Solids that move as they are told: at rest or by a script.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/rotation.h"
#include "geometry/solid_shape.h"

namespace flotsam {

// How a solid moves; a method's capabilities say which of these it admits.
enum class Motion { fixed, scripted, rigid, elastic, cloth };

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

struct Solid {
    std::string name;
    Motion motion = Motion::fixed;
    SolidShape shape;
    Pose start;
    Script script;
    double slip = 1;              // as of a wall
    std::optional<Vec3> color{};  // in pictures: red, green and blue from 0 to 1, as a screen shows them
};

Pose pose_at(const Solid& solid, double time);

// Upper bound of the speed of any of its points between two times [m/s].
double largest_speed(const Solid& solid, double from, double until);

}  // namespace flotsam

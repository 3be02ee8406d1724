// Joints between two solids, or a solid and the world.
#pragma once

#include <limits>
#include <string>

#include "core/rotation.h"

namespace flotsam {

constexpr int the_world = -1;  // in place of a solid: walls, and the fixed side of joints

struct Joint {
    enum class Kind {
        fixed,   // no relative motion
        hinge,   // turns about its axis
        slider,  // slides along its axis, without turning
        ball,    // turns every way about a point
        spring,  // pulls two points together or apart
    };
    std::string name;
    Kind kind = Kind::fixed;
    int a = the_world, b = the_world;  // solids
    // The joint's frame in the coordinates of each solid (world coordinates for the world); x is the axis.
    // The frames coincide when the joint is at rest; a spring uses the positions alone, as its ends.
    Pose frame_a, frame_b;
    // How far a may turn [rad] or slide [m] against b from there; a turn counts from -pi to pi.
    double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
    double motor_speed = 0, motor_torque = 0;            // of a hinge: [rad/s], at most [N m]
    double stiffness = 0, damping = 0, rest_length = 0;  // of a spring [N/m], [N s/m], [m]
};

}  // namespace flotsam

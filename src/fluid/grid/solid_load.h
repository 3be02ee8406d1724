#pragma once

#include "core/vec.h"

namespace flotsam {

// Load of the liquid on a solid.
struct SolidLoad {
    Vec3 force;              // [N]
    Vec3 torque;             // about the solid's position [N m]
    double wetted_area = 0;  // [m^2]
};

}  // namespace flotsam

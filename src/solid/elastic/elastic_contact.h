// Where nodes of elastic bodies touch something, as terms of the step's energy.
#pragma once

#include <array>
#include <vector>

#include "linalg/block_matrix.h"
#include "solid/elastic/elastic_body.h"
#include "solid/rigid/rigid_body.h"

namespace flotsam {

// A rigid body that elastic ones push: two unknown blocks, the velocity of its centre and its spin.
struct RigidPartner {
    int solid = 0;
    Vec3 center;
    Mat3 mass, inertia;  // in world axes
    Twist free;          // without contacts
    Twist motion;        // with them; the result
};

// A spring that acts only while the gap at the end of the step is negative, and friction across it.
struct ElasticContact {
    BlockRow normal;                    // gap rate = normal . velocities + drift
    double gap = 0;                     // now [m]
    double drift = 0;                   // by what moves on its own [m/s]
    double stiffness = 0;               // [N/m]
    std::array<BlockRow, 2> tangent{};  // sliding = tangent . velocities + slide
    std::array<double, 2> slide{};      // [m/s]
    double friction = 0;
};

}  // namespace flotsam

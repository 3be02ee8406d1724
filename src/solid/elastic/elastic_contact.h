// Where elastic bodies touch something, or may touch within a step, as terms of the step's energy.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "core/rotation.h"
#include "geometry/shape.h"
#include "linalg/block_matrix.h"
#include "solid/elastic/elastic_body.h"

namespace flotsam {

// A rigid body that elastic ones push: two unknown blocks, the velocity of its centre and its spin.
struct RigidPartner {
    int solid = 0;
    Vec3 center;
    Mat3 mass, inertia;  // in world axes
    Twist free;          // without elastic contacts
    Twist motion;        // with them; the result
};

// A spring that acts only while the gap at the end of the step is negative, and friction across it.
struct ElasticContact {
    BlockRow normal;                    // gap rate = normal . velocities + drift
    double gap = 0;                     // now [m]
    double drift = 0;                   // gap rate due to prescribed motion [m/s]
    double stiffness = 0;               // [N/m]
    std::array<BlockRow, 2> tangent{};  // sliding = tangent . velocities + slide
    std::array<double, 2> slide{};      // [m/s]
    double friction = 0;
};

// An obstacle that is not elastic: its motion is prescribed, or it is a partner.
struct ContactObstacle {
    ShapePtr shape;  // in body coordinates
    Pose pose;
    Twist motion;  // about the pose's position
    const TriangleMesh* mesh =
        nullptr;  // its surface, whose corners meet the elastic bodies' faces; may be null
    double friction = 0.5;
    int partner = -1;  // number of the RigidPartner, or -1
};

// Contacts that can occur within `dt`: of nodes with the closed sides of a box, with obstacles and with each
// other's surfaces, and of the obstacles' corners with the bodies' surfaces. The path of a node is traced, so
// that it finds surfaces that it would pass through. A body does not meet itself. Blocks are numbered as
// ElasticStepper does: nodes body after body, then two blocks for each partner.
struct ContactScene {
    Box sides;
    std::array<bool, 6> closed{};   // low x, high x, low y, ...
    std::array<bool, 6> mirrors{};  // closed sides without friction: a body meets its image there
    std::vector<ContactObstacle> obstacles{};
    std::vector<double> friction{};  // of each elastic body
    Vec3 gravity{};
};
std::vector<ElasticContact> find_contacts(const std::vector<ElasticBody>& bodies,
                                          const std::vector<RigidPartner>& partners,
                                          const ContactScene& scene, double dt);

}  // namespace flotsam

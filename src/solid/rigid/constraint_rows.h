// Contacts and joints as constraint rows: each prescribes one linear combination of velocities, or bounds it
// from one side.
#pragma once

#include <limits>
#include <vector>

#include "solid/rigid/contact.h"
#include "solid/rigid/joint.h"
#include "solid/rigid/rigid_body.h"

namespace flotsam {

// What rows act on: bodies by their index, all other solids by their pose and prescribed motion.
struct RigidSystem {
    const std::vector<RigidBody>& bodies;
    const std::vector<PlacedSolid>& placed;  // all solids of the scenario, before this step's forces

    int body_of(int solid) const;  // -1 for a solid that no impulse moves
    Vec3 center(int solid) const;  // of mass, or any point of a solid that no impulse moves
    Vec3 velocity_at(int solid, Vec3 point) const;
    Vec3 last_velocity_at(int solid, Vec3 point) const;  // before this step's forces
    Vec3 spin(int solid) const;
    Pose pose(int solid) const;
};

// linear . (v_a - v_b) + angular_a . spin_a - angular_b . spin_b + softness x impulse = target, as far as the
// impulse's bounds allow.
struct Row {
    int a = -1, b = -1;  // bodies, or -1
    Vec3 linear, angular_a, angular_b;
    double target = 0;    // minus the velocities of sides that no impulse moves
    double softness = 0;  // [1/kg]
    double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};

// The normal row of a contact and two tangential ones.
struct ContactRows {
    Row normal, across[2];
};
ContactRows contact_rows(const RigidSystem& system, const Contact& contact);

// The rows of a joint. First the equality constraints with their position errors (`error`, in the row's units
// times seconds); then limits, motors and springs, which have none.
struct JointRows {
    std::vector<Row> rows;
    std::vector<double> error;  // of the first rows
};
JointRows joint_rows(const RigidSystem& system, const Joint& joint, double dt);

}  // namespace flotsam

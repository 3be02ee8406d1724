// Impulses of contacts and joints.
//
// Projected Gauss-Seidel with conjugate directions (Silcowitz-Hansen, Niebe, Erleben 2010), in a fixed order,
// starting from zero or from an earlier result of the same step: the same bits for the same input. Impulses
// are equal and opposite whether it has converged or not.
#pragma once

#include <vector>

#include "solid/rigid/constraint_rows.h"
#include "solid/rigid/contact.h"
#include "solid/rigid/joint.h"
#include "solid/rigid/rigid_body.h"

namespace flotsam {

struct ContactImpulses {
    std::vector<Impulse> on_body;      // what each body receives, in the order of the bodies
    std::vector<Impulse> but_held;     // of it, all but what holds joints together
    std::vector<double> held_targets;  // of the rows that hold joints together, as in `held_rows`
    std::vector<Vec3> on_a;            // of each contact on its solid a; b receives the opposite [kg m/s]
    std::vector<double> on_row;        // of each row of joints and contacts, to start from again
    int sweeps = 0;
    double last_change = 0;  // of any row's velocity in the last sweep [m/s or rad/s]
};

// How much work to spend.
struct ContactEffort {
    // Single contacts need some 20 sweeps. Bending of a stack is what converges last: ten crates that stand
    // untidily creep 0.9 % of their size in 10 s with 200.
    int most_sweeps = 400;
    // The result for the same contacts and joints of bodies that moved a little differently.
    const ContactImpulses* start = nullptr;
};

// The impulses of contacts and joints on bodies whose velocities include every other force of the step.
// Afterwards
//   - no contact closes by more than its distance within `dt`, or it rebounds from its `approach`,
//   - friction stays within Coulomb's cone and brakes sliding as far as it can,
//   - joint errors are unchanged after `dt` of free motion (so a pendulum loses no energy),
// up to the tolerance. Overlap and open joints are not repaired here: that would add spurious velocity. The
// bodies are not changed; `apply_impulses` does that.
ContactImpulses solve_contacts(const std::vector<RigidBody>& bodies, const std::vector<PlacedSolid>& placed,
                               const std::vector<Contact>& contacts, const std::vector<Joint>& joints,
                               double dt, const ContactEffort& effort = {});
void apply_impulses(std::vector<RigidBody>& bodies, const ContactImpulses& impulses);

// The rows that hold joints together, without bounds, as they are now. Their targets: so that joint errors
// are unchanged after `dt` of free motion with the bodies' velocities.
std::vector<Row> held_rows(const std::vector<RigidBody>& bodies, const std::vector<PlacedSolid>& placed,
                           const std::vector<Joint>& joints, double dt);

// Pushes overlapping bodies apart and open joints together, by a part of their error. Changes poses only.
void repair_positions(std::vector<RigidBody>& bodies, const std::vector<PlacedSolid>& placed,
                      const std::vector<Contact>& contacts, const std::vector<Joint>& joints);

}  // namespace flotsam

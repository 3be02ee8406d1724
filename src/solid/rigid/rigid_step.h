// Rigid bodies without any fluid: for tests, validation and scenes without liquid.
#pragma once

#include <vector>

#include "solid/rigid/contact.h"
#include "solid/rigid/solve_contacts.h"

namespace flotsam {

// Moves by half a step, applies gravity, contacts and joints there, and moves by the other half with the new
// velocities. Returns the impulses of contacts and joints.
ContactImpulses step_rigid(std::vector<RigidBody>& bodies, const std::vector<Solid>& solids,
                           const std::vector<Joint>& joints, const ContactShapes& shapes,
                           const ContactWalls& walls, Vec3 gravity, double time, double dt);

}  // namespace flotsam

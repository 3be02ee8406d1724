#include "solid/rigid/rigid_step.h"

namespace flotsam {

ContactImpulses step_rigid(std::vector<RigidBody>& bodies, const std::vector<Solid>& solids,
                           const std::vector<Joint>& joints, const ContactShapes& shapes,
                           const ContactWalls& walls, Vec3 gravity, double time, double dt) {
    for (RigidBody& body : bodies) advance(body, 0.5 * dt);
    const std::vector<PlacedSolid> placed = place_solids(solids, bodies, time + 0.5 * dt, dt);
    const std::vector<Contact> contacts = shapes.find(placed, walls, dt, length(gravity) * dt * dt);
    for (RigidBody& body : bodies) apply_impulse(body, {gravity * (body.mass * dt), {}});
    ContactImpulses impulses = solve_contacts(bodies, placed, contacts, joints, dt);
    apply_impulses(bodies, impulses);
    repair_positions(bodies, placed, contacts, joints);
    for (RigidBody& body : bodies) advance(body, 0.5 * dt);
    return impulses;
}

}  // namespace flotsam

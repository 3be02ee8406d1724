// Elastic bodies within a step of a scheme: what they can touch, and their motion where there is no liquid.
#pragma once

#include "solid/elastic/elastic_step.h"
#include "world/world.h"

namespace flotsam {

// The rigid bodies as contact partners of elastic ones; partner b is body b.
std::vector<RigidPartner> rigid_partners(const std::vector<RigidBody>& bodies,
                                         const std::vector<BodySupport>& support, Vec3 gravity, double dt);

// The solids that elastic bodies can touch from `time` on; `bodies` are the rigid ones at that time.
struct ContactSurroundings {
    ContactScene scene;
    std::vector<TriangleMesh> meshes;  // of solids that deform by a script; the scene points to them
};
ContactSurroundings contact_surroundings(const Scenario& scenario, const std::vector<RigidBody>& bodies,
                                         const std::vector<ElasticBody>& elastics,
                                         const std::vector<RigidPartner>& partners, double time, double dt);

std::vector<const ElasticProperties*> elastic_properties(const Scenario& scenario,
                                                         const std::vector<ElasticBody>& bodies);

class ElasticPhase {
  public:
    // Writes next.elastics from now.elastics. `pushed` gets the impulse on each rigid body.
    ElasticReport step(const World& now, World& next, const StepContext& ctx, std::vector<Impulse>& pushed);

  private:
    ElasticStepper stepper_;  // keeps only data derived from the meshes
};

}  // namespace flotsam

// Elastic bodies within a step of a scheme: they move, and push the rigid ones that they touch.
#pragma once

#include "solid/elastic/elastic_step.h"
#include "world/world.h"

namespace flotsam {

class ElasticPhase {
  public:
    // Writes next.elastics from now.elastics. `pushed` gets the impulse on each rigid body.
    ElasticReport step(const World& now, World& next, const StepContext& ctx, std::vector<Impulse>& pushed);

  private:
    ElasticStepper stepper_;  // only what follows from the meshes
};

}  // namespace flotsam

// What changed hands during a step, written down the same way by every method.
#pragma once

#include "fluid/grid/sources.h"
#include "solid/elastic/elastic_step.h"
#include "world/world.h"

namespace flotsam {

// What the rigid bodies received in a step that ends with `next`: from contacts and joints, and from elastic
// bodies that push them.
BodyLedger body_ledger(const std::vector<RigidBody>& before, const World& next,
                       const std::vector<Impulse>& contact, const std::vector<Impulse>& elastic, Vec3 gravity,
                       double dt);

// Adds what the bodies made of springs received.
void add_springs(BodyLedger& ledger, const World& now, const World& next, const std::vector<Impulse>& contact,
                 Vec3 gravity, double dt);

// Adds what the elastic bodies received in a step that gave them the velocities of `next`.
void add_elastic(BodyLedger& ledger, const World& now, const World& next,
                 const std::vector<ElasticReceived>& all, const Scenario& scenario, double dt);

// Closes the ledger of a liquid on the grid, whose other impulses are known: what came, what went, gravity,
// and what none of this explains. To be called after all that moves particles, so that nothing escapes it.
void close_ledger(StepLedger& ledger, const LiquidState& liquid, const Scenario& scenario, const Exchange& in,
                  const Exchange& out, Vec3 momentum_before, double dt);

}  // namespace flotsam

// The balance of momentum and liquid in a step, recorded in the same way by every method.
#pragma once

#include "fluid/grid/sources.h"
#include "solid/elastic/elastic_step.h"
#include "world/world.h"

namespace flotsam {

// Impulses on the rigid bodies in a step that ends with `next`; `contact` are those of contacts and joints,
// `elastic` those of elastic bodies.
BodyLedger body_ledger(const std::vector<RigidBody>& before, const World& next,
                       const std::vector<Impulse>& contact, const std::vector<Impulse>& elastic, Vec3 gravity,
                       double dt);

// Adds the impulses on bodies made of springs.
void add_springs(BodyLedger& ledger, const World& now, const World& next, const std::vector<Impulse>& contact,
                 Vec3 gravity, double dt);

// Adds the impulses on elastic bodies in a step that gave them the velocities of `next`.
void add_elastic(BodyLedger& ledger, const World& now, const World& next,
                 const std::vector<ElasticReceived>& all, const Scenario& scenario, double dt);

// Completes the ledger of a liquid on the grid, whose other impulses are known: inflow, outflow, gravity, and
// the unaccounted rest. Call it after everything that moves particles, so that nothing escapes it.
void close_ledger(StepLedger& ledger, const LiquidState& liquid, const Scenario& scenario, const Exchange& in,
                  const Exchange& out, Vec3 momentum_before, double dt);

}  // namespace flotsam

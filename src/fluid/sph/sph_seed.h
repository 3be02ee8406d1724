// The particles that a scene's liquid starts with.
#pragma once

#include "fluid/grid/liquid.h"
#include "fluid/sph/kernel_cover.h"
#include "fluid/sph/sph_liquid.h"

namespace flotsam {

// Equilibrium distances of the layers of a liquid column from a closed floor [m].
std::vector<double> resting_column(int layers, const SphModel& model, const PlaneCover& floor,
                                   double gravity);

// Seeds particles on the lattice of liquid at rest: jitter would be noise in the pressure. Where fills
// overlap, the first one counts. Liquid that stands on a closed side of the domain, with gravity along an
// axis, starts compressed by its own weight: otherwise it would fall into that state and oscillate for
// seconds.
SphLiquid seed_sph(const Domain& domain, const LiquidSettings& settings, const SphModel& model,
                   const PlaneCover& floor, Vec3 gravity);

struct SphExchange {
    std::int64_t count = 0;
    Vec3 velocity_sum;  // of the particles concerned [m/s]
};
// Adds the particles that enter through emitters between `time` and `time + dt`: a lattice travels with the
// emitter's velocity, and every point that comes into its region becomes a particle unless one is there
// already. Particles inside the region take the emitter's velocity. With dt = 0: fills the emitters that are
// open at the start.
SphExchange emit_sph(SphLiquid& liquid, const LiquidSettings& settings, const Domain& domain,
                     const SphModel& model, double time, double dt);
// Removes particles inside sinks at `time` and beyond the domain's open sides.
SphExchange drain_sph(SphLiquid& liquid, const LiquidSettings& settings, const Domain& domain, double time);

void remove_particles(SphLiquid& liquid, const std::vector<char>& dead);

}  // namespace flotsam

// The particles that a scene's liquid starts with.
#pragma once

#include "fluid/grid/liquid.h"
#include "fluid/sph/kernel_cover.h"
#include "fluid/sph/sph_liquid.h"

namespace flotsam {

// Where the layers of a column of liquid come to rest over a closed floor: their distances from it [m].
std::vector<double> resting_column(int layers, const SphModel& model, const PlaneCover& floor,
                                   double gravity);

// On a lattice, which is how they lie at rest: jitter would be noise in the pressure. Where fills overlap,
// the first one counts. Liquid that stands on a closed side of the domain, with gravity along an axis, starts
// as its own weight has compressed it: otherwise it would fall into that state and ring for seconds.
SphLiquid seed_sph(const Domain& domain, const LiquidSettings& settings, const SphModel& model,
                   const PlaneCover& floor, Vec3 gravity);

struct SphExchange {
    std::int64_t count = 0;
    Vec3 velocity_sum;  // of the particles concerned [m/s]
};
// Adds what enters through emitters between `time` and `time + dt`: a lattice travels with the emitter's
// velocity, and every point that comes into its region becomes a particle unless one is there already.
// Particles inside the region take the emitter's velocity. With dt = 0: what is there when it opens.
SphExchange emit_sph(SphLiquid& liquid, const LiquidSettings& settings, const Domain& domain,
                     const SphModel& model, double time, double dt);
// Removes particles inside sinks at `time` and beyond the domain's open sides.
SphExchange drain_sph(SphLiquid& liquid, const LiquidSettings& settings, const Domain& domain, double time);

void remove_particles(SphLiquid& liquid, const std::vector<char>& dead);

}  // namespace flotsam

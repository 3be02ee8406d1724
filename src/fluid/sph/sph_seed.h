// The particles that a scene's liquid starts with.
#pragma once

#include "fluid/grid/liquid.h"
#include "fluid/sph/sph_liquid.h"

namespace flotsam {

// On a lattice, which is how they lie at rest: jitter would be noise in the pressure. Where fills overlap,
// the first one counts. Liquid that stands on a closed side of the domain starts with the pressure of its
// depth: otherwise it would fall into that state and ring for seconds.
SphLiquid seed_sph(const Domain& domain, const LiquidSettings& settings, const SphModel& model, Vec3 gravity);

void remove_particles(SphLiquid& liquid, const std::vector<char>& dead);

}  // namespace flotsam

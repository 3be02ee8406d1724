// penalty: the liquid of direct-forcing, kept off solids by forces that grow as it comes near.
//
// clang-format off
// Paper box
//   [Monaghan05] Monaghan, "Smoothed particle hydrodynamics" (Reports on Progress in Physics 68, 2005), Section 8.3.
//   What [Becker09] compares its control forces with (Section 6.1). The liquid is the same: see direct_forcing.h.
//   Gamma(y)    force per mass at a distance y from the boundary    penalty_acceleration
// Where the code deviates, and why
//   - The paper weights boundary particles by how far they are to the side, so that their sum is even along a
//     straight row. Samples here lie half a radius apart and the nearest one counts alone, which is even too.
//   - Its length is the particle's radius and not the smoothing length: particles then rest about a radius from
//     the surface, as those of direct-forcing do, and the two can be compared.
//   - Closer than a fifth of the radius the force grows no further; it would be infinite at the surface.
//   - Slip and restitution of solids and walls have no effect.
// clang-format on
#pragma once

#include "coupling/sph_boundary.h"

namespace flotsam {

// The acceleration of a particle away from a boundary at a distance y [m/s^2].
double penalty_acceleration(const SphModel& model, double y);

class Penalty final : public SphScheme {
  public:
    Penalty() : SphScheme(2) {}  // the force ends two radii away
    Capabilities capabilities() const override;
    StepReport step(const World& now, World& next, const StepContext& ctx) override;
};

}  // namespace flotsam

// Wall friction: slip below 1.
#pragma once

#include "fluid/grid/obstacles.h"

namespace flotsam {

// Slows the tangential velocity of liquid beside closed sides: a side with slip s leaves the share s^(24 dt)
// of it, the same over a given time whatever the time step. Returns the impulse on the liquid [kg m/s].
Vec3 apply_wall_friction(MacGrid& u, const Field<double>& phi, const Obstacles& obstacles,
                         const Domain& domain, const Rubbing& rubbing);

}  // namespace flotsam

// Advection of the liquid by a velocity field.
#pragma once

#include "fluid/displaced.h"
#include "fluid/grid/liquid.h"
#include "fluid/grid/obstacles.h"

namespace flotsam {

// Moves every particle by the midpoint rule with its own velocity and gradient (APIC). As accurate as
// sampling the grid and much cheaper, as long as the particle has not moved since the transfer from the grid.
// Returns the displacements by obstacles and sides.
Displaced advance_by_own_velocity(Particles& particles, const Domain& domain, double dt,
                                  const std::vector<Obstacle>& obstacles = {});

// Moves every particle along `u` for dt by the midpoint rule [Zarifi17 4.5, Eq. 4.29-4.30 forwards]. Closed
// sides stop particles; those that pass an open side are left outside, for `drain`. Particles slide along
// obstacles. Returns the displacements by obstacles and sides.
Displaced advance_particles(Particles& particles, const MacGrid& u, const Domain& domain, double dt,
                            const std::vector<Obstacle>& obstacles = {});

// Self-advection of the velocity, at the faces of `tiling`: semi-Lagrangian, midpoint [Zarifi17 Eq.
// 4.27-4.30].
MacGrid advect_velocity(const MacGrid& u, const Domain& domain, const std::shared_ptr<const Tiling>& tiling,
                        double dt);

}  // namespace flotsam

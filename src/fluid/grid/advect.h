// Carrying the liquid along a velocity field.
#pragma once

#include "fluid/displaced.h"
#include "fluid/grid/liquid.h"
#include "fluid/grid/obstacles.h"

namespace flotsam {

// Moves every particle by its own velocity and slope (APIC), the midpoint rule again: as good as reading the
// grid again, as long as the particle has not moved since it took them from there, and much cheaper. Returns
// those that obstacles and sides sent elsewhere.
Displaced advance_by_own_velocity(Particles& particles, const Domain& domain, double dt,
                                  const std::vector<Obstacle>& obstacles = {});

// Moves every particle along `u` for dt by the midpoint rule [Zarifi17 4.5, Eq. 4.29-4.30 forwards]. Closed
// sides stop particles; those that pass an open side are left outside, for remove_outside.
// They slide along obstacles. Returns those that obstacles and sides sent elsewhere.
Displaced advance_particles(Particles& particles, const MacGrid& u, const Domain& domain, double dt,
                            const std::vector<Obstacle>& obstacles = {});

// Velocity at the faces of `tiling` carried along itself: semi-Lagrangian, midpoint [Zarifi17 Eq. 4.27-4.30].
MacGrid advect_velocity(const MacGrid& u, const Domain& domain, const std::shared_ptr<const Tiling>& tiling,
                        double dt);

}  // namespace flotsam

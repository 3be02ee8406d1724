// Transfer of velocity between particles and grid.
#pragma once

#include "fluid/grid/particles.h"

namespace flotsam {

// Velocity on the faces as the mean of the particles around them, weighted trilinearly; with APIC each
// particle contributes v + C (x_face - x). Faces that no particle reaches take the mean of their neighbours.
MacGrid particles_to_grid(const Particles& particles, const CellRanges& cells, const Domain& domain,
                          const std::shared_ptr<const Tiling>& tiling);

// APIC: particles take velocity and gradient from the grid.
void grid_to_particles_apic(Particles& particles, const CellRanges& cells, const MacGrid& u,
                            const Domain& domain);

// FLIP/PIC: particles take flip_share of the change on the grid and the rest of the grid's velocity itself.
void grid_to_particles_flip(Particles& particles, const CellRanges& cells, const MacGrid& u,
                            const MacGrid& change, const Domain& domain, double flip_share);

// Momentum of the liquid, each particle of mass `mass` [kg m/s]. Massless markers move as `u` does.
Vec3 momentum(const Particles& particles, const MacGrid& u, const Domain& domain, double mass);

}  // namespace flotsam

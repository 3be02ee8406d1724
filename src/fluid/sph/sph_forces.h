// What particles of the liquid do to each other: sums over all pairs nearer than the kernel reaches.
//
// Pairs are computed several at a time in single precision. What a does to b is computed once for each of
// them, by the same instructions on operands that are equal or opposite: so both find exactly opposite
// forces, and momentum is lost only to the rounding of each particle's own sum.
#pragma once

#include <vector>

#include "fluid/sph/sph_cells.h"
#include "fluid/sph/sph_liquid.h"

namespace flotsam {

// Sorts the particles by cell, so that the sums below may be taken.
void sort_by_cell(SphLiquid& liquid, SphCells& cells);

// The kernel's sum of volumes at every particle: 1 inside resting liquid, less where neighbours are missing.
// Needs sorted particles, as all below.
std::vector<float> kernel_sums(const SphLiquid& liquid, const SphCells& cells, const SphModel& model);

// The density: the kernel's sum over the particles, divided by what it is for resting liquid in the same
// place. That is the share `open` of the kernel that walls and solids leave to the liquid [Becker09 Eq. 2].
void find_density(SphLiquid& liquid, const SphCells& cells, const SphModel& model,
                  const std::vector<float>& open);

// Accelerations by pressure and artificial viscosity, without gravity [Becker09 Eq. 4-6] [m/s^2].
void pair_accelerations(const SphLiquid& liquid, const SphCells& cells, const SphModel& model,
                        std::vector<Vec3f>& acceleration);

// The longest stable step: sound crosses 0.4 smoothing lengths, a little less where viscosity is strong
// (Monaghan 2005) [s].
double sound_dt(const SphModel& model);

}  // namespace flotsam

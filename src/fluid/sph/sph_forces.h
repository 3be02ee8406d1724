// Forces between the particles of the liquid: sums over all pairs within the kernel's reach.
//
// Each pair is computed once, several at a time in single precision, and counts for both particles with
// opposite signs: momentum is lost only to the rounding of each particle's own sum.
#pragma once

#include <vector>

#include "fluid/sph/sph_cells.h"
#include "fluid/sph/sph_liquid.h"

namespace flotsam {

// Particle data for the pair sums, as a structure of arrays.
struct SphColumns {
    // Positions as integers in units of about a millionth of the spacing: differences are exact wherever in
    // the domain a pair is, and short ones are exact in single precision.
    std::vector<std::int32_t> x, y, z;
    std::vector<float> vx, vy, vz;     // [m/s]
    std::vector<float> density, term;  // rho [kg/m^3] and P / rho^2 over the open share
    std::vector<float> ax, ay, az;     // the sums: acceleration [m/s^2]
    // The kernel's sum; it is no longer needed when accelerations are summed.
    std::vector<float>& sum() { return ax; }

    Vec3f acceleration(std::int64_t i) const { return {ax[i], ay[i], az[i]}; }
    std::int64_t bytes() const { return std::int64_t(11 * sizeof(float) * x.size()); }
};

// Sorts the particles by cell, as the sums below require.
void sort_by_cell(const SphLiquid& liquid, SphCells& cells, SphLiquid& sorted);

// Fills the columns' positions and velocities. Needs sorted particles, as the sums below do.
void fill_columns(const SphLiquid& liquid, const SphModel& model, SphColumns& columns);

// The kernel's sum of volumes at every particle: 1 inside resting liquid, less where neighbours are missing.
void sum_kernel(SphColumns& columns, const SphCells& cells, const SphModel& model);

// The density: the kernel's sum over the particles, divided by its value for resting liquid in the same
// place: the share `open` of the kernel that walls and solids leave open [Becker09 Eq. 2].
void find_density(SphLiquid& liquid, SphColumns& columns, const SphCells& cells, const SphModel& model,
                  const std::vector<float>& open);

// Accelerations by pressure and artificial viscosity, without gravity [Becker09 Eq. 4-6]. Pressure is divided
// by the open share of the kernel: half a kernel would yield little more than half of the gradient, and
// liquid would slide down a wall.
void pair_accelerations(const SphLiquid& liquid, SphColumns& columns, const SphCells& cells,
                        const SphModel& model, const std::vector<float>& open);

// Pressure at a point: the corrected interpolation of [Becker09 Eq. 1, 2]. Loops over all particles.
double pressure_at(const SphLiquid& liquid, const SphModel& model, Vec3 p);

// The longest stable step: sound crosses 0.4 smoothing lengths, a little less where viscosity is strong
// (Monaghan 2005) [s].
double sound_dt(const SphModel& model);

}  // namespace flotsam

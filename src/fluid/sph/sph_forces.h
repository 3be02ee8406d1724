// What particles of the liquid do to each other: sums over all pairs nearer than the kernel reaches.
//
// Each pair is computed once, several at a time in single precision, and counts for both: what one takes the
// other gives, and momentum is lost only to the rounding of each particle's own sum.
#pragma once

#include <vector>

#include "fluid/sph/sph_cells.h"
#include "fluid/sph/sph_liquid.h"

namespace flotsam {

// Particles as pairs see them, one number after the other.
struct SphColumns {
    // Places in whole units of about a millionth of the spacing: differences are exact wherever in the domain
    // a pair is, and short ones are exact in single precision.
    std::vector<std::int32_t> x, y, z;
    std::vector<float> vx, vy, vz;     // [m/s]
    std::vector<float> density, term;  // rho [kg/m^3] and P / rho^2 over the open share
    std::vector<float> ax, ay, az;     // what is summed: the acceleration [m/s^2]
    // The kernel's sum, which is known before accelerations are summed.
    std::vector<float>& sum() { return ax; }

    Vec3f acceleration(std::int64_t i) const { return {ax[i], ay[i], az[i]}; }
    std::int64_t bytes() const { return std::int64_t(11 * sizeof(float) * x.size()); }
};

// Sorts the particles by cell, so that the sums below may be taken.
void sort_by_cell(const SphLiquid& liquid, SphCells& cells, SphLiquid& sorted);

// Fills the columns' places and velocities. Needs sorted particles, as all below.
void fill_columns(const SphLiquid& liquid, const SphModel& model, SphColumns& columns);

// The kernel's sum of volumes at every particle: 1 inside resting liquid, less where neighbours are missing.
void sum_kernel(SphColumns& columns, const SphCells& cells, const SphModel& model);

// The density: the kernel's sum over the particles, divided by what it is for resting liquid in the same
// place. That is the share `open` of the kernel that walls and solids leave to the liquid [Becker09 Eq. 2].
void find_density(SphLiquid& liquid, SphColumns& columns, const SphCells& cells, const SphModel& model,
                  const std::vector<float>& open);

// Accelerations by pressure and artificial viscosity, without gravity [Becker09 Eq. 4-6]. Pressure counts for
// more where less of the kernel is open: half a kernel would find little more than half of its gradient, and
// liquid would slide down a wall.
void pair_accelerations(const SphLiquid& liquid, SphColumns& columns, const SphCells& cells,
                        const SphModel& model, const std::vector<float>& open);

// Pressure at a point: the corrected interpolation of [Becker09 Eq. 1, 2]. Asks every particle.
double pressure_at(const SphLiquid& liquid, const SphModel& model, Vec3 p);

// The longest stable step: sound crosses 0.4 smoothing lengths, a little less where viscosity is strong
// (Monaghan 2005) [s].
double sound_dt(const SphModel& model);

}  // namespace flotsam

// Advection of millions of massless markers: several at a time, in single precision within a tile.
#pragma once

#include "fluid/displaced.h"
#include "fluid/grid/liquid.h"
#include "fluid/grid/obstacles.h"

namespace flotsam {

// Moves every marker along `u` for dt by the midpoint rule, as advance_particles does, from its position in
// `before` (which may be `markers` itself).
struct MarkerAdvance {
    Vec3 velocity_sum;    // at their starting points [m/s]
    Displaced displaced;  // by obstacles and sides
    MarkerAdvance& operator+=(const MarkerAdvance& o) {
        velocity_sum += o.velocity_sum;
        displaced += o.displaced;
        return *this;
    }
};
MarkerAdvance advance_markers(const Particles& before, Particles& markers, const MacGrid& u,
                              const Domain& domain, double dt, const std::vector<Obstacle>& obstacles = {});

// The markers' velocities at their positions.
struct MarkerVelocities {
    Vec3 sum;            // [m/s]
    double squares = 0;  // sum of the squares [m^2/s^2]
    double fastest = 0;  // [m/s]
};
MarkerVelocities velocities_of(const Particles& markers, const MacGrid& u, const Domain& domain);

}  // namespace flotsam

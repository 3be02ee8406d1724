// Emitters, sinks, and reseeding of particles.
#pragma once

#include "fluid/displaced.h"
#include "fluid/grid/obstacles.h"
#include "fluid/grid/particles.h"

namespace flotsam {

struct Exchange {
    std::int64_t count = 0;
    Vec3 velocity_sum;  // of the particles concerned [m/s]
    Exchange& operator+=(const Exchange& o) {
        count += o.count;
        velocity_sum += o.velocity_sum;
        return *this;
    }
};

// Adds the particles that enter through emitters between `time` and `time + dt`. Each emitter fills its
// region at once and then as fast as its liquid moves out: a lattice of points travels with the emitter's
// velocity, and every point that comes into the region becomes a particle, also if it is beyond the region
// before the step is over. Particles inside the region take the emitter's velocity. New particles are placed
// where they are at time `now`, which the other particles have reached; none enters inside an obstacle or
// passes through one.
Exchange emit(Particles& particles, const Domain& domain, const LiquidSettings& settings, double time,
              double dt, double now, const std::vector<Obstacle>& obstacles = {});

// The same for massless markers, whose velocity is the grid's: faces in and beside the region of an open
// emitter take its velocity.
void impose_emitters(MacGrid& u, const Domain& domain, const LiquidSettings& settings, double time,
                     double dt);

// Removes particles inside sinks at `time` and those beyond the domain's open sides. Massless markers count
// with the velocity `u` at their position.
Exchange drain(Particles& particles, const MacGrid& u, const Domain& domain, const LiquidSettings& settings,
               double time);

// Moves particles from crowded cells to sparse ones deep inside the liquid of the same tile and on the same
// side of thin solids, one for one: the number of particles, and so the volume, stays as it is. Velocities
// are taken from `u`. Returns the displacements.
Displaced reseed(Particles& particles, const CellRanges& cells, const Domain& domain,
                 const LiquidSettings& settings, const Field<double>& phi, const Obstacles& obstacles,
                 const MacGrid& u, std::int64_t step);

}  // namespace flotsam

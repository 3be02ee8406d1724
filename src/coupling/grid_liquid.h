// Shared by the schemes with a liquid on the grid: its start, time steps, margins, checks and surface.
#pragma once

#include "fluid/grid/obstacles.h"
#include "fluid/grid/particles.h"
#include "world/near_solids.h"
#include "world/world.h"

namespace flotsam {

double largest_speed(const LiquidState& liquid, const Domain& domain);

// The longest stable step for the liquid: it crosses at most `cfl` cells, counting the speed that gravity
// adds during the step, and its shortest wave is resolved.
double liquid_dt(const World& world, const Scenario& scenario);

// Layers of cells around the liquid that need a velocity: those that the liquid may cross in the next step
// (up to 1.5 times as long as this one), and one for interpolation.
int velocity_margin(double speed, double dt, double h);

// Relaxation time of crowded particles: long against the shortest waves (see crowding_source) and several
// steps. Measured with a standing wave and a sloshing tank: 4 sqrt(h/g) makes waves grow by 1 % a period, 12
// does not, and both hold the volume to 0.3 % over 10 s; without it 2 % are lost.
double crowding_time(const Scenario& scenario, double dt);

bool all_finite(const MacGrid& u);

// How the liquid rubs on walls and solids in a step.
inline Rubbing rubbing_of(const Scenario& scenario, double dt) {
    return {scenario.liquid.density, dt, scenario.liquid.slip_depth};
}

// Whether every particle lies in a tile that exists. A step far beyond the CFL number may carry some further;
// then the surface is left as the solve saw it.
bool within_tiles(const LiquidState& liquid, const Domain& domain);

// Liquid cannot start where a solid is.
void remove_inside(Particles& particles, const NearSolids& solids);

// Tiles, pressure and velocity on the grid for particles that have been seeded. From here on the velocity of
// massless markers is the grid's.
void start_liquid(LiquidState& liquid, const Scenario& scenario);

// Which cells the particles fill.
struct FilledCells {
    Field<double> phi;          // for the pressure solve, with films and lone drops [m]
    Field<double> crowding;     // divergence that spreads crowded cells [1/s]
    std::int64_t droplets = 0;  // particles outside the surface
};
// Finds them, and the surface of `liquid`, whose particles are sorted into `cells`.
FilledCells fill_cells(LiquidState& liquid, const CellRanges& cells, const Obstacles& obstacles,
                       const Scenario& scenario, double dt);

// The surface and the open volume at the end of a step, with the solids cut where they are then.
void find_surface(LiquidState& liquid, const Scenario& scenario, std::vector<Obstacle> cut);

}  // namespace flotsam

// What the schemes with a liquid on the grid share around their steps: time steps, margins and checks.
#pragma once

#include "fluid/grid/liquid.h"
#include "world/world.h"

namespace flotsam {

double largest_speed(const LiquidState& liquid, const Domain& domain);

// The longest step that the liquid stands: neither it crosses more than `cfl` cells, gravity's gain during
// the step included, nor its shortest wave is missed.
double liquid_dt(const World& world, const Scenario& scenario);

// Cells around the liquid that need a velocity: what the liquid may cross in the next step (which may be half
// as long again as this one), and one for interpolation.
int velocity_margin(double speed, double dt, double h);

// How fast crowded particles spread again: slowly against the shortest waves (see crowding_source), and over
// several steps. Measured with a standing wave and a sloshing tank: 4 sqrt(h/g) makes waves grow by 1 % a
// period, 12 does not, and both hold the volume to 0.3 % over 10 s; without it 2 % are lost.
double crowding_time(const Scenario& scenario, double dt);

bool all_finite(const MacGrid& u);

// Whether every particle is where tiles are. A step far beyond the CFL number may carry some further; then
// the surface stays as the solve saw it.
bool within_tiles(const LiquidState& liquid, const Domain& domain);

}  // namespace flotsam

// The liquid's surface as pictures show it: on a finer grid than the simulation's, smooth, and with the
// sheets that are thinner than a cell. The simulation itself never sees it.
//
// Most of it is the simulated surface, interpolated by a smooth spline. Particles outside it get a surface
// around their local mean position, which turns a layer of particles into a sheet and not into a row of beads
// (Zhu & Bridson 2005, Section 4). Particles with too few neighbours for that are spray.
#pragma once

#include "fluid/grid/liquid.h"

namespace flotsam {

struct Skin {
    Domain domain;      // the same box with finer cells
    Field<double> phi;  // negative inside [m]
    Particles spray;    // particles that it does not cover; without velocities where these have none
};

// `phi` is the simulated distance, `refinement` the number of fine cells along a simulated one.
Skin make_skin(const Particles& particles, const Field<double>& phi, const Domain& domain, int refinement);

}  // namespace flotsam

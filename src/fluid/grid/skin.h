// The liquid's surface as pictures show it: on a finer grid than the simulation's, smooth, and with the
// sheets that are thinner than a cell. The simulation itself never sees it.
//
// Most of it is the simulated surface, read between its samples by a smooth spline. Particles that this
// leaves outside are given a surface of their own: about their local mean position, which makes a sheet of a
// layer of particles and not a row of beads (Zhu & Bridson 2005, Section 4). Those too lonely for even that
// are spray.
#pragma once

#include "fluid/grid/liquid.h"

namespace flotsam {

struct Skin {
    Domain domain;      // the same box with finer cells
    Field<double> phi;  // negative inside [m]
    Particles spray;    // that it does not cover; without velocities where the particles have none
};

// `phi` is the simulated distance, `refinement` the number of fine cells along a cell.
Skin make_skin(const Particles& particles, const Field<double>& phi, const Domain& domain, int refinement);

}  // namespace flotsam

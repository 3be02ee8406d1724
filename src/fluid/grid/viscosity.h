// Explicit viscosity: diffusion between the velocities of neighbouring faces.
#pragma once

#include "fluid/grid/obstacles.h"

namespace flotsam {

// Adds nu laplace(u) dt at the faces of liquid cells (phi below zero), by differences between such faces
// alone: what one gains the other loses, so momentum is kept to rounding, and sides and the free surface
// exert no friction. In as many sub-steps as stability asks for. `viscosity` is kinematic [m^2/s].
void diffuse_velocity(MacGrid& u, const Field<double>& phi, const Obstacles& obstacles, const Domain& domain,
                      double viscosity, double dt);

}  // namespace flotsam

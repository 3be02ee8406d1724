// How strongly the nodes of a solid made of springs repel the markers of a liquid [Genevaux03 3.1], as far as
// it follows from the solid and the liquid alone.
#pragma once

#include <algorithm>
#include <numbers>

#include "solid/spring/spring_body.h"

namespace flotsam {

// The properties of a liquid that matter to the nodes.
struct MarkedLiquid {
    double density;  // [kg/m^3]
    double markers;  // per volume [1/m^3]
    double cell;     // edge of a cell of its grid [m]
};

// Radius, stiffness and damping of a solid's nodes. The radius reaches 0.4 of a cell further than the solid's
// surface (of a lattice: than the mean of the bumps of its spheres), and at 1.5 times `pressure` markers just
// reach that surface: with 1 instead, 4 % of the water that a ball displaces is inside it for a moment when
// it sets out near the bottom; with 1.5 it is 1.6 % (25 cells), and steps are 20 % shorter. A larger and
// softer repulsion allows longer steps, but displaces more water. The damping is critical for a marker.
void fit_repulsion(SpringProperties& solid, const MarkedLiquid& liquid, double pressure);

// How deep markers come into the nodes' radius at that pressure; the radius itself when nothing holds
// them [m].
double penetration(const SpringProperties& solid, const MarkedLiquid& liquid, double pressure);

// The longest stable time step of the explicit repulsion [s].
double repulsion_dt(const SpringProperties& solid, const MarkedLiquid& liquid);

// How many nodes push a marker that comes to the surface of the solid.
inline double nodes_per_marker(const SpringProperties& solid) {
    const double s = solid.net->spacing;
    return s == 0 ? 1 : std::max(1.0, std::numbers::pi * solid.radius * solid.radius / (3 * s * s));
}

// The effective z_int of a step [N s/m]: implicit for a marker of mass rho / n, which explicit damping would
// throw back where dt z_int exceeds its mass.
inline double damping_over(const SpringProperties& solid, const MarkedLiquid& liquid, double dt) {
    const double z = solid.repulsion_damping;
    return z / (1 + dt * z * nodes_per_marker(solid) * liquid.markers / liquid.density);
}

}  // namespace flotsam

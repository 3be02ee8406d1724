#include "solid/spring/repulsion.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace flotsam {

namespace {

constexpr double pi = std::numbers::pi;

// The pressure on a solid whose spheres of radius R markers have entered by `depth`, over the number of
// markers per volume and k_int [m^2]: the integral of (R - d) over the markers in front of a unit of surface.
// A single ball is flat on this scale. In front of a lattice of spacing s each node pushes the markers in a
// cap of its sphere.
double held(const SpringNet& net, double radius, double depth) {
    if (net.spacing == 0) return 0.5 * depth * depth;
    const double s = net.spacing;
    return pi * (radius * std::pow(depth, 3) / 3 - std::pow(depth, 4) / 4) / (s * s);
}

// How deep the surface of the solid lies within the spheres.
double surface_depth(const SpringNet& net, double radius) {
    return radius - (net.spacing == 0 ? net.contact_radius : 0.5 * net.spacing);
}

}  // namespace

void fit_repulsion(SpringProperties& solid, const MarkedLiquid& liquid, double pressure) {
    const double h = liquid.cell, n = liquid.markers;
    const SpringNet& net = *solid.net;
    solid.radius = (net.spacing == 0 ? net.contact_radius : 0.75 * net.spacing) + 0.4 * h;
    solid.repulsion = 1.5 * pressure / (n * held(net, solid.radius, surface_depth(net, solid.radius)));
    solid.repulsion_damping = 2 * std::sqrt(solid.repulsion * liquid.density / n);
}

double penetration(const SpringProperties& solid, const MarkedLiquid& liquid, double pressure) {
    double low = 0, high = solid.radius;
    for (int halving = 0; halving < 50; ++halving) {
        const double middle = 0.5 * (low + high);
        const double holds = liquid.markers * solid.repulsion * held(*solid.net, solid.radius, middle);
        (holds < pressure ? low : high) = middle;
    }
    return high;
}

double repulsion_dt(const SpringProperties& solid, const MarkedLiquid& liquid) {
    // The fastest vibration of a marker against the nodes; damping and the nodes' own motion are implicit.
    const double omega =
        std::sqrt(solid.repulsion * nodes_per_marker(solid) * liquid.markers / liquid.density);
    return omega == 0 ? 1e30 : 2 / omega;
}

}  // namespace flotsam

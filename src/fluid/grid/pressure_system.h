// The pressure system of a liquid with a free surface.
//
// Gravity is a potential: the unknown is pi = p - rho g.x, which is constant in water at rest. On the free
// surface, where p = 0, pi = -rho g.x is prescribed at the surface's true place (ghost fluid), so rest is
// exact.
#pragma once

#include <array>
#include <vector>

#include "fluid/grid/liquid.h"
#include "fluid/grid/obstacles.h"
#include "linalg/network.h"

namespace flotsam {

inline Int3 cell_at(const Tiling& tiling, std::int64_t slot, int local) {
    return tiling.first_cell(slot) + Int3{local & 7, local >> 3 & 7, local >> 6};
}

// How a face takes part in the solve. This is the one place where theta is clamped; matrix, right-hand side,
// gradient, loads and audit all read it here.
struct Face {
    enum class Kind { none, interior, surface, wall } kind;  // surface: liquid on one side only
    double area = 1;                                         // open share of the face
    double theta = 1;      // distance over which the potential changes, in cells; never less than 0.01
    double reach = 1;      // distance of the surface from the liquid cell's centre, in cells
    double lightness = 1;  // reference density over that of the liquid at the face

    double conductance() const { return area / theta * lightness; }
};

// The reference density over the liquid's, at each face; empty where the density is uniform. pi is p less the
// hydrostatic pressure at the reference density; add_density_force accounts for the difference.
using Lightness = std::array<Field<double>, 3>;

// The unknowns of a connected part of the liquid.
using Pocket = std::vector<std::int64_t>;

struct PressureSystem {
    const Domain* domain;
    Vec3 gravity;
    double density;
    Field<double> phi;           // distance that the solve sees; liquid cells are those below zero
    const Obstacles* obstacles;  // may be none
    Lightness lightness{};
    double datum = 0;  // -g.x of the mean surface; keeps numbers small [m^2/s^2]
    Network<double>
        network;  // of the unknowns x = (pi / rho - datum) dt / h [m/s], on the tiles that hold liquid
    std::vector<Pocket> sealed;  // pockets without a free surface

    double to_unknown(double dt) const { return dt / domain->h; }  // of pi / rho - datum
    double potential(double x, double to_unknown) const { return density * (x / to_unknown + datum); }  // pi

    // The face between cell `c`, whose distance is `here`, and the next one along an axis, whose distance is
    // `beyond`.
    Face face(Int3 c, int axis, int direction, double here, double beyond) const;
    // The prescribed potential -g.x, less the datum, at the surface beyond cell c's face [m^2/s^2].
    double surface_potential(Int3 c, int axis, int direction, double reach) const;
    // Calls body(c, n, local, slot) for the liquid cells of a tile of the network: n is the value's index in
    // phi's tiling, `local` its place in tile `slot` of the network.
    template <class Body>
    void for_each_liquid_cell(std::int64_t slot, const Body& body) const;
};

// `phi` less than zero in liquid cells; extended liquid (thin films) included. Domain and obstacles must
// outlive the system.
PressureSystem pressure_system(const Domain& domain, Field<double> phi, Vec3 gravity, double density,
                               const Obstacles& obstacles, Lightness lightness = {});

// Between touching faces, cut cells leave slits without a free surface. Each is a volume constraint on the
// same few bodies: with more slits than the bodies have degrees of freedom there is no solution (a block on a
// plank threw water at 300 m/s). Pockets with less than a cell's volume are therefore taken out of the liquid
// of the solve, and contacts hold the bodies there. Returns whether there were any: then the system must be
// made again from its `phi`.
bool leave_out_slits(PressureSystem& system, const Field<double>& open_volume);

template <class Body>
void PressureSystem::for_each_liquid_cell(std::int64_t slot, const Body& body) const {
    const Tiling& tiling = network.tiling();
    const std::int64_t base = phi.tiling().find(tiling.first_cell(slot));
    const TileCoefficients<double>& c = network.coefficients(slot);
    for (int local = 0; local < Tiling::cells_per_tile; ++local)
        if (c.diagonal[local] != 0) body(cell_at(tiling, slot, local), base + local, local, slot);
}

}  // namespace flotsam

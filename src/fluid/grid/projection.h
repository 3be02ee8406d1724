// Making the velocity divergence-free: the pressure system of a liquid with a free surface.
//
// Gravity is a potential: the unknown is pi = p - rho g.x, which is constant in water at rest. On the free
// surface, where p = 0, pi = -rho g.x is prescribed at the surface's true place (ghost fluid), so rest is
// exact.
#pragma once

#include <vector>

#include "fluid/grid/liquid.h"
#include "linalg/solve.h"
#include "linalg/symmetric_matrix.h"

namespace flotsam {

// How a face takes part in the solve. This is the one place where theta is clamped; matrix, right-hand side,
// gradient and audit all read it here.
struct Face {
    enum class Kind {
        none,
        interior,
        surface_low,
        surface_high,
        wall
    } kind;            // surface_low: liquid on the low side
    double theta = 1;  // distance over which the potential changes, in cells; never less than 0.01
    double reach = 1;  // where the surface is: its distance from the liquid cell's centre, in cells
};

struct PressureSystem {
    const Domain* domain;
    Vec3 gravity;
    double density;
    double datum;                      // -g.x of the mean surface; keeps numbers small [m^2/s^2]
    Field<double> phi;                 // distance that the solve sees
    Field<std::int32_t> row;           // of a liquid cell in the matrix, or -1
    std::vector<Int3> cell;            // of each row, in natural order
    std::vector<std::int32_t> pocket;  // of each row: which connected body of liquid it belongs to
    std::vector<char> sealed;          // of each pocket: it has no free surface

    Face face(Int3 c, int axis) const;
    // The prescribed potential -g.x, less the datum, where the surface crosses a face's line [m^2/s^2].
    double surface_potential(Int3 c, int axis, Face f) const;
};

// `phi` less than zero in liquid cells; extended liquid (thin films) included.
PressureSystem pressure_system(const Domain& domain, Field<double> phi, Vec3 gravity, double density);

// A x = b with x = pi dt / (rho h) [m/s]: one row per liquid cell, area-weighted [Zarifi17 Eq. 4.38, 4.40].
SymmetricMatrix assemble(const PressureSystem& system);

struct ProjectionReport {
    SolveReport solve;
    double largest_divergence = 0;  // over liquid cells [1/s]
    double removed_flux = 0;        // that sealed pockets could not take up [m^3/s]
    Vec3 wall_impulse;              // of the sides' pressure on the liquid [kg m/s]
};

// Takes the gradient of pi out of `u`. `source` is the wanted divergence per cell [1/s]. `potential` holds
// the last pi as a first guess and receives the new one [Pa]. `changed` marks the faces that the pressure
// acts on, per axis.
ProjectionReport project(const PressureSystem& system, const Field<double>& source, double dt,
                         const SolverSettings& solver, MacGrid& u, Field<double>& potential,
                         std::array<Field<char>, 3>& changed);

}  // namespace flotsam

// Making the velocity divergence-free.
#pragma once

#include <array>
#include <vector>

#include "fluid/grid/movables.h"
#include "fluid/grid/pressure_system.h"
#include "fluid/grid/solid_load.h"
#include "linalg/solve.h"

namespace flotsam {

struct ProjectionReport {
    SolveReport solve;
    double largest_divergence = 0;  // over liquid cells [1/s]
    double removed_flux = 0;        // into and out of sealed pockets, which they could not take up [m^3/s]
    int crusher = -1;               // an obstacle that closes on most of the liquid, which has no way out
    // Whether bodies' contacts had nothing to change in the motion that came out, or there are none. If not,
    // the rounds ran out before they were asked about the last one.
    bool contacts_agreed = true;
    Vec3 wall_impulse;             // of the sides' pressure on the liquid [kg m/s]
    std::vector<SolidLoad> loads;  // of the pressure on each obstacle
};

// Takes the gradient of pi out of `u`. `source` is the wanted divergence per cell [1/s]. `potential` holds
// the last pi as a first guess and receives the new one [Pa]. `changed` marks the faces that the pressure
// acts on, per axis. Incompressibility and the momentum of what is movable are solved together.
ProjectionReport project(const PressureSystem& system, const Field<double>& source, double dt,
                         const SolverSettings& solver, MacGrid& u, Field<double>& potential,
                         std::array<Field<char>, 3>& changed, const Movables& movables = {});

}  // namespace flotsam

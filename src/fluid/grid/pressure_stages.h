// The stages of a pressure solve: plain functions of plain data, each called once by whoever solves.
//
//   right_hand_side -> (solve) -> interface_loads, subtract_gradient -> largest_divergence
//
// Matrix, right-hand side, gradient and loads read the same faces (PressureSystem::face).
#pragma once

#include <array>
#include <vector>

#include "fluid/grid/pressure_system.h"
#include "fluid/grid/solid_load.h"
#include "linalg/solid_system.h"

namespace flotsam {

// Nothing flows through the closed sides of the domain.
void stop_at_closed_sides(MacGrid& u, const Domain& domain);

// What gravity does to liquid that is heavier or lighter than the reference density, beyond pi.
void add_density_force(const PressureSystem& system, double dt, MacGrid& u);

// What flows into each liquid cell, less what shall (`source`, a divergence [1/s]), and what the surface's
// known potential does about it; per face area, in the order of the unknowns [m/s] [Zarifi17 Eq. 4.38].
std::vector<double> right_hand_side(const PressureSystem& system, const Field<double>& source,
                                    const MacGrid& u, double dt);

// Where to start the solve: at the last step's potential.
std::vector<double> first_guess(const PressureSystem& system, const Field<double>& potential, double dt);

// A sealed pocket cannot change its volume: what flows into it on the whole is taken out of the right-hand
// side. Returns how much that was, without signs; per face area [m/s].
double remove_net_flux(const std::vector<Pocket>& sealed, std::vector<double>& rhs);

// pi of a sealed pocket is defined up to a constant: its lowest pressure is taken as zero.
void set_lowest_pressure(const PressureSystem& system, const std::vector<Pocket>& sealed, double dt,
                         std::vector<double>& x);

// u -= grad(pi) dt / rho [Zarifi17 Eq. 4.31], with the same theta as in the matrix. `potential` receives pi
// [Pa], `changed` marks the faces that it acts on, per axis.
void subtract_gradient(const PressureSystem& system, std::vector<double> x, double dt, MacGrid& u,
                       Field<double>& potential, std::array<Field<char>, 3>& changed);

// What solids that the pressure moves push out of each cell, in the order of the unknowns; empty where there
// are none.
std::vector<double> outflow_of(const SolidSystem& solids, const SolidVelocities& velocity,
                               std::size_t unknowns);

// Over liquid cells, of what was not wanted [1/s]. `beside_movables` is what solids that the pressure moves
// push out of each cell.
double largest_divergence(const PressureSystem& system, const Field<double>& source, const MacGrid& u,
                          const std::vector<double>& beside_movables);

struct InterfaceLoads {
    Vec3 wall_impulse;              // of the sides' pressure on the liquid [kg m/s]
    std::vector<SolidLoad> solids;  // of the pressure on each obstacle
};
InterfaceLoads interface_loads(const PressureSystem& system, const std::vector<double>& x, double dt);

// The pressure acts on the liquid and on its surroundings: the last three stages in a row.
struct LiquidUpdate {
    Field<double> potential;             // pi [Pa]
    std::array<Field<char>, 3> changed;  // the faces that it acts on, per axis
    double largest_divergence = 0;       // [1/s]
    InterfaceLoads loads;
};
LiquidUpdate apply_pressure(const PressureSystem& system, const Field<double>& source,
                            const std::vector<Pocket>& sealed, const std::vector<double>& beside_movables,
                            double dt, std::vector<double> x, MacGrid& u);

// The obstacle that moves as it is told and closes on a sealed pocket with most of the liquid in it: -1 where
// there is none. What only moves about in there takes away on one side what it gives on the other.
int find_crusher(const PressureSystem& system, const std::vector<Pocket>& sealed, double dt);

}  // namespace flotsam

// The stages of a pressure solve: plain functions of plain data, each called once per solve.
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

// Sets the velocity through closed sides of the domain to zero.
void stop_at_closed_sides(MacGrid& u, const Domain& domain);

// Adds gravity's force on the difference between the liquid's density and the reference density of pi.
void add_density_force(const PressureSystem& system, double dt, MacGrid& u);

// Right-hand side: the net inflow of each liquid cell, plus the wanted divergence `source` [1/s] and the
// Dirichlet terms of the free surface; per face area, in the order of the unknowns [m/s] [Zarifi17 Eq. 4.38].
std::vector<double> right_hand_side(const PressureSystem& system, const Field<double>& source,
                                    const MacGrid& u, double dt);

// Initial guess of the solve: the last step's potential.
std::vector<double> first_guess(const PressureSystem& system, const Field<double>& potential, double dt);

// A sealed pocket cannot change its volume: its net inflow is removed from the right-hand side. Returns the
// sum of the absolute net inflows; per face area [m/s].
double remove_net_flux(const std::vector<Pocket>& sealed, std::vector<double>& rhs);

// pi of a sealed pocket is defined up to a constant: its lowest pressure is taken as zero.
void set_lowest_pressure(const PressureSystem& system, const std::vector<Pocket>& sealed, double dt,
                         std::vector<double>& x);

// u -= grad(pi) dt / rho [Zarifi17 Eq. 4.31], with the same theta as in the matrix. `potential` receives pi
// [Pa], `changed` marks the faces that it acts on, per axis.
void subtract_gradient(const PressureSystem& system, std::vector<double> x, double dt, MacGrid& u,
                       Field<double>& potential, std::array<Field<char>, 3>& changed);

// Flux out of each cell through the solids that the pressure moves, in the order of the unknowns; empty where
// there are no such solids.
std::vector<double> outflow_of(const SolidSystem& solids, const SolidVelocities& velocity,
                               std::size_t unknowns);

// Largest unwanted divergence of a liquid cell [1/s]. `beside_movables` is the result of outflow_of.
double largest_divergence(const PressureSystem& system, const Field<double>& source, const MacGrid& u,
                          const std::vector<double>& beside_movables);

struct InterfaceLoads {
    Vec3 wall_impulse;              // of the sides' pressure on the liquid [kg m/s]
    std::vector<SolidLoad> solids;  // of the pressure on each obstacle
};
InterfaceLoads interface_loads(const PressureSystem& system, const std::vector<double>& x, double dt);

// Applies the pressure to the liquid and its surroundings: the last three stages in a row.
struct LiquidUpdate {
    Field<double> potential;             // pi [Pa]
    std::array<Field<char>, 3> changed;  // the faces that it acts on, per axis
    double largest_divergence = 0;       // [1/s]
    InterfaceLoads loads;
};
LiquidUpdate apply_pressure(const PressureSystem& system, const Field<double>& source,
                            const std::vector<Pocket>& sealed, const std::vector<double>& beside_movables,
                            double dt, std::vector<double> x, MacGrid& u);

// The obstacle of prescribed motion that compresses a sealed pocket with most of the liquid in it; -1 where
// there is none. The fluxes of one that only moves about inside the pocket cancel.
int find_crusher(const PressureSystem& system, const std::vector<Pocket>& sealed, double dt);

}  // namespace flotsam

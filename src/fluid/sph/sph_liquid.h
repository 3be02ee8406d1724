// An SPH liquid, made of particles alone: its state and its model, plain data.
#pragma once

#include <cstdint>
#include <vector>

#include "core/state.h"
#include "core/vec.h"
#include "fluid/sph/kernel.h"

namespace flotsam {

// All particles have the same mass. They are in the order of the last sort by cell.
struct SphLiquid {
    // Double: in a step of 0.1 ms slow liquid moves by less than single precision resolves.
    std::vector<Vec3> position;   // [m]
    std::vector<Vec3f> velocity;  // half a step behind the position, as leapfrog has it [m/s]
    std::vector<float> density;   // at the last force computation, before the last move [kg/m^3]

    std::int64_t count() const { return std::int64_t(position.size()); }
    void visit_state(StateVisitor& visit);
};

// Parameters of the equations; constant during a run.
struct SphModel {
    bool flat = false;         // 2D kernels
    double spacing = 1;        // between particles where the liquid rests; their diameter [m]
    double rest_density = 1;   // rho_0 [kg/m^3]
    double particle_mass = 1;  // [kg]; in a slab: of its thickness
    double depth = 1;          // of a slab; 1 and without effect in 3D [m]
    double sound_speed = 1;    // c_s [m/s]
    double alpha = 0.1;        // of the artificial viscosity
    CubicSpline kernel;

    double radius() const { return 0.5 * spacing; }
    // In the plane the kernel is per area, and so are mass and volume in sums with it.
    double kernel_mass() const { return particle_mass / depth; }
    double kernel_volume() const { return kernel_mass() / rest_density; }
    // The kernel's sum of volumes at a particle of the rest lattice: nearly 1.
    double lattice_sum() const;
};

// A liquid of rest density [kg/m^3] in particles `spacing` apart [m], whose sound travels at `sound_speed`.
SphModel make_sph_model(bool flat, double spacing, double depth, double rest_density, double sound_speed,
                        double alpha);

// The alpha of the artificial viscosity that acts like a kinematic viscosity [m^2/s]: with Eq. 5 and this
// kernel, nu = alpha h c / 8 in the plane and / 10 in space (Monaghan 2005).
double alpha_of_viscosity(const SphModel& model, bool flat, double kinematic);

// Tait's equation [Becker09 Eq. 6], without tension: where the free surface leaves particles with too few
// neighbours their density is too low, and they would draw each other into clumps.
double liquid_pressure(const SphModel& model, double density);  // [Pa]
// Tait's equation and its inverse.
double tait_pressure(const SphModel& model, double density);  // [Pa]
double tait_density(const SphModel& model, double pressure);  // [kg/m^3]

}  // namespace flotsam

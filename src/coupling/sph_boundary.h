// Shared by the SPH methods: the start, contacts of particles with walls and solids, inflow and outflow, and
// the liquid as the rest of the program sees it.
#pragma once

#include <optional>

#include "coupling/scheme.h"
#include "fluid/displaced.h"
#include "fluid/sph/kernel_cover.h"
#include "fluid/sph/sph_forces.h"
#include "geometry/surface_samples.h"
#include "solid/rigid/contact.h"

namespace flotsam {

// Data derived from the scenario, and buffers that every step reuses.
struct SphSetup {
    ContactShapes contact_shapes;  // of rigid bodies among themselves
    SphModel model{};
    double touch = 0;  // particles nearer than this to a wall or solid touch it [m]
    SphCells cells{};
    SphColumns columns{};
    PlaneCover plane{};
    std::vector<SampledSurface> surfaces{};  // of each solid
    std::vector<SolidCover> covers{};
};

// The parameters of a scene's SPH equations: spacing, sound speed, viscosity.
SphModel sph_model(const Scenario& scenario);
// `touch` in radii of a particle.
SphSetup sph_setup(const Scenario& scenario, double touch_radii);

// Base class of the SPH methods.
class SphScheme : public Scheme {
  public:
    Capabilities capabilities() const override;
    double stable_dt(const World& world, const Scenario& scenario) const override;
    void start(World& world, const Scenario& scenario) override;

  protected:
    explicit SphScheme(double touch_radii) : touch_radii_(touch_radii) {}
    SphSetup& setup(const Scenario& scenario);  // made when first needed

  private:
    double touch_radii_;
    std::optional<SphSetup> setup_;
};

// A particle of the liquid that touches a solid or a wall.
struct BoundaryContact {
    std::int32_t particle = 0;
    std::int32_t surface = 0;  // a solid of the scenario, or a side of the domain: no_solid - side
    std::int32_t body = -1;    // index in World::bodies; -1 where the liquid does not move it
    Vec3 point, normal;        // x_cp and n, out of the solid
    Vec3 surface_velocity;     // v_cp* where there is no body [m/s]            [Becker09 Eq. 21, 22]
    double slip = 1;           // epsilon for this step
    double least_leaving = 0;  // least normal velocity afterwards: delta times its approach [m/s]

    static constexpr std::int32_t no_solid = -1;
    bool is_wall() const { return surface <= no_solid; }
    int side() const { return no_solid - surface; }
};

// A solid as a boundary of the particles in a step.
struct MovingSurface {
    const SampledSurface* samples;
    Pose before, after;
    Box reach;    // of particles that may touch it
    bool yields;  // the liquid moves it
};
// All solids in a step that begins with the bodies of `before` and ends with those of `after`.
std::vector<MovingSurface> moving_surfaces(const Scenario& scenario, const SphSetup& setup,
                                           const std::vector<RigidBody>& before,
                                           const std::vector<RigidBody>& after, double time, double dt);

// Where particles touch walls and solids after they have moved with their velocities for dt, in the order of
// the particles.
std::vector<BoundaryContact> find_contacts(const SphLiquid& liquid, double dt,
                                           const std::vector<MovingSurface>& surfaces, const Domain& domain,
                                           double touch);

// Moves particles with their velocities, and out of walls and solids along the normals [Becker09 Eq. 19, 20].
// In the first round, surfaces that do not yield correct only the particles found in `contacts` [Algorithm
// 2].
struct Correction {
    double volume = 0;  // swept by pushed particles [m^3]
    Vec3 turning;       // angular momentum that the correction added [kg m^2/s]
    Displaced pushed;   // particles
    Correction& operator+=(const Correction& o) {
        pushed += o.pushed;
        volume += o.volume;
        turning += o.turning;
        return *this;
    }
};
Correction move_and_correct(SphLiquid& liquid, double dt, const std::vector<BoundaryContact>& contacts,
                            const std::vector<MovingSurface>& surfaces, const Domain& domain,
                            const SphModel& model);

// Pressure force of a wall or solid on a particle whose kernel it covers in part, besides control forces: an
// acceleration of rho_0 P / rho^2 times `push`. For a wall it keeps a lattice beside it at rest
// (PlaneCover::press). That does not work for a solid, which drifts through all kinds of arrangements: there
// it is the gradient of the open share over the share, which together with the density and the pair forces
// conserves energy (Kulasegaram, Bonet et al. 2004), so that bodies float at the depth of Archimedes' law.
struct Press {
    std::int32_t particle = 0, surface = 0;
    Vec3 push;  // [1/m]
};
struct BoundaryCover {
    std::vector<float> open;     // the share of each particle's kernel that nothing covers  [Becker09 Eq. 2]
    std::vector<Press> presses;  // in the order of the particles
};
BoundaryCover cover_by_boundary(const SphLiquid& liquid, const World& now, const Scenario& scenario,
                                const SphSetup& setup);

// Momentum and angular momentum about the origin.
struct Momentum {
    Vec3 linear, angular;
    Momentum& operator+=(const Momentum& o) {
        linear += o.linear;
        angular += o.angular;
        return *this;
    }
};
Momentum momentum(const SphLiquid& liquid, double particle_mass);
Momentum momentum(const std::vector<RigidBody>& bodies);

// First part of every step: sorts the particles, and adds pressure, viscosity and gravity to their velocities
// and gravity to those of bodies; nothing has moved yet. `stage_done` is called with the names of the stages.
struct SphPrediction {
    BoundaryCover cover;
    Momentum liquid_before;
};
SphPrediction predict_sph(const World& now, World& next, const StepContext& ctx, SphSetup& setup,
                          FunctionRef<void(const char*)> stage_done);

// v + by, rounded to single precision. Not inlined: where g++ 12 vectorises over x, y and z it leaves out the
// rounding between the conversions to float and back, and a body would receive a different impulse than the
// particle gives.
Vec3f changed(Vec3f v, Vec3 by);

// Contacts of rigid bodies with each other and with walls; returns the impulse on each body.
std::vector<Impulse> collide_bodies(const World& now, World& next, const StepContext& ctx, SphSetup& setup);

// Last part of every step: inflow and outflow, fields for outputs, and checks for failure.
void finish_sph(const World& now, World& next, const StepContext& ctx, const SphSetup& setup,
                StepReport& report);

}  // namespace flotsam

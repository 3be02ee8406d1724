// direct-forcing: an SPH liquid, and control forces that keep it off solids at the wanted velocity.
//
// clang-format off
// Paper box
//   [Becker09] Becker, Tessendorf, Teschner, "Direct Forcing for Lagrangian Rigid-Fluid Coupling" (TVCG 2009).
//   Eq. 2                 corrected kernel             find_density, cover_by_boundary       (fluid/sph/sph_forces.h)
//   Eq. 4, 5              momentum, viscosity          pair_accelerations
//   Eq. 6                 Tait                         tait_pressure                         (fluid/sph/sph_liquid.h)
//   Section 4             surface particles            sample_surface, SampledSurface        (geometry/surface_samples.h)
//   Eq. 7                 v_cp                         BoundaryContact::surface_velocity, Twist::at
//   Eq. 8, 9              wanted relative velocity     wanted_velocity
//   Eq. 10-12             local response               respond (BoundaryResponse::local)
//   Eq. 13-18             global response              respond (BoundaryResponse::global)
//   Eq. 19, 20            position correction          move_and_correct                      (coupling/sph_boundary.h)
//   Eq. 21, 22            one-way, static              respond: contacts without a body
//   Algorithm 1, 2        the step                     DirectForcing::step
//   F_i -> what respond adds to a particle's velocity times its mass over dt; r_F, r_P -> SphModel::radius;
//   x_cp -> BoundaryContact::point; n -> normal; epsilon -> slip over this dt; delta -> restitution
// Where the code deviates, and why
//   - Eq. 2 with constant volumes of equal particles makes the density rho_0 whatever they do, because m and V
//     cancel. Its denominator is therefore taken for resting liquid: the share of the kernel that walls and
//     solids leave open (fluid/sph/kernel_cover.h).
//   - Eq. 4 as printed finds no neighbours behind a wall. Pressure then counts over the open share, and walls and
//     solids press on what is near them (Press in coupling/sph_boundary.h), as Kulasegaram, Bonet et al. 2004 do with
//     the same correction. Without it layers next to a wall swing by 40 % of the pressure, liquid slides down walls, and
//     a small box floats a tenth of its height too deep. All of it goes to the solid in equal measure.
//   - At the free surface there is no such share, and the density is too low: pressure below zero counts as zero.
//   - nu of Eq. 5 has no unit that fits 0.1; that number is Monaghan's alpha, nu = 2 alpha h c_s / (rho_a + rho_b).
//   - Eq. 12 is printed with +r I^-1 r; the term of Eq. 11 gives -r I^-1 r = +r I^-1 r^T, which is positive.
//   - Slip is a share per 1/24 s, as in all methods here, not per step: epsilon = slip^(24 dt). Otherwise friction
//     would depend on the time step.
//   - The domain's walls are planes and need no samples.
//   - A particle touches at most one sample of a solid, the one that it overlaps most.
//   - A particle may touch several solids and walls: contacts are then gone through several times, each time with
//     the normal velocity of Eq. 8 as a lower bound. The paper leaves this open.
//   - Positions are corrected until nothing is left to correct, at most eight times; the paper does it once.
//   - The torque's arm is the contact point as printed; `torque_arm = "particle"` makes it the particle's place, and
//     angular momentum is conserved to rounding.
//   - Liquid that stands on a side of the domain starts compressed by its weight (resting_column).
//   - delta rebounds from the approach only: a particle that was leaving would be drawn back by Eq. 8 as printed.
// clang-format on
#pragma once

#include "coupling/sph_boundary.h"

namespace flotsam {

// The wanted relative velocity of a contact that now has `v`; the share `slip` of its tangential part is left
// [Becker09 Eq. 8, 9].
Vec3 wanted_velocity(const BoundaryContact& contact, double slip, Vec3 v);

// Gives the particles in contact the wanted velocities and the bodies the opposite impulses. `on_surface` is
// called with each contact and the impulse on its solid or wall [kg m/s].
void respond(const std::vector<BoundaryContact>& contacts, std::vector<Vec3f>& velocity,
             std::vector<RigidBody>& bodies, double particle_mass, BoundaryResponse response,
             FunctionRef<void(const BoundaryContact&, Vec3)> on_surface);

class DirectForcing final : public SphScheme {
  public:
    DirectForcing() : SphScheme(1) {}
    StepReport step(const World& now, World& next, const StepContext& ctx) override;
};

}  // namespace flotsam

// cut-cell: the flagship. Liquid on a MAC grid, carried by particles, solved at the true interface.
//
// clang-format off
// Paper box
//   [Zarifi17] Zarifi, "Animating Coupling between Inviscid Free-Surface Liquids and Elastic Deformable
//   Bodies" (thesis, Waterloo 2017), Chapter 4 and Algorithm 3.
//   Eq. 4.27-4.30  semi-Lagrangian midpoint   advect_velocity, advance_particles
//   Eq. 4.31       velocity update            subtract_gradient
//   Eq. 4.33       face areas                 place_obstacles
//   Eq. 4.38       one row per liquid cell    pressure_system, right_hand_side
//   Eq. 4.40-4.44  ghost fluid                PressureSystem::face, surface_potential
//   Section 4.5    markers                    advance_particles, surface_from_particles
//   Section 4.6    extrapolation              extrapolate, constrain_velocity
//   Section 5.2.3  rigid bodies               solve_coupled: (A + J C J^T) x = b, rigid_blocks, LowRank
//   Alg. 4, 1      positions                  drift
//   Eq. 5.1        elastic equation           ElasticEquation
//   Eq. 5.7-5.13   N^T C and its transpose    NodePatch, InterfaceMap
//   Eq. 5.17       the coupled system         SolidSystem, PressureSolver: v eliminated, or kept among the
//                                             unknowns; in the other forms of Ch. 5: coupled_forms.h, [solver] name
//   Fig. 5.2       faces from distances       cover_by_distance, [liquid] cut_faces
//   Section 6.3    weaker couplings           ElasticCoupling, WetElastic
//   u -> velocity; p -> potential (pi = p - rho g.x); phi -> phi; theta -> Face::theta; Delta x -> Domain::h
// Where the code deviates, and why
//   - Gravity is a potential in the pressure solve rather than an addition to u (lines 5-7 of Algorithm 3):
//     water at rest then has constant pi and stays exactly at rest.
//   - The surface comes from a smoothed filling (surface.h), not from a union of spheres, which is bumpier
//     (docs/decisions/0003); [liquid] surface = "spheres" takes those.
//   - Cells with particles that this surface misses take part in the solve too (include_thin_liquid), or
//     films would be pressed into the floor.
//   - By default particles carry the velocity (APIC, or FLIP/PIC); the thesis's massless markers are
//     carrier = "markers".
//   - theta is at least 0.01, but the surface's place is not moved with it; see PressureSystem::face.
//   - Crowded cells get a divergence (crowding_source) and particles are reseeded: without, 2 % of the
//     volume were lost in 10 s of sloshing.
//   - Cut-cell areas are exact for the solids' meshes (cut_cells.h), not taken from a distance field (Fig. 5.2),
//     unless cut_faces = "distance". What clamping takes from faces belongs to the patch, so that cells close.
//   - A cell that a solid thinner than a cell divides stands for one of its sides, and the faces to the
//     other side are closed (place_obstacles): nothing leaks and each side has its own pressure, but the
//     solid acts up to half a cell from its true place there (docs/decisions/0005).
//   - Everything moves half a step before the solve and half a step after it (docs/decisions/0006).
//   - Rigid bodies are eliminated from the system (Section 5.2.3) and kept as rank-6 terms on every multigrid
//     level; contacts are agreed upon within the step (docs/decisions/0007), joints are part of the system
//     (docs/decisions/0015).
//   - Elastic bodies are eliminated, too, by exact factors, or large ones kept as unknowns, instead of the
//     transformation of Section 5.2 (docs/decisions/0010); without liquid they move by themselves
//     (elastic_phase.h). Internal forces cannot turn a body (ElasticEquation), and the known part of the
//     pressure acts on the nodes by exact integrals.
//   - Elastic forces are those of the next step's middle, about which bodies are drawn in this one's (Eq. 5.1-5.2
//     in drift-kick-drift). What turns freely goes round instead of along straight lines (drift).
//   - Contacts are springs within the same equation; the thesis moves nodes that entered a wall back and
//     stops them (Alg. 2, 16).
//   - Two dimensions are plane strain: nodes in front and behind move alike.
//   - Liquid may separate from solids (Separation), an option; the thesis does not allow it.
//   - Under bodies that lie flat on a side of the domain or on another solid there is a film of water, at least a
//     hundredth of a cell thick (film_cells): nothing else would lift them. Its velocity is kept from step to step
//     (SlitFlow), as no particle fits in to carry it.
//   - Inside solids the velocity that particles beside them read continues the liquid's linearly
//     (docs/decisions/0017).
//   - Bubbles of up to four cells that a solid leaves behind it are liquid (close_voids): a surface without
//     pressure there would hold it back.
//   - Slits of less than a cell's volume between touching bodies take no part in the solve (leave_out_slits):
//     there are more of them than the bodies have degrees of freedom.
//   - Particles ignore the velocity of faces in slits, less than a fifth of which is open (forget_slits):
//     it is that of a film.
//   - A particle trapped under a body that lands flat goes to the nearest free place (Confines).
//   - slip < 1 and its drag on bodies are ours (obstacle_drag), in the cells at a surface or in a layer of
//     [liquid] slip_depth; the thesis has free slip only.
// clang-format on
#pragma once

#include <optional>

#include "coupling/elastic_phase.h"
#include "coupling/scheme.h"
#include "coupling/wet_elastic.h"
#include "solid/rigid/contact.h"

namespace flotsam {

// A time, and the bodies at that time.
struct Instant {
    double time;
    const std::vector<RigidBody>& bodies;
    const std::vector<ElasticBody>& elastics;
};

class CutCell final : public Scheme {
  public:
    explicit CutCell(ElasticCoupling coupling = ElasticCoupling::strong) : wet_elastic_(coupling) {}

    Capabilities capabilities() const override;
    double stable_dt(const World& world, const Scenario& scenario) const override;
    StepReport step(const World& now, World& next, const StepContext& ctx) override;
    void start(World& world, const Scenario& scenario) override;

  private:
    // The scene's solids as they move from one time to another, cut at their final positions; the velocity
    // that the liquid feels is that of the time `dt` afterwards.
    std::vector<Obstacle> cut_obstacles(const Scenario& scenario, const Instant& from, const Instant& until,
                                        double dt);
    // Updates the liquid's surface at the end of a finished step.
    void find_surface(World& world, const Scenario& scenario, double dt);

    // The scene's solids as obstacles of moving particles.
    std::vector<Obstacle> moving_obstacles(const Scenario& scenario, const Instant& from,
                                           const Instant& until);
    // The surface of a solid that deforms, in body coordinates, from a small cache.
    std::shared_ptr<const MeshSurface> surface_of(const Solid& solid, TriangleMesh mesh);
    // The surface nodes of an elastic body; nodes are numbered body after body.
    std::shared_ptr<const SurfaceNodes> nodes_of(const std::vector<ElasticBody>& bodies, std::size_t body);

    // Derived from the scenario when they are first needed.
    ElasticPhase elastic_;  // where there is no liquid
    WetElastic wet_elastic_;
    std::vector<std::shared_ptr<const SurfaceNodes>> surface_nodes_;
    std::optional<ContactShapes> contact_shapes_;
    std::vector<std::shared_ptr<const CutSolid>> fixed_cuts_;  // of solids that stand still, cut once
    struct KeptSurface {
        const Solid* solid;
        std::shared_ptr<const MeshSurface> surface;
    };
    std::vector<KeptSurface> kept_surfaces_;  // the newest last
};

}  // namespace flotsam

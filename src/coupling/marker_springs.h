// marker-springs: a liquid marked by particles and solids made of springs, which repel the markers.
//
// clang-format off
// Paper box
//   [Genevaux03] Génevaux, Habibi, Dischler, "Simulating Fluid-Solid Interaction" (Graphics Interface 2003).
//   Eq. 1, convection     semi-Lagrangian                advect_velocity
//   Eq. 1, viscosity      direct differences             diffuse_velocity
//   Eq. 1, F(x)           force per cell, then per face  repel_markers, push_faces             (3.2)
//   Eq. 1 and 2, pressure projection by CG               pressure_system, solve_pressure
//   Section 2.1           markers mark full cells        advance_markers, surface_from_particles
//   Section 2.2           springs, Newton's second law   add_spring_forces, advance            (spring_body.h)
//   Section 2.2           collisions                     collide                               (spring_contact.h)
//   Section 3.1           f = k_int (R - d) - z_int d'   repel_markers
//   Table 1               interaction particles subset   SpringProperties::share
//   u -> velocity; F_mark -> Repulsion::on_cell (already summed per cell); F_solid -> Repulsion::on_node;
//   R -> radius; k_int -> repulsion; z_int -> repulsion_damping; k_coh, z_coh, d_coh -> Spring
// Where the code deviates, and why
//   - The page with the formula of 3.1 is missing from our copy; k_int, z_int and the text around them leave
//     little choice: a spring and a damper along the line of centres, for markers nearer than R.
//   - Everything moves half a step, is pushed, and moves the other half (docs/decisions/0006); the paper
//     does not say. Springs take sub-steps within that.
//   - Gravity is a potential in the pressure solve (docs/decisions/0004), and where the surface lies between
//     full and empty cells comes from the smoothed filling of all methods (docs/decisions/0003): with whole
//     cells alone, water that should rest sloshes by half a cell.
//   - A cell's force moves its two faces along an axis alike, so that each takes its part by mass: half, as
//     printed, inside the liquid; less at the surface, where a face moves only the share theta of a cell. A
//     closed face takes nothing; the other takes it all. In the paper that momentum is lost.
//   - The smooth surface decides which cells are full, and a pushed cell beyond it gives its force to the
//     full cells beside it. With every cell full that holds one marker, as printed, the hole that a ball makes
//     shrinks the more markers there are: with 125 per cell a ball rose half as far as under cut-cell.
//   - At the start no marker is nearer to a node than the pressure there balances (remove_near_nodes).
//   - Damping is implicit: with the mass of a marker, and with the velocity that a node will have; so is a
//     node's own spring. Explicit as in the paper, a step of the U tube would have to be ten times shorter,
//     because nodes are lighter than the markers around them. With dt -> 0 it is the formula of 3.1.
//   - The subset of the markers that carries the force is every share-th of each cell, at least one: it stands
//     for the others of its cell, so that the force does not depend on the share. With 8 markers per cell,
//     1/16 is the same as 1/8; `particles_per_edge = 4` gives about as many as the paper has.
//   - R, k_int and z_int follow from the scene (fit_repulsion); the paper calls this set-up difficult.
//   - Crowded cells get a divergence and markers are reseeded, as in all methods; the scene can turn the
//     latter off.
// clang-format on
#pragma once

#include <optional>

#include "coupling/scheme.h"
#include "fluid/grid/particles.h"
#include "fluid/grid/pressure_system.h"
#include "solid/spring/repulsion.h"

namespace flotsam {

class MarkerSprings final : public Scheme {
  public:
    Capabilities capabilities() const override;
    double stable_dt(const World& world, const Scenario& scenario) const override;
    StepReport step(const World& now, World& next, const StepContext& ctx) override;
    void start(World& world, const Scenario& scenario) override;

  private:
    // The scene's solids that stand still, cut once. Those made of springs cut nothing.
    const std::vector<Obstacle>& fixed_obstacles(const Scenario& scenario);

    std::optional<std::vector<Obstacle>> fixed_;
};

// The forces between solids and the liquid [N].
struct Repulsion {
    std::vector<std::vector<Vec3>> on_node;  // of each spring body
    struct CellForce {
        Int3 at;
        std::int64_t cell;  // index in the tiling
        Vec3 force;
    };
    std::vector<CellForce> on_cell;  // in rising order of cells
};
// The forces between nodes and the markers near them [Genevaux03 3.1], gathered per cell [3.2]. `u` is the
// velocity of the markers, which are sorted into the cells of its tiling. The cost is proportional to the
// number of markers in cells that nodes reach. The forces are implicit in the nodes' velocities after a time
// dt; with dt = 0 they are those of the present velocities.
Repulsion repel_markers(const std::vector<SpringBody>& bodies, const std::vector<Solid>& solids,
                        const Particles& markers, const CellRanges& cells, const MacGrid& u,
                        const Domain& domain, const MarkedLiquid& liquid, double dt);

// Gives each cell's force to its two faces along every axis, in proportion to their mass: half to each inside
// the liquid [Genevaux03 3.2, last equation]. The force of a cell beyond the surface goes to the full cells
// beside it.
struct FacePush {
    Vec3 given;    // momentum that the faces received [kg m/s]
    Vec3 blocked;  // momentum that no open face could take: solids on both sides [kg m/s]
};
FacePush push_faces(const std::vector<Repulsion::CellForce>& forces, MacGrid& u, const PressureSystem& system,
                    double dt);

}  // namespace flotsam

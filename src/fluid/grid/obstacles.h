// Solids on the liquid's grid during a step: the open share of every face and cell, the flux through their
// moving surfaces, and their motion for particles that would collide with them.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "core/rotation.h"
#include "fluid/grid/box_index.h"
#include "fluid/grid/liquid.h"
#include "fluid/grid/particles.h"
#include "geometry/cut_cells.h"
#include "geometry/mesh_surface.h"
#include "linalg/low_rank.h"

namespace flotsam {

// The nodes that a surface is interpolated from: each vertex's velocity is a weighted mean of four of theirs.
struct SurfaceNodes {
    std::vector<std::array<int, 4>> node;
    std::vector<std::array<double, 4>> weight;
};

// A solid during a move of the particles.
struct Obstacle {
    ShapePtr shape;      // at the end of the move, in body coordinates
    Pose before, after;  // at the start and the end of the move
    double slip = 1;
    Twist motion;                         // velocity at the pose `after`, as the liquid feels it
    std::shared_ptr<const CutSolid> cut;  // at the end of the move; only place_obstacles needs it

    // Set for a surface that deforms in body coordinates; `shape` is then its end, and the cut holds the
    // volumes that the surface sweeps.
    std::shared_ptr<const Deformation> deformation = nullptr;

    // Set where the node velocities are unknowns of the solve: then `motion` and the deformation's velocities
    // are zero, and the cut has its pieces.
    std::shared_ptr<const SurfaceNodes> nodes = nullptr;

    // There is a film of water under it where it lies flat on a closed side of the domain; otherwise nothing
    // would ever lift a cork from the floor. Without, what lies in a side belongs to nobody.
    bool underflowed = false;
    std::array<bool, 6> mirrored{};  // sides of the domain beyond which it goes on, mirrored

    double distance(Vec3 p) const { return shape->distance(after.to_body(p)); }
    // Velocity of the solid at p at the end of the move; for a surface that deforms, of its point nearest to
    // p.
    Vec3 velocity(Vec3 p) const {
        const Vec3 rigid = motion.at(p - after.position);
        return deformation ? rigid + after.rotation * deformation->velocity_at(after.to_body(p)) : rigid;
    }
    // A point beside the solid before the move, moved along with the solid, in body coordinates after the
    // move.
    Vec3 moved_along(Vec3 p) const {
        const Vec3 body = before.to_body(p);
        return deformation ? deformation->moved_along(body) : body;
    }
    Vec3 normal(Vec3 p, double step) const;  // outward; by finite differences over `step`
    Box reach() const;                       // a box that it does not leave during the move
};

// The part of an obstacle's surface in one cell.
struct ObstaclePatch {
    int obstacle;
    std::int64_t cell;  // index in the tiling
    Int3 at;
    Vec3 area;                   // out of the liquid, in face areas; closes the cell to rounding
    Vec3 center;                 // [m]
    std::array<Vec3, 3> moment;  // row d: integral of the d-th coordinate over the solid's surface here [m^3]
    // Integral of (x - center) x area, in face areas [m]: zero where the patch is flat. The flux out of the
    // cell per spin is (arm of the centre) x area, plus this.
    Vec3 curl{};
    // Row d: integral of the d-th coordinate times (x - center) x outward area [m^4]: the torque of
    // hydrostatic pressure beyond that of its force at the centre.
    std::array<Vec3, 3> turning{};
    int piece = -1;  // listed unknown of the pressure that it bounds; -1: its cell's unknown
};

// The part of an elastic solid's surface in a cell, weighted by one node's interpolation weights [Zarifi17
// Eq. 5.7-5.13]. Summed over the nodes it is the patch.
struct NodePatch {
    int obstacle;
    std::int64_t cell;
    Int3 at;
    int node;
    Vec3 area;                   // as ObstaclePatch's
    std::array<Vec3, 3> moment;  // as ObstaclePatch's
    Vec3 exact;      // area before faces were clamped: with it a constant pressure turns and bends nothing
    int piece = -1;  // as ObstaclePatch's
};

struct Obstacles {
    std::vector<Obstacle> list;
    std::array<Field<double>, 3> open_face;  // open share of each low face
    Field<double> open_volume;               // open share of each cell
    Field<double> outflow;  // flux out of each cell through the solids' moving surfaces, per face area [m/s]
    std::vector<ObstaclePatch> patches;
    std::vector<NodePatch> node_patches;  // of obstacles with nodes, sorted by obstacle and cell
    Field<char> split;          // cells that a solid thinner than a cell divides; each stands for one side
    std::vector<char> touches;  // per tile: a solid reaches it or a face beside it

    BoxIndex index;  // obstacles near a tile

    bool any() const { return !list.empty(); }
    // The obstacle nearest to p, a point in `cell`; an obstacle must touch the cell or lie beside it.
    int nearest(Int3 cell, Vec3 p) const;
};

inline const Obstacles no_obstacles;

// Where films may lie under underflowed obstacles: on closed sides and on other solids. No particle is in
// them, so the tiling must be told.
std::vector<CellBox> film_cells(const std::vector<Obstacle>& list, const Domain& domain);

// Cuts the obstacles into the cells of a tiling. With no obstacles every field stays empty. Those within
// `reach` are near a cell, and in any case those within two cells [m].
Obstacles place_obstacles(std::vector<Obstacle> list, const Domain& domain,
                          const std::shared_ptr<const Tiling>& tiling, double reach = 0);

// Unmarks closed faces and faces in slits between solids: those less than a fifth open whose neighbours on
// both sides are no more open than that. Beside a single solid one neighbour is wide open. The narrow stream
// in a slit may be fast; if all particles in the cells beside it took its velocity, they would gain momentum
// that nothing lost, and feed the stream (a plank lifting off a block threw water about at 1e7 m/s). For
// particles such faces count as closed.
void forget_slits(std::array<Field<char>, 3>& known, const Obstacles& obstacles, const Domain& domain);

// The velocity of the known faces in slits. The inertia of a film is large: under a flat body of length L, at
// a gap d, it is that of rho L^3 / 12 d per width. If its velocity were lost with every step, a body that
// lifts off would creep, the slower the shorter the steps.
SlitFlow flow_in_slits(const MacGrid& u, const std::array<Field<char>, 3>& known, const Obstacles& obstacles,
                       const Domain& domain);
// Puts it back at the start of the next step. Where the slit has become wider the flux is kept, where it has
// become narrower the velocity: neither adds energy. On a way of half the solid's length the stream loses the
// energy with which it leaves the slit, as a jet does (v^2 / 2 per mass): a film whose one end is dry would
// otherwise be accelerated for ever.
void resume_slits(MacGrid& u, const SlitFlow& slits, const Obstacles& obstacles, const Domain& domain,
                  double dt);

// How the liquid's velocity goes on inside solids, where only particles beside them read it.
enum class VelocityInSolids {
    constant,  // for markers: their velocity is advected on the grid, out of solids as well, and slopes grow
    linear,    // for particles that carry velocities: constant ones slow them down (docs/decisions/0017)
};

// Gives faces that are closed or in slits a velocity, so that particles beside a solid see no flow into or
// out of it. Flow away from the solid stays in cells that separate from it.
void constrain_velocity(MacGrid& u, const Obstacles& obstacles, const Domain& domain, VelocityInSolids rule,
                        const Field<char>* letting_go = nullptr);

// How liquid rubs on what has a slip below 1, in a step.
struct Rubbing {
    double density, dt;
    // Thickness of the layer of liquid that rubs; 0 for the cells whose centres are within half a cell of the
    // surface. Given, friction does not depend on the cells: where they are coarser, a cell rubs in part [m].
    double depth = 0;

    // Share of its velocity along the surface that the layer loses.
    double lost_share(double slip) const;
    // Share of the open part of a cell, with its centre at this distance from the surface, that is in the
    // layer.
    double share_of_cell(double distance, double h) const;
    double reach(double h) const { return std::max(depth, h) + h; }  // beyond it nothing rubs
};

// An impulse on a solid.
struct SolidImpulse {
    Vec3 linear;   // [kg m/s]
    Vec3 angular;  // about its position [kg m^2/s]
};

// The friction impulse on a solid in a step, linearised in the solid's motion. The layer of liquid that it
// drags may outweigh the solid, so friction must be implicit in the motion after the step.
struct Drag {
    Six<double> impulse{};    // at the solid's present motion: linear, and angular about `center`
    SixBySix<double> less{};  // decrease of the impulse per increase of velocity and spin
};
// For obstacle `number` of the list; none where its slip is 1. `u` is the same as for
// apply_obstacle_friction.
std::optional<Drag> obstacle_drag(const MacGrid& u, const Field<double>& phi, const Obstacles& obstacles,
                                  int number, Vec3 center, const Domain& domain, const Rubbing& rubbing);

// Slows the liquid along obstacles whose slip is below 1, as apply_wall_friction does along walls. Adds each
// obstacle's impulse to `impulse`; returns the impulse on the liquid [kg m/s].
Vec3 apply_obstacle_friction(MacGrid& u, const Field<double>& phi, const Obstacles& obstacles,
                             const Domain& domain, const Rubbing& rubbing,
                             std::vector<SolidImpulse>& impulse);

}  // namespace flotsam

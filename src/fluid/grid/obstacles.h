// Solids as the liquid's grid sees them during a step: which part of every face and cell is open, what their
// surfaces push out of the way, and where they are for particles that would run into them.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/rotation.h"
#include "fluid/grid/box_index.h"
#include "fluid/grid/liquid.h"
#include "geometry/cut_cells.h"
#include "geometry/mesh_surface.h"
#include "linalg/low_rank.h"

namespace flotsam {

// The nodes that carry the corners of a surface: each corner's velocity is a mean of theirs.
struct SurfaceNodes {
    std::vector<std::array<int, 4>> node;
    std::vector<std::array<double, 4>> weight;
};

// A solid during a move of the particles.
struct Obstacle {
    ShapePtr shape;      // at the end of the move, in body coordinates
    Pose before, after;  // at the start and the end of the move
    double slip = 1;
    Twist motion;                         // of the pose `after`, as the liquid shall feel it
    std::shared_ptr<const CutSolid> cut;  // at the end of the move; only place_obstacles needs it

    // When its surface changes in body coordinates; `shape` is then the end of this, and the cut knows what
    // the surface sweeps.
    std::shared_ptr<const Deformation> deformation = nullptr;

    // When the solve shall find out how its nodes move: then `motion` and the deformation's velocities are
    // zero, and the cut has its pieces.
    std::shared_ptr<const SurfaceNodes> nodes = nullptr;

    // Water creeps under it where it lies flat on a closed side of the domain; otherwise nothing would ever
    // lift a cork from the floor.
    bool underflowed = false;

    double distance(Vec3 p) const { return shape->distance(after.to_body(p)); }
    // Velocity of the solid's point that is at p at the end of the move; beside a surface that deforms, that
    // of the nearest place on it.
    Vec3 velocity(Vec3 p) const {
        const Vec3 rigid = motion.at(p - after.position);
        return deformation ? rigid + after.rotation * deformation->velocity_at(after.to_body(p)) : rigid;
    }
    // Where a point beside the solid before the move is when the solid has taken it along, in body
    // coordinates.
    Vec3 moved_along(Vec3 p) const {
        const Vec3 body = before.to_body(p);
        return deformation ? deformation->moved_along(body) : body;
    }
    Vec3 normal(Vec3 p, double step) const;  // out of the solid; by differences over `step`
    Box reach() const;                       // a box that it does not leave during the move
};

// The part of an obstacle's surface in one cell.
struct ObstaclePatch {
    int obstacle;
    std::int64_t cell;  // index in the tiling
    Int3 at;
    Vec3 area;                   // out of the liquid, closing the cell to rounding, in face areas
    Vec3 center;                 // [m]
    std::array<Vec3, 3> moment;  // row d: integral of the d-th coordinate over the solid's surface here [m^3]
    // Integral of (x - center) x area, in face areas [m]: zero where the patch is flat. What turning pushes
    // out of the cell is the arm of the centre times the area, and this.
    Vec3 curl{};
    bool film = false;  // between the solid and a side of the domain: that side holds what pushes the solid
    int piece = -1;     // the listed unknown of the pressure that it bounds; -1: its cell's
};

// What a node of an elastic solid has to do with a cell: the part of the solid's surface there, each place
// weighted by how far the node moves it [Zarifi17 Eq. 5.7-5.13]. Summed over the nodes it is the patch.
struct NodePatch {
    int obstacle;
    std::int64_t cell;
    Int3 at;
    int node;
    Vec3 area;                   // as ObstaclePatch's
    std::array<Vec3, 3> moment;  // as ObstaclePatch's
    Vec3 exact;  // the area before faces were clamped: by it a constant pressure turns and bends nothing
    int piece = -1;  // as ObstaclePatch's
};

struct Obstacles {
    std::vector<Obstacle> list;
    std::array<Field<double>, 3> open_face;  // open share of each low face
    Field<double> open_volume;               // open share of each cell
    Field<double> outflow;  // what leaves each cell through the solids' moving surfaces, per face area [m/s]
    std::vector<ObstaclePatch> patches;
    std::vector<NodePatch> node_patches;  // of those with nodes, by obstacle and cell
    Field<char> split;  // cells that a solid thinner than a cell divides; only one side of it is theirs
    std::vector<char> touches;  // per tile: a solid reaches it or a face beside it

    BoxIndex index;  // of the list: those within two cells of a tile

    bool any() const { return !list.empty(); }
    // The obstacle nearest to a place in a cell that one touches or lies beside.
    int nearest(Int3 cell, Vec3 p) const;
};

inline const Obstacles no_obstacles;

// Cuts the obstacles into the cells of a tiling. With no obstacles every field stays empty.
Obstacles place_obstacles(std::vector<Obstacle> list, const Domain& domain,
                          const std::shared_ptr<const Tiling>& tiling);

// In the mouth of a slit between solids a narrow stream may be fast. It is no more than that stream's
// velocity: given to all that is in the cells beside it, the water there gains momentum that nothing lost,
// and feeds the stream (a plank lifting off a block threw water about at 1e7 m/s). For particles such faces
// are as if they were closed: unmarks those of which less than a fifth is open, and of their neighbours on
// both sides no more. Beside a single solid one neighbour is wide open.
void forget_slits(std::array<Field<char>, 3>& known, const Obstacles& obstacles, const Domain& domain);

// Takes the velocity into solids away from faces that are closed, or slits, leaving the tangential part,
// so that particles beside a solid see no flow into it. Nor any out of it, but from cells that let go.
void constrain_velocity(MacGrid& u, const Obstacles& obstacles, const Domain& domain,
                        const Field<char>* letting_go = nullptr);

// What changes a solid's motion at once.
struct SolidImpulse {
    Vec3 linear;   // [kg m/s]
    Vec3 angular;  // about its position [kg m^2/s]
};

// What friction does to a solid in a step, and how that depends on the solid's motion. The layer of liquid
// that it holds may outweigh the solid: the answer must be that of the motion after the step.
struct Drag {
    Six<double> impulse{};    // on the solid as it moves now: linear, and angular about `center`
    SixBySix<double> less{};  // by so much less, per velocity and spin that it moves faster
};
// Of an obstacle in the list; none where it lets the liquid slide. `u` is what apply_obstacle_friction would
// be given.
std::optional<Drag> obstacle_drag(const MacGrid& u, const Field<double>& phi, const Obstacles& obstacles,
                                  int number, Vec3 center, const Domain& domain, double density, double dt);

// Slows the liquid along obstacles whose slip is below 1, as apply_wall_friction does along walls. Adds what
// each obstacle receives to `impulse`; returns what the liquid does [kg m/s].
Vec3 apply_obstacle_friction(MacGrid& u, const Field<double>& phi, const Obstacles& obstacles,
                             const Domain& domain, double density, double dt,
                             std::vector<SolidImpulse>& impulse);

}  // namespace flotsam

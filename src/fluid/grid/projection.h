// Making the velocity divergence-free: the pressure system of a liquid with a free surface.
//
// Gravity is a potential: the unknown is pi = p - rho g.x, which is constant in water at rest. On the free
// surface, where p = 0, pi = -rho g.x is prescribed at the surface's true place (ghost fluid), so rest is
// exact.
#pragma once

#include <functional>
#include <vector>

#include "core/mat3.h"
#include "fluid/grid/liquid.h"
#include "fluid/grid/obstacles.h"
#include "linalg/interface_map.h"
#include "linalg/network.h"
#include "linalg/solve.h"

namespace flotsam {

struct SolidEquation;  // linalg/coupled_forms.h

// How a face takes part in the solve. This is the one place where theta is clamped; matrix, right-hand side,
// gradient and audit all read it here.
struct Face {
    enum class Kind { none, interior, surface, wall } kind;  // surface: liquid on one side only
    double area = 1;                                         // open share of the face
    double theta = 1;  // distance over which the potential changes, in cells; never less than 0.01
    double reach = 1;  // where the surface is: its distance from the liquid cell's centre, in cells
};

struct PressureSystem {
    const Domain* domain;
    Vec3 gravity;
    double density;
    Field<double> phi;           // distance that the solve sees; liquid cells are those below zero
    const Obstacles* obstacles;  // may be none
    double datum = 0;            // -g.x of the mean surface; keeps numbers small [m^2/s^2]
    Network<double>
        network;  // of the unknowns x = (pi / rho - datum) dt / h [m/s], on the tiles that hold liquid
    std::vector<std::vector<std::int64_t>>
        sealed;  // the unknowns of each connected body of liquid without free surface

    // The face between cell `c`, whose distance is `here`, and the next one along an axis, whose distance is
    // `beyond`.
    Face face(Int3 c, int axis, int direction, double here, double beyond) const;
    // The prescribed potential -g.x, less the datum, at the surface beyond cell c's face [m^2/s^2].
    double surface_potential(Int3 c, int axis, int direction, double reach) const;
    // Calls body(c, n, local, slot) for the liquid cells of a tile of the network: n is the value's index in
    // phi's tiling, `local` its place in tile `slot` of the network.
    template <class Body>
    void for_each_liquid_cell(std::int64_t slot, const Body& body) const;
};

// `phi` less than zero in liquid cells; extended liquid (thin films) included. Domain and obstacles must
// outlive the system.
PressureSystem pressure_system(const Domain& domain, Field<double> phi, Vec3 gravity, double density,
                               const Obstacles& obstacles);

// Between faces that touch, cut cells leave slits that no free surface reaches. Each wants its volume kept
// and can only push the same few bodies: more slits than the bodies have freedoms, and there is no answer at
// all (a block on a plank threw water at 300 m/s). What holds less than a cell's worth of liquid stops being
// liquid for the solve, and contacts hold the bodies there. Says whether there was any: then the system has
// to be made again from its `phi`.
bool leave_out_slits(PressureSystem& system, const Field<double>& open_volume);

// What the liquid's pressure does to a solid.
struct SolidLoad {
    Vec3 force;              // [N]
    Vec3 torque;             // about the solid's position [N m]
    double wetted_area = 0;  // [m^2]
};

// A rigid body that the pressure moves, as the solve sees it. Its obstacle has no motion of its own.
struct MovableBody {
    int obstacle = 0;
    Vec3 center;           // of mass [m]
    Vec3 inverse_mass;     // along each axis; zero where it is held [1/kg]
    Mat3 inverse_inertia;  // about the centre, in world axes [1/(kg m^2)]
    Twist free;            // its motion after the step without the pressure: gravity and contacts included
    Twist motion;          // the result: with the pressure
};
// Looks at the bodies' motion after a solve and may change what they do without the pressure (contacts);
// says whether it did, for the solve to be repeated.
using BodyResponse = std::function<bool(std::vector<MovableBody>&)>;

// Solids whose nodes move by an equation of their own: S v = what they have + what the pressure gives
// [Zarifi17 Eq. 5.14]. The obstacles' node patches count their nodes.
class YieldingSolids {
  public:
    virtual ~YieldingSolids() = default;
    virtual std::int64_t nodes() const = 0;
    // Makes the equation, about where the nodes are going. `known` is the impulse on each node of what is
    // known of the pressure beforehand [kg m/s]. False when it has no solution.
    virtual bool linearize(std::span<const Vec3> known) = 0;
    // How the liquid sees the nodes move without the rest of the pressure.
    virtual std::span<const Vec3> free() const = 0;
    // Whether they answer to it within the solve, and how: S^-1 of impulses.
    virtual bool answers() const = 0;
    virtual void answer(std::span<const Vec3> impulse, std::span<Vec3> velocity) const = 0;
    // What the preconditioner makes of S: the inverse of each node's own block, and bodies that move as rigid
    // ones.
    struct Lumps {
        std::vector<Mat3> own;
        std::vector<int> lump;  // of each node
        std::vector<Vec3> arm;  // from the lump's centre
        std::vector<SixBySix<double>> compliance;
    };
    virtual Lumps lumps() const = 0;
    // The equation itself, for solvers that do not eliminate it.
    virtual SolidEquation equation(bool factors) const = 0;
    // The whole impulse of the pressure on the nodes has been found, and with some solvers how they move by
    // it; otherwise `velocity` is empty. True when the equation has changed by what came out and must be
    // solved again.
    virtual bool take(std::span<const Vec3> impulse, std::span<const Vec3> velocity) = 0;
};

// What moves by the pressure.
struct Movables {
    std::vector<MovableBody>* bodies = nullptr;
    BodyResponse respond{};
    YieldingSolids* yielding = nullptr;
};

struct ProjectionReport {
    SolveReport solve;
    double largest_divergence = 0;  // over liquid cells [1/s]
    double removed_flux = 0;        // that sealed pockets could not take up [m^3/s]
    Vec3 wall_impulse;              // of the sides' pressure on the liquid [kg m/s]
    std::vector<SolidLoad> loads;   // of the pressure on each obstacle
};

// Takes the gradient of pi out of `u`. `source` is the wanted divergence per cell [1/s]. `potential` holds
// the last pi as a first guess and receives the new one [Pa]. `changed` marks the faces that the pressure
// acts on, per axis. Incompressibility and the momentum of what is movable are solved together.
ProjectionReport project(const PressureSystem& system, const Field<double>& source, double dt,
                         const SolverSettings& solver, MacGrid& u, Field<double>& potential,
                         std::array<Field<char>, 3>& changed, const Movables& movables = {});

}  // namespace flotsam

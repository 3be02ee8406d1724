// What moves by the pressure, as its solve sees it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/mat3.h"
#include "core/rotation.h"
#include "linalg/block_cholesky.h"

namespace flotsam {

struct SolidEquation;  // linalg/coupled_forms.h

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
    // How the liquid sees the nodes move without the rest of the pressure. Not known while dear().
    virtual std::span<const Vec3> free() const = 0;
    // Whether they answer to it within the solve, and how: S^-1 of impulses.
    virtual bool answers() const = 0;
    virtual void answer(std::span<const Vec3> impulse, std::span<Vec3> velocity) const = 0;
    // Whether that takes an iteration: then it is better to keep v - from() among the unknowns, for the nodes
    // and for what else takes part in S.
    virtual bool dear() const = 0;
    virtual std::span<const Vec3> from() const = 0;
    virtual std::vector<Vec3> push() const = 0;  // S (v - from) = push + impulses
    virtual void multiply(std::span<const Vec3> d, std::span<Vec3> w) const = 0;
    virtual void invert(std::span<const Vec3> w, std::span<Vec3> d, double accuracy) const = 0;
    virtual void hold(std::span<Vec3> w) const = 0;  // makes them zero in directions that are held
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
    // it, and what else takes part in S; otherwise `velocity` is empty.
    struct Taken {
        bool again = false;  // the equation has changed by what came out and must be solved again
        double share = 1;    // of the way from the last result to this one that all went, rigid ones too
    };
    virtual Taken take(std::span<const Vec3> impulse, std::span<const Vec3> velocity) = 0;
};

// What moves by the pressure.
struct Movables {
    std::vector<MovableBody>* bodies = nullptr;
    BodyResponse respond{};
    YieldingSolids* yielding = nullptr;
};

}  // namespace flotsam

// The solids' side of a coupled solve, as one value: momentum S, right-hand side, interface map J.
//
//   A x + J v = b                        what flows out of each unknown of the liquid
//   S (v - from) = push + s J^T x        the solids' momentum; s turns x into impulses
//
// J and J^T use one list of numbers, so that the solids receive exactly what the liquid gives. Two kinds of
// blocks:
//
//   rigid   six velocities a body: S is 6 x 6, and its inverse is known; joints hold bodies together
//   nodes   three velocities a node: S is an operator with an inverse, exact or by iteration
//
// Eliminating v leaves (A + s J S^-1 J^T) x = b - J v(0): the Schur complement, with v(0) the solids'
// velocity at x = 0.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/mat3.h"
#include "core/vec.h"
#include "linalg/block_matrix.h"
#include "linalg/interface_map.h"
#include "linalg/low_rank.h"
#include "linalg/multigrid.h"
#include "linalg/rigid_constraints.h"

namespace flotsam {

// S of solids made of nodes. Further blocks, which are in no interface map, may follow those of the nodes.
class MomentumOperator {
  public:
    virtual ~MomentumOperator() = default;
    virtual void multiply(std::span<const Vec3> d, std::span<Vec3> w) const = 0;  // w = S d
    // d = S^-1 w from a first guess d, up to a relative residual of `accuracy`.
    virtual void invert(std::span<const Vec3> w, std::span<Vec3> d, double accuracy) const = 0;
    virtual bool exact() const = 0;                  // the inverse takes no iteration
    virtual void hold(std::span<Vec3> w) const = 0;  // makes w zero in directions that are held
};

// S written out, for solvers that do not eliminate it: S (v - from) = push + impulse.
struct SolidEquation {
    struct Part {
        std::int64_t first;  // node
        const BlockMatrix* matrix;
    };
    std::vector<Part> parts;          // of S, along its diagonal,
    std::vector<BlockRow> rows;       // and terms that couple nodes beyond their patterns
    std::vector<double> lumped;       // mass and mass damping of each node, a diagonal part of S [kg]
    std::vector<BlockRow> factors;    // S minus `lumped` as a sum of squares; for the factored form alone
    std::vector<unsigned char> held;  // held directions of each node (bits 1, 2, 4)
    std::vector<Vec3> from, push;     // [m/s], [kg m/s]
    std::vector<Vec3> before;         // a guess at v [m/s]
};

// S as a preconditioner approximates it: the inverse of each node's diagonal block, and each body as a rigid
// one.
struct LumpedMomentum {
    std::vector<Mat3> own;
    std::vector<int> lump;  // of each node
    std::vector<Vec3> arm;  // from the lump's centre
    std::vector<SixBySix<double>> compliance;
};

struct RigidBlocks {
    std::vector<SixBySix<double>> inverse;  // S^-1 [1/kg, 1/(kg m^2)]
    std::vector<Six<double>> from, push;    // [m/s, rad/s], [kg m/s, kg m^2/s]
    LowRank<double> interface;              // J, with the compliance s S^-1
    RigidConstraints joints;
    std::optional<LowRank<double>> modes;  // what is eliminated where there are joints

    const LowRank<double>& eliminated() const { return modes ? *modes : interface; }
};

struct NodeBlocks {
    const MomentumOperator* momentum = nullptr;  // S; null for nodes whose velocity the solve does not change
    std::vector<Vec3> from, push;                // of all blocks of S
    std::vector<Vec3> free;                      // velocity at x = 0: from + S^-1 push; empty where kept()
    InterfaceMap interface;                      // J
    LumpedMomentum lumped;
    std::optional<SolidEquation> equation;  // S written out, where the solver wants it

    // An inverse that needs iterations is better kept out of the matrix: then v - from joins the unknowns.
    bool kept() const { return momentum && !equation && !momentum->exact(); }
    void find_free();
};

struct SolidVelocities {
    std::vector<Six<double>> rigid;
    std::vector<Vec3> nodes;  // and the blocks of S that follow them
};

struct SolidSystem {
    double to_impulse = 0;  // s [kg]
    RigidBlocks rigid;
    NodeBlocks nodes;

    bool empty() const { return rigid.inverse.empty() && nodes.interface.nodes() == 0; }
    // y += sign J v
    void add_outflow(const SolidVelocities& v, double sign, std::span<double> y) const;
    // s J^T x on the nodes, zero where they are held [kg m/s].
    std::vector<Vec3> node_impulse(std::span<const double> x) const;
    // v at x = 0; `from` for nodes that are kept.
    SolidVelocities known_velocity() const;
    // v at x; nodes that are kept are taken from `found`.
    SolidVelocities velocity(std::span<const double> x, SolidVelocities found) const;
    std::vector<Six<double>> rigid_velocity(std::span<const double> x) const;
    // The impulses of joints on the rigid bodies at x.
    std::vector<Six<double>> joint_impulses(std::span<const double> x) const;
    // y += s J S^-1 J^T x for nodes that are eliminated, and for rigid bodies; the latter returns the product
    // of x and the change.
    void add_eliminated_nodes(std::span<const double> x, std::span<double> y) const;
    double add_rigid(std::span<const double> x, std::span<double> y) const;
    // The approximation of S^-1 in multigrid: rank-6 terms and links to the ground.
    LowRank<double> rank_six_terms(std::int64_t slots) const;
    std::vector<GroundLink> ground_links() const;

  private:
    // At x, before joints act.
    std::vector<Six<double>> unjointed_velocity(std::span<const double> x) const;
};

}  // namespace flotsam

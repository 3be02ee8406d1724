// The equation of elastic bodies for a step that is solved together with something else: S v = f + impulses,
// linearized about the nodes' predicted positions [Zarifi17 Eq. 5.1].
//
// Positions are those in the middle of a step. Forces are evaluated in the middle of the next step, so that
// successive middles follow implicit Euler exactly [Zarifi17 Eq. 5.1-5.2], or the trapezoidal rule for bodies
// that use the midpoint rule.
//
// The pressure acts on the surface in the present middle. On a rotating body this would cause a spurious
// torque: its internal forces, rotated with the body, no longer balance the pressure. So the forces are
// rotated back, and S treats rotations as pure inertia: internal forces never exert a torque.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "linalg/block_matrix.h"
#include "linalg/solid_system.h"
#include "solid/elastic/contact_terms.h"
#include "solid/elastic/elastic_body.h"
#include "solid/elastic/elastic_step.h"
#include "solid/rigid/rigid_body.h"

namespace flotsam {

// Moves the nodes by their velocities and held nodes by their pins; bodies that can rotate freely move on
// arcs.
void drift(std::vector<ElasticBody>& bodies, const std::vector<const ElasticProperties*>& properties,
           double time, double dt);

class ElasticEquation final : public MomentumOperator {
  public:
    // Starts a step at `time`. Only data that depends on the meshes alone is kept from step to step. With
    // `turned_back` false, forces are not rotated back and S stays a sparse matrix: for comparison.
    void begin(const std::vector<ElasticBody>& bodies,
               const std::vector<const ElasticProperties*>& properties, Vec3 gravity, double time, double dt,
               std::vector<ElasticContact> contacts, std::vector<RigidPartner> partners,
               bool turned_back = true);

    // Number of nodes of all bodies. Blocks are the nodes of one body after the other, then two for each
    // partner.
    std::int64_t nodes() const { return std::int64_t(nodes_); }
    std::span<const Vec3> velocity() const { return v_; }  // the current iterate
    std::span<const Vec3> velocity_before() const { return before_; }
    std::vector<RigidPartner>& partners() { return partners_; }

    // Computes S and f about the present velocity. With `elasticity` false, S holds masses and damping only;
    // forces are the same. Returns false when S has no inverse.
    bool linearize(bool elasticity = true);
    // The velocity with impulses: v + S^-1 (f - S v + impulse).
    std::vector<Vec3> velocity_with(std::span<const Vec3> impulse) const;
    std::span<const Vec3> descent() const { return descent_; }  // f - S v
    void multiply(std::span<const Vec3> d, std::span<Vec3> w) const override { system_.multiply(d, w); }
    void invert(std::span<const Vec3> w, std::span<Vec3> d, double accuracy) const override;
    bool exact() const override { return solver_->exact(); }
    void hold(std::span<Vec3> w) const override;
    // S as a preconditioner approximates it: each node alone, and each body as a rigid one.
    LumpedMomentum lumped() const;
    // S and its parts on the nodes; there must be no partners. The caller sets `from` and `push`. `factors`
    // are for linear and corotational materials; K of the latter then omits the derivative of the rotations,
    // which is not a sum of six squares per element [Zarifi17 Eq. 5.37-5.39].
    SolidEquation equation(bool factors) const;
    // Accepts a result and the impulses that led to it. From the second round on, a line search shortens the
    // step until the total energy decreases: where impulses depend linearly on v, any point along the step is
    // as valid a result as its ends.
    struct Round {
        bool again;    // contacts opened, closed or slid differently than assumed, or the nodes moved further
                       // than Newton's tolerance from where S was linearized
        double share;  // of the step from the last round's result to this one that was taken
    };
    Round take(std::vector<Vec3> v, std::span<const Vec3> impulse);

    // The momentum that a body received in the step, without the caller's impulses.
    ElasticReceived received(std::size_t body) const;

    // Whether a further round is allowed.
    bool may_go_on() const;
    // The contacts' impulse on a partner at the last accepted velocity.
    Impulse partner_push(std::size_t partner) const {
        return {contact_push_[nodes_ + 2 * partner], contact_push_[nodes_ + 2 * partner + 1]};
    }
    int newton_steps() const { return rounds_; }
    bool failed() const { return failed_; }
    // Whether the last round changed little. If rounds end while nodes still jump, the result is not a
    // solution and needs a shorter step.
    bool settled() const { return settled_; }
    // The last round's change of velocity [m/s], where rounds ran out before Newton's tolerance was met and
    // contacts agreed with what was assumed; else 0.
    double disagreement() const { return disagreement_; }

    const BlockMatrix& matrix(std::size_t body) const { return bodies_[body].matrix; }
    // The velocities of the body's nodes.
    std::span<const Vec3> velocity(std::size_t body) const {
        return std::span(v_).subspan(bodies_[body].first, bodies_[body].start.size());
    }

  private:
    struct Body {
        const ElasticMesh* mesh = nullptr;
        const ElasticProperties* properties = nullptr;
        std::vector<Vec3> start, velocity, force;  // in the middle of the step; before it; from outside
        std::vector<unsigned char> held;
        std::size_t first = 0;
        bool midpoint = false;
        // Forces are evaluated at x + reach (v - from), where `from` is v_before for the midpoint rule and
        // else 0; damping acts on late v + (1 - late) v_before.
        double reach = 0, late = 1;

        std::vector<Vec3> at;     // where forces are evaluated
        std::vector<Vec3> damps;  // the velocity that K damps; empty without stiffness damping
        std::vector<double> energies;
        std::vector<ElementForces> element_forces;
        std::vector<ElementStiffness> element_stiffness;
        std::vector<Vec3> forces;
        BlockMatrix matrix;
        NeutralModes turning;         // rotations that no pin prevents
        std::vector<Mat3> stiffness;  // K at the start of the step, for damping
        std::unique_ptr<BlockPreconditioner> preconditioner;
    };
    void place(Body& body, std::span<const Vec3> v) const;
    std::vector<Vec3> damped(Body& body) const;
    void linearize(Body& body, bool elasticity);
    // The objective that Newton's rounds decrease, without the work of external impulses [Zarifi17 Eq. 3.19].
    double energy(std::span<const Vec3> v);
    void find_turning(Body& body) const;
    std::vector<Mat3> own_blocks() const;  // inverse of each node's diagonal block
    SixBySix<double> rigid_compliance(const Body& body, Vec3 center) const;
    void add_factors(const Body& body, std::vector<BlockRow>& factors) const;

    std::vector<Body> bodies_;
    std::vector<RigidPartner> partners_;
    std::vector<ElasticContact> contacts_;
    std::vector<FrictionState> friction_;
    std::size_t nodes_ = 0;
    double dt_ = 0, edge_ = 0, tolerance_ = 0;
    int most_ = 1, rounds_ = 0;
    mutable bool failed_ = false;
    bool settled_ = true;
    double disagreement_ = 0;
    std::vector<Vec3> v_, before_, descent_;
    bool elasticity_ = true;  // S includes elasticity
    std::vector<BlockRow> contact_rows_;
    // Impulses at v_: of the contacts in S, now and at the end of the last round, and from outside.
    std::vector<Vec3> contact_push_, last_push_, impulse_;
    BlockSystem system_;
    std::unique_ptr<BlockSolver> solver_;
};

}  // namespace flotsam

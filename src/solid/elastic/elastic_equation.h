// The equation of elastic bodies for a step that is solved together with something else: S v = f + impulses,
// linear about where the nodes are going [Zarifi17 Eq. 5.1].
//
// Bodies are where they are in the middle of a step; the forces are those of the next middle, so that
// successive middles follow implicit Euler exactly [Zarifi17 Eq. 5.1-5.2], or the trapezoidal rule for those
// that ask for the midpoint rule.
//
// The pressure acts on the surface as it is in this middle. A body that turns would be turned on by that: its
// internal forces, turned along, no longer balance the pressure. So the forces are turned back, and S answers
// to turning as to masses alone: what is inside a body can never turn it.
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

// Moves the nodes by their velocities, held ones as they are told; what turns freely goes round.
void drift(std::vector<ElasticBody>& bodies, const std::vector<const ElasticProperties*>& properties,
           double time, double dt);

class ElasticEquation final : public MomentumOperator {
  public:
    // Starts a step at `time`. Kept from step to step is only what follows from the meshes. `turned_back`
    // false leaves the forces as they are and S a sparse matrix: for comparison.
    void begin(const std::vector<ElasticBody>& bodies,
               const std::vector<const ElasticProperties*>& properties, Vec3 gravity, double time, double dt,
               std::vector<ElasticContact> contacts, std::vector<RigidPartner> partners,
               bool turned_back = true);

    // Of all bodies, one after the other; two blocks for each partner follow.
    std::int64_t nodes() const { return std::int64_t(nodes_); }
    std::span<const Vec3> velocity() const { return v_; }  // the last that was set
    std::span<const Vec3> velocity_before() const { return before_; }
    std::vector<RigidPartner>& partners() { return partners_; }

    // Makes S and f about the velocity as it is. `elasticity` false: masses and damping only, forces as they
    // are. False when S has no inverse.
    bool linearize(bool elasticity = true);
    // The velocity with impulses: v + S^-1 (f - S v + impulse).
    std::vector<Vec3> velocity_with(std::span<const Vec3> impulse) const;
    std::span<const Vec3> descent() const { return descent_; }  // f - S v
    void multiply(std::span<const Vec3> d, std::span<Vec3> w) const override { system_.multiply(d, w); }
    void invert(std::span<const Vec3> w, std::span<Vec3> d, double accuracy) const override;
    bool exact() const override { return solver_->exact(); }
    void hold(std::span<Vec3> w) const override;
    // As a preconditioner sees S: each node alone, and each body as a rigid one.
    LumpedMomentum lumped() const;
    // S and what it is made of, on the nodes; partners must not be. `from` and `push` are the caller's. With
    // `factors`, of linear and corotational material: the latter's K then lacks how rotations change, which
    // is no sum of squares of six numbers for each element [Zarifi17 Eq. 5.37-5.39].
    SolidEquation equation(bool factors) const;
    // Takes the result and the impulses that gave it. From the second round on no further than the energy of
    // all falls: where impulses answer linearly to v, any share of the way is as good a result as its ends.
    struct Round {
        bool again;  // contacts opened, closed or slid otherwise than was thought, or the nodes went further
                     // than Newton's tolerance from where S was made
        double share;  // of the way from the last round's result to this one that was gone
    };
    Round take(std::vector<Vec3> v, std::span<const Vec3> impulse);

    // What a body received in the step, beside what the caller gave it.
    ElasticReceived received(std::size_t body) const;

    // Whether a further round is allowed.
    bool may_go_on() const;
    // What contacts give a partner, at the velocity that was taken last.
    Impulse partner_push(std::size_t partner) const {
        return {contact_push_[nodes_ + 2 * partner], contact_push_[nodes_ + 2 * partner + 1]};
    }
    int newton_steps() const { return rounds_; }
    bool failed() const { return failed_; }
    // Whether the last round changed little. Rounds that end while nodes still jump have found no more than
    // something; a shorter step finds what there is.
    bool settled() const { return settled_; }
    // What the last round still changed, where rounds ran out before Newton's tolerance was met and contacts
    // were as they were thought to be [m/s]; else 0.
    double disagreement() const { return disagreement_; }

    const BlockMatrix& matrix(std::size_t body) const { return bodies_[body].matrix; }
    // Of the body's nodes.
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
        // Forces are those at x + reach (v - from) and damping acts on late v + (1 - late) v_before.
        double reach = 0, late = 1;

        std::vector<Vec3> at;     // where forces are asked for
        std::vector<Vec3> damps;  // the velocity that is damped by K, empty where nothing is
        std::vector<double> energies;
        std::vector<ElementForces> element_forces;
        std::vector<ElementStiffness> element_stiffness;
        std::vector<Vec3> forces;
        BlockMatrix matrix;
        NeutralModes turning;         // about the axes that no pin holds
        std::vector<Mat3> stiffness;  // K where the step began: what damps
        std::unique_ptr<BlockPreconditioner> preconditioner;
    };
    void place(Body& body, std::span<const Vec3> v) const;
    std::vector<Vec3> damped(Body& body) const;
    void linearize(Body& body, bool elasticity);
    // What rounds make smaller, but for the impulses' part [Zarifi17 Eq. 3.19].
    double energy(std::span<const Vec3> v);
    void find_turning(Body& body) const;
    std::vector<Mat3> own_blocks() const;  // the inverse of each node's
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
    bool elasticity_ = true;  // takes part in S
    std::vector<BlockRow> contact_rows_;
    // Impulses at v_: of the contacts that S knows, now and as the last round ended, and from outside.
    std::vector<Vec3> contact_push_, last_push_, impulse_;
    BlockSystem system_;
    std::unique_ptr<BlockSolver> solver_;
};

}  // namespace flotsam

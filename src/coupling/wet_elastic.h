// Elastic bodies in the coupled solve: strongly coupled, or in one of the weaker ways that
// [Zarifi17 Section 6.3] compares with.
#pragma once

#include <span>
#include <vector>

#include "coupling/elastic_phase.h"
#include "fluid/grid/obstacles.h"
#include "fluid/grid/solid_interface.h"
#include "linalg/solid_system.h"
#include "linalg/solve.h"
#include "solid/elastic/elastic_equation.h"

namespace flotsam {

enum class ElasticCoupling {
    strong,   // masses, damping and elasticity respond to the pressure within the solve [Zarifi17 Ch. 5]
    damping,  // elastic forces act before the solve; masses and damping respond within it
    weak      // the liquid sees their velocity before the solve; they feel its pressure after it
};

// The nodes that a body's skin is interpolated from; its first node has the number `first`.
SurfaceNodes skin_nodes(const ElasticMesh& mesh, int first);
// A single body at rest, cut into a grid: for a single solve.
Obstacle still_elastic_obstacle(const ElasticBody& body, const Domain& domain);

class WetElastic {
  public:
    explicit WetElastic(ElasticCoupling coupling) : coupling_(coupling) {}
    ElasticCoupling coupling() const { return coupling_; }

    // Starts a solve for elastic bodies at their positions in the middle of a step, at `time`; `bodies` are
    // the rigid ones beside them.
    void begin(const Scenario& scenario, const World& now, const std::vector<ElasticBody>& elastics,
               const std::vector<RigidBody>& bodies, double time, double dt);
    std::int64_t nodes() const { return equation_.nodes(); }

    // Linearises the equation about the current estimate of the nodes' motion, and writes it into a solid
    // system's node blocks. `known` is the impulse of the known part of the pressure on each node [kg m/s].
    // False when the equation has no solution.
    bool linearize(std::span<const Vec3> known, const SolverSettings& solver, NodeBlocks& nodes);
    // The same again, about the result of a solve.
    bool linearize(const SolverSettings& solver, NodeBlocks& nodes) {
        return linearize(known_, solver, nodes);
    }

    // Takes the result of a solve: the rest of the pressure's impulse on the nodes, and their velocity.
    struct Taken {
        bool again = false;  // the result has changed the equation, which must be solved again
        double share = 1;    // of the step from the last result to this one that was taken
    };
    Taken take(std::span<const Vec3> impulse, std::vector<Vec3> velocity);
    // Updates pushed(), the impulses of contacts on the rigid bodies, which move by `motion`. Returns whether
    // that changed their motion so much that another solve is needed.
    bool push_bodies(const std::vector<Twist>& motion);
    const std::vector<Impulse>& pushed() const { return pushed_; }

    const ElasticEquation& equation() const { return equation_; }
    // Change of velocity in the last round, where the limit was reached [m/s]. Without elasticity in the
    // solve there is only one round.
    double disagreement() const {
        return coupling_ == ElasticCoupling::damping ? 0 : std::max(equation_.disagreement(), push_left_);
    }

  private:
    ElasticCoupling coupling_;
    ElasticEquation equation_;
    std::vector<Vec3> known_;
    std::vector<RigidBody> bodies_;  // the rigid ones
    std::vector<Impulse> pushed_;
    double push_left_ = 0;  // change of rigid bodies' motion in the last round, and no other followed [m/s]
};

// Adds elastic bodies, after begin(), to a solid system: interface map, momentum, and its lumped form for the
// preconditioner. Pockets that touch them are removed from `sealed`. False when their equation has no
// solution.
bool add_elastic_blocks(WetElastic& elastic, const PressureSystem& system, const SolverSettings& solver,
                        double dt, SolidSystem& solids, std::vector<Pocket>& sealed);

}  // namespace flotsam

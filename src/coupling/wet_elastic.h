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
    strong,   // masses, damping and elasticity answer to the pressure within the solve [Zarifi17 Ch. 5]
    damping,  // elastic forces act before it; masses and damping answer within it
    weak      // the liquid meets them as they moved before; they feel its pressure after it
};

// The nodes that carry a body's skin, when its first one has this number.
SurfaceNodes skin_nodes(const ElasticMesh& mesh, int first);
// A body that stands alone and still, cut into a grid: for a single solve.
Obstacle still_elastic_obstacle(const ElasticBody& body, const Domain& domain);

class WetElastic {
  public:
    explicit WetElastic(ElasticCoupling coupling) : coupling_(coupling) {}
    ElasticCoupling coupling() const { return coupling_; }

    // Starts a solve for bodies that are where they are in the middle of a step, at `time`; `bodies` are the
    // rigid ones beside them.
    void begin(const Scenario& scenario, const World& now, const std::vector<ElasticBody>& elastics,
               const std::vector<RigidBody>& bodies, double time, double dt);
    std::int64_t nodes() const { return equation_.nodes(); }

    // Makes the equation about where the nodes are going, and writes it into a solid system's node blocks.
    // `known` is the impulse on each node of what is known of the pressure beforehand [kg m/s]. False when
    // the equation has no solution.
    bool linearize(std::span<const Vec3> known, const SolverSettings& solver, NodeBlocks& nodes);
    // The same again, about where a solve has brought the nodes.
    bool linearize(const SolverSettings& solver, NodeBlocks& nodes) {
        return linearize(known_, solver, nodes);
    }

    // A solve has found the rest of the pressure's impulse on the nodes, and their velocity.
    struct Taken {
        bool again = false;  // the equation has changed by what came out and must be solved again
        double share = 1;    // of the way from the last result to this one that nodes went
    };
    Taken take(std::span<const Vec3> impulse, std::vector<Vec3> velocity);
    // Contacts push the rigid bodies, which move by `motion`; pushed() says how much. Whether that changed
    // their motion by so much that another solve is wanted.
    bool push_bodies(const std::vector<Twist>& motion);
    const std::vector<Impulse>& pushed() const { return pushed_; }

    const ElasticEquation& equation() const { return equation_; }
    // What the last round still changed, where rounds ran out [m/s]. Without elasticity in the solve there is
    // but one.
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

// Adds elastic bodies, after begin(), to a solid system: interface, momentum, and what the preconditioner
// takes for it. Pockets that give way to them are taken out of `sealed`. False when their equation has no
// solution.
bool add_elastic_blocks(WetElastic& elastic, const PressureSystem& system, const SolverSettings& solver,
                        double dt, SolidSystem& solids, std::vector<Pocket>& sealed);

}  // namespace flotsam

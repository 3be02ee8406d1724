// Elastic bodies as the pressure solve sees them: strongly coupled, or in one of the weaker ways that
// [Zarifi17 Section 6.3] compares with.
#pragma once

#include <vector>

#include "coupling/elastic_phase.h"
#include "fluid/grid/projection.h"
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

class WetElastic final : public YieldingSolids {
  public:
    explicit WetElastic(ElasticCoupling coupling) : coupling_(coupling) {}
    ElasticCoupling coupling() const { return coupling_; }

    // Starts a solve for bodies that are where they are in the middle of a step, at `time`; `movable` are the
    // rigid ones, whose free motion changes by what elastic ones push them.
    void begin(const Scenario& scenario, const World& now, const std::vector<ElasticBody>& elastics,
               const std::vector<RigidBody>& bodies, double time, double dt,
               std::vector<MovableBody>& movable);

    std::int64_t nodes() const override { return equation_.nodes(); }
    bool linearize(std::span<const Vec3> known) override;
    std::span<const Vec3> free() const override { return std::span(free_).first(equation_.nodes()); }
    bool answers() const override { return coupling_ != ElasticCoupling::weak; }
    void answer(std::span<const Vec3> impulse, std::span<Vec3> velocity) const override {
        equation_.solve(impulse, velocity);
    }
    bool dear() const override { return equation_.dear(); }
    std::span<const Vec3> from() const override;
    std::vector<Vec3> push() const override;
    void multiply(std::span<const Vec3> d, std::span<Vec3> w) const override { equation_.multiply(d, w); }
    void invert(std::span<const Vec3> w, std::span<Vec3> d, double accuracy) const override {
        equation_.invert(w, d, accuracy);
    }
    void hold(std::span<Vec3> w) const override { equation_.hold(w); }
    Lumps lumps() const override;
    SolidEquation equation(bool factors) const override;
    Taken take(std::span<const Vec3> impulse, std::span<const Vec3> velocity) override;

    // The result: velocities of the nodes of body b; what each rigid body was given.
    std::vector<Vec3> velocity(std::size_t body) const;
    const std::vector<Impulse>& pushed() const { return pushed_; }
    const ElasticEquation& equation() const { return equation_; }
    // What the last round still changed, where rounds ran out [m/s]. Without elasticity in the solve there is
    // but one.
    double disagreement() const {
        return coupling_ == ElasticCoupling::damping ? 0 : std::max(equation_.disagreement(), push_left_);
    }

  private:
    double push_partners();

    ElasticCoupling coupling_;
    ElasticEquation equation_;
    std::vector<Vec3> known_, free_;
    std::vector<Vec3> elastic_;  // with damping-only coupling: the velocity that elastic forces give
    std::vector<MovableBody>* movable_ = nullptr;
    std::vector<Impulse> pushed_;
    double push_left_ = 0;  // that rigid ones were given in the last round, and no other followed [m/s]
    std::vector<Twist> last_motion_;  // of the rigid ones, as the last round ended
};

}  // namespace flotsam

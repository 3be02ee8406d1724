// Solids in the pressure solve: what their motion pushes out of each cell, and how it answers to the
// pressure.
#pragma once

#include <span>
#include <vector>

#include "fluid/grid/movables.h"
#include "fluid/grid/pressure_system.h"
#include "linalg/coupled_forms.h"
#include "linalg/interface_map.h"
#include "linalg/kept_unknowns.h"
#include "linalg/low_rank.h"

namespace flotsam {

// The cell whose pressure a patch feels, in phi's tiling, or -1: its own, if that is liquid; one beside it
// where the solid all but fills the patch's own.
template <class AnyPatch>
std::int64_t felt_cell(const PressureSystem& system, const AnyPatch& patch) {
    if (system.phi[patch.cell] < 0) return patch.cell;
    if (system.obstacles->open_volume[patch.cell] > 0) return -1;
    for (int side = 0; side < 6; ++side) {
        const Int3 beside = patch.at + unit(side / 2) * (side % 2 ? 1 : -1);
        if (system.domain->has_cell(beside) && system.phi(beside) < 0)
            return system.phi.tiling().find(beside);
    }
    return -1;
}

// The weight of the water in p = pi + rho g.x, integrated over a patch exactly [N].
template <class AnyPatch>
Vec3 hydrostatic_force(const PressureSystem& system, const AnyPatch& patch) {
    Vec3 force;
    for (int d = 0; d < 3; ++d) force -= system.density * system.gravity[d] * patch.moment[d];
    return force;
}

// The bodies' part of the solve. J maps the six velocities of each body to what they push out of each liquid
// cell, its transpose maps x to the bodies' impulses [Zarifi17 5.2.3; Batty 2007]. Nothing is spread by
// volume: both are the patches' exact area vectors.
class BodyTerm {
  public:
    BodyTerm(const PressureSystem& system, std::vector<MovableBody>& bodies, double dt);
    const LowRank<double>& modes() const { return modes_; }
    // The pockets of liquid that neither a free surface nor a body gives way to.
    const std::vector<Pocket>& sealed() const { return sealed_; }

    // What flows out of each cell beside the bodies is added to `to`, `sign` times: of their motion without
    // x, or of their motion as it is.
    void add_known_outflow(std::vector<double>& to, double sign) const {
        add_outflow(to, sign, [&](std::size_t b) { return moved(b, {}); });
    }
    void add_outflow(std::vector<double>& to, double sign) const {
        add_outflow(to, sign, [&](std::size_t b) { return bodies_[b].motion; });
    }
    // The motion that x gives them.
    void move(const std::vector<double>& x);

  private:
    // Whether a pocket's liquid can push a body aside. A body that is all inside it cannot be pushed by a
    // constant pressure: small sums of its fluxes, which closed slivers leave, are taken out, or that
    // pressure would grow until they balance what flows into the pocket.
    bool yields(const Pocket& pocket, const PressureSystem& system,
                std::vector<ModeEntry<double>>& entries) const;
    static void add(Six<double>& six, Vec3 linear, Vec3 angular) {
        for (int a = 0; a < 3; ++a) six[a] += linear[a], six[3 + a] += angular[a];
    }
    Twist moved(std::size_t b, const Six<double>& impulse) const;
    template <class Motion>
    void add_outflow(std::vector<double>& to, double sign, const Motion& motion) const {
        if (modes_.empty()) return;
        std::vector<Six<double>> v(bodies_.size());
        for (std::size_t b = 0; b < v.size(); ++b) {
            const Twist twist = motion(b);
            add(v[b], twist.velocity, twist.spin);
        }
        modes_.scatter(v, std::span(to), [=](std::int64_t) { return sign; });
    }

    std::vector<MovableBody>& bodies_;
    double to_impulse_;                // of x times face areas [kg]
    std::vector<Six<double>> weight_;  // impulse of what is known of pi
    std::vector<Pocket> sealed_;
    LowRank<double> modes_;
};

// The elastic solids' part of the solve: J S^-1 J^T, with J down to their nodes [Zarifi17 5.1]. Their
// velocity is eliminated where S has factors, and kept among the unknowns where it has not.
class YieldingTerm final : public AddedTerm, public KeptUnknowns {
  public:
    // `together`: their equation is not eliminated.
    YieldingTerm(const PressureSystem& system, YieldingSolids* solids, double dt, bool together);
    explicit operator bool() const { return solids_ != nullptr; }
    bool answers() const { return solids_ && solids_->answers(); }
    bool together() const { return together_; }
    bool dear() const { return answers() && !together_ && solids_->dear(); }

    bool linearize() { return !solids_ || solids_->linearize(known_); }
    // Leaves the pockets that no surface of these solids gives way to.
    void keep_sealed(std::vector<Pocket>& sealed) const;
    void add_known_outflow(std::vector<double>& to, double sign) const;
    void add_outflow(std::vector<double>& to, double sign) const {
        if (solids_) map_.scatter(seen_, to, sign);
    }
    // Liquid and solids as one system of pressures and velocities [Zarifi17 Eq. 5.15-5.16].
    CoupledSystem coupled(const PressureSystem& system, AssembledNetwork assembled, double dt,
                          const std::vector<double>& rhs, bool factors) const;
    // Solves that system: x and the nodes' velocity.
    SolveReport solve_together(const PressureSystem& system, double dt, SolverSettings settings,
                               const std::vector<double>& rhs, std::vector<double>& x);
    // Solves for x with their velocity among the unknowns.
    SolveReport solve_keeping(Multigrid& multigrid, const std::vector<double>& rhs, std::vector<double>& x,
                              const SolveTolerance& tolerance);
    // The motion that x gives them.
    void move(const std::vector<double>& x);
    // They take it, or a share of the way from the x before, which x then is as well. Whether to go on.
    bool take(std::vector<double>& x);

    void add(std::span<const double> x, std::span<double> y) const override;
    void add_outflow(std::span<const Vec3> d, std::span<double> y) const override {
        map_.scatter(d.first(known_.size()), y, 1);
    }
    void impulse(std::span<const double> x, std::span<Vec3> w) const override;
    void multiply(std::span<const Vec3> d, std::span<Vec3> w) const override { solids_->multiply(d, w); }
    void invert(std::span<const Vec3> w, std::span<Vec3> d, double accuracy) const override {
        solids_->invert(w, d, accuracy);
    }
    // For the preconditioner S^-1 is what each node does alone, and what bodies do as rigid ones.
    AddedGuess guess() const;

  private:
    void find_impulse(std::span<const double> x) const;

    YieldingSolids* solids_;
    bool together_;
    double to_impulse_;  // of x times face areas [kg]
    InterfaceMap map_;
    std::vector<Vec3> known_;
    std::vector<Vec3> seen_, last_seen_;  // how the liquid sees the nodes move, and saw
    std::vector<Vec3> found_;             // with x: their velocity, and what else takes part in S
    std::vector<double> last_x_;
    mutable std::vector<Vec3> impulse_, velocity_;  // scratch
};

}  // namespace flotsam

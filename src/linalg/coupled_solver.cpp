#include "linalg/coupled_solver.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/parallel.h"

namespace flotsam {

EliminatedSolve::EliminatedSolve(const Network<double>& network, const SolidSystem& solids,
                                 Multigrid& multigrid, std::span<const double> b, std::span<double> x,
                                 const SolveTolerance& tolerance)
    : network_(network),
      solids_(solids),
      multigrid_(multigrid),
      b_(b),
      x_(x),
      space_{network.slot_count(), multigrid.residual()},
      goal_(std::sqrt(space_.dot(b, b)), unknowns(network), tolerance) {
    if (!std::isfinite(goal_.norm)) return;
    if (goal_.nothing_to_solve())
        std::fill(x.begin(), x.end(), 0.0);
    else
        at_.emplace(space_, space_.zero(), 0), at_->residual = find_residual();
}

double EliminatedSolve::apply(const TileVector<double>& v, TileVector<double>& y) {
    double product = flotsam::apply(network_, v, y);
    if (!solids_.rigid.interface.empty()) product += solids_.add_rigid(v, y);
    if (!solids_.nodes.momentum) return product;
    solids_.add_eliminated_nodes(v, y);
    return space_.dot(v, y);
}

double EliminatedSolve::find_residual() {
    std::copy(x_.begin(), x_.end(), at_->p.begin());
    (void)apply(at_->p, at_->q);
    return std::sqrt(space_.residual(at_->r, b_, at_->q));
}

void EliminatedSolve::run(const krylov::Goal& goal) {
    if (!at_) return;
    // TileSpace has already stored r in single precision where the preconditioner reads it.
    const auto cycle_on_r = [&](const TileVector<double>&, TileVector<float>&) { return multigrid_.cycle(); };
    const auto matrix = [&](const TileVector<double>& v, TileVector<double>& y) { return apply(v, y); };
    (void)krylov::conjugate_gradients(space_, matrix, cycle_on_r, x_, multigrid_.correction(), *at_, goal);
}

void EliminatedSolve::improve(double relative) {
    krylov::Goal rough = goal_;
    rough.wanted = std::max(goal_.wanted, relative * goal_.norm);
    run(rough);
}

SolveReport EliminatedSolve::finish() {
    if (!std::isfinite(goal_.norm)) return {.residual = goal_.norm};
    if (!at_) return {.converged = true};
    run(goal_);
    return goal_.report(find_residual(), at_->iterations);
}

namespace {

constexpr std::int64_t grain = 8192;
// Accuracy of S^-1 within an iteration. A rougher one needs more iterations.
constexpr double rough = 0.3;
// Directions that are kept before a restart.
constexpr int most_directions = 40;

// to += s v
template <class A, class B>
void add_scaled(std::span<A> to, double s, std::span<const B> v) {
    parallel_for(std::ssize(v), grain, [&](std::int64_t n) { to[n] += s * v[n]; });
}

// Pressures and velocities in one vector.
struct PairSpace {
    struct Vector {
        std::vector<double> x;
        std::vector<Vec3> d;
    };
    struct Direction {  // a preconditioned vector
        std::vector<float> x;
        std::vector<Vec3> d;
    };
    struct Unknown {
        std::span<double> x;
        std::span<Vec3> d;
    };
    double weight = 1;  // of d's residual: squared ratio of the sizes of both right-hand sides

    static double dot_x(std::span<const double> a, std::span<const double> c) {
        return fixed_sum<double>(std::ssize(a), grain, [&](std::int64_t n) { return a[n] * c[n]; });
    }
    static double dot_d(std::span<const Vec3> a, std::span<const Vec3> c) {
        return fixed_sum<double>(std::ssize(a), grain,
                                 [&](std::int64_t n) { return flotsam::dot(a[n], c[n]); });
    }
    double dot(const Vector& a, const Vector& c) const { return dot_x(a.x, c.x) + weight * dot_d(a.d, c.d); }
    static void add(Vector& y, double s, const Vector& v) {
        add_scaled<double, double>(y.x, s, v.x);
        add_scaled<Vec3, Vec3>(y.d, s, v.d);
    }
    static void add(Unknown& y, double s, const Direction& v) {
        add_scaled<double, float>(y.x, s, v.x);
        add_scaled<Vec3, Vec3>(y.d, s, v.d);
    }
    static void scale(Vector& v, double s) {
        parallel_for(std::ssize(v.x), grain, [&](std::int64_t n) { v.x[n] *= s; });
        parallel_for(std::ssize(v.d), grain, [&](std::int64_t n) { v.d[n] *= s; });
    }
};

}  // namespace

SolveReport solve_keeping_nodes(const Network<double>& network, const SolidSystem& solids,
                                Multigrid& multigrid, std::span<const double> b, std::span<double> x,
                                std::span<Vec3> d, const SolveTolerance& tolerance) {
    PairSpace space;
    const MomentumOperator& momentum = *solids.nodes.momentum;
    std::vector<Vec3> push = solids.nodes.push, w(d.size()), given(d.size());
    momentum.hold(push);
    momentum.hold(d);
    // The operator without the kept nodes: the network and the rigid bodies.
    const auto apply_known = [&](const TileVector<double>& v, std::vector<double>& y) {
        (void)apply(network, v, y);
        if (!solids.rigid.interface.empty()) (void)solids.add_rigid(v, y);
    };
    // Vectors that the network acts on end with a tile of zeros.
    const auto padded = [&](const auto& from) {
        TileVector<double> at(x.size() + Tiling::cells_per_tile, 0.0);
        std::copy(from.begin(), from.end(), at.begin());
        return at;
    };
    const auto residual = [&] {
        PairSpace::Vector r{std::vector<double>(x.size()), std::vector<Vec3>(d.size())};
        apply_known(padded(x), r.x);
        solids.nodes.interface.scatter(d, r.x, 1);
        momentum.multiply(d, r.d);
        w = solids.node_impulse(x);
        parallel_for(std::ssize(x), grain, [&](std::int64_t n) { r.x[n] = b[n] - r.x[n]; });
        parallel_for(std::ssize(d), grain, [&](std::int64_t n) { r.d[n] = push[n] + w[n] - r.d[n]; });
        return r;
    };
    // Solves for d at the present x.
    const auto invert = [&](double accuracy) {
        w = solids.node_impulse(x);
        add_scaled<Vec3, Vec3>(w, 1, push);
        momentum.invert(w, d, accuracy);
    };
    // Preconditions v by a cycle of multigrid, whose result gives the right-hand side of S^-1. Returns z and
    // A z.
    const auto expand = [&](const PairSpace::Vector& v) {
        PairSpace::Direction z{multigrid.precondition(v.x), std::vector<Vec3>(d.size())};
        PairSpace::Vector az{std::vector<double>(x.size()), std::vector<Vec3>(d.size())};
        {
            const TileVector<double> at = padded(z.x);
            given = solids.node_impulse(at);
            apply_known(at, az.x);
        }
        parallel_for(std::ssize(w), grain, [&](std::int64_t n) { w[n] = v.d[n] + given[n]; });
        momentum.invert(w, z.d, rough);
        solids.nodes.interface.scatter(z.d, az.x, 1);
        momentum.multiply(z.d, az.d);
        add_scaled<Vec3, Vec3>(az.d, -1, given);
        return std::pair{std::move(z), std::move(az)};
    };

    // d at x = 0 gives the size of the right-hand side.
    std::vector<Vec3> free(d.begin(), d.end());
    momentum.invert(push, free, 0.03);
    std::vector<double> flux(x.size(), 0.0);
    solids.nodes.interface.scatter(free, flux, 1);
    parallel_for(std::ssize(x), grain, [&](std::int64_t n) { flux[n] = b[n] - flux[n]; });
    const double norm = std::sqrt(PairSpace::dot_x(flux, flux));
    if (!std::isfinite(norm)) return {false, 0, norm};
    const krylov::Goal goal(norm, unknowns(network), tolerance);
    if (goal.nothing_to_solve()) {
        std::fill(x.begin(), x.end(), 0.0);
        momentum.invert(push, d, 1e-10);
        return {.converged = true};
    }
    invert(0.03);
    const double size = std::max(PairSpace::dot_d(push, push), PairSpace::dot_d(w, w));
    if (size > 0) space.weight = norm * norm / size;
    PairSpace::Unknown unknown{x, d};
    const krylov::Outcome outcome =
        krylov::flexible_gmres(space, expand, unknown, residual, goal, most_directions);
    if (outcome.broke_down) return {false, outcome.iterations, outcome.residual / norm};
    invert(1e-10);
    return goal.report(outcome.residual, outcome.iterations);
}

}  // namespace flotsam

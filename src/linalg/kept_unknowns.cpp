#include "linalg/kept_unknowns.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/parallel.h"
#include "linalg/krylov.h"

namespace flotsam {

namespace {

constexpr std::int64_t grain = 8192;
// How exact S^-1 is within an iteration. Less exact, more iterations are needed.
constexpr double rough = 0.3;
// Directions that are kept before starting again.
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
    struct Direction {  // what the preconditioner makes of one
        std::vector<float> x;
        std::vector<Vec3> d;
    };
    struct Unknown {
        std::span<double> x;
        std::span<Vec3> d;
    };
    double weight = 1;  // of what is left of d's equation: squared ratio of both sides' sizes

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

SolveReport solve(Multigrid& multigrid, const KeptUnknowns& kept, std::span<const double> b,
                  std::span<const Vec3> push, std::span<double> x, std::span<Vec3> d,
                  const SolveTolerance& tolerance) {
    PairSpace space;
    std::vector<Vec3> w(d.size()), given(d.size());
    // Vectors that the network acts on end with a tile of zeros.
    const auto padded = [&](const auto& from) {
        TileVector<double> at(x.size() + Tiling::cells_per_tile, 0.0);
        std::copy(from.begin(), from.end(), at.begin());
        return at;
    };
    const auto residual = [&] {
        PairSpace::Vector r{std::vector<double>(x.size()), std::vector<Vec3>(d.size())};
        multigrid.apply(padded(x), r.x);
        kept.add_outflow(d, r.x);
        kept.multiply(d, r.d);
        kept.impulse(x, w);
        parallel_for(std::ssize(x), grain, [&](std::int64_t n) { r.x[n] = b[n] - r.x[n]; });
        parallel_for(std::ssize(d), grain, [&](std::int64_t n) { r.d[n] = push[n] + w[n] - r.d[n]; });
        return r;
    };
    // d from x.
    const auto invert = [&](double accuracy) {
        kept.impulse(x, w);
        add_scaled<Vec3, Vec3>(w, 1, push);
        kept.invert(w, d, accuracy);
    };
    // A cycle of multigrid, whose result gives S^-1 its right-hand side, and a part of A z.
    const auto expand = [&](const PairSpace::Vector& v) {
        PairSpace::Direction z{multigrid.precondition(v.x), std::vector<Vec3>(d.size())};
        PairSpace::Vector az{std::vector<double>(x.size()), std::vector<Vec3>(d.size())};
        {
            const TileVector<double> at = padded(z.x);
            kept.impulse(at, given);
            multigrid.apply(at, az.x);
        }
        parallel_for(std::ssize(w), grain, [&](std::int64_t n) { w[n] = v.d[n] + given[n]; });
        kept.invert(w, z.d, rough);
        kept.add_outflow(z.d, az.x);
        kept.multiply(z.d, az.d);
        add_scaled<Vec3, Vec3>(az.d, -1, given);
        return std::pair{std::move(z), std::move(az)};
    };

    // What d is without x says how large the right-hand side is.
    std::vector<Vec3> free(d.begin(), d.end());
    kept.invert(push, free, 0.03);
    std::vector<double> flux(x.size(), 0.0);
    kept.add_outflow(free, flux);
    parallel_for(std::ssize(x), grain, [&](std::int64_t n) { flux[n] = b[n] - flux[n]; });
    const double norm = std::sqrt(PairSpace::dot_x(flux, flux));
    if (!std::isfinite(norm)) return {false, 0, norm};
    const krylov::Goal goal(norm, multigrid.unknowns(), tolerance);
    if (goal.nothing_to_solve()) {
        std::fill(x.begin(), x.end(), 0.0);
        kept.invert(push, d, 1e-10);
        return {.converged = true};
    }
    invert(0.03);
    const double size = std::max(PairSpace::dot_d(push, push), PairSpace::dot_d(w, w));
    if (size > 0) space.weight = norm * norm / size;
    PairSpace::Unknown unknown{x, d};
    const krylov::Outcome outcome =
        krylov::flexible_gmres(space, expand, unknown, residual, goal, most_directions);
    if (outcome.stopped) return {false, outcome.iterations, outcome.residual / norm};
    invert(1e-10);
    return goal.report(outcome.residual, outcome.iterations);
}

}  // namespace flotsam

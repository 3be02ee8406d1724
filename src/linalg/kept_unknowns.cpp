#include "linalg/kept_unknowns.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel.h"

namespace flotsam {

namespace {

constexpr std::int64_t grain = 8192;
// How exact S^-1 is within an iteration. Less exact, more iterations are needed.
constexpr double rough = 0.3;
// Directions that are kept before starting again.
constexpr int most_directions = 40;

struct Pair {
    std::vector<double> x;
    std::vector<Vec3> d;
};

// to += a v
template <class A, class B>
void add(std::span<A> to, double a, std::span<const B> v) {
    parallel_for(std::ssize(v), grain, [&](std::int64_t n) { to[n] += a * v[n]; });
}

}  // namespace

SolveReport solve(Multigrid& multigrid, const KeptUnknowns& kept, std::span<const double> b,
                  std::span<const Vec3> push, std::span<double> x, std::span<Vec3> d,
                  const SolveTolerance& tolerance) {
    double weight = 1;  // of what is left of d's equation: squared ratio of both sides' sizes
    const auto product_x = [](std::span<const double> a, std::span<const double> c) {
        return fixed_sum<double>(std::ssize(a), grain, [&](std::int64_t n) { return a[n] * c[n]; });
    };
    const auto product_d = [](std::span<const Vec3> a, std::span<const Vec3> c) {
        return fixed_sum<double>(std::ssize(a), grain, [&](std::int64_t n) { return dot(a[n], c[n]); });
    };
    const auto product = [&](const Pair& a, const Pair& c) {
        return product_x(a.x, c.x) + weight * product_d(a.d, c.d);
    };

    std::vector<Vec3> w(d.size()), given(d.size());
    // Vectors that the network acts on end with a tile of zeros.
    const std::size_t padded = x.size() + Tiling::cells_per_tile;
    const auto residual = [&] {
        Pair r{std::vector<double>(x.size()), std::vector<Vec3>(d.size())};
        TileVector<double> at(padded, 0.0);
        std::copy(x.begin(), x.end(), at.begin());
        multigrid.apply(at, r.x);
        kept.add_outflow(d, r.x);
        kept.multiply(d, r.d);
        kept.impulse(x, w);
        parallel_for(std::ssize(x), grain, [&](std::int64_t n) { r.x[n] = b[n] - r.x[n]; });
        parallel_for(std::ssize(d), grain, [&](std::int64_t n) { r.d[n] = push[n] + w[n] - r.d[n]; });
        return r;
    };
    // What d is without x says how large the right-hand side is.
    std::vector<Vec3> free(d.begin(), d.end());
    kept.invert(push, free, 0.03);
    std::vector<double> flux(x.size(), 0.0);
    kept.add_outflow(free, flux);
    parallel_for(std::ssize(x), grain, [&](std::int64_t n) { flux[n] = b[n] - flux[n]; });
    const double norm = std::sqrt(product_x(flux, flux));
    if (!std::isfinite(norm)) return {false, 0, norm};
    const double wanted =
        std::max(tolerance.relative * norm, tolerance.absolute * std::sqrt(multigrid.unknowns()));
    SolveReport report;
    if (norm <= wanted) {
        std::fill(x.begin(), x.end(), 0.0);
        kept.invert(push, d, 1e-10);
        report.converged = true;
        return report;
    }

    kept.impulse(x, w);
    add<Vec3, Vec3>(w, 1, push);
    kept.invert(w, d, 0.03);
    const double size = std::max(product_d(push, push), product_d(w, w));
    if (size > 0) weight = norm * norm / size;
    Pair r = residual();
    double left = std::sqrt(product(r, r));
    while (left > wanted && report.iterations < tolerance.max_iterations) {
        std::vector<Pair> basis;
        struct Direction {
            std::vector<float> x;
            std::vector<Vec3> d;
        };
        std::vector<Direction> direction;
        std::vector<std::vector<double>> column;  // of the triangle that Givens' rotations leave
        std::vector<double> cosine, sine, rest{left};
        const auto scale = [](Pair& v, double a) {
            parallel_for(std::ssize(v.x), grain, [&](std::int64_t n) { v.x[n] *= a; });
            parallel_for(std::ssize(v.d), grain, [&](std::int64_t n) { v.d[n] *= a; });
        };
        scale(r, 1 / left);
        basis.push_back(std::move(r));
        while (std::abs(rest.back()) > wanted && int(direction.size()) < most_directions &&
               report.iterations < tolerance.max_iterations) {
            const Pair& v = basis.back();
            Direction z{multigrid.precondition(v.x), std::vector<Vec3>(d.size())};
            Pair next{std::vector<double>(x.size()), std::vector<Vec3>(d.size())};
            {
                TileVector<double> at(padded, 0.0);
                std::copy(z.x.begin(), z.x.end(), at.begin());
                kept.impulse(at, given);
                multigrid.apply(at, next.x);
            }
            parallel_for(std::ssize(w), grain, [&](std::int64_t n) { w[n] = v.d[n] + given[n]; });
            kept.invert(w, z.d, rough);
            kept.add_outflow(z.d, next.x);
            kept.multiply(z.d, next.d);
            add<Vec3, Vec3>(next.d, -1, given);
            direction.push_back(std::move(z));

            std::vector<double> h;
            for (const Pair& before : basis) {
                h.push_back(product(before, next));
                add<double, double>(next.x, -h.back(), before.x);
                add<Vec3, Vec3>(next.d, -h.back(), before.d);
            }
            const double length = std::sqrt(product(next, next));
            for (std::size_t k = 0; k < cosine.size(); ++k) {
                const double upper = cosine[k] * h[k] + sine[k] * h[k + 1];
                h[k + 1] = cosine[k] * h[k + 1] - sine[k] * h[k];
                h[k] = upper;
            }
            const double both = std::hypot(h.back(), length);
            if (!(both > 0)) return {false, report.iterations, std::abs(rest.back()) / norm};
            cosine.push_back(h.back() / both);
            sine.push_back(length / both);
            h.back() = both;
            column.push_back(std::move(h));
            rest.push_back(-sine.back() * rest.back());
            rest[rest.size() - 2] *= cosine.back();
            if (length > 0) scale(next, 1 / length);
            basis.push_back(std::move(next));
            ++report.iterations;
        }
        for (std::size_t k = column.size(); k-- > 0;) {
            double y = rest[k];
            for (std::size_t j = k + 1; j < column.size(); ++j) y -= column[j][k] * rest[j];
            rest[k] = y / column[k][k];
            add<double, float>(x, rest[k], direction[k].x);
            add<Vec3, Vec3>(d, rest[k], direction[k].d);
        }
        r = residual();
        const double before = left;
        left = std::sqrt(product(r, r));
        if (!(left < 0.5 * before)) break;  // rounding is all that is left, or it does not converge
    }
    report.residual = left / norm;
    report.converged = left < 10 * wanted;
    kept.impulse(x, w);
    add<Vec3, Vec3>(w, 1, push);
    kept.invert(w, d, 1e-10);
    return report;
}

}  // namespace flotsam

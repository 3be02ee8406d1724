// Textbook Krylov methods over any type of vector.
//
// A Space owns the inner product and makes and combines vectors. It computes all sums, so that it can fix
// their order, keep vectors on a GPU or spread them over processes. Methods use:
//
//   Vector                       what a method works with; v = space.zero() makes one
//   dot(a, b)
//   add(y, s, x)                 y += s x
//   scale(y, s)                  y *= s
//   add_to_scaled(p, s, z)       p = z + s p
//   descend(x, r, s, p, q)       x += s p, r -= s q in one pass; returns r . r
//
// A LinearOperator is called as a(x, y): y = A x, and returns x . y, which costs nothing while both are in
// the cache. Preconditioners are the same: m(r, z), z = M^-1 r. A method ends when the residual of its
// recurrence is `wanted` or less, and returns that residual; the caller checks whether b - A x is as small.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "linalg/solve.h"

namespace flotsam::krylov {

struct Goal {
    double norm = 0;    // of the right-hand side
    double wanted = 0;  // residual
    int max_iterations = 0;

    Goal(double norm_, double unknowns, const SolveTolerance& tolerance)
        : norm(norm_),
          wanted(std::max(tolerance.relative * norm, tolerance.absolute * std::sqrt(unknowns))),
          max_iterations(tolerance.max_iterations) {}
    bool nothing_to_solve() const { return norm <= wanted; }  // zero is exact enough
    // The report on x with the true residual `residual`. A recurrence may drift from it by rounding; a factor
    // of ten is no failure.
    SolveReport report(double residual, int iterations) const {
        return {.converged = residual < 10 * wanted, .iterations = iterations, .residual = residual / norm};
    }
};

struct Outcome {
    double residual = 0;
    int iterations = 0;
    bool broke_down = false;  // no direction was left before the goal was reached
};

// The state of conjugate gradients: r = b - A x and its norm, the last direction p, q = A p and rz = r . z.
template <class Space>
struct ConjugateDirections {
    typename Space::Vector r;
    double residual;
    typename Space::Vector p, q;
    double rz = 0;
    int iterations = 0;

    ConjugateDirections(const Space& space, typename Space::Vector r_, double residual_)
        : r(std::move(r_)), residual(residual_), p(space.zero()), q(space.zero()) {}
};

// Conjugate gradients [Saad03 Alg. 9.1], for A and M symmetric and positive definite. `z` is where m puts its
// result. Continues from `at`, so that a rough solution can be inspected and then refined. Ends early where A
// turns out not to be positive definite.
template <class Space, class Operator, class Preconditioner, class X, class Z>
Outcome conjugate_gradients(Space& space, const Operator& a, const Preconditioner& m, X& x, Z& z,
                            ConjugateDirections<Space>& at, const Goal& goal) {
    for (; at.residual > goal.wanted && at.iterations < goal.max_iterations; ++at.iterations) {
        const double rz_before = at.rz;
        at.rz = m(at.r, z);
        space.add_to_scaled(at.p, at.iterations > 0 ? at.rz / rz_before : 0, z);
        const double curvature = a(at.p, at.q);
        if (!(curvature > 0)) break;
        at.residual = std::sqrt(space.descend(x, at.r, at.rz / curvature, at.p, at.q));
    }
    return {at.residual, at.iterations};
}

// MINRES [Elman14 Alg. 4.1], for A symmetric and M symmetric and positive definite. On entry v = b - A x; it
// is used up. The recurrence gives the residual in M's norm alone, so `true_residual()` is called every tenth
// iteration.
template <class Space, class Operator, class Preconditioner, class X, class Residual>
Outcome minres(Space& space, const Operator& a, const Preconditioner& m, X& x, typename Space::Vector v,
               const Residual& true_residual, const Goal& goal) {
    auto v_old = space.zero(), z = space.zero(), z_new = space.zero(), az = space.zero();
    auto w = space.zero(), w_old = space.zero();
    double residual = std::sqrt(space.dot(v, v));
    double gamma_old = 1, gamma = std::sqrt(std::max(0.0, m(v, z))), eta = gamma;
    double c_old = 1, c = 1, s_old = 0, s = 0;
    int k = 0;
    while (residual > goal.wanted && k < goal.max_iterations && gamma > 0) {
        space.scale(z, 1 / gamma);
        const double delta = a(z, az);
        space.add(az, -delta / gamma, v);  // the next Lanczos vector
        space.add(az, -gamma / gamma_old, v_old);
        const double gamma_new = std::sqrt(std::max(0.0, m(az, z_new)));
        const double a0 = c * delta - c_old * s * gamma, a1 = std::hypot(a0, gamma_new);
        const double a2 = s * delta + c_old * c * gamma, a3 = s_old * gamma;
        c_old = c, s_old = s;
        c = a0 / a1, s = gamma_new / a1;
        space.scale(w_old, -a3);  // the next direction takes the oldest one's place
        space.add(w_old, 1, z);
        space.add(w_old, -a2, w);
        space.scale(w_old, 1 / a1);
        std::swap(w, w_old);
        space.add(x, c * eta, w);
        eta *= -s;
        std::swap(v_old, v), std::swap(v, az), std::swap(z, z_new);
        gamma_old = gamma, gamma = gamma_new;
        if (++k % 10 == 0 || gamma == 0) residual = true_residual();
    }
    return {residual, k};
}

// BiCGSTAB [Saad03 Alg. 7.7, preconditioned from the right], for any A and M. On entry r = b - A x.
template <class Space, class Operator, class Preconditioner, class X>
Outcome bicgstab(Space& space, const Operator& a, const Preconditioner& m, X& x, typename Space::Vector r,
                 const Goal& goal) {
    const auto shadow = r;
    auto p = space.zero(), v = space.zero(), y = space.zero(), z = space.zero(), t = space.zero();
    double rho = 1, alpha = 1, omega = 1, residual = std::sqrt(space.dot(r, r));
    int k = 0;
    for (; residual > goal.wanted && k < goal.max_iterations; ++k) {
        const double rho_before = rho;
        rho = space.dot(shadow, r);
        if (rho == 0 || omega == 0) break;  // no direction is left
        space.add(p, -omega, v);
        space.add_to_scaled(p, k > 0 ? rho / rho_before * alpha / omega : 0, r);
        m(p, y);
        a(y, v);
        alpha = rho / space.dot(shadow, v);
        space.add(r, -alpha, v);
        m(r, z);
        a(z, t);
        const double tt = space.dot(t, t);
        omega = tt > 0 ? space.dot(t, r) / tt : 0;
        space.add(x, alpha, y);
        space.add(x, omega, z);
        space.add(r, -omega, t);
        residual = std::sqrt(space.dot(r, r));
    }
    return {residual, k};
}

// Flexible GMRES [Saad93]: the preconditioner may differ from one iteration to the next. `expand(v)` returns
// {z, w}: z = M^-1 v and w = A z, computed together, since they often share most of the work. z may be of
// another type than Space::Vector, if the space can add it. `true_residual()` returns b - A x. It restarts
// after `most_directions`.
template <class Space, class Expand, class X, class Residual>
Outcome flexible_gmres(Space& space, const Expand& expand, X& x, const Residual& true_residual,
                       const Goal& goal, int most_directions) {
    using Vector = typename Space::Vector;
    using Direction = decltype(expand(std::declval<const Vector&>()).first);
    Vector r = true_residual();
    double residual = std::sqrt(space.dot(r, r));
    int iterations = 0;
    while (residual > goal.wanted && iterations < goal.max_iterations) {
        std::vector<Vector> basis;
        std::vector<Direction> direction;
        std::vector<std::vector<double>> column;  // of the triangle that Givens' rotations leave
        std::vector<double> cosine, sine, rest{residual};
        space.scale(r, 1 / residual);
        basis.push_back(std::move(r));
        while (std::abs(rest.back()) > goal.wanted && int(direction.size()) < most_directions &&
               iterations < goal.max_iterations) {
            auto [z, w] = expand(basis.back());
            direction.push_back(std::move(z));
            std::vector<double> h;
            for (const Vector& before : basis) {
                h.push_back(space.dot(before, w));
                space.add(w, -h.back(), before);
            }
            const double length = std::sqrt(space.dot(w, w));
            for (std::size_t k = 0; k < cosine.size(); ++k) {
                const double upper = cosine[k] * h[k] + sine[k] * h[k + 1];
                h[k + 1] = cosine[k] * h[k + 1] - sine[k] * h[k];
                h[k] = upper;
            }
            const double both = std::hypot(h.back(), length);
            if (!(both > 0)) return {std::abs(rest.back()), iterations, true};
            cosine.push_back(h.back() / both);
            sine.push_back(length / both);
            h.back() = both;
            column.push_back(std::move(h));
            rest.push_back(-sine.back() * rest.back());
            rest[rest.size() - 2] *= cosine.back();
            if (length > 0) space.scale(w, 1 / length);
            basis.push_back(std::move(w));
            ++iterations;
        }
        for (std::size_t k = column.size(); k-- > 0;) {
            double y = rest[k];
            for (std::size_t j = k + 1; j < column.size(); ++j) y -= column[j][k] * rest[j];
            rest[k] = y / column[k][k];
            space.add(x, rest[k], direction[k]);
        }
        r = true_residual();
        const double before = residual;
        residual = std::sqrt(space.dot(r, r));
        if (!(residual < 0.5 * before)) break;  // only rounding is left, or it does not converge
    }
    return {residual, iterations};
}

}  // namespace flotsam::krylov

// Eigen's vectors in Krylov methods, and conjugate gradients for its sparse matrices.
#pragma once

#define EIGEN_MPL2_ONLY
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>

#include <cstdint>

#include "linalg/krylov.h"

namespace flotsam {

using EigenSparse = Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t>;
using IncompleteCholesky =
    Eigen::IncompleteCholesky<double, Eigen::Lower, Eigen::NaturalOrdering<std::int32_t>>;

struct EigenSpace {
    using Vector = Eigen::VectorXd;
    Eigen::Index size;

    Vector zero() const { return Vector::Zero(size); }
    static double dot(const Vector& a, const Vector& b) { return a.dot(b); }
    static void add(Vector& y, double s, const Vector& x) { y += s * x; }
    static void scale(Vector& y, double s) { y *= s; }
    static void add_to_scaled(Vector& p, double s, const Vector& z) { p = z + s * p; }
    static double descend(Vector& x, Vector& r, double s, const Vector& p, const Vector& q) {
        x += s * p;
        r -= s * q;
        return r.squaredNorm();
    }
};

// A matrix as a LinearOperator; must outlive the result.
inline auto times(const EigenSparse& matrix) {
    return [&matrix](const Eigen::VectorXd& x, Eigen::VectorXd& y) {
        y.noalias() = matrix * x;
        return x.dot(y);
    };
}

// solve() of one of Eigen's preconditioners as a LinearOperator.
template <class Preconditioner>
auto inverse_of(const Preconditioner& preconditioner) {
    return [&preconditioner](const Eigen::VectorXd& r, Eigen::VectorXd& z) {
        z = preconditioner.solve(r);
        return r.dot(z);
    };
}

// x is the first guess and the result.
inline krylov::Outcome conjugate_gradients(const EigenSparse& matrix, const IncompleteCholesky& inverse,
                                           const Eigen::VectorXd& b, Eigen::VectorXd& x,
                                           const krylov::Goal& goal) {
    EigenSpace space{b.size()};
    Eigen::VectorXd r = b - matrix * x, z = space.zero();
    const double residual = r.norm();
    krylov::ConjugateDirections<EigenSpace> at(space, std::move(r), residual);
    return krylov::conjugate_gradients(space, times(matrix), inverse_of(inverse), x, z, at, goal);
}

}  // namespace flotsam

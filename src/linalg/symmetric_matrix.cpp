#include "linalg/symmetric_matrix.h"

#include <algorithm>
#include <cmath>

#include "linalg/eigen_space.h"

namespace flotsam {

std::vector<double> SymmetricMatrix::times(std::span<const double> x) const {
    std::vector<double> y(rows(), 0.0);
    for (std::int32_t r = 0; r < rows(); ++r)
        for (std::int32_t e = row_begin[r]; e < row_begin[r + 1]; ++e) {
            y[r] += value[e] * x[column[e]];
            if (column[e] != r) y[column[e]] += value[e] * x[r];
        }
    return y;
}

SolveReport solve_iccg(const SymmetricMatrix& matrix, std::span<const double> b, std::span<double> x,
                       const SolveTolerance& tolerance) {
    const std::int32_t n = matrix.rows();
    const Eigen::Map<const Eigen::VectorXd> rhs(b.data(), n);
    const double norm = rhs.norm();
    if (!std::isfinite(norm)) return {false, 0, norm};
    const krylov::Goal goal(norm, n, tolerance);
    if (goal.nothing_to_solve()) {
        std::fill(x.begin(), x.end(), 0.0);
        return {.converged = true};
    }
    // Our rows of the lower triangle are the columns of the upper one.
    const Eigen::Map<const EigenSparse> upper(n, n, static_cast<Eigen::Index>(matrix.value.size()),
                                              matrix.row_begin.data(), matrix.column.data(),
                                              matrix.value.data());
    const EigenSparse full = upper.selfadjointView<Eigen::Upper>();
    Eigen::VectorXd solution = Eigen::Map<const Eigen::VectorXd>(x.data(), n);
    const krylov::Outcome outcome = conjugate_gradients(full, IncompleteCholesky(full), rhs, solution, goal);
    std::copy(solution.begin(), solution.end(), x.begin());
    return goal.report((rhs - full * solution).norm(), outcome.iterations);
}

}  // namespace flotsam

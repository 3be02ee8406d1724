#include "linalg/symmetric_matrix.h"

#define EIGEN_MPL2_ONLY
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>

#include <cmath>

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
    using Sparse = Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t>;
    const std::int32_t n = matrix.rows();
    const Eigen::Map<const Eigen::VectorXd> rhs(b.data(), n);
    Eigen::Map<Eigen::VectorXd> unknown(x.data(), n);
    const double norm = rhs.norm();
    if (!std::isfinite(norm)) return {false, 0, norm};
    const double wanted = std::max(tolerance.relative, tolerance.absolute * std::sqrt(double(n)) / norm);
    if (norm == 0 || wanted >= 1) {
        unknown.setZero();
        return {.converged = true};
    }

    // Our rows of the lower triangle are the columns of the upper one.
    const Eigen::Map<const Sparse> upper(n, n, static_cast<Eigen::Index>(matrix.value.size()),
                                         matrix.row_begin.data(), matrix.column.data(), matrix.value.data());
    const Sparse full = upper.selfadjointView<Eigen::Upper>();
    Eigen::ConjugateGradient<
        Sparse, Eigen::Lower | Eigen::Upper,
        Eigen::IncompleteCholesky<double, Eigen::Lower, Eigen::NaturalOrdering<std::int32_t>>>
        cg;
    cg.setTolerance(wanted);
    cg.setMaxIterations(tolerance.max_iterations);
    cg.compute(full);
    const Eigen::VectorXd solution = cg.solveWithGuess(rhs, Eigen::VectorXd(unknown));
    unknown = solution;
    SolveReport report;
    report.iterations = static_cast<int>(cg.iterations());
    report.residual = (rhs - full * solution).norm() / norm;  // the true one, not the recurrence's
    // The recurrence may drift from the true residual by rounding; a factor of ten is not a failure.
    report.converged = cg.info() == Eigen::Success && report.residual < 10 * wanted;
    return report;
}

}  // namespace flotsam

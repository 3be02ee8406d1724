// Sparse symmetric systems, listed by rows, and the reference solver for all faster ones.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "linalg/solve.h"

namespace flotsam {

// The lower triangle and the diagonal, row by row (compressed rows, columns ascending, diagonal last).
struct SymmetricMatrix {
    std::vector<std::int32_t> row_begin{0};
    std::vector<std::int32_t> column;
    std::vector<double> value;

    std::int32_t rows() const { return static_cast<std::int32_t>(row_begin.size()) - 1; }
    void add(std::int32_t c, double v) {
        column.push_back(c);
        value.push_back(v);
    }
    void end_row() { row_begin.push_back(static_cast<std::int32_t>(column.size())); }
    std::vector<double> times(std::span<const double> x) const;
};

// Eigen's conjugate gradients with incomplete Cholesky in natural order. `x` is the first guess and the
// result.
SolveReport solve_iccg(const SymmetricMatrix& matrix, std::span<const double> b, std::span<double> x,
                       const SolveTolerance& tolerance);

}  // namespace flotsam

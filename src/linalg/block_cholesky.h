// Sparse Cholesky factors of a symmetric positive-definite matrix of 6 x 6 blocks.
//
// For bodies that share cells: a few blocks per row, hundreds or thousands of rows. Rows are reordered to
// keep the factor sparse (approximate minimum degree); the order, and so every bit, depends on the matrix
// alone. Faster and smaller than Eigen's factors (docs/decisions/0014-own-block-cholesky.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace flotsam {

template <class T>
using Six = std::array<T, 6>;
template <class T>
using SixBySix = std::array<Six<T>, 6>;

template <class T>
std::int64_t bytes_of(const std::vector<T>& values) {
    return std::int64_t(values.size() * sizeof(T));
}

class BlockCholesky {
  public:
    struct Block {
        int column;
        SixBySix<double> value;
    };
    // rows[i] has the blocks of row i up to and including the diagonal. None when the factor needs more than
    // `most_blocks` blocks.
    static std::optional<BlockCholesky> factor(const std::vector<std::vector<Block>>& rows,
                                               std::int64_t most_blocks);

    // The solution for a right-hand side v. Factors are kept in single precision.
    std::vector<Six<float>> solved(const std::vector<Six<float>>& v) const;

    std::int64_t memory() const {
        return bytes_of(order_) + bytes_of(inverse_) + bytes_of(begin_) + bytes_of(row_) + bytes_of(below_);
    }

  private:
    std::vector<int> order_;                // row of the matrix that comes n-th
    std::vector<SixBySix<float>> inverse_;  // of the factor's diagonal blocks
    std::vector<std::int64_t> begin_;       // of each column's blocks below the diagonal
    std::vector<int> row_;                  // of each block, in the new order
    std::vector<SixBySix<float>> below_;
};

// L with L L^T = m, for a symmetric m without negative eigenvalues; columns of L are zero where the pivot
// vanishes.
SixBySix<double> cholesky(const SixBySix<double>& m);

}  // namespace flotsam

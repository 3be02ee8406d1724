// Symmetric positive-definite systems of 3 x 3 blocks, for implicit elastic bodies.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/mat3.h"
#include "core/vec.h"
#include "linalg/solve.h"

namespace flotsam {

// Compressed rows of blocks, both triangles, columns ascending. The pattern is kept while values change.
struct BlockMatrix {
    std::vector<int> row_begin{0}, column;
    std::vector<int> diagonal;  // where each row's diagonal block is
    std::vector<Mat3> value;

    int rows() const { return int(row_begin.size()) - 1; }
    void multiply(std::span<const Vec3> x, std::span<Vec3> result) const;
};

// A term s (c . x)^2 / 2 of a quadratic form: couples a few blocks of the unknowns.
struct BlockRow {
    static constexpr int most = 6;
    int count = 0;
    std::array<int, most> block{};
    std::array<Vec3, most> coefficient{};
    double stiffness = 0;

    void add(int b, Vec3 c) {
        block[count] = b;
        coefficient[count++] = c;
    }
    double times(std::span<const Vec3> x) const {
        double sum = 0;
        for (int k = 0; k < count; ++k) sum += dot(coefficient[k], x[block[k]]);
        return sum;
    }
};

// Approximate inverse of a BlockMatrix with additional blocks on its diagonal. Data that depends on the
// pattern alone is computed once.
class BlockPreconditioner {
  public:
    virtual ~BlockPreconditioner() = default;
    // `places` are the unknowns' current positions. Returns false when the matrix turns out not to be
    // positive definite.
    virtual bool update(const BlockMatrix& matrix, std::span<const Mat3> more,
                        std::span<const Vec3> places) = 0;
    virtual void apply(std::span<const Vec3> r, std::span<Vec3> z) const = 0;
    virtual bool exact() const { return false; }
};
// Cholesky factors: exact.
std::unique_ptr<BlockPreconditioner> cholesky_preconditioner(const BlockMatrix& pattern);
// Block Jacobi and a coarse space: lumps of neighbouring unknowns that move as rigid bodies.
std::unique_ptr<BlockPreconditioner> two_level_preconditioner(const BlockMatrix& pattern,
                                                              std::span<const Vec3> places);
// Cholesky factors while they are small, two levels for larger systems.
std::unique_ptr<BlockPreconditioner> choose_preconditioner(const BlockMatrix& pattern,
                                                           std::span<const Vec3> places);

// Directions in which a matrix acts as a mass alone, without its stiffness: S becomes M on them and stays S
// on their M-orthogonal complement.
struct NeutralModes {
    std::vector<std::vector<Vec3>> mode;      // M-orthonormal
    std::vector<std::vector<Vec3>> momentum;  // M times them
};

// Matrices along the diagonal, single blocks after them, and rows that couple all of these.
struct BlockSystem {
    struct Part {
        const BlockMatrix* matrix;
        BlockPreconditioner* preconditioner;
        std::span<const Vec3> places;
        const NeutralModes* neutral = nullptr;
    };
    std::vector<Part> parts;
    std::vector<Mat3> singles;
    std::vector<BlockRow> rows;

    int blocks() const;
    void multiply(std::span<const Vec3> x, std::span<Vec3> result) const;
};

// Adds the rows that fit into the pattern of a matrix that starts at block `first`; returns the others.
std::vector<BlockRow> absorb(std::vector<BlockRow> rows, int first, BlockMatrix& matrix);

// A system prepared for one right-hand side or for many; with many it pays to include the rows exactly.
class BlockSolver {
  public:
    // Updates the preconditioners. The system must outlive this.
    BlockSolver(const BlockSystem& system, bool many);

    bool definite() const { return definite_; }  // false as soon as it is known not to be
    bool exact() const { return exact_; }        // no iteration is needed
    // Conjugate gradients, or the factors alone where they are the whole matrix. Also counts as not converged
    // when the system turns out not to be positive definite. `x` is the first guess and the result. Sums in
    // fixed order: the same bits on any number of threads.
    SolveReport solve(std::span<const Vec3> b, std::span<Vec3> x, const SolveTolerance& tolerance) const;

  private:
    void precondition(std::span<const Vec3> r, std::span<Vec3> z) const;
    void join_rows();
    // A part's preconditioner applied to the neutral modes' momenta, and the inverse of the matrix of their
    // products.
    struct Neutral {
        std::vector<std::vector<Vec3>> answer;
        std::vector<std::vector<double>> inverse;
    };
    void make_neutral(const BlockSystem::Part& part);

    const BlockSystem& system_;
    std::vector<Mat3> single_inverse_;
    std::vector<Neutral> neutral_;  // of each part
    bool definite_ = true, exact_ = true;
    // Woodbury's formula, where the factors are exact except for the rows: the factors' inverse applied to
    // each row's coefficients, and the Cholesky factor of stiffness^-1 + R S^-1 R^T.
    std::vector<std::vector<Vec3>> row_answer_;
    std::vector<double> joint_;
};
SolveReport solve(const BlockSystem& system, std::span<const Vec3> b, std::span<Vec3> x,
                  const SolveTolerance& tolerance);

}  // namespace flotsam

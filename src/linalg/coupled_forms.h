// Liquid and elastic solids in one matrix: the forms that [Zarifi17 Chapter 5] compares, assembled with Eigen
// and solved with its preconditioners. They are the reference for our own solver.
//
//   B p + N v = e        what flows out of each cell          [Eq. 5.15]
//   Z v - N^T p = -w     what moves each node                 [Eq. 5.16]
//
// clang-format off
//   indefinite  (B, N; N^T, -Z)                                              [Eq. 5.17]
//   spd         v is eliminated by a part of Z that is diagonal, and kept    [Eq. 5.25-5.36]
//   factored    Z = diagonal + R^T R; z = R v takes the place of v           [Eq. 5.39-5.45]
// clang-format on
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "linalg/interface_map.h"
#include "linalg/solid_system.h"
#include "linalg/solve.h"
#include "linalg/symmetric_matrix.h"

namespace flotsam {

struct CoupledSystem {
    SymmetricMatrix liquid;                 // B, in natural order [m^3/(s Pa)]
    std::vector<InterfaceEntry> interface;  // N: `cell` is a row of B [m^2]
    SolidEquation solid;                    // Z = S / dt
    double dt = 0;
    std::vector<double> rhs;  // e - N from [m^3/s]
};

enum class CoupledForm { indefinite, spd, factored };
std::optional<CoupledForm> coupled_form(Solver solver);  // none for our own solvers

struct AssembledForm {
    SymmetricMatrix matrix;
    std::vector<double> rhs;
    std::int32_t pressures = 0;  // number of pressures, which are the first unknowns
    double alpha = 1;            // the other unknowns are v / alpha, in the forms that keep velocities

    std::int64_t nonzeros() const { return 2 * std::int64_t(matrix.value.size()) - matrix.rows(); }
};
// `alpha` scales the velocities [Eq. 5.36]; for the SPD form 0 chooses |c1| / |c2|.
AssembledForm assemble(const CoupledSystem& system, CoupledForm form, double alpha);

// Solves by the form and method that `settings` name. `p` is the first guess and the result; `v` is the
// result: the whole velocity, with `from`.
SolveReport solve(const CoupledSystem& system, const SolverSettings& settings, std::span<double> p,
                  std::span<Vec3> v);

// Minimal residuals for a symmetric matrix, indefinite or not, whose first `split` unknowns and whose others
// are preconditioned by incomplete Cholesky factors of their diagonal blocks, up to the blocks' signs.
SolveReport solve_minres(const SymmetricMatrix& matrix, std::int32_t split, std::span<const double> b,
                         std::span<double> x, const SolveTolerance& tolerance);

// Decimal logarithm of the condition number in the 1-norm, estimated with a few solves [Higham88], like the
// thesis's condest. For the indefinite and the SPD form.
double log_condition(const CoupledSystem& system, CoupledForm form, double alpha);

}  // namespace flotsam

// Pressures and other unknowns in one Krylov space, for unknowns that are dear to eliminate.
//
//   A x + J d = b
//   S d - J^T x = push
//
// Eliminating d, as Multigrid does with what it is told to add, takes S^-1 to nearly the accuracy of the
// result in every iteration. Kept among the unknowns it takes a third: what is left over goes back into the
// residual.
#pragma once

#include <span>

#include "core/vec.h"
#include "linalg/multigrid.h"

namespace flotsam {

class KeptUnknowns {
  public:
    virtual ~KeptUnknowns() = default;
    virtual void add_outflow(std::span<const Vec3> d, std::span<double> y) const = 0;  // y += J d
    virtual void impulse(std::span<const double> x, std::span<Vec3> w) const = 0;      // w = J^T x
    virtual void multiply(std::span<const Vec3> d, std::span<Vec3> w) const = 0;       // w = S d
    // S^-1 w from a first guess d, until what is left of w is `accuracy` times it.
    virtual void invert(std::span<const Vec3> w, std::span<Vec3> d, double accuracy) const = 0;
};

// Flexible GMRES [Saad93]: a cycle of `multigrid`, whose guess should be near J S^-1 J^T, then S^-1
// roughly. x and d are first guesses and results; at the end d is found from x to 1e-10. The tolerance is
// that of x, relative to b less what d is without x. Sums in fixed order: the same bits on any number of
// threads.
SolveReport solve(Multigrid& multigrid, const KeptUnknowns& kept, std::span<const double> b,
                  std::span<const Vec3> push, std::span<double> x, std::span<Vec3> d,
                  const SolveTolerance& tolerance);

}  // namespace flotsam

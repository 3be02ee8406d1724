// Solves A x + J v = b together with the solids' momentum (solid_system.h), preconditioned by multigrid.
#pragma once

#include <optional>
#include <span>

#include "linalg/krylov.h"
#include "linalg/multigrid.h"
#include "linalg/network.h"
#include "linalg/solid_system.h"
#include "linalg/solve.h"
#include "linalg/tile_space.h"

namespace flotsam {

// Conjugate gradients on the Schur complement (A + s J S^-1 J^T) x = b. They can stop at a rough solution,
// which may show that another right-hand side is needed, and continue from there.
class EliminatedSolve {
  public:
    // `x` is the first guess and the result, in tile order and zero where there is no unknown, as `b`. All of
    // these must outlive this.
    EliminatedSolve(const Network<double>& network, const SolidSystem& solids, Multigrid& multigrid,
                    std::span<const double> b, std::span<double> x, const SolveTolerance& tolerance);

    // Iterates until the residual is `relative` times |b|, or meets the tolerance.
    void improve(double relative);
    SolveReport finish();
    // The residual that conjugate gradients carry along, relative to |b|.
    double residual() const { return at_ ? at_->residual / goal_.norm : 0; }
    int iterations() const { return at_ ? at_->iterations : 0; }

  private:
    void run(const krylov::Goal& goal);
    double apply(const TileVector<double>& v, TileVector<double>& y);
    // r = b - A x; returns its norm. Overwrites p and q: only before the first iteration or after the last.
    double find_residual();

    const Network<double>& network_;
    const SolidSystem& solids_;
    Multigrid& multigrid_;
    std::span<const double> b_;
    std::span<double> x_;
    TileSpace space_;
    krylov::Goal goal_;
    std::optional<krylov::ConjugateDirections<TileSpace>> at_;  // none where there is nothing to solve
};

// Flexible GMRES [Saad93] on x and the nodes' d = v - from, which stays among the unknowns. The
// preconditioner is a cycle of `multigrid`, then a rough S^-1. Eliminating d would need S^-1 to nearly the
// accuracy of the result in every iteration; with d kept, an accuracy of 0.3 is enough, because the error
// goes back into the residual. `b` excludes the outflow due to the solids' known velocity. x and d are first
// guesses and results; at the end d is found from x to 1e-10. The tolerance is for the equation of x,
// relative to b - J d at x = 0. Sums in fixed order: the same bits on any number of threads.
SolveReport solve_keeping_nodes(const Network<double>& network, const SolidSystem& solids,
                                Multigrid& multigrid, std::span<const double> b, std::span<double> x,
                                std::span<Vec3> d, const SolveTolerance& tolerance);

}  // namespace flotsam

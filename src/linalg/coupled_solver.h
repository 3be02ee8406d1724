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

// Conjugate gradients on the Schur complement (A + s J S^-1 J^T) x = b. They can be left at a rough solution,
// which tells whether another right-hand side is wanted, and taken up again.
class EliminatedSolve {
  public:
    // `x` is the first guess and the result, in tile order and zero where there is no unknown, as `b`. All of
    // these must outlive this.
    EliminatedSolve(const Network<double>& network, const SolidSystem& solids, Multigrid& multigrid,
                    std::span<const double> b, std::span<double> x, const SolveTolerance& tolerance);

    // Until the residual is `relative` times |b|, or as small as the tolerance asks for.
    void improve(double relative);
    SolveReport finish();
    // As far as conjugate gradients know it, relative to |b|.
    double residual() const { return at_ ? at_->residual / goal_.norm : 0; }
    int iterations() const { return at_ ? at_->iterations : 0; }

  private:
    void run(const krylov::Goal& goal);
    double apply(const TileVector<double>& v, TileVector<double>& y);
    double find_residual(TileVector<double>& r);  // r = b - A x; returns its norm

    const Network<double>& network_;
    const SolidSystem& solids_;
    Multigrid& multigrid_;
    std::span<const double> b_;
    std::span<double> x_;
    TileSpace space_;
    krylov::Goal goal_;
    std::optional<krylov::ConjugateDirections<TileSpace>> at_;  // none where there is nothing to solve
};

// Flexible GMRES [Saad93] on x and d = v - from of the nodes, which stay among the unknowns: a cycle of
// `multigrid`, then S^-1 roughly. Eliminating d would take S^-1 to nearly the accuracy of the result in every
// iteration; kept, it takes a third: what is left over goes back into the residual. `b` is less what the
// solids' known velocity does. x and d are first guesses and results; at the end d is found from x to 1e-10.
// The tolerance is that of x, relative to b less what d is without x. Sums in fixed order: the same bits on
// any number of threads.
SolveReport solve_keeping_nodes(const Network<double>& network, const SolidSystem& solids,
                                Multigrid& multigrid, std::span<const double> b, std::span<double> x,
                                std::span<Vec3> d, const SolveTolerance& tolerance);

}  // namespace flotsam

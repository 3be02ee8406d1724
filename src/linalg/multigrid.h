// Conjugate gradients preconditioned by geometric multigrid, for networks on tiles.
//
// The preconditioner is one V-cycle in single precision: a Chebyshev smoother of the fourth kind and degree 2
// (Lottes 2023) before and after, residuals summed over 2 x 2 x 2 cells, corrections copied back. What makes
// so simple a cycle converge alike at every resolution is how a coarse network is made: as resistors in
// series. Rank-6 terms (low_rank.h) take part on every level: their fluxes are summed like residuals, and the
// smoother divides by D + J C J^T instead of D, which keeps the eigenvalues below 2 whatever the bodies
// weigh; on coarse levels the compliance of small bodies is reduced (coarsen.h). A coarse link
// is the sum of its children's links, each lengthened by the way from the child's centre to its parent's
// centre; where a parent has only one layer of children along an axis that way is zero, so partly filled
// parents at a surface keep their true distance to it. Everything is a sum over tiles in a fixed order: the
// same bits on any number of threads.
#pragma once

#include <span>
#include <vector>

#include "linalg/low_rank.h"
#include "linalg/network.h"
#include "linalg/solve.h"

namespace flotsam {

// Values of all tiles of a network, 512 a tile, and a tile of zeros at the end for absent neighbours.
template <class T>
using TileVector = std::vector<T>;

// A symmetric positive semi-definite term beside network and modes that knows only how to act.
class AddedTerm {
  public:
    virtual ~AddedTerm() = default;
    virtual void add(std::span<const double> x, std::span<double> y) const = 0;  // y += B x
};

// What the preconditioner shall take for such a term: links to the ground and more modes.
struct AddedGuess {
    struct Ground {
        std::int64_t cell;  // of a tile that is not plain
        int axis;           // that it lies across
        double conductance;
    };
    std::vector<Ground> grounds;
    std::vector<ModeEntry<double>> entries;
    std::vector<SixBySix<double>> compliance;
};

class Multigrid {
  public:
    // `network` must outlive this and keep its grounds until the constructor returns; so must `modes`, and
    // `added`.
    explicit Multigrid(const Network<double>& network, const LowRank<double>& modes = no_modes,
                       const AddedTerm* added = nullptr, const AddedGuess& guess = {});

    // Solves (A + J C J^T + B) x = b; both in tile order, zero where there is no unknown. `x` is the first
    // guess and the result.
    SolveReport solve(std::span<const double> b, std::span<double> x, const SolveTolerance& tolerance,
                      const Pause& pause = {});

    // One V-cycle on `residual`: what the preconditioner makes of it.
    std::vector<float> precondition(std::span<const double> residual);
    // y = (A + J C J^T) x, where x ends with a tile of zeros. Returns their product.
    double apply(const TileVector<double>& x, std::span<double> y) const;
    double unknowns() const;

    // Bytes held by this solver, the network included.
    std::int64_t memory() const;

  private:
    struct Level {
        Network<float> network;
        LowRank<float> modes;
        LowRank<float>::Smoothing smoothing;      // of the modes
        std::vector<float> inverse, own_inverse;  // D'^-1 at the entries of J and of K
        Int3 coarsens;                            // 1 for axes along which the next level has half the cells
        TileVector<float> b, x, z;
        std::vector<Six<float>> along_x;  // C J^T x, after smooth_from_zero
    };
    static inline const LowRank<double> no_modes;

    double cycle();  // on levels_[0].b into levels_[0].x; returns their product
    void cycle_below(std::size_t level);
    // R^T K^T v of the smoothing; v -= D'^-1 K R s; and v -= scale D'^-1 J y. The latter two return the
    // product of `with` and the change.
    static std::vector<Six<float>> felt(const Level& level, std::span<const float> v);
    static double push(const Level& level, std::vector<Six<float>> s, std::span<float> v,
                       std::span<const float> with = {});
    static double push_all(const Level& level, float scale, const std::vector<Six<float>>& y,
                           std::span<float> v, std::span<const float> with = {});
    void smooth_from_zero(Level& level);
    double smooth_again(Level& level);  // returns the product of b and x
    void solve_coarsest();

    const Network<double>& network_;
    const LowRank<double>& modes_;
    const AddedTerm* added_;
    std::vector<Level> levels_;
    // The coarsest level has a handful of cells: its Cholesky factor, by columns, and where its cells are.
    std::vector<double> coarsest_;
    std::vector<std::int64_t> coarsest_cell_;
};

}  // namespace flotsam

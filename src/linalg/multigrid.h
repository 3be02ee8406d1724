// A geometric multigrid preconditioner for networks on tiles with rank-6 terms.
//
// It is one V-cycle in single precision: a Chebyshev smoother of the fourth kind and degree 2 (Lottes 2023)
// before and after, residuals summed over 2 x 2 x 2 cells, corrections copied back. So simple a cycle
// converges equally fast at every resolution because of how coarse networks are made: as resistors in series.
// Rank-6 terms (low_rank.h) take part on every level: their fluxes are summed like residuals, and the
// smoother divides by D + J C J^T instead of D, which keeps the eigenvalues below 2 whatever the bodies
// weigh; on coarse levels the compliance of small bodies is reduced (coarsen.h). A coarse link is the sum of
// its children's links, each lengthened by the distance from the child's centre to its parent's centre; where
// a parent has only one layer of children along an axis that distance is zero, so partly filled parents at a
// surface keep their true distance to it. Listed nodes are merged with listed nodes linked to them in the
// same parent cell. Everything is a sum over tiles in a fixed order: the same bits on any number of threads.
#pragma once

#include <span>
#include <vector>

#include "linalg/low_rank.h"
#include "linalg/network.h"
#include "linalg/tile_space.h"

namespace flotsam {

// A link from a cell to the ground, in addition to the network's own.
struct GroundLink {
    std::int64_t cell;  // of a tile that is not plain
    int axis;           // of the faces that it crosses
    double conductance;
};

class Multigrid {
  public:
    // For a matrix that equals, or nearly equals, A + J C J^T plus additional links to the ground. `network`
    // must keep its grounds until the constructor returns.
    explicit Multigrid(const Network<double>& network, const LowRank<double>& modes = {},
                       const std::vector<GroundLink>& grounds = {});

    // One V-cycle: reads residual(), writes correction() and returns their product.
    TileVector<float>& residual() { return levels_.front().b; }
    TileVector<float>& correction() { return levels_.front().x; }
    double cycle();
    // The same on a vector in double precision.
    std::vector<float> precondition(std::span<const double> residual);

    std::int64_t memory() const;  // [B]

  private:
    struct Level {
        Network<float> network;
        LowRank<float> modes;
        LowRank<float>::Smoothing smoothing;      // of the modes
        std::vector<float> inverse, own_inverse;  // D'^-1 at the entries of J and of K
        Int3 coarsens;                            // 1 for axes along which the next level has half the cells
        std::vector<std::int64_t> joined;         // the next level's number of each listed node
        TileVector<float> b, x, z;
        std::vector<Six<float>> along_x;  // C J^T x, after smooth_from_zero
    };

    void add_level(Network<float> network, LowRank<float> modes);
    static void prepare_smoothing(Level& level);
    void factor_coarsest();
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

    std::vector<Level> levels_;
    // The coarsest level has a handful of cells: its Cholesky factor, by columns, and where its cells are.
    std::vector<double> coarsest_;
    std::vector<std::int64_t> coarsest_cell_;
};

}  // namespace flotsam

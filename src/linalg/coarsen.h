// Coarsening of a network and its rank-6 terms to a level with half the cells along some axes.
#pragma once

#include <vector>

#include "linalg/low_rank.h"
#include "linalg/network.h"

namespace flotsam {

// Where a fine cell's parent is: the coarse tile and the place in it.
struct Parent {
    Int3 coarsens;
    Int3 tile(Int3 fine_tile) const {
        return {fine_tile.x >> coarsens.x, fine_tile.y >> coarsens.y, fine_tile.z >> coarsens.z};
    }
    // First coarse cell of a fine tile's cells within the coarse tile.
    Int3 corner(Int3 fine_tile) const {
        return {coarsens.x ? 4 * (fine_tile.x & 1) : 0, coarsens.y ? 4 * (fine_tile.y & 1) : 0,
                coarsens.z ? 4 * (fine_tile.z & 1) : 0};
    }
    int row(Int3 corner_cell, int j, int k) const {  // first index of the coarse row of fine row (j, k)
        return 8 * ((corner_cell.y + (j >> coarsens.y)) + 8 * (corner_cell.z + (k >> coarsens.z)));
    }
};

// For each coarse tile, the fine tiles whose cells have their parents in it.
class Children {
  public:
    Children(const Tiling& fine, const Tiling& coarse, Int3 coarsens) : of_(coarse.tile_count()) {
        const Parent parent{coarsens};
        for (std::int64_t slot = 0; slot < fine.owned_count(); ++slot) {
            const Int3 t = parent.tile(fine.tiles()[slot]) * Tiling::side;
            of_[coarse.find(t) / Tiling::cells_per_tile].push_back(static_cast<std::int32_t>(slot));
        }
    }
    const std::vector<std::int32_t>& of(std::int64_t coarse_slot) const { return of_[coarse_slot]; }

  private:
    std::vector<std::vector<std::int32_t>> of_;
};

// The coarse number of each listed node. Linked listed nodes whose cells have the same parent are merged, but
// never with a cell: what a sheet separates stays separate.
std::vector<std::int64_t> join_listed(const ListedNodes<float>& nodes, std::int64_t first_listed,
                                      Int3 coarsens);

// `size` of the fine level's cells, in cells of the finest; `coarsens` is 1 for axes that get half the cells;
// `joined` from join_listed.
Network<float> coarsen(const Network<float>& fine, Int3 size, Int3 coarsens,
                       const std::vector<std::int64_t>& joined);
// The coarse index of a fine unknown.
std::int64_t parent_of(std::int64_t n, const Network<float>& fine, const Network<float>& coarse,
                       Int3 coarsens, const std::vector<std::int64_t>& joined);

// How wide each group is: the largest distance of its cells along each axis.
std::vector<Int3> widths(const LowRank<double>& modes, const Network<double>& network);
// `width` and `size` are in cells of the finest level.
LowRank<float> coarsen(const LowRank<float>& modes, const Network<float>& fine, const Network<float>& coarse,
                       Int3 coarsens, const std::vector<std::int64_t>& joined, Int3 size,
                       const std::vector<Int3>& width);

Network<float> in_single_precision(const Network<double>& network);
LowRank<float> in_single_precision(const LowRank<double>& modes, std::int64_t slots);

}  // namespace flotsam

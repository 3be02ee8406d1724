// Broad phase: for each tile of 8 x 8 x 8 cells, a list of the boxes near it, so that a cell or a particle
// tests only nearby solids, however many there are.
#pragma once

#include <span>
#include <vector>

#include "core/tiles.h"
#include "fluid/grid/domain.h"

namespace flotsam {

class BoxIndex {
  public:
    BoxIndex() = default;
    // A box is near a tile when it comes within `margin` of it [m].
    BoxIndex(const std::vector<Box>& boxes, const Domain& domain, double margin);

    // The boxes near the tile of a cell, by index, in rising order.
    std::span<const int> near(Int3 cell) const {
        const std::int64_t n = tiling_.find(cell);
        if (n < 0) return {};
        const std::int64_t slot = n / Tiling::cells_per_tile;
        return {members_.data() + begin_[slot], members_.data() + begin_[slot + 1]};
    }

  private:
    Tiling tiling_;
    std::vector<std::int64_t> begin_;  // index of each tile's first member
    std::vector<int> members_;
};

}  // namespace flotsam

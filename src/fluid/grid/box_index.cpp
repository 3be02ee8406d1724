#include "fluid/grid/box_index.h"

#include <algorithm>
#include <cmath>

namespace flotsam {

BoxIndex::BoxIndex(const std::vector<Box>& boxes, const Domain& domain, double margin) {
    const double width = Tiling::side * domain.h;
    const auto tiles_of = [&](const Box& box, const auto& visit) {
        Int3 low, high;
        for (int a = 0; a < 3; ++a) {
            const int last = domain.cells[a] / Tiling::side;
            low[a] = static_cast<int>(std::clamp(std::floor((box.low[a] - margin) / width), 0.0, last + 1.0));
            high[a] =
                static_cast<int>(std::clamp(std::floor((box.high[a] + margin) / width), -1.0, double(last)));
        }
        for (int k = low.z; k <= high.z; ++k)
            for (int j = low.y; j <= high.y; ++j)
                for (int i = low.x; i <= high.x; ++i) visit(Int3{i, j, k});
    };
    std::vector<Int3> tiles;
    for (const Box& box : boxes) tiles_of(box, [&](Int3 tile) { tiles.push_back(tile); });
    const auto order = [](Int3 a, Int3 b) { return std::tie(a.z, a.y, a.x) < std::tie(b.z, b.y, b.x); };
    std::sort(tiles.begin(), tiles.end(), order);
    tiles.erase(std::unique(tiles.begin(), tiles.end()), tiles.end());
    tiling_ = Tiling(domain.cells, std::move(tiles));

    const auto slot_of = [&](Int3 tile) {
        return tiling_.find(tile * Tiling::side) / Tiling::cells_per_tile;
    };
    begin_.assign(tiling_.tile_count() + 1, 0);
    for (const Box& box : boxes) tiles_of(box, [&](Int3 tile) { ++begin_[slot_of(tile) + 1]; });
    for (std::size_t slot = 1; slot < begin_.size(); ++slot) begin_[slot] += begin_[slot - 1];
    members_.resize(begin_.back());
    std::vector<std::int64_t> next = begin_;
    for (std::size_t b = 0; b < boxes.size(); ++b)
        tiles_of(boxes[b], [&](Int3 tile) { members_[next[slot_of(tile)]++] = static_cast<int>(b); });
}

}  // namespace flotsam

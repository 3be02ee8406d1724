#include "core/tiles.h"

#include <algorithm>
#include <tuple>

namespace flotsam {

Tiling::Tiling(Int3 cells, std::vector<Int3> tiles, std::vector<Int3> halo,
               std::shared_ptr<const HaloExchange> exchange)
    : cells_(cells),
      table_size_{cells.x / side + 1, cells.y / side + 1,
                  cells.z / side + 1},  // index n is a face of cell n-1
      tiles_(std::move(tiles)),
      owned_(std::ssize(tiles_)),
      exchange_(std::move(exchange)),
      table_(std::size_t(table_size_.x) * table_size_.y * table_size_.z, -1) {
    const auto before = [](Int3 a, Int3 b) { return std::tie(a.z, a.y, a.x) < std::tie(b.z, b.y, b.x); };
    std::sort(tiles_.begin(), tiles_.end(), before);
    std::sort(halo.begin(), halo.end(), before);
    tiles_.insert(tiles_.end(), halo.begin(), halo.end());
    for (std::size_t slot = 0; slot < tiles_.size(); ++slot) {
        const Int3 t = tiles_[slot];
        FLOTSAM_CHECK(t.x >= 0 && t.y >= 0 && t.z >= 0);
        FLOTSAM_CHECK(t.x < table_size_.x && t.y < table_size_.y && t.z < table_size_.z);
        std::int32_t& entry = table_[t.x + table_size_.x * (t.y + std::int64_t{table_size_.y} * t.z)];
        FLOTSAM_CHECK(entry < 0);
        entry = static_cast<std::int32_t>(slot);
    }
    neighbours_.resize(6 * tiles_.size());
    for (std::size_t slot = 0; slot < tiles_.size(); ++slot)
        for (int side_index = 0; side_index < 6; ++side_index) {
            const Int3 t = tiles_[slot] + unit(side_index / 2) * (side_index % 2 ? 1 : -1);
            const bool inside = t.x >= 0 && t.y >= 0 && t.z >= 0 && t.x < table_size_.x &&
                                t.y < table_size_.y && t.z < table_size_.z;
            neighbours_[6 * slot + side_index] =
                inside ? table_[t.x + table_size_.x * (t.y + std::int64_t{table_size_.y} * t.z)] : -1;
        }
}

}  // namespace flotsam

#include "fluid/grid/extrapolate.h"

namespace flotsam {

void extrapolate(Field<double>& values, Field<char>& known, Int3 end, int layers) {
    const Tiling& tiling = values.tiling();
    // Each layer is found from the layers before it, written down per tile, and only then put in place: the
    // result does not depend on the order in which tiles are visited.
    std::vector<std::vector<std::pair<std::int64_t, double>>> found(tiling.tile_count());
    for (int layer = 0; layer < layers; ++layer) {
        for_each_tile(tiling, 1, [&](std::int64_t slot) {
            found[slot].clear();
            const TileView<double> value(values, slot);
            const TileView<char> is_known(known, slot);
            const std::int64_t first = slot * Tiling::cells_per_tile;
            for_each_cell_of_tile(tiling, slot, end, [&](Int3, std::int64_t n) {
                if (known[n]) return;
                const int local = static_cast<int>(n - first);
                double sum = 0;
                int count = 0;
                for (int axis = 0; axis < 3; ++axis) {
                    if (is_known.lower(local, axis)) sum += value.lower(local, axis), ++count;
                    if (is_known.higher(local, axis)) sum += value.higher(local, axis), ++count;
                }
                if (count > 0) found[slot].emplace_back(n, sum / count);
            });
        });
        for_each_tile(tiling, 1, [&](std::int64_t slot) {
            for (const auto& [n, value] : found[slot]) {
                values[n] = value;
                known[n] = 1;
            }
        });
        exchange(values);
        exchange(known);
    }
}

}  // namespace flotsam

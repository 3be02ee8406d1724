// Adding up what sorted particles bring to the samples around them, in an order that threads do not change.
#pragma once

#include "fluid/grid/particles.h"

namespace flotsam {

// Calls contribute(i, add) for every particle i, where add(sample, value) adds to field at a sample within
// one cell of the particle's own cell (samples outside [0, last] are clamped to it). Each tile gathers its
// own particles in a window of its own; windows are then added in eight rounds of tiles that do not touch
// each other, so every sample sees the same order of additions on any number of threads.
template <class T, class Contribute>
void scatter_particles(Field<T>& field, const CellRanges& cells, Int3 last, const Contribute& contribute) {
    const Tiling& tiling = field.tiling();
    constexpr int side = Tiling::side + 2, window_size = side * side * side;
    for (int round = 0; round < 8; ++round)
        parallel_for(tiling.tile_count(), 1, [&](std::int64_t slot) {
            const Int3 t = tiling.tiles()[slot];
            if ((t.x & 1) + 2 * (t.y & 1) + 4 * (t.z & 1) != round) return;
            const std::int64_t first = slot * Tiling::cells_per_tile;
            const std::int32_t begin = cells.begin[first], end = cells.begin[first + Tiling::cells_per_tile];
            if (begin == end) return;

            std::array<T, window_size> window{};
            const Int3 corner = tiling.first_cell(slot) - Int3{1, 1, 1};
            const auto add = [&](Int3 c, T value) {
                c = min(max(c, Int3{0, 0, 0}), last) - corner;
                window[c.x + side * (c.y + side * c.z)] += value;
            };
            for (std::int32_t i = begin; i < end; ++i) contribute(i, add);

            for (int z = 0; z < side; ++z)
                for (int y = 0; y < side; ++y)
                    for (int x = 0; x < side; ++x) {
                        const std::int64_t n = tiling.find(corner + Int3{x, y, z});
                        if (n >= 0) field[n] += window[x + side * (y + side * z)];
                    }
        });
}

}  // namespace flotsam

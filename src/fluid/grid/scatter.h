// Scatters contributions of sorted particles to the samples around them, in an order that does not depend on
// threads.
#pragma once

#include "fluid/grid/particles.h"

namespace flotsam {

// Calls contribute(c, begin, end, at) for every cell c with its particles begin to end, where at(sample)
// points to the sums of the samples from `sample` on along x, to be added to; samples may lie up to two cells
// beyond the particle's tile. Each tile gathers its own particles in a window of its own; windows are then
// added in eight rounds of tiles that do not touch each other, so every sample sees the same order of
// additions on any number of threads. Samples outside [0, last] are added to the nearest one.
template <class T, class Contribute>
void scatter_cells(Field<T>& field, const CellRanges& cells, Int3 last, const Contribute& contribute) {
    const Tiling& tiling = field.tiling();
    constexpr int side = Tiling::side + 3, window_size = side * side * side;  // one below, two above
    for (int round = 0; round < 8; ++round)
        for_each_tile(tiling, 1, [&](std::int64_t slot) {
            const Int3 t = tiling.tiles()[slot];
            if ((t.x & 1) + 2 * (t.y & 1) + 4 * (t.z & 1) != round) return;
            const std::int64_t first = slot * Tiling::cells_per_tile;
            const std::int32_t begin = cells.begin[first], end = cells.begin[first + Tiling::cells_per_tile];
            if (begin == end) return;

            std::array<T, window_size> window{};
            const Int3 corner = tiling.first_cell(slot) - Int3{1, 1, 1};
            const auto at = [&](Int3 c) {
                c = c - corner;
                return window.data() + c.x + side * (c.y + side * c.z);
            };
            for (int local = 0; local < Tiling::cells_per_tile; ++local) {
                const std::int32_t from = cells.begin[first + local], to = cells.begin[first + local + 1];
                if (from < to)
                    contribute(tiling.first_cell(slot) + Int3{local & 7, local >> 3 & 7, local >> 6}, from,
                               to, at);
            }

            // Sums beyond the domain go to the nearest sample in it.
            for (int z = 0; z < side; ++z)
                for (int y = 0; y < side; ++y) {
                    const T* row = window.data() + side * (y + side * z);
                    const int k = std::clamp(corner.z + z, 0, last.z),
                              j = std::clamp(corner.y + y, 0, last.y);
                    for (int x = 0; x < side; ++x) {
                        const int i = std::clamp(corner.x + x, 0, last.x);
                        const std::int64_t n = tiling.find(i, j, k);
                        if (n >= 0) field[n] += row[x];
                    }
                }
        });
}

// The same particle by particle: contribute(i, at).
template <class T, class Contribute>
void scatter_particles(Field<T>& field, const CellRanges& cells, Int3 last, const Contribute& contribute) {
    scatter_cells(field, cells, last, [&](Int3, std::int32_t begin, std::int32_t end, auto at) {
        for (std::int32_t i = begin; i < end; ++i) contribute(i, at);
    });
}

}  // namespace flotsam

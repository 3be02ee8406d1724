#include "linalg/network.h"

#include <algorithm>
#include <map>

#include "linalg/tile_rows.h"

namespace flotsam {

namespace {

// Calls visit(cell, n) for the cells of all tiles with x fastest, then y, then z. Incomplete Cholesky
// converges markedly faster in this order than tile by tile.
template <class Visit>
void visit_in_natural_order(const Tiling& tiling, const Visit& visit) {
    const std::vector<Int3>& tiles = tiling.tiles();  // sorted by z, y, x
    for (std::int64_t layer = 0; layer < tiling.tile_count();) {
        std::int64_t layer_end = layer;
        while (layer_end < tiling.tile_count() && tiles[layer_end].z == tiles[layer].z) ++layer_end;
        for (int k = 0; k < Tiling::side; ++k)
            for (std::int64_t row = layer; row < layer_end;) {
                std::int64_t row_end = row;
                while (row_end < layer_end && tiles[row_end].y == tiles[row].y) ++row_end;
                for (int j = 0; j < Tiling::side; ++j)
                    for (std::int64_t slot = row; slot < row_end; ++slot)
                        for (int i = 0; i < Tiling::side; ++i)
                            visit(tiling.first_cell(slot) + Int3{i, j, k},
                                  slot * Tiling::cells_per_tile + Tiling::local_index(i, j, k));
                row = row_end;
            }
        layer = layer_end;
    }
}

}  // namespace

double apply(const Network<double>& network, std::span<const double> x, std::span<double> y) {
    using namespace rows;
    double product = sum_over_tiles(network, [&](std::int64_t slot, const auto& links) {
        const Around<double> around(x.data(), network, slot);
        Row<double> sum{};
        for_each_row([&](int j, int k, int row) {
            const auto rows = around.rows(j, k);
            const Row<double> a = links.diagonal(j, k) * rows.center - links.gather(rows, j, k);
            store(y.data() + slot * block + row, a);
            sum += rows.center * a;
        });
        return total(sum);
    });
    for_each_listed_link(network, [&](std::int64_t a, std::int64_t b, double conductance) {
        y[a] -= conductance * x[b];
        product -= conductance * x[a] * x[b];
    });
    return product;
}

double unknowns(const Network<double>& network) {
    using namespace rows;
    return fixed_sum<double>(network.slot_count(), tile_grain, [&](std::int64_t slot) {
        Row<double> sum{};
        const Row<double> none{};
        for (int n = 0; n < block; n += 8)
            sum += load(network.coefficients(slot).diagonal.data() + n) > none ? none + 1.0 : none;
        return total(sum);
    });
}

AssembledNetwork assemble(const Network<double>& network) {
    const Tiling& tiling = network.tiling();
    AssembledNetwork assembled;
    std::vector<std::int32_t> row(network.value_count(), -1);
    visit_in_natural_order(tiling, [&](Int3 cell, std::int64_t n) {
        const std::int64_t slot = n / Tiling::cells_per_tile;
        const auto local = static_cast<int>(n % Tiling::cells_per_tile);
        const TileCoefficients<double>& c = network.coefficients(slot);
        if (c.diagonal[local] == 0) return;
        row[n] = static_cast<std::int32_t>(assembled.cell_index.size());
        assembled.cell_index.push_back(n);
        for (const int axis : {2, 1, 0})  // ascending columns: the neighbour below in z comes first
            if (c.link[axis][local] != 0)
                assembled.matrix.add(row[tiling.find(cell - unit(axis))], -c.link[axis][local]);
        assembled.matrix.add(row[n], c.diagonal[local]);
        assembled.matrix.end_row();
    });
    // Listed nodes come last.
    std::vector<std::vector<std::pair<std::int64_t, double>>> lower(network.listed().count());
    for (const auto& link : network.listed().links) {
        const std::int64_t other = link.other - network.first_listed();
        lower[std::max(link.node, other)].push_back(
            {other < 0 ? link.other : network.first_listed() + std::min(link.node, other), link.conductance});
    }
    for (std::int64_t i = 0; i < network.listed().count(); ++i) {
        const std::int64_t n = network.first_listed() + i;
        row[n] = static_cast<std::int32_t>(assembled.cell_index.size());
        assembled.cell_index.push_back(n);
        std::map<std::int32_t, double> entries;  // ascending
        for (const auto& [other, conductance] : lower[i]) entries[row[other]] -= conductance;
        for (const auto& [column, value] : entries) assembled.matrix.add(column, value);
        assembled.matrix.add(
            row[n], network.coefficients(n / Tiling::cells_per_tile).diagonal[n % Tiling::cells_per_tile]);
        assembled.matrix.end_row();
    }
    return assembled;
}

}  // namespace flotsam

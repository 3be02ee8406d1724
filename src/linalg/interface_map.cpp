#include "linalg/interface_map.h"

#include <algorithm>
#include <tuple>

#include "core/parallel.h"
#include "core/tiles.h"

namespace flotsam {

InterfaceMap::InterfaceMap(std::int64_t tiles, std::int64_t nodes, std::vector<InterfaceEntry> entries) {
    std::stable_sort(entries.begin(), entries.end(), [](const InterfaceEntry& a, const InterfaceEntry& b) {
        return std::tie(a.cell, a.node) < std::tie(b.cell, b.node);
    });
    for (const InterfaceEntry& entry : entries) {
        if (!entries_.empty() && entries_.back().cell == entry.cell && entries_.back().node == entry.node)
            entries_.back().area += entry.area;
        else
            entries_.push_back(entry);
    }
    tile_begin_.assign(tiles + 1, 0);
    node_begin_.assign(nodes + 1, 0);
    for (const InterfaceEntry& entry : entries_) {
        ++tile_begin_[entry.cell / Tiling::cells_per_tile + 1];
        ++node_begin_[entry.node + 1];
    }
    for (std::int64_t t = 0; t < tiles; ++t) tile_begin_[t + 1] += tile_begin_[t];
    for (std::int64_t n = 0; n < nodes; ++n) node_begin_[n + 1] += node_begin_[n];
    by_node_.resize(entries_.size());
    std::vector<std::int64_t> next(node_begin_.begin(), node_begin_.end() - 1);
    for (const InterfaceEntry& entry : entries_) by_node_[next[entry.node]++] = {entry.cell, entry.area};
}

void InterfaceMap::gather(std::span<const double> x, std::span<Vec3> w) const {
    parallel_for(nodes(), 512, [&](std::int64_t n) {
        Vec3 sum;
        for (std::int64_t e = node_begin_[n]; e < node_begin_[n + 1]; ++e)
            sum += by_node_[e].area * x[by_node_[e].cell];
        w[n] = sum;
    });
}

void InterfaceMap::scatter(std::span<const Vec3> v, std::span<double> x, double sign) const {
    parallel_for(std::ssize(tile_begin_) - 1, 16, [&](std::int64_t tile) {
        for (std::int64_t e = tile_begin_[tile]; e < tile_begin_[tile + 1]; ++e)
            x[entries_[e].cell] += sign * dot(entries_[e].area, v[entries_[e].node]);
    });
}

}  // namespace flotsam

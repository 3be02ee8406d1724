#include "linalg/coarsen.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace flotsam {

namespace {

constexpr int block = Tiling::cells_per_tile;
constexpr std::int64_t tile_grain = 4;

}  // namespace

std::vector<Int3> widths(const LowRank<double>& modes, const Tiling& tiling) {
    struct Span {
        Int3 low{1 << 30, 1 << 30, 1 << 30}, high{-1, -1, -1};
    };
    std::vector<Span> spans(modes.groups());
    for (const ModeEntry<double>& entry : modes.entries()) {
        const auto local = static_cast<int>(entry.cell % block);
        const Int3 cell = tiling.first_cell(entry.cell / block) + Int3{local & 7, local >> 3 & 7, local >> 6};
        Span& span = spans[entry.group];
        span.low = min(span.low, cell), span.high = max(span.high, cell);
    }
    std::vector<Int3> width;
    width.reserve(spans.size());
    for (const Span& span : spans) width.push_back(max(span.high - span.low, Int3{1, 1, 1}));
    return width;
}

// The fluxes of coarse cells: the sums of their children's. A body of width w in cells of width s > w lies
// across the border of two cells in w of s cases, and then feels the difference of their values, which is s /
// w times what the difference across the body is: the energy of many small bodies in a linear field comes out
// s / w times too large, and compliance is reduced by that.
LowRank<float> coarsen(const LowRank<float>& fine, const Tiling& tiling, const Tiling& coarse, Int3 coarsens,
                       Int3 size, const std::vector<Int3>& width) {
    const Parent parent{coarsens};
    std::vector<ModeEntry<float>> entries = fine.entries();
    for (ModeEntry<float>& entry : entries) {
        const Int3 tile = tiling.tiles()[entry.cell / block];
        const int local = static_cast<int>(entry.cell % block);
        const Int3 corner = parent.corner(tile);
        entry.cell = coarse.find(parent.tile(tile) * Tiling::side) +
                     Tiling::local_index(corner.x + ((local & 7) >> coarsens.x),
                                         corner.y + ((local >> 3 & 7) >> coarsens.y),
                                         corner.z + ((local >> 6) >> coarsens.z));
    }
    std::vector<SixBySix<float>> compliance = fine.compliance();
    for (std::size_t g = 0; g < compliance.size(); ++g) {
        Six<double> root;
        const auto reduction = [&](int axis) {  // from the fine level to this one
            const double share = double(width[g][axis]) / size[axis];
            return share >= 1 + coarsens[axis] ? 1.0 : share > 1 ? share / 2 : coarsens[axis] ? 0.5 : 1.0;
        };
        int widest = 0;
        for (int axis = 0; axis < 3; ++axis) {
            root[axis] = std::sqrt(reduction(axis));
            if (width[g][axis] > width[g][widest]) widest = axis;
        }
        for (int axis = 0; axis < 3; ++axis) root[3 + axis] = root[widest];
        for (int a = 0; a < 6; ++a)
            for (int b = 0; b < 6; ++b) compliance[g][a][b] *= float(root[a] * root[b]);
    }
    return {coarse.tile_count(), std::move(entries), std::move(compliance)};
}

LowRank<float> in_single_precision(const LowRank<double>& modes, std::int64_t tiles) {
    std::vector<ModeEntry<float>> entries;
    for (const ModeEntry<double>& entry : modes.entries()) {
        entries.push_back({entry.cell, entry.group, {}});
        for (int k = 0; k < 6; ++k) entries.back().flux[k] = float(entry.flux[k]);
    }
    std::vector<SixBySix<float>> compliance(modes.groups());
    for (std::size_t g = 0; g < compliance.size(); ++g)
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < 6; ++j) compliance[g][i][j] = float(modes.compliance()[g][i][j]);
    return {tiles, std::move(entries), std::move(compliance)};
}

// The next coarser network. `size` is the edge of a fine cell along each axis, in cells of the finest grid.
Network<float> coarsen(const Network<float>& fine, Int3 size, Int3 coarsens) {
    const Tiling& tiling = fine.tiling();
    const Parent parent{coarsens};
    std::vector<Int3> tiles;
    for (const Int3 t : tiling.tiles()) tiles.push_back(parent.tile(t));
    std::sort(tiles.begin(), tiles.end(),
              [](Int3 a, Int3 b) { return std::tie(a.z, a.y, a.x) < std::tie(b.z, b.y, b.x); });
    tiles.erase(std::unique(tiles.begin(), tiles.end()), tiles.end());
    const auto halve = [&](int n, int c) { return c ? (n + 1) / 2 : n; };
    const Int3 cells = tiling.cells();
    const Int3 coarse_cells{halve(cells.x, coarsens.x), halve(cells.y, coarsens.y),
                            halve(cells.z, coarsens.z)};
    Network<float> coarse(std::make_shared<Tiling>(coarse_cells, tiles));
    std::vector<std::int64_t> all(coarse.tiling().tile_count());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
    coarse.set_mixed(all);
    std::vector<std::array<char, block>> unknown(all.size());

    const Children children(tiling, coarse.tiling(), coarsens);
    parallel_for(coarse.tiling().tile_count(), 1, [&](std::int64_t coarse_slot) {
        auto& links = coarse.mixed(coarse_slot);
        auto& grounds = coarse.ground(coarse_slot);
        unknown[coarse_slot].fill(0);
        for (const std::int32_t slot : children.of(coarse_slot)) {
            const Int3 corner = parent.corner(tiling.tiles()[slot]);
            const TileCoefficients<float>& c = fine.coefficients(slot);
            for (int local = 0; local < block; ++local) {
                if (c.diagonal[local] == 0) continue;
                const Int3 place{local & 7, local >> 3 & 7, local >> 6};
                const int to = Tiling::local_index(corner.x + (place.x >> coarsens.x),
                                                   corner.y + (place.y >> coarsens.y),
                                                   corner.z + (place.z >> coarsens.z));
                unknown[coarse_slot][to] = 1;
                for (int axis = 0; axis < 3; ++axis) {
                    // From a cell's centre to its parent's: half a cell, or nothing when it has no sibling
                    // along this axis. Siblings lie in the same tile.
                    const int area = size[(axis + 1) % 3] * size[(axis + 2) % 3], stride = 1 << 3 * axis;
                    const auto way = [&](const TileCoefficients<float>& tile, int child) {
                        if (!coarsens[axis] || tile.diagonal[child ^ stride] == 0) return 0.0f;
                        return 0.5f * float(size[axis]) / float(area);
                    };
                    const float link = c.link[axis][local];
                    if (link > 0 && (!coarsens[axis] || place[axis] % 2 == 0)) {
                        const bool inside = place[axis] > 0;
                        const TileCoefficients<float>& below =
                            inside ? c : fine.coefficients(tiling.neighbour(slot, axis, 0));
                        links.link[axis][to] +=
                            1 / (1 / link + way(c, local) +
                                 way(below, inside ? local - stride : local + 7 * stride));
                    }
                    const float ground = fine.ground(slot, axis, local);
                    if (ground > 0) grounds[axis][to] += 1 / (1 / ground + way(c, local));
                }
            }
        }
    });
    coarse.finish([&](std::int64_t slot, int local) { return unknown[slot][local] != 0; });
    return coarse;
}

Network<float> in_single_precision(const Network<double>& network) {
    Network<float> single(network.shared_tiling());
    std::vector<std::int64_t> slots;
    for (std::int64_t slot = 0; slot < network.tiling().tile_count(); ++slot)
        if (!network.plain(slot)) slots.push_back(slot);
    single.set_mixed(slots);
    parallel_for(std::int64_t(slots.size()), tile_grain, [&](std::int64_t m) {
        const std::int64_t slot = slots[m];
        const TileCoefficients<double>& from = network.coefficients(slot);
        TileCoefficients<float>& to = single.mixed(slot);
        for (int i = 0; i < block; ++i) {
            to.diagonal[i] = float(from.diagonal[i]);
            for (int axis = 0; axis < 3; ++axis) {
                to.link[axis][i] = float(from.link[axis][i]);
                single.ground(slot)[axis][i] = float(network.ground(slot, axis, i));
            }
        }
    });
    return single;
}

}  // namespace flotsam

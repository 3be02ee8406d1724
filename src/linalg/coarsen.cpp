#include "linalg/coarsen.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace flotsam {

namespace {

constexpr int block = Tiling::cells_per_tile;
constexpr std::int64_t tile_grain = 4;

}  // namespace

std::vector<Int3> widths(const LowRank<double>& modes, const Network<double>& network) {
    struct Span {
        Int3 low{1 << 30, 1 << 30, 1 << 30}, high{-1, -1, -1};
    };
    std::vector<Span> spans(modes.groups());
    for (const ModeEntry<double>& entry : modes.entries()) {
        const Int3 cell = network.place(entry.cell);
        Span& span = spans[entry.group];
        span.low = min(span.low, cell), span.high = max(span.high, cell);
    }
    std::vector<Int3> width;
    width.reserve(spans.size());
    for (const Span& span : spans) width.push_back(max(span.high - span.low, Int3{1, 1, 1}));
    return width;
}

// The fluxes of coarse cells are the sums of their children's. A body of width w in cells of width s > w lies
// across the border of two cells in w of s cases, and then feels the difference of their values, which is s /
// w times the true difference across the body: the energy of many small bodies in a linear field comes out s
// / w times too large, so the compliance is reduced by this factor.
LowRank<float> coarsen(const LowRank<float>& modes, const Network<float>& fine, const Network<float>& coarse,
                       Int3 coarsens, const std::vector<std::int64_t>& joined, Int3 size,
                       const std::vector<Int3>& width) {
    std::vector<ModeEntry<float>> entries = modes.entries();
    for (ModeEntry<float>& entry : entries)
        entry.cell = std::uint32_t(parent_of(entry.cell, fine, coarse, coarsens, joined));
    std::vector<SixBySix<float>> compliance = modes.compliance();
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
    return {coarse.slot_count(), std::move(entries), std::move(compliance)};
}

LowRank<float> in_single_precision(const LowRank<double>& modes, std::int64_t slots) {
    std::vector<ModeEntry<float>> entries;
    for (const ModeEntry<double>& entry : modes.entries()) {
        entries.push_back({entry.cell, entry.group, {}});
        for (int k = 0; k < 6; ++k) entries.back().flux[k] = float(entry.flux[k]);
    }
    std::vector<SixBySix<float>> compliance(modes.groups());
    for (std::size_t g = 0; g < compliance.size(); ++g)
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < 6; ++j) compliance[g][i][j] = float(modes.compliance()[g][i][j]);
    return {slots, std::move(entries), std::move(compliance)};
}

std::int64_t parent_of(std::int64_t n, const Network<float>& fine, const Network<float>& coarse,
                       Int3 coarsens, const std::vector<std::int64_t>& joined) {
    if (n >= fine.first_listed()) return coarse.first_listed() + joined[n - fine.first_listed()];
    const Int3 cell = fine.place(n);
    return coarse.tiling().find({cell.x >> coarsens.x, cell.y >> coarsens.y, cell.z >> coarsens.z});
}

std::vector<std::int64_t> join_listed(const ListedNodes<float>& nodes, std::int64_t first_listed,
                                      Int3 coarsens) {
    std::vector<std::int64_t> lowest(nodes.count());
    for (std::int64_t n = 0; n < nodes.count(); ++n) lowest[n] = n;
    const auto root = [&](std::int64_t n) {
        while (lowest[n] != n) n = lowest[n] = lowest[lowest[n]];
        return n;
    };
    const auto parent = [&](std::int64_t n) {
        const Int3 c = nodes.cell[n];
        return Int3{c.x >> coarsens.x, c.y >> coarsens.y, c.z >> coarsens.z};
    };
    for (const auto& link : nodes.links) {
        const std::int64_t other = link.other - first_listed;
        if (other < 0 || nodes.cell[link.node].x < 0 || parent(link.node) != parent(other)) continue;
        const std::int64_t a = root(link.node), b = root(other);
        lowest[std::max(a, b)] = std::min(a, b);
    }
    std::vector<std::int64_t> joined(nodes.count());
    std::int64_t count = 0;
    for (std::int64_t n = 0; n < nodes.count(); ++n) joined[n] = root(n) == n ? count++ : joined[root(n)];
    return joined;
}

namespace {

// Links are lengthened by the distances from their ends to the ends' parents, like those of cells; links
// between the same two unknowns are merged.
ListedNodes<float> coarsen_listed(const Network<float>& fine, const Network<float>& coarse, Int3 size,
                                  Int3 coarsens, const std::vector<std::int64_t>& joined) {
    ListedNodes<float> nodes;
    for (std::int64_t n = 0; n < fine.listed().count(); ++n) {
        if (joined[n] == nodes.count()) {
            const Int3 c = fine.listed().cell[n];
            nodes.cell.push_back(c.x < 0 ? c : Int3{c.x >> coarsens.x, c.y >> coarsens.y, c.z >> coarsens.z});
            nodes.ground.push_back(0);
        }
        nodes.ground[joined[n]] += fine.listed().ground[n];
    }
    std::map<std::pair<std::int64_t, std::int64_t>, float> sums;
    const float way = 1 / float(std::max({size.x, size.y, size.z}));  // half a cell at each end
    for (const auto& link : fine.listed().links) {
        const bool both = link.other >= fine.first_listed();
        const std::int64_t node = joined[link.node];
        const std::int64_t other = both ? joined[link.other - fine.first_listed()]
                                        : parent_of(link.other, fine, coarse, coarsens, joined);
        if (both && node == other) continue;
        const float longer = 1 / (1 / link.conductance + way);
        if (both)
            sums[{std::max(node, other), coarse.first_listed() + std::min(node, other)}] += longer;
        else
            sums[{node, other}] += longer;
    }
    for (const auto& [ends, conductance] : sums)
        nodes.links.push_back({ends.first, ends.second, conductance});
    return nodes;
}

}  // namespace

// The next coarser network. `size` is the edge of a fine cell along each axis, in cells of the finest grid.
Network<float> coarsen(const Network<float>& fine, Int3 size, Int3 coarsens,
                       const std::vector<std::int64_t>& joined) {
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
    for_each_tile(coarse.tiling(), 1, [&](std::int64_t coarse_slot) {
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
    coarse.list(coarsen_listed(fine, coarse, size, coarsens, joined));
    coarse.finish([&](std::int64_t slot, int local) { return unknown[slot][local] != 0; });
    return coarse;
}

Network<float> in_single_precision(const Network<double>& network) {
    Network<float> single(network.shared_tiling());
    std::vector<std::int64_t> slots;
    for (std::int64_t slot = 0; slot < network.tiling().owned_count(); ++slot)
        if (!network.plain(slot)) slots.push_back(slot);
    single.set_mixed(slots);
    ListedNodes<float> listed{network.listed().cell, {}, {}};
    for (const double ground : network.listed().ground) listed.ground.push_back(float(ground));
    for (const auto& link : network.listed().links)
        listed.links.push_back({link.node, link.other, float(link.conductance)});
    single.list(std::move(listed));
    for (std::int64_t slot = network.tiling().tile_count(); slot < network.slot_count(); ++slot)
        for (int i = 0; i < block; ++i)
            single.mixed(slot).diagonal[i] = float(network.coefficients(slot).diagonal[i]);
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

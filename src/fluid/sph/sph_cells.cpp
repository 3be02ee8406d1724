#include "fluid/sph/sph_cells.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/parallel.h"

namespace flotsam {

namespace {

// The bits of a coordinate, two places apart.
std::uint64_t spread(std::uint64_t n) {
    std::uint64_t bits = 0;
    for (int b = 0; b < 31; ++b) bits |= (n >> b & 1) << (2 * b);
    return bits;
}

}  // namespace

SphCells::SphCells(Vec3 size, double reach, bool flat) : width_{reach / cells_per_reach, reach, reach} {
    for (int axis = 0; axis < 3; ++axis)
        cells_[axis] = flat && axis == 2 ? 1 : std::max(1, int(std::ceil(size[axis] / width_[axis])));
    const std::int32_t count = cells_.y * cells_.z;

    std::vector<std::pair<std::uint64_t, Int3>> curve;
    for (Int3 c; c.z < cells_.z; ++c.z)
        for (c.y = 0; c.y < cells_.y; ++c.y) curve.emplace_back(spread(c.y) | spread(c.z) << 1, c);
    std::sort(curve.begin(), curve.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    rank_.resize(count);
    for (std::int32_t n = 0; n < count; ++n) rank_[curve[n].second.y + cells_.y * curve[n].second.z] = n;

    groups_.resize(6);
    constexpr Int3 later[most_after]{{0, 1, 0}, {0, -1, 1}, {0, 0, 1}, {0, 1, 1}};
    for (std::int32_t n = 0; n < count; ++n) {
        const Int3 here = curve[n].second;
        groups_[here.y % 3 + 3 * (here.z % 2)].push_back(n);
        std::array<std::int32_t, most_after>& after = after_.emplace_back();
        for (int s = 0; s < most_after; ++s) {
            const Int3 c = here + later[s];
            const bool inside = c.y >= 0 && c.y < cells_.y && c.z < cells_.z;
            after[s] = inside ? rank_[c.y + cells_.y * c.z] : -1;
        }
    }
}

Int3 SphCells::place_of(Vec3 p) const {
    Int3 c;
    for (int axis = 0; axis < 3; ++axis)
        c[axis] = int(std::clamp(p[axis] / width_[axis], 0.0, double(cells_[axis] - 1)));
    return c;
}

std::int64_t SphCells::cell_of(Vec3 p) const {
    const Int3 c = place_of(p);
    return std::int64_t{rank_[c.y + cells_.y * c.z]} * cells_.x + c.x;
}

void SphCells::sort(const std::vector<Vec3>& position) {
    const auto count = std::int64_t(position.size());
    cell_of_particle_.resize(count);
    order_.resize(count);
    parallel_for(count, 4096,
                 [&](std::int64_t i) { cell_of_particle_[i] = std::int32_t(cell_of(position[i])); });
    // Counting sort; a small part of a step, it needs no threads. Counts are stored two places ahead: while
    // particles are distributed, begin_[c + 1] is the next free place of cell c, and in the end the first of
    // cell c + 1.
    begin_.assign(rank_.size() * cells_.x + 2, 0);
    for (const std::int32_t cell : cell_of_particle_) ++begin_[cell + 2];
    for (std::size_t n = 2; n < begin_.size(); ++n) begin_[n] += begin_[n - 1];
    for (std::int64_t i = 0; i < count; ++i) order_[begin_[cell_of_particle_[i] + 1]++] = std::int32_t(i);
}

std::int64_t SphCells::bytes() const {
    return std::int64_t(sizeof(std::int32_t) * (rank_.size() + begin_.size() + order_.size() +
                                                cell_of_particle_.size() + rank_.size() * (most_after + 1)));
}

}  // namespace flotsam

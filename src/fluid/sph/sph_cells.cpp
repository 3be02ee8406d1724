#include "fluid/sph/sph_cells.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/parallel.h"

namespace flotsam {

namespace {

// The bits of a coordinate, three places apart.
std::uint64_t spread(std::uint64_t n) {
    std::uint64_t bits = 0;
    for (int b = 0; b < 21; ++b) bits |= (n >> b & 1) << (3 * b);
    return bits;
}

}  // namespace

SphCells::SphCells(Vec3 size, double width, bool flat) : flat_(flat), width_(width) {
    for (int axis = 0; axis < 3; ++axis)
        cells_[axis] = flat && axis == 2 ? 1 : std::max(1, int(std::ceil(size[axis] / width)));
    const std::int64_t count = std::int64_t{cells_.x} * cells_.y * cells_.z;

    std::vector<std::pair<std::uint64_t, Int3>> curve;
    curve.reserve(count);
    for (Int3 c; c.z < cells_.z; ++c.z)
        for (c.y = 0; c.y < cells_.y; ++c.y)
            for (c.x = 0; c.x < cells_.x; ++c.x)
                curve.emplace_back(spread(c.x) | spread(c.y) << 1 | spread(c.z) << 2, c);
    std::sort(curve.begin(), curve.end(), [](const auto& a, const auto& b) { return a.first < b.first; });

    rank_.resize(count);
    for (std::int64_t n = 0; n < count; ++n) rank_[place_of(curve[n].second)] = std::int32_t(n);
    around_.resize(count);
    for (std::int64_t n = 0; n < count; ++n) {
        around_[n].fill(-1);
        int slot = 0;
        for (int k = flat ? 0 : -1; k <= (flat ? 0 : 1); ++k)
            for (int j = -1; j <= 1; ++j)
                for (int i = -1; i <= 1; ++i, ++slot) {
                    const Int3 c = curve[n].second + Int3{i, j, k};
                    if (min(c, Int3{0, 0, 0}) == Int3{0, 0, 0} &&
                        max(c, cells_ - Int3{1, 1, 1}) == cells_ - Int3{1, 1, 1})
                        around_[n][slot] = rank_[place_of(c)];
                }
    }
}

std::int32_t SphCells::cell_of(Vec3 p) const {
    Int3 c;
    for (int axis = 0; axis < 3; ++axis)
        c[axis] = int(std::clamp(std::floor(p[axis] / width_), 0.0, double(cells_[axis] - 1)));
    return rank_[place_of(c)];
}

void SphCells::sort(const std::vector<Vec3>& position) {
    const auto count = std::int64_t(position.size());
    cell_of_particle_.resize(count);
    order_.resize(count);
    parallel_for(count, 4096, [&](std::int64_t i) { cell_of_particle_[i] = cell_of(position[i]); });
    // Counting is a small part of a step and needs no threads.
    begin_.assign(cell_count() + 1, 0);
    for (const std::int32_t cell : cell_of_particle_) ++begin_[cell + 1];
    for (std::int64_t n = 0; n < cell_count(); ++n) begin_[n + 1] += begin_[n];
    std::vector<std::int32_t> next(begin_.begin(), begin_.end() - 1);
    for (std::int64_t i = 0; i < count; ++i) order_[next[cell_of_particle_[i]]++] = std::int32_t(i);
}

}  // namespace flotsam

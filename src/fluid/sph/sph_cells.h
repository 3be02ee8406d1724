// Which particles are near each other: a uniform grid whose cells are as wide as the kernel reaches, so that
// all neighbours of a particle are in the 27 cells (9 in a slab) around its own. Cells follow each other
// along a Z-order curve and particles in the order of their cells: what is near in space is near in memory.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/vec.h"

namespace flotsam {

class SphCells {
  public:
    SphCells() = default;
    // For particles in [0, size]; those outside count to the nearest cell, which keeps neighbours neighbours.
    SphCells(Vec3 size, double width, bool flat);

    // Finds the cell of every particle. order()[n] is the particle that shall be the n-th; within a cell they
    // stay in the order that they have.
    void sort(const std::vector<Vec3>& position);
    const std::vector<std::int32_t>& order() const { return order_; }

    // Cells along the curve: cell n holds the places [begin(n), begin(n + 1)) of the order.
    std::int64_t cell_count() const { return std::int64_t(around_.size()); }
    std::int32_t begin(std::int64_t cell) const { return begin_[cell]; }
    // The cells around one and itself, in a fixed order; -1 beyond the sides.
    static constexpr int most_around = 27;
    int around_count() const { return flat_ ? 9 : 27; }
    const std::array<std::int32_t, most_around>& around(std::int64_t cell) const { return around_[cell]; }
    std::int32_t cell_of(Vec3 p) const;

  private:
    std::int64_t place_of(Int3 c) const {
        return c.x + std::int64_t{cells_.x} * (c.y + std::int64_t{cells_.y} * c.z);
    }

    bool flat_ = false;
    double width_ = 1;
    Int3 cells_{1, 1, 1};
    std::vector<std::int32_t> rank_;  // of each cell along the curve
    std::vector<std::array<std::int32_t, most_around>> around_;
    std::vector<std::int32_t> begin_, order_, cell_of_particle_;
};

}  // namespace flotsam

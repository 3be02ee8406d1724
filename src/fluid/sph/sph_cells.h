// Which particles are near each other. Cells lie in rows along x, as wide in y and z as the kernel reaches
// and a quarter of that in x. Rows follow each other along a Z-order curve, cells along their row, and
// particles in the order of their cells: what is near in space is near in memory, and the particles of a row
// that one can feel are one run of memory.
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
    SphCells(Vec3 size, double reach, bool flat);

    // Finds the cell of every particle. order()[n] is the particle that shall be the n-th; within a cell they
    // stay in the order that they have.
    void sort(const std::vector<Vec3>& position);
    const std::vector<std::int32_t>& order() const { return order_; }

    static constexpr int cells_per_reach = 4;
    int row_length() const { return cells_.x; }  // in cells
    // The first place of a cell in the order; that of the next cell or row ends it.
    std::int32_t begin(std::int32_t row, int cell) const {
        return begin_[std::int64_t{row} * cells_.x + cell];
    }
    // Rows beside one whose particles it may feel, only those that come later in y and z: each pair of rows
    // once. -1 beyond the sides.
    static constexpr int most_after = 4;
    const std::array<std::int32_t, most_after>& rows_after(std::int32_t row) const { return after_[row]; }
    // Rows in groups: no two of a group are, or have after them, the same row. Threads that share a group
    // never write to the same particle.
    const std::vector<std::vector<std::int32_t>>& groups() const { return groups_; }
    std::int64_t cell_of(Vec3 p) const;  // along the curve

    std::int64_t bytes() const;

  private:
    Int3 place_of(Vec3 p) const;

    Vec3 width_{1, 1, 1};
    Int3 cells_{1, 1, 1};
    std::vector<std::int32_t> rank_;  // of the rows along the curve
    std::vector<std::array<std::int32_t, most_after>> after_;
    std::vector<std::vector<std::int32_t>> groups_;
    std::vector<std::int32_t> begin_, order_, cell_of_particle_;
};

}  // namespace flotsam

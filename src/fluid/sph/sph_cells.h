// Neighbour search. Cells lie in rows along x; they are as wide as the kernel's reach in y and z and a
// quarter of that in x. Rows are sorted along a Z-order curve, cells along their row, and particles by cell:
// neighbours in space are near in memory, and a particle's neighbours within one row are contiguous.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/vec.h"

namespace flotsam {

class SphCells {
  public:
    SphCells() = default;
    // For particles in [0, size]; those outside belong to the nearest cell, which keeps neighbours together.
    SphCells(Vec3 size, double reach, bool flat);

    // Sorts the particles by cell: order()[n] is the particle for place n. Within a cell their order stays as
    // it is.
    void sort(const std::vector<Vec3>& position);
    const std::vector<std::int32_t>& order() const { return order_; }

    static constexpr int cells_per_reach = 4;
    int row_length() const { return cells_.x; }  // in cells
    // The first place of a cell in the order; it ends where the next cell or row begins.
    std::int32_t begin(std::int32_t row, int cell) const {
        return begin_[std::int64_t{row} * cells_.x + cell];
    }
    // The neighbouring rows within reach that come later in y and z, so that each pair of rows occurs once.
    // -1 beyond the sides.
    static constexpr int most_after = 4;
    const std::array<std::int32_t, most_after>& rows_after(std::int32_t row) const { return after_[row]; }
    // Rows in groups (a colouring): within a group, all rows and their rows_after are distinct. Threads that
    // share a group never write to the same particle.
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

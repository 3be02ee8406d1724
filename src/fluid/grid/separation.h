// Liquid that may separate from solids and walls.
//
// A wall pushes liquid but does not pull it: complementarity of p >= 0 and the outflow >= 0 of each cell
// beside a wall [Batty, Bertails & Bridson 2007]. Separated cells are air for the solve. A primal-dual active
// set method finds them by solving again: a cell with negative pressure separates, one with inflow attaches
// again. For matrices like ours it terminates.
#pragma once

#include <array>
#include <vector>

#include "fluid/grid/pressure_system.h"
#include "fluid/grid/solid_interface.h"

namespace flotsam {

class Separation {
  public:
    // Collects the liquid cells of the first solve that lie beside solids and closed sides.
    explicit Separation(const PressureSystem& system);

    // Updates the active set from the result of a solve and returns how many cells changed: if any did, the
    // system must be made again, with `release`, and solved from the same initial velocity. Faces between
    // separated cells fall freely and are marked as changed.
    std::int64_t judge(const PressureSystem& system, const Field<double>& potential, double dt, MacGrid& u,
                       std::array<Field<char>, 3>& changed, const std::vector<BodyInertia>& bodies,
                       const SolidVelocities& solids);
    // Makes the separated cells air.
    void release(Field<double>& phi) const;
    // 1 in separated cells.
    const Field<char>& free() const { return free_; }

  private:
    std::vector<std::int64_t> beside_;  // cells beside walls, indices in phi's tiling
    Field<char> free_;
};

}  // namespace flotsam

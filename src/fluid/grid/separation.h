// Liquid that may let go of solids and walls.
//
// A wall pushes liquid but does not pull at it: beside one 0 <= p, 0 <= what flows out of the cell, and one
// of both is zero [Batty, Bertails & Bridson 2007]. Cells that let go are air for the solve. Which ones do is
// found by solving again: a cell that would be pulled at lets go, one that would be filled again does not
// (primal-dual active sets; for matrices like ours they come to an end).
#pragma once

#include <array>
#include <vector>

#include "fluid/grid/pressure_system.h"
#include "fluid/grid/solid_interface.h"

namespace flotsam {

class Separation {
  public:
    // The cells beside solids and closed sides, of the liquid that a first solve sees.
    explicit Separation(const PressureSystem& system);

    // Looks at what a solve gave and says how many cells let go that did not before, or no longer do: then
    // the system must be made again, with `release`, and solved from where it began. Faces between cells that
    // let go fall freely and are marked as changed.
    std::int64_t judge(const PressureSystem& system, const Field<double>& potential, double dt, MacGrid& u,
                       std::array<Field<char>, 3>& changed, const std::vector<BodyInertia>& bodies,
                       const SolidVelocities& solids);
    // Makes the cells that let go air.
    void release(Field<double>& phi) const;
    // One where a cell let go.
    const Field<char>& free() const { return free_; }

  private:
    std::vector<std::int64_t> beside_;  // walls, of phi's tiling
    Field<char> free_;
};

}  // namespace flotsam

// The box that everything happens in: its grid and its six sides.
#pragma once

#include <algorithm>
#include <array>

#include "core/vec.h"

namespace flotsam {

enum class WallKind {
    closed,  // nothing passes
    open,    // no wall: the pressure outside is zero, liquid may leave
    mirror,  // a plane of symmetry: as closed, with free slip; beyond it everything is the same, mirrored
};

struct Wall {
    WallKind kind = WallKind::closed;
    double slip =
        1;  // share of its tangential speed that liquid at the wall keeps over 1/24 s; 1 slides freely
};

// Index of a side: 2 * axis, plus one for the high end.
enum Side { x_low, x_high, y_low, y_high, z_low, z_high };

// A grid of cubic cells from the origin to cells * h. 2D scenes are one cell thick with free-slip front and
// back.
struct Domain {
    Int3 cells{1, 1, 1};
    double h = 1;  // edge of a cell [m]
    std::array<Wall, 6> walls{};
    int particles_per_edge = 2;  // along a cell's edge, at rest: n^3 per cell, n^2 in 2D
    static constexpr int most_particles_per_edge = 6;

    bool flat() const { return cells.z == 1; }
    Vec3 size() const { return Vec3(cells) * h; }
    double cell_volume() const { return h * h * h; }
    Vec3 cell_center(Int3 c) const { return (Vec3(c) + Vec3{0.5, 0.5, 0.5}) * h; }
    Vec3 face_center(Int3 c, int axis) const { return cell_center(c) - Vec3(unit(axis)) * (0.5 * h); }
    Int3 cell_of(Vec3 p) const {
        return {int(std::floor(p.x / h)), int(std::floor(p.y / h)), int(std::floor(p.z / h))};
    }
    bool has_cell(Int3 c) const {
        return c.x >= 0 && c.y >= 0 && c.z >= 0 && c.x < cells.x && c.y < cells.y && c.z < cells.z;
    }
    bool open(int side) const { return walls[side].kind == WallKind::open; }
    bool mirror(int side) const { return walls[side].kind == WallKind::mirror; }
    // Whether a side stops solids and liquid. Front and back of a slab are no walls.
    bool closed(int side) const { return !open(side) && !(flat() && side >= z_low); }
    std::array<bool, 6> closed_sides() const {
        std::array<bool, 6> sides{};
        for (int side = 0; side < 6; ++side) sides[side] = closed(side);
        return sides;
    }
    std::array<bool, 6> mirrors() const {
        std::array<bool, 6> sides{};
        for (int side = 0; side < 6; ++side) sides[side] = mirror(side);
        return sides;
    }
    bool any_open() const {
        return std::any_of(walls.begin(), walls.end(),
                           [](const Wall& wall) { return wall.kind == WallKind::open; });
    }
};

}  // namespace flotsam

// Keeps particles outside solids and inside closed sides.
#pragma once

#include <vector>

#include "fluid/displaced.h"
#include "fluid/grid/box_index.h"
#include "fluid/grid/obstacles.h"

namespace flotsam {

// Domain and obstacles must outlive it.
class Confines {
  public:
    Confines(const Domain& domain, const std::vector<Obstacle>& obstacles);

    // The end of a particle's way from `from` to `to`: it slides along the obstacles and never enters them,
    // however thin or fast they are. Closed sides of the domain stop it too, so nothing passes under a solid
    // that stands on the floor.
    Vec3 stop(Vec3 from, Vec3 to) const;
    // The same; records the displacement from `to` if it exceeds the gap that particles keep to walls.
    Vec3f move(Vec3 from, Vec3 to, Displaced& displaced) const {
        const Vec3 stopped = stop(from, to);
        if (stopped != to) displaced.add(stopped - to, gap());
        return Vec3f(stopped);
    }

    // The domain's sides, closed ones moved inwards by the gap: the only limits where there are no obstacles.
    const Box& sides() const { return sides_; }
    double gap() const { return 1e-3 * domain_.h; }  // between particles and surfaces [m]

  private:
    Vec3 held_by_sides(Vec3 p) const { return min(max(p, sides_.low), sides_.high); }
    // The outward direction of the closed sides that p lies on, or zero.
    Vec3 beyond_sides(Vec3 p, double near) const {
        Vec3 out;
        for (int a = 0; a < 3; ++a) {
            if (p[a] < sides_.low[a] + near) out[a] = -1;
            if (p[a] > sides_.high[a] - near) out[a] = 1;
        }
        return out;
    }
    Vec3 slide(std::span<const int> near, Vec3 from, Vec3 to) const;

    const Domain& domain_;
    const std::vector<Obstacle>& obstacles_;
    Box sides_;               // closed ones moved inwards by the gap
    std::vector<Box> reach_;  // bounds of each obstacle during the move
    std::vector<int> all_;
    BoxIndex index_;
};

}  // namespace flotsam

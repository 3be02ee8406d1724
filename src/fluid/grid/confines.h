// Where particles may go: around solids and not through closed sides.
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

    // Where a particle that wants to go from `from` to `to` ends up: it slides along the obstacles and never
    // enters them, however thin they are and however fast they come. Closed sides of the domain hold it, too:
    // under a solid that stands on the floor there is no way through.
    Vec3 stop(Vec3 from, Vec3 to) const;
    // The same, and counts it if that is somewhere else, by more than the gap that particles keep to walls.
    Vec3f move(Vec3 from, Vec3 to, Displaced& displaced) const {
        const Vec3 stopped = stop(from, to);
        if (stopped != to) displaced.add(stopped - to, gap());
        return Vec3f(stopped);
    }

    // Of the domain, closed ones a little further in: all there is when there are no obstacles.
    const Box& sides() const { return sides_; }
    double gap() const { return 1e-3 * domain_.h; }  // that particles keep to surfaces [m]

  private:
    Vec3 held_by_sides(Vec3 p) const { return min(max(p, sides_.low), sides_.high); }
    // Where a particle lies on closed sides: the direction out of the domain.
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
    Box sides_;               // closed ones keep particles a little inside
    std::vector<Box> reach_;  // of each obstacle during the move
    std::vector<int> all_;
    BoxIndex index_;
};

}  // namespace flotsam

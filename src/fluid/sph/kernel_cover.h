// The share of a particle's kernel that walls and solids cover.
//
// Resting liquid is a lattice, so a wall covers the lattice layers that would be behind it: the sum over
// them, not the kernel's integral beyond the wall. The two differ by 3 % of the density in the layer next to
// a wall. The equation of state is so stiff that 1 % would be the pressure of twice the depth.
#pragma once

#include <vector>

#include "fluid/sph/sph_liquid.h"
#include "geometry/shape.h"

namespace flotsam {

// Contribution of a lattice layer at a distance z to the kernel's sum at a particle straight above one of the
// layer's, and its derivative with respect to z.
struct LayerSum {
    double value, slope;
};
LayerSum layer_sum(const SphModel& model, double z);

// Cover by a plane at a distance [m], negative behind it.
class PlaneCover {
  public:
    PlaneCover() = default;
    explicit PlaneCover(const SphModel& model);

    double reach() const { return reach_; }
    double share(double distance) const { return at(share_, distance); }  // 0 from `reach` on
    double slope(double distance) const { return at(slope_, distance); }  // of the share, <= 0 [1/m]
    // Cover by the overlap of two planes at right angles, which the shares of both contain.
    double overlap(double distance, double other) const;
    // Force that the surface must add to the pair forces [Becker09 Eq. 4] so that a lattice beside it stays
    // at rest under uniform pressure: an acceleration of rho_0 P / rho^2 times this [1/m]. The first layer
    // gets none: control forces hold it, and need it to press against the surface.
    double press(double distance) const { return at(press_, distance); }

  private:
    static constexpr int entries = 1024;  // from -reach to reach
    double at(const std::vector<double>& table, double distance) const;
    double distance_at(int entry) const { return reach_ * (2.0 * entry / entries - 1); }

    double reach_ = 1, spacing_ = 1;
    static constexpr int overlap_entries = 64;  // from 0 to reach
    std::vector<double> share_, slope_, press_, overlap_;
};

// Cover by a solid, in body coordinates: the distance at which a plane would cover as much. At a flat side
// that is the distance itself; at an edge, a small ball or a thin shell it is larger.
class SolidCover {
  public:
    SolidCover() = default;
    SolidCover(const Shape& shape, const Box& bounds, const SphModel& model);

    struct Cover {
        double distance;  // the plane's reach or more where nothing is covered [m]
        Vec3 gradient;    // of the distance: points out of the solid
    };
    Cover at(Vec3 p) const;
    Box bounds() const { return {low_, high_}; }  // nothing is covered outside

  private:
    double node(Int3 n) const { return distance_[n.x + std::int64_t{nodes_.x} * (n.y + nodes_.y * n.z)]; }

    double spacing_ = 1, reach_ = 1;
    bool flat_ = false;
    Vec3 low_, high_;
    Int3 nodes_{0, 0, 0};
    std::vector<float> distance_;
};

}  // namespace flotsam

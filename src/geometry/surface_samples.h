// A solid's surface as evenly spread points with normals, for collisions with particles of a liquid.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "geometry/solid_shape.h"

namespace flotsam {

struct SurfaceSample {
    Vec3 point;   // on the surface [m]
    Vec3 normal;  // out of the solid
};

// Points at least `spacing` [m] apart and nowhere further than 4/3 of it from the next, in body coordinates.
// Each side of a sharp edge or of a thin shell has its own points, up to the edge itself, so that no gap is
// left. With `flat` only the outline in the x-y plane is covered, at z = 0.
std::vector<SurfaceSample> sample_surface(const SolidShape& shape, double spacing, bool flat);

// Finds the sample that a particle touches. Samples are balls of `radius` that lie just inside the surface,
// so that the liquid's volume ends there, and not the centres of its particles [Becker09 Section 4, Fig. 3].
class SampledSurface {
  public:
    SampledSurface() = default;
    SampledSurface(std::vector<SurfaceSample> samples, double radius);

    // The sample whose ball a particle of the same radius at p overlaps most, when p is nearer than the
    // radius to the plane of that sample. Only samples count that p lies over, within four fifths of the
    // radius, and that `before` was in front of: so nothing passes through a shell that is thinner than the
    // particle. Samples half a radius apart leave no gap between them.
    std::optional<SurfaceSample> touched(Vec3 p, Vec3 before) const;

    const std::vector<SurfaceSample>& samples() const { return samples_; }
    Box bounds() const { return bounds_; }  // of all positions where a particle may touch it

  private:
    double cell_width() const { return 2.2 * radius_; }  // the largest distance from p of a ball that counts
    Int3 cell_of(Vec3 p) const;
    std::int64_t place_of(Int3 c) const {
        return c.x + std::int64_t{cells_.x} * (c.y + std::int64_t{cells_.y} * c.z);
    }

    double radius_ = 1;
    std::vector<SurfaceSample> samples_;  // cell after cell
    std::vector<Vec3> center_;            // of their balls
    Box bounds_;
    Vec3 low_;  // of the first cell
    Int3 cells_{0, 0, 0};
    std::vector<std::int32_t> begin_;
};

}  // namespace flotsam

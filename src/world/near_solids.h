// The distance from a point to the nearest solid.
#pragma once

#include <vector>

#include "fluid/grid/box_index.h"
#include "world/world.h"

namespace flotsam {

class NearSolids {
  public:
    // Shapes count as near within `reach` of their bounds [m].
    NearSolids(std::vector<PlacedShape> shapes, const Domain& domain, double reach);
    // The scenario's solids at their current positions.
    NearSolids(const World& world, const Scenario& scenario, double reach);

    // The distance to the nearest, or `otherwise` if none is near or all are further than that [m].
    double distance(Vec3 point, double otherwise) const;

  private:
    Domain domain_;
    std::vector<PlacedShape> shapes_;
    std::vector<Box> boxes_;
    BoxIndex index_;
};

// The scenario's solids at the start, with the shapes that the scene describes.
NearSolids solids_at_start(const Scenario& scenario, double reach);

}  // namespace flotsam

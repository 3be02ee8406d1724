#include "world/near_solids.h"

#include <algorithm>

namespace flotsam {

namespace {

std::vector<PlacedShape> shapes_of(const World& world, const Scenario& scenario) {
    std::vector<PlacedShape> shapes;
    for (std::size_t s = 0; s < scenario.solids.size(); ++s) shapes.push_back(shape_of(world, scenario, s));
    return shapes;
}

}  // namespace

NearSolids::NearSolids(std::vector<PlacedShape> shapes, const Domain& domain, double reach)
    : domain_(domain), shapes_(std::move(shapes)) {
    const Vec3 room = Vec3{1, 1, 1} * reach;
    for (const PlacedShape& shape : shapes_) {
        const Box box = shape.bounds();
        boxes_.push_back({box.low - room, box.high + room});
    }
    index_ = BoxIndex(boxes_, domain, 0);
}

NearSolids::NearSolids(const World& world, const Scenario& scenario, double reach)
    : NearSolids(shapes_of(world, scenario), scenario.domain, reach) {}

NearSolids solids_at_start(const Scenario& scenario, double reach) {
    std::vector<PlacedShape> shapes;
    for (const Solid& solid : scenario.solids) shapes.push_back(shape_at(solid, 0));
    return {std::move(shapes), scenario.domain, reach};
}

double NearSolids::distance(Vec3 point, double otherwise) const {
    for (const int s : index_.near(domain_.cell_of(point)))
        if (boxes_[s].contains(point)) otherwise = std::min(otherwise, shapes_[s].distance(point));
    return otherwise;
}

}  // namespace flotsam

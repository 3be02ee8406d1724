#include "world/mirrors.h"

namespace flotsam {

std::array<bool, 6> mirrors_through(const Solid& solid, const Domain& domain, double slack) {
    std::array<bool, 6> cut{};
    const Box box = bounds(mesh_at(solid, 0));
    for (int side = 0; side < 6; ++side) {
        const int axis = side / 2;
        if (domain.mirror(side))
            cut[side] = side % 2 ? box.high[axis] > domain.size()[axis] + slack : box.low[axis] < -slack;
    }
    return cut;
}

}  // namespace flotsam

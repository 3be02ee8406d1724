#include "fluid/grid/friction.h"

namespace flotsam {

Vec3 apply_wall_friction(MacGrid& u, const Field<double>& phi, const Obstacles& obstacles,
                         const Domain& domain, const Rubbing& rubbing) {
    Vec3 impulse;
    for (int side = 0; side < 6; ++side) {
        const Wall& wall = domain.walls[side];
        const int normal = side / 2;
        if (wall.kind != WallKind::closed || wall.slip >= 1 || domain.cells[normal] == 1) continue;
        const double lost_share = rubbing.lost_share(wall.slip);
        for (int axis = 0; axis < 3; ++axis) {
            if (axis == normal) continue;
            const double lost =
                sum_over_cells<double>(phi.tiling(), domain.cells + unit(axis), [&](Int3 c, std::int64_t n) {
                    const int layer = side % 2 ? domain.cells[normal] - 1 - c[normal] : c[normal];
                    const double share = rubbing.share_of_cell((layer + 0.5) * domain.h, domain.h);
                    if (share == 0 || (phi(c) >= 0 && phi(c - unit(axis)) >= 0)) return 0.0;
                    const double before = u[axis][n];
                    u[axis][n] *= 1 - share * lost_share;
                    return (before - u[axis][n]) * (obstacles.any() ? obstacles.open_face[axis][n] : 1);
                });
            impulse[axis] -= lost * rubbing.density * domain.cell_volume();
        }
    }
    return impulse;
}

}  // namespace flotsam

#include "fluid/grid/viscosity.h"

#include <cmath>

namespace flotsam {

void diffuse_velocity(MacGrid& u, const Field<double>& phi, const Obstacles& obstacles, const Domain& domain,
                      double viscosity, double dt) {
    if (viscosity <= 0) return;
    // Stability with six neighbours: the shares of a face's velocity may sum to 1 at most; half of that keeps
    // it smooth.
    const double share_per_time = viscosity / (domain.h * domain.h);
    const int steps = std::max(1, int(std::ceil(12 * share_per_time * dt)));
    const double share = share_per_time * dt / steps;
    for (int axis = 0; axis < 3; ++axis) {
        Field<char> wet(u[axis].shared_tiling(), 0);
        const Int3 faces = domain.cells + unit(axis);
        for_each_cell(wet.tiling(), faces, [&](Int3 c, std::int64_t n) {
            const bool inside = c[axis] > 0 && c[axis] < domain.cells[axis];
            const bool open = !obstacles.any() || obstacles.open_face[axis][n] > 0;
            wet[n] = inside && open && (phi(c) < 0 || phi(c - unit(axis)) < 0);
        });
        for (int step = 0; step < steps; ++step) {
            const Field<double> old = u[axis];
            for_each_tile(old.tiling(), 1, [&](std::int64_t slot) {
                const TileView<double> velocity(old, slot);
                const TileView<char> counts(wet, slot);
                for_each_cell_of_tile(old.tiling(), slot, faces, [&](Int3, std::int64_t n) {
                    const int local = int(n - slot * Tiling::cells_per_tile);
                    if (!counts[local]) return;
                    double sum = 0;
                    for (int a = 0; a < 3; ++a) {
                        if (counts.lower(local, a)) sum += velocity.lower(local, a) - velocity[local];
                        if (counts.higher(local, a)) sum += velocity.higher(local, a) - velocity[local];
                    }
                    u[axis][n] += share * sum;
                });
            });
        }
    }
}

}  // namespace flotsam

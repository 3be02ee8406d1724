#include "fluid/grid/separation.h"

#include <algorithm>
#include <cmath>

namespace flotsam {

Separation::Separation(const PressureSystem& system) : free_(system.phi.shared_tiling(), 0) {
    const Domain& domain = *system.domain;
    const Tiling& tiling = system.phi.tiling();
    const auto beside_side = [&](Int3 c) {
        for (int axis = 0; axis < (domain.flat() ? 2 : 3); ++axis)
            for (int high = 0; high < 2; ++high)
                if (c[axis] == (high ? domain.cells[axis] - 1 : 0) && !domain.open(2 * axis + high))
                    return true;
        return false;
    };
    for (std::int64_t slot = 0; slot < tiling.owned_count(); ++slot)
        for_each_cell_of_tile(tiling, slot, domain.cells, [&](Int3 c, std::int64_t n) {
            if (system.phi[n] < 0 && beside_side(c)) beside_.push_back(n);
        });
    for (const ObstaclePatch& patch : system.obstacles->patches)
        if (system.phi[patch.cell] < 0 && patch.area != Vec3{}) beside_.push_back(patch.cell);
    std::sort(beside_.begin(), beside_.end());
    beside_.erase(std::unique(beside_.begin(), beside_.end()), beside_.end());
}

std::int64_t Separation::judge(const PressureSystem& system, const Field<double>& potential, double dt,
                               MacGrid& u, std::array<Field<char>, 3>& changed,
                               const std::vector<BodyInertia>& bodies, const SolidVelocities& solids) {
    const Domain& domain = *system.domain;
    const Obstacles& obstacles = *system.obstacles;
    const Tiling& tiling = system.phi.tiling();
    const auto place = [&](std::int64_t n) {
        return cell_at(tiling, n / Tiling::cells_per_tile, int(n % Tiling::cells_per_tile));
    };
    const auto open = [&](int axis, Int3 face) {
        return obstacles.any() ? obstacles.open_face[axis](face) : 1.0;
    };
    for (const std::int64_t n : beside_)
        for (int axis = 0; free_[n] && axis < 3; ++axis) {
            const Int3 below = place(n) - unit(axis);
            if (!domain.has_cell(below) || !free_(below) || open(axis, place(n)) == 0) continue;
            u[axis][n] += system.gravity[axis] * dt;
            changed[axis][n] = 1;
        }

    // Flux out of the separated cells through the moving solids.
    Field<double> outflow(system.phi.shared_tiling(), 0);
    for (std::size_t b = 0; b < bodies.size(); ++b) {
        const Twist motion = as_twist(solids.rigid[b]);
        for (const ObstaclePatch& patch : obstacles.patches)
            if (patch.obstacle == bodies[b].obstacle && free_[patch.cell])
                outflow[patch.cell] += dot(motion.at(patch.center - bodies[b].center), patch.area);
    }
    for (const NodePatch& patch : obstacles.node_patches)
        if (free_[patch.cell] && std::size_t(patch.node) < solids.nodes.size())
            outflow[patch.cell] += dot(solids.nodes[patch.node], patch.area);

    std::vector<double> pressure(beside_.size(), 0.0);
    double largest = 0;
    for (std::size_t i = 0; i < beside_.size(); ++i) {
        const std::int64_t n = beside_[i];
        if (free_[n]) continue;
        pressure[i] = potential[n] + system.density * dot(system.gravity, domain.cell_center(place(n)));
        largest = std::max(largest, std::abs(pressure[i]));
    }
    std::int64_t changes = 0;
    for (std::size_t i = 0; i < beside_.size(); ++i) {
        const std::int64_t n = beside_[i];
        bool lets_go = pressure[i] < -1e-6 * largest;  // smaller suction is within the solver's tolerance
        if (free_[n]) {
            double out = outflow[n] + (obstacles.any() ? obstacles.outflow[n] : 0);
            for (int axis = 0; axis < 3; ++axis) {
                const Int3 high = place(n) + unit(axis);
                out += open(axis, high) * u[axis](high) - open(axis, place(n)) * u[axis][n];
            }
            lets_go = out > 0;
        }
        changes += lets_go != bool(free_[n]);
        free_[n] = lets_go;
    }
    return changes;
}

void Separation::release(Field<double>& phi) const {
    for (const std::int64_t n : beside_)
        // Just outside: the surface is at the cell's centre.
        if (free_[n]) phi[n] = 1e-300;
}

}  // namespace flotsam

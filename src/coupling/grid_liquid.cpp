#include "coupling/grid_liquid.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace flotsam {

double largest_speed(const LiquidState& liquid, const Domain& domain) {
    double largest = 0;
    if (!liquid.tiling) return largest;  // a world that has not started
    for (int axis = 0; axis < 3; ++axis)
        largest = std::max(
            largest, max_over_cells(*liquid.tiling, domain.cells + unit(axis), 0, [&](Int3, std::int64_t n) {
                return std::abs(liquid.velocity[axis][n]);
            }));
    return largest;
}

double liquid_dt(const World& world, const Scenario& scenario) {
    const double h = scenario.domain.h, g = length(scenario.gravity);
    double speed = largest_speed(world.liquid, scenario.domain);
    for (const Emitter& emitter : scenario.liquid.emitters) speed = std::max(speed, length(emitter.velocity));
    double dt = 1e30;
    if (speed > 0) dt = scenario.time.cfl * h / speed;
    if (g > 0) {
        dt = std::min(dt, (std::sqrt(speed * speed + 4 * g * scenario.time.cfl * h) - speed) / (2 * g));
        // The surface moves explicitly: its shortest wave has length 2 h and frequency sqrt(pi g / h).
        dt = std::min(dt, std::sqrt(h / (std::numbers::pi * g)));
    }
    return dt;
}

int velocity_margin(double speed, double dt, double h) {
    return 2 + static_cast<int>(std::ceil(std::min(1.5 * speed * dt / h, 30.0)));
}

double crowding_time(const Scenario& scenario, double dt) {
    const double g = length(scenario.gravity);
    return std::max(10 * dt, g > 0 ? 12 * std::sqrt(scenario.domain.h / g) : 0.0);
}

bool all_finite(const MacGrid& u) {
    for (const Field<double>& component : u)
        for (const double value : component.values())
            if (!std::isfinite(value)) return false;
    return true;
}

bool within_tiles(const LiquidState& liquid, const Domain& domain) {
    return parallel_max(liquid.particles.count(), 4096, 0, [&](std::int64_t i) {
               const Int3 c = domain.cell_of(Vec3(liquid.particles.position[i]));
               return liquid.tiling->find(c) < 0 ? 1.0 : 0.0;
           }) == 0;
}

}  // namespace flotsam

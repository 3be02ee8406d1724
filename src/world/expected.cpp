#include "world/expected.h"

#include <algorithm>
#include <cmath>

namespace flotsam {

namespace {

// Energy per mass, at the bottom of the domain, of something that starts at the highest place of `box` with a
// velocity [J/kg].
double energy_at_bottom(const Scenario& scenario, const Box& box, Vec3 velocity) {
    const Vec3 size = scenario.domain.size(), g = scenario.gravity;
    double energy = 0.5 * dot(velocity, velocity);
    for (int axis = 0; axis < 3; ++axis)
        energy += std::abs(g[axis]) * (g[axis] < 0 ? std::clamp(box.high[axis], 0.0, size[axis])
                                                   : size[axis] - std::clamp(box.low[axis], 0.0, size[axis]));
    return energy;
}

double energy_of_liquid(const Scenario& scenario) {
    double most = 0;
    for (const Fill& fill : scenario.liquid.fills)
        most = std::max(most, energy_at_bottom(scenario, fill.region->bounds(), fill.velocity));
    for (const Emitter& emitter : scenario.liquid.emitters)
        most = std::max(most, energy_at_bottom(scenario, emitter.region->bounds(), emitter.velocity));
    return most;
}

}  // namespace

double expected_speed(const Scenario& scenario) {
    // Liquid driven out in front of a body is faster than the body: 1.45 times in becker-2009/asteroid.toml.
    constexpr double jets = 1.5;
    double energy = energy_of_liquid(scenario), scripted = 0;
    for (const Solid& solid : scenario.solids) {
        if (moves_by_itself(solid.motion))
            energy = std::max(energy, energy_at_bottom(scenario, shape_at(solid, 0).bounds(),
                                                       jets * velocity_at_start(solid)));
        if (solid.motion == Motion::scripted)
            scripted = std::max(scripted, jets * largest_speed(solid, 0, scenario.time.duration));
    }
    const double speed = std::max(std::sqrt(2 * energy), scripted);
    return speed > 0 ? speed : 1;  // nothing moves: any value will do
}

double highest_pressure(const Scenario& scenario) {
    double energy = energy_of_liquid(scenario);
    for (const Solid& solid : scenario.solids)
        if (solid.spring.net)
            energy = std::max(energy,
                              energy_at_bottom(scenario, shape_at(solid, 0).bounds(), solid.spring.velocity));
    return scenario.liquid.density * (energy > 0 ? energy : 1);
}

MarkedLiquid marked_liquid(const Scenario& scenario) {
    const Domain& domain = scenario.domain;
    return {scenario.liquid.density, particles_per_cell(domain) / domain.cell_volume(), domain.h};
}

}  // namespace flotsam

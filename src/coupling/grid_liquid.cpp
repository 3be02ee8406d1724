#include "coupling/grid_liquid.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fluid/grid/surface.h"
#include "fluid/grid/transfer.h"

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

void remove_inside(Particles& particles, const NearSolids& solids) {
    std::vector<char> dead(particles.count(), 0);
    parallel_for(particles.count(), 4096, [&](std::int64_t i) {
        if (solids.distance(Vec3(particles.position[i]), 1) <= 0) dead[i] = 1;
    });
    remove_particles(particles, dead);
}

void start_liquid(LiquidState& liquid, const Scenario& scenario) {
    const Domain& domain = scenario.domain;
    liquid.tiling = tiling_around(liquid.particles, domain, 6);
    liquid.potential = Field<double>(liquid.tiling, 0);
    resize_like_positions(liquid.particles, scenario.liquid.carrier);
    const CellRanges cells = sort_into_cells(liquid.particles, domain, *liquid.tiling);
    liquid.velocity = particles_to_grid(liquid.particles, cells, domain, liquid.tiling);
    if (scenario.liquid.carrier == Carrier::markers) liquid.particles.velocity.clear();
}

FilledCells fill_cells(LiquidState& liquid, const CellRanges& cells, const Obstacles& obstacles,
                       const Scenario& scenario, double dt) {
    const Domain& domain = scenario.domain;
    Surface surface = surface_from_particles(liquid.particles, cells, domain, liquid.tiling, obstacles,
                                             scenario.liquid.spheres);
    FilledCells full;
    full.crowding = crowding_source(surface, domain, crowding_time(scenario, dt));
    liquid.phi = std::move(surface.phi);
    full.phi = liquid.phi;
    full.droplets = count_droplets(liquid.phi, cells, domain);
    include_thin_liquid(full.phi, cells, domain, scenario.gravity, liquid.open_volume);
    return full;
}

void find_surface(LiquidState& liquid, const Scenario& scenario, std::vector<Obstacle> cut) {
    if (!within_tiles(liquid, scenario.domain)) return;
    const CellRanges cells = sort_into_cells(liquid.particles, scenario.domain, *liquid.tiling);
    const Obstacles placed = place_obstacles(std::move(cut), scenario.domain, liquid.tiling);
    liquid.open_volume = placed.open_volume;
    liquid.phi = surface_from_particles(liquid.particles, cells, scenario.domain, liquid.tiling, placed,
                                        scenario.liquid.spheres)
                     .phi;
}

}  // namespace flotsam

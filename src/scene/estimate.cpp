#include "scene/estimate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>

#include "coupling/scheme.h"
#include "world/expected.h"
#include "world/near_solids.h"

namespace flotsam {

namespace {

// Bytes that one particle takes in Particles.
double particle_bytes(Carrier carrier) {
    switch (carrier) {
        case Carrier::markers:
            return 12;
        case Carrier::flip:
            return 24;
        case Carrier::sph:
            return 64;  // and what World::sph holds
        case Carrier::apic:
            break;
    }
    return 60;
}

double smallest(double a, double b) { return std::min(a, b); }

// Volume that an emitter adds while it works [m^3].
double emitted_volume(const Emitter& emitter, const Scenario& scenario) {
    const double inside = volume_inside(*emitter.region, scenario.domain);
    const double time = std::max(0.0, smallest(emitter.until, scenario.time.duration) - emitter.from);
    // Its cross-section as if it were a cube; in a slab as if it were a square.
    const double h = scenario.domain.h;
    const double area = scenario.domain.flat() ? std::sqrt(inside / h) * h : std::cbrt(inside * inside);
    return inside + area * length(emitter.velocity) * time;
}

// Calls place(point, volume) for places that share the part of a box inside the domain among them: as fine as
// particles lie, but never more than 64 along a side. It is an estimate.
template <class Place>
void for_each_place(const Box& box, const Domain& domain, const Place& place) {
    const Vec3 size = domain.size();
    const Vec3 low = max(box.low, Vec3{}), high = min(box.high, size);
    if (!(low.x < high.x && low.y < high.y && (domain.flat() || low.z < high.z))) return;
    Int3 count{1, 1, 1};
    Vec3 step{1, 1, domain.h};
    for (int axis = 0; axis < (domain.flat() ? 2 : 3); ++axis) {
        const double extent = high[axis] - low[axis];
        count[axis] = static_cast<int>(std::clamp(std::ceil(2 * extent / domain.h), 1.0, 64.0));
        step[axis] = extent / count[axis];
    }
    for (int k = 0; k < count.z; ++k)
        for (int j = 0; j < count.y; ++j)
            for (int i = 0; i < count.x; ++i) {
                Vec3 p{low.x + (i + 0.5) * step.x, low.y + (j + 0.5) * step.y, low.z + (k + 0.5) * step.z};
                if (domain.flat()) p.z = domain.h / 2;
                place(p, step.x * step.y * step.z);
            }
}

// What fills hold at the start: where they overlap once, and nothing where solids are [m^3].
double filled_volume(const Scenario& scenario) {
    const NearSolids solids = solids_at_start(scenario, 0);
    const std::vector<Fill>& fills = scenario.liquid.fills;
    double volume = 0;
    for (std::size_t f = 0; f < fills.size(); ++f)
        for_each_place(fills[f].region->bounds(), scenario.domain, [&](Vec3 p, double share) {
            if (!fills[f].region->contains(p)) return;
            for (std::size_t before = 0; before < f; ++before)
                if (fills[before].region->contains(p)) return;
            if (solids.distance(p, 1) < 0) return;
            volume += share;
        });
    return volume;
}

// The solids that move by themselves when they are as fast as they become by falling onto the liquid.
World fast_solids(const Scenario& scenario) {
    double top = 0;  // of the liquid
    for (const Fill& fill : scenario.liquid.fills) top = std::max(top, fill.region->bounds().high.y);
    const auto fallen = [&](int solid, Vec3 velocity) {
        const double drop = std::max(0.0, shape_at(scenario.solids[solid], 0).bounds().low.y - top);
        return Vec3{0, -std::sqrt(dot(velocity, velocity) + 2 * length(scenario.gravity) * drop), 0};
    };
    World world = world_at_start(scenario);
    for_each_body(world, [&](auto& body) {
        for (Vec3& v : velocities(body)) v = fallen(body.solid, v);
    });
    return world;
}

}  // namespace

double volume_inside(const Shape& shape, const Domain& domain) {
    double volume = 0;
    for_each_place(shape.bounds(), domain, [&](Vec3 p, double share) {
        if (shape.contains(p)) volume += share;
    });
    return volume;
}

Estimate estimate(const Scenario& scenario, const OutputSettings& output) {
    const Domain& domain = scenario.domain;
    Estimate e;
    e.cells = std::int64_t{domain.cells.x} * domain.cells.y * domain.cells.z;
    double volume = filled_volume(scenario);
    for (const Emitter& emitter : scenario.liquid.emitters) volume += emitted_volume(emitter, scenario);
    const double cells = static_cast<double>(e.cells);
    const double liquid_cells = smallest(volume / domain.cell_volume(), cells);
    const double particles = liquid_cells * particles_per_cell(domain);
    e.liquid_cells = static_cast<std::int64_t>(liquid_cells);
    e.particles = static_cast<std::int64_t>(particles);

    // Tiles of 8 cells a side around the liquid, as if it were one lump with a tile of air around it. A slab
    // is one cell thick, but its tiles are not.
    const auto padded = [](double n) { return 8 * std::ceil((n + 1) / 8); };
    const double all_tiles = padded(domain.cells.x) * padded(domain.cells.y) * padded(domain.cells.z);
    const double lump = domain.flat() ? 8 * std::pow(std::sqrt(liquid_cells) + 16, 2)
                                      : std::pow(std::cbrt(liquid_cells) + 16, 3);
    const double tile_cells = smallest(all_tiles, lump);
    // The program itself and what the allocator keeps: measured on dam breaks of 40 to 130 cells.
    constexpr double program = 55e6, slack = 1.35;
    e.memory = program + slack * (2 * particle_bytes(scenario.liquid.carrier) * particles + 100 * tile_cells +
                                  700 * liquid_cells + 4 * all_tiles / 512);

    // An element's stiffness alone is 720 bytes. A step of 46000 of them with two Newton steps takes 0.12 s.
    double tets = 0;
    for (const Solid& solid : scenario.solids)
        if (solid.elastic.mesh) tets += double(solid.elastic.mesh->rest.tets.size());
    e.memory += slack * 1500 * tets;

    const double surface_cells =
        2 * (domain.flat() ? std::sqrt(liquid_cells) : std::pow(liquid_cells, 2.0 / 3));
    const double finer = scenario.domain.flat() ? 1 : output.surface_refinement;
    if (output.surface) e.disk_per_frame += 50 * finer * finer * surface_cells;  // a vertex and two triangles
    if (output.volume) e.disk_per_frame += 20 * tile_cells;
    if (output.particles) e.disk_per_frame += 24 * particles;
    e.frames = std::llround(scenario.time.duration * scenario.time.frames_per_second);

    // Splashes are faster than what falls: over whole runs of dam breaks and falling bodies steps were as
    // short as 1.2 to 1.7 times that speed makes them. The costs per value, per particle and per cell and
    // iteration were measured on the scenes of scenes/start with two cores.
    const double frame = 1 / scenario.time.frames_per_second;
    const bool sph = scenario.liquid.carrier == Carrier::sph;
    double dt = make_scheme(scenario.method)->stable_dt(fast_solids(scenario), scenario);
    if (!sph) dt = std::min(dt, scenario.time.cfl * domain.h / (1.4 * expected_speed(scenario)));
    if (scenario.time.time_step > 0) dt = scenario.time.time_step;
    const double steps = e.steps_per_frame = std::ceil(frame / dt - 1e-9);
    const double iterations = 10 + (domain.flat() ? std::sqrt(liquid_cells) : std::cbrt(liquid_cells));
    // SPH: `flotsam bench sph`, whole step, with a million particles.
    const double step = sph ? 1e-3 + 0.21e-6 * particles
                            : 1e-3 + 0.5e-6 * tile_cells + 0.4e-6 * particles +
                                  20e-9 * liquid_cells * iterations + 5e-6 * tets;
    e.seconds_per_frame = steps * step + e.disk_per_frame / 20e6;
    return e;
}

std::string byte_text(double bytes) {
    constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    int unit = 0;
    for (; bytes >= 1000 && unit < 5; ++unit) bytes /= 1000;
    return fmt::format("{:.{}f} {}", bytes, unit == 0 || bytes >= 100 ? 0 : 1, units[unit]);
}

std::string estimate_text(const Estimate& e) {
    const double total = e.seconds_per_frame * static_cast<double>(e.frames);
    const std::string time = total < 120    ? fmt::format("{:.0f} s", total)
                             : total < 7200 ? fmt::format("{:.0f} min", total / 60)
                                            : fmt::format("{:.1f} h", total / 3600);
    return fmt::format(
        "cells      {} ({} with liquid)\n"
        "particles  {}\n"
        "memory     {}\n"
        "disk       {} per frame, {} for {} frames\n"
        "time       about {:.2g} s per frame ({:.0f} steps), {} in all\n",
        e.cells, e.liquid_cells, e.particles, byte_text(e.memory), byte_text(e.disk_per_frame),
        byte_text(e.disk_per_frame * static_cast<double>(e.frames)), e.frames, e.seconds_per_frame,
        e.steps_per_frame, time);
}

std::string tetrahedra_text(const Scenario& scenario) {
    std::string text;
    for (const Solid& solid : scenario.solids) {
        if (!solid.elastic.mesh) continue;
        const TetMesh& mesh = solid.elastic.mesh->rest;
        const TetQuality q = quality(mesh);
        text +=
            fmt::format("{}: {} tetrahedra, {} nodes, angles between {:.1f} and {:.1f} degrees\n", solid.name,
                        mesh.tets.size(), mesh.nodes.size(), q.smallest_angle, q.largest_angle);
    }
    return text;
}

double machine_memory() {
    return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
}

}  // namespace flotsam

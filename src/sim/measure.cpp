#include "sim/measure.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "fluid/grid/markers.h"
#include "fluid/grid/sample.h"
#include "fluid/grid/surface.h"
#include "fluid/grid/transfer.h"
#include "world/near_solids.h"

namespace flotsam {

namespace {

using Measure = double(const World&, const Scenario&, const StepReport&);

// Massless markers move as the grid does.
MarkerVelocities marker_velocities(const World& world, const Scenario& scenario) {
    return velocities_of(world.liquid.particles, world.liquid.velocity, scenario.domain);
}

Vec3 momentum(const World& world, const Scenario& scenario) {
    return momentum(world.liquid.particles, world.liquid.velocity, scenario.domain, scenario.particle_mass());
}

double kinetic_energy(const World& world, const Scenario& scenario, const StepReport&) {
    const Particles& p = world.liquid.particles;
    if (p.velocity.empty())
        return 0.5 * scenario.particle_mass() * marker_velocities(world, scenario).squares;
    return 0.5 * scenario.particle_mass() * fixed_sum<double>(p.count(), 4096, [&](std::int64_t i) {
               const Vec3 v(p.velocity[i]);
               return dot(v, v);
           });
}

double potential_energy(const World& world, const Scenario& scenario, const StepReport&) {
    const Particles& p = world.liquid.particles;
    return -scenario.particle_mass() * fixed_sum<double>(p.count(), 4096, [&](std::int64_t i) {
        return dot(scenario.gravity, Vec3(p.position[i]));
    });
}

double volume(const World& world, const Scenario& scenario, const StepReport&) {
    return liquid_volume(world.liquid.phi, scenario.domain, world.liquid.open_volume);
}

double droplet_volume(const World&, const Scenario& scenario, const StepReport& report) {
    return scenario.particle_volume() * double(report.ledger.droplets);
}

double top_speed(const World& world, const Scenario& scenario, const StepReport&) {
    const Particles& p = world.liquid.particles;
    if (p.velocity.empty()) return marker_velocities(world, scenario).fastest;
    return parallel_max(p.count(), 4096, 0, [&](std::int64_t i) { return length(Vec3(p.velocity[i])); });
}

double density_ratio(const World& world, const Scenario& scenario, const StepReport&) {
    const std::vector<float>& density = world.sph.density;
    return parallel_max(std::ssize(density), 4096, scenario.liquid.density,
                        [&](std::int64_t i) { return double(density[i]); }) /
           scenario.liquid.density;
}

// The extreme place of the surface along an axis; `sign` +1 for the largest. Where the surface is nearly
// flat, it is the mean over a few cells around: single particles make it uneven by up to a quarter of a cell,
// and the highest of many such places would always lie above the level.
double extent(const World& world, const Scenario& scenario, int axis, int sign) {
    const Field<double>& phi = world.liquid.phi;
    const Field<double>& open = world.liquid.open_volume;
    const Domain& domain = scenario.domain;
    const double nothing = sign > 0 ? 0 : -domain.size()[axis];
    const Int3 ahead = unit(axis) * sign;
    // The distance is extrapolated into solids, where there is no liquid.
    const auto solid = [&](Int3 c) { return !open.empty() && open(c) == 0; };
    const auto wet = [&](Int3 c) { return domain.has_cell(c) && phi(c) < 0 && !solid(c); };
    // The surface between a wet cell and the next one, which is not, times `sign` [m].
    const auto place = [&](Int3 c) {
        const Int3 beyond = c + ahead;
        const double center = sign * domain.cell_center(c)[axis];
        // Below a side of the domain or a solid, which may cover part of the cell.
        const double most = open.empty() ? 0.5 : open(c) - 0.5;
        if (!domain.has_cell(beyond) || phi(beyond) < 0) return center + most * domain.h;
        const double reach = phi(c) / (phi(c) - phi(beyond));
        return center + (solid(beyond) ? std::min(reach, most) : reach) * domain.h;
    };
    const auto is_surface = [&](Int3 c) { return wet(c) && !wet(c + ahead); };
    const int reach = domain.flat() ? 4 : 2;  // wider in a slab, for enough columns
    const Int3 along = unit((axis + 1) % 3), across = unit((axis + 2) % 3);
    return sign * max_over_cells(phi.tiling(), domain.cells, nothing, [&](Int3 c, std::int64_t) {
               if (!is_surface(c)) return nothing;
               const double own = place(c);
               double sum = 0;
               int count = 0;
               for (int i = -reach; i <= reach; ++i)
                   for (int j = -reach; j <= reach; ++j) {
                       const Int3 beside = c + along * i + across * j;
                       if (!domain.has_cell(beside) || solid(beside)) continue;
                       const Int3 near = is_surface(beside)           ? beside
                                         : is_surface(beside + ahead) ? beside + ahead
                                                                      : beside - ahead;
                       if (!is_surface(near) || std::abs(place(near) - own) > 0.5 * domain.h) return own;
                       sum += place(near);
                       ++count;
                   }
               return sum / count;
           });
}

Vec3 body_momentum(const World& world) {
    Vec3 sum;
    for_each_body(world, [&](const auto& body) { sum += momentum(body); });
    return sum;
}

// The sum over all elastic bodies.
template <class Term>
auto elastic_sum(const World& world, const Term& term) {
    decltype(term(world.elastics.front())) sum{};
    for (const ElasticBody& body : world.elastics) sum += term(body);
    return sum;
}
Vec3 elastic_momentum(const World& world) {
    return elastic_sum(world, [](const ElasticBody& body) { return momentum(body); });
}
double elastic_weight_energy(const World& world, const Scenario& scenario, const StepReport&) {
    return elastic_sum(world, [&](const ElasticBody& body) {
        return -body.mesh->total_mass() * dot(scenario.gravity, center_of_mass(body));
    });
}
double elastic_determinant(const World& world, const Scenario&, const StepReport&) {
    double least = 1;
    for (const ElasticBody& body : world.elastics) least = std::min(least, smallest_determinant(body));
    return least;
}

double particles_inside_solids(const World& world, const Scenario& scenario, const StepReport&) {
    const NearSolids solids(world, scenario, 0);
    // The copy of SPH particles for outputs is clamped to the domain.
    const bool sph = scenario.liquid.carrier == Carrier::sph;
    const Particles& shown = world.liquid.particles;
    const std::int64_t count = sph ? world.sph.count() : shown.count();
    return fixed_sum<double>(count, 4096, [&](std::int64_t i) {
        const Vec3 point = sph ? world.sph.position[i] : Vec3(shown.position[i]);
        if (!scenario.domain.has_cell(scenario.domain.cell_of(point))) return 1.0;
        return solids.distance(point, 0) < 0 ? 1.0 : 0.0;
    });
}

double gap_to_solids(const World& world, const Scenario& scenario, const StepReport&) {
    const Particles& p = world.liquid.particles;
    const double radius = 0.5 * scenario.domain.h / scenario.domain.particles_per_edge, most = 2;
    const NearSolids solids(world, scenario, most * radius);
    return -parallel_max(p.count(), 4096, -most, [&](std::int64_t i) {
        const Vec3 point(p.position[i]);
        if (!scenario.domain.has_cell(scenario.domain.cell_of(point))) return -most;
        return -solids.distance(point, most * radius) / radius;
    });
}

// Quantities of a step rather than of a state are zero before the first step.
const std::vector<Quantity>& table() {
    static const std::vector<Quantity> entries{
        {"liquid.volume", "m^3", "volume inside the reconstructed surface", volume},
        {"liquid.droplet_volume", "m^3",
         "volume of particles in cells that are half a cell outside that surface or more", droplet_volume},
        {"liquid.particles", "1", "number of particles that carry the liquid",
         [](const World& w, const Scenario&, const StepReport&) {
             return double(w.liquid.particles.count());
         }},
        {"liquid.particle_volume", "m^3", "number of particles times the volume each stands for",
         [](const World& w, const Scenario& s, const StepReport&) {
             return double(w.liquid.particles.count()) * s.particle_volume();
         }},
        {"liquid.momentum.x", "kg m/s", "momentum of the liquid along x",
         [](const World& w, const Scenario& s, const StepReport&) { return momentum(w, s).x; }},
        {"liquid.momentum.y", "kg m/s", "momentum of the liquid along y",
         [](const World& w, const Scenario& s, const StepReport&) { return momentum(w, s).y; }},
        {"liquid.momentum.z", "kg m/s", "momentum of the liquid along z",
         [](const World& w, const Scenario& s, const StepReport&) { return momentum(w, s).z; }},
        {"liquid.unaccounted.x", "kg m/s", "momentum along x that the step gained and no force explains",
         [](const World&, const Scenario&, const StepReport& r) { return r.ledger.unaccounted.x; }},
        {"liquid.unaccounted.y", "kg m/s", "momentum along y that the step gained and no force explains",
         [](const World&, const Scenario&, const StepReport& r) { return r.ledger.unaccounted.y; }},
        {"liquid.unaccounted.z", "kg m/s", "momentum along z that the step gained and no force explains",
         [](const World&, const Scenario&, const StepReport& r) { return r.ledger.unaccounted.z; }},
        {"bodies.momentum.x", "kg m/s", "momentum of all solids that move by themselves along x",
         [](const World& w, const Scenario&, const StepReport&) { return body_momentum(w).x; }},
        {"bodies.momentum.y", "kg m/s", "momentum of all solids that move by themselves along y",
         [](const World& w, const Scenario&, const StepReport&) { return body_momentum(w).y; }},
        {"bodies.momentum.z", "kg m/s", "momentum of all solids that move by themselves along z",
         [](const World& w, const Scenario&, const StepReport&) { return body_momentum(w).z; }},
        {"system.unaccounted.x", "kg m/s",
         "momentum along x that liquid and such solids together gained in the step and no force from "
         "outside explains",
         [](const World&, const Scenario&, const StepReport& r) {
             return r.ledger.unaccounted.x + r.ledger.bodies.unaccounted.x;
         }},
        {"system.unaccounted.y", "kg m/s",
         "momentum along y that liquid and such solids together gained in the step and no force from "
         "outside explains",
         [](const World&, const Scenario&, const StepReport& r) {
             return r.ledger.unaccounted.y + r.ledger.bodies.unaccounted.y;
         }},
        {"system.unaccounted.z", "kg m/s",
         "momentum along z that liquid and such solids together gained in the step and no force from "
         "outside explains",
         [](const World&, const Scenario&, const StepReport& r) {
             return r.ledger.unaccounted.z + r.ledger.bodies.unaccounted.z;
         }},
        {"liquid.kinetic_energy", "J", "kinetic energy of the particles", kinetic_energy},
        {"liquid.potential_energy", "J", "energy in the gravity field, zero at the origin", potential_energy},
        {"liquid.top_speed", "m/s", "speed of the fastest particle", top_speed},
        {"liquid.mach", "1", "that speed over the speed of sound; of SPH",
         [](const World&, const Scenario&, const StepReport& r) { return r.mach; }},
        {"liquid.density_ratio", "1",
         "largest density over that at rest; 1 where the liquid keeps its volume", density_ratio},
        {"liquid.corrected_volume", "m^3",
         "volume through which the step pushed particles out of solids and walls; of SPH",
         [](const World&, const Scenario&, const StepReport& r) { return r.ledger.corrected_volume; }},
        {"liquid.contacts", "1", "particles that touched solids and walls in the step; of SPH",
         [](const World&, const Scenario&, const StepReport& r) { return double(r.ledger.contacts); }},
        {"system.unaccounted_turning", "kg m^2/s",
         "angular momentum about the origin that liquid and rigid solids gained in the step and nothing from "
         "outside explains, corrected positions aside; of SPH",
         [](const World&, const Scenario&, const StepReport& r) {
             return length(r.ledger.unaccounted_turning);
         }},
        {"system.corrected_turning", "kg m^2/s", "angular momentum that corrected positions made; of SPH",
         [](const World&, const Scenario&, const StepReport& r) {
             return length(r.ledger.corrected_turning);
         }},
        {"liquid.front.x", "m", "largest x that the surface reaches",
         [](const World& w, const Scenario& s, const StepReport&) { return liquid_front(w, s); }},
        {"liquid.top", "m", "largest y that the surface reaches",
         [](const World& w, const Scenario& s, const StepReport&) { return extent(w, s, 1, 1); }},
        {"liquid.divergence", "1/s", "largest divergence left in a liquid cell after the solve",
         [](const World&, const Scenario&, const StepReport& r) { return r.largest_divergence; }},
        {"elastic.momentum.x", "kg m/s", "momentum of all elastic bodies along x",
         [](const World& w, const Scenario&, const StepReport&) { return elastic_momentum(w).x; }},
        {"elastic.momentum.y", "kg m/s", "momentum of all elastic bodies along y",
         [](const World& w, const Scenario&, const StepReport&) { return elastic_momentum(w).y; }},
        {"elastic.momentum.z", "kg m/s", "momentum of all elastic bodies along z",
         [](const World& w, const Scenario&, const StepReport&) { return elastic_momentum(w).z; }},
        {"elastic.kinetic_energy", "J", "kinetic energy of all elastic bodies",
         [](const World& w, const Scenario&, const StepReport&) {
             return elastic_sum(w, [](const ElasticBody& body) { return kinetic_energy(body); });
         }},
        {"elastic.elastic_energy", "J", "energy of deformation of all elastic bodies",
         [](const World& w, const Scenario&, const StepReport&) {
             return elastic_sum(w, [](const ElasticBody& body) { return elastic_energy(body); });
         }},
        {"elastic.potential_energy", "J", "of all elastic bodies in the gravity field, zero at the origin",
         elastic_weight_energy},
        {"elastic.volume", "m^3", "of all elastic bodies' tetrahedra",
         [](const World& w, const Scenario&, const StepReport&) {
             return elastic_sum(w, [](const ElasticBody& body) { return volume(body); });
         }},
        {"elastic.smallest_determinant", "1",
         "volume of the most compressed tetrahedron over that at rest; negative: inside out",
         elastic_determinant},
        {"elastic.newton_steps", "1", "Newton steps that elastic bodies took",
         [](const World&, const Scenario&, const StepReport& r) { return double(r.newton_steps); }},
        {"elastic.iterations", "1", "iterations of all their linear solves",
         [](const World&, const Scenario&, const StepReport& r) { return double(r.elastic_iterations); }},
        {"liquid.particles_inside_solids", "1",
         "particles inside solids, or outside the domain without having left through an open side",
         particles_inside_solids},
        {"liquid.gap_to_solids", "1",
         "distance of the particle that is nearest to a solid, in radii (half the spacing) of a particle; 2 "
         "where it is larger",
         gap_to_solids},
        {"liquid.volume_inside_solids", "m^3", "what these particles stand for",
         [](const World& w, const Scenario& s, const StepReport& r) {
             return particles_inside_solids(w, s, r) * s.particle_volume();
         }},
    };
    return entries;
}

// Interpolates pi, which is smooth where p is not, between liquid cells, since only they have one.
double pressure_at(const World& world, const Scenario& scenario, Vec3 point) {
    const Stencil s = cell_stencil(scenario.domain, point);
    double sum = 0, weight = 0;
    for (int c = 0; c < 8; ++c) {
        const int di = c & 1, dj = c >> 1 & 1, dk = c >> 2;
        const Int3 cell = s.sample(di, dj, dk);
        const Field<double>& open = world.liquid.open_volume;
        // The distance is extrapolated into solids, but there is no pressure.
        if (world.liquid.phi(cell) >= 0 || (!open.empty() && open(cell) == 0)) continue;
        sum += s.weight(di, dj, dk) * world.liquid.potential(cell);
        weight += s.weight(di, dj, dk);
    }
    if (weight == 0 || sample_cells(world.liquid.phi, scenario.domain, point) >= 0) return 0;
    return sum / weight + scenario.liquid.density * dot(scenario.gravity, point);
}

Vec3 place_of_point(const Probe& probe, const World& world, const Scenario& scenario) {
    const auto s = std::size_t(probe.solid);
    Vec3 place;
    if (!probe.tied.index())
        return pose_of(world, scenario, s).to_world(pose_at(scenario.solids[s], 0).to_body(probe.point));
    with_body(world, s, [&](const auto& body) {
        if constexpr (requires { follow(body, place); })
            place = place_of(body, std::get<decltype(follow(body, place))>(probe.tied));
    });
    return place;
}

double distortion_of(const World& world, std::size_t solid) {
    double off = 0;
    with_body(world, solid, [&](const auto& body) { off = distortion(body); });
    return off;
}

double filled_share(const Probe& probe, const World& world, const Scenario& scenario) {
    const Particles& p = world.liquid.particles;
    const Pose frame = probe.other < 0 ? Pose{} : pose_of(world, scenario, std::size_t(probe.other));
    const double inside = fixed_sum<double>(p.count(), 4096, [&](std::int64_t i) {
        return probe.box.contains(frame.to_body(Vec3(p.position[i]))) ? 1.0 : 0.0;
    });
    const Vec3 size = probe.box.high - probe.box.low;
    const double thickness = scenario.domain.flat() ? scenario.domain.h : size.z;  // the whole slab
    return inside * scenario.particle_volume() / (size.x * size.y * thickness);
}

double combine(const Probe& probe, const World& world, const Scenario& scenario) {
    std::vector<double> values;
    for (const Probe& part : probe.parts) values.push_back(measure(part, world, scenario));
    switch (probe.kind) {
        case Probe::Kind::largest:
            return *std::max_element(values.begin(), values.end());
        case Probe::Kind::smallest:
            return *std::min_element(values.begin(), values.end());
        case Probe::Kind::difference:
            return values[0] - values[1];
        default:
            return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
    }
}

}  // namespace

void tie_to_solid(Probe& probe, const World& start) {
    with_body(start, std::size_t(probe.solid), [&](const auto& body) {
        if constexpr (requires { follow(body, probe.point); }) probe.tied = follow(body, probe.point);
    });
}

double liquid_front(const World& world, const Scenario& scenario) { return extent(world, scenario, 0, 1); }

const std::vector<Quantity>& quantities() { return table(); }

double measure(const Probe& probe, const World& world, const Scenario& scenario) {
    const LiquidState& liquid = world.liquid;
    if (probe.kind == Probe::Kind::height) {
        // The mean over places half a cell apart.
        const int places = 1 + int(std::ceil(2 * probe.width / scenario.domain.h));
        double sum = 0;
        for (int i = 0; i < places; ++i) {
            const double x = probe.point.x + probe.width * ((i + 0.5) / places - 0.5);
            sum += surface_height(liquid.phi, scenario.domain, x, probe.point.z);
        }
        return sum / places;
    }
    if (probe.kind == Probe::Kind::pressure) return pressure_at(world, scenario, probe.point);
    if (probe.kind >= Probe::Kind::mean) return combine(probe, world, scenario);
    if (probe.kind == Probe::Kind::filled) return filled_share(probe, world, scenario);
    if (probe.kind == Probe::Kind::distortion) return distortion_of(world, std::size_t(probe.solid));
    if (probe.kind == Probe::Kind::distance)
        return length(pose_of(world, scenario, std::size_t(probe.solid)).position -
                      pose_of(world, scenario, std::size_t(probe.other)).position);
    if (probe.kind == Probe::Kind::tilt) {
        const Vec3 axis = pose_of(world, scenario, std::size_t(probe.solid)).rotation * Vec3{0, 1, 0};
        return std::atan2(std::hypot(axis.x, axis.z), axis.y) * 180 / std::numbers::pi;
    }
    if (probe.kind == Probe::Kind::volume) {
        const TriangleMesh mesh = mesh_of(world, scenario, std::size_t(probe.solid));
        // A solid's mesh may extend beyond a slab; only the part inside counts.
        const Box box = bounds(mesh);
        return enclosed_volume(mesh) *
               (scenario.domain.flat() ? scenario.domain.h / (box.high.z - box.low.z) : 1);
    }
    if (probe.kind >= Probe::Kind::point_x)
        return place_of_point(probe, world, scenario)[int(probe.kind) - int(Probe::Kind::point_x)];
    if (probe.kind >= Probe::Kind::position_x)
        return pose_of(world, scenario, std::size_t(probe.solid))
            .position[int(probe.kind) - int(Probe::Kind::position_x)];
    if (probe.kind >= Probe::Kind::force_x) {
        const SolidLoad& load = world.loads[probe.solid];
        if (probe.kind == Probe::Kind::wetted_area) return load.wetted_area;
        if (probe.kind >= Probe::Kind::torque_x)
            return load.torque[int(probe.kind) - int(Probe::Kind::torque_x)];
        return load.force[int(probe.kind) - int(Probe::Kind::force_x)];
    }
    const Vec3 v = sample_velocity(liquid.velocity, scenario.domain, probe.point);
    if (probe.kind == Probe::Kind::speed) return length(v);
    return v[int(probe.kind) - int(Probe::Kind::velocity_x)];
}

}  // namespace flotsam

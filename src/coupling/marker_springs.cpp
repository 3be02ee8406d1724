#include "coupling/marker_springs.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/mat3.h"
#include "core/random.h"
#include "core/stopwatch.h"
#include "coupling/grid_liquid.h"
#include "fluid/grid/advect.h"
#include "fluid/grid/extrapolate.h"
#include "fluid/grid/friction.h"
#include "fluid/grid/markers.h"
#include "fluid/grid/obstacles.h"
#include "fluid/grid/projection.h"
#include "fluid/grid/sample.h"
#include "fluid/grid/sources.h"
#include "fluid/grid/surface.h"
#include "fluid/grid/transfer.h"
#include "fluid/grid/viscosity.h"
#include "solid/spring/spring_contact.h"

namespace flotsam {

namespace {

constexpr double pi = std::numbers::pi;

std::int64_t domain_index(const Domain& domain, Int3 c) {
    return c.x + std::int64_t{domain.cells.x} * (c.y + std::int64_t{domain.cells.y} * c.z);
}

// Markers per volume [1/m^3].
double marker_density(const Domain& domain) { return particles_per_cell(domain) / domain.cell_volume(); }

// The pressure on a solid whose spheres of radius R markers have entered by `depth`, over the number of
// markers per volume and k_int [m^2]: the integral of (R - d) over the markers before a unit of surface. A
// single ball is flat on this scale. Before a lattice of spacing s each node pushes a cap of its sphere.
double held(const SpringNet& net, double radius, double depth) {
    if (net.spacing == 0) return 0.5 * depth * depth;
    const double s = net.spacing;
    return pi * (radius * std::pow(depth, 3) / 3 - std::pow(depth, 4) / 4) / (s * s);
}

// How deep the surface of the solid lies within the spheres.
double surface_depth(const SpringNet& net, double radius) {
    return radius - (net.spacing == 0 ? net.contact_radius : 0.5 * net.spacing);
}

// How many nodes push a marker that comes to the surface of the solid.
double nodes_per_marker(const SpringProperties& solid) {
    const double s = solid.net->spacing;
    return s == 0 ? 1 : std::max(1.0, pi * solid.radius * solid.radius / (3 * s * s));
}

// z_int as a step feels it: implicit for a marker of mass rho / n, which would otherwise be thrown back when
// dt z_int is more than its mass.
double damping_over(const SpringProperties& solid, double liquid, const Domain& domain, double dt) {
    const double z = solid.repulsion_damping;
    return z / (1 + dt * z * nodes_per_marker(solid) * marker_density(domain) / liquid);
}

NodeConfines node_confines(const Scenario& scenario, const Solid& solid) {
    NodeConfines confines;
    confines.sides = {{}, scenario.domain.size()};
    for (int side = 0; side < 6; ++side)
        confines.closed[side] = !scenario.domain.open(side) && !(scenario.domain.flat() && side >= z_low);
    for (const Solid& other : scenario.solids)
        if (other.motion == Motion::fixed) {
            const PlacedShape shape = shape_at(other, 0);
            confines.fixed.push_back({shape.shape, shape.pose, shape.bounds()});
        }
    confines.friction = solid.rigid.friction;
    confines.restitution = solid.rigid.restitution;
    return confines;
}

// What the nodes received, and whether that is all that changed their momentum.
BodyLedger body_ledger(const std::vector<SpringBody>& before, const World& next,
                       std::vector<Impulse> contacts, Vec3 gravity, double dt) {
    BodyLedger ledger;
    for (std::size_t b = 0; b < next.springs.size(); ++b) {
        const SpringBody& body = next.springs[b];
        const Vec3 weight = gravity * (body.net->total_mass() * dt),
                   liquid = next.loads[body.solid].force * dt;
        ledger.gravity += weight;
        ledger.liquid += liquid;
        ledger.contacts += contacts[b].linear;
        ledger.unaccounted += momentum(body) - momentum(before[b]) - weight - liquid - contacts[b].linear;
    }
    ledger.contact = std::move(contacts);
    return ledger;
}

// The full cells beside a cell.
struct FullNeighbours {
    std::array<Int3, 6> cell;
    int count = 0;
};
FullNeighbours full_neighbours(const Field<double>& phi, const Domain& domain, Int3 c) {
    FullNeighbours full;
    for (int side = 0; side < 6; ++side) {
        const Int3 beside = c + unit(side / 2) * (side % 2 ? 1 : -1);
        if (domain.has_cell(beside) && phi.tiling().find(beside) >= 0 && phi(beside) < 0)
            full.cell[full.count++] = beside;
    }
    return full;
}

// A lone drop that is pushed is a full cell, whatever the smooth surface says [Genevaux03 2.1]: otherwise its
// faces would take no part in the solve, and the push would be lost.
void include_pushed_drops(Field<double>& phi, const std::vector<Repulsion::CellForce>& forces,
                          const Domain& domain) {
    for (const Repulsion::CellForce& f : forces)
        if (phi[f.cell] >= 0 && full_neighbours(phi, domain, f.at).count == 0)
            phi[f.cell] = -0.05 * domain.h;  // as include_thin_liquid does
}

// The pressure at a point of the liquid at the start, where it is at rest [Pa].
double pressure_at_start(const Scenario& scenario, Vec3 point) {
    const Vec3 g = scenario.gravity;
    double highest = 0;
    for (const Fill& fill : scenario.liquid.fills) {
        if (!fill.region->contains(point)) continue;
        const Box box = fill.region->bounds();
        double head = 0;  // potential of the fill's top over that of the point
        for (int axis = 0; axis < 3; ++axis) {
            const double top =
                std::clamp(g[axis] < 0 ? box.high[axis] : box.low[axis], 0.0, scenario.domain.size()[axis]);
            head += g[axis] * (point[axis] - top);
        }
        highest = std::max(highest, head);
    }
    return scenario.liquid.density * highest;
}

// Removes markers inside solids, and those so near to nodes that the pressure there does not hold them: they
// would first have to be pushed away, and the ball that waits for that rises later.
void remove_inside(Particles& particles, const Scenario& scenario, const std::vector<SpringBody>& springs) {
    std::vector<char> dead(particles.count(), 0);
    for (const Solid& solid : scenario.solids) {
        const PlacedShape shape = shape_at(solid, 0);
        const Box reach = shape.bounds();
        parallel_for(particles.count(), 4096, [&](std::int64_t i) {
            const Vec3 p(particles.position[i]);
            if (reach.contains(p) && shape.distance(p) <= 0) dead[i] = 1;
        });
    }
    for (const SpringBody& body : springs) {
        const SpringProperties& solid = scenario.solids[body.solid].spring;
        const Vec3 room = Vec3{1, 1, 1} * solid.radius;
        Box box{body.position[0], body.position[0]};
        for (const Vec3 x : body.position) box = {min(box.low, x), max(box.high, x)};
        box = {box.low - room, box.high + room};
        parallel_for(particles.count(), 4096, [&](std::int64_t i) {
            const Vec3 p(particles.position[i]);
            if (dead[i] || !box.contains(p)) return;
            double nearest = solid.radius;
            for (const Vec3 x : body.position) nearest = std::min(nearest, length(p - x));
            if (nearest == solid.radius) return;
            dead[i] = nearest < solid.radius - penetration(solid, scenario, pressure_at_start(scenario, p));
        });
    }
    remove_particles(particles, dead);
}

}  // namespace

void fit_repulsion(SpringProperties& solid, const Scenario& scenario, double pressure) {
    const double h = scenario.domain.h, n = marker_density(scenario.domain);
    const SpringNet& net = *solid.net;
    solid.radius = (net.spacing == 0 ? net.contact_radius : 0.75 * net.spacing) + 0.4 * h;
    solid.repulsion = 1.5 * pressure / (n * held(net, solid.radius, surface_depth(net, solid.radius)));
    solid.repulsion_damping = 2 * std::sqrt(solid.repulsion * scenario.liquid.density / n);
}

double penetration(const SpringProperties& solid, const Scenario& scenario, double pressure) {
    const double n = marker_density(scenario.domain);
    double low = 0, high = solid.radius;
    for (int halving = 0; halving < 50; ++halving) {
        const double middle = 0.5 * (low + high);
        (n * solid.repulsion * held(*solid.net, solid.radius, middle) < pressure ? low : high) = middle;
    }
    return high;
}

double repulsion_dt(const SpringProperties& solid, const Scenario& scenario) {
    // The fastest vibration of a marker against the nodes; damping and the nodes' own motion are implicit.
    const double omega = std::sqrt(solid.repulsion * nodes_per_marker(solid) *
                                   marker_density(scenario.domain) / scenario.liquid.density);
    return omega == 0 ? 1e30 : 2 / omega;
}

Repulsion repel_markers(const std::vector<SpringBody>& bodies, const std::vector<Solid>& solids,
                        const Particles& markers, const CellRanges& cells, const MacGrid& u,
                        const Domain& domain, double liquid, double dt) {
    const Tiling& tiling = u[0].tiling();
    Repulsion result;
    // Which nodes reach which cells with markers: pairs in the order of cells.
    struct Pair {
        std::int64_t cell;
        Int3 at;
        int body, node;
        std::int64_t entry;  // of the cell in on_cell
    };
    std::vector<Pair> pairs;
    for (std::size_t b = 0; b < bodies.size(); ++b) {
        result.on_node.emplace_back(bodies[b].position.size());
        const double reach = solids[bodies[b].solid].spring.radius;
        for (std::size_t i = 0; i < bodies[b].position.size(); ++i) {
            const Vec3 x = bodies[b].position[i], room = Vec3{1, 1, 1} * reach;
            const Int3 low = max(domain.cell_of(x - room), Int3{0, 0, 0}),
                       high = min(domain.cell_of(x + room), domain.cells - Int3{1, 1, 1});
            for (Int3 c{0, 0, low.z}; c.z <= high.z; ++c.z)
                for (c.y = low.y; c.y <= high.y; ++c.y)
                    for (c.x = low.x; c.x <= high.x; ++c.x)
                        if (const std::int64_t n = tiling.find(c); n >= 0 && cells.count(n) > 0)
                            pairs.push_back({n, c, int(b), int(i), 0});
        }
    }
    std::vector<std::size_t> by_node(pairs.size());
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const Pair& a, const Pair& b) { return a.cell < b.cell; });
    for (std::size_t p = 0; p < pairs.size(); ++p) {
        if (p == 0 || pairs[p].cell != pairs[p - 1].cell)
            result.on_cell.push_back({pairs[p].at, pairs[p].cell, {}});
        pairs[p].entry = std::int64_t(result.on_cell.size()) - 1;
        by_node[p] = p;
    }
    std::stable_sort(by_node.begin(), by_node.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(pairs[a].body, pairs[a].node) < std::pair(pairs[b].body, pairs[b].node);
    });

    // What a node does to the markers of a cell that form the interface [Genevaux03 3.1], as a function of
    // the node's velocity v: a sum of w n (k (R - d) - z n.(u - v)) = at_rest + z M v, with M the sum of w n
    // nT.
    struct PairForce {
        Vec3 at_rest;
        Mat3 directions;  // M
    };
    const auto on_markers = [&](const Pair& pair) {
        const SpringBody& body = bodies[pair.body];
        const SpringProperties& solid = solids[body.solid].spring;
        const Vec3 x = body.position[pair.node];
        const double damping = damping_over(solid, liquid, domain, dt);
        const std::int32_t begin = cells.begin[pair.cell], end = cells.begin[pair.cell + 1];
        // Some of the cell's markers, evenly spread from a place that is random for each cell: seeded markers
        // lie in order, and always to take the first would be to take those in the cell's lowest corner.
        const std::int32_t count = end - begin, taken = std::max(1, (count + solid.share / 2) / solid.share);
        const double first = uniform(std::uint64_t(domain_index(domain, pair.at)));
        const double stands_for = double(count) / taken;
        PairForce sum;
        for (std::int32_t t = 0; t < taken; ++t) {
            const std::int32_t i = begin + std::min(count - 1, std::int32_t((t + first) * stands_for));
            const Vec3 marker(markers.position[i]), apart = marker - x;
            const double d = length(apart);
            if (d >= solid.radius || d == 0) continue;
            const Vec3 along = apart / d;
            const double leaving = dot(sample_velocity(u, domain, marker), along);
            sum.at_rest += along * (stands_for * (solid.repulsion * (solid.radius - d) - damping * leaving));
            sum.directions = sum.directions + Mat3::outer(along * stands_for, along);
        }
        return sum;
    };
    std::vector<PairForce> on_pair(pairs.size());
    parallel_for(std::ssize(pairs), 16, [&](std::int64_t p) { on_pair[p] = on_markers(pairs[p]); });

    // The velocity that each node will have: m (v - v0) = -dt (force on markers), where the force is that of
    // v, and the springs are those dt (v - v0) further on.
    std::vector<std::vector<Vec3>> velocity(bodies.size());
    for (std::size_t b = 0; b < bodies.size(); ++b) velocity[b] = bodies[b].velocity;
    for (std::size_t p = 0; p < pairs.size();) {
        const Pair& node = pairs[by_node[p]];
        PairForce sum;
        for (; p < pairs.size() && pairs[by_node[p]].body == node.body && pairs[by_node[p]].node == node.node;
             ++p) {
            sum.at_rest += on_pair[by_node[p]].at_rest;
            sum.directions = sum.directions + on_pair[by_node[p]].directions;
        }
        const SpringBody& body = bodies[node.body];
        const SpringProperties& solid = solids[body.solid].spring;
        const double m = body.net->mass[node.node], damping = damping_over(solid, liquid, domain, dt);
        const Mat3 mass = Mat3::diagonal({m, m, m});
        const Mat3 stiffness = sum.directions * (dt * dt * solid.repulsion);
        Vec3& v = velocity[node.body][node.node];
        v = (mass + stiffness + sum.directions * (dt * damping)).inverse() *
            ((mass + stiffness) * v - sum.at_rest * dt);
    }
    for (std::size_t p = 0; p < pairs.size(); ++p) {
        const Pair& pair = pairs[p];
        const SpringBody& body = bodies[pair.body];
        const SpringProperties& solid = solids[body.solid].spring;
        const Vec3 before = body.velocity[pair.node], after = velocity[pair.body][pair.node];
        const Vec3 force =
            on_pair[p].at_rest + on_pair[p].directions * (damping_over(solid, liquid, domain, dt) * after +
                                                          dt * solid.repulsion * (after - before));
        result.on_cell[pair.entry].force += force;
        result.on_node[pair.body][pair.node] -= force;
    }
    std::erase_if(result.on_cell, [](const Repulsion::CellForce& f) { return f.force == Vec3{}; });
    return result;
}

FacePush push_faces(const std::vector<Repulsion::CellForce>& forces, MacGrid& u, const PressureSystem& system,
                    double dt) {
    FacePush push;
    const Domain& domain = *system.domain;
    const Tiling& tiling = u[0].tiling();
    const auto give = [&](Int3 at, Vec3 impulse) {
        for (int axis = 0; axis < 3; ++axis) {
            // The mass that moves with each face, as the pressure solve sees it. Below a quarter of a cell a
            // drop between a wall and the surface would be shot away by a few markers.
            double mass[2], total = 0;
            for (const int high : {0, 1}) {
                const Int3 beyond = at + unit(axis) * (high ? 1 : -1);
                const Face face = system.face(at, axis, high, system.phi(at), system.phi(beyond));
                const bool open = face.kind == Face::Kind::interior || face.kind == Face::Kind::surface;
                mass[high] =
                    open ? system.density * domain.cell_volume() * std::max(0.25, face.area * face.theta) : 0;
                total += mass[high];
            }
            if (total == 0) push.blocked[axis] += impulse[axis];
            for (const int high : {0, 1}) {
                if (mass[high] == 0) continue;
                u[axis][tiling.find(high ? at + unit(axis) : at)] += impulse[axis] / total;
                push.given[axis] += impulse[axis] / total * mass[high];
            }
        }
    };
    for (const Repulsion::CellForce& f : forces) {
        // Markers beyond the surface that the solve sees belong to the full cells beside them.
        const FullNeighbours full =
            system.phi(f.at) < 0 ? FullNeighbours{} : full_neighbours(system.phi, domain, f.at);
        if (full.count == 0) give(f.at, f.force * dt);
        for (int n = 0; n < full.count; ++n) give(full.cell[n], f.force * (dt / full.count));
    }
    return push;
}

Capabilities MarkerSprings::capabilities() const {
    return {.liquid = true,
            .carriers = {Carrier::markers},
            .motions = {Motion::fixed, Motion::spring},
            .wetted = {Motion::fixed},
            .open_walls = true,
            .viscosity = true};
}

double MarkerSprings::stable_dt(const World& world, const Scenario& scenario) const {
    const double h = scenario.domain.h;
    double dt = liquid_dt(world, scenario);
    for (const SpringBody& body : world.springs) {
        // A solid may move only a small part of a cell in a step [Genevaux03 5]: here a quarter.
        if (const double v = largest_speed(body); v > 0) dt = std::min(dt, 0.25 * h / v);
        // The markers' number near a node varies: not all of the limit.
        dt = std::min(dt, 0.9 * repulsion_dt(scenario.solids[body.solid].spring, scenario));
    }
    return dt;
}

const std::vector<Obstacle>& MarkerSprings::fixed_obstacles(const Scenario& scenario) {
    if (fixed_) return *fixed_;
    fixed_.emplace();
    for (const Solid& solid : scenario.solids) {
        if (solid.motion != Motion::fixed) continue;
        fixed_->push_back({.shape = solid.shape.distance,
                           .before = solid.start,
                           .after = solid.start,
                           .slip = solid.slip,
                           .motion = {},
                           .cut = std::make_shared<CutSolid>(
                               cut_solid(mesh_at(solid, 0), scenario.domain.cells, scenario.domain.h, {}))});
    }
    return *fixed_;
}

void MarkerSprings::find_surface(World& world, const Scenario& scenario) {
    LiquidState& liquid = world.liquid;
    if (!within_tiles(liquid, scenario.domain)) return;
    const CellRanges cells = sort_into_cells(liquid.particles, scenario.domain, *liquid.tiling);
    const Obstacles placed = place_obstacles(fixed_obstacles(scenario), scenario.domain, liquid.tiling);
    liquid.open_volume = placed.open_volume;
    liquid.phi = surface_from_particles(liquid.particles, cells, scenario.domain, liquid.tiling, placed).phi;
}

void MarkerSprings::start(World& world, const Scenario& scenario) {
    LiquidState& liquid = world.liquid;
    const Domain& domain = scenario.domain;
    world.springs = springs_at_start(scenario);
    liquid.particles = seed_fills(domain, scenario.liquid);
    remove_inside(liquid.particles, scenario, world.springs);
    liquid.tiling = tiling_around(liquid.particles, domain, 6);
    liquid.potential = Field<double>(liquid.tiling, 0);
    const CellRanges cells = sort_into_cells(liquid.particles, domain, *liquid.tiling);
    liquid.velocity = particles_to_grid(liquid.particles, cells, domain, liquid.tiling);
    liquid.particles.velocity.clear();  // from here on it is the grid's
    find_surface(world, scenario);
    world.loads.assign(scenario.solids.size(), {});
}

StepReport MarkerSprings::step(const World& now, World& next, const StepContext& ctx) {
    const Scenario& scenario = ctx.scenario;
    const Domain& domain = scenario.domain;
    const LiquidSettings& settings = scenario.liquid;
    const LiquidState& old = now.liquid;
    LiquidState& liquid = next.liquid;
    const double mass = scenario.particle_mass(), dt = ctx.dt;
    const std::vector<Obstacle>& fixed = fixed_obstacles(scenario);
    StepReport report;
    StepLedger& ledger = report.ledger;
    Stopwatch watch;
    const auto stage_done = [&](const char* name) { report.stages.push_back({name, watch.lap()}); };

    // Half of the way: solids by their own forces, markers with last step's velocity.  [Genevaux03 2.1, 2.2]
    next.bodies = now.bodies;
    next.springs = now.springs;
    std::vector<NodeConfines> confines;
    for (const SpringBody& body : next.springs)
        confines.push_back(node_confines(scenario, scenario.solids[body.solid]));
    std::vector<Impulse> contacts(next.springs.size());
    const auto advance_solids = [&] {
        for (std::size_t b = 0; b < next.springs.size(); ++b)
            contacts[b].linear += advance(next.springs[b], scenario.gravity, 0.5 * dt, confines[b]);
        const std::vector<Vec3> collisions = collide(next.springs, [&](std::size_t a, std::size_t b) {
            return ContactLaw{std::sqrt(confines[a].friction * confines[b].friction),
                              std::max(confines[a].restitution, confines[b].restitution)};
        });
        for (std::size_t b = 0; b < next.springs.size(); ++b) contacts[b].linear += collisions[b];
    };
    advance_solids();
    stage_done("solids");
    const MarkerAdvance half =
        advance_markers(old.particles, liquid.particles, old.velocity, domain, 0.5 * dt, fixed);
    const Vec3 momentum_before = mass * half.velocity_sum;
    ledger.pushed = half.displaced;
    Exchange out = drain(liquid.particles, old.velocity, domain, settings, ctx.time);
    const Exchange in = emit(liquid.particles, domain, settings, ctx.time, dt, ctx.time + 0.5 * dt, fixed);
    const int margin = velocity_margin(largest_speed(old, domain), dt, domain.h);
    liquid.tiling = tiling_around(liquid.particles, domain, margin + 2);
    const CellRanges cells = sort_into_cells(liquid.particles, domain, *liquid.tiling);
    const Obstacles obstacles = place_obstacles(fixed, domain, liquid.tiling);
    liquid.open_volume = obstacles.open_volume;
    stage_done("advect");

    // -(u . grad) u: the velocity carried along itself.                                [Eq. 1; 2.1]
    liquid.velocity = advect_velocity(old.velocity, domain, liquid.tiling, dt);
    impose_emitters(liquid.velocity, domain, settings, ctx.time, dt);
    stage_done("to_grid");

    // Which cells are full?                                                            [2.1]
    Surface surface = surface_from_particles(liquid.particles, cells, domain, liquid.tiling, obstacles);
    const Field<double> crowding = crowding_source(surface, domain, crowding_time(scenario, dt));
    liquid.phi = std::move(surface.phi);
    Field<double> full = liquid.phi;
    ledger.droplets = count_droplets(liquid.phi, cells, domain);
    include_thin_liquid(full, cells, domain, scenario.gravity, liquid.open_volume);
    stage_done("surface");

    // Solids and markers repel each other: F_elem, summed for every node and every cell. [3.1; 3.2]
    const Repulsion repulsion = repel_markers(next.springs, scenario.solids, liquid.particles, cells,
                                              liquid.velocity, domain, settings.density, dt);
    include_pushed_drops(full, repulsion.on_cell, domain);
    // The nodes take it as one more of their forces ...                                [2.2; 3.1]
    next.loads.assign(scenario.solids.size(), {});
    for (std::size_t b = 0; b < next.springs.size(); ++b) {
        SpringBody& body = next.springs[b];
        SolidLoad& load = next.loads[body.solid];
        const Vec3 position = pose_of(body).position;
        for (std::size_t i = 0; i < body.velocity.size(); ++i) {
            const Vec3 force = repulsion.on_node[b][i];
            body.velocity[i] += force * (dt / body.net->mass[i]);
            load.force += force;
            load.torque += cross(body.position[i] - position, force);
        }
    }
    // ... and the liquid as F(x): of each face, half of what its two cells have.       [Eq. 1; 3.2]
    const PressureSystem system =
        pressure_system(domain, std::move(full), scenario.gravity, settings.density, obstacles);
    const FacePush push = push_faces(repulsion.on_cell, liquid.velocity, system, dt);
    ledger.solids = push.given;
    stage_done("couple");

    // nu laplace(u), and walls that hold on.                                           [Eq. 1]
    diffuse_velocity(liquid.velocity, system.phi, obstacles, domain, settings.viscosity / settings.density,
                     dt);
    ledger.friction = apply_wall_friction(liquid.velocity, system.phi, domain, settings.density, dt);
    std::vector<SolidImpulse> rubbed(fixed.size());
    ledger.friction +=
        apply_obstacle_friction(liquid.velocity, system.phi, obstacles, domain, settings.density, dt, rubbed);
    stage_done("viscosity");

    // -grad p / rho and gravity, such that div u = 0.                                  [Eq. 1, 2; 2.1]
    std::array<Field<char>, 3> changed;
    liquid.potential = old.potential;
    const ProjectionReport projection =
        project(system, crowding, dt, scenario.solver, liquid.velocity, liquid.potential, changed);
    report.solve = projection.solve;
    report.largest_divergence = projection.largest_divergence;
    ledger.removed_volume = projection.removed_flux * dt;
    ledger.walls = projection.wall_impulse;
    std::size_t number = 0;  // in the list of obstacles
    for (std::size_t s = 0; s < scenario.solids.size(); ++s) {
        if (scenario.solids[s].motion != Motion::fixed) continue;
        next.loads[s] = projection.loads[number];
        ledger.solids -= next.loads[s].force * dt;
        next.loads[s].force += rubbed[number].linear / dt;
        next.loads[s].torque += rubbed[number].angular / dt;
        ++number;
    }
    stage_done("pressure");
    if (!report.solve.converged) return report.reject("the pressure solve did not converge");
    if (!all_finite(liquid.velocity)) return report.reject("the velocity is not a number");

    // Velocity around the liquid, for markers that go there.
    forget_slits(changed, obstacles, domain);
    for (int axis = 0; axis < 3; ++axis)
        extrapolate(liquid.velocity[axis], changed[axis], domain.cells + unit(axis), margin);
    constrain_velocity(liquid.velocity, obstacles, domain);
    if (settings.reseed)
        ledger.reseeded = reseed(liquid.particles, cells, domain, settings, liquid.phi, obstacles,
                                 liquid.velocity, ctx.step);
    stage_done("extrapolate");

    // The other half of the way, with the new velocities.                              [2.1, 2.2]
    advance_solids();
    stage_done("solids");
    ledger.pushed +=
        advance_markers(liquid.particles, liquid.particles, liquid.velocity, domain, 0.5 * dt, fixed)
            .displaced;
    if (domain.any_open())
        out += drain(liquid.particles, liquid.velocity, domain, settings, ctx.time + 0.5 * dt);
    next.time = ctx.time + dt;
    next.step = ctx.step + 1;
    stage_done("advect");
    if (ctx.ends_frame) find_surface(next, scenario);
    stage_done("surface");

    ledger.particles_in = in.count;
    ledger.particles_out = out.count;
    ledger.inflow = mass * in.velocity_sum;
    ledger.outflow = mass * out.velocity_sum;
    ledger.gravity = scenario.gravity * (mass * double(liquid.particles.count()) * dt);
    ledger.unaccounted = mass * velocities_of(liquid.particles, liquid.velocity, domain).sum -
                         momentum_before - ledger.gravity - ledger.walls - ledger.solids - ledger.friction -
                         ledger.inflow + ledger.outflow;
    ledger.bodies = body_ledger(now.springs, next, std::move(contacts), scenario.gravity, dt);
    return report;
}

}  // namespace flotsam

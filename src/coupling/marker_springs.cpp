#include "coupling/marker_springs.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/mat3.h"
#include "core/random.h"
#include "coupling/grid_liquid.h"
#include "coupling/ledger.h"
#include "fluid/grid/advect.h"
#include "fluid/grid/extrapolate.h"
#include "fluid/grid/friction.h"
#include "fluid/grid/markers.h"
#include "fluid/grid/obstacles.h"
#include "fluid/grid/pressure_solver.h"
#include "fluid/grid/sample.h"
#include "fluid/grid/sources.h"
#include "fluid/grid/surface.h"
#include "fluid/grid/transfer.h"
#include "fluid/grid/viscosity.h"
#include "solid/spring/spring_contact.h"
#include "world/expected.h"

namespace flotsam {

namespace {

std::int64_t domain_index(const Domain& domain, Int3 c) {
    return c.x + std::int64_t{domain.cells.x} * (c.y + std::int64_t{domain.cells.y} * c.z);
}

NodeConfines node_confines(const Scenario& scenario, const Solid& solid) {
    NodeConfines confines;
    confines.sides = {{}, scenario.domain.size()};
    confines.closed = scenario.domain.closed_sides();
    for (const Solid& other : scenario.solids)
        if (other.motion == Motion::fixed) {
            const PlacedShape shape = shape_at(other, 0);
            confines.fixed.push_back({shape.shape, shape.pose, shape.bounds()});
        }
    confines.friction = solid.rigid.friction;
    confines.restitution = solid.rigid.restitution;
    return confines;
}

std::vector<NodeConfines> confines_of(const std::vector<SpringBody>& bodies, const Scenario& scenario) {
    std::vector<NodeConfines> confines;
    confines.reserve(bodies.size());
    for (const SpringBody& body : bodies)
        confines.push_back(node_confines(scenario, scenario.solids[body.solid]));
    return confines;
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

// Removes markers nearer to nodes than the pressure there balances: they would first have to be pushed away,
// which would delay the rise of a ball.
void remove_near_nodes(Particles& particles, const Scenario& scenario,
                       const std::vector<SpringBody>& springs) {
    const MarkedLiquid liquid = marked_liquid(scenario);
    std::vector<char> dead(particles.count(), 0);
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
            dead[i] = nearest < solid.radius - penetration(solid, liquid, pressure_at_start(scenario, p));
        });
    }
    remove_particles(particles, dead);
}

// A node that reaches a cell with markers.
struct Pair {
    std::int64_t cell;
    Int3 at;
    int body, node;
    std::int64_t entry;  // of the cell in Repulsion::on_cell
};

// All such pairs, in the order of cells.
std::vector<Pair> find_pairs(const std::vector<SpringBody>& bodies, const std::vector<Solid>& solids,
                             const CellRanges& cells, const Tiling& tiling, const Domain& domain) {
    std::vector<Pair> pairs;
    for (std::size_t b = 0; b < bodies.size(); ++b) {
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
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const Pair& a, const Pair& b) { return a.cell < b.cell; });
    return pairs;
}

// Indices of the pairs, sorted by node.
std::vector<std::size_t> sorted_by_node(const std::vector<Pair>& pairs) {
    std::vector<std::size_t> by_node(pairs.size());
    std::iota(by_node.begin(), by_node.end(), std::size_t{0});
    std::stable_sort(by_node.begin(), by_node.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(pairs[a].body, pairs[a].node) < std::pair(pairs[b].body, pairs[b].node);
    });
    return by_node;
}

// Moves the bodies for a time by their own forces and through collisions; adds the impulse of contacts on
// each.
void advance_springs(std::vector<SpringBody>& bodies, const std::vector<NodeConfines>& confines, Vec3 gravity,
                     double time, std::vector<Impulse>& contacts) {
    for (std::size_t b = 0; b < bodies.size(); ++b)
        contacts[b].linear += advance(bodies[b], gravity, time, confines[b]);
    const std::vector<Vec3> collisions = collide(bodies, [&](std::size_t a, std::size_t b) {
        return ContactLaw{std::sqrt(confines[a].friction * confines[b].friction),
                          std::max(confines[a].restitution, confines[b].restitution)};
    });
    for (std::size_t b = 0; b < bodies.size(); ++b) contacts[b].linear += collisions[b];
}

// Applies the markers' forces to the nodes for a time dt and records the load on each solid.
void push_nodes(World& world, const Repulsion& repulsion, double dt) {
    for (std::size_t b = 0; b < world.springs.size(); ++b) {
        SpringBody& body = world.springs[b];
        SolidLoad& load = world.loads[body.solid];
        const Vec3 position = pose_of(body).position;
        for (std::size_t i = 0; i < body.velocity.size(); ++i) {
            const Vec3 force = repulsion.on_node[b][i];
            body.velocity[i] += force * (dt / body.net->mass[i]);
            load.force += force;
            load.torque += cross(body.position[i] - position, force);
        }
    }
}

// Applies the friction of walls and fixed solids. Returns the impulse on the liquid [kg m/s]; `on_solids`
// gets those on the solids.
Vec3 rub(MacGrid& u, const PressureSystem& system, const Obstacles& obstacles, const Rubbing& rubbing,
         std::vector<SolidImpulse>& on_solids) {
    const Domain& domain = *system.domain;
    Vec3 received = apply_wall_friction(u, system.phi, *system.obstacles, domain, rubbing);
    received += apply_obstacle_friction(u, system.phi, obstacles, domain, rubbing, on_solids);
    return received;
}

// Extrapolates the velocity around the liquid, from the faces where it is known.
void continue_velocity(MacGrid& u, std::array<Field<char>, 3>& known, const Obstacles& obstacles,
                       const Domain& domain, int margin) {
    forget_slits(known, obstacles, domain);
    for (int axis = 0; axis < 3; ++axis) extrapolate(u[axis], known[axis], domain.cells + unit(axis), margin);
    constrain_velocity(u, obstacles, domain, VelocityInSolids::constant);
}

// Records the loads of pressure and friction on the fixed solids, both given in the order of these, and the
// impulse of their pressure on the liquid.
void load_fixed_solids(World& world, StepLedger& ledger, const Scenario& scenario,
                       const std::vector<SolidLoad>& pressure, const std::vector<SolidImpulse>& friction,
                       double dt) {
    std::size_t number = 0;
    for (std::size_t s = 0; s < scenario.solids.size(); ++s) {
        if (scenario.solids[s].motion != Motion::fixed) continue;
        SolidLoad& load = world.loads[s];
        load = pressure[number];
        ledger.solids -= load.force * dt;
        load.force += friction[number].linear / dt;
        load.torque += friction[number].angular / dt;
        ++number;
    }
}

}  // namespace

Repulsion repel_markers(const std::vector<SpringBody>& bodies, const std::vector<Solid>& solids,
                        const Particles& markers, const CellRanges& cells, const MacGrid& u,
                        const Domain& domain, const MarkedLiquid& liquid, double dt) {
    Repulsion result;
    for (const SpringBody& body : bodies) result.on_node.emplace_back(body.position.size());
    std::vector<Pair> pairs = find_pairs(bodies, solids, cells, u[0].tiling(), domain);
    for (std::size_t p = 0; p < pairs.size(); ++p) {
        if (p == 0 || pairs[p].cell != pairs[p - 1].cell)
            result.on_cell.push_back({pairs[p].at, pairs[p].cell, {}});
        pairs[p].entry = std::int64_t(result.on_cell.size()) - 1;
    }
    const std::vector<std::size_t> by_node = sorted_by_node(pairs);

    // A node's force on the markers of a cell that form the interface [Genevaux03 3.1], as a function of the
    // node's velocity v: a sum of w n (k (R - d) - z n.(u - v)) = at_rest + z M v, with M the sum of w n nT.
    struct PairForce {
        Vec3 at_rest;
        Mat3 directions;  // M
    };
    const auto on_markers = [&](const Pair& pair) {
        const SpringBody& body = bodies[pair.body];
        const SpringProperties& solid = solids[body.solid].spring;
        const Vec3 x = body.position[pair.node];
        const double damping = damping_over(solid, liquid, dt);
        const std::int32_t begin = cells.begin[pair.cell], end = cells.begin[pair.cell + 1];
        // A subset of the cell's markers, evenly spread from an offset that is random for each cell: seeded
        // markers lie in order, and always taking the first would take those in the cell's lowest corner.
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

    // The velocity of each node after dt: m (v - v0) = -dt (force on markers), where the force is that at v
    // and the node has moved by dt (v - v0).
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
        const double m = body.net->mass[node.node], damping = damping_over(solid, liquid, dt);
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
            on_pair[p].at_rest + on_pair[p].directions * (damping_over(solid, liquid, dt) * after +
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
            // The mass that moves with each face, as in the pressure solve, but at least a quarter of a cell:
            // with less, a few markers would shoot away a drop between a wall and the surface.
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
        // A margin to the limit, since the number of markers near a node varies.
        dt = std::min(dt, 0.9 * repulsion_dt(scenario.solids[body.solid].spring, marked_liquid(scenario)));
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

void MarkerSprings::start(World& world, const Scenario& scenario) {
    Particles& markers = world.liquid.particles;
    markers = seed_fills(scenario.domain, scenario.liquid);
    remove_inside(markers, solids_at_start(scenario, 0));
    remove_near_nodes(markers, scenario, world.springs);
    start_liquid(world.liquid, scenario);
    find_surface(world.liquid, scenario, fixed_obstacles(scenario));
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
    StageClock stage_done(report);

    // First half step: solids by their own forces, markers with last step's velocity.  [Genevaux03 2.1, 2.2]
    static_cast<Bodies&>(next) = now;
    const std::vector<NodeConfines> confines = confines_of(next.springs, scenario);
    std::vector<Impulse> contacts(next.springs.size());
    advance_springs(next.springs, confines, scenario.gravity, 0.5 * dt, contacts);
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
    const Rubbing rubbing = rubbing_of(scenario, dt);
    const Obstacles obstacles = place_obstacles(fixed, domain, liquid.tiling, rubbing.reach(domain.h));
    liquid.open_volume = obstacles.open_volume;
    stage_done("advect");

    // -(u . grad) u: self-advection of the velocity.                                   [Eq. 1; 2.1]
    liquid.velocity = advect_velocity(old.velocity, domain, liquid.tiling, dt);
    impose_emitters(liquid.velocity, domain, settings, ctx.time, dt);
    stage_done("to_grid");

    // Which cells are full?                                                            [2.1]
    FilledCells full = fill_cells(liquid, cells, obstacles, scenario, dt);
    ledger.droplets = full.droplets;
    stage_done("surface");

    // Solids and markers repel each other: F_elem, summed for every node and every cell. [3.1; 3.2]
    const Repulsion repulsion = repel_markers(next.springs, scenario.solids, liquid.particles, cells,
                                              liquid.velocity, domain, marked_liquid(scenario), dt);
    include_pushed_drops(full.phi, repulsion.on_cell, domain);
    // The nodes take it as one more of their forces ...                                [2.2; 3.1]
    next.loads.assign(scenario.solids.size(), {});
    push_nodes(next, repulsion, dt);
    // ... and the liquid as F(x): each face takes half of its two cells' forces.       [Eq. 1; 3.2]
    const PressureSystem system =
        pressure_system(domain, std::move(full.phi), scenario.gravity, settings.density, obstacles);
    ledger.solids = push_faces(repulsion.on_cell, liquid.velocity, system, dt).given;
    stage_done("couple");

    // nu laplace(u), and wall friction.                                                [Eq. 1]
    diffuse_velocity(liquid.velocity, system.phi, obstacles, domain, settings.viscosity / settings.density,
                     dt);
    std::vector<SolidImpulse> rubbed(fixed.size());
    ledger.friction = rub(liquid.velocity, system, obstacles, rubbing, rubbed);
    stage_done("viscosity");

    // -grad p / rho and gravity, such that div u = 0.                                  [Eq. 1, 2; 2.1]
    PressureUpdate projection =
        solve_pressure(system, full.crowding, dt, scenario.solver, liquid.velocity, old.potential);
    liquid.potential = std::move(projection.potential);
    report.solve = projection.solve;
    report.largest_divergence = projection.largest_divergence;
    ledger.removed_volume = projection.removed_flux * dt;
    ledger.walls = projection.loads.wall_impulse;
    load_fixed_solids(next, ledger, scenario, projection.loads.solids, rubbed, dt);
    stage_done("pressure");
    if (!report.solve.converged) return report.reject("the pressure solve did not converge");
    if (!all_finite(liquid.velocity)) return report.reject("the velocity is not a number");

    // Extrapolate the velocity around the liquid, for markers that go there.
    continue_velocity(liquid.velocity, projection.changed, obstacles, domain, margin);
    if (settings.reseed)
        ledger.reseeded = reseed(liquid.particles, cells, domain, settings, liquid.phi, obstacles,
                                 liquid.velocity, ctx.step);
    stage_done("extrapolate");

    // Second half step, with the new velocities.                                       [2.1, 2.2]
    advance_springs(next.springs, confines, scenario.gravity, 0.5 * dt, contacts);
    stage_done("solids");
    ledger.pushed +=
        advance_markers(liquid.particles, liquid.particles, liquid.velocity, domain, 0.5 * dt, fixed)
            .displaced;
    if (domain.any_open())
        out += drain(liquid.particles, liquid.velocity, domain, settings, ctx.time + 0.5 * dt);
    next.time = ctx.time + dt;
    next.step = ctx.step + 1;
    stage_done("advect");
    if (ctx.ends_frame) find_surface(liquid, scenario, fixed);
    stage_done("surface");

    close_ledger(ledger, liquid, scenario, in, out, momentum_before, dt);
    add_springs(ledger.bodies, now, next, contacts, scenario.gravity, dt);
    return report;
}

}  // namespace flotsam

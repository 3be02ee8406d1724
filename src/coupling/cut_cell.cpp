#include "coupling/cut_cell.h"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>

#include "core/stopwatch.h"
#include "coupling/coupled_solve.h"
#include "coupling/grid_liquid.h"
#include "coupling/ledger.h"
#include "fluid/grid/advect.h"
#include "fluid/grid/extrapolate.h"
#include "fluid/grid/friction.h"
#include "fluid/grid/obstacles.h"
#include "fluid/grid/particles.h"
#include "fluid/grid/sources.h"
#include "fluid/grid/surface.h"
#include "fluid/grid/transfer.h"

namespace flotsam {

namespace {

// A body's motion after implicit friction: V' = V + W (f - D (V' - V)), W its inverse mass.
Twist after_drag(const RigidBody& body, const Drag& drag) {
    using Matrix = Eigen::Matrix<double, 6, 6>;
    const Vec3 inverse = inverse_mass(body);
    const Mat3 inverse_inertia = inverse_inertia_in_world(body);
    Matrix w = Matrix::Zero(), less;
    Eigen::Matrix<double, 6, 1> impulse;
    for (int i = 0; i < 3; ++i) {
        w(i, i) = inverse[i];
        for (int j = 0; j < 3; ++j) w(3 + i, 3 + j) = inverse_inertia.row[i][j];
    }
    for (int i = 0; i < 6; ++i) {
        impulse(i) = drag.impulse[i];
        for (int j = 0; j < 6; ++j) less(i, j) = drag.less[i][j];
    }
    const Eigen::Matrix<double, 6, 1> change =
        (Matrix::Identity() + w * less).partialPivLu().solve(w * impulse);
    const Twist motion = twist_of(body);
    return {motion.velocity + Vec3{change(0), change(1), change(2)},
            motion.spin + Vec3{change(3), change(4), change(5)}};
}

// Converts a motion about a body's centre to one about its pose's position.
Twist seen_from_pose(const RigidBody& body, const Twist& motion) {
    return {motion.at(pose_of(body).position - body.center), motion.spin};
}

}  // namespace

Capabilities CutCell::capabilities() const {
    return {.liquid = true,
            .motions = {Motion::fixed, Motion::scripted, Motion::rigid, Motion::elastic},
            .wetted = {Motion::fixed, Motion::scripted, Motion::rigid, Motion::elastic},
            .open_walls = true,
            .mirrors = true,
            .separation = true,
            .faces_by_distance = true,
            .spheres = true,
            .strong = wet_elastic_.coupling() == ElasticCoupling::strong,
            .comparison = wet_elastic_.coupling() != ElasticCoupling::strong,
            .elastic_variant = wet_elastic_.coupling() != ElasticCoupling::strong};
}

double CutCell::stable_dt(const World& world, const Scenario& scenario) const {
    const double h = scenario.domain.h, g = length(scenario.gravity);
    double dt = liquid_dt(world, scenario);
    // No solid's surface crosses more than a cell.
    for (const Solid& solid : scenario.solids) {
        const double frame = 1 / scenario.time.frames_per_second;
        if (const double v = largest_speed(solid, world.time, world.time + frame); v > 0)
            dt = std::min(dt, h / v);
    }
    for (const ElasticBody& body : world.elastics) {
        const double v = largest_speed(body), way = scenario.time.cfl * h;
        dt = std::min(dt, g > 0 ? (std::sqrt(v * v + 4 * g * way) - v) / (2 * g) : v > 0 ? way / v : dt);
    }
    for (const RigidBody& body : world.bodies) {
        const double v = largest_speed(body, bounds(scenario.solids[body.solid].shape.mesh));
        dt = std::min(dt, g > 0 ? (std::sqrt(v * v + 4 * g * h) - v) / (2 * g) : v > 0 ? h / v : dt);
    }
    return dt;
}

std::shared_ptr<const MeshSurface> CutCell::surface_of(const Solid& solid, TriangleMesh mesh) {
    for (const KeptSurface& kept : kept_surfaces_)
        if (kept.solid == &solid && kept.surface->mesh().vertices == mesh.vertices) return kept.surface;
    // A step needs the surfaces at its start, middle and end, and the next one starts at that end.
    const auto same = [&](const KeptSurface& kept) { return kept.solid == &solid; };
    if (std::count_if(kept_surfaces_.begin(), kept_surfaces_.end(), same) >= 3)
        kept_surfaces_.erase(std::find_if(kept_surfaces_.begin(), kept_surfaces_.end(), same));
    kept_surfaces_.push_back({&solid, std::make_shared<MeshSurface>(std::move(mesh))});
    return kept_surfaces_.back().surface;
}

std::shared_ptr<const SurfaceNodes> CutCell::nodes_of(const std::vector<ElasticBody>& bodies,
                                                      std::size_t body) {
    surface_nodes_.resize(bodies.size());
    if (surface_nodes_[body]) return surface_nodes_[body];
    int first = 0;
    for (std::size_t b = 0; b < body; ++b) first += int(bodies[b].position.size());
    return surface_nodes_[body] = std::make_shared<SurfaceNodes>(skin_nodes(*bodies[body].mesh, first));
}

namespace {

// In 2D an elastic body is as thick as the slab; it is stretched so that particles never meet its front and
// back.
TriangleMesh through_slab(TriangleMesh mesh, const Domain& domain) {
    if (domain.flat())
        for (Vec3& v : mesh.vertices) v.z += 100 * (v.z - 0.5 * domain.h);
    return mesh;
}

// The number of solid `s` among the elastic bodies, or -1.
int elastic_number(const std::vector<ElasticBody>& bodies, std::size_t s) {
    for (std::size_t b = 0; b < bodies.size(); ++b)
        if (bodies[b].solid == int(s)) return int(b);
    return -1;
}

}  // namespace

std::vector<Obstacle> CutCell::moving_obstacles(const Scenario& scenario, const Instant& from,
                                                const Instant& until) {
    std::vector<Obstacle> list;
    for (std::size_t i = 0; i < scenario.solids.size(); ++i) {
        const Solid& solid = scenario.solids[i];
        list.push_back({.shape = solid.shape.distance,
                        .before = pose_of(scenario, from.bodies, from.time, i),
                        .after = pose_of(scenario, until.bodies, until.time, i),
                        .slip = solid.slip,
                        .motion = {},
                        .cut = nullptr});
        Obstacle& obstacle = list.back();
        if (const int b = elastic_number(until.elastics, i); b >= 0) {
            obstacle.before = obstacle.after = {};
            obstacle.nodes = nodes_of(until.elastics, std::size_t(b));
            auto before = surface_of(solid, through_slab(skin_of(from.elastics[b]), scenario.domain));
            auto after = surface_of(solid, through_slab(skin_of(until.elastics[b]), scenario.domain));
            std::vector<Vec3> still(after->mesh().vertices.size());
            obstacle.deformation = std::make_shared<Deformation>(
                Deformation{std::move(before), std::move(after), std::move(still)});
        } else if (solid.sequence) {
            obstacle.deformation =
                std::make_shared<Deformation>(Deformation{surface_of(solid, body_mesh_at(solid, from.time)),
                                                          surface_of(solid, body_mesh_at(solid, until.time)),
                                                          {}});
        }
        if (obstacle.deformation) obstacle.shape = obstacle.deformation->after;
    }
    return list;
}

std::vector<Obstacle> CutCell::cut_obstacles(const Scenario& scenario, const Instant& from,
                                             const Instant& until, double dt) {
    std::vector<Obstacle> list = moving_obstacles(scenario, from, until);
    fixed_cuts_.resize(list.size());
    const auto by_rule = [&](const Obstacle& obstacle, CutSolid cut) {
        if (scenario.liquid.faces_by_distance)
            cover_by_distance(cut, scenario.domain.h, [&](Vec3 p) { return obstacle.distance(p); });
        return std::make_shared<CutSolid>(std::move(cut));
    };
    parallel_for(std::ssize(list), 1, [&](std::int64_t s) {
        const Solid& solid = scenario.solids[s];
        Obstacle& obstacle = list[s];
        // The motion of rigid and elastic bodies is unknown before the solve.
        if (solid.motion != Motion::rigid && solid.motion != Motion::elastic)
            obstacle.motion = twist_between(obstacle.after, pose_at(solid, until.time + dt), dt);
        obstacle.underflowed = solid.motion == Motion::rigid;
        obstacle.mirrored = solid.rigid.mirrored;
        const bool fixed = solid.motion == Motion::fixed;
        if (fixed) obstacle.cut = fixed_cuts_[s];
        if (obstacle.cut) return;
        if (const int b = elastic_number(until.elastics, std::size_t(s)); b >= 0) {
            obstacle.cut = by_rule(obstacle, cut_solid(skin_of(until.elastics[b]), scenario.domain.cells,
                                                       scenario.domain.h, {}, true));
            return;
        }
        // Elastic bodies are left out where there is no liquid.
        TriangleMesh mesh =
            solid.motion == Motion::elastic ? TriangleMesh{} : body_mesh_at(solid, until.time);
        for (Vec3& v : mesh.vertices) v = obstacle.after.to_world(v);
        SurfaceMotion motion;
        if (solid.sequence) {
            const auto velocity = [&](const TriangleMesh& here, const TriangleMesh& there) {
                std::vector<Vec3> v = there.vertices;
                for (std::size_t i = 0; i < v.size(); ++i) v[i] = (v[i] - here.vertices[i]) / dt;
                return v;
            };
            motion = {velocity(mesh, mesh_at(solid, until.time + dt)), dt};
            Deformation deformation = *obstacle.deformation;
            deformation.velocity = velocity(deformation.after->mesh(), body_mesh_at(solid, until.time + dt));
            obstacle.deformation = std::make_shared<Deformation>(std::move(deformation));
        }
        obstacle.cut = by_rule(obstacle, cut_solid(mesh, scenario.domain.cells, scenario.domain.h, motion));
        if (fixed) fixed_cuts_[s] = obstacle.cut;
    });
    return list;
}

void CutCell::find_surface(World& world, const Scenario& scenario, double dt) {
    const Instant end{world.time, world.bodies, world.elastics};
    flotsam::find_surface(world.liquid, scenario, cut_obstacles(scenario, end, end, dt));
}

void CutCell::start(World& world, const Scenario& scenario) {
    world.support.assign(world.bodies.size(), {});
    world.liquid.particles = seed_fills(scenario.domain, scenario.liquid);
    remove_inside(world.liquid.particles, NearSolids(world, scenario, 0));
    start_liquid(world.liquid, scenario);
    find_surface(world, scenario, 1 / scenario.time.frames_per_second);
    world.loads.assign(scenario.solids.size(), {});
}

namespace {

// State of the solids during a step.
struct SolidStep {
    bool wet = false;                           // elastic bodies take part in the liquid's solve
    std::vector<RigidBody> halfway;             // in the middle of the step, before forces
    std::vector<ElasticBody> halfway_elastics;  // where they are wet
    std::vector<Impulse> pushed;                // of elastic bodies on each rigid one
    std::vector<ElasticReceived> received;      // by each elastic one
    std::vector<SolidImpulse> friction;         // of the liquid on each solid
};

// Moves solids by half a step with the last step's velocity. Without liquid, elastic bodies take the whole
// step by themselves, and their pushes are among the forces on rigid ones [Zarifi17 Alg. 2].
SolidStep drift_solids(const World& now, World& next, const StepContext& ctx, ElasticPhase& alone,
                       StepReport& report) {
    const Scenario& scenario = ctx.scenario;
    SolidStep solids;
    next.bodies = now.bodies;
    for (RigidBody& body : next.bodies) {
        hold_until_release(body, scenario.solids[body.solid].rigid, ctx.time);
        advance(body, 0.5 * ctx.dt);
    }
    solids.halfway = next.bodies;
    solids.pushed.resize(now.bodies.size());
    if (now.elastics.empty()) return solids;
    solids.wet = !scenario.liquid.fills.empty() || !scenario.liquid.emitters.empty();
    if (solids.wet) {
        next.elastics = now.elastics;
        drift(next.elastics, elastic_properties(scenario, now.elastics), ctx.time, 0.5 * ctx.dt);
        solids.halfway_elastics = next.elastics;
        return solids;
    }
    ElasticReport moved = alone.step(now, next, ctx, solids.pushed);
    report.elastic_iterations = moved.solver_iterations;
    report.newton_steps = moved.newton_steps;
    report.disagreement.newton = moved.disagreement;
    if (!moved.solved) report.reject("the elastic solve did not converge");
    solids.received = std::move(moved.received);
    return solids;
}

// Inflow, outflow and displacements of the liquid in a step.
struct LiquidFlow {
    bool closed = true;  // nothing comes or goes
    Exchange in, out;
    Displaced pushed;
};

LiquidFlow carry_liquid(const LiquidState& old, LiquidState& liquid, const StepContext& ctx,
                        const std::vector<Obstacle>& solids) {
    const LiquidSettings& settings = ctx.scenario.liquid;
    const Domain& domain = ctx.scenario.domain;
    LiquidFlow flow;
    flow.closed = settings.emitters.empty() && settings.sinks.empty() && !domain.any_open();
    // Without inflow and outflow, the particles' velocities are copied only once, when they are sorted.
    if (flow.closed)
        liquid.particles.position = old.particles.position;
    else
        liquid.particles = old.particles;
    flow.pushed = advance_particles(liquid.particles, old.velocity, domain, 0.5 * ctx.dt, solids);
    if (flow.closed) return flow;
    flow.out = drain(liquid.particles, old.velocity, domain, settings, ctx.time);
    flow.in = emit(liquid.particles, domain, settings, ctx.time, ctx.dt, ctx.time + 0.5 * ctx.dt, solids);
    return flow;
}

void carry_liquid_on(LiquidState& liquid, const StepContext& ctx, const std::vector<Obstacle>& solids,
                     LiquidFlow& flow) {
    const Domain& domain = ctx.scenario.domain;
    flow.pushed += ctx.scenario.liquid.carrier == Carrier::apic
                       ? advance_by_own_velocity(liquid.particles, domain, 0.5 * ctx.dt, solids)
                       : advance_particles(liquid.particles, liquid.velocity, domain, 0.5 * ctx.dt, solids);
    if (domain.any_open())
        flow.out +=
            drain(liquid.particles, liquid.velocity, domain, ctx.scenario.liquid, ctx.time + 0.5 * ctx.dt);
}

MacGrid velocity_on_faces(const LiquidState& old, const LiquidState& liquid, const CellRanges& cells,
                          const StepContext& ctx) {
    const Domain& domain = ctx.scenario.domain;
    if (ctx.scenario.liquid.carrier != Carrier::markers)
        return particles_to_grid(liquid.particles, cells, domain, liquid.tiling);
    MacGrid u = advect_velocity(old.velocity, domain, liquid.tiling, ctx.dt);
    impose_emitters(u, domain, ctx.scenario.liquid, ctx.time, ctx.dt);
    return u;
}

// Applies the liquid's friction, gravity, and the pushes of elastic bodies that move without liquid.
void apply_forces(std::vector<RigidBody>& bodies, MacGrid& u, const Field<double>& phi, Obstacles& obstacles,
                  const StepContext& ctx, SolidStep& solids, StepLedger& ledger) {
    const Domain& domain = ctx.scenario.domain;
    const double dt = ctx.dt;
    const Rubbing rubbing = rubbing_of(ctx.scenario, dt);
    ledger.friction = apply_wall_friction(u, phi, obstacles, domain, rubbing);
    for (const RigidBody& body : bodies)
        obstacles.list[body.solid].motion = seen_from_pose(body, twist_of(body));
    // Friction is implicit in the bodies' motion: otherwise the liquid layer around a light ball would spin
    // it from side to side, ever faster.
    for (const RigidBody& body : bodies)
        if (const auto drag = obstacle_drag(u, phi, obstacles, body.solid, body.center, domain, rubbing))
            obstacles.list[body.solid].motion = seen_from_pose(body, after_drag(body, *drag));
    solids.friction.resize(ctx.scenario.solids.size());
    ledger.friction += apply_obstacle_friction(u, phi, obstacles, domain, rubbing, solids.friction);
    for (std::size_t b = 0; b < bodies.size(); ++b) {
        RigidBody& body = bodies[b];
        const SolidImpulse& rubbed = solids.friction[body.solid];
        const Impulse& pushed = solids.pushed[b];
        apply_impulse(body, {ctx.scenario.gravity * (body.mass * dt) + rubbed.linear + pushed.linear,
                             rubbed.angular + cross(pose_of(body).position - body.center, rubbed.linear) +
                                 pushed.angular});
    }
}

// The change of velocity by the solve, extrapolated by two cells: for FLIP.
MacGrid continued_change(const MacGrid& before, const CoupledSolution& found, const Domain& domain) {
    MacGrid change = before;
    for (int axis = 0; axis < 3; ++axis) {
        if (change[axis].empty()) continue;
        const Int3 faces = domain.cells + unit(axis);
        for_each_cell(change[axis].tiling(), faces, [&](Int3, std::int64_t n) {
            change[axis][n] = found.changed[axis][n] ? found.u[axis][n] - before[axis][n] : 0;
        });
        Field<char> known = found.changed[axis];
        extrapolate(change[axis], known, faces, 2);
    }
    return change;
}

void give_back(LiquidState& liquid, const CellRanges& cells, const MacGrid& change,
               const Obstacles& obstacles, const StepContext& ctx, StepLedger& ledger) {
    const LiquidSettings& settings = ctx.scenario.liquid;
    const Domain& domain = ctx.scenario.domain;
    if (settings.carrier == Carrier::apic)
        grid_to_particles_apic(liquid.particles, cells, liquid.velocity, domain);
    if (settings.carrier == Carrier::flip)
        grid_to_particles_flip(liquid.particles, cells, liquid.velocity, change, domain, settings.flip_share);
    if (settings.reseed)
        ledger.reseeded = reseed(liquid.particles, cells, domain, settings, liquid.phi, obstacles,
                                 liquid.velocity, ctx.step);
}

// Elastic bodies take the velocities that the solve found.
void take_elastic_motion(const ElasticEquation& equation, SolidStep& solids,
                         std::vector<ElasticBody>& elastics, Obstacles& obstacles) {
    for (std::size_t b = 0; b < elastics.size(); ++b) {
        solids.received.push_back(equation.received(b));
        const std::span<const Vec3> velocity = equation.velocity(b);
        elastics[b].velocity.assign(velocity.begin(), velocity.end());
        Obstacle& obstacle = obstacles.list[elastics[b].solid];
        Deformation deformation = *obstacle.deformation;
        deformation.velocity = skin_velocity(elastics[b]);
        obstacle.deformation = std::make_shared<Deformation>(std::move(deformation));
    }
}

// Rigid bodies take theirs; records the loads on all solids and the bodies' part of the ledger.
void take_motion(CoupledSolution& found, SolidStep& solids, const World& now, World& next,
                 Obstacles& obstacles, const StepContext& ctx, StepLedger& ledger) {
    const double dt = ctx.dt;
    ledger.removed_volume = found.removed_flux * dt;
    ledger.walls = found.loads.wall_impulse;
    next.loads = found.loads.solids;
    // The grid does not know the position of deforming bodies: their torque is about the origin.
    for (const ElasticBody& body : solids.halfway_elastics)
        next.loads[body.solid].torque -= cross(pose_of(body).position, next.loads[body.solid].force);
    for (std::size_t s = 0; s < next.loads.size(); ++s) {
        ledger.solids -= next.loads[s].force * dt;
        next.loads[s].force += solids.friction[s].linear / dt;
        next.loads[s].torque += solids.friction[s].angular / dt;
    }
    for (std::size_t b = 0; b < next.bodies.size(); ++b) {
        RigidBody& body = next.bodies[b];
        body.velocity = found.motion[b].velocity;
        set_spin(body, found.motion[b].spin);
        obstacles.list[body.solid].motion = seen_from_pose(body, found.motion[b]);
    }
    if (solids.wet) solids.pushed = found.pushed;
    if (found.contacts) {
        const std::vector<Impulse>& supported = found.supported;
        ledger.bodies = body_ledger(now.bodies, next, supported, solids.pushed, ctx.scenario.gravity, dt);
        next.support.clear();
        for (std::size_t b = 0; b < supported.size(); ++b)
            next.support.push_back({solids.pushed[b], supported[b]});
        found.contacts->repair(next.bodies);
    }
    add_elastic(ledger.bodies, now, next, solids.received, ctx.scenario, dt);
}

}  // namespace

StepReport CutCell::step(const World& now, World& next, const StepContext& ctx) {
    const Scenario& scenario = ctx.scenario;
    const Domain& domain = scenario.domain;
    const LiquidSettings& settings = scenario.liquid;
    const LiquidState& old = now.liquid;
    LiquidState& liquid = next.liquid;
    const double dt = ctx.dt, middle = ctx.time + 0.5 * dt, end = ctx.time + dt;
    StepReport report;
    StepLedger& ledger = report.ledger;
    StageClock stage_done(report);

    // First half step, with the last step's velocity; inflow and outflow.  [Zarifi17 Alg. 3, 3; 4, 1]
    SolidStep solids = drift_solids(now, next, ctx, elastic_, report);
    if (!report.accepted) return report;
    if (!solids.received.empty()) stage_done("elastic");
    const std::vector<ElasticBody> none;
    const Instant start{ctx.time, now.bodies, solids.wet ? now.elastics : none};
    const Instant halfway{middle, solids.halfway, solids.halfway_elastics};
    std::vector<Obstacle> around = cut_obstacles(scenario, start, halfway, dt);
    LiquidFlow flow = carry_liquid(old, liquid, ctx, around);
    const int margin = velocity_margin(largest_speed(old, domain), dt, domain.h);
    liquid.tiling = tiling_around(liquid.particles, domain, margin + 2, film_cells(around, domain));
    const CellRanges cells =
        sort_into_cells(liquid.particles, domain, *liquid.tiling, flow.closed ? &old.particles : nullptr);
    stage_done("advect");

    // Where do the solids cut the grid now?                                           [Section 4.4.1]
    Obstacles obstacles =
        place_obstacles(std::move(around), domain, liquid.tiling, rubbing_of(scenario, dt).reach(domain.h));
    liquid.open_volume = obstacles.open_volume;
    stage_done("cut");

    // Velocity on the faces, from the particles or by self-advection.                 [Alg. 3, 4]
    MacGrid u = velocity_on_faces(old, liquid, cells, ctx);
    resume_slits(u, old.slits, obstacles, domain, dt);
    const MacGrid transferred = settings.carrier == Carrier::flip ? u : MacGrid{};
    stage_done("to_grid");

    // Where is the surface now?                                                 [Alg. 3, 8; Section 4.5]
    FilledCells full = fill_cells(liquid, cells, obstacles, scenario, dt);
    close_voids(full.phi, obstacles, domain, scenario.particle_volume() * double(liquid.particles.count()));
    ledger.droplets = full.droplets;
    stage_done("surface");

    // One solve: incompressibility, gravity, the free surface and the solids' momentum.
    //                                                                   [Alg. 3, 5-7 and 9; Alg. 4, 4-7]
    apply_forces(next.bodies, u, full.phi, obstacles, ctx, solids, ledger);
    if (!next.bodies.empty() && !contact_shapes_) contact_shapes_.emplace(scenario.solids, scenario.joints);
    CoupledSolution found = solve_coupled(
        {scenario, now, middle, dt, obstacles, full.phi, full.crowding,
         contact_shapes_ ? &*contact_shapes_ : nullptr, solids.halfway, next.bodies, solids.halfway_elastics},
        solids.wet ? &wet_elastic_ : nullptr, std::move(u), old.potential);
    report.solve = found.solve;
    report.largest_divergence = found.largest_divergence;
    report.disagreement += found.disagreement;
    report.newton_steps += found.newton_steps;
    if (!found.trouble.empty())
        return found.hopeless ? report.give_up(found.trouble) : report.reject(found.trouble);
    if (!all_finite(found.u)) return report.reject("the velocity is not a number");

    // Equal and opposite: the same pressure has acted on the liquid and, through J^T, on the solids.
    if (solids.wet) take_elastic_motion(wet_elastic_.equation(), solids, next.elastics, obstacles);
    take_motion(found, solids, now, next, obstacles, ctx, ledger);
    stage_done("pressure");

    // Extrapolate the velocity into the air around the liquid.                        [Alg. 3, 10]
    liquid.slits = flow_in_slits(found.u, found.changed, obstacles, domain);
    forget_slits(found.changed, obstacles, domain);
    const MacGrid change = continued_change(transferred, found, domain);
    for (int axis = 0; axis < 3; ++axis)
        extrapolate(found.u[axis], found.changed[axis], domain.cells + unit(axis), margin);
    constrain_velocity(
        found.u, obstacles, domain,
        settings.carrier == Carrier::markers ? VelocityInSolids::constant : VelocityInSolids::linear,
        found.released.empty() ? nullptr : &found.released);
    liquid.velocity = std::move(found.u);
    liquid.potential = std::move(found.potential);
    stage_done("extrapolate");

    // Transfer the velocity back to the particles.
    give_back(liquid, cells, change, obstacles, ctx, ledger);
    stage_done("to_particles");

    // Second half step, with the new velocity.
    for (RigidBody& body : next.bodies) advance(body, 0.5 * dt);
    if (solids.wet) drift(next.elastics, elastic_properties(scenario, next.elastics), middle, 0.5 * dt);
    const Instant finish{end, next.bodies, solids.wet ? next.elastics : none};
    carry_liquid_on(liquid, ctx, moving_obstacles(scenario, halfway, finish), flow);
    next.time = end;
    next.step = ctx.step + 1;
    stage_done("advect");
    if (ctx.ends_frame) find_surface(next, scenario, dt);
    stage_done("surface");

    // Complete the ledger, after everything that moves particles, so that nothing escapes it.
    ledger.pushed = flow.pushed;
    close_ledger(ledger, liquid, scenario, flow.in, flow.out,
                 momentum(old.particles, old.velocity, domain, scenario.particle_mass()), dt);
    return report;
}

}  // namespace flotsam

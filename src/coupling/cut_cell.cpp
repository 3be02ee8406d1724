#include "coupling/cut_cell.h"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>

#include <functional>

#include "core/stopwatch.h"
#include "coupling/contact_response.h"
#include "coupling/grid_liquid.h"
#include "fluid/grid/advect.h"
#include "fluid/grid/extrapolate.h"
#include "fluid/grid/friction.h"
#include "fluid/grid/obstacles.h"
#include "fluid/grid/particles.h"
#include "fluid/grid/projection.h"
#include "fluid/grid/separation.h"
#include "fluid/grid/sources.h"
#include "fluid/grid/surface.h"
#include "fluid/grid/transfer.h"

namespace flotsam {

namespace {

// Solves beyond the first one in which cells may let go of solids or be filled again.
constexpr int most_separations = 8;

// How a body moves once friction has acted on it: V' = V + W (f - D (V' - V)), W its inverse mass.
Twist after_drag(const MovableBody& body, const Drag& drag) {
    using Matrix = Eigen::Matrix<double, 6, 6>;
    Matrix w = Matrix::Zero(), less;
    Eigen::Matrix<double, 6, 1> impulse;
    for (int i = 0; i < 3; ++i) {
        w(i, i) = body.inverse_mass[i];
        for (int j = 0; j < 3; ++j) w(3 + i, 3 + j) = body.inverse_inertia.row[i][j];
    }
    for (int i = 0; i < 6; ++i) {
        impulse(i) = drag.impulse[i];
        for (int j = 0; j < 6; ++j) less(i, j) = drag.less[i][j];
    }
    const Eigen::Matrix<double, 6, 1> change =
        (Matrix::Identity() + w * less).partialPivLu().solve(w * impulse);
    return {body.motion.velocity + Vec3{change(0), change(1), change(2)},
            body.motion.spin + Vec3{change(3), change(4), change(5)}};
}

// Liquid cannot start where a solid is.
void remove_inside(Particles& particles, const World& world, const Scenario& scenario) {
    if (scenario.solids.empty()) return;
    std::vector<PlacedShape> shapes;
    std::vector<Box> reach;
    for (std::size_t s = 0; s < scenario.solids.size(); ++s) {
        shapes.push_back(shape_of(world, scenario, s));
        reach.push_back(shapes.back().bounds());
    }
    const BoxIndex index(reach, scenario.domain, 0);
    std::vector<char> dead(particles.count(), 0);
    parallel_for(particles.count(), 4096, [&](std::int64_t i) {
        const Vec3 p(particles.position[i]);
        for (const int s : index.near(scenario.domain.cell_of(p)))
            if (reach[s].contains(p) && shapes[s].distance(p) <= 0) dead[i] = 1;
    });
    remove_particles(particles, dead);
}

// What the bodies received in a step that ends with `next`.
BodyLedger body_ledger(const std::vector<RigidBody>& before, const World& next,
                       const std::vector<Impulse>& contact, const std::vector<Impulse>& elastic, Vec3 gravity,
                       double dt) {
    BodyLedger ledger;
    for (std::size_t b = 0; b < before.size(); ++b) {
        const RigidBody& body = next.bodies[b];
        const Vec3 weight = gravity * (body.mass * dt), liquid = next.loads[body.solid].force * dt;
        ledger.contact.push_back(contact[b]);
        ledger.contact.back() += elastic[b];
        Vec3 rest = body.mass * (body.velocity - before[b].velocity) - weight - liquid - contact[b].linear -
                    elastic[b].linear;
        for (int a = 0; a < 3; ++a)
            if (body.locked[lock_x + a]) ledger.held[a] += rest[a], rest[a] = 0;
        ledger.gravity += weight;
        ledger.liquid += liquid;
        ledger.contacts += ledger.contact[b].linear;  // of elastic ones: what those receive is less by that
        ledger.unaccounted += rest;
    }
    return ledger;
}

// Adds what the elastic bodies received in a step that gave them the velocities of `next`.
void add_elastic(BodyLedger& ledger, const World& now, const World& next,
                 const std::vector<ElasticReceived>& all, const Scenario& scenario, double dt) {
    for (std::size_t b = 0; b < next.elastics.size(); ++b) {
        const ElasticBody& body = next.elastics[b];
        const ElasticReceived& received = all[b];
        const Vec3 weight = scenario.gravity * (body.mesh->total_mass() * dt);
        const Vec3 liquid = next.loads[body.solid].force * dt;
        Vec3 rest = momentum(body) - momentum(now.elastics[b]) - received.outside - received.damping -
                    received.contacts - liquid;
        ledger.gravity += weight;
        ledger.liquid += liquid;
        ledger.contacts += received.contacts;
        ledger.contact.push_back({received.contacts, {}});
        ledger.held += received.outside - weight + received.damping;
        if (!scenario.solids[body.solid].elastic.pins.empty()) ledger.held += rest, rest = {};
        ledger.unaccounted += rest;
    }
}

// How a body moves, seen from its pose's position.
Twist motion_of(const MovableBody& body, const Pose& pose) {
    return {body.motion.at(pose.position - body.center), body.motion.spin};
}

}  // namespace

Capabilities CutCell::capabilities() const {
    return {.liquid = true,
            .motions = {Motion::fixed, Motion::scripted, Motion::rigid, Motion::elastic},
            .wetted = {Motion::fixed, Motion::scripted, Motion::rigid, Motion::elastic},
            .open_walls = true,
            .separation = true,
            .zarifi_rules = true,
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
        const Box box = bounds(scenario.solids[body.solid].shape.mesh);
        const double v = length(body.velocity) + length(spin_of(body)) * 0.5 * length(box.high - box.low);
        dt = std::min(dt, g > 0 ? (std::sqrt(v * v + 4 * g * h) - v) / (2 * g) : v > 0 ? h / v : dt);
    }
    return dt;
}

std::shared_ptr<const MeshSurface> CutCell::surface_of(const Solid& solid, TriangleMesh mesh) {
    for (const KeptSurface& kept : kept_surfaces_)
        if (kept.solid == &solid && kept.surface->mesh().vertices == mesh.vertices) return kept.surface;
    // A step looks at its start, middle and end, and the next one begins where it ended.
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

// In two dimensions an elastic body is as thick as the slab; particles shall not see its front and back.
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

std::vector<Obstacle> CutCell::moving_obstacles(const Scenario& scenario, const Moment& from,
                                                const Moment& until) {
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

std::vector<Obstacle> CutCell::cut_obstacles(const Scenario& scenario, const Moment& from,
                                             const Moment& until, double dt) {
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
        // What bodies do is for the solve to find out.
        if (solid.motion != Motion::rigid && solid.motion != Motion::elastic)
            obstacle.motion = twist_between(obstacle.after, pose_at(solid, until.time + dt), dt);
        obstacle.underflowed = solid.motion == Motion::rigid;
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
    LiquidState& liquid = world.liquid;
    if (!within_tiles(liquid, scenario.domain)) return;
    const CellRanges cells = sort_into_cells(liquid.particles, scenario.domain, *liquid.tiling);
    const Obstacles placed =
        place_obstacles(cut_obstacles(scenario, {world.time, world.bodies, world.elastics},
                                      {world.time, world.bodies, world.elastics}, dt),
                        scenario.domain, liquid.tiling);
    liquid.open_volume = placed.open_volume;
    liquid.phi = surface_from_particles(liquid.particles, cells, scenario.domain, liquid.tiling, placed,
                                        scenario.liquid.spheres)
                     .phi;
}

void CutCell::start(World& world, const Scenario& scenario) {
    LiquidState& liquid = world.liquid;
    const Domain& domain = scenario.domain;
    world.bodies = bodies_at_start(scenario);
    world.support.assign(world.bodies.size(), {});
    liquid.particles = seed_fills(domain, scenario.liquid);
    world.elastics = elastics_at_start(scenario);
    remove_inside(liquid.particles, world, scenario);
    liquid.tiling = tiling_around(liquid.particles, domain, 6);
    liquid.potential = Field<double>(liquid.tiling, 0);
    resize_like_positions(liquid.particles, scenario.liquid.carrier);
    const CellRanges cells = sort_into_cells(liquid.particles, domain, *liquid.tiling);
    liquid.velocity = particles_to_grid(liquid.particles, cells, domain, liquid.tiling);
    if (scenario.liquid.carrier == Carrier::markers) liquid.particles.velocity.clear();
    find_surface(world, scenario, 1 / scenario.time.frames_per_second);
    world.loads.assign(scenario.solids.size(), {});
}

StepReport CutCell::step(const World& now, World& next, const StepContext& ctx) {
    const Scenario& scenario = ctx.scenario;
    const Domain& domain = scenario.domain;
    const LiquidSettings& settings = scenario.liquid;
    const LiquidState& old = now.liquid;
    LiquidState& liquid = next.liquid;
    const double mass = scenario.particle_mass(), dt = ctx.dt;
    StepReport report;
    StepLedger& ledger = report.ledger;
    Stopwatch watch;
    const auto stage_done = [&](const char* name) { report.stages.push_back({name, watch.lap()}); };

    // Half of the way with last step's velocity; some liquid comes in and some goes.  [Zarifi17 Alg. 3, 3]
    next.bodies = now.bodies;
    for (RigidBody& body : next.bodies) {
        hold_until_release(body, scenario.solids[body.solid].rigid, ctx.time);
        advance(body, 0.5 * dt);
    }
    const std::vector<RigidBody> halfway = next.bodies;
    // Elastic bodies without liquid go all the way; what they do to rigid ones is among the forces on those.
    //                                                                                 [Alg. 2]
    std::vector<Impulse> pressed(now.bodies.size());
    std::vector<ElasticReceived> received;
    const bool wet = !settings.fills.empty() || !settings.emitters.empty();
    const std::vector<const ElasticProperties*> elastic = elastic_properties(scenario, now.elastics);
    const bool wet_elastic = wet && !now.elastics.empty();
    if (wet_elastic) {  //                                                             [Alg. 4, 1]
        next.elastics = now.elastics;
        drift(next.elastics, elastic, ctx.time, 0.5 * dt);
    } else if (!now.elastics.empty()) {
        ElasticReport alone = elastic_.step(now, next, ctx, pressed);
        report.elastic_iterations = alone.solver_iterations;
        report.newton_steps = alone.newton_steps;
        report.disagreement.newton = alone.disagreement;
        if (!alone.solved) return report.reject("the elastic solve did not converge");
        received = std::move(alone.received);
        stage_done("elastic");
    }
    const double middle = ctx.time + 0.5 * dt, end = ctx.time + dt;
    const std::vector<ElasticBody> none, elastic_halfway = wet_elastic ? next.elastics : none;
    std::vector<Obstacle> solids =
        cut_obstacles(scenario, {ctx.time, now.bodies, wet_elastic ? now.elastics : none},
                      {middle, halfway, elastic_halfway}, dt);
    // Where nothing comes or goes, what particles carry is copied only once, when they are sorted.
    const bool closed = settings.emitters.empty() && settings.sinks.empty() && !domain.any_open();
    if (closed)
        liquid.particles.position = old.particles.position;
    else
        liquid.particles = old.particles;
    ledger.pushed = advance_particles(liquid.particles, old.velocity, domain, 0.5 * dt, solids);
    Exchange out, in;
    if (!closed) {
        out = drain(liquid.particles, old.velocity, domain, settings, ctx.time);
        in = emit(liquid.particles, domain, settings, ctx.time, dt, middle, solids);
    }
    const int margin = velocity_margin(largest_speed(old, domain), dt, domain.h);
    liquid.tiling = tiling_around(liquid.particles, domain, margin + 2);
    const CellRanges cells =
        sort_into_cells(liquid.particles, domain, *liquid.tiling, closed ? &old.particles : nullptr);
    stage_done("advect");

    // Where do the solids cut the grid now?                                           [Section 4.4.1]
    Obstacles obstacles = place_obstacles(std::move(solids), domain, liquid.tiling);
    liquid.open_volume = obstacles.open_volume;
    stage_done("cut");

    // Velocity on the faces, from the particles or carried along itself.              [Alg. 3, 4]
    const bool markers = settings.carrier == Carrier::markers;
    liquid.velocity = markers ? advect_velocity(old.velocity, domain, liquid.tiling, dt)
                              : particles_to_grid(liquid.particles, cells, domain, liquid.tiling);
    if (markers) impose_emitters(liquid.velocity, domain, settings, ctx.time, dt);
    const MacGrid carried = settings.carrier == Carrier::flip ? liquid.velocity : MacGrid{};
    const Vec3 momentum_before = momentum(old.particles, old.velocity, domain, mass);
    stage_done("to_grid");

    // Where is the surface now?                                                 [Alg. 3, 8; Section 4.5]
    Surface surface =
        surface_from_particles(liquid.particles, cells, domain, liquid.tiling, obstacles, settings.spheres);
    const Field<double> crowding = crowding_source(surface, domain, crowding_time(scenario, dt));
    liquid.phi = std::move(surface.phi);
    Field<double> solved_phi = liquid.phi;
    ledger.droplets = count_droplets(liquid.phi, cells, domain);
    include_thin_liquid(solved_phi, cells, domain, scenario.gravity, liquid.open_volume);
    close_voids(solved_phi, obstacles, domain, scenario.particle_volume() * double(liquid.particles.count()));
    stage_done("surface");

    // One solve: incompressibility, gravity and the free surface together.            [Alg. 3, 5-7 and 9]
    ledger.friction = apply_wall_friction(liquid.velocity, solved_phi, domain, settings.density, dt);
    std::vector<MovableBody> movable;
    for (const RigidBody& body : next.bodies) {
        movable.push_back({body.solid, body.center, inverse_mass(body), inverse_inertia_in_world(body),
                           twist_of(body), twist_of(body)});
        obstacles.list[body.solid].motion = motion_of(movable.back(), pose_of(body));
    }
    // Liquid sticks to solids as they move after it has pulled at them: a light ball would otherwise be spun
    // by the layer around it from side to side, ever faster.
    for (const MovableBody& body : movable)
        if (const auto drag = obstacle_drag(liquid.velocity, solved_phi, obstacles, body.obstacle,
                                            body.center, domain, settings.density, dt)) {
            MovableBody dragged = body;
            dragged.motion = after_drag(body, *drag);
            obstacles.list[body.obstacle].motion =
                motion_of(dragged, pose_of(*body_of(next.bodies, std::size_t(body.obstacle))));
        }
    std::vector<SolidImpulse> solid_friction(scenario.solids.size());
    ledger.friction += apply_obstacle_friction(liquid.velocity, solved_phi, obstacles, domain,
                                               settings.density, dt, solid_friction);
    for (std::size_t b = 0; b < movable.size(); ++b) {
        RigidBody& body = next.bodies[b];
        const SolidImpulse& rubbed = solid_friction[body.solid];
        apply_impulse(body, {scenario.gravity * (body.mass * dt) + rubbed.linear + pressed[b].linear,
                             rubbed.angular + cross(pose_of(body).position - body.center, rubbed.linear) +
                                 pressed[b].angular});
        movable[b].free = movable[b].motion = twist_of(body);
    }
    const std::vector<RigidBody> pushed = next.bodies;
    if (!pushed.empty() && !contact_shapes_) contact_shapes_.emplace(scenario.solids, scenario.joints);
    const std::vector<double> carried_along =
        carried_mass(pushed, obstacles, solved_phi, domain, settings.density);
    std::optional<ContactResponse> contacts;
    std::optional<Separation> separation;
    std::array<Field<char>, 3> changed;
    ProjectionReport projection;
    liquid.potential = old.potential;
    const MacGrid unsolved = settings.separation ? liquid.velocity : MacGrid{};
    const std::vector<MovableBody> unmoved = movable;
    int iterations = 0;
    for (int round = 0;; ++round) {
        if (!pushed.empty())
            // Before gravity: what a body at rest gains in a step is not an approach to rebound from.
            contacts.emplace(*contact_shapes_, scenario, halfway, pushed, carried_along, middle, dt);
        Field<double> phi = solved_phi;
        if (separation) separation->release(phi);
        PressureSystem system =
            pressure_system(domain, std::move(phi), scenario.gravity, settings.density, obstacles);
        if (!pushed.empty() && leave_out_slits(system, liquid.open_volume))
            system =
                pressure_system(domain, std::move(system.phi), scenario.gravity, settings.density, obstacles);
        if (wet_elastic)  //                                                            [Eq. 5.14]
            wet_elastic_.begin(scenario, now, next.elastics, halfway, middle, dt, movable);
        projection = project(
            system, crowding, dt, scenario.solver, liquid.velocity, liquid.potential, changed,
            {&movable, contacts && contacts->any() ? BodyResponse(std::ref(*contacts)) : BodyResponse{},
             wet_elastic ? &wet_elastic_ : nullptr});
        iterations = projection.solve.iterations += iterations;
        if (!settings.separation || !projection.solve.converged) break;
        if (!separation) separation.emplace(system);
        const std::int64_t changes = separation->judge(system, liquid.potential, dt, liquid.velocity, changed,
                                                       movable, wet_elastic_.equation().velocity());
        if (round == most_separations) report.disagreement.separation = changes;
        if (changes == 0 || round == most_separations) break;
        liquid.velocity = unsolved;
        movable = unmoved;
    }
    report.solve = projection.solve;
    if (wet_elastic) {
        report.newton_steps = wet_elastic_.equation().newton_steps();
        report.disagreement.newton = wet_elastic_.disagreement();
        if (wet_elastic_.equation().failed()) return report.reject("the elastic solve did not converge");
        if (scenario.time.retry && !wet_elastic_.equation().settled())
            return report.reject("the elastic solve did not settle");
    }
    if (!report.solve.converged) return report.reject("the pressure solve did not converge");
    if (projection.crusher >= 0)
        return report.give_up(
            "'" + scenario.solids[projection.crusher].name +
            "' closes on liquid that has no way out: all around it is full, and liquid does "
            "not give way.\n  Leave room for air, open a side of the domain, or let the "
            "solid stop earlier.");
    if (contacts && !projection.contacts_agreed)
        report.disagreement.contacts = contacts->disagreement(movable);
    if (wet_elastic) {
        pressed = wet_elastic_.pushed();
        for (std::size_t b = 0; b < next.elastics.size(); ++b) {
            received.push_back(wet_elastic_.equation().received(b));
            next.elastics[b].velocity = wet_elastic_.velocity(b);
            Obstacle& obstacle = obstacles.list[next.elastics[b].solid];
            Deformation deformation = *obstacle.deformation;
            deformation.velocity = skin_velocity(next.elastics[b]);
            obstacle.deformation = std::make_shared<Deformation>(std::move(deformation));
        }
    }
    report.largest_divergence = projection.largest_divergence;
    ledger.removed_volume = projection.removed_flux * dt;
    ledger.walls = projection.wall_impulse;
    next.loads = projection.loads;
    // The grid knows no position of what deforms, and has turned it about the origin.
    for (const ElasticBody& body : elastic_halfway)
        next.loads[body.solid].torque -= cross(pose_of(body).position, next.loads[body.solid].force);
    for (std::size_t s = 0; s < next.loads.size(); ++s) {
        ledger.solids -= next.loads[s].force * dt;
        next.loads[s].force += solid_friction[s].linear / dt;
        next.loads[s].torque += solid_friction[s].angular / dt;
    }
    for (std::size_t b = 0; b < movable.size(); ++b) {
        RigidBody& body = next.bodies[b];
        body.velocity = movable[b].motion.velocity;
        set_spin(body, movable[b].motion.spin);
        obstacles.list[body.solid].motion = motion_of(movable[b], pose_of(body));
    }
    if (contacts) {
        ledger.bodies = body_ledger(now.bodies, next, contacts->given(), pressed, scenario.gravity, dt);
        next.support.clear();
        for (std::size_t b = 0; b < pressed.size(); ++b)
            next.support.push_back({pressed[b], contacts->given()[b]});
        contacts->repair(next.bodies);
    }
    add_elastic(ledger.bodies, now, next, received, scenario, dt);
    stage_done("pressure");
    if (!all_finite(liquid.velocity)) return report.reject("the velocity is not a number");

    // Continue the velocity into the air around the liquid.                           [Alg. 3, 10]
    forget_slits(changed, obstacles, domain);
    MacGrid change = carried;
    for (int axis = 0; axis < 3; ++axis) {
        const Int3 faces = domain.cells + unit(axis);
        if (!change[axis].empty()) {
            for_each_cell(*liquid.tiling, faces, [&](Int3, std::int64_t n) {
                change[axis][n] = changed[axis][n] ? liquid.velocity[axis][n] - carried[axis][n] : 0;
            });
            Field<char> known = changed[axis];
            extrapolate(change[axis], known, faces, 2);
        }
        extrapolate(liquid.velocity[axis], changed[axis], faces, margin);
    }
    constrain_velocity(liquid.velocity, obstacles, domain, separation ? &separation->free() : nullptr);
    stage_done("extrapolate");

    // And give it back to the particles.
    if (settings.carrier == Carrier::apic)
        grid_to_particles_apic(liquid.particles, cells, liquid.velocity, domain);
    if (settings.carrier == Carrier::flip)
        grid_to_particles_flip(liquid.particles, cells, liquid.velocity, change, domain, settings.flip_share);
    if (settings.reseed)
        ledger.reseeded = reseed(liquid.particles, cells, domain, settings, liquid.phi, obstacles,
                                 liquid.velocity, ctx.step);
    stage_done("to_particles");

    // The other half of the way, with the new velocity.
    for (RigidBody& body : next.bodies) advance(body, 0.5 * dt);
    if (wet_elastic) drift(next.elastics, elastic, middle, 0.5 * dt);
    const std::vector<Obstacle> onwards = moving_obstacles(
        scenario, {middle, halfway, elastic_halfway}, {end, next.bodies, wet_elastic ? next.elastics : none});
    if (settings.carrier == Carrier::apic)
        ledger.pushed += advance_by_own_velocity(liquid.particles, domain, 0.5 * dt, onwards);
    else
        ledger.pushed += advance_particles(liquid.particles, liquid.velocity, domain, 0.5 * dt, onwards);
    if (domain.any_open()) out += drain(liquid.particles, liquid.velocity, domain, settings, middle);
    next.time = end;
    next.step = ctx.step + 1;
    stage_done("advect");
    if (ctx.ends_frame) find_surface(next, scenario, dt);
    stage_done("surface");

    // What changed hands. All that moved the particles comes before this, so that nothing escapes the ledger.
    ledger.particles_in = in.count;
    ledger.particles_out = out.count;
    ledger.inflow = mass * in.velocity_sum;
    ledger.outflow = mass * out.velocity_sum;
    ledger.gravity = scenario.gravity * (mass * double(liquid.particles.count()) * dt);
    ledger.unaccounted = momentum(liquid.particles, liquid.velocity, domain, mass) - momentum_before -
                         ledger.gravity - ledger.walls - ledger.solids - ledger.friction - ledger.inflow +
                         ledger.outflow;
    return report;
}

}  // namespace flotsam

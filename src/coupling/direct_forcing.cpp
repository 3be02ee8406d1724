#include "coupling/direct_forcing.h"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>

#include "core/stopwatch.h"
#include "fluid/grid/obstacles.h"
#include "fluid/grid/particles.h"
#include "fluid/grid/surface.h"
#include "fluid/grid/transfer.h"
#include "fluid/sph/sph_seed.h"
#include "solid/rigid/solve_contacts.h"

namespace flotsam {

namespace {

constexpr std::int64_t grain = 1024;

// The highest speed that a scene's liquid and solids can reach by falling through the domain, or have from
// the start [m/s].
double expected_speed(const Scenario& scenario) {
    const Vec3 size = scenario.domain.size(), g = scenario.gravity;
    double highest = 0;
    const auto falls = [&](const Box& box, Vec3 velocity) {
        double potential = 0.5 * dot(velocity, velocity);
        for (int axis = 0; axis < 3; ++axis)
            potential +=
                std::abs(g[axis]) * (g[axis] < 0 ? std::clamp(box.high[axis], 0.0, size[axis])
                                                 : size[axis] - std::clamp(box.low[axis], 0.0, size[axis]));
        highest = std::max(highest, std::sqrt(2 * potential));
    };
    for (const Fill& fill : scenario.liquid.fills) falls(fill.region->bounds(), fill.velocity);
    for (const Solid& solid : scenario.solids) {
        if (solid.motion == Motion::rigid) falls(shape_at(solid, 0).bounds(), solid.rigid.velocity);
        if (solid.motion == Motion::scripted)
            highest = std::max(highest, largest_speed(solid, 0, scenario.time.duration));
    }
    return highest > 0 ? highest : 1;  // where nothing moves anything will do
}

// A solid as particles meet it in a step.
struct MovingSurface {
    const SampledSurface* samples;
    Pose before, after;
    Box reach;  // of particles that may touch it
};

MovingSurface moving_surface(const SampledSurface& samples, const Pose& before, const Pose& after) {
    const Box box = samples.bounds();
    const Vec3 middle = after.to_world(0.5 * (box.low + box.high));
    Vec3 half;
    for (int axis = 0; axis < 3; ++axis) {
        const Vec3 row = after.rotation.row[axis], extent = 0.5 * (box.high - box.low);
        half[axis] = std::abs(row.x) * extent.x + std::abs(row.y) * extent.y + std::abs(row.z) * extent.z;
    }
    return {&samples, before, after, {middle - half, middle + half}};
}

// Where a particle that moves from `from` to `to` touches a surface, in world coordinates.
std::optional<SurfaceSample> touched(const MovingSurface& surface, Vec3 from, Vec3 to, bool flat) {
    if (!surface.reach.contains(to)) return {};
    Vec3 p = surface.after.to_body(to), before = surface.before.to_body(from);
    if (flat) p.z = before.z = 0;
    std::optional<SurfaceSample> sample = surface.samples->touched(p, before);
    if (!sample) return {};
    sample->point = surface.after.to_world(sample->point);
    sample->normal = surface.after.rotation * sample->normal;
    if (flat) sample->point.z = to.z;
    return sample;
}

// Calls body(side, point, normal) for the closed walls that a particle at p is nearer to than `radius`.
template <class Body>
void for_each_wall(const Domain& domain, Vec3 p, double radius, const Body& body) {
    for (int side = 0; side < (domain.flat() ? 4 : 6); ++side) {
        if (domain.open(side)) continue;
        const int axis = side / 2;
        const double wall = side % 2 ? domain.size()[axis] : 0;
        const double distance = side % 2 ? wall - p[axis] : p[axis];
        if (distance >= radius) continue;
        Vec3 point = p;
        point[axis] = wall;
        body(side, point, Vec3(unit(axis)) * (side % 2 ? -1.0 : 1.0));
    }
}

// Where particles at `to` touch walls and solids, in the order of the particles.
std::vector<BoundaryContact> find_contacts(const SphLiquid& before, const std::vector<Vec3>& to,
                                           const std::vector<MovingSurface>& surfaces, const Domain& domain,
                                           double radius) {
    std::vector<std::vector<BoundaryContact>> blocks((to.size() + grain - 1) / grain);
    parallel_blocks(std::int64_t(to.size()), grain, [&](std::int64_t begin, std::int64_t end) {
        std::vector<BoundaryContact>& found = blocks[begin / grain];
        for (std::int64_t i = begin; i < end; ++i) {
            for (std::size_t s = 0; s < surfaces.size(); ++s)
                if (const auto sample = touched(surfaces[s], before.position[i], to[i], domain.flat())) {
                    BoundaryContact& contact = found.emplace_back();
                    contact.particle = std::int32_t(i);
                    contact.surface = std::int32_t(s);
                    contact.point = sample->point;
                    contact.normal = sample->normal;
                }
            for_each_wall(domain, to[i], radius, [&](int side, Vec3 point, Vec3 normal) {
                BoundaryContact& contact = found.emplace_back();
                contact.particle = std::int32_t(i);
                contact.surface = BoundaryContact::no_solid - side;
                contact.point = point;
                contact.normal = normal;
            });
        }
    });
    std::vector<BoundaryContact> contacts;
    for (const auto& block : blocks) contacts.insert(contacts.end(), block.begin(), block.end());
    return contacts;
}

// The share of each particle's kernel that no wall or solid covers [Becker09 Eq. 2]: each is taken as a plane
// at its distance, and several as if they stood at right angles.
std::vector<float> open_shares(const std::vector<Vec3>& position, const std::vector<PlacedShape>& solids,
                               const Domain& domain, const KernelBeyondPlane& beyond, double support) {
    std::vector<Box> reach;
    for (const PlacedShape& solid : solids) {
        const Box box = solid.bounds();
        const Vec3 room = Vec3{1, 1, 1} * support;
        reach.push_back({box.low - room, box.high + room});
    }
    const Vec3 size = domain.size();
    std::vector<float> open(position.size());
    parallel_for(std::int64_t(position.size()), grain, [&](std::int64_t i) {
        const Vec3 p = position[i];
        double share = 1;
        for (int side = 0; side < (domain.flat() ? 4 : 6); ++side)
            if (!domain.open(side)) {
                const double distance = side % 2 ? size[side / 2] - p[side / 2] : p[side / 2];
                if (distance < support) share *= 1 - beyond(distance);
            }
        for (std::size_t s = 0; s < solids.size(); ++s)
            if (reach[s].contains(p))
                if (const double distance = solids[s].distance(p); distance < support)
                    share *= 1 - beyond(distance);
        // In a narrow gap nearly nothing is open; a particle there must not count for many.
        open[i] = float(std::max(share, 0.2));
    });
    return open;
}

// Moves particles out of walls and solids, along the normals [Becker09 Eq. 19, 20].
void push_out(const std::vector<Vec3>& from, std::vector<Vec3>& position,
              const std::vector<MovingSurface>& surfaces, const Domain& domain, double radius) {
    constexpr int most_rounds = 8;  // in a narrowing gap there is no place that is far enough from both sides
    parallel_for(std::int64_t(position.size()), grain, [&](std::int64_t i) {
        for (int round = 0; round < most_rounds; ++round) {
            bool moved = false;
            for (const MovingSurface& surface : surfaces)
                if (const auto sample = touched(surface, from[i], position[i], domain.flat())) {
                    // As far as rounding lets it be seen: otherwise it would touch again.
                    const double off = dot(position[i] - sample->point, sample->normal);
                    position[i] += sample->normal * (radius * (1 + 1e-9) - off);
                    moved = true;
                }
            for_each_wall(domain, position[i], radius, [&](int, Vec3 point, Vec3 normal) {
                for (int axis = 0; axis < 3; ++axis)
                    if (normal[axis] != 0) position[i][axis] = point[axis] + radius * normal[axis];
            });
            if (!moved) break;
        }
    });
}

ContactWalls contact_walls(const Domain& domain) {
    ContactWalls walls{{{}, domain.size()}, {}};
    for (int side = 0; side < 6; ++side)
        walls.closed[side] = !domain.open(side) && !(domain.flat() && side / 2 == 2);
    return walls;
}

Vec3 momentum(const SphLiquid& liquid, double mass) {
    return mass *
           fixed_sum<Vec3>(liquid.count(), grain, [&](std::int64_t i) { return Vec3(liquid.velocity[i]); });
}

// The particles as the rest of the program knows them.
void show_particles(const SphLiquid& sph, Particles& particles) {
    particles.position.resize(sph.position.size());
    particles.velocity = sph.velocity;
    parallel_for(sph.count(), grain, [&](std::int64_t i) { particles.position[i] = Vec3f(sph.position[i]); });
}

// Surface, velocity and pressure on the grid, for files, pictures and probes. The method itself needs no
// grid.
void fill_grid(World& world, const Scenario& scenario, const SphModel& model) {
    LiquidState& liquid = world.liquid;
    const Domain& domain = scenario.domain;
    liquid.tiling = tiling_around(liquid.particles, domain, 4);
    const CellRanges cells = sort_into_cells(liquid.particles, domain, *liquid.tiling);
    std::vector<Obstacle> list;
    for (std::size_t s = 0; s < scenario.solids.size(); ++s) {
        const Pose pose = pose_of(world, scenario, s);
        list.push_back({.shape = scenario.solids[s].shape.distance,
                        .before = pose,
                        .after = pose,
                        .slip = 1,
                        .motion = {},
                        .cut = std::make_shared<CutSolid>(
                            cut_solid(mesh_of(world, scenario, s), domain.cells, domain.h, {}))});
    }
    const Obstacles placed = place_obstacles(std::move(list), domain, liquid.tiling);
    liquid.open_volume = placed.open_volume;
    liquid.phi = surface_from_particles(liquid.particles, cells, domain, liquid.tiling, placed).phi;
    liquid.velocity = particles_to_grid(liquid.particles, cells, domain, liquid.tiling);

    // The mean of p + rho g y in each cell.
    liquid.potential = Field<double>(liquid.tiling, 0);
    for (std::int64_t i = 0; i < world.sph.count(); ++i) {
        const Vec3 p = world.sph.position[i];
        const std::int64_t n = liquid.tiling->find(domain.cell_of(Vec3(Vec3f(p))));
        if (n < 0) continue;
        liquid.potential[n] += (liquid_pressure(model, world.sph.density[i]) -
                                scenario.liquid.density * dot(scenario.gravity, p)) /
                               std::max(1, cells.count(n));
    }
}

// What the bodies received in a step that ends with `next`.
BodyLedger body_ledger(const std::vector<RigidBody>& before, const World& next, std::vector<Impulse> contact,
                       Vec3 gravity, double dt) {
    BodyLedger ledger;
    for (std::size_t b = 0; b < before.size(); ++b) {
        const RigidBody& body = next.bodies[b];
        const Vec3 weight = gravity * (body.mass * dt), liquid = next.loads[body.solid].force * dt;
        Vec3 rest = body.mass * (body.velocity - before[b].velocity) - weight - liquid - contact[b].linear;
        for (int a = 0; a < 3; ++a)
            if (body.locked[lock_x + a]) ledger.held[a] += rest[a], rest[a] = 0;
        ledger.gravity += weight;
        ledger.liquid += liquid;
        ledger.contacts += contact[b].linear;
        ledger.unaccounted += rest;
    }
    ledger.contact = std::move(contact);
    return ledger;
}

Mat3 cross_matrix(Vec3 r) { return {{Vec3{0, -r.z, r.y}, Vec3{r.z, 0, -r.x}, Vec3{-r.y, r.x, 0}}}; }

// How all contacts of a body together change its motion [Becker09 Eq. 18], with the change of velocity and
// spin as unknowns; what is locked has none. `arms` and `changes`: r_i and v^_i of the contacts.
Twist global_change(const RigidBody& body, const std::vector<Vec3>& arms, const std::vector<Vec3>& changes,
                    double particle_mass) {
    Eigen::Matrix<double, 6, 6> a = Eigen::Matrix<double, 6, 6>::Zero();
    Eigen::Matrix<double, 6, 1> b = Eigen::Matrix<double, 6, 1>::Zero();
    const Mat3 inertia = inertia_in_world(body);
    for (int i = 0; i < 3; ++i) {
        a(i, i) = body.mass;
        for (int j = 0; j < 3; ++j) a(3 + i, 3 + j) = inertia.row[i][j];
    }
    for (std::size_t n = 0; n < arms.size(); ++n) {
        const Mat3 r = cross_matrix(arms[n]), square = r * r.transposed();
        const Vec3 moment = cross(arms[n], changes[n]);
        for (int i = 0; i < 3; ++i) {
            a(i, i) += particle_mass;
            for (int j = 0; j < 3; ++j) {
                a(3 + i, j) += particle_mass * r.row[i][j];
                a(i, 3 + j) += particle_mass * r.row[j][i];
                a(3 + i, 3 + j) += particle_mass * square.row[i][j];
            }
            b(i) -= particle_mass * changes[n][i];
            b(3 + i) -= particle_mass * moment[i];
        }
    }
    for (int i = 0; i < 6; ++i)
        if (body.locked[i]) {
            a.row(i).setZero();
            a.col(i).setZero();
            a(i, i) = 1;
            b(i) = 0;
        }
    const Eigen::Matrix<double, 6, 1> x = a.ldlt().solve(b);
    return {{x(0), x(1), x(2)}, {x(3), x(4), x(5)}};
}

// A velocity changed, as single precision holds it. Not inlined: where g++ 12 vectorises over x, y and z it
// leaves out the rounding between the conversions to float and back, and the body would receive another
// impulse than the particle gives.
[[gnu::noinline]] Vec3f changed(Vec3f v, Vec3 by) { return Vec3f(Vec3(v) + by); }

// The impulse that gives a single contact its change of relative velocity [Becker09 Eq. 12].
Vec3 local_impulse(const RigidBody& body, const Mat3& inverse_inertia, Vec3 arm, Vec3 change,
                   double particle_mass) {
    const Mat3 r = cross_matrix(arm);
    const Vec3 particle = Vec3{1, 1, 1} / particle_mass;
    return (Mat3::diagonal(particle + inverse_mass(body)) + r * inverse_inertia * r.transposed()).inverse() *
           change;
}

}  // namespace

Vec3 wanted_velocity(const BoundaryContact& contact, Vec3 v) {
    const double leaving = dot(v, contact.normal);
    const Vec3 along = v - leaving * contact.normal;
    return contact.slip * along + std::max(leaving, contact.least_leaving) * contact.normal;
}

void respond(const std::vector<BoundaryContact>& contacts, std::vector<Vec3f>& velocity,
             std::vector<RigidBody>& bodies, double particle_mass, BoundaryResponse response,
             FunctionRef<void(const BoundaryContact&, Vec3)> on_surface) {
    bool several = false;
    for (std::size_t n = 1; n < contacts.size(); ++n)
        several = several || contacts[n].particle == contacts[n - 1].particle;
    std::vector<std::vector<std::size_t>> of_body(bodies.size());
    for (std::size_t n = 0; n < contacts.size(); ++n)
        if (contacts[n].body >= 0) of_body[contacts[n].body].push_back(n);

    const int rounds = several ? 4 : 1;
    for (int round = 0; round < rounds; ++round) {
        // Friction acts once; what follows only keeps normal velocities apart.
        const auto change_wanted = [&](const BoundaryContact& contact, Vec3 v) {
            BoundaryContact again = contact;
            if (round > 0) again.slip = 1;
            return wanted_velocity(again, v) - v;
        };
        for (std::size_t b = 0; b < bodies.size(); ++b) {
            if (of_body[b].empty()) continue;
            RigidBody& body = bodies[b];
            const Twist motion = twist_of(body);
            std::vector<Vec3> arms, changes;
            for (const std::size_t n : of_body[b]) {
                arms.push_back(contacts[n].point - body.center);
                changes.push_back(change_wanted(
                    contacts[n], Vec3(velocity[contacts[n].particle]) - motion.at(arms.back())));
            }
            Impulse total;
            const bool global = response == BoundaryResponse::global;
            const Twist change = global ? global_change(body, arms, changes, particle_mass) : Twist{};
            const Mat3 inverse_inertia = inverse_inertia_in_world(body);
            for (std::size_t n = 0; n < arms.size(); ++n) {
                const BoundaryContact& contact = contacts[of_body[b][n]];
                // h F_i                                                                  [Eq. 17 or 12]
                const Vec3 wanted =
                    global ? particle_mass * (changes[n] + change.at(arms[n]))
                           : local_impulse(body, inverse_inertia, arms[n], changes[n], particle_mass);
                // What the particle takes after rounding is what the body gives.         [Eq. 10]
                Vec3f& v = velocity[contact.particle];
                const Vec3f before = v;
                v = changed(v, wanted / particle_mass);
                const Vec3 impulse = particle_mass * (Vec3(v) - Vec3(before));
                total += {-impulse, -cross(arms[n], impulse)};  //                        [Eq. 13, 14]
                on_surface(contact, -impulse);
            }
            apply_impulse(body, total);
        }
        for (const BoundaryContact& contact : contacts) {
            if (contact.body >= 0) continue;
            Vec3f& v = velocity[contact.particle];
            const Vec3f before = v;
            v = changed(v, change_wanted(contact, Vec3(v) - contact.surface_velocity));
            on_surface(contact, particle_mass * (Vec3(before) - Vec3(v)));  //            [Eq. 21, 22]
        }
    }
}

SphModel sph_model(const Scenario& scenario) {
    const Domain& domain = scenario.domain;
    const SphSettings& settings = scenario.liquid.sph;
    // Mach 0.1: the density changes by about one part in a hundred.
    const double sound =
        settings.speed_of_sound > 0 ? settings.speed_of_sound : 10 * expected_speed(scenario);
    SphModel model = make_sph_model(domain.flat(), domain.h / domain.particles_per_edge, domain.h,
                                    scenario.liquid.density, sound, settings.artificial_viscosity);
    if (scenario.liquid.viscosity > 0)
        model.alpha =
            alpha_of_viscosity(model, domain.flat(), scenario.liquid.viscosity / scenario.liquid.density);
    return model;
}

Capabilities DirectForcing::capabilities() const {
    return {.liquid = true,
            .carriers = {Carrier::sph},
            .motions = {Motion::fixed, Motion::scripted, Motion::rigid},
            .viscosity = true,
            .sources = false,
            .animated_meshes = false,
            .compressible = true};
}

DirectForcing::Prepared& DirectForcing::prepare(const Scenario& scenario) {
    if (prepared_) return *prepared_;
    const Domain& domain = scenario.domain;
    const SphModel model = sph_model(scenario);
    std::vector<SampledSurface> surfaces;
    for (const Solid& solid : scenario.solids)
        surfaces.emplace_back(sample_surface(solid.shape, 0.5 * model.radius(), domain.flat()),
                              model.radius());
    prepared_ = Prepared{model,
                         SphCells(domain.size(), model.kernel.support(), domain.flat()),
                         {},
                         KernelBeyondPlane(model.kernel, domain.flat()),
                         std::move(surfaces),
                         ContactShapes(scenario.solids, scenario.joints)};
    return *prepared_;
}

double DirectForcing::stable_dt(const World& world, const Scenario& scenario) const {
    const SphModel model = sph_model(scenario);
    double speed = parallel_max(world.sph.count(), 4096, 0,
                                [&](std::int64_t i) { return length(Vec3(world.sph.velocity[i])); });
    double solids = 0;
    for (const RigidBody& body : world.bodies) {
        const Box box = bounds(scenario.solids[body.solid].shape.mesh);
        solids = std::max(solids,
                          length(body.velocity) + length(spin_of(body)) * 0.5 * length(box.high - box.low));
    }
    for (const Solid& solid : scenario.solids)
        solids = std::max(solids,
                          largest_speed(solid, world.time, world.time + 1 / scenario.time.frames_per_second));
    speed += solids;
    const double dt = sound_dt(model);
    // Nothing comes nearer than half a diameter in a step; the paper asks for one [Section 5.6].
    return speed > 0 ? std::min(dt, 0.5 * model.spacing / speed) : dt;
}

void DirectForcing::start(World& world, const Scenario& scenario) {
    const Prepared& prepared = prepare(scenario);
    const Domain& domain = scenario.domain;
    const SphModel& model = prepared.model;
    world.bodies = bodies_at_start(scenario);
    world.sph = seed_sph(domain, scenario.liquid, model, scenario.gravity);
    // Liquid cannot start where a solid is. Particles that are in its way by less than half of their radius
    // are moved aside: without them a gap of up to a particle would open around it.
    std::vector<char> dead(world.sph.count(), 0);
    std::vector<MovingSurface> surfaces;
    for (std::size_t s = 0; s < scenario.solids.size(); ++s) {
        const PlacedShape shape = shape_at(scenario.solids[s], 0);
        surfaces.push_back(moving_surface(prepared.surfaces[s], shape.pose, shape.pose));
        parallel_for(world.sph.count(), grain, [&](std::int64_t i) {
            if (surfaces[s].reach.contains(world.sph.position[i]) ||
                shape.bounds().contains(world.sph.position[i]))
                dead[i] = dead[i] || shape.distance(world.sph.position[i]) < 0.5 * model.radius();
        });
    }
    remove_particles(world.sph, dead);
    const std::vector<Vec3> from = world.sph.position;
    push_out(from, world.sph.position, surfaces, domain, model.radius());
    world.loads.assign(scenario.solids.size(), {});
    show_particles(world.sph, world.liquid.particles);
    fill_grid(world, scenario, model);
}

StepReport DirectForcing::step(const World& now, World& next, const StepContext& ctx) {
    const Scenario& scenario = ctx.scenario;
    const Domain& domain = scenario.domain;
    const double dt = ctx.dt;
    Prepared& prepared = prepare(scenario);
    const SphModel& model = prepared.model;
    const double mass = model.particle_mass;
    StepReport report;
    report.solve.converged = true;
    StepLedger& ledger = report.ledger;
    Stopwatch watch;
    const auto stage_done = [&](const char* name) { report.stages.push_back({name, watch.lap()}); };

    // Which particles are neighbours?                                                   [Alg. 1, 1]
    SphLiquid& liquid = next.sph;
    SphColumns& columns = prepared.columns;
    sort_by_cell(now.sph, prepared.cells, liquid);
    fill_columns(liquid, model, columns);
    stage_done("neighbours");

    // Forces on the liquid and on bodies.                                               [Alg. 1, 2; Eq. 2-6]
    std::vector<PlacedShape> shapes;
    for (std::size_t s = 0; s < scenario.solids.size(); ++s) shapes.push_back(shape_of(now, scenario, s));
    find_density(liquid, columns, prepared.cells, model,
                 open_shares(liquid.position, shapes, domain, prepared.beyond, model.kernel.support()));
    pair_accelerations(liquid, columns, prepared.cells, model);
    stage_done("forces");

    // Both go where they would without each other: x*, v*.                              [Alg. 1, 3]
    const Vec3 momentum_before = momentum(liquid, mass);
    std::vector<Vec3f> velocity(liquid.count());
    std::vector<Vec3> position(liquid.count());
    parallel_for(liquid.count(), grain, [&](std::int64_t i) {
        const Vec3 v = Vec3(liquid.velocity[i]) + dt * (Vec3(columns.acceleration(i)) + scenario.gravity);
        velocity[i] = Vec3f(v);
        position[i] = liquid.position[i] + dt * Vec3(velocity[i]);
    });
    next.bodies = now.bodies;
    for (RigidBody& body : next.bodies) {
        hold_until_release(body, scenario.solids[body.solid].rigid, ctx.time);
        apply_impulse(body, {scenario.gravity * (body.mass * dt), {}});
    }
    std::vector<RigidBody> predicted = next.bodies;
    for (RigidBody& body : predicted) advance(body, dt);
    stage_done("predict");

    // Where do they touch?                                                              [Alg. 1, 4]
    std::vector<int> body_number(scenario.solids.size(), -1);
    for (std::size_t b = 0; b < next.bodies.size(); ++b) body_number[next.bodies[b].solid] = int(b);
    const auto surfaces_with = [&](const std::vector<RigidBody>& after) {
        std::vector<MovingSurface> surfaces;
        for (std::size_t s = 0; s < scenario.solids.size(); ++s)
            surfaces.push_back(moving_surface(prepared.surfaces[s],
                                              pose_of(scenario, now.bodies, ctx.time, s),
                                              pose_of(scenario, after, ctx.time + dt, s)));
        return surfaces;
    };
    const std::vector<MovingSurface> surfaces = surfaces_with(predicted);
    std::vector<BoundaryContact> contacts = find_contacts(liquid, position, surfaces, domain, model.radius());
    const double steps_per_frame = 1.0 / 24 / dt;  // slip is what is left after 1/24 s
    for (BoundaryContact& contact : contacts) {
        const bool wall = contact.surface <= BoundaryContact::no_solid;
        const int side = BoundaryContact::no_solid - contact.surface;
        const double slip = wall ? domain.walls[side].slip : scenario.solids[contact.surface].slip;
        contact.slip = slip == 1 ? 1 : std::pow(slip, 1 / steps_per_frame);
        if (wall) continue;
        const Solid& solid = scenario.solids[contact.surface];
        const MovingSurface& surface = surfaces[contact.surface];
        contact.body = body_number[contact.surface];
        Vec3 velocity_now;  // of the contact point, before the step
        if (contact.body >= 0) {
            const RigidBody& body = now.bodies[contact.body];
            velocity_now = twist_of(body).at(contact.point - body.center);
        } else if (solid.motion == Motion::scripted) {
            const Twist motion = twist_between(surface.before, surface.after, dt);
            contact.surface_velocity = motion.at(contact.point - surface.after.position);
            velocity_now = contact.surface_velocity;
        }
        const double approach = dot(velocity_now - Vec3(liquid.velocity[contact.particle]), contact.normal);
        contact.least_leaving = solid.liquid_restitution * std::max(0.0, approach);
    }
    stage_done("contacts");

    // Control forces, equal and opposite, for the velocities wanted there.              [Alg. 1, 5; Eq. 7-18]
    next.loads.assign(scenario.solids.size(), {});
    respond(contacts, velocity, next.bodies, mass, scenario.liquid.sph.response,
            [&](const BoundaryContact& contact, Vec3 received) {
                const Vec3 normal = dot(received, contact.normal) * contact.normal;
                ledger.friction -= received - normal;
                if (contact.surface <= BoundaryContact::no_solid) {
                    ledger.walls -= normal;
                    return;
                }
                ledger.solids -= normal;
                SolidLoad& load = next.loads[contact.surface];
                load.force += received / dt;
                load.torque += cross(contact.point - surfaces[contact.surface].after.position, received) / dt;
            });
    // Bodies that touch each other or walls.
    std::vector<Impulse> body_contacts(next.bodies.size());
    if (!next.bodies.empty()) {
        const std::vector<PlacedSolid> placed = place_solids(scenario.solids, now.bodies, ctx.time, dt);
        const std::vector<Contact> found = prepared.contact_shapes.find(placed, contact_walls(domain), dt,
                                                                        length(scenario.gravity) * dt * dt);
        const ContactImpulses impulses = solve_contacts(next.bodies, placed, found, scenario.joints, dt);
        apply_impulses(next.bodies, impulses);
        body_contacts = impulses.on_body;
        ledger.bodies = body_ledger(now.bodies, next, body_contacts, scenario.gravity, dt);
        repair_positions(next.bodies, placed, found, scenario.joints);
    }
    stage_done("couple");

    // With those velocities all the way, and out of what is still in the way.           [Alg. 1, 6-9; Eq. 19,
    // 20]
    for (RigidBody& body : next.bodies) advance(body, dt);
    parallel_for(liquid.count(), grain,
                 [&](std::int64_t i) { position[i] = liquid.position[i] + dt * Vec3(velocity[i]); });
    push_out(liquid.position, position, surfaces_with(next.bodies), domain, model.radius());
    liquid.position.swap(position);
    liquid.velocity.swap(velocity);
    stage_done("move");

    const double fastest = parallel_max(liquid.count(), grain, 0, [&](std::int64_t i) {
        const Vec3 v(liquid.velocity[i]);
        return std::isfinite(dot(v, v)) ? length(v) : 1e300;
    });
    if (fastest == 1e300) return report.reject("the velocity is not a number");
    if (fastest > model.sound_speed) return report.reject("the liquid is faster than its sound");

    next.time = ctx.time + dt;
    next.step = ctx.step + 1;
    next.liquid = now.liquid;
    show_particles(liquid, next.liquid.particles);
    if (ctx.ends_frame) fill_grid(next, scenario, model);
    stage_done("surface");

    ledger.gravity = scenario.gravity * (mass * double(liquid.count()) * dt);
    ledger.unaccounted = momentum(liquid, mass) - momentum_before - ledger.gravity - ledger.walls -
                         ledger.solids - ledger.friction;
    return report;
}

}  // namespace flotsam

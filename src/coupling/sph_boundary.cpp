#include "coupling/sph_boundary.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fluid/grid/obstacles.h"
#include "fluid/grid/particles.h"
#include "fluid/grid/surface.h"
#include "fluid/grid/transfer.h"
#include "fluid/sph/sph_seed.h"
#include "solid/rigid/solve_contacts.h"
#include "world/expected.h"
#include "world/near_solids.h"

namespace flotsam {

namespace {

constexpr std::int64_t grain = 1024;

// Concatenates what was found in blocks of particles. Reserves the exact length: growing would take three
// times the memory.
template <class Found>
std::vector<Found> joined(std::vector<std::vector<Found>>& blocks) {
    std::size_t count = 0;
    for (const auto& block : blocks) count += block.size();
    std::vector<Found> all;
    all.reserve(count);
    for (auto& block : blocks) {
        all.insert(all.end(), block.begin(), block.end());
        block = {};
    }
    return all;
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
    for (int side = 0; side < 6; ++side) {
        if (!domain.closed(side)) continue;
        const int axis = side / 2;
        const double wall = side % 2 ? domain.size()[axis] : 0;
        const double distance = side % 2 ? wall - p[axis] : p[axis];
        if (distance >= radius) continue;
        Vec3 point = p;
        point[axis] = wall;
        body(side, point, Vec3(unit(axis)) * (side % 2 ? -1.0 : 1.0));
    }
}

// The particles as the rest of the program sees them, clamped to the domain: a penalty lets some through
// walls.
void show_particles(const SphLiquid& sph, const Domain& domain, Particles& particles) {
    particles.position.resize(sph.position.size());
    particles.velocity = sph.velocity;
    const Vec3 low = Vec3{1, 1, 1} * (1e-3 * domain.h), high = domain.size() - low;
    parallel_for(sph.count(), grain, [&](std::int64_t i) {
        particles.position[i] = Vec3f(min(max(sph.position[i], low), high));
    });
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
        const std::int64_t n = liquid.tiling->find(domain.cell_of(p));
        if (n < 0) continue;
        liquid.potential[n] += (liquid_pressure(model, world.sph.density[i]) -
                                scenario.liquid.density * dot(scenario.gravity, p)) /
                               std::max(1, cells.count(n));
    }
}

}  // namespace

SphModel sph_model(const Scenario& scenario) {
    const Domain& domain = scenario.domain;
    const SphSettings& settings = scenario.sph;
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

SphSetup sph_setup(const Scenario& scenario, double touch_radii) {
    const Domain& domain = scenario.domain;
    SphSetup setup{.contact_shapes = ContactShapes(scenario.solids, scenario.joints)};
    setup.model = sph_model(scenario);
    const SphModel& model = setup.model;
    setup.touch = touch_radii * model.radius();
    setup.cells = SphCells(domain.size(), model.kernel.support(), domain.flat());
    setup.plane = PlaneCover(model);
    for (const Solid& solid : scenario.solids) {
        setup.surfaces.emplace_back(sample_surface(solid.shape, 0.5 * model.radius(), domain.flat()),
                                    setup.touch);
        setup.covers.emplace_back(*solid.shape.distance, bounds(solid.shape.mesh), model);
    }
    return setup;
}

double SphScheme::stable_dt(const World& world, const Scenario& scenario) const {
    const SphModel model = sph_model(scenario);
    double speed = parallel_max(world.sph.count(), 4096, 0,
                                [&](std::int64_t i) { return length(Vec3(world.sph.velocity[i])); });
    for (const Emitter& emitter : scenario.liquid.emitters) speed = std::max(speed, length(emitter.velocity));
    double solids = 0;
    for (const RigidBody& body : world.bodies)
        solids = std::max(solids, largest_speed(body, bounds(scenario.solids[body.solid].shape.mesh)));
    for (const Solid& solid : scenario.solids)
        solids = std::max(solids,
                          largest_speed(solid, world.time, world.time + 1 / scenario.time.frames_per_second));
    speed += solids;
    const double dt = sound_dt(model);
    // Nothing approaches by more than half a diameter in a step; the paper asks for one [Becker09 Section
    // 5.6].
    return speed > 0 ? std::min(dt, 0.5 * model.spacing / speed) : dt;
}

Capabilities SphScheme::capabilities() const {
    return {.liquid = true,
            .carriers = {Carrier::sph},
            .motions = {Motion::fixed, Motion::scripted, Motion::rigid},
            .open_walls = true,
            .viscosity = true,
            .animated_meshes = false,
            .one_way = true,
            .compressible = true};
}

SphSetup& SphScheme::setup(const Scenario& scenario) {
    if (!setup_) setup_ = sph_setup(scenario, touch_radii_);
    return *setup_;
}

void SphScheme::start(World& world, const Scenario& scenario) {
    const SphSetup& setup = this->setup(scenario);
    const Domain& domain = scenario.domain;
    const SphModel& model = setup.model;
    world.sph = seed_sph(domain, scenario.liquid, model, setup.plane, scenario.gravity);
    // Liquid cannot start where a solid is, nor pressed together around it. Particles moved aside by as
    // little as half a radius were 9 % too dense, and threw a light body out of the water. Instead a gap of
    // up to a particle is left, which closes in the first steps. Particles that overlap only by rounding are
    // moved aside.
    const NearSolids solids = solids_at_start(scenario, model.spacing);
    std::vector<char> dead(world.sph.count(), 0);
    parallel_for(world.sph.count(), grain, [&](std::int64_t i) {
        dead[i] = solids.distance(world.sph.position[i], model.spacing) < 0.99 * model.radius();
    });
    remove_particles(world.sph, dead);
    emit_sph(world.sph, scenario.liquid, domain, model, 0, 0);
    move_and_correct(world.sph, 0, {}, moving_surfaces(scenario, setup, world.bodies, world.bodies, 0, 0),
                     domain, model);
    world.loads.assign(scenario.solids.size(), {});
    show_particles(world.sph, domain, world.liquid.particles);
    fill_grid(world, scenario, model);
}

std::vector<MovingSurface> moving_surfaces(const Scenario& scenario, const SphSetup& setup,
                                           const std::vector<RigidBody>& before,
                                           const std::vector<RigidBody>& after, double time, double dt) {
    std::vector<MovingSurface> surfaces;
    for (std::size_t s = 0; s < scenario.solids.size(); ++s) {
        const Solid& solid = scenario.solids[s];
        const Pose pose = pose_of(scenario, after, time + dt, s);
        const Box box = setup.surfaces[s].bounds();
        const Vec3 middle = pose.to_world(0.5 * (box.low + box.high)), extent = 0.5 * (box.high - box.low);
        Vec3 half;
        for (int axis = 0; axis < 3; ++axis) {
            const Vec3 row = pose.rotation.row[axis];
            half[axis] = std::abs(row.x) * extent.x + std::abs(row.y) * extent.y + std::abs(row.z) * extent.z;
        }
        surfaces.push_back({&setup.surfaces[s],
                            pose_of(scenario, before, time, s),
                            pose,
                            {middle - half, middle + half},
                            solid.motion == Motion::rigid && !solid.rigid.one_way});
    }
    return surfaces;
}

std::vector<BoundaryContact> find_contacts(const SphLiquid& liquid, double dt,
                                           const std::vector<MovingSurface>& surfaces, const Domain& domain,
                                           double touch) {
    std::vector<std::vector<BoundaryContact>> blocks((liquid.count() + grain - 1) / grain);
    parallel_blocks(liquid.count(), grain, [&](std::int64_t begin, std::int64_t end) {
        std::vector<BoundaryContact>& found = blocks[begin / grain];
        const auto add = [&](std::int64_t particle, std::int32_t surface, Vec3 point, Vec3 normal) {
            BoundaryContact& contact = found.emplace_back();
            contact.particle = std::int32_t(particle);
            contact.surface = surface;
            contact.point = point;
            contact.normal = normal;
        };
        for (std::int64_t i = begin; i < end; ++i) {
            const Vec3 from = liquid.position[i], to = from + dt * Vec3(liquid.velocity[i]);
            for (std::size_t s = 0; s < surfaces.size(); ++s)
                if (const auto sample = touched(surfaces[s], from, to, domain.flat()))
                    add(i, std::int32_t(s), sample->point, sample->normal);
            for_each_wall(domain, to, touch, [&](int side, Vec3 point, Vec3 normal) {
                add(i, BoundaryContact::no_solid - side, point, normal);
            });
        }
    });
    return joined(blocks);
}

Correction move_and_correct(SphLiquid& liquid, double dt, const std::vector<BoundaryContact>& contacts,
                            const std::vector<MovingSurface>& surfaces, const Domain& domain,
                            const SphModel& model) {
    constexpr int most_rounds = 8;  // in a narrowing gap there is no place that is far enough from both sides
    const double radius = model.radius(), section = model.particle_mass / model.rest_density / model.spacing;
    std::vector<char> found(liquid.count(), dt == 0);
    for (const BoundaryContact& contact : contacts) found[contact.particle] = 1;
    return fixed_sum<Correction>(liquid.count(), grain, [&](std::int64_t i) {
        const Vec3 from = liquid.position[i], to = from + dt * Vec3(liquid.velocity[i]);
        Vec3 p = to;
        for (int round = 0; round < most_rounds; ++round) {
            bool moved = false;
            for (const MovingSurface& surface : surfaces) {
                if (!surface.yields && !found[i] && round == 0)
                    continue;  //                       [Alg. 2, 5]
                if (const auto sample = touched(surface, from, p, domain.flat())) {
                    // Slightly further than the radius: otherwise rounding would let it touch again.
                    p += sample->normal * (radius * (1 + 1e-9) - dot(p - sample->point, sample->normal));
                    moved = true;
                }
            }
            for_each_wall(domain, p, radius, [&](int, Vec3 point, Vec3 normal) {
                for (int axis = 0; axis < 3; ++axis)
                    if (normal[axis] != 0) p[axis] = point[axis] + radius * normal[axis];
            });
            if (!moved) break;
        }
        liquid.position[i] = p;
        Correction correction;
        if (p == to) return correction;
        correction.volume = section * length(p - to);
        correction.turning = model.particle_mass * cross(p - to, Vec3(liquid.velocity[i]));
        correction.pushed.add(p - to, 1e-3 * domain.h);
        return correction;
    });
}

BoundaryCover cover_by_boundary(const SphLiquid& liquid, const World& now, const Scenario& scenario,
                                const SphSetup& setup) {
    const Domain& domain = scenario.domain;
    const PlaneCover& plane = setup.plane;
    const double reach = plane.reach();
    const Vec3 size = domain.size();
    std::vector<Pose> poses;
    std::vector<Box> near;
    for (std::size_t s = 0; s < scenario.solids.size(); ++s) {
        poses.push_back(pose_of(now, scenario, s));
        const Box box = shape_of(now, scenario, s).bounds();
        near.push_back({box.low - Vec3{1, 1, 1} * reach, box.high + Vec3{1, 1, 1} * reach});
    }
    BoundaryCover cover;
    cover.open.resize(liquid.count());
    std::vector<std::vector<Press>> blocks((liquid.count() + grain - 1) / grain);
    parallel_blocks(liquid.count(), grain, [&](std::int64_t begin, std::int64_t end) {
        std::vector<Press>& presses = blocks[begin / grain];
        for (std::int64_t i = begin; i < end; ++i) {
            const Vec3 p = liquid.position[i];
            double share = 1;
            std::array<double, 3> wall{reach, reach, reach};  // distance of the nearest one across each axis
            for (int side = 0; side < 6; ++side) {
                const int axis = side / 2;
                // A penalty lets some particles behind the wall; they must not appear many times too dense.
                const double distance =
                    std::max(side % 2 ? size[axis] - p[axis] : p[axis], setup.model.radius());
                if (distance >= reach || !domain.closed(side)) continue;
                share -= plane.share(distance);
                wall[axis] = std::min(wall[axis], distance);
                if (const double by = plane.press(distance); by != 0)
                    presses.push_back({std::int32_t(i), BoundaryContact::no_solid - side,
                                       Vec3(unit(axis)) * (side % 2 ? -by : by)});
            }
            // What two walls cover was counted twice.
            for (int axis = 0; axis < 3; ++axis)
                if (const double one = wall[axis], other = wall[(axis + 1) % 3]; one < reach && other < reach)
                    share += plane.overlap(one, other);
            for (std::size_t s = 0; s < near.size(); ++s) {
                if (!near[s].contains(p)) continue;
                SolidCover::Cover solid = setup.covers[s].at(poses[s].to_body(p));
                solid.distance = std::max(solid.distance, 0.0);
                if (solid.distance >= reach) continue;
                share -= plane.share(solid.distance);
                if (const double by = -plane.slope(solid.distance); by > 0)
                    presses.push_back(
                        {std::int32_t(i), std::int32_t(s), by * (poses[s].rotation * solid.gradient)});
            }
            // In a narrow gap nearly nothing is open; a particle there must not count for many.
            share = std::max(share, 0.2);
            cover.open[i] = float(share);
            // Consistent with the energy of the density and the pair forces.
            for (auto press = presses.rbegin(); press != presses.rend() && press->particle == i; ++press)
                if (press->surface >= 0) press->push = press->push / share;
        }
    });
    cover.presses = joined(blocks);
    return cover;
}

SphPrediction predict_sph(const World& now, World& next, const StepContext& ctx, SphSetup& setup,
                          FunctionRef<void(const char*)> stage_done) {
    const Scenario& scenario = ctx.scenario;
    const SphModel& model = setup.model;
    SphLiquid& liquid = next.sph;
    SphColumns& columns = setup.columns;
    sort_by_cell(now.sph, setup.cells, liquid);
    fill_columns(liquid, model, columns);
    stage_done("neighbours");

    SphPrediction prediction;
    prediction.cover = cover_by_boundary(liquid, now, scenario, setup);
    find_density(liquid, columns, setup.cells, model, prediction.cover.open);
    pair_accelerations(liquid, columns, setup.cells, model, prediction.cover.open);
    stage_done("forces");

    prediction.liquid_before = momentum(liquid, model.particle_mass);
    parallel_for(liquid.count(), 4096, [&](std::int64_t i) {
        liquid.velocity[i] =
            Vec3f(Vec3(liquid.velocity[i]) + ctx.dt * (Vec3(columns.acceleration(i)) + scenario.gravity));
    });
    next.bodies = now.bodies;
    for (RigidBody& body : next.bodies) {
        hold_until_release(body, scenario.solids[body.solid].rigid, ctx.time);
        apply_impulse(body, {scenario.gravity * (body.mass * ctx.dt), {}});
    }
    return prediction;
}

[[gnu::noinline]] Vec3f changed(Vec3f v, Vec3 by) { return Vec3f(Vec3(v) + by); }

Momentum momentum(const SphLiquid& liquid, double particle_mass) {
    Momentum sum = fixed_sum<Momentum>(liquid.count(), grain, [&](std::int64_t i) {
        const Vec3 v(liquid.velocity[i]);
        return Momentum{v, cross(liquid.position[i], v)};
    });
    return {particle_mass * sum.linear, particle_mass * sum.angular};
}

Momentum momentum(const std::vector<RigidBody>& bodies) {
    Momentum sum;
    for (const RigidBody& body : bodies) {
        const Vec3 linear = body.mass * body.velocity;
        sum += {linear, cross(body.center, linear) + body.angular_momentum};
    }
    return sum;
}

std::vector<Impulse> collide_bodies(const World& now, World& next, const StepContext& ctx, SphSetup& setup) {
    if (next.bodies.empty()) return {};
    const Scenario& scenario = ctx.scenario;
    const std::vector<PlacedSolid> placed = place_solids(scenario.solids, now.bodies, ctx.time, ctx.dt);
    const ContactWalls walls{
        {{}, scenario.domain.size()}, scenario.domain.closed_sides(), scenario.domain.mirrors()};
    const std::vector<Contact> found =
        setup.contact_shapes.find(placed, walls, ctx.dt, length(scenario.gravity) * ctx.dt * ctx.dt);
    const ContactImpulses impulses = solve_contacts(next.bodies, placed, found, scenario.joints, ctx.dt);
    apply_impulses(next.bodies, impulses);
    repair_positions(next.bodies, placed, found, scenario.joints);
    return impulses.on_body;
}

void finish_sph(const World& now, World& next, const StepContext& ctx, const SphSetup& setup,
                StepReport& report) {
    SphLiquid& liquid = next.sph;
    const SphModel& model = setup.model;
    const double fastest = parallel_max(liquid.count(), grain, 0, [&](std::int64_t i) {
        const Vec3 v(liquid.velocity[i]);
        return std::isfinite(dot(v, v)) ? length(v) : 1e300;
    });
    if (fastest == 1e300)
        report.reject("the velocity is not a number");
    else if (fastest > model.sound_speed)
        report.reject("the liquid is faster than its sound");
    if (!report.accepted) return;
    report.mach = fastest / model.sound_speed;

    const Scenario& scenario = ctx.scenario;
    const SphExchange out = drain_sph(liquid, scenario.liquid, scenario.domain, ctx.time + ctx.dt);
    const SphExchange in = emit_sph(liquid, scenario.liquid, scenario.domain, model, ctx.time, ctx.dt);
    report.ledger.particles_in = in.count;
    report.ledger.particles_out = out.count;
    report.ledger.inflow = model.particle_mass * in.velocity_sum;
    report.ledger.outflow = model.particle_mass * out.velocity_sum;

    next.time = ctx.time + ctx.dt;
    next.step = ctx.step + 1;
    show_particles(liquid, scenario.domain, next.liquid.particles);
    if (!ctx.ends_frame) {  // the grid keeps the fields of the last frame
        next.liquid.tiling = now.liquid.tiling;
        next.liquid.velocity = now.liquid.velocity;
        next.liquid.phi = now.liquid.phi;
        next.liquid.potential = now.liquid.potential;
        next.liquid.open_volume = now.liquid.open_volume;
    }
    if (ctx.ends_frame) fill_grid(next, scenario, model);
}

}  // namespace flotsam

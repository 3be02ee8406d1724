#include "coupling/direct_forcing.h"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "coupling/ledger.h"

namespace flotsam {

namespace {

Mat3 cross_matrix(Vec3 r) { return {{Vec3{0, -r.z, r.y}, Vec3{r.z, 0, -r.x}, Vec3{-r.y, r.x, 0}}}; }

// A contact as seen from a body: r_i and the change v^_i of relative velocity that it wants.
struct Wanted {
    Vec3 arm, change;
};

// The change of a body's motion by all of its contacts together [Becker09 Eq. 18], with the changes of
// velocity and spin as unknowns; locked ones are zero. `wanted(n)` gives the n-th of `count`.
template <class WantedOf>
Twist global_change(const RigidBody& body, std::int64_t count, const WantedOf& wanted, double particle_mass) {
    Vec3 arms, changes, moments;
    Mat3 squares = Mat3::diagonal({0, 0, 0});  // r r^T; then |r|^2 - r r^T is what the paper writes
    for (std::int64_t n = 0; n < count; ++n) {
        const auto [arm, change] = wanted(n);
        arms += arm;
        changes += change;
        moments += cross(arm, change);
        for (int i = 0; i < 3; ++i) squares.row[i] += arm[i] * arm;
    }
    const double trace = squares.row[0].x + squares.row[1].y + squares.row[2].z;
    const Mat3 inertia = inertia_in_world(body), r = cross_matrix(arms);
    Eigen::Matrix<double, 6, 6> a = Eigen::Matrix<double, 6, 6>::Zero();
    Eigen::Matrix<double, 6, 1> b = Eigen::Matrix<double, 6, 1>::Zero();
    for (int i = 0; i < 3; ++i) {
        a(i, i) = body.mass + particle_mass * double(count);
        for (int j = 0; j < 3; ++j) {
            a(3 + i, j) = particle_mass * r.row[i][j];
            a(i, 3 + j) = particle_mass * r.row[j][i];
            a(3 + i, 3 + j) = inertia.row[i][j] + particle_mass * ((i == j ? trace : 0) - squares.row[i][j]);
        }
        b(i) = -particle_mass * changes[i];
        b(3 + i) = -particle_mass * moments[i];
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

// The impulse that gives a single contact its change of relative velocity [Becker09 Eq. 12].
Vec3 local_impulse(const RigidBody& body, const Mat3& inverse_inertia, Vec3 arm, Vec3 change,
                   double particle_mass) {
    const Mat3 r = cross_matrix(arm);
    const Vec3 particle = Vec3{1, 1, 1} / particle_mass;
    return (Mat3::diagonal(particle + inverse_mass(body)) + r * inverse_inertia * r.transposed()).inverse() *
           change;
}

}  // namespace

Vec3 wanted_velocity(const BoundaryContact& contact, double slip, Vec3 v) {
    const double leaving = dot(v, contact.normal);
    const Vec3 along = v - leaving * contact.normal;
    return slip * along + std::max(leaving, contact.least_leaving) * contact.normal;
}

void respond(const std::vector<BoundaryContact>& contacts, std::vector<Vec3f>& velocity,
             std::vector<RigidBody>& bodies, double particle_mass, BoundaryResponse response,
             FunctionRef<void(const BoundaryContact&, Vec3)> on_surface) {
    bool several = false;
    std::vector<std::vector<std::int32_t>> of_body(bodies.size());
    for (std::size_t n = 0; n < contacts.size(); ++n) {
        several = several || (n > 0 && contacts[n].particle == contacts[n - 1].particle);
        if (contacts[n].body >= 0) of_body[contacts[n].body].push_back(std::int32_t(n));
    }

    const int rounds = several ? 4 : 1;
    for (int round = 0; round < rounds; ++round) {
        // Friction acts in the first round only; later rounds only correct normal velocities.
        const auto change_wanted = [&](const BoundaryContact& contact, Vec3 v) {
            return wanted_velocity(contact, round == 0 ? contact.slip : 1, v) - v;
        };
        for (std::size_t b = 0; b < bodies.size(); ++b) {
            if (of_body[b].empty()) continue;
            RigidBody& body = bodies[b];
            const Twist motion = twist_of(body);
            const auto wanted = [&](std::int64_t n) {
                const BoundaryContact& contact = contacts[of_body[b][n]];
                const Vec3 arm = contact.point - body.center;
                const Vec3 v = Vec3(velocity[contact.particle]) - motion.at(arm);
                return Wanted{arm, change_wanted(contact, v)};
            };
            const auto count = std::ssize(of_body[b]);
            const bool global = response == BoundaryResponse::global;
            const Twist change = global ? global_change(body, count, wanted, particle_mass) : Twist{};
            const Mat3 inverse_inertia = inverse_inertia_in_world(body);
            Impulse total;
            for (std::int64_t n = 0; n < count; ++n) {
                const BoundaryContact& contact = contacts[of_body[b][n]];
                const Wanted want = wanted(n);
                // h F_i                                                                  [Eq. 17 or 12]
                const Vec3 control =
                    global ? particle_mass * (want.change + change.at(want.arm))
                           : local_impulse(body, inverse_inertia, want.arm, want.change, particle_mass);
                // The body receives the particle's impulse as it is after rounding.      [Eq. 10]
                Vec3f& v = velocity[contact.particle];
                const Vec3f before = v;
                v = changed(v, control / particle_mass);
                const Vec3 impulse = particle_mass * (Vec3(v) - Vec3(before));
                total += {-impulse, -cross(want.arm, impulse)};  //                       [Eq. 13, 14]
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

namespace {

// Records the impulses that walls and solids receive from particles during a step.
struct SurfaceImpulses {
    const World& now;
    const StepContext& ctx;
    StepLedger& ledger;
    std::vector<SolidLoad>& loads;
    Vec3 turned{};  // angular momentum that liquid and bodies got from outside [kg m^2/s]

    // `normal` is the normal part of the impulse `received` by a solid or wall.
    void note(std::int32_t surface, Vec3 point, Vec3 received, Vec3 normal) {
        ledger.friction -= received - normal;
        if (surface <= BoundaryContact::no_solid) {
            ledger.walls -= normal;
            return;
        }
        ledger.solids -= normal;
        SolidLoad& load = loads[surface];
        load.force += received / ctx.dt;
        load.torque +=
            cross(point - pose_of(ctx.scenario, now.bodies, ctx.time, surface).position, received) / ctx.dt;
    }
    // An impulse that no body received came from outside.
    void note_outside(Vec3 particle, Vec3 received) { turned -= cross(particle, received); }
};

// Surfaces press on particles like liquid of the same pressure, in place of the neighbours missing behind
// them. `body_number` is the body of each solid, or -1.
void press_particles(const BoundaryCover& cover, const SphSetup& setup, const std::vector<int>& body_number,
                     World& next, double dt, SurfaceImpulses& surfaces) {
    SphLiquid& liquid = next.sph;
    const SphModel& model = setup.model;
    std::vector<Impulse> pressed(next.bodies.size());
    for (const Press& press : cover.presses) {
        Vec3f& v = liquid.velocity[press.particle];
        const Vec3f before = v;
        v = changed(v, dt * setup.columns.term[press.particle] * cover.open[press.particle] *
                           model.rest_density * press.push);
        const Vec3 received = model.particle_mass * (Vec3(before) - Vec3(v));
        const Vec3 point = liquid.position[press.particle];
        surfaces.note(press.surface, point, received, received);
        const int b = press.surface >= 0 ? body_number[press.surface] : -1;
        if (b < 0)
            surfaces.note_outside(point, received);
        else
            pressed[b] += {received, cross(point - next.bodies[b].center, received)};
    }
    for (std::size_t b = 0; b < next.bodies.size(); ++b) apply_impulse(next.bodies[b], pressed[b]);
}

// Completes contacts: slip over this dt, the surface's body or velocity, and the least normal velocity
// afterwards.
void complete_contacts(std::vector<BoundaryContact>& contacts, const std::vector<MovingSurface>& surfaces,
                       const std::vector<int>& body_number, const SphLiquid& liquid,
                       const SphColumns& columns, const World& now, const Scenario& scenario, double dt) {
    for (BoundaryContact& contact : contacts) {
        const double slip = contact.is_wall() ? scenario.domain.walls[contact.side()].slip
                                              : scenario.solids[contact.surface].slip;
        contact.slip = slip == 1 ? 1 : std::pow(slip, 24 * dt);  // slip is what is left after 1/24 s
        if (contact.is_wall()) continue;
        const Solid& solid = scenario.solids[contact.surface];
        const MovingSurface& surface = surfaces[contact.surface];
        contact.body = body_number[contact.surface];
        Vec3 velocity_now;  // of the contact point, before the step
        if (contact.body >= 0) {
            const RigidBody& body = now.bodies[contact.body];
            velocity_now = twist_of(body).at(contact.point - body.center);
        } else if (solid.motion != Motion::fixed) {
            const Twist motion = twist_between(surface.before, surface.after, dt);
            contact.surface_velocity = motion.at(contact.point - surface.after.position);  //      [Eq. 21]
            velocity_now = contact.surface_velocity;
        }
        if (scenario.sph.torque_arm == TorqueArm::particle) contact.point = liquid.position[contact.particle];
        const auto p = std::size_t(contact.particle);
        const Vec3 before{columns.vx[p], columns.vy[p], columns.vz[p]};
        contact.least_leaving =
            solid.liquid_restitution * std::max(0.0, dot(velocity_now - before, contact.normal));
    }
}

// Adds the angular momentum from gravity and from contacts of bodies to `turned`.
void add_turning(Vec3& turned, const World& next, const std::vector<Impulse>& contacts, Vec3 gravity,
                 double particle_mass, double dt) {
    const SphLiquid& liquid = next.sph;
    turned += particle_mass * dt *
              cross(fixed_sum<Vec3>(liquid.count(), 4096, [&](std::int64_t i) { return liquid.position[i]; }),
                    gravity);
    for (std::size_t b = 0; b < next.bodies.size(); ++b)
        turned += cross(next.bodies[b].center, gravity * (next.bodies[b].mass * dt) + contacts[b].linear) +
                  contacts[b].angular;
}

}  // namespace

StepReport DirectForcing::step(const World& now, World& next, const StepContext& ctx) {
    const Scenario& scenario = ctx.scenario;
    const Domain& domain = scenario.domain;
    const double dt = ctx.dt;
    SphSetup& setup = this->setup(scenario);
    const double mass = setup.model.particle_mass;
    StepReport report;
    StepLedger& ledger = report.ledger;
    StageClock stage_done(report);

    // Neighbours, forces, and where the liquid and bodies would go without each other: v*, x*.
    //                                                                               [Alg. 1, 1-3; Eq. 2-6]
    const SphPrediction prediction = predict_sph(now, next, ctx, setup, stage_done);
    SphLiquid& liquid = next.sph;
    const Momentum liquid_before = prediction.liquid_before, bodies_before = momentum(now.bodies);
    std::vector<int> body_number(scenario.solids.size(), -1);  // of bodies that the liquid moves
    for (std::size_t b = 0; b < next.bodies.size(); ++b)
        if (!next.bodies[b].one_way) body_number[next.bodies[b].solid] = int(b);
    next.loads.assign(scenario.solids.size(), {});
    SurfaceImpulses received_by{now, ctx, ledger, next.loads};
    press_particles(prediction.cover, setup, body_number, next, dt, received_by);
    std::vector<RigidBody> predicted = next.bodies;
    for (RigidBody& body : predicted) advance(body, dt);
    stage_done("predict");

    // Where do they touch?                                                              [Alg. 1, 4]
    const std::vector<MovingSurface> surfaces =
        moving_surfaces(scenario, setup, now.bodies, predicted, ctx.time, dt);
    std::vector<BoundaryContact> contacts = find_contacts(liquid, dt, surfaces, domain, setup.touch);
    complete_contacts(contacts, surfaces, body_number, liquid, setup.columns, now, scenario, dt);
    stage_done("contacts");

    // Control forces, equal and opposite, for the velocities wanted there.              [Alg. 1, 5; Eq. 7-18]
    respond(contacts, liquid.velocity, next.bodies, mass, scenario.sph.response,
            [&](const BoundaryContact& contact, Vec3 received) {
                received_by.note(contact.surface, contact.point, received,
                                 dot(received, contact.normal) * contact.normal);
                if (contact.body < 0) received_by.note_outside(liquid.position[contact.particle], received);
            });
    ledger.contacts = std::int64_t(contacts.size());
    const std::vector<Impulse> body_contacts = collide_bodies(now, next, ctx, setup);
    const std::vector<Impulse> none(next.bodies.size());  // of elastic bodies
    ledger.bodies = body_ledger(now.bodies, next, body_contacts, none, scenario.gravity, dt);
    ledger.gravity = scenario.gravity * (mass * double(liquid.count()) * dt);
    const Momentum liquid_after = momentum(liquid, mass), bodies_after = momentum(next.bodies);
    ledger.unaccounted = liquid_after.linear - liquid_before.linear - ledger.gravity - ledger.walls -
                         ledger.solids - ledger.friction;
    add_turning(received_by.turned, next, body_contacts, scenario.gravity, mass, dt);
    ledger.unaccounted_turning = liquid_after.angular - liquid_before.angular + bodies_after.angular -
                                 bodies_before.angular - received_by.turned;
    stage_done("couple");

    // Move with those velocities, and out of what is still in the way.           [Alg. 1, 6-9; Eq. 19, 20]
    for (RigidBody& body : next.bodies) advance(body, dt);
    const Correction correction = move_and_correct(
        liquid, dt, contacts, moving_surfaces(scenario, setup, now.bodies, next.bodies, ctx.time, dt), domain,
        setup.model);
    ledger.corrected_volume = correction.volume;
    ledger.corrected_turning = correction.turning;
    ledger.pushed = correction.pushed;
    stage_done("move");
    finish_sph(now, next, ctx, setup, report);
    stage_done("surface");
    return report;
}

}  // namespace flotsam

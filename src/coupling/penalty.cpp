#include "coupling/penalty.h"

#include <algorithm>

#include "core/parallel.h"
#include "coupling/ledger.h"

namespace flotsam {

double penalty_acceleration(const SphModel& model, double y) {
    const double radius = model.radius();
    y = std::max(y, 0.2 * radius);
    const double q = y / radius;
    const double shape = q < 2.0 / 3 ? 2.0 / 3
                         : q < 1     ? 2 * q - 1.5 * q * q
                         : q < 2     ? 0.5 * (2 - q) * (2 - q)
                                     : 0;
    return 0.02 * model.sound_speed * model.sound_speed / y * shape;
}

Capabilities Penalty::capabilities() const {
    Capabilities capabilities = SphScheme::capabilities();
    capabilities.comparison = true;
    return capabilities;
}

StepReport Penalty::step(const World& now, World& next, const StepContext& ctx) {
    const Scenario& scenario = ctx.scenario;
    const double dt = ctx.dt;
    SphSetup& setup = this->setup(scenario);
    const SphModel& model = setup.model;
    const double mass = model.particle_mass;
    StepReport report;
    StepLedger& ledger = report.ledger;
    StageClock stage_done(report);

    // The liquid's own forces, and gravity.                                            [Becker09 Eq. 2-6]
    const Momentum before = predict_sph(now, next, ctx, setup, stage_done).liquid_before;
    SphLiquid& liquid = next.sph;

    // Boundaries repel particles that are too near, which push back.                   [Monaghan05 8.3]
    next.loads.assign(scenario.solids.size(), {});
    const std::vector<MovingSurface> surfaces =
        moving_surfaces(scenario, setup, now.bodies, now.bodies, ctx.time, 0);
    const std::vector<BoundaryContact> contacts =
        find_contacts(liquid, 0, surfaces, scenario.domain, setup.touch);
    ledger.contacts = std::int64_t(contacts.size());
    std::vector<Impulse> pushed(scenario.solids.size());
    for (const BoundaryContact& contact : contacts) {
        Vec3f& v = liquid.velocity[contact.particle];
        const Vec3f was = v;
        const double y = dot(liquid.position[contact.particle] - contact.point, contact.normal);
        v = changed(v, dt * penalty_acceleration(model, y) * contact.normal);
        const Vec3 received = mass * (Vec3(was) - Vec3(v));
        if (contact.is_wall()) {
            ledger.walls -= received;
            continue;
        }
        ledger.solids -= received;
        const Vec3 arm = contact.point - surfaces[contact.surface].after.position;
        pushed[contact.surface] += {received, cross(arm, received)};
    }
    for (std::size_t s = 0; s < pushed.size(); ++s)
        next.loads[s] = {.force = pushed[s].linear / dt, .torque = pushed[s].angular / dt};
    for (RigidBody& body : next.bodies) {
        if (body.one_way) continue;
        const Impulse& impulse = pushed[body.solid];
        const Vec3 offset = surfaces[body.solid].after.position - body.center;
        apply_impulse(body, {impulse.linear, impulse.angular + cross(offset, impulse.linear)});
    }
    const std::vector<Impulse> none(next.bodies.size());  // of elastic bodies
    ledger.bodies =
        body_ledger(now.bodies, next, collide_bodies(now, next, ctx, setup), none, scenario.gravity, dt);
    ledger.gravity = scenario.gravity * (mass * double(liquid.count()) * dt);
    ledger.unaccounted =
        momentum(liquid, mass).linear - before.linear - ledger.gravity - ledger.walls - ledger.solids;
    stage_done("couple");

    for (RigidBody& body : next.bodies) advance(body, dt);
    parallel_for(liquid.count(), 4096,
                 [&](std::int64_t i) { liquid.position[i] += dt * Vec3(liquid.velocity[i]); });
    stage_done("move");
    finish_sph(now, next, ctx, setup, report);
    stage_done("surface");
    return report;
}

}  // namespace flotsam

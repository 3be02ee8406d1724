#include "coupling/elastic_phase.h"

#include <algorithm>
#include <cmath>

#include "solid/rigid/contact.h"

namespace flotsam {

namespace {

// A rigid body's motion without elastic ones. Its supports (the floor, other bodies) respond to the push of
// elastic bodies only afterwards; so they are assumed to give the same impulse as in the last step, as far as
// it balanced weight and elastic push. A crate on the floor then stands firm under a load, and one in free
// flight gives way.
Twist free_motion(const RigidBody& body, const BodySupport& last, Vec3 gravity, double dt) {
    const Vec3 weight = body.mass * dt * gravity;
    const double asked = length(last.pushed.linear + weight), given = length(last.contacts.linear);
    const double share = given > asked && given > 0 ? asked / given : 1;
    RigidBody free = body;
    apply_impulse(free, {weight + last.contacts.linear * share, last.contacts.angular * share});
    return twist_of(free);
}

}  // namespace

std::vector<RigidPartner> rigid_partners(const std::vector<RigidBody>& bodies,
                                         const std::vector<BodySupport>& support, Vec3 gravity, double dt) {
    std::vector<RigidPartner> partners;
    for (std::size_t b = 0; b < bodies.size(); ++b) {
        const RigidBody& body = bodies[b];
        RigidPartner partner{body.solid, body.center, {}, inertia_in_world(body), {}, {}};
        partner.free = free_motion(body, support[b], gravity, dt);
        // Locked axes get a practically infinite mass.
        const Vec3 inverse = inverse_mass(body);
        for (int a = 0; a < 3; ++a)
            partner.mass.row[a][a] = inverse[a] > 0 ? 1 / inverse[a] : 1e12 * body.mass;
        for (int a = 0; a < 3; ++a)
            if (body.locked[lock_rotate_x + a]) partner.inertia.row[a][a] *= 1e12;
        partners.push_back(partner);
    }
    return partners;
}

ContactSurroundings contact_surroundings(const Scenario& scenario, const std::vector<RigidBody>& bodies,
                                         const std::vector<ElasticBody>& elastics,
                                         const std::vector<RigidPartner>& partners, double time, double dt) {
    ContactSurroundings around;
    ContactScene& contacts = around.scene;
    contacts.sides = {{}, scenario.domain.size()};
    contacts.gravity = scenario.gravity;
    contacts.closed = scenario.domain.closed_sides();
    contacts.mirrors = scenario.domain.mirrors();
    const std::vector<PlacedSolid> placed = place_solids(scenario.solids, bodies, time, dt);
    around.meshes.resize(scenario.solids.size());
    for (std::size_t s = 0; s < scenario.solids.size(); ++s) {
        const Solid& solid = scenario.solids[s];
        if (may_deform(solid.motion)) continue;
        const auto partner = std::find_if(partners.begin(), partners.end(),
                                          [&](const RigidPartner& p) { return p.solid == int(s); });
        if (solid.sequence) around.meshes[s] = body_mesh_at(solid, time);
        contacts.obstacles.push_back({shape_at(solid, time).shape, placed[s].pose, placed[s].motion,
                                      solid.sequence ? &around.meshes[s] : &solid.shape.mesh,
                                      solid.rigid.friction,
                                      partner == partners.end() ? -1 : int(partner - partners.begin())});
    }
    for (const ElasticBody& body : elastics)
        contacts.friction.push_back(scenario.solids[body.solid].rigid.friction);
    return around;
}

std::vector<const ElasticProperties*> elastic_properties(const Scenario& scenario,
                                                         const std::vector<ElasticBody>& bodies) {
    std::vector<const ElasticProperties*> properties;
    properties.reserve(bodies.size());
    for (const ElasticBody& body : bodies) properties.push_back(&scenario.solids[body.solid].elastic);
    return properties;
}

ElasticReport ElasticPhase::step(const World& now, World& next, const StepContext& ctx,
                                 std::vector<Impulse>& pushed) {
    const Scenario& scenario = ctx.scenario;
    std::vector<RigidPartner> partners = rigid_partners(now.bodies, now.support, scenario.gravity, ctx.dt);
    ContactSurroundings around =
        contact_surroundings(scenario, now.bodies, now.elastics, partners, ctx.time, ctx.dt);
    next.elastics = now.elastics;
    const std::vector<RigidPartner> before = partners;
    ElasticReport report =
        advance_with_contacts(stepper_, next.elastics, elastic_properties(scenario, next.elastics),
                              std::move(around.scene), partners, ctx.time, ctx.dt);
    pushed.assign(now.bodies.size(), {});
    for (std::size_t b = 0; report.solved && b < partners.size(); ++b)
        pushed[b] = {partners[b].mass * (partners[b].motion.velocity - before[b].free.velocity),
                     partners[b].inertia * (partners[b].motion.spin - before[b].free.spin)};
    return report;
}

}  // namespace flotsam

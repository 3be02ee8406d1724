#include "coupling/elastic_phase.h"

#include <algorithm>
#include <cmath>

#include "solid/rigid/contact.h"

namespace flotsam {

namespace {

// How a rigid body would move without elastic ones. What holds it up (the floor, other bodies) answers to
// what elastic bodies do to it only after them; so it is taken to do again what it did in the last step, as
// far as that only balanced weight and elastic push. A crate on the floor then stands firm under whatever
// lies on it, and one in free flight gives way.
Twist free_motion(const RigidBody& body, const BodySupport& last, Vec3 gravity, double dt) {
    const Vec3 weight = body.mass * dt * gravity;
    const double asked = length(last.pushed.linear + weight), given = length(last.contacts.linear);
    const double share = given > asked && given > 0 ? asked / given : 1;
    RigidBody free = body;
    apply_impulse(free, {weight + last.contacts.linear * share, last.contacts.angular * share});
    return twist_of(free);
}

}  // namespace

ElasticReport ElasticPhase::step(const World& now, World& next, const StepContext& ctx,
                                 std::vector<Impulse>& pushed) {
    const Scenario& scenario = ctx.scenario;
    std::vector<RigidPartner> partners;
    for (std::size_t b = 0; b < now.bodies.size(); ++b) {
        const RigidBody& body = now.bodies[b];
        RigidPartner partner{body.solid, body.center, {}, inertia_in_world(body), {}, {}};
        partner.free = free_motion(body, now.support[b], scenario.gravity, ctx.dt);
        // What is locked gives no more way than a mountain.
        const Vec3 inverse = inverse_mass(body);
        for (int a = 0; a < 3; ++a)
            partner.mass.row[a][a] = inverse[a] > 0 ? 1 / inverse[a] : 1e12 * body.mass;
        for (int a = 0; a < 3; ++a)
            if (body.locked[lock_rotate_x + a]) partner.inertia.row[a][a] *= 1e12;
        partners.push_back(partner);
    }
    ContactScene contacts{{{}, scenario.domain.size()}, {}, {}, {}, scenario.gravity};
    for (int side = 0; side < 6; ++side) contacts.closed[side] = !scenario.domain.open(side);
    const std::vector<PlacedSolid> placed = place_solids(scenario.solids, now.bodies, ctx.time, ctx.dt);
    std::vector<TriangleMesh> meshes(scenario.solids.size());  // of solids that deform by a script
    for (std::size_t s = 0; s < scenario.solids.size(); ++s) {
        const Solid& solid = scenario.solids[s];
        if (solid.motion != Motion::fixed && solid.motion != Motion::scripted &&
            solid.motion != Motion::rigid)
            continue;
        const auto partner = std::find_if(partners.begin(), partners.end(),
                                          [&](const RigidPartner& p) { return p.solid == int(s); });
        meshes[s] = solid.sequence ? body_mesh_at(solid, ctx.time) : TriangleMesh{};
        contacts.obstacles.push_back({shape_at(solid, ctx.time).shape, placed[s].pose, placed[s].motion,
                                      solid.sequence ? &meshes[s] : &solid.shape.mesh, solid.rigid.friction,
                                      partner == partners.end() ? -1 : int(partner - partners.begin())});
    }
    next.elastics = now.elastics;
    std::vector<const ElasticProperties*> properties;
    for (const ElasticBody& body : next.elastics) {
        properties.push_back(&scenario.solids[body.solid].elastic);
        contacts.friction.push_back(scenario.solids[body.solid].rigid.friction);
    }
    const std::vector<RigidPartner> before = partners;
    const ElasticReport report = advance_with_contacts(stepper_, next.elastics, properties,
                                                       std::move(contacts), partners, ctx.time, ctx.dt);
    pushed.assign(now.bodies.size(), {});
    for (std::size_t b = 0; report.converged && b < partners.size(); ++b)
        pushed[b] = {partners[b].mass * (partners[b].motion.velocity - before[b].free.velocity),
                     partners[b].inertia * (partners[b].motion.spin - before[b].free.spin)};
    return report;
}

}  // namespace flotsam

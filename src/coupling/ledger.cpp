#include "coupling/ledger.h"

#include "fluid/grid/transfer.h"

namespace flotsam {

namespace {

// Records the impulses on one body. `rest` is the part of its momentum change that they do not explain.
void add_body(BodyLedger& ledger, Vec3 weight, Vec3 liquid, const Impulse& contact, Vec3 rest) {
    ledger.gravity += weight;
    ledger.liquid += liquid;
    ledger.contacts += contact.linear;
    ledger.contact.push_back(contact);
    ledger.unaccounted += rest;
}

}  // namespace

BodyLedger body_ledger(const std::vector<RigidBody>& before, const World& next,
                       const std::vector<Impulse>& contact, const std::vector<Impulse>& elastic, Vec3 gravity,
                       double dt) {
    BodyLedger ledger;
    for (std::size_t b = 0; b < before.size(); ++b) {
        const RigidBody& body = next.bodies[b];
        const Vec3 weight = gravity * (body.mass * dt);
        const Vec3 liquid = body.one_way ? Vec3{} : next.loads[body.solid].force * dt;
        Vec3 rest = body.mass * (body.velocity - before[b].velocity) - weight - liquid - contact[b].linear -
                    elastic[b].linear;
        for (int a = 0; a < 3; ++a)
            if (body.locked[lock_x + a]) ledger.held[a] += rest[a], rest[a] = 0;
        // A push of an elastic body counts as a contact here; the elastic body's own contacts contain the
        // reaction.
        add_body(ledger, weight, liquid, contact[b] + elastic[b], rest);
    }
    return ledger;
}

void add_springs(BodyLedger& ledger, const World& now, const World& next, const std::vector<Impulse>& contact,
                 Vec3 gravity, double dt) {
    for (std::size_t b = 0; b < next.springs.size(); ++b) {
        const SpringBody& body = next.springs[b];
        const Vec3 weight = gravity * (body.net->total_mass() * dt);
        const Vec3 liquid = next.loads[body.solid].force * dt;
        add_body(ledger, weight, liquid, contact[b],
                 momentum(body) - momentum(now.springs[b]) - weight - liquid - contact[b].linear);
    }
}

void add_elastic(BodyLedger& ledger, const World& now, const World& next,
                 const std::vector<ElasticReceived>& all, const Scenario& scenario, double dt) {
    for (std::size_t b = 0; b < next.elastics.size(); ++b) {
        const ElasticBody& body = next.elastics[b];
        const ElasticReceived& received = all[b];
        const Vec3 weight = scenario.gravity * (body.mesh->total_mass() * dt);
        const Vec3 liquid = next.loads[body.solid].force * dt;
        Vec3 rest = momentum(body) - momentum(now.elastics[b]) - received.outside - received.damping -
                    received.contacts - liquid;
        ledger.held += received.outside - weight + received.damping;
        if (!scenario.solids[body.solid].elastic.pins.empty()) ledger.held += rest, rest = {};
        add_body(ledger, weight, liquid, {received.contacts, {}}, rest);
    }
}

void close_ledger(StepLedger& ledger, const LiquidState& liquid, const Scenario& scenario, const Exchange& in,
                  const Exchange& out, Vec3 momentum_before, double dt) {
    const double mass = scenario.particle_mass();
    ledger.particles_in = in.count;
    ledger.particles_out = out.count;
    ledger.inflow = mass * in.velocity_sum;
    ledger.outflow = mass * out.velocity_sum;
    ledger.gravity = scenario.gravity * (mass * double(liquid.particles.count()) * dt);
    ledger.unaccounted = momentum(liquid.particles, liquid.velocity, scenario.domain, mass) -
                         momentum_before - ledger.gravity - ledger.walls - ledger.solids - ledger.friction -
                         ledger.inflow + ledger.outflow;
}

}  // namespace flotsam

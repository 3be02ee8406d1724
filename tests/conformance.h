// What tests of every method share: the methods and a run of one of them.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "core/state_hash.h"
#include "fluid/grid/sample.h"
#include "sim/driver.h"
#include "sim/measure.h"

namespace flotsam {

inline std::string name_of(Carrier carrier) {
    return carrier == Carrier::apic   ? "apic"
           : carrier == Carrier::flip ? "flip"
           : carrier == Carrier::sph  ? "sph"
                                      : "markers";
}

// Calls body(scheme name, carrier) for everything that carries a liquid.
template <class Body>
void for_every_liquid(const Body& body) {
    int schemes_tried = 0;
    for (const SchemeEntry& scheme : schemes()) {
        const Capabilities capabilities = scheme.make()->capabilities();
        if (!capabilities.liquid) continue;
        ++schemes_tried;
        CHECK(!capabilities.carriers.empty());
        for (const Carrier carrier : capabilities.carriers) {
            const std::string method(scheme.name), by = name_of(carrier);
            CAPTURE(method);
            CAPTURE(by);
            body(method, carrier);
        }
    }
    CHECK(schemes_tried > 0);
}

// Pressure travels as sound: steps are as short as that asks for, hundreds to a frame.
inline bool has_sound(const std::string& method) { return make_scheme(method)->capabilities().compressible; }

// A scenario with the driver that runs it.
class Run {
  public:
    Run(Scenario s, const std::string& method, Carrier carrier) : scenario(std::move(s)) {
        scenario.method = method;
        scenario.liquid.carrier = carrier;
        scenario.time.duration = 1e6;  // the test decides when it has seen enough
        driver = std::make_unique<Driver>(scenario, make_scheme(method));
        driver->start();
    }

    // Steps until `time` [s], showing every step to watch(report).
    template <class Watch>
    void until(double time, const Watch& watch) {
        while (driver->world().time < time - 1e-9) watch(driver->advance().first);
    }
    void until(double time) {
        until(time, [](const StepReport&) {});
    }
    void steps(int count) {
        for (int n = 0; n < count; ++n) (void)driver->advance();
    }
    // Ten steps, or with sound some more of its shorter ones.
    void ten_steps() {
        if (has_sound(scenario.method))
            steps(60);
        else
            steps(10);
    }
    // Puts particles elsewhere, at the start.
    template <class Place>
    void place_particles(const Run& like, const Place& place) {
        World& world = driver->world();
        world.liquid.particles = like.particles();
        world.sph = like.world().sph;
        for (Vec3f& p : world.liquid.particles.position) p = Vec3f(place(Vec3(p)));
        for (Vec3& p : world.sph.position) p = place(p);
    }

    const World& world() const { return driver->world(); }
    const Particles& particles() const { return world().liquid.particles; }
    Vec3 velocity(std::int64_t i) const {
        const Particles& p = particles();
        return p.velocity.empty()
                   ? sample_velocity(world().liquid.velocity, scenario.domain, Vec3(p.position[i]))
                   : Vec3(p.velocity[i]);
    }
    double measure(std::string_view quantity) const {
        for (const Quantity& q : quantities())
            if (q.name == quantity) return q.value(world(), scenario, {});
        FAIL("no quantity " << quantity);
        return 0;
    }
    Vec3 momentum() const {
        return {measure("liquid.momentum.x"), measure("liquid.momentum.y"), measure("liquid.momentum.z")};
    }
    double energy() const { return measure("liquid.kinetic_energy") + measure("liquid.potential_energy"); }
    double mass() const { return scenario.particle_mass() * double(particles().count()); }
    Vec3 centre() const {
        Vec3 sum;
        for (const Vec3f p : particles().position) sum += Vec3(p);
        return sum / double(particles().count());
    }
    std::uint64_t hash() {
        return state_hash([&](StateVisitor& visit) { driver->visit_state(visit); });
    }

    Scenario scenario;
    std::unique_ptr<Driver> driver;
};

}  // namespace flotsam

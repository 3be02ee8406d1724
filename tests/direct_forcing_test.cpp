// The method direct-forcing: what keeps particles of liquid off walls and solids, and what solids get for it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/state_hash.h"
#include "coupling/direct_forcing.h"
#include "coupling/penalty.h"
#include "near.h"
#include "saved_state.h"
#include "scene/scene.h"
#include "sim/measure.h"
#include "worlds.h"

using namespace flotsam;

namespace {

Scenario with_method(Scenario s) {
    s.method = "direct-forcing";
    s.liquid.carrier = Carrier::sph;
    s.time.duration = 1;  // steps are counted by the tests
    return s;
}

Solid solid_of(std::string name, Motion motion, SolidShape shape, Vec3 position, double density) {
    Solid solid;
    solid.name = std::move(name);
    solid.motion = motion;
    solid.start.position = position;
    solid.rigid.mass = mass_properties(enclosed_moments(shape.mesh), density);
    solid.shape = std::move(shape);
    return solid;
}

// Water under a ball, in a slab or in space.
Scenario tank_with_ball(Int3 cells, double level, double height, double density) {
    Scenario s = with_method(test::tank(cells, level));
    const Vec3 place{0.5, height, 0.5 * s.domain.size().z};
    const double h = s.domain.h;
    s.solids.push_back(solid_of("ball", Motion::rigid,
                                s.domain.flat() ? solid_disc(0.15, h, h) : solid_sphere(0.2, h), place,
                                density));
    if (s.domain.flat())
        for (const int axis : {lock_z, lock_rotate_x, lock_rotate_y})
            s.solids.back().rigid.locked[axis] = true;
    return s;
}

const Int3 slab{16, 16, 1}, cube{8, 8, 8};

// Contacts all over a body, particles with all kinds of velocities.
struct Collision {
    std::vector<BoundaryContact> contacts;
    std::vector<Vec3f> velocity;
    std::vector<RigidBody> bodies;
    double particle_mass = 0.02;
};
Collision collision(int count) {
    Collision c;
    RigidProperties properties;
    properties.mass = mass_properties(enclosed_moments(solid_box({0.4, 0.2, 0.3}).mesh), 500);
    properties.velocity = {1, -2, 0.5};
    properties.spin = {2, -1, 3};
    c.bodies.push_back(make_rigid_body(0, properties, {{1, 2, 3}, Rotation::about({1, 2, 3}, 0.7)}));
    for (int n = 0; n < count; ++n) {
        const auto noise = [&](int k) { return test::noise(10 * n + k); };
        const Vec3 out{noise(0), noise(1), noise(2)};
        BoundaryContact contact;
        contact.particle = n;
        contact.body = 0;
        contact.normal = out / length(out);
        contact.point = c.bodies[0].center + 0.2 * contact.normal;
        contact.slip = 0.5 + 0.5 * noise(3);
        contact.least_leaving = n % 3 == 0 ? 0.4 : 0;
        c.contacts.push_back(contact);
        c.velocity.push_back(Vec3f(Vec3{3 * noise(4), 3 * noise(5), 3 * noise(6)}));
    }
    return c;
}

}  // namespace

TEST_CASE("the wanted velocity: slip along the surface, rebound off it, no sticking") {
    BoundaryContact contact;
    contact.normal = {0, 1, 0};
    CHECK(wanted_velocity(contact, 0.25, {4, -3, 8}) == Vec3{1, 0, 2});  // Eq. 8, delta = 0
    CHECK(wanted_velocity(contact, 0.25, {4, 3, 8}) == Vec3{1, 3, 2});   // Eq. 9
    contact.least_leaving = 1.5;                                         // delta = 0.5 of an approach by 3
    CHECK(wanted_velocity(contact, 0.25, {4, -3, 8}) == Vec3{1, 1.5, 2});
}

TEST_CASE("the global response meets every wanted velocity, and gives what it takes") {
    for (const int count : {1, 5, 400}) {
        const Collision before = collision(count);
        Collision after = before;
        const Twist motion = twist_of(before.bodies[0]);
        Vec3 received;
        respond(after.contacts, after.velocity, after.bodies, after.particle_mass, BoundaryResponse::global,
                [&](const BoundaryContact&, Vec3 impulse) { received += impulse; });
        const RigidBody &body = after.bodies[0], &old = before.bodies[0];
        Vec3 momentum = body.mass * (body.velocity - old.velocity);
        CHECK(length(received - momentum) < 1e-12 * length(momentum));
        double worst = 0;
        for (int n = 0; n < count; ++n) {
            const Vec3 arm = before.contacts[n].point - old.center;
            const Vec3 wanted = wanted_velocity(before.contacts[n], before.contacts[n].slip,
                                                Vec3(before.velocity[n]) - motion.at(arm));
            worst = std::max(worst, length(Vec3(after.velocity[n]) - twist_of(body).at(arm) - wanted));
            momentum += after.particle_mass * (Vec3(after.velocity[n]) - Vec3(before.velocity[n]));
        }
        CHECK(worst < 1e-6 * 3);  // of 3 m/s
        CHECK(length(momentum) < 1e-12);
    }
}

TEST_CASE("the local response of a single contact is the global one, and conserves momentum with many") {
    Collision local = collision(1), global = local;
    const auto nothing = [](const BoundaryContact&, Vec3) {};
    respond(local.contacts, local.velocity, local.bodies, 0.02, BoundaryResponse::local, nothing);
    respond(global.contacts, global.velocity, global.bodies, 0.02, BoundaryResponse::global, nothing);
    CHECK(length(Vec3(local.velocity[0]) - Vec3(global.velocity[0])) < 1e-6);
    CHECK(length(spin_of(local.bodies[0]) - spin_of(global.bodies[0])) < 1e-6);

    const Collision before = collision(100);
    Collision after = before;
    respond(after.contacts, after.velocity, after.bodies, 0.02, BoundaryResponse::local, nothing);
    Vec3 momentum = after.bodies[0].mass * (after.bodies[0].velocity - before.bodies[0].velocity);
    CHECK(length(momentum) > 0.1);
    for (int n = 0; n < 100; ++n) momentum += 0.02 * (Vec3(after.velocity[n]) - Vec3(before.velocity[n]));
    CHECK(length(momentum) < 1e-12);
}

TEST_CASE("a particle between a body and a wall enters neither") {
    Collision c = collision(1);
    c.bodies[0].velocity = {0, -3, 0};
    set_spin(c.bodies[0], {});
    c.contacts[0].normal = {0, -1, 0};  // the body comes from above
    c.contacts[0].slip = 1;
    c.contacts[0].least_leaving = 0;
    c.contacts[0].point = c.bodies[0].center + Vec3{0, -0.1, 0};
    c.velocity[0] = {0.5f, -1, 0};
    BoundaryContact floor;
    floor.surface = BoundaryContact::no_solid - y_low;
    floor.normal = {0, 1, 0};
    c.contacts.push_back(floor);
    respond(c.contacts, c.velocity, c.bodies, 50, BoundaryResponse::global,
            [](const BoundaryContact&, Vec3) {});
    CHECK(c.velocity[0].y > -1e-6);
    // A body of 12 kg that meets 50 kg held by a floor is all but stopped after four rounds.
    CHECK(c.bodies[0].velocity.y > -0.05);
    CHECK(c.velocity[0].x == 0.5f);
}

TEST_CASE(
    "sound is ten times as fast as what falls, flies and comes out of emitters, and a slower one is told") {
    const auto scene = [](const std::string& more, const std::string& liquid = "") {
        return parse_scene(
            "[scene]\nduration = 0.25\nmethod = \"direct-forcing\"\ndimensions = 2\n[domain]\nsize = [1.0, "
            "0.8]\n"
            "resolution = 25\n[liquid]\n" +
                liquid + "[[liquid.fill]]\nlevel = 0.2\n" + more,
            "sound.toml");
    };
    const auto sound = [](const Scene& s) { return sph_model(s.scenario).sound_speed; };
    const double g = 9.81, pool = std::sqrt(2 * g * 0.2);
    CHECK(std::abs(sound(scene("")) / (10 * pool) - 1) < 1e-12);
    // A jet as fast as it comes out and then falls from there.
    const std::string jet =
        "[[liquid.emitter]]\nbox = { min = [0.04, 0.5], max = [0.2, 0.7] }\nvelocity = [3.0, 0.0]\n";
    CHECK(std::abs(sound(scene(jet)) / (10 * std::sqrt(9 + 2 * g * 0.7)) - 1) < 1e-9);
    // A body drives out liquid that is faster than itself.
    const std::string ball =
        "[[solid]]\nname = \"ball\"\nmotion = \"rigid\"\nshape = { sphere = 0.1 }\nposition = [0.5, 0.6]\n"
        "density = 500\nvelocity = [0, -8]\n";
    CHECK(sound(scene(ball)) > 10 * 1.5 * 8);

    CHECK(scene(jet, "speed_of_sound = 41.0\n").warnings.empty());
    const Scene slow = scene(jet, "speed_of_sound = 30\n");
    REQUIRE(slow.warnings.size() == 1);
    CHECK(slow.warnings[0].find("sound.toml:9:18: what moves here may reach 4.77 m/s, Mach 0.16") !=
          std::string::npos);
    // With what is chosen unasked, nothing runs above Mach 0.12.
    for (const std::string& more : {jet, ball}) {
        const Scene s = scene(more);
        Driver driver(s.scenario, make_scheme("direct-forcing"));
        driver.start();
        double fastest = 0;
        while (driver.frame() < driver.last_frame()) {
            (void)driver.advance();
            for (const Vec3f& v : driver.world().sph.velocity) fastest = std::max(fastest, double(length(v)));
        }
        CHECK(fastest > 2.5);
        CHECK(fastest / sound(s) < 0.12);
    }
}

TEST_CASE("hydrostatic pressure in a column within 3 percent, at every place and time") {
    for (const Int3 cells : {Int3{48, 48, 1}, Int3{16, 16, 16}}) {
        const Scenario s = with_method(test::tank(cells, 0.5));
        const SphModel model = sph_model(s);
        Driver driver(s, make_scheme(s.method));
        driver.start();
        const SphLiquid& liquid = driver.world().sph;
        const double z = 0.5 * s.domain.size().z, bottom = 1000 * 9.81 * 0.5;
        std::vector<Vec3> places;
        for (const double y : {2 * model.spacing, 0.1, 0.2, 0.3, 0.4})
            for (const double x : {2 * model.spacing, 0.3, 0.5, 0.7}) places.push_back({x, y, z});
        double worst = 0, worst_floor = 0, square = 0;
        int samples = 0;
        while (driver.world().time < 0.5 - 1e-9) {
            const auto [report, dt] = driver.advance();
            if (driver.world().time < 0.1) continue;
            const double weight = 9.81 * model.particle_mass * double(liquid.count());
            worst_floor = std::max(worst_floor, std::abs(report.ledger.walls.y / dt / weight - 1));
            if (driver.world().step % 10 != 0) continue;
            ++samples;
            for (const Vec3 p : places)
                worst = std::max(worst, std::abs(pressure_at(liquid, model, p) - 9810 * (0.5 - p.y)));
            for (const Vec3f v : liquid.velocity) square += dot(Vec3(v), Vec3(v)) / double(liquid.count());
        }
        CHECK(worst < 0.03 * bottom);
        CHECK(worst_floor < 0.03);
        CHECK(std::sqrt(square / samples) < 0.02 * std::sqrt(9.81 * 0.5));
    }
}

TEST_CASE("a dam breaks, hits the far wall and calms down, without clumps or explosions") {
    const Scenario s = with_method(test::dam({24, 24, 1}));
    Driver driver(s, make_scheme(s.method));
    driver.start();
    const SphModel model = sph_model(s);
    double front = 0, densest = 0;
    while (driver.world().time < 1 - 1e-9) {
        (void)driver.advance();
        for (const Vec3 p : driver.world().sph.position) front = std::max(front, p.x);
        for (const float rho : driver.world().sph.density) densest = std::max(densest, double(rho));
    }
    CHECK(front > 1 - 1.01 * model.radius());
    CHECK(densest < 1.19 * model.rest_density);  // the paper's worst, at its impact
    // A particle that the far wall has thrown up is not thrown higher than the column was.
    double energy = 0, start = 0;
    for (std::int64_t i = 0; i < driver.world().sph.count(); ++i) {
        const Vec3 v(driver.world().sph.velocity[i]);
        energy += 0.5 * dot(v, v) + 9.81 * driver.world().sph.position[i].y;
        start += 9.81 * 0.4;
    }
    CHECK(energy < start);
}

TEST_CASE("angular momentum is conserved when forces act at the particles") {
    for (const BoundaryResponse response : {BoundaryResponse::global, BoundaryResponse::local}) {
        Scenario s = tank_with_ball(slab, 0.4, 0.45, 700);
        s.sph.response = response;
        s.solids[0].rigid.velocity = {0.5, -1, 0};
        s.solids[0].slip = 0.2;
        double unaccounted[2] = {0, 0};
        for (const TorqueArm arm : {TorqueArm::contact, TorqueArm::particle}) {
            s.sph.torque_arm = arm;
            Driver driver(s, make_scheme(s.method));
            driver.start();
            for (int n = 0; n < 60; ++n)
                unaccounted[arm == TorqueArm::particle] +=
                    std::abs(driver.advance().first.ledger.unaccounted_turning.z);
        }
        CHECK(unaccounted[1] < 1e-5);                  // rounding of single precision, over 4000 particles
        CHECK(unaccounted[0] > 100 * unaccounted[1]);  // friction at the contact point, a radius away
    }
}

TEST_CASE("a body that is coupled one-way falls through water as through air, and the water makes way") {
    Scenario s = tank_with_ball(slab, 0.5, 0.6, 700);
    s.solids[0].rigid.one_way = true;
    Driver driver(s, make_scheme(s.method));
    driver.start();
    double touched = 0;
    while (driver.world().time < 0.2) {
        (void)driver.advance();
        touched = std::max(touched, length(driver.world().loads[0].force));
    }
    const double t = driver.world().time;
    CHECK(touched > 10);
    CHECK(driver.world().bodies[0].velocity.y == near(-9.81 * t).relative(1e-12));
    const PlacedShape ball = shape_of(driver.world(), s, 0);
    for (const Vec3 p : driver.world().sph.position) REQUIRE(ball.distance(p) > 0.99 * sph_model(s).radius());
}

TEST_CASE("the penalty holds water up, and lets it come nearer and bounce more than control forces do") {
    double nearest[2]{}, wobble[2]{};
    for (const bool penalty : {false, true}) {
        Scenario s = with_method(test::tank({16, 16, 1}, 0.4));
        s.method = penalty ? "penalty" : "direct-forcing";
        Driver driver(s, make_scheme(s.method));
        driver.start();
        nearest[penalty] = 1;
        wobble[penalty] = 0;
        while (driver.world().time < 0.4) {
            (void)driver.advance();
            for (const Vec3 p : driver.world().sph.position)
                nearest[penalty] = std::min(nearest[penalty], p.y);
            for (const Vec3f v : driver.world().sph.velocity)
                wobble[penalty] = std::max(wobble[penalty], double(length(v)));
        }
        nearest[penalty] /= sph_model(s).radius();
    }
    CHECK(nearest[0] > 1 - 1e-9);
    CHECK(nearest[1] < 0.99);
    CHECK(nearest[1] > 0);
    CHECK(wobble[1] > 2 * wobble[0]);
    CHECK(penalty_acceleration(SphModel{}, 2 * SphModel{}.radius()) == 0);
}

TEST_CASE("less slip holds back more water on a ramp") {
    // scenes/becker-2009/ramp_*.toml, coarse: what is still there when it has long been flowing off.
    std::int64_t last = std::numeric_limits<std::int64_t>::max();
    for (const double slip : {0.0, 0.25, 0.5, 1.0}) {
        Scenario s = with_method(test::tank({50, 30, 1}, 0));
        s.domain.h = 0.04;
        s.domain.walls[x_high].kind = s.domain.walls[y_low].kind = WallKind::open;
        s.liquid.fills.clear();
        s.liquid.emitters.push_back({make_box({0.02, 0.98, 0}, {0.12, 1.16, s.domain.h}), {1, 0, 0}});
        s.solids.push_back(solid_of("ramp", Motion::fixed, solid_rectangle(1.8, 0.06, s.domain.h),
                                    {0.85, 0.62, 0.5 * s.domain.h}, 1000));
        s.solids[0].start.rotation = Rotation::about({0, 0, 1}, -20 * 3.14159265 / 180);
        s.solids[0].slip = slip;
        s.time.duration = 1.5;
        Driver driver(s, make_scheme(s.method));
        driver.start();
        while (driver.world().time < 1.5 - 1e-9) (void)driver.advance();
        CHECK(driver.world().sph.count() < last);
        last = driver.world().sph.count();
        CHECK(last > 200);
    }
}

TEST_CASE("the ledger explains all momentum of liquid and bodies, whatever they run into") {
    for (const BoundaryResponse response : {BoundaryResponse::global, BoundaryResponse::local})
        for (const Int3 cells : {slab, cube}) {
            Scenario s = tank_with_ball(cells, 0.4, 0.55, 700);
            s.liquid.fills.push_back({make_box({0, 0.4, 0}, {0.2, 0.9, 1}), {1, 0, 0}});
            s.sph.response = response;
            s.solids.push_back(solid_of("post", Motion::fixed, solid_box({0.1, 0.6, 2}),
                                        {0.85, 0.3, 0.5 * s.domain.size().z}, 1000));
            s.solids.back().slip = 0.3;
            Driver driver(s, make_scheme(s.method));
            driver.start();
            const double mass = sph_model(s).particle_mass * double(driver.world().sph.count());
            Vec3 liquid, bodies;
            double touched = 0;
            for (int n = 0; n < 150; ++n) {
                const StepReport report = driver.advance().first;
                liquid += report.ledger.unaccounted;
                bodies += report.ledger.bodies.unaccounted;
                touched += length(report.ledger.bodies.liquid);
            }
            CHECK(touched > 0.1);
            CHECK(length(liquid) < 1e-6 * mass);
            CHECK(length(bodies) < 1e-10 * mass);
        }
}

TEST_CASE("no particle is inside a solid or nearer to a wall than its radius, after any step") {
    for (const Int3 cells : {slab, cube}) {
        Scenario s = tank_with_ball(cells, 0.4, 0.5, 700);
        s.solids[0].rigid.velocity = {0, -2, 0};
        s.solids.push_back(solid_of("paddle", Motion::scripted, solid_box({0.1, 0.3, 2}),
                                    {0.2, 0.3, 0.5 * s.domain.size().z}, 1000));
        s.solids.back().script.velocity = {0.5, 0, 0};
        Driver driver(s, make_scheme(s.method));
        driver.start();
        const SphModel model = sph_model(s);
        const SphSetup setup = sph_setup(s, 1);
        double nearest_solid = 1, nearest_wall = 1;

        for (int n = 0; n < 150; ++n) {
            (void)driver.advance();
            const World& world = driver.world();
            for (std::size_t k = 0; k < s.solids.size(); ++k) {
                const PlacedShape shape = shape_of(world, s, k);
                for (const Vec3 p : world.sph.position) {
                    nearest_solid = std::min(nearest_solid, shape.distance(p) / model.radius());
                    // From the contact point of every sample that it is over, along the normal.
                    Vec3 own = shape.pose.to_body(p);
                    if (s.domain.flat()) own.z = 0;
                    if (const auto sample = setup.surfaces[k].touched(own, own)) {
                        nearest_solid = std::min(nearest_solid,
                                                 dot(own - sample->point, sample->normal) / model.radius());
                    }
                }
            }
            for (const Vec3 p : world.sph.position)
                for (int axis = 0; axis < (s.domain.flat() ? 2 : 3); ++axis)
                    nearest_wall = std::min({nearest_wall, p[axis] / model.radius(),
                                             (s.domain.size()[axis] - p[axis]) / model.radius()});
        }
        CHECK(nearest_solid > 0.99);
        CHECK(nearest_wall > 1 - 1e-9);
    }
}

TEST_CASE("a light ball floats at its draft, a heavy one sinks, with either response") {
    for (const BoundaryResponse response : {BoundaryResponse::global, BoundaryResponse::local}) {
        Scenario light = tank_with_ball({24, 24, 1}, 0.5, 0.5, 500);
        light.sph.response = response;
        Driver floats(light, make_scheme(light.method));
        floats.start();
        double height = 0, weight = 0;
        while (floats.world().time < 1.5 - 1e-9) {
            const double dt = floats.advance().second;
            if (floats.world().time < 0.7) continue;
            height += dt * floats.world().bodies[0].center.y;
            weight += dt;
        }
        // Half of it is under water. The level is that of the particles there are: 1066 of 1/48 m.
        CHECK(std::abs(height / weight - 0.498) < 0.02);

        Scenario heavy = tank_with_ball({24, 24, 1}, 0.5, 0.5, 2000);
        heavy.sph.response = response;
        Driver sinks(heavy, make_scheme(heavy.method));
        sinks.start();
        while (sinks.world().time < 0.5 - 1e-9) (void)sinks.advance();
        CHECK(sinks.world().bodies[0].center.y < 0.3);
    }
}

TEST_CASE("direct-forcing gives the same bits on 1, 2 and 7 threads, and after a restart") {
    for (const Int3 cells : {slab, cube}) {
        const Scenario s = tank_with_ball(cells, 0.4, 0.5, 700);
        std::vector<std::uint64_t> hashes;
        for (const int threads : {1, 2, 7}) {
            set_thread_count(threads);
            Driver driver(s, make_scheme(s.method));
            driver.start();
            for (int n = 0; n < 60; ++n) (void)driver.advance();
            hashes.push_back(state_hash([&](StateVisitor& visit) { driver.visit_state(visit); }));
        }
        set_thread_count(0);
        CHECK(hashes[0] == hashes[1]);
        CHECK(hashes[0] == hashes[2]);

        Driver first(s, make_scheme(s.method)), second(s, make_scheme(s.method));
        first.start();
        for (int n = 0; n < 25; ++n) (void)first.advance();
        SavingVisitor saving;
        first.visit_state(saving);
        RestoringVisitor restoring(saving.saved);
        second.visit_state(restoring);
        for (int n = 25; n < 60; ++n) (void)second.advance();
        CHECK(hashes[0] == state_hash([&](StateVisitor& visit) { second.visit_state(visit); }));
    }
}

TEST_CASE("the penalty grows steadily as liquid comes near, and ends two radii away") {
    const SphModel model = make_sph_model(false, 0.05, 0.1, 1000, 30, 0.1);
    const double radius = model.radius();
    const auto push = [&](double q) { return penalty_acceleration(model, q * radius); };
    // Monaghan's pieces meet: at 2/3, 1 and 2 radii there is no jump.
    for (const double q : {2.0 / 3, 1.0, 2.0})
        CHECK(std::abs(push(q + 1e-9) - push(q - 1e-9)) < 1e-6 * push(1));
    for (int i = 5; i < 39; ++i) CHECK(push(0.05 * i) > push(0.05 * (i + 1)));
    CHECK(push(2.01) == 0);
    CHECK(std::abs(push(1) / (0.02 * 30 * 30 / radius * 0.5) - 1) < 1e-12);
}

TEST_CASE("a pressure probe in particles at rest reads the weight of the water above") {
    const Scenario s = with_method(test::tank({32, 32, 1}, 0.5));
    Driver driver(s, make_scheme(s.method));
    driver.start();
    while (driver.world().time < 0.1) (void)driver.advance();
    Probe probe;
    probe.kind = Probe::Kind::pressure;
    for (const double y : {0.1, 0.25, 0.4}) {
        CAPTURE(y);
        probe.point = {0.5, y, 0.5 * s.domain.h};
        CHECK(std::abs(measure(probe, driver.world(), s) - 9810 * (0.5 - y)) < 0.03 * 9810 * 0.5);
    }
}

TEST_CASE("slip is the share of its velocity that liquid on a rough floor keeps for 1/24 s") {
    for (const double slip : {0.1, 0.5}) {
        CAPTURE(slip);
        // A single layer: every particle touches the floor, and none slides over another.
        Scenario s = with_method(test::tank({32, 32, 1}, 0.5 / 32));
        s.liquid.fills[0].velocity = {1, 0, 0};
        s.domain.walls[y_low].slip = slip;
        s.domain.walls[x_low].kind = s.domain.walls[x_high].kind = WallKind::open;
        s.sph.artificial_viscosity = 0;
        Driver driver(s, make_scheme(s.method));
        driver.start();
        while (driver.frame() < 1) (void)driver.advance();
        const World& world = driver.world();
        double sum = 0;
        int count = 0;
        for (std::int64_t i = 0; i < world.sph.count(); ++i)
            if (std::abs(world.sph.position[i].x - 0.5) < 0.25) sum += world.sph.velocity[i].x, ++count;
        REQUIRE(count > 10);
        CHECK(std::abs(sum / count - slip) < 0.01);
    }
}

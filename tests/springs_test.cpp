// Solids made of springs: their forces, how they move, how they are built.
#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "geometry/mesh_surface.h"
#include "near.h"
#include "solid/spring/spring_body.h"
#include "solid/spring/spring_contact.h"
#include "worlds.h"

using namespace flotsam;

namespace {

SpringBody body_of(SpringNet net, Vec3 velocity = {}, Vec3 spin = {}) {
    SpringProperties properties;
    properties.net = std::make_shared<SpringNet>(std::move(net));
    properties.velocity = velocity;
    properties.spin = spin;
    return make_spring_body(0, properties, {{1, 2, 3}, Rotation::about({1, 1, 0}, 0.4)});
}

SpringNet cube(double damping = 0, NetKind kind = NetKind::lattice) {
    return spring_lattice(solid_box({0.4, 0.4, 0.4}), 0.1, {500, 1e4, damping}, kind);
}

void shake(SpringBody& body, double by, double speed) {
    for (std::size_t i = 0; i < body.position.size(); ++i)
        for (int a = 0; a < 3; ++a) {
            body.position[i][a] += by * test::noise(std::int64_t(6 * i) + a);
            body.velocity[i][a] += speed * test::noise(std::int64_t(6 * i) + 3 + a);
        }
}

double energy(const SpringBody& body) {
    return kinetic_energy(body) + spring_energy(*body.net, body.position);
}

// The largest distance of a node from where the best rigid pose would have it.
double deformation(const SpringBody& body) {
    const Pose pose = pose_of(body);
    double worst = 0;
    for (std::size_t i = 0; i < body.position.size(); ++i)
        worst = std::max(worst, length(body.position[i] - pose.to_world(body.net->rest[i])));
    return worst;
}

}  // namespace

TEST_CASE("springs: forces are the slope of the energy, and damping takes energy away") {
    SpringBody body = body_of(cube());
    shake(body, 0.02, 0);
    std::vector<Vec3> force(body.position.size());
    add_spring_forces(*body.net, body.position, body.velocity, force);
    const double step = 1e-6;
    for (std::size_t i = 0; i < body.position.size(); i += 5)
        for (int a = 0; a < 3; ++a) {
            std::vector<Vec3> x = body.position;
            x[i][a] += step;
            const double up = spring_energy(*body.net, x);
            x[i][a] -= 2 * step;
            const double slope = (up - spring_energy(*body.net, x)) / (2 * step);
            CHECK(force[i][a] == near(-slope).relative(1e-7));
        }

    SpringBody damped = body_of(cube(0.3));
    shake(damped, 0, 1);  // at rest, so that only the damping acts
    std::fill(force.begin(), force.end(), Vec3{});
    add_spring_forces(*damped.net, damped.position, damped.velocity, force);
    double power = 0;
    Vec3 sum;
    for (std::size_t i = 0; i < force.size(); ++i) {
        power += dot(force[i], damped.velocity[i]);
        sum += force[i];
    }
    CHECK(power < 0);
    CHECK(length(sum) < 1e-9);
}

TEST_CASE("springs: a free body keeps its momenta; without damping its energy too") {
    for (const double damping : {0.0, 0.3}) {
        SpringBody body = body_of(cube(damping), {1, 2, -0.5}, {3, -1, 2});
        shake(body, 0.01, 0.5);
        const Vec3 linear = momentum(body), angular = angular_momentum(body);
        const double start = energy(body);
        for (int step = 0; step < 100; ++step) advance(body, {}, 0.01, {});
        CHECK(length(momentum(body) - linear) < 1e-11 * length(linear));
        CHECK(length(angular_momentum(body) - angular) < 1e-10 * length(angular));
        if (damping == 0)
            CHECK(energy(body) == near(start).relative(5e-4));
        else
            CHECK(energy(body) < 0.95 * start);
    }
}

TEST_CASE("springs: a body falls as Galilei says, and its pose follows") {
    SpringBody body = body_of(cube(0.1));
    const Pose start = pose_of(body);
    CHECK(length(start.position - Vec3{1, 2, 3}) < 1e-12);
    for (int step = 0; step < 50; ++step) advance(body, {0, -9.81, 0}, 0.01, {});
    const Pose end = pose_of(body);
    CHECK(end.position.y == near(2 - 0.5 * 9.81 * 0.25).relative(1e-12));
    CHECK(length(rotation_vector(end.rotation * start.rotation.inverse())) < 1e-6);
}

TEST_CASE("springs: an elastic cube that was squeezed regains its shape") {
    for (const NetKind kind : {NetKind::lattice, NetKind::shell}) {
        SpringBody body = body_of(cube(0.3, kind));
        const Vec3 center = center_of_mass(body);
        for (Vec3& p : body.position) p.y = center.y + 0.7 * (p.y - center.y);
        const double squeezed = deformation(body), volume = enclosed_volume(skin_of(body));
        CHECK(volume == near(0.7 * 0.064).relative(1e-6));
        for (int step = 0; step < 300; ++step) advance(body, {}, 0.01, {});
        CHECK(deformation(body) < 0.01 * squeezed);
        CHECK(enclosed_volume(skin_of(body)) == near(0.064).relative(1e-6));
    }
}

TEST_CASE("springs: a lattice has the stiffness that was asked for, and Poisson's ratio 1/4") {
    // Pulled along x, its sides free to follow: the force over the cross-section is E times the strain. The
    // outermost rows have fewer neighbours, so that a thin bar differs from the bulk: the less the finer it
    // is.
    const double E = 1e4, strain = 0.002;
    for (const double s : {0.2, 0.1}) {
        const SpringNet net = spring_lattice(solid_box({1.2, 0.8, 0.8}), s, {500, E, 1});
        SpringProperties properties;
        properties.net = std::make_shared<SpringNet>(net);
        SpringBody body = make_spring_body(0, properties, {});
        const double end = 0.6 - 0.5 * s - 1e-6;
        // The ends are held apart by hand after every step; the rest comes to rest.
        const auto hold = [&] {
            for (std::size_t i = 0; i < net.rest.size(); ++i)
                if (std::abs(net.rest[i].x) > end) {
                    body.position[i].x = (1 + strain) * net.rest[i].x;
                    body.velocity[i].x = 0;
                }
        };
        for (int step = 0; step < 4000; ++step) {
            hold();
            advance(body, {}, 0.001, {});
            for (Vec3& v : body.velocity) v *= 0.985;
        }
        hold();
        // Without velocities: those of the last step would pull, too.
        const std::vector<Vec3> at_rest(net.rest.size());
        std::vector<Vec3> force(net.rest.size());
        add_spring_forces(net, body.position, at_rest, force);
        double pull = 0, width = 0, narrower = 0;
        for (std::size_t i = 0; i < net.rest.size(); ++i) {
            const Vec3 p = net.rest[i];
            if (p.x > end) pull -= force[i].x;
            if (std::abs(p.x) > 0.25) continue;
            width += std::abs(p.y);
            narrower += std::abs(p.y) - std::abs(body.position[i].y);
        }
        const double rows = 0.8 / s;
        CAPTURE(rows);
        CHECK(pull / 0.64 / strain < E);
        CHECK(pull / 0.64 / strain == near(E).relative(0.7 / rows));
        CHECK(narrower / width / strain == near(0.25).absolute(0.2 / rows));
    }
}

TEST_CASE("springs: mass and surface of every shape that can be built") {
    const auto check = [](const SolidShape& shape, double spacing) {
        for (const NetKind kind : {NetKind::lattice, NetKind::shell}) {
            const SpringNet net = spring_lattice(shape, spacing, {700, 1e5, 0.1}, kind);
            REQUIRE(!net.springs.empty());
            const double volume = enclosed_volume(shape.mesh);
            CHECK(net.total_mass() == near(700 * volume).relative(1e-12));
            CHECK(boundary_edge_count(net.mesh) == 0);
            CHECK(enclosed_volume(skin_of(net, net.rest)) == near(volume).relative(1e-12));
            // It holds together: every node hangs on others.
            std::vector<int> springs(net.rest.size(), 0);
            for (const Spring& spring : net.springs) ++springs[spring.a], ++springs[spring.b];
            for (const int count : springs) CHECK(count >= 3);
        }
    };
    check(solid_box({0.3, 0.5, 0.2}), 0.05);
    check(solid_sphere(0.2, 0.03), 0.05);
    check(solid_torus(0.3, 0.1, 0.03), 0.04);
    // Too coarse for its shape: no net rather than one that falls flat.
    CHECK(spring_lattice(solid_box({1, 0.1, 1}), 0.2, {}).springs.empty());
}

TEST_CASE("springs: walls and fixed solids stop nodes") {
    SpringNet ball = single_node(solid_sphere(0.1, 0.02), 0.1, 500);
    CHECK(ball.total_mass() == near(500 * 4.0 / 3 * std::numbers::pi * 0.001).relative(1e-12));
    SpringProperties properties;
    properties.net = std::make_shared<SpringNet>(ball);
    NodeConfines confines;
    confines.sides = {{0, 0, 0}, {1, 1, 1}};
    confines.closed.fill(true);
    SpringBody body = make_spring_body(0, properties, {{0.5, 0.5, 0.5}, {}});
    for (int step = 0; step < 200; ++step) advance(body, {0, -9.81, 0}, 0.01, confines);
    CHECK(body.position[0].y == near(0.1).relative(1e-12));
    CHECK(length(body.velocity[0]) < 0.2);

    const SolidShape post = solid_box({0.2, 0.2, 0.2});
    confines.fixed.push_back({post.distance, {{0.5, 0.1, 0.5}, {}}, {{0.4, 0, 0.4}, {0.6, 0.2, 0.6}}});
    body = make_spring_body(0, properties, {{0.5, 0.7, 0.5}, {}});
    for (int step = 0; step < 200; ++step) advance(body, {0, -9.81, 0}, 0.01, confines);
    CHECK(body.position[0].y == near(0.3).relative(1e-9));
}

TEST_CASE("springs: bodies do not enter each other, and what one gets the other gives") {
    SpringProperties ball, cube;
    ball.net = std::make_shared<SpringNet>(single_node(solid_sphere(0.1, 0.02), 0.1, 500));
    cube.net = std::make_shared<SpringNet>(spring_lattice(solid_box({0.3, 0.3, 0.3}), 0.05, {300, 1e5, 0.3}));
    ball.velocity = {-1, 0, 0};
    std::vector<SpringBody> bodies{make_spring_body(0, cube, {{0.3, 0.5, 0.5}, {}}),
                                   make_spring_body(1, ball, {{0.7, 0.52, 0.5}, {}})};
    const auto all = [&] { return momentum(bodies[0]) + momentum(bodies[1]); };
    const Vec3 before = all();
    Vec3 given;
    for (int step = 0; step < 100; ++step) {
        for (SpringBody& body : bodies) advance(body, {}, 0.003, {});
        const Vec3 cube_before = momentum(bodies[0]);
        const std::vector<Vec3> impulse = collide(bodies, [](std::size_t, std::size_t) {
            return ContactLaw{0.3, 0.5};
        });
        CHECK(length(impulse[0] + impulse[1]) < 1e-14);
        CHECK(length(momentum(bodies[0]) - cube_before - impulse[0]) < 1e-13);
        given += impulse[0];
        double nearest = 1;
        for (const Vec3 x : bodies[0].position)
            nearest = std::min(nearest, length(x - bodies[1].position[0]));
        CHECK(nearest > 0.11);  // of 0.125; one pass leaves a little
    }
    CHECK(length(all() - before) < 1e-12);
    CHECK(given.x < -1);  // the ball has 2.1 kg m/s
    CHECK(bodies[1].velocity[0].x > -0.3);

    // Nothing happens where they are apart, nor to a body alone.
    bodies[1].position[0] = {0.9, 0.5, 0.5};
    CHECK(length(collide(bodies, [](std::size_t, std::size_t) { return ContactLaw{}; })[0]) == 0);
}

TEST_CASE("springs: the spin of a turning body") {
    SpringProperties cube;
    cube.net = std::make_shared<SpringNet>(spring_lattice(solid_box({0.3, 0.2, 0.3}), 0.05, {300, 1e5, 0.3}));
    cube.spin = {1, -2, 0.5};
    cube.velocity = {3, 0, 0};
    CHECK(length(spin_of(make_spring_body(0, cube, {{1, 2, 3}, {}})) - cube.spin) < 1e-10);
}

TEST_CASE(
    "springs: a strut through a hollow gives as the springs that it stands for do one after the other") {
    const double E = 2e4, s = 0.1;
    const SpringNet net = spring_lattice(solid_box({0.6, 0.6, 0.6}), s, {500, E, 0.2}, NetKind::shell);
    int struts = 0;
    for (const Spring& spring : net.springs) {
        const Vec3 way = net.rest[spring.a] - net.rest[spring.b];
        const double steps = std::round(std::max({std::abs(way.x), std::abs(way.y), std::abs(way.z)}) / s);
        CHECK(std::abs(spring.stiffness - 0.4 * E * s / steps) < 1e-9 * E);
        struts += steps > 1;
    }
    CHECK(struts > 20);
}

TEST_CASE("springs: friction at a wall and between bodies follows the impact, and turns nothing round") {
    SpringProperties ball;
    ball.net = std::make_shared<SpringNet>(single_node(solid_sphere(0.1, 0.02), 0.1, 500));
    NodeConfines confines;
    confines.sides = {{0, 0, 0}, {9, 9, 9}};
    confines.closed.fill(true);
    confines.friction = 0.3;
    confines.restitution = 0.5;
    // It arrives with 2 m/s: the wall gives 3 m/s across, and takes 0.9 m/s of what slides, or all of it.
    for (const double sliding : {1.5, 0.4}) {
        CAPTURE(sliding);
        ball.velocity = {sliding, -2, 0};
        SpringBody body = make_spring_body(0, ball, {{5, 0.1001, 5}, {}});
        advance(body, {}, 0.01, confines);
        CHECK(std::abs(body.velocity[0].y - 1) < 1e-12);
        CHECK(std::abs(body.velocity[0].x - std::max(0.0, sliding - 0.9)) < 1e-12);

        // Two of the same: what was between them is shared.
        std::vector<SpringBody> bodies{make_spring_body(0, ball, {{5, 5.1999, 5}, {}})};
        ball.velocity = {};
        bodies.push_back(make_spring_body(1, ball, {{5, 5, 5}, {}}));
        collide(bodies, [](std::size_t, std::size_t) { return ContactLaw{0.3, 0.5}; });
        const Vec3 apart = bodies[0].velocity[0] - bodies[1].velocity[0];
        CHECK(std::abs(apart.y - 1) < 1e-12);
        CHECK(std::abs(apart.x - std::max(0.0, sliding - 0.9)) < 1e-12);
    }
}

TEST_CASE(
    "springs: inside a lattice a stretched cube holds the energy of its stiffness, at Poisson's ratio 1/4") {
    const double E = 3e4, s = 0.1, e = 1e-4;
    const SpringNet net = spring_lattice(solid_box({0.5, 0.5, 0.5}), s, {500, E, 0.2});
    std::size_t middle = 0;
    for (std::size_t i = 0; i < net.rest.size(); ++i)
        if (length(net.rest[i]) < length(net.rest[middle])) middle = i;
    REQUIRE(length(net.rest[middle]) < 1e-9);
    // Per volume: half of what each spring of a node holds, over the cube that is the node's.
    const auto density = [&](double along, double across) {
        double sum = 0;
        for (const Spring& spring : net.springs) {
            if (spring.a != int(middle) && spring.b != int(middle)) continue;
            const Vec3 way = net.rest[spring.a] - net.rest[spring.b];
            const double now = length(Vec3{(1 + along) * way.x, (1 + across) * way.y, (1 + across) * way.z});
            sum += 0.25 * spring.stiffness * (now - spring.length) * (now - spring.length);
        }
        return sum / (s * s * s);
    };
    CHECK(std::abs(density(e, -0.25 * e) / (0.5 * E * e * e) - 1) < 1e-3);
    CHECK(density(e, -0.25 * e) < density(e, -0.2 * e));
    CHECK(density(e, -0.25 * e) < density(e, -0.3 * e));
}

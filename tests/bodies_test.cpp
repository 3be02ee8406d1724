// What every kind of body answers: a new kind is in here with its solid in `one_of_each`.
#include <doctest/doctest.h>

#include "elastic_bodies.h"
#include "near.h"
#include "saved_state.h"
#include "world/world.h"

using namespace flotsam;

namespace {

const Vec3 edges{0.4, 0.3, 0.5}, velocity{0.3, -0.2, 0.5}, spin{0.7, 1.1, -0.4};

// A box of each kind, and two that do not move by themselves between them.
Scenario one_of_each() {
    Scenario s;
    for (const Motion motion :
         {Motion::fixed, Motion::elastic, Motion::rigid, Motion::scripted, Motion::spring}) {
        Solid solid;
        solid.name = "solid" + std::to_string(s.solids.size());
        solid.motion = motion;
        solid.shape = solid_box(edges);
        solid.start = {{double(s.solids.size()), 0.5, 0.2}, Rotation::about({1, 2, 0}, 0.6)};
        s.solids.push_back(solid);
    }
    ElasticProperties& elastic = s.solids[1].elastic;
    elastic = lattice_properties(edges, {2, 2, 2}, {.density = 500});
    elastic.velocity = velocity, elastic.spin = spin;
    RigidProperties& rigid = s.solids[2].rigid;
    rigid.mass = mass_properties(enclosed_moments(s.solids[2].shape.mesh), 500);
    rigid.velocity = velocity, rigid.spin = spin;
    SpringProperties& spring = s.solids[4].spring;
    spring.net = std::make_shared<SpringNet>(spring_lattice(s.solids[4].shape, 0.1, {500, 1e5, 0.1}));
    s.solids[4].shape.mesh = spring.net->mesh;
    spring.velocity = velocity, spring.spin = spin;
    return s;
}

// A body a short time later, when nothing acts on it.
void move_on(RigidBody& body, double time) { advance(body, time); }
template <class Body>
void move_on(Body& body, double time) {
    for (std::size_t n = 0; n < body.position.size(); ++n) body.position[n] += time * body.velocity[n];
}

}  // namespace

TEST_CASE("bodies are made once for each solid that moves by itself, in the scenario's order") {
    const Scenario s = one_of_each();
    const World world = world_at_start(s);
    CHECK(count_bodies(world) == 3);
    std::vector<int> solids;
    for_each_body(world, [&](const auto& body) { solids.push_back(body.solid); });
    CHECK(solids == std::vector<int>{2, 4, 1});  // rigid, springs, elastic
    for (std::size_t n = 0; n < s.solids.size(); ++n) {
        CAPTURE(n);
        int found = -1;
        CHECK(with_body(world, n, [&](const auto& body) { found = body.solid; }) ==
              moves_by_itself(s.solids[n].motion));
        if (found >= 0) CHECK(found == int(n));
    }
    CHECK_FALSE(may_deform(Motion::rigid));
    CHECK_FALSE(deforms(s.solids[0]));
    CHECK(deforms(s.solids[1]));
    CHECK(deforms(s.solids[4]));
}

TEST_CASE("what a body answers fits together, whatever kind it is") {
    const Scenario s = one_of_each();
    const World world = world_at_start(s);
    for_each_body(world, [&](const auto& body) {
        CAPTURE(body.solid);
        const Solid& solid = s.solids[body.solid];
        const Pose pose = pose_of(body);
        CHECK(length(pose.position - solid.start.position) < 1e-9);
        CHECK(mass_of(body) == near(500 * edges.x * edges.y * edges.z).relative(1e-9));
        CHECK(length(velocity_of(body) - velocity) < 1e-12);
        CHECK(length(velocity_at_start(solid) - velocity) == 0);
        CHECK(length(spin_of(body) - spin) < 1e-9);
        CHECK(length(momentum(body) - mass_of(body) * velocity) < 1e-12);
        CHECK(kinetic_energy(body) > 0.5 * mass_of(body) * dot(velocity, velocity));
        CHECK(distortion(body) < 1e-9);
        // The surface moves as its velocities say.
        const TriangleMesh surface = surface_of(body, solid.shape.mesh);
        const std::vector<Vec3> moving = surface_velocity(body, surface);
        REQUIRE(moving.size() == surface.vertices.size());
        auto later = body;
        move_on(later, 1e-5);
        const TriangleMesh next = surface_of(later, solid.shape.mesh);
        for (std::size_t v = 0; v < moving.size(); ++v) {
            const Vec3 expected = velocity + cross(spin, surface.vertices[v] - solid.start.position);
            CHECK(length(moving[v] - expected) < 1e-3);
            CHECK(length((next.vertices[v] - surface.vertices[v]) / 1e-5 - expected) < 1e-3);
        }
        // A followed point moves with it.
        if constexpr (requires { follow(body, velocity); }) {
            const Vec3 point = solid.start.to_world({0.1, -0.05, 0.12});
            const auto followed = follow(body, point);
            // Springs keep their neighbourhoods regular with a millionth of the identity (skin_of).
            CHECK(length(place_of(body, followed) - point) < 1e-7);
            CHECK(length(place_of(later, followed) - point -
                         1e-5 * (velocity + cross(spin, point - solid.start.position))) < 1e-8);
        }
    });
}

TEST_CASE("every kind of body is saved and restored") {
    const Scenario s = one_of_each();
    World world = world_at_start(s), other = world_at_start(s);
    for_each_body(world, [](auto& body) {
        move_on(body, 0.1);
        for (Vec3& v : velocities(body)) v += Vec3{0.1, 0.2, 0.3};
    });
    SavingVisitor save;
    world.visit_state(save, s);
    RestoringVisitor restore(save.saved);
    other.visit_state(restore, s);
    for_each_kind(world, [&](const auto& kind, const auto& bodies) {
        for_each_kind(other, [&](const auto& same, const auto& restored) {
            if (same.motion != kind.motion) return;
            for (std::size_t b = 0; b < bodies.size(); ++b) {
                CHECK(pose_of(bodies[b]).position == pose_of(restored[b]).position);
                CHECK(kinetic_energy(bodies[b]) == kinetic_energy(restored[b]));
            }
        });
    });
}

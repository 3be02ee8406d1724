// What a run tells about its solids: particles that should not be there, loads, and the surface beside them.
#include <doctest/doctest.h>

#include "geometry/surface_nets.h"
#include "io/frames.h"
#include "near.h"
#include "sim/measure.h"
#include "worlds.h"

using namespace flotsam;

namespace {

// A turned post in a pool.
Scenario pool(Int3 cells) {
    Scenario s = test::tank(cells, 0.4);
    Solid post;
    post.name = "post";
    post.shape = solid_box({0.23, 0.9, 0.31});
    post.start = {{0.52, 0.3, 0.47}, Rotation::about({0, 1, 0}, 0.4)};
    s.solids.push_back(post);
    return s;
}

double quantity(std::string_view name, const World& world, const Scenario& s) {
    for (const Quantity& q : quantities())
        if (q.name == name) return q.value(world, s, StepReport{});
    FAIL("no such quantity");
    return 0;
}

}  // namespace

TEST_CASE("particles inside a solid, where it is now, and outside the domain are counted") {
    Scenario s = pool({16, 16, 16});
    s.solids[0].motion = Motion::scripted;
    s.solids[0].script.velocity = {0.1, 0, 0};
    World world;
    world.loads.resize(1);
    world.liquid.particles.position = {{0.52f, 0.3f, 0.47f}, {0.1f, 0.3f, 0.5f}, {0.5f, 1.2f, 0.5f}};
    CHECK(quantity("liquid.particles_inside_solids", world, s) == 2);
    world.time = 3;  // the post has passed by
    CHECK(quantity("liquid.particles_inside_solids", world, s) == 1);
}

TEST_CASE("a solid's tilt is the angle of its y axis, however it is turned about it") {
    Scenario s = pool({16, 16, 16});
    World world;
    Probe probe;
    probe.kind = Probe::Kind::tilt;
    CHECK(measure(probe, world, s) == near(0).absolute(1e-12));
    s.solids[0].start.rotation = Rotation::about({1, 0, 2}, 2.0) * s.solids[0].start.rotation;
    CHECK(measure(probe, world, s) == near(2.0 * 180 / 3.14159265358979).relative(1e-12));
}

TEST_CASE("the exported volume hugs solids: it encloses the liquid's volume") {
    Scenario s = pool({32, 24, 32});
    s.time.duration = 2.0 / 24;
    Driver driver(s, make_scheme("cut-cell"));
    driver.start();
    while (driver.frame() < driver.last_frame()) (void)driver.advance();
    const World& world = driver.world();
    CHECK(quantity("liquid.particles_inside_solids", world, s) == 0);
    const double volume = quantity("liquid.volume", world, s);
    CHECK(volume == near(0.4 * (1 - 0.23 * 0.31)).relative(5e-3));
    Field<double> phi = world.liquid.phi;
    end_at_solids(phi, s.domain, world, s, 0);
    const SurfaceMesh mesh = extract_surface(phi, s.domain.h);
    CHECK(enclosed_volume(mesh) == near(volume).relative(2e-3));
    // The liquid's own distance goes on through the post.
    CHECK(enclosed_volume(extract_surface(world.liquid.phi, s.domain.h)) > 1.05 * volume);
    // No vertex far inside the post.
    const Pose pose = pose_at(s.solids[0], world.time);
    double deepest = 0;
    for (const Vec3f& v : mesh.vertices)
        deepest = std::min(deepest, s.solids[0].shape.distance->distance(pose.to_body(Vec3(v))));
    CHECK(deepest > -0.5 * s.domain.h);
}

// The library as another program sees it: only its header.
#include <doctest/doctest.h>
#include <flotsam/flotsam.h>

#include <fstream>

#include "near.h"
#include "scratch_folder.h"

using flotsam::Error;
using flotsam::near;
using flotsam::Simulation;

namespace {

const std::string pool = R"(
[scene]
duration = 1.0
frames_per_second = 20
[domain]
size = [0.5, 0.4, 0.4]
resolution = 16
[[liquid.fill]]
level = 0.15
[[solid]]
name = "ball"
shape = { sphere = 0.05 }
motion = "rigid"
position = [0.25, 0.3, 0.2]
density = 400
[[solid]]
name = "post"
shape = { box = [0.06, 0.4, 0.06] }
position = [0.1, 0.2, 0.2]
[[solid]]
name = "stirrer"
shape = { box = [0.06, 0.06, 0.06] }
motion = "scripted"
position = [0.4, 0.1, 0.2]
spin = [0, 1.5, 0]
[[probe]]
name = "depth"
height = [0.45, 0.05]
)";

// What the work throws; fails when it throws nothing.
template <class Work>
Error error_of(const Work& work) {
    try {
        work();
    } catch (const Error& error) {
        return error;
    }
    FAIL("nothing was thrown");
    return {Error::Cause::input, ""};
}

}  // namespace

TEST_CASE("library: a scene is loaded, stepped and looked at") {
    Simulation simulation = Simulation::from_text(pool, {.set = {"liquid.density=900"}, .scale = 0.75});
    CHECK(simulation.duration() == 1);
    CHECK(simulation.frames_per_second() == 20);
    CHECK(simulation.cell_size() == near(0.5 / 12).relative(1e-12));
    CHECK(simulation.size()[0] == near(0.5).relative(1e-12));
    CHECK(simulation.time() == 0);
    CHECK(simulation.bodies()[0].position[1] == 0.3);

    simulation.advance_frame();
    CHECK(simulation.frame() == 1);
    CHECK(simulation.time() == 0.05);
    // Before it meets the water the ball falls freely.
    const flotsam::Body ball = simulation.bodies()[0];
    CHECK(ball.name == "ball");
    CHECK(ball.motion == "rigid");
    CHECK(ball.velocity[1] == near(-9.81 * 0.05).relative(1e-6));
    CHECK(ball.rotation[3] == near(1).relative(1e-9));
    CHECK(simulation.bodies()[1].motion == "static");
    CHECK(simulation.bodies()[2].spin[1] == near(1.5).relative(1e-9));

    const flotsam::Mesh water = simulation.surface(), sphere = simulation.body_mesh(0);
    CHECK(water.vertices.size() == water.velocities.size());
    CHECK(water.triangles.size() > 100);
    CHECK(sphere.velocities[0][1] == near(ball.velocity[1]).relative(1e-5));
    for (const flotsam::Point& p : sphere.vertices) CHECK(p[1] == near(ball.position[1]).absolute(0.0505));
    const flotsam::Droplets particles = simulation.particles();
    CHECK(particles.volume * double(particles.positions.size()) ==
          near(simulation.liquid_volume()).relative(0.03));
    CHECK(simulation.measurements()[0].probe == "depth");
    CHECK(simulation.measurements()[0].value == near(0.15).absolute(0.02));
}

TEST_CASE("library: times are met exactly, and frames are not lost between them") {
    Simulation simulation = Simulation::from_text(pool);
    simulation.advance_to(0.03);
    CHECK(simulation.time() == 0.03);
    CHECK(simulation.frame() == 0);
    simulation.advance_to(0.01);  // past
    CHECK(simulation.time() == 0.03);
    simulation.advance_to(0.1 + 1e-10);  // a frame, up to rounding: no tiny step
    CHECK(simulation.time() == 0.1);
    CHECK(simulation.frame() == 2);
    simulation.advance_to(0.1 + 2e-10);
    CHECK(simulation.time() == 0.1);
    simulation.advance_to(0.15 - 1e-10);
    CHECK(simulation.frame() == 3);
}

TEST_CASE("library: a saved state goes on with the same bits, in any simulation of its scene") {
    const flotsam::ScratchFolder scratch;
    const auto file = scratch / "state.h5";
    Simulation simulation = Simulation::from_text(pool);
    simulation.advance_to(0.12);
    simulation.save(file);
    simulation.advance_to(0.22);
    const auto end = simulation.particles().positions;
    const flotsam::Vector ball = simulation.bodies()[0].position;

    simulation.restore(file);  // backwards
    CHECK(simulation.time() == 0.12);
    simulation.advance_to(0.22);
    CHECK(simulation.particles().positions == end);
    Simulation other = Simulation::from_text(pool);
    other.restore(file);
    other.advance_to(0.22);
    CHECK(other.particles().positions == end);
    CHECK(other.bodies()[0].position == ball);
}

TEST_CASE("library: every error is an Error that says whose it is, and changes nothing") {
    const flotsam::ScratchFolder scratch;
    const Error typo = error_of([] { (void)Simulation::from_text("[scene]\nduratoin = 1.0\n"); });
    CHECK(typo.cause == Error::Cause::input);
    CHECK(std::string(typo.what()).find("duratoin") != std::string::npos);
    CHECK(error_of([] { (void)Simulation::from_file("/nowhere.toml"); }).cause == Error::Cause::input);

    Simulation simulation = Simulation::from_text(pool);
    simulation.advance_frame();
    simulation.save(scratch / "good.h5");
    const auto before = simulation.particles().positions;
    CHECK(error_of([&] { simulation.save("/nowhere/state.h5"); }).cause == Error::Cause::disk);
    CHECK(error_of([&] { simulation.restore(scratch / "none.h5"); }).cause == Error::Cause::disk);
    std::ofstream(scratch / "bad.h5") << "no state";
    CHECK(error_of([&] { simulation.restore(scratch / "bad.h5"); }).cause == Error::Cause::disk);
    Simulation finer = Simulation::from_text(pool, {.scale = 1.25});
    const Error other_scene = error_of([&] { finer.restore(scratch / "good.h5"); });
    CHECK(other_scene.cause == Error::Cause::input);
    CHECK(finer.time() == 0);
    CHECK(error_of([&] { (void)simulation.body_mesh(3); }).cause == Error::Cause::input);
    CHECK(error_of([&] { (void)simulation.surface(0); }).cause == Error::Cause::input);
    CHECK(error_of([&] { simulation.advance_to(0.0 / 0.0); }).cause == Error::Cause::input);
    CHECK(simulation.particles().positions == before);
}

TEST_CASE("library: when no step succeeds any more, the simulation stands before it") {
    // Retries are off and the solver may not iterate.
    Simulation simulation = Simulation::from_text(
        pool, {.set = {"solver.max_iterations=1", "solver.tolerance=1e-12", "scene.retry=false"}});
    CHECK(error_of([&] { simulation.advance_frame(); }).cause == Error::Cause::step);
    CHECK(simulation.time() == 0);
}

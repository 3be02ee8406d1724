// What a run tells about its solids: particles that should not be there, loads, and the surface beside them.
#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <numbers>

#include "elastic_bodies.h"
#include "geometry/surface_nets.h"
#include "io/frames.h"
#include "io/ply.h"
#include "near.h"
#include "scene/scene.h"
#include "scratch_folder.h"
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

TEST_CASE("the top of a level is the level, and crests, sheets and what solids hide keep their own") {
    const auto top_of = [](const Scenario& s) {
        Driver driver(s, make_scheme("cut-cell"));
        driver.start();
        return quantity("liquid.top", driver.world(), s);
    };
    for (const Int3 cells : {Int3{20, 20, 20}, Int3{40, 40, 1}})
        for (const double level : {0.6, 0.5871, 0.613})
            for (const std::uint64_t seed : {1, 2, 3}) {
                Scenario s = test::tank(cells, level);
                s.liquid.seed = seed;
                CAPTURE(level);
                CHECK(std::abs(top_of(s) - level) < 0.13 * s.domain.h);
            }
    // Half a wave that is four cells high and one cell high.
    for (const double height : {0.1, 0.025}) {
        Scenario s = test::tank({40, 40, 1}, 0);
        s.liquid.fills = {{make_level(0.5, height, 2), {}}};
        CHECK(std::abs(top_of(s) - 0.5 - height) < 0.15 * s.domain.h);
    }
    // A wall of water two cells thick has no level beside it.
    Scenario sheet = test::tank({20, 20, 20}, 0.2);
    sheet.liquid.fills.push_back({make_box({0.4, -1, -1}, {0.5, 0.7, 2}), {}});
    CHECK(std::abs(top_of(sheet) - 0.7) < 0.5 * sheet.domain.h);
    // Liquid does not reach into a block that hangs over it, and is beside one that stands in it.
    for (const double bottom : {0.63, 0.3}) {
        Scenario s = test::tank({20, 20, 20}, 0.6);
        Solid block;
        block.name = "block";
        block.shape = solid_box({0.4, 0.3, 0.4});
        block.start.position = {0.5, bottom + 0.15, 0.5};
        s.solids.push_back(block);
        CHECK(std::abs(top_of(s) - 0.6) < 0.25 * s.domain.h);
    }
}

TEST_CASE("a point of a solid is followed as the solid moves and deforms") {
    const auto text = [](const std::string& method, const std::string& motion, const std::string& at) {
        return "[scene]\nduration = 0.25\nmethod = \"" + method +
               "\"\n[domain]\nsize = [1, 1, 1]\nresolution = 16\n[[liquid.fill]]\nlevel = 0.1\n"
               "[[solid]]\nname = \"bar\"\n" +
               motion +
               "shape = { box = [0.4, 0.2, 0.2] }\nposition = [0.5, 0.6, 0.5]\n"
               "rotation = { axis = [0, 0, 1], degrees = 30 }\n"
               "[[probe]]\nname = \"P\"\npoint = { solid = \"bar\", at = " +
               at + " }\n[[claim]]\nwhat = \"probe.P.y\"\nmax = 2\n";
    };
    const Vec3 start{0.62, 0.68, 0.55};
    const std::string at = "[0.62, 0.68, 0.55]";
    const Mat3 map{{Vec3{1.1, 0.2, -0.1}, Vec3{-0.3, 0.9, 0.2}, Vec3{0.1, 0, 1.3}}};
    const auto deformed = [&](Vec3 p) { return map * p + Vec3{0.1, -0.2, 0.3}; };
    for (const auto& [method, motion] :
         {std::pair<std::string, std::string>{"cut-cell",
                                              "motion = \"elastic\"\ndensity = 500\nstiffness = 1e5\n"
                                              "elastic = { squeeze = [0.8, 1, 1.2] }\n"},
          {"marker-springs", "motion = \"spring\"\ndensity = 500\nstiffness = 1e5\n"},
          {"cut-cell", "motion = \"rigid\"\ndensity = 500\n"}}) {
        const std::string how = motion;
        CAPTURE(how);
        const Scene scene = parse_scene(text(method, how, at), "point.toml");
        REQUIRE(scene.probes.size() == 3);
        CHECK(scene.probes[1].name == "P.y");
        World world = world_at_start(scene.scenario);
        const auto place = [&] {
            Vec3 p;
            for (int axis = 0; axis < 3; ++axis) p[axis] = measure(scene.probes[axis], world, scene.scenario);
            return p;
        };
        // Springs follow their nodes by a fit that is regular to a millionth.
        CHECK(length(place() - start) < 1e-6);
        for (SpringBody& body : world.springs)
            for (Vec3& p : body.position) p = deformed(p);
        for (ElasticBody& body : world.elastics)
            for (Vec3& p : body.position) p = deformed(p);
        Vec3 expected = deformed(start);
        for (RigidBody& body : world.bodies) {
            body.angular_momentum = inertia_in_world(body) * Vec3{0, 0, 3};
            advance(body, 0.5);
            const Vec3 arm = start - Vec3{0.5, 0.6, 0.5};
            expected = body.center + Rotation::about({0, 0, 1}, 1.5) * arm;
        }
        CHECK(length(place() - expected) < 1e-5);
    }
    const auto error_of = [](const std::string& broken) {
        try {
            parse_scene(broken, "point.toml");
        } catch (const UserError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const std::string rigid = "motion = \"rigid\"\ndensity = 500\n";
    CHECK(error_of(text("cut-cell", rigid, "[0.1, 0.9, 0.5]")).find("outside \"bar\"") != std::string::npos);
    std::string unknown = text("cut-cell", rigid, at);
    unknown.replace(unknown.find("solid = \"bar\""), 13, "solid = \"bat\"");
    CHECK(error_of(unknown).find("did you mean 'bar'?") != std::string::npos);
}

TEST_CASE("in 2D a solid's volume is that of the part within the slab") {
    const Scene scene = parse_scene(R"(
[scene]
duration = 1
dimensions = 2
[domain]
size = [1.0, 1.0]
resolution = 20
[[liquid.fill]]
level = 0.3
[[solid]]
name = "plank"
motion = "rigid"
shape = { box = [0.3, 0.1] }
position = [0.5, 0.6]
rotation = { axis = [0, 0, 1], degrees = 30 }
density = 500
[[solid]]
name = "disc"
shape = { sphere = 0.1 }
position = [0.8, 0.6]
[[solid]]
name = "rubber"
motion = "elastic"
shape = { box = [0.2, 0.1] }
position = [0.2, 0.6]
density = 500
stiffness = 1e5
[[probe]]
name = "plank"
volume = "plank"
[[probe]]
name = "disc"
volume = "disc"
[[probe]]
name = "rubber"
volume = "rubber"
)",
                                    "slab.toml");
    Driver driver(scene.scenario, make_scheme("cut-cell"));
    driver.start();
    const double areas[] = {0.3 * 0.1, 3.14159265358979 * 0.1 * 0.1, 0.2 * 0.1};
    for (std::size_t n = 0; n < 3; ++n) {
        const double volume = measure(scene.probes[n], driver.world(), scene.scenario);
        CAPTURE(scene.probes[n].name);
        // A disc's corners stand out as far as its edges stand in.
        CHECK(std::abs(volume - areas[n] * 0.05) < 1e-3 * areas[n] * 0.05);
    }
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
    CHECK(enclosed_volume(mesh) == near(volume).relative(1e-3));
    // The liquid's own distance goes on through the post.
    CHECK(enclosed_volume(extract_surface(world.liquid.phi, s.domain.h)) > 1.05 * volume);
    // No vertex far inside the post.
    const Pose pose = pose_at(s.solids[0], world.time);
    double deepest = 0;
    for (const Vec3f& v : mesh.vertices)
        deepest = std::min(deepest, s.solids[0].shape.distance->distance(pose.to_body(Vec3(v))));
    CHECK(deepest > -0.5 * s.domain.h);
}

TEST_CASE("what fills a box, fixed or moving and turning with a solid") {
    Scenario s = pool({16, 16, 16});
    s.solids[0].start = {{0.5, 0.5, 0.5}, Rotation::about({0, 0, 1}, std::numbers::pi / 2)};
    s.solids[0].motion = Motion::scripted;
    s.solids[0].script.velocity = {0.1, 0, 0};
    World world;
    world.liquid.particles.position = {{0.5f, 0.7f, 0.5f}, {0.7f, 0.5f, 0.5f}, {0.1f, 0.1f, 0.1f}};
    Probe probe;
    probe.kind = Probe::Kind::filled;
    probe.box = {{0.1, -0.05, -0.05}, {0.3, 0.05, 0.05}};
    const double one = s.particle_volume() / (0.2 * 0.1 * 0.1);
    CHECK(measure(probe, world, s) == 0);
    probe.other = 0;  // its x axis points up
    CHECK(std::abs(measure(probe, world, s) - one) < 1e-12 * one);
    world.time = 1;
    CHECK(measure(probe, world, s) == 0);  // the box has moved on
    probe.other = -1;
    probe.box = {{0, 0, 0}, {0.6, 1, 1}};
    CHECK(std::abs(measure(probe, world, s) - 2 * s.particle_volume() / 0.6) < 1e-15);
}

TEST_CASE("probes of other probes, and the distance of two solids") {
    Scenario s = pool({16, 16, 16});
    s.solids.push_back(s.solids[0]);
    s.solids[0].start.position = {0.1, 0.2, 0.3};
    s.solids[1].start.position = {0.4, 0.6, 0.3};
    const World world;
    Probe a{"a.y", Probe::Kind::position_y, {}, 0}, b{"b.y", Probe::Kind::position_y, {}, 1},
        of_both{"of both"};
    of_both.parts = {a, b};
    const auto combined = [&](Probe::Kind kind) {
        of_both.kind = kind;
        return measure(of_both, world, s);
    };
    CHECK(std::abs(combined(Probe::Kind::mean) - 0.4) < 1e-12);
    CHECK(combined(Probe::Kind::largest) == 0.6);
    CHECK(combined(Probe::Kind::smallest) == 0.2);
    CHECK(std::abs(combined(Probe::Kind::difference) + 0.4) < 1e-12);
    of_both.kind = Probe::Kind::distance;
    of_both.other = 1;
    CHECK(std::abs(measure(of_both, world, s) - 0.5) < 1e-12);
}

TEST_CASE("distortion is what no turning and no shifting explains") {
    // Four masses at the corners of a square of 2 m.
    SpringNet net;
    net.rest = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
    net.mass = {1, 1, 1, 1};
    World world;
    world.springs.resize(1);
    world.springs[0].solid = 0;
    world.springs[0].net = std::make_shared<SpringNet>(net);
    const Rotation turn = Rotation::about({1, 2, 3}, 0.8);
    const auto place = [&](double stretch) {
        world.springs[0].position.clear();
        for (const Vec3 at : net.rest)
            world.springs[0].position.push_back(turn * Vec3{stretch * at.x, at.y / stretch, 0} +
                                                Vec3{3, 4, 5});
    };
    Probe probe;
    probe.kind = Probe::Kind::distortion;
    const Scenario s = pool({16, 16, 16});
    place(1);
    CHECK(measure(probe, world, s) < 1e-12);
    place(1.25);  // corners are off by 0.25 and 0.2
    CHECK(std::abs(measure(probe, world, s) - std::hypot(0.25, 0.2)) < 1e-12);
}

TEST_CASE("pressure probes read the depth, also beside walls, solids and the surface") {
    Scenario s = pool({16, 16, 16});
    s.time.duration = 0.5;
    Driver driver(s, make_scheme("cut-cell"));
    driver.start();
    while (driver.frame() < 2) (void)driver.advance();
    Probe probe;
    probe.kind = Probe::Kind::pressure;
    const double h = s.domain.h;
    // In the middle, in a corner on the floor, just under the surface, along the post.
    for (const Vec3 place : {Vec3{0.2, 0.2, 0.8}, Vec3{0.1 * h, 0.1 * h, 0.1 * h},
                             Vec3{0.2, 0.4 - 0.4 * h, 0.2}, Vec3{0.69, 0.2, 0.47}, Vec3{0.36, 0.1, 0.5}}) {
        CAPTURE(place.x);
        CAPTURE(place.y);
        probe.point = place;
        // To a tenth of a cell of water.
        CHECK(std::abs(measure(probe, driver.world(), s) - 9810 * (0.4 - place.y)) < 9810 * 0.1 * h);
    }
}

TEST_CASE("a wide gauge reads the mean height over its width, about its place") {
    Scenario s = test::tank({32, 32, 32}, 0.4);
    std::vector<Int3> tiles(125);
    for (int t = 0; t < 125; ++t) tiles[t] = {t % 5, t / 5 % 5, t / 25};
    World world;
    world.liquid.tiling = std::make_shared<Tiling>(s.domain.cells, tiles);
    world.liquid.phi = Field<double>(world.liquid.tiling, 1);
    for_each_cell(*world.liquid.tiling, s.domain.cells, [&](Int3 c, std::int64_t n) {
        const Vec3 p = s.domain.cell_center(c);
        world.liquid.phi[n] = p.y - 0.2 - 0.3 * p.x;
    });
    Probe gauge;
    gauge.point = {0.6, 0, 0.5};
    for (const double width : {0.0, 0.01, 0.2, 0.5}) {
        CAPTURE(width);
        gauge.width = width;
        CHECK(std::abs(measure(gauge, world, s) - (0.2 + 0.3 * 0.6)) < 1e-9);
    }
}

TEST_CASE("an elastic body's energy in the gravity field is its weight times its height") {
    Scenario s = test::tank({8, 8, 8}, 0.4);
    Solid block;
    block.motion = Motion::elastic;
    block.elastic = lattice_properties({0.2, 0.1, 0.2}, {2, 1, 2}, ElasticMaterial{});
    block.start.position = {0.5, 0.7, 0.5};
    s.solids.push_back(block);
    World world;
    world.elastics = bodies_at_start(s.solids).elastics;
    const double weight = 9.81 * block.elastic.mesh->total_mass();
    CHECK(std::abs(quantity("elastic.potential_energy", world, s) - weight * 0.7) < 1e-9 * weight);
}

TEST_CASE("exported solids carry the velocity of each of their points") {
    Scenario s = test::tank({8, 8, 8}, 0.4);
    Solid crate;
    crate.name = "crate";
    crate.motion = Motion::rigid;
    crate.shape = solid_box({0.2, 0.1, 0.3});
    crate.start = {{0.5, 0.6, 0.4}, Rotation::about({1, 2, 0}, 0.5)};
    crate.rigid.mass = mass_properties(enclosed_moments(crate.shape.mesh), 500);
    crate.rigid.velocity = {1, 0, -2};
    crate.rigid.spin = {3, 1, 2};
    s.solids.push_back(crate);
    World world;
    world.bodies = bodies_at_start(s.solids).bodies;
    OutputSettings output;
    output.surface = output.volume = false;
    const ScratchFolder folder;
    FrameExporter(folder.path(), s, output).on_start(world, 0);
    const PlyContent written = read_ply(folder / solids_file.name(0));
    REQUIRE(written.mesh.vertices.size() == crate.shape.mesh.vertices.size());
    for (std::size_t v = 0; v < written.velocity.size(); ++v) {
        const Vec3 place = crate.start.to_world(crate.shape.mesh.vertices[v]);
        CHECK(length(Vec3(written.mesh.vertices[v]) - place) < 1e-6);
        const Vec3 expected = crate.rigid.velocity + cross(crate.rigid.spin, place - crate.start.position);
        CHECK(length(Vec3(written.velocity[v]) - expected) < 1e-5);
    }
}

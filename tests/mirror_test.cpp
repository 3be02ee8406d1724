// Sides of the domain that are planes of symmetry.
#include "world/mirrors.h"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string>

#include "core/check.h"
#include "near.h"
#include "scene/scene.h"
#include "sim/driver.h"
#include "tests/rigid_worlds.h"

using namespace flotsam;

namespace {

// A cylinder of a fifth of the water's density under water, in a tank or in the right half of it.
std::string tank(bool half, const std::string& motion = "") {
    return std::string("[scene]\nduration = 1\ndimensions = 2\ntime_step = 0.01\n[domain]\ncell = 0.02\n") +
           (half ? "size = [0.6, 1.0]\nwalls = { left = \"mirror\" }\n" : "size = [1.2, 1.0]\n") +
           "[[liquid.fill]]\nlevel = 0.8\n[[solid]]\nname = \"a\"\nmotion = \"rigid\"\ndensity = 200\n"
           "shape = { sphere = 0.15 }\nposition = [" +
           (half ? "0.0" : "0.6") + ", 0.4]\n" + motion;
}

// Its height over time.
std::vector<double> rise(const std::string& text, double until) {
    const Scene scene = parse_scene(text, "test.toml", {});
    Driver driver(scene.scenario, make_scheme(scene.scenario.method));
    driver.start();
    std::vector<double> height;
    while (driver.world().time < until - 1e-9) {
        (void)driver.advance();
        height.push_back(driver.world().bodies[0].center.y);
        const double across = driver.world().bodies[0].center.x - scene.scenario.solids[0].start.position.x;
        if (scene.scenario.domain.mirror(x_low)) CHECK(std::abs(across) < 1e-15);
    }
    return height;
}

std::string told(const std::string& text) {
    try {
        (void)parse_scene(text, "test.toml", {});
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

std::string with(std::string text, const std::string& part, const std::string& other) {
    return text.replace(text.find(part), part.size(), other);
}

void check_tells(const std::string& text, const std::string& phrase) {
    CAPTURE(text);
    CHECK(text.find(phrase) != std::string::npos);
}

}  // namespace

TEST_CASE("mirror: half of a tank does what the whole does") {
    const std::vector<double> whole = rise(tank(false), 0.4), half = rise(tank(true), 0.4);
    REQUIRE(whole.size() == half.size());
    CHECK(whole.back() > 0.6);
    // The particles' places are other random ones: velocities differ by up to 1 % for other seeds. With the
    // whole mass in half of the tank it would be 15 %.
    for (std::size_t n = 0; n < whole.size(); ++n)
        CHECK(half[n] == near(whole[n]).absolute(0.02 * (whole.back() - 0.4)));
}

TEST_CASE("mirror: a body that it cuts is half of its mass, and moves as the symmetry allows") {
    RigidProperties p;
    p.mass = {8, {}, Mat3::diagonal({1, 2, 3})};
    p.mirrored[x_high] = true;
    const RigidBody once = make_rigid_body(0, p, {});
    CHECK(once.mass == 4);
    CHECK(once.inertia.row[1].y == 1);
    CHECK(once.locked == Locks{true, false, false, false, true, true});
    p.mirrored[z_low] = true;
    p.release = 1;
    RigidBody twice = make_rigid_body(0, p, {});
    CHECK(twice.mass == 2);
    hold_until_release(twice, p, 2);
    CHECK(twice.locked == Locks{true, false, true, true, true, true});
}

TEST_CASE(
    "mirror: bodies bounce off their image, which slides along with them; those it cuts do not touch it") {
    for (const bool mirror : {false, true}) {
        RigidWorld world;
        world.gravity = {};
        world.walls = {{{0, -9, -9}, {9, 9, 9}}, {true, false, false, false, false, false}};
        world.walls.mirrors[x_low] = mirror;
        world.add(solid_sphere(0.1, 0.01), {{0.15, 0, 0}, {}}, Motion::rigid, 0.5, 0.6);
        world.last().rigid.velocity = {-1, 1, 0};
        world.run(0.2, 0.005);
        CHECK(world.bodies[0].velocity.x == near(0.6).relative(1e-3));
        if (mirror) {
            CHECK(world.bodies[0].velocity.y == near(1).relative(1e-12));
            CHECK(length(spin_of(world.bodies[0])) < 1e-12);
        } else {
            CHECK(world.bodies[0].velocity.y < 0.9);
        }
    }
    RigidWorld world;
    world.gravity = {};
    world.walls = {{{0, -9, -9}, {9, 9, 9}}, {true, false, false, false, false, false}};
    world.walls.mirrors[x_low] = true;
    world.add(solid_sphere(0.1, 0.01), {});
    world.last().rigid.mirrored[x_low] = true;
    world.last().rigid.velocity = {0, 1, 0};
    world.run(0.1, 0.005);
    CHECK(length(world.bodies[0].center - Vec3{0, 0.1, 0}) < 1e-12);
}

TEST_CASE("mirror: elastic bodies bounce off their image without friction, too") {
    const auto slid = [](const std::string& wall) {
        const Scene scene = parse_scene(
            "[scene]\nduration = 1\ndimensions = 2\ngravity = 0\ntime_step = 0.005\n[domain]\nsize = [1.0, "
            "1.0]\ncell = 0.05\nwalls = { left = \"" +
                wall +
                "\" }\n[[solid]]\nname = \"a\"\nmotion = \"elastic\"\nshape = { box = [0.2, 0.2] }\nposition "
                "= "
                "[0.15, 0.4]\nvelocity = [-1, 1]\ndensity = 1000\nstiffness = 1e5\nfriction = 0.6\n"
                "elastic = { cells = [3, 3] }\n",
            "test.toml", {});
        Driver driver(scene.scenario, make_scheme(scene.scenario.method));
        driver.start();
        while (driver.world().time < 0.2 - 1e-9) (void)driver.advance();
        return velocity_of(driver.world().elastics[0]);
    };
    const Vec3 mirrored = slid("mirror"), rubbed = slid("closed");
    CHECK(mirrored.x > -0.5);
    CHECK(std::abs(mirrored.z) < 1e-9);
    CHECK(mirrored.y == near(1).relative(1e-6));
    CHECK(rubbed.x > -0.5);
    CHECK(rubbed.y < 0.9);
}

TEST_CASE("mirror: springs and motors in it pull at both halves, others have their image") {
    const std::string rope =
        "[[joint]]\nname = \"rope\"\nkind = \"spring\"\na = \"a\"\nstiffness = 100\nat = ";
    const auto stiffness = [&](const std::string& text) {
        return parse_scene(text, "test.toml", {}).scenario.joints[0].stiffness;
    };
    CHECK(stiffness(tank(true) + rope + "[0.0, 0.5]\nto = [0.0, 0.9]\n") == 50);
    CHECK(stiffness(tank(true) + rope + "[0.0, 0.5]\nto = [0.3, 0.9]\n") == 100);
    CHECK(stiffness(tank(false) + rope + "[0.6, 0.5]\nto = [0.6, 0.9]\n") == 100);
    // A mirror at 0.6098742 m, which is told as 0.609874: what is written so lies in it.
    const std::string odd = with(with(with(tank(true), "size = [0.6, 1.0]", "size = [0.6098742, 0.9851814]"),
                                      "cell = 0.02", "cell = 0.0234567"),
                                 "left", "right");
    CHECK(stiffness(with(odd, "[0.0, 0.4]", "[0.609874, 0.4]") + rope +
                    "[0.609874, 0.5]\nto = [0.609874, 0.9]\n") == 50);
}

TEST_CASE("mirror: mistakes are told") {
    CHECK(told(tank(true)).empty());
    check_tells(told(with(tank(true), "[0.0, 0.4]", "[0.05, 0.4]")), "not its plane of symmetry");
    check_tells(told(with(tank(true), "[0.0, 0.4]", "[0.05, 0.4]")), "must lie at x = 0 m");
    check_tells(told(with(tank(true), "left", "bottom")), "gravity pulls through the bottom side");
    check_tells(told(with(tank(true), "left", "back")), "the back of a 2D scene cannot be a mirror");
    check_tells(told(tank(true, "velocity = [0.1, 0]\n")), "starts across the mirror");
    check_tells(told(tank(true, "spin = [0, 0, 1]\n")), "starts across the mirror");
    check_tells(told(tank(true, "ballast = { mass = 1, position = [0.1, 0] }\n")),
                "not its plane of symmetry");
    check_tells(told(with(tank(true), "\"mirror\"", "{ kind = \"mirror\", slip = 0.5 }")),
                "slides freely along a mirror");
    check_tells(told(with(tank(true), "cell = 0.02", "cell = 0.02\n")
                         .replace(0, 7,
                                  "[scene]\nmethod = "
                                  "\"direct-forcing\"")),
                "knows no mirrors");
    check_tells(told(with(with(tank(true), "\"rigid\"", "\"elastic\"\nstiffness = 1e5"), "sphere = 0.15",
                          "box = [0.2, 0.2]")),
                "reaches out of the domain");
}

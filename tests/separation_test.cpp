// Liquid that lets go of solids and walls.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>

#include "near.h"
#include "scene/scene.h"
#include "worlds.h"

using namespace flotsam;

namespace {

double height(const World& world) {
    double sum = 0;
    for (const Vec3f p : world.liquid.particles.position) sum += p.y;
    return sum / double(world.liquid.particles.count());
}

Scenario scenario_of(const std::string& rest, bool separation) {
    return parse_scene(fmt::format(R"(
[scene]
duration = 1
[domain]
size = [1, 1, 1]
resolution = 16
[liquid]
separation = {}
{})",
                                   separation, rest),
                       "test.toml")
        .scenario;
}

}  // namespace

TEST_CASE("water under a ceiling falls freely where it may let go, and hangs where it may not") {
    const auto fallen = [](const std::string& rest, bool separation) {
        const Scenario s = scenario_of(rest, separation);
        Driver driver(s, make_scheme("cut-cell"));
        driver.start();
        const double before = height(driver.world());
        while (driver.world().time < 0.12) (void)driver.advance();
        const double t = driver.world().time;
        return (before - height(driver.world())) / (0.5 * 9.81 * t * t);
    };
    // The ceiling is the domain's, a plate, or a tilted one.
    for (const std::string under :
         {"[[liquid.fill]]\nbox = { min = [0.3, 0.6, 0.3], max = [0.7, 1, 0.7] }",
          "[[liquid.fill]]\nbox = { min = [0.3, 0.4, 0.3], max = [0.7, 0.8, 0.7] }\n"
          "[[solid]]\nname = \"plate\"\nshape = { box = [0.8, 0.13, 0.8] }\nposition = [0.5, 0.865, 0.5]",
          "[[liquid.fill]]\nbox = { min = [0.3, 0.4, 0.3], max = [0.7, 0.9, 0.7] }\n"
          "[[solid]]\nname = \"plate\"\nshape = { box = [0.8, 0.13, 0.8] }\nposition = [0.5, 0.865, 0.5]\n"
          "rotation = { axis = [0, 0, 1], degrees = 10 }"}) {
        CAPTURE(under);
        CHECK(fallen(under, true) == near(1).relative(5e-3));
        CHECK(fallen(under, false) < 0.9);
    }
}

TEST_CASE("a plate that leaves the water does not pull at it") {
    // And a light one that something else holds is not pulled down.
    const auto strongest_pull = [](bool separation) {
        Scenario s = scenario_of(R"(
[[liquid.fill]]
box = { min = [0, 0, 0], max = [1, 0.5, 1] }
[[solid]]
name = "plate"
motion = "scripted"
shape = { box = [0.5, 0.13, 0.5] }
position = [0.5, 0.5, 0.5]
[[solid.keyframe]]
time = 0
position = [0.5, 0.5, 0.5]
[[solid.keyframe]]
time = 0.1
position = [0.5, 0.7, 0.5]
)",
                                 separation);
        Driver driver(s, make_scheme("cut-cell"));
        driver.start();
        double lowest = 0;
        while (driver.world().time < 0.09) {
            (void)driver.advance();
            lowest = std::min(lowest, driver.world().loads[0].force.y);
        }
        return lowest;
    };
    // Suction is what accelerates the water under it: of the order of the mass of half a ball of its width.
    const double suction = strongest_pull(false);
    CHECK(suction < -100);
    // A cell lets go when the pressure at its centre is negative; the plate may be half a cell higher, and
    // then still feels up to rho g h / 2 on the cell's area, 1.2 N. That is the case in one or two cells
    // of 64.
    CHECK(strongest_pull(true) > 0.01 * suction);
}

TEST_CASE("water at rest lets go of nothing: the same bits") {
    const auto end = [](bool separation) {
        Scenario s = scenario_of(
            "[[liquid.fill]]\nbox = { min = [0, 0, 0], max = [1, 0.53, 1] }\n"
            "[[solid]]\nname = \"ball\"\nshape = { sphere = 0.2 }\nposition = [0.5, 0.27, 0.5]",
            separation);
        Driver driver(s, make_scheme("cut-cell"));
        driver.start();
        for (int i = 0; i < 5; ++i) (void)driver.advance();
        return driver.world().liquid.particles.position;
    };
    CHECK(end(true) == end(false));
}

TEST_CASE("only methods that can let liquid go admit it") {
    CHECK_THROWS_WITH(
        parse_scene("[scene]\nduration = 1\nmethod = \"marker-springs\"\n[domain]\nsize = [1, 1, 1]\n"
                    "resolution = 8\n[liquid]\nseparation = true\n[[liquid.fill]]\nlevel = 0.5",
                    "test.toml"),
        doctest::Contains("does not let go"));
}

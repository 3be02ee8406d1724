#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "core/check.h"
#include "coupling/scheme.h"
#include "scene/estimate.h"
#include "scene/scene.h"
#include "scene/scene_template.h"
#include "scene/schema.h"
#include "scene/suggest.h"
#include "scene/toml_tree.h"
#include "sim/driver.h"
#include "tests/near.h"
#include "tests/places.h"

using namespace flotsam;

namespace {

const std::string good = R"([scene]
title = "Dam break past a post"
duration = 3.0
frames_per_second = 24
method = "cut-cell"

[domain]
size = [1.0, 0.6, 0.6]
resolution = 50
walls = { top = "open", slip = 0.5, left = { kind = "closed", slip = 0 } }

[liquid]
density = 998.0
carrier = "flip"
[[liquid.fill]]
box = { min = [0, 0, 0], max = [0.3, 0.4, 0.6] }
[[liquid.emitter]]
sphere = { center = [0.2, 0.5, 0.3], radius = 0.03 }
velocity = [1.0, 0, 0]
until = 1.5

[[probe]]
name = "H1"
height = [0.5, 0.3]

[[claim]]
what = "liquid.volume"
relative_to_start = { min = 0.99, max = 1.01 }
[[claim]]
what = "probe.H1"
near = { value = 0.2, tolerance = 0.1 }
at = 1.0
)";

Scene parse(const std::string& text, const std::vector<std::string>& overrides = {}, double scale = 1,
            const std::string& method = "") {
    return parse_scene(text, "test.toml", overrides, scale, method);
}

std::string error_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
    try {
        parse(text, overrides);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

// `text` with its only occurrence of `from` replaced.
std::string with(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

void check_contains(const std::string& text, const std::string& part) {
    CAPTURE(text);
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("a scene of every kind of key becomes what it says") {
    const Scene scene = parse(good);
    const Scenario& s = scene.scenario;
    CHECK(s.title == "Dam break past a post");
    CHECK(s.time.duration == 3.0);
    CHECK(s.gravity == Vec3{0, -9.81, 0});
    CHECK(s.domain.cells == Int3{50, 30, 30});
    CHECK(s.domain.h == near(0.02).relative(1e-12));
    CHECK(s.domain.open(y_high));
    CHECK_FALSE(s.domain.open(x_high));
    CHECK(s.domain.walls[x_low].slip == 0);
    CHECK(s.domain.walls[x_high].slip == 0.5);
    CHECK(s.liquid.density == 998.0);
    CHECK(s.liquid.carrier == Carrier::flip);
    REQUIRE(s.liquid.fills.size() == 1);
    CHECK(s.liquid.fills[0].region->contains({0.1, 0.1, 0.1}));
    CHECK_FALSE(s.liquid.fills[0].region->contains({0.4, 0.1, 0.1}));
    REQUIRE(s.liquid.emitters.size() == 1);
    CHECK(s.liquid.emitters[0].until == 1.5);
    CHECK(s.liquid.emitters[0].velocity == Vec3{1, 0, 0});
    REQUIRE(scene.probes.size() == 1);
    CHECK(scene.probes[0].point == Vec3{0.5, 0, 0.3});
    REQUIRE(scene.claims.size() == 2);
    CHECK(scene.claims[0].relative_to_start);
    CHECK(scene.claims[1].min == near(0.1).relative(1e-12));
    CHECK(scene.claims[1].from == 1.0);
    CHECK(scene.claims[1].until == 1.0);
    CHECK(scene.warnings.empty());
}

TEST_CASE("defaults of the table of keys are the defaults of the settings") {
    const Scene scene = parse(
        "[scene]\nduration = 1\n[domain]\nsize = [1, 1, 1]\nresolution = 10\n[[liquid.fill]]\nlevel = 0.5\n");
    const Scenario& s = scene.scenario;
    const Scenario defaults;
    CHECK(s.title == "test");
    CHECK(s.method == defaults.method);
    CHECK(s.gravity == defaults.gravity);
    CHECK(s.time.frames_per_second == defaults.time.frames_per_second);
    CHECK(s.time.cfl == defaults.time.cfl);
    CHECK(s.time.time_step == defaults.time.time_step);
    CHECK(s.time.retry == defaults.time.retry);
    CHECK(s.liquid.density == defaults.liquid.density);
    CHECK(s.liquid.carrier == defaults.liquid.carrier);
    CHECK(s.liquid.flip_share == defaults.liquid.flip_share);
    CHECK(s.liquid.reseed == defaults.liquid.reseed);
    CHECK(s.liquid.seed == defaults.liquid.seed);
    CHECK(s.solver.solver == defaults.solver.solver);
    CHECK(s.solver.tolerance.relative == defaults.solver.tolerance.relative);
    CHECK(s.solver.tolerance.max_iterations == defaults.solver.tolerance.max_iterations);
    for (const Wall& wall : s.domain.walls) {
        CHECK(wall.kind == Wall{}.kind);
        CHECK(wall.slip == Wall{}.slip);
    }
    CHECK(scene.output.surface == OutputSettings{}.surface);
    CHECK(scene.output.volume == OutputSettings{}.volume);
    CHECK(scene.output.particles == OutputSettings{}.particles);
    CHECK(scene.output.checkpoint_every == OutputSettings{}.checkpoint_every);
}

TEST_CASE("overrides, scale and method change the scene, its hash and its effective text") {
    const Scene plain = parse(good);
    const Scene changed = parse(
        good, {"domain.resolution=20", "liquid.carrier=markers", "liquid.fill.0.box.max=[0.5, 0.5, 0.6]",
               "output.particles = true", "liquid.fill.1.level=0.1"});
    CHECK(changed.scenario.domain.cells.x == 20);
    CHECK(changed.scenario.liquid.carrier == Carrier::markers);
    CHECK(changed.scenario.liquid.fills[0].region->contains({0.45, 0.45, 0.1}));
    CHECK(changed.scenario.liquid.fills.size() == 2);
    CHECK(changed.output.particles);
    CHECK(changed.hash != plain.hash);
    CHECK(parse(good, {}, 0.5).scenario.domain.cells.x == 25);
    CHECK(parse(good).hash == plain.hash);

    // The effective text is a scene by itself and means the same.
    const Scene again = parse(changed.effective_toml);
    CHECK(again.effective_toml == changed.effective_toml);
    CHECK(again.hash == changed.hash);
    CHECK(parse(good, {"domain.resolution=25"}).hash == parse(good, {}, 0.5).hash);

    check_contains(error_of(good, {"domain.resolutoin=3"}),
                   "--set domain.resolutoin=3: unknown key 'resolutoin'");
    check_contains(error_of(good, {"domain.resolutoin=3"}), "did you mean 'resolution'?");
    check_contains(error_of(good, {"nonsense"}), "--set nonsense: this is not of the form key=value");
    check_contains(error_of(good, {"liquid.fill.7.level=1"}), "'7' does not name one of the 1 entries");
    check_contains(error_of(good, {"scene.title.x=1"}), "there is nothing below 'title'");
    check_contains(error_of(good, {"a..b=1"}), "empty part");
    check_contains(error_of(good, {"liquid.density=-3"}),
                   "--set liquid.density=-3: 'density' is -3, out of range");
    CHECK_THROWS_AS(parse(good, {}, 0), UserError);
    CHECK_THROWS_AS(parse(good, {}, std::nan("")), UserError);
    CHECK_THROWS_WITH_AS(parse(good, {}, 1, "cutcell"), doctest::Contains("did you mean 'cut-cell'?"),
                         UserError);
}

TEST_CASE("an override can begin a list, and short forms mean what they stand for") {
    const std::string empty = "[scene]\nduration = 1\n[domain]\nsize = [1, 1, 1]\nresolution = 16\n";
    CHECK(parse(empty, {"liquid.fill.0.level=0.5"}).scenario.liquid.fills.size() == 1);
    check_contains(error_of("solver = \"icgc\"\n" + empty), "did you mean 'iccg'?");

    const std::string level = empty + "[[liquid.fill]]\nlevel = 0.5\n";
    CHECK(parse("solver = \"iccg\"\n" + level).effective_toml ==
          parse("[solver]\nname = \"iccg\"\n" + level).effective_toml);

    const Scene scene = parse(level +
                              "[[probe]]\nname = \"v\"\nvelocity = [0.5, 0.25, 0.5]\n"
                              "[[claim]]\nwhat = \"probe.v.y\"\nmax = 1\n");
    REQUIRE(scene.probes.size() == 3);
    CHECK(scene.probes[1].name == "v.y");
    CHECK(scene.probes[1].kind == Probe::Kind::velocity_y);
    CHECK(scene.probes[1].point == Vec3{0.5, 0.25, 0.5});
}

TEST_CASE("composed probes and events are read, and what they name must be there") {
    const std::string scene_text =
        good +
        "[[solid]]\nname = \"a\"\nshape = { sphere = 0.05 }\nposition = [0.2, 0.3, 0.3]\n"
        "[[solid]]\nname = \"b\"\nshape = { sphere = 0.05 }\nposition = [0.6, 0.3, 0.3]\n"
        "[[probe]]\nname = \"a\"\nposition = \"a\"\n[[probe]]\nname = \"b\"\nposition = \"b\"\n"
        "[[probe]]\nname = \"apart\"\ndistance = [\"a\", \"b\"]\n"
        "[[probe]]\nname = \"ahead\"\ndifference = [\"b.x\", \"a.x\"]\n"
        "[[probe]]\nname = \"floor\"\nfilled = { min = [0, 0, 0], max = [1, 0.1, 1] }\n"
        "[[probe]]\nname = \"beside\"\nfilled = { min = [-0.1, -0.1, -0.1], max = [0.1, 0.1, 0.1] }\n"
        "around = \"b\"\n"
        "[[claim]]\nwhat = \"probe.a.y\"\nat = { what = \"probe.b.y\", below = 0.1 }\nmax = 1\n"
        "[[claim]]\nwhat = \"probe.ahead\"\nfrom = { what = \"liquid.top\", above = 0.2 }\nuntil = 0.1\nmax "
        "= 1\n";
    const Scene scene = parse(scene_text);
    REQUIRE(scene.probes.size() == 11);
    CHECK(std::abs(measure(scene.probes[7], {}, scene.scenario) - 0.4) < 1e-12);
    CHECK(std::abs(measure(scene.probes[8], {}, scene.scenario) - 0.4) < 1e-12);
    CHECK(scene.probes[9].other == -1);
    CHECK(scene.probes[9].box.high.y == 0.1);
    CHECK(scene.probes[10].other == 1);
    REQUIRE(scene.claims.size() >= 2);
    const Claim &moment = scene.claims[scene.claims.size() - 2], &window = scene.claims.back();
    REQUIRE(moment.from_event);
    REQUIRE(moment.until_event);
    CHECK(moment.from_event->what == "probe.b.y");
    CHECK(moment.until_event->level == 0.1);
    CHECK_FALSE(moment.until_event->above);
    REQUIRE(window.from_event);
    CHECK(window.from_event->above);
    CHECK_FALSE(window.until_event);
    CHECK(window.until == 0.1);

    const auto refused = [&](const std::string& more, const std::string& because) {
        check_contains(error_of(scene_text + more), because);
    };
    refused("[[probe]]\nname = \"m\"\nmean = [\"a.y\", \"c.y\"]\n", "no probe called \"c.y\"");
    refused("[[probe]]\nname = \"m\"\nmean = []\n", "no probe is named");
    refused("[[probe]]\nname = \"m\"\ndifference = [\"a.y\"]\n", "that of two probes");
    refused("[[probe]]\nname = \"m\"\ndistance = [\"a\"]\n", "between two solids");
    refused("[[probe]]\nname = \"m\"\ndistortion = \"a\"\n", "keeps its shape");
    refused("[[probe]]\nname = \"m\"\nheight = [0.1, 0.1]\naround = \"a\"\n", "'around' belongs to");
    refused("[[probe]]\nname = \"m\"\nfilled = { min = [0, 0, 0], max = [1, 0, 1] }\n", "the box is empty");
    refused("[[claim]]\nwhat = \"probe.a.y\"\nmax = 1\nat = { what = \"probe.c.y\", below = 1 }\n",
            "nothing called \"probe.c.y\"");
    refused("[[claim]]\nwhat = \"probe.a.y\"\nmax = 1\nat = { what = \"probe.a.y\" }\n", "below");
}

TEST_CASE("probes of a solid give its loads by component, and unknown solids are told") {
    const std::string text =
        "[scene]\nduration = 1\n[domain]\nsize = [1, 1, 1]\nresolution = 16\n[[liquid.fill]]\nlevel = 0.5\n"
        "[[solid]]\nname = \"post\"\nshape = { box = [0.1, 0.9, 0.1] }\nposition = [0.2, 0.4, 0.5]\n"
        "[[solid]]\nname = \"ball\"\nshape = { sphere = 0.1 }\nposition = [0.7, 0.3, 0.5]\n"
        "[[probe]]\nname = \"F\"\nforce = \"ball\"\n"
        "[[probe]]\nname = \"T\"\ntorque = \"post\"\n"
        "[[probe]]\nname = \"A\"\nwetted_area = \"ball\"\n"
        "[[probe]]\nname = \"X\"\nposition = \"ball\"\n"
        "[[claim]]\nwhat = \"probe.F.y\"\nmax = 1000\n[[claim]]\nwhat = \"probe.A\"\nmax = 1000\n";
    const Scene scene = parse(text);
    REQUIRE(scene.probes.size() == 10);
    CHECK(scene.probes[1].name == "F.y");
    CHECK(scene.probes[1].kind == Probe::Kind::force_y);
    CHECK(scene.probes[1].solid == 1);
    CHECK(scene.probes[5].name == "T.z");
    CHECK(scene.probes[5].kind == Probe::Kind::torque_z);
    CHECK(scene.probes[5].solid == 0);
    CHECK(scene.probes[6].name == "A");
    CHECK(scene.probes[6].solid == 1);

    World world;
    world.loads = {{{1, 2, 3}, {4, 5, 6}, 7}, {{10, 20, 30}, {40, 50, 60}, 70}};
    const std::vector<double> expected{10, 20, 30, 4, 5, 6, 70, 0.7, 0.3, 0.5};
    for (std::size_t i = 0; i < expected.size(); ++i)
        CHECK(measure(scene.probes[i], world, scene.scenario) == expected[i]);

    check_contains(error_of(with(text, "force = \"ball\"", "force = \"bal\"")),
                   "there is no solid called \"bal\"");
    check_contains(error_of(with(text, "force = \"ball\"", "force = \"bal\"")), "did you mean 'ball'?");
    check_contains(error_of(with(text, "force = \"ball\"", "force = \"ball\"\nspeed = [0.1, 0.1, 0.1]")),
                   "exactly one");
    const std::string none =
        "[scene]\nduration = 1\n[domain]\nsize = [1, 1, 1]\nresolution = 16\n[[liquid.fill]]\nlevel = 0.5\n"
        "[[probe]]\nname = \"F\"\nforce = \"ball\"\n";
    check_contains(error_of(none), "this scene has no solids");
}

TEST_CASE("a wetted area is refused where the method does not measure it") {
    const auto text = [](const std::string& method, const std::string& motion) {
        return "[scene]\nduration = 1\nmethod = \"" + method +
               "\"\n[domain]\nsize = [1, 1, 1]\nresolution = 16\n[[liquid.fill]]\nlevel = 0.5\n"
               "[[solid]]\nname = \"ball\"\n" +
               motion +
               "shape = { sphere = 0.2 }\nposition = [0.5, 0.5, 0.5]\n"
               "[[probe]]\nname = \"A\"\nwetted_area = \"ball\"\n";
    };
    const std::string rigid = "motion = \"rigid\"\ndensity = 500\n",
                      spring = "motion = \"spring\"\ndensity = 500\nstiffness = 1e6\n";
    for (const std::string method : {"direct-forcing", "penalty"})
        for (const std::string& motion : {std::string(), rigid}) {
            const std::string error = error_of(text(method, motion));
            check_contains(error, "the method " + method + " does not measure the wetted area of \"ball\"");
            check_contains(error, "leave this probe out");
        }
    check_contains(error_of(text("marker-springs", spring)), "does not measure the wetted area");
    CHECK_NOTHROW(parse(text("marker-springs", "")));
    CHECK_NOTHROW(parse(text("cut-cell", rigid)));
    // What it says it measures, it does: half a ball is in the water.
    const Scene scene = parse(text("cut-cell", ""));
    Driver driver(scene.scenario, make_scheme("cut-cell"));
    driver.start();
    (void)driver.advance();
    const double half = 2 * 3.14159265358979 * 0.2 * 0.2;
    CHECK(std::abs(driver.world().loads[0].wetted_area - half) < 0.1 * half);
}

TEST_CASE("a level and its wave can be confined to a region or to a vessel") {
    const std::string base =
        "[scene]\nduration = 1\n[domain]\nsize = [2.0, 1.0, 1.0]\nresolution = 40\n[[solid]]\nname = "
        "\"hull\"\n"
        "shape = { boat = [1.0, 0.4, 0.6, 0.02] }\nposition = [1.0, 0.5, 0.5]\n[[liquid.fill]]\nlevel = 0.5\n"
        "wave = { amplitude = 0.1, wavelength = 1.0, crest = 0.5 }\n";
    const auto region = [&](const std::string& more) {
        return parse(base + more).scenario.liquid.fills[0].region;
    };
    const ShapePtr everywhere = region("");
    CHECK(everywhere->contains({0.5, 0.59, 0.5}));
    CHECK_FALSE(everywhere->contains({1.0, 0.41, 0.5}));
    CHECK(everywhere->contains({1.5, 0.59, 0.5}));
    const ShapePtr box = region("inside = { box = { min = [0.4, 0.2, 0.0], max = [0.9, 0.8, 1.0] } }\n");
    CHECK(box->contains({0.5, 0.59, 0.5}));
    CHECK_FALSE(box->contains({0.5, 0.61, 0.5}));
    CHECK_FALSE(box->contains({1.5, 0.59, 0.5}));
    CHECK_FALSE(box->contains({0.5, 0.19, 0.5}));
    const ShapePtr vessel = region("inside = \"hull\"\n");
    CHECK(vessel->contains({1.0, 0.39, 0.5}));
    CHECK_FALSE(vessel->contains({1.0, 0.41, 0.5}));
    CHECK_FALSE(vessel->contains({0.3, 0.39, 0.5}));
    CHECK_FALSE(vessel->contains({1.0, 0.29, 0.5}));
    CHECK_FALSE(vessel->contains({1.0, 0.39, 0.85}));
    check_contains(error_of(base + "inside = \"hall\"\n"), "did you mean 'hull'");
    check_contains(error_of(with(base + "inside = \"hull\"\n", "level = 0.5", "level = 0.1")),
                   "holds no liquid");
    check_contains(error_of(base + "inside = { level = 2 }\n"), "level");
    check_contains(
        error_of(with(with(base, "level = 0.5", "sphere = { center = [0.5, 0.5, 0.5], radius = 0.2 }"),
                      "wave = { amplitude = 0.1, wavelength = 1.0, crest = 0.5 }", "inside = \"hull\"")),
        "'inside' needs 'level'");
}

TEST_CASE("what 2D does not have leads to three dimensions, and there not back to 2D") {
    const std::string flat =
        "[scene]\nduration = 1\ndimensions = 2\n[domain]\nsize = [1.0, 0.5]\nresolution = 20\n"
        "[[liquid.fill]]\nlevel = 0.1\n[[solid]]\nname = \"a\"\nmotion = \"elastic\"\ndensity = 900\n"
        "stiffness = 1e5\nshape = { sphere = 0.04 }\nposition = [0.5, 0.3]\n";
    const std::string error = error_of(flat);
    check_contains(error, "in two dimensions only boxes can be elastic");
    check_contains(error, "remove 'dimensions = 2', give points and vectors a z");
    check_contains(error, "a depth of two cells (0.1 m) or more");
    // Whoever follows that advice has a scene.
    const std::string followed =
        with(with(with(flat, "dimensions = 2\n", ""), "[1.0, 0.5]", "[1.0, 0.5, 0.1]"), "[0.5, 0.3]",
             "[0.5, 0.3, 0.05]");
    CHECK(parse(followed).scenario.domain.cells == Int3{20, 10, 2});
    // Whoever makes it too thin is not sent back.
    const std::string thin = error_of(with(followed, "[1.0, 0.5, 0.1]", "[1.0, 0.5, 0.06]"));
    check_contains(thin, "only 1 cells along side 3");
    check_contains(thin, "make this side 0.1 m long or more");
    CHECK(thin.find("dimensions = 2") == std::string::npos);
    // A scene that 2D admits is told of it.
    check_contains(error_of(with(with(followed, "elastic", "rigid"), "[1.0, 0.5, 0.1]", "[1.0, 0.5, 0.06]")),
                   "set scene.dimensions = 2");
    const std::string springs =
        with(with(flat, "shape = { sphere = 0.04 }", "shape = { box = [0.1, 0.1] }"), "elastic", "spring");
    check_contains(error_of(springs), "give points and vectors a z");
}

TEST_CASE("the reference says which shapes 2D takes and which methods know viscosity, as the loader has it") {
    const std::string reference = scene_reference();
    std::string named;  // where the reference speaks of shapes in 2D
    for (const TableRule& table : scene_tables())
        if (table.name == "shape") named = std::string(table.meaning.substr(table.meaning.find("In 2D")));
    check_contains(reference, named);
    for (const KeyRule& shape : scene_table("shape").keys) {
        CAPTURE(shape.name);
        const std::string value = shape.types & a_number  ? "0.1"
                                  : shape.name == "mesh"  ? "{ file = \"x.obj\" }"
                                  : shape.types & a_table ? "{ files = \"x_##.obj\" }"
                                  : shape.name == "boat"  ? "[0.2, 0.1, 0.1, 0.01]"
                                  : shape.name == "box"   ? "[0.1, 0.1]"
                                  : shape.name == "gear"  ? "[0.1, 0.05, 8]"
                                                          : "[0.1, 0.05]";
        const std::string error = error_of(fmt::format(
            "[scene]\nduration = 1\ndimensions = 2\n[domain]\nsize = [1.0, 1.0]\nresolution = 20\n"
            "[[liquid.fill]]\nlevel = 0.1\n[[solid]]\nname = \"a\"\nshape = {{ {} = {} }}\nposition = [0.5, "
            "0.5]\n",
            shape.name, value));
        const bool refused = error.find("has no section") != std::string::npos;
        CHECK(refused == (named.find(fmt::format("`{}` has no section", shape.name)) != std::string::npos));
        CHECK((error.empty() || shape.types & a_table));  // there is no such file
    }

    std::ifstream file(source_folder() + "/README.md");
    std::string line, honest;
    while (std::getline(file, line))
        if (line.find("inviscid") != std::string::npos) honest = line;
    check_contains(honest, "air is empty space");
    for (const SchemeEntry& scheme : schemes()) {
        const std::string liquid = fmt::format(
            "[scene]\nduration = 1\nmethod = \"{}\"\n[domain]\nsize = [1, 1, 1]\nresolution = 10\n"
            "[liquid]\nviscosity = 1.0\n[[liquid.fill]]\nlevel = 0.5\n",
            scheme.name);
        const bool viscous = error_of(liquid).empty();
        CAPTURE(scheme.name);
        check_contains(reference, fmt::format("| `{}` | {} | {} |", scheme.name, scheme.summary,
                                              viscous ? "yes" : "no"));
        // README names what to use instead of the default.
        if (viscous && !scheme.make()->capabilities().comparison)
            check_contains(honest, fmt::format("\"{}\"", scheme.name));
        if (scheme.name == Scenario{}.method) CHECK_FALSE(viscous);
    }
}

TEST_CASE("cells are counted along the longest side, or their edge is given") {
    const std::string tall = with(good, "size = [1.0, 0.6, 0.6]", "size = [0.5, 1.0, 0.6]");
    CHECK(parse(tall).scenario.domain.cells == Int3{25, 50, 30});
    const std::string by_cell = with(tall, "resolution = 50", "cell = 0.02");
    CHECK(parse(by_cell).scenario.domain.cells == Int3{25, 50, 30});
    CHECK(parse(by_cell).scenario.domain.h == 0.02);
    CHECK(parse(by_cell, {}, 0.5).scenario.domain.h == 0.04);
    CHECK(parse(by_cell, {}, 0.5).scenario.domain.cells.y == 25);
    CHECK(parse(parse(by_cell, {}, 0.5).effective_toml).scenario.domain.h == 0.04);
    CHECK(parse(with(tall, "resolution = 50", "cell = 1"), {"domain.cell=0.02"}).scenario.domain.h == 0.02);
    // An override replaces the one that is there.
    CHECK(parse(by_cell, {"domain.resolution=25"}).scenario.domain.h == 0.04);
    CHECK(parse(tall, {"domain.cell=0.04"}).scenario.domain.h == 0.04);
    check_contains(error_of(with(tall, "resolution = 50", "resolution = 50\ncell = 0.02")),
                   "[domain] has more than one of: resolution, cell");
    check_contains(error_of(with(tall, "resolution = 50", "")), "[domain] has none of: resolution, cell");
    check_contains(error_of(by_cell, {"domain.cell=0"}), "out of range");
    check_contains(error_of(by_cell, {"domain.cell=0.4"}), "lower 'cell'");
    check_contains(error_of(by_cell, {"domain.cell=1e-5"}), "this makes 100000 cells along the longest side");
}

TEST_CASE("2D scenes are slabs in which z does not matter") {
    const std::string text =
        "[scene]\nduration = 1\ndimensions = 2\ngravity = [0, -1]\n[domain]\nsize = [1.0, 0.5]\nresolution = "
        "20\n"
        "[[liquid.fill]]\nbox = { min = [0, 0], max = [0.5, 0.5] }\n[[liquid.fill]]\nsphere = { center = "
        "[0.8, 0.2], radius = 0.1 }\n"
        "[[probe]]\nname = \"a\"\nheight = 0.3\n[[probe]]\nname = \"b\"\nheight = [0.3]\n[[probe]]\nname = "
        "\"c\"\npressure = [0.1, 0.2]\n";
    const Scene scene = parse(text);
    const Domain& domain = scene.scenario.domain;
    CHECK(domain.cells == Int3{20, 10, 1});
    CHECK(scene.scenario.gravity == Vec3{0, -1, 0});
    const double z = domain.h / 2;
    CHECK(scene.scenario.liquid.fills[0].region->distance({0.4, 0.1, z}) == near(-0.1).relative(1e-12));
    CHECK(scene.scenario.liquid.fills[1].region->distance({0.8, 0.2, z}) == near(-0.1).relative(1e-12));
    CHECK(scene.probes[0].point == scene.probes[1].point);
    CHECK(scene.probes[2].point == Vec3{0.1, 0.2, z});
    check_contains(error_of(with(text, "[0, -1]", "[0, -1, 2]")), "nothing moves along z in 2D");
    check_contains(error_of(with(text, "dimensions = 2", "dimensions = 3")),
                   "two numbers are enough only in 2D");
    // A third side is told to be ignored.
    CHECK(parse(with(text, "[1.0, 0.5]", "[1.0, 0.5, 0.5]")).warnings.size() == 1);
}

TEST_CASE("in 2D solids are turned and spun, about z only") {
    const std::string text =
        "[scene]\nduration = 1\ndimensions = 2\n[domain]\nsize = [1.0, 0.5]\nresolution = 20\n"
        "[[liquid.fill]]\nlevel = 0.1\n[[solid]]\nname = \"a\"\nmotion = \"scripted\"\n"
        "shape = { box = [0.2, 0.05] }\nposition = [0.5, 0.3]\n"
        "rotation = { axis = [0, 0, 2], degrees = 90 }\nspin = [0, 0, 3]\n";
    const Scene scene = parse(text);
    const Solid& solid = scene.scenario.solids[0];
    CHECK(length(solid.start.rotation * Vec3{1, 0, 0} - Vec3{0, 1, 0}) < 1e-12);
    CHECK(length(pose_at(solid, 0.5).rotation * Vec3{0, -1, 0} - Vec3{std::cos(1.5), std::sin(1.5), 0}) <
          1e-12);
    for (const char* other : {"[0, 3, 0]", "[3, 0, 0]"})
        check_contains(error_of(with(text, "[0, 0, 3]", other)), "in 2D solids turn about z only");
    check_contains(error_of(with(text, "[0, 0, 2]", "[0, 1, 0]")), "in 2D solids turn about z only");
}

TEST_CASE("sides are rounded to whole cells, and that is said") {
    const Scene scene = parse(good, {"domain.size=[1.0, 0.61, 0.6]"});
    CHECK(scene.scenario.domain.cells == Int3{50, 31, 30});
    REQUIRE(scene.warnings.empty() == false);
    check_contains(scene.warnings[0], "side 2 is 0.62 m instead of 0.61 m");
    // A fill that was written to reach the wall still does.
    const Scene full =
        parse(good, {"domain.size=[1.0, 0.61, 0.6]", "liquid.fill.0.box.max=[0.3, 0.61, 0.6]"});
    CHECK(full.warnings.size() == 1);
    CHECK(full.scenario.liquid.fills[0].region->distance({0.2, 0.619, 0.3}) == near(-0.1).relative(1e-12));
    CHECK(parse(good, {"liquid.fill.0.box.max=[0.3, 0.8, 0.6]"}).warnings.size() == 1);
}

TEST_CASE("every mistake is told with its place, its text and advice") {
    struct Broken {
        std::string text, place, phrase, advice;
    };
    const std::string solid =
        "\n[[solid]]\nname = \"post\"\nmotion = \"cloth\"\nshape = { box = [0.05, 0.3, 0.05] }\nposition = "
        "[0.6, 0.2, 0.3]\n";
    const std::vector<Broken> table = {
        {with(good, "density = 998.0", "densty = 998.0"), "test.toml:13:1",
         "unknown key 'densty' in [liquid]", "did you mean 'density'?"},
        {with(good, "998.0", "-1.0"), "test.toml:13:11", "'density' is -1, out of range", "above 0"},
        {with(good, "998.0", "nan"), "test.toml:13:11", "must be a finite number", "1000.0"},
        {with(good, "998.0", "inf"), "test.toml:13:11", "must be a finite number", "1000.0"},
        {with(good, "998.0", "\"heavy\""), "test.toml:13:11", "'density' must be a number, not text",
         "1000.0"},
        {with(good, "998.0", "1979-05-27"), "test.toml:13:11", "not a date", "1000.0"},
        {with(good, "\"flip\"", "\"flop\""), "test.toml:14:11", "'carrier' cannot be \"flop\"",
         "did you mean 'flip'?"},
        {with(good, "duration = 3.0", "duration = 0"), "test.toml:3:12", "'duration' is 0, out of range",
         "above 0"},
        {with(good, "duration = 3.0\n", ""), "test.toml:1:1", "[scene] needs 'duration'", "duration = 1.5"},
        {with(good, "duration = 3.0", "duration = 0.01"), "test.toml:3:12", "shorter than one frame",
         "raise"},
        {with(good, "resolution = 50", "resolution = 0"), "test.toml:9:14", "'resolution' is 0, out of range",
         "2 to 8192"},
        {with(good, "resolution = 50", "resolution = 100000"), "test.toml:9:14", "out of range", "2 to 8192"},
        {with(good, "resolution = 50", "resolution = 50.5"), "test.toml:9:14",
         "must be a whole number, not a number", "64"},
        {with(good, "resolution = 50", "resolution = 2"), "test.toml:9:14", "only 1 cells along side 2",
         "dimensions = 2"},
        {with(good, "resolution = 50", "resolution = 8192"), "test.toml:9:14", "of memory; the machine has",
         "--scale"},
        {with(good, "[1.0, 0.6, 0.6]", "[1.0, 0.6, 0.6, 2.0]"), "test.toml:8:8",
         "must be 2 or 3 numbers, not 4", "size = ["},
        {with(good, "[1.0, 0.6, 0.6]", "[1.0, -0.6, 0.6]"), "test.toml:8:14", "'size' is -0.6, out of range",
         "1e-06"},
        {with(good, "[1.0, 0.6, 0.6]", "[1.0, \"a\", 0.6]"), "test.toml:8:14",
         "'size' must be 2 or 3 numbers, not text", "size"},
        {with(good, "\"cut-cell\"", "\"cut-sell\""), "test.toml:5:10", "there is no method \"cut-sell\"",
         "did you mean 'cut-cell'?"},
        {with(good, "top = \"open\"", "top = \"ajar\""), "test.toml:10:17", "'top' cannot be \"ajar\"",
         "closed, open"},
        {with(good, "slip = 0.5", "slip = 2"), "test.toml:10:32", "'slip' is 2, out of range", "0 to 1"},
        {with(good, "min = [0, 0, 0], max = [0.3, 0.4, 0.6]", "min = [3, 0, 0], max = [4, 0.4, 0.6]"),
         "test.toml:15:1", "this fill lies outside the domain", "[1, 0.6, 0.6]"},
        {with(good, "min = [0, 0, 0], max = [0.3, 0.4, 0.6]", "min = [0, 0, 0], max = [0.3, 0, 0.6]"),
         "test.toml:16:7", "the box is empty: its y", "below 'max'"},
        {with(good, "radius = 0.03", "radius = 1e-9"), "test.toml:17:1", "holds no liquid",
         "raise domain.resolution"},
        {with(good, "center = [0.2, 0.5, 0.3]", "center = [0.2, 5, 0.3]"), "test.toml:17:1",
         "this emitter lies outside the domain", "domain reaches"},
        {with(good, "until = 1.5", "from = 2.0\nuntil = 1.5"), "test.toml:17:1", "not after 'from'", "raise"},
        {with(good, "box = { min = [0, 0, 0], max = [0.3, 0.4, 0.6] }", ""), "test.toml:15:1",
         "has none of: box, sphere, level, mesh", "exactly one"},
        {with(good, "box = { min = [0, 0, 0], max = [0.3, 0.4, 0.6] }", "mesh = { file = \"no.obj\" }"),
         "test.toml:16:17", "there is no mesh file", "relative to the scene"},
        {with(good, "height = [0.5, 0.3]", "height = [5, 0.3]"), "test.toml:24:10",
         "probe \"H1\" lies outside the domain", "inside"},
        {with(good, "name = \"H1\"", "name = \"H 1\""), "test.toml:23:8", "cannot name a probe", "letters"},
        {good + "[[probe]]\nname = \"H1\"\nheight = [0.5, 0.3]\n", "test.toml:34:8",
         "two probes are called \"H1\"", "its own name"},
        {with(good, "\"liquid.volume\"", "\"liquid.volum\""), "test.toml:27:8",
         "nothing called \"liquid.volum\"", "did you mean 'liquid.volume'?"},
        {with(good, "at = 1.0", "at = 9.0"), "test.toml:29:1", "looks at 9 s, but the scene ends at 3 s",
         "duration"},
        {with(good, "at = 1.0", "at = 1.0\nfrom = 0.5"), "test.toml:32:6", "'at' excludes",
         "moment or a window"},
        {with(good, "at = 1.0", "min = 1"), "test.toml:29:1", "exactly one demand", "relative_to_start"},
        {"[scene]\nduration = 1\n[domain]\nsize = [1, 1, 1]\nresolution = 10\n", "test.toml:1:1",
         "there is no liquid", "[[liquid.fill]]"},
        {"", "test.toml:1:1", "needs 'scene'", "add a table [scene]"},
        {good + solid, "test.toml:36:10", "the method cut-cell does not admit cloth solids (\"post\")",
         "flotsam list methods"},
        {good + with(solid, "[0.6, 0.2, 0.3]", "[9, 0.2, 0.3]"), "test.toml:38:12",
         "the solid \"post\" lies outside the domain", "domain reaches"},
        {good + with(solid, "[0.6, 0.2, 0.3]", "[0.6, 0.1, 0.3]"), "test.toml:38:12",
         "reaches out of the domain", "domain reaches"},
        {good + with(solid, "[0.05, 0.3, 0.05]", "[0.05, 0, 0.05]"), "test.toml:37:24",
         "'box' is 0, out of range", "above 0"},
        {with(good, "duration = 3.0", "duration = "), "test.toml:3", "", "this is not TOML"},
        {with(good, "duration = 3.0", "duration = 3.0\nduration = 4.0"), "test.toml:4", "duration",
         "this is not TOML"},
        {with(good, "Dam break", "Dam \xff"), "test.toml:2:14", "0xff is not UTF-8",
         "save the scene as UTF-8"},
        {"[\xe4\xbd\x93]\n", "test.toml:1:", "", ""},
    };
    for (const Broken& broken : table) {
        const std::string error = error_of(broken.text);
        CAPTURE(broken.text);
        if (broken.phrase.empty() && broken.advice.empty()) {
            CHECK_FALSE(error.empty());
            continue;
        }
        check_contains(error, broken.place);
        check_contains(error, broken.phrase);
        check_contains(error, broken.advice);
    }
}

TEST_CASE("a message shows the line, and several mistakes are told at once") {
    const std::string error = error_of(with(with(good, "density", "densty"), "resolution", "resolutoin"));
    CAPTURE(error);
    CHECK(error.find("test.toml:9:1: unknown key 'resolutoin' in [domain]\n  | resolutoin = 50\n  did you "
                     "mean 'resolution'?") != std::string::npos);
    CHECK(error.find("test.toml:13:1: unknown key 'densty' in [liquid]\n  | densty = 998.0\n  did you mean "
                     "'density'?") != std::string::npos);
    CHECK(error.find("densty") > error.find("resolutoin"));
}

TEST_CASE("files that are no scenes are refused") {
    CHECK_THROWS_WITH_AS(load_scene("/nowhere/scene.toml"), doctest::Contains("no such scene file"),
                         UserError);
    CHECK_THROWS_WITH_AS(load_scene("/tmp"), doctest::Contains("not a file"), UserError);
}

TEST_CASE("every scene of the repository loads, also coarser") {
    int count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(source_folder() + "/scenes")) {
        if (entry.path().extension() != ".toml") continue;
        CAPTURE(entry.path().string());
        const Scene scene = load_scene(entry.path());
        CHECK_FALSE(scene.claims.empty());
        // Sound as slow as the paper has it, against our own speeds.
        const std::string name = entry.path().stem().string();
        const bool slow_sound = name == "asteroid" || name.starts_with("stone_");
        CHECK(scene.warnings.size() == (slow_sound ? 1 : 0));
        for (const std::string& warning : scene.warnings) CHECK(warning.find("Mach") != std::string::npos);
        const SceneSummary summary = summarize_scene(entry.path());
        CHECK(summary.title == scene.scenario.title);
        CHECK(summary.claims == int(scene.claims.size()));
        CHECK_NOTHROW(load_scene(entry.path(), {}, 0.5));
        ++count;
    }
    CHECK(count >= 4);
}

TEST_CASE("every scene that `flotsam new` writes loads") {
    for (const SceneTemplate& entry : scene_templates()) {
        CAPTURE(entry.kind);
        const Scene scene = parse(std::string(entry.text));
        CHECK(scene.warnings.empty());
        CHECK_FALSE(scene.claims.empty());
    }
}

TEST_CASE("a mesh can be a fill, and its content counts for the hash") {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / fmt::format("flotsam_scene_test_{}", ::getpid());
    std::filesystem::create_directories(folder);
    const auto write_tetrahedron = [&](double height) {
        std::ofstream(folder / "t.obj") << fmt::format(
            "v 0 0 0\nv 1 0 0\nv 0 0 1\nv 0 {} 0\nf 1 2 3\nf 1 3 4\nf 1 4 2\nf 2 4 3\n", height);
    };
    const std::string text = with(good, "box = { min = [0, 0, 0], max = [0.3, 0.4, 0.6] }",
                                  "mesh = { file = \"t.obj\", scale = 0.3, position = [0.1, 0.1, 0.1] }");
    write_tetrahedron(1);
    const Scene scene = parse_scene(text, folder / "s.toml");
    CHECK(scene.scenario.liquid.fills[0].region->contains({0.15, 0.15, 0.15}));
    CHECK_FALSE(scene.scenario.liquid.fills[0].region->contains({0.35, 0.35, 0.35}));
    write_tetrahedron(0.9);
    CHECK(parse_scene(text, folder / "s.toml").hash != scene.hash);
    std::ofstream(folder / "t.obj") << "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n";
    CHECK_THROWS_WITH_AS(parse_scene(text, folder / "s.toml"), doctest::Contains("the mesh is not closed"),
                         UserError);
    CHECK_THROWS_WITH_AS(parse_scene(text, folder / "s.toml"), doctest::Contains("s.toml:16:17: "),
                         UserError);
    std::filesystem::remove_all(folder);
}

TEST_CASE("docs/scene_reference.md is what the table of keys says") {
    std::ifstream file(source_folder() + "/docs/scene_reference.md");
    std::stringstream text;
    text << file.rdbuf();
    const bool same = text.str() == scene_reference();  // a bool, so that a failure does not print both pages
    CHECK_MESSAGE(same, "write it anew: ./flotsam docs docs/scene_reference.md");
}

TEST_CASE("every table of keys is reachable and every default is allowed") {
    for (const TableRule& table : scene_tables())
        for (const KeyRule& key : table.keys) {
            CAPTURE(key.name);
            CHECK_FALSE(key.meaning.empty());
            if (key.types & (a_table | tables)) CHECK(scene_table(key.inner).name == key.inner);
        }
    // Defaults written out are themselves valid.
    CHECK_NOTHROW(parse(parse(good).effective_toml));
}

TEST_CASE("the estimate counts cells and particles") {
    const Scene scene = parse(with(good,
                                   "[[liquid.emitter]]\nsphere = { center = [0.2, 0.5, 0.3], radius = 0.03 "
                                   "}\nvelocity = [1.0, 0, 0]\nuntil = 1.5\n",
                                   ""));
    const Estimate e = estimate(scene.scenario, scene.output);
    CHECK(e.cells == 50 * 30 * 30);
    CHECK(e.liquid_cells == near(15 * 20 * 30).relative(1e-12));
    CHECK(e.particles == near(8 * 15 * 20 * 30).relative(1e-12));
    CHECK(e.frames == 72);
    CHECK(e.memory > 8 * 15 * 20 * 30 * 48.0);
    CHECK(e.disk_per_frame > 0);
    CHECK(e.seconds_per_frame > 0);
    CHECK(byte_text(1234567) == "1.2 MB");
    check_contains(estimate_text(e), "particles  ");

    // Particles whose pressure is sound: a hundred times as many steps, twice as many with twice the sound.
    Scenario sph = scene.scenario;
    sph.method = "direct-forcing";
    sph.liquid.carrier = Carrier::sph;
    sph.sph.speed_of_sound = 100;
    const double slow = estimate(sph, scene.output).seconds_per_frame;
    sph.sph.speed_of_sound = 200;
    CHECK(slow > 10 * e.seconds_per_frame);
    CHECK(estimate(sph, scene.output).seconds_per_frame == near(2 * slow).relative(0.01));
}

TEST_CASE("the estimate foresees steps, whatever limits them, and counts liquid once and none in solids") {
    const std::string column = "[[liquid.fill]]\nbox = { min = [0, 0, 0], max = [0.3, 0.6, 0.8] }\n",
                      pool = "[[liquid.fill]]\nlevel = 0.3\n";
    const auto solid = [](const std::string& more) {
        return "[[solid]]\nname = \"a\"\nshape = { sphere = 0.1 }\nposition = [0.4, 0.65, 0.4]\n" + more;
    };
    const auto scene = [](const std::string& scene_keys, const std::string& cell, const std::string& rest) {
        return "[scene]\nduration = 0.5\n" + scene_keys + "[domain]\nsize = [0.8, 0.8, 0.8]\ncell = " + cell +
               "\n" + rest;
    };
    const std::string texts[] = {
        scene("dimensions = 2\n", "0.02", column),  // splashes
        scene("dimensions = 2\n", "0.01", column),  // finer
        scene("", "0.05", pool + solid("motion = \"rigid\"\ndensity = 900\nvelocity = [0, -6, 0]\n")),
        scene("", "0.05", pool + solid("motion = \"scripted\"\nspin = [0, 0, 40]\n")),
        scene("method = \"marker-springs\"\n", "0.08",
              pool + solid("motion = \"spring\"\ndensity = 600\nstiffness = 1e5\n")),
        scene("method = \"direct-forcing\"\ndimensions = 2\n", "0.05", column),
    };
    for (const std::string& text : texts) {
        const Scene s = parse(text);
        Driver driver(s.scenario, make_scheme(s.scenario.method));
        driver.start();
        while (driver.frame() < driver.last_frame()) (void)driver.advance();
        const double steps = double(driver.world().step) / driver.last_frame();
        const double foreseen = estimate(s.scenario, s.output).steps_per_frame;
        CAPTURE(text);
        CAPTURE(steps);
        CAPTURE(foreseen);
        CHECK(foreseen > steps / 1.6);
        CHECK(foreseen < steps * 2.5);
    }

    // Overlapping fills and a block in the water.
    const Scene s = parse(scene(
        "", "0.04",
        pool + column +
            "[[solid]]\nname = \"a\"\nshape = { box = [0.2, 0.2, 0.2] }\nposition = [0.6, 0.2, 0.4]\n"));
    const double volume = 0.8 * 0.3 * 0.8 + 0.3 * 0.3 * 0.8 - 0.2 * 0.2 * 0.2;
    CHECK(std::abs(double(estimate(s.scenario, s.output).liquid_cells) / (volume / (0.04 * 0.04 * 0.04)) -
                   1) < 0.02);
}

TEST_CASE("the depth of the layer that rubs is a length, and for liquid on a grid") {
    const auto text = [](const std::string& method, const std::string& depth) {
        return "[scene]\nduration = 1\nmethod = \"" + method +
               "\"\n[domain]\nsize = [1, 1, 1]\nresolution = 16\n[liquid]\nslip_depth = " + depth +
               "\n[[liquid.fill]]\nlevel = 0.5\n";
    };
    CHECK(parse(text("cut-cell", "0.02")).scenario.liquid.slip_depth == 0.02);
    CHECK(parse(text("marker-springs", "0.02")).scenario.liquid.slip_depth == 0.02);
    check_contains(error_of(text("cut-cell", "0")), "'slip_depth' is 0");
    check_contains(error_of(text("direct-forcing", "0.02")), "only the particles at a surface rub on it");
}

TEST_CASE("scenes of Becker 2009 have the particles that Table 1 gives") {
    const std::string folder = source_folder() + "/scenes/becker-2009/";
    for (const auto& [name, particles] : {std::pair{"asteroid", 850e3},
                                          {"cuboids", 2e6},
                                          {"sphere_thin", 130e3},
                                          {"stone_local", 240e3},
                                          {"flotsam", 2.57e6}}) {
        const Scene s = load_scene(folder + name + ".toml");
        const double foreseen = double(estimate(s.scenario, s.output).particles);
        const std::string of = name;
        CAPTURE(of);
        CAPTURE(foreseen);
        CHECK(std::abs(foreseen / particles - 1) < 0.03);
    }
}

TEST_CASE("the nearest word is suggested, far ones are not") {
    CHECK(nearest_word("densty", {"density", "seed"}) == "density");
    CHECK(nearest_word("xyzzy", {"density", "seed"}).empty());
    // Two letters swapped are one mistake: of so short a word more are not forgiven.
    CHECK(nearest_word("sede", {"density", "seed"}) == "seed");
    CHECK(nearest_word("szie", {"level", "size"}) == "size");
    CHECK(nearest_word("dees", {"density", "seed"}).empty());
    check_contains(suggestion("xyzzy", {"density", "seed"}), "density, seed");
}

TEST_CASE("mutated scenes give a scene or a UserError, never a crash") {
    std::mt19937 random(7);
    const std::vector<std::string> words = {"=",
                                            "[",
                                            "]",
                                            "{",
                                            "}",
                                            "\"",
                                            "'''",
                                            "\"\"\"",
                                            "\"\"\"\"\"\"\"",
                                            "'''''''",
                                            "-1",
                                            "1e308",
                                            "nan",
                                            "inf",
                                            "0",
                                            "\n",
                                            ".",
                                            ",",
                                            "[[liquid.fill]]",
                                            "level = 1",
                                            "box",
                                            "true",
                                            "\xff",
                                            "\xe4\xbd\x93",
                                            "\\u0000",
                                            "99999999999999999999",
                                            "#",
                                            "[scene]"};
    const auto pick = [&](std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
    };
    int scenes = 0, refused = 0;
    for (int n = 0; n < 4000; ++n) {
        std::string text = good;
        for (std::size_t changes = 1 + pick(3); changes > 0; --changes) {
            const std::size_t at = pick(text.size());
            switch (pick(5)) {
                case 0:
                    text[at] = static_cast<char>(pick(256));
                    break;
                case 1:
                    text.erase(at, 1 + pick(12));
                    break;
                case 2:
                    text.insert(at, words[pick(words.size())]);
                    break;
                case 3:
                    text = text.substr(0, at + 1);
                    break;
                default:
                    text.insert(at, text.substr(pick(text.size()), pick(40)));
                    break;
            }
        }
        try {
            parse(text);
            ++scenes;
        } catch (const UserError& error) {
            CHECK(std::string(error.what()).starts_with("test.toml:"));
            ++refused;
        }
    }
    CHECK(scenes > 0);
    // Nesting without end must not eat the stack.
    std::string deep;
    for (int n = 0; n < 200000; ++n) deep += "a.";
    CHECK_THROWS_AS(parse(deep + "a = 1\n"), UserError);
    CHECK_THROWS_AS(parse("[" + deep + "a]\n"), UserError);
    CHECK_THROWS_AS(parse("a = " + std::string(200000, '[')), UserError);
    CHECK_THROWS_AS(parse(good, {deep + "a=1"}), UserError);
    CHECK(refused > 1000);
}

TEST_CASE("view and colours: read, checked, and no part of what a resumed run must share") {
    const std::string with_post = good + R"(
[[solid]]
name = "post"
shape = { box = [0.1, 0.5, 0.1] }
position = [0.6, 0.2, 0.3]
)";
    const Scene plain = parse(with_post);
    CHECK_FALSE(plain.view.camera);
    CHECK_FALSE(plain.scenario.solids[0].color);
    const std::vector<std::string> looks{"view.camera=[2,1,2]", "view.target=[0.5,0.2,0.3]",
                                         "view.light=[0,1,0]", "view.liquid_color=[0.1,0.2,0.3]",
                                         "solid.0.color=[1,0,0.5]"};
    const Scene seen = parse(with_post, looks);
    REQUIRE(seen.view.camera);
    CHECK(seen.view.camera->x == 2);
    CHECK(seen.view.target->y == 0.2);
    CHECK(seen.view.light.y == 1);
    CHECK(seen.view.liquid_color.z == 0.3);
    REQUIRE(seen.scenario.solids[0].color);
    CHECK(seen.scenario.solids[0].color->z == 0.5);
    CHECK(seen.hash == plain.hash);
    CHECK(parse(with_post, {"solid.0.slip=0.5"}).hash != plain.hash);
    CHECK(parse(seen.effective_toml).view.camera->x == 2);

    CHECK(error_of(with_post, {"view.light=[1,-1,0]"}).find("below the horizon") != std::string::npos);
    CHECK(error_of(with_post, {"view.light=[0,0,0]"}).find("below the horizon") != std::string::npos);
    CHECK(error_of(with_post, {"view.camera=[1,-1,0]"}).find("below the floor") != std::string::npos);
    CHECK(error_of(with_post, {"solid.0.color=[1,2,0]"}).find("out of range") != std::string::npos);
    CHECK(error_of(with_post, {"view.camera=[1,1]"}).find("3 numbers") != std::string::npos);
}

TEST_CASE("the estimate counts what an emitter brings while it is open") {
    const auto particles = [](const std::string& times) {
        const Scene scene =
            parse(with(good, "velocity = [1.0, 0, 0]\nuntil = 1.5\n", "velocity = [1.0, 0, 0]\n" + times));
        return double(estimate(scene.scenario, scene.output).particles);
    };
    // The scene takes 3 s.
    const double all = particles(""), late = particles("from = 2\n"), early = particles("until = 1\n");
    CHECK(all > 1.05 * late);
    CHECK(std::abs(late - early) < 1e-6 * all);
    CHECK(std::abs(particles("from = 1\nuntil = 2\n") - early) < 1e-6 * all);
}

TEST_CASE("a wave has the height and the length that it is given") {
    const Scene scene = parse(with(good, "box = { min = [0, 0, 0], max = [0.3, 0.4, 0.6] }",
                                   "level = 0.3\nwave = { amplitude = 0.05, wavelength = 0.8 }"));
    const Shape& water = *scene.scenario.liquid.fills[0].region;
    for (const double x : {0.0, 0.1, 0.4, 0.6, 0.8}) {
        const double surface = 0.3 + 0.05 * std::cos(2 * 3.14159265358979 * x / 0.8);
        CHECK(water.contains({x, surface - 1e-3, 0.3}));
        CHECK_FALSE(water.contains({x, surface + 1e-3, 0.3}));
    }
}

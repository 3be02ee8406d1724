// `flotsam compare`: one scene under several methods.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <fstream>

#include "io/atomic_file.h"
#include "io/comparison.h"
#include "render/side_by_side.h"
#include "scene/scene.h"
#include "tests/near.h"
#include "tests/program_says.h"
#include "tests/scratch_folder.h"

using namespace flotsam;

namespace {

const std::string tank = R"(
[scene]
duration = 0.1
method = "marker-springs"
[domain]
size = [0.8, 1.0, 0.8]
resolution = 10
walls = { top = "open" }
[[liquid.fill]]
level = 0.6
)";

const std::string ball = R"(
[[solid]]
name = "ball"
motion = "spring"
shape = { sphere = 0.2 }
position = [0.4, 0.3, 0.4]
density = 300
springs = { structure = "node" }
)";

std::string written(const ScratchFolder& folder, const std::string& text) {
    const std::filesystem::path file = folder / "scene.toml";
    std::ofstream(file) << text;
    return file.string();
}

}  // namespace

TEST_CASE("compare: springs run as rigid solids where there are no springs; a table and a movie are left") {
    const ScratchFolder folder;
    const std::string scene = written(folder, tank + ball), out = (folder / "out").string();
    const std::string line =
        fmt::format("compare {} --methods cut-cell,marker-springs --out {} --size 48x32", scene, out);
    const Said said = flotsam_says(line);
    CAPTURE(said.text);
    REQUIRE(said.code == 0);
    CHECK(contains(said, "cut-cell runs ball: rigid, of the same density, instead of springs"));
    for (const std::string row : {"ball: y at 0.125 s", "ball: furthest from where cut-cell has it", "leaks",
                                  "momentum unaccounted", "time per frame"})
        CHECK(contains(said, row));
    const std::string csv = read_file(folder / "out" / "compare.csv");
    CHECK(contains(csv, "quantity,unit,cut-cell,marker-springs\n"));
    CHECK(contains(read_file(folder / "out" / "motion.csv"), "time,cut-cell.ball.x"));
    CHECK(contains(read_file(folder / "out" / "cut-cell" / "scene.toml"), "motion = \"rigid\""));
    CHECK(std::filesystem::file_size(folder / "out" / "side_by_side.mp4") > 0);
    // Both rise, by their own numbers.
    const auto rows =
        compare_runs({{"a", folder / "out" / "cut-cell"}, {"b", folder / "out" / "marker-springs"}});
    bool found = false;
    for (const ComparisonRow& row : rows)
        if (row.quantity == "ball: highest") {
            found = true;
            REQUIRE(row.value.size() == 2);
            CHECK(*row.value[0] > 0.31);
            CHECK(*row.value[1] > 0.31);
            CHECK(*row.value[0] != *row.value[1]);
        }
    CHECK(found);

    const Said again = flotsam_says(line);
    CHECK(again.code == 2);
    CHECK(contains(again, "--resume"));
    const Said resumed = flotsam_says(line + " --resume --no-movie");
    CHECK(resumed.code == 0);
    CHECK(contains(resumed, "is complete"));
}

TEST_CASE("compare: a movie is made whatever the scene writes, and what repeats another method is left out") {
    const ScratchFolder folder;
    const std::string slab = R"(
[scene]
duration = 0.1
dimensions = 2
[domain]
size = [0.8, 0.6]
resolution = 12
[[liquid.fill]]
level = 0.3
[output]
volume = false
surface = false
)";
    const std::string out = (folder / "out").string();
    const Said said =
        flotsam_says(fmt::format("compare {} --out {} --size 48x32", written(folder, slab), out));
    CAPTURE(said.text);
    CHECK(said.code == 0);
    CHECK(std::filesystem::exists(folder / "out" / "side_by_side.mp4"));
    CHECK(contains(said, "cut-cell runs with output.volume=true"));
    for (const std::string variant : {"cut-cell-weak", "cut-cell-damping"}) {
        CHECK(contains(said, variant + " is left out"));
        CHECK_FALSE(std::filesystem::exists(folder / "out" / variant));
    }
    for (const std::string method : {"cut-cell", "marker-springs", "direct-forcing", "penalty"})
        CHECK(std::filesystem::exists(folder / "out" / method / "audit.csv"));
    // Whoever asks for one gets it, and without a movie nothing is written that the scene did not ask for.
    const Said asked = flotsam_says(fmt::format("compare {} --out {} --no-movie --methods cut-cell-weak",
                                                written(folder, slab), (folder / "asked").string()));
    CHECK(asked.code == 0);
    CHECK(std::filesystem::exists(folder / "asked" / "cut-cell-weak" / "audit.csv"));
    CHECK(std::filesystem::is_empty(folder / "asked" / "cut-cell-weak" / "frames"));
    // Where something is elastic the variants have something to say.
    const std::string rubber = R"(
[[solid]]
name = "rubber"
motion = "elastic"
shape = { box = [0.2, 0.2] }
position = [0.4, 0.45]
density = 500
stiffness = 1e5
)";
    const Said elastic =
        flotsam_says(fmt::format("compare {} --out {} --no-movie --quiet", written(folder, slab + rubber),
                                 (folder / "soft").string()));
    CAPTURE(elastic.text);
    CHECK(std::filesystem::exists(folder / "soft" / "cut-cell-weak" / "audit.csv"));
    CHECK(std::filesystem::exists(folder / "soft" / "cut-cell-damping" / "audit.csv"));
}

TEST_CASE("compare: mistakes are told, and methods that do not fit are left out") {
    const ScratchFolder folder;
    const std::string scene = written(folder, tank + ball);
    const Said unknown = flotsam_says("compare " + scene + " --methods cut-cel");
    CHECK(unknown.code == 2);
    CHECK(contains(unknown, "did you mean 'cut-cell'?"));
    CHECK(contains(flotsam_says("compare " + scene + " --methods cut-cell,cut-cell"), "twice"));
    CHECK(flotsam_says("compare " + scene + " --size huge").code == 2);
    const std::string moved = tank + R"(
[[solid]]
name = "wall"
motion = "scripted"
shape = { box = [0.1, 0.5, 0.5] }
position = [0.4, 0.3, 0.4]
velocity = [0.1, 0, 0]
)";
    const Said none =
        flotsam_says("compare " + written(folder, moved) + " --methods marker-springs --no-movie");
    CHECK(none.code == 2);
    CHECK(contains(none, "marker-springs is left out"));
    CHECK(contains(none, "does not admit scripted solids"));
    const Said foreign = flotsam_says(
        fmt::format("compare {} --overwrite --out {}", written(folder, tank + ball), folder.path().string()));
    CHECK(foreign.code == 2);
    CHECK(contains(foreign, "no comparison"));
}

TEST_CASE("compare: rigid solids become stiff springs, and a carrier that a method lacks its own") {
    const ScratchFolder folder;
    const std::string scene = written(folder, tank + R"(
[[solid]]
name = "crate"
motion = "rigid"
shape = { box = [0.3, 0.3, 0.3] }
position = [0.4, 0.3, 0.4]
density = 300
[[solid]]
name = "ball"
motion = "rigid"
shape = { sphere = 0.1 }
position = [0.15, 0.8, 0.4]
density = 300
)");
    std::vector<std::string> changes;
    const Scene springs = load_scene_for("marker-springs", scene, {"liquid.carrier=apic"}, 1, changes);
    CHECK(changes.size() == 3);
    CHECK(springs.scenario.liquid.carrier == Carrier::markers);
    REQUIRE(springs.scenario.solids[0].motion == Motion::spring);
    CHECK(springs.scenario.solids[0].spring.net->total_mass() == near(300 * 0.027).relative(1e-12));
    CHECK(springs.scenario.solids[1].spring.net->rest.size() == 1);
    const Scene own = load_scene_for("cut-cell", scene, {}, 1, changes);
    CHECK(changes.empty());
    CHECK(own.scenario.solids[0].motion == Motion::rigid);
}

TEST_CASE("compare: pictures stand side by side under their labels") {
    Picture red{4, 2, {}}, blue{4, 2, {}};
    for (int i = 0; i < 8; ++i) {
        red.bytes.insert(red.bytes.end(), {255, 0, 0});
        blue.bytes.insert(blue.bytes.end(), {0, 0, 255});
    }
    const Picture both = side_by_side({red, blue}, {"a", "b"});
    CHECK(both.width == 8);
    CHECK(both.height > 2);
    const std::size_t last_row = std::size_t(both.height - 1) * both.width * 3;
    CHECK(both.bytes.size() == std::size_t(both.height) * both.width * 3);
    CHECK(both.bytes[last_row] == 255);
    CHECK(both.bytes[last_row + 3 * 3 + 2] == 0);
    CHECK(both.bytes[last_row + 4 * 3] == 0);
    CHECK(both.bytes[last_row + 4 * 3 + 2] == 255);
}

TEST_CASE("compare: when a solid passes the liquid's level is read off between two frames") {
    const ScratchFolder folder;
    std::ofstream(folder / "audit.csv") << "step,frame,time,liquid.top\n1,1,0.5,0.4\n2,2,1.0,0.4\n";
    std::ofstream(folder / "transforms.csv")
        << "frame,time,ball.x,ball.y,ball.z,ball.qx,ball.qy,ball.qz,ball.qw\n"
           "0,0,0,0.1,0,0,0,0,1\n1,0.5,0,0.3,0,0,0,0,1\n2,1.0,0,0.7,0,0,0,0,1\n";
    bool found = false;
    for (const ComparisonRow& row : compare_runs({{"a", folder.path()}})) {
        if (row.quantity.find("centre passes 0.4 m") == std::string::npos) continue;
        found = true;
        REQUIRE(row.value[0].has_value());
        CHECK(std::abs(*row.value[0] - 0.625) < 1e-9);
    }
    CHECK(found);
}

// What --record appends, and the pages that are written from it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tests/places.h"
#include "tests/program_says.h"
#include "tests/scratch_folder.h"

using namespace flotsam;

namespace {

std::string text_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

int lines_in(const std::string& text) { return int(std::count(text.begin(), text.end(), '\n')); }

// A drop that falls for a moment: one claim holds, one is known to fail, one fails; with a comma and quotes.
constexpr const char* scene = R"(
[scene]
title = "drop"
duration = 0.05
frames_per_second = 40
[domain]
size = [1, 1, 1]
resolution = 16
[[liquid.fill]]
sphere = { center = [0.5, 0.5, 0.5], radius = 0.2 }
[[claim]]
says = "it falls, as \"heavy\" things do"
what = "liquid.momentum.y"
max = -0.1
at = 0.05
[[claim]]
says = "it rises"
what = "liquid.momentum.y"
min = 0.1
at = 0.05
fails = { why = "gravity | pulls" }
[[claim]]
says = "it floats"
what = "liquid.top_speed"
max = 0.001
[check]
scale = 0.5
seconds = 1
)";

}  // namespace

TEST_CASE("records are appended, read back, and shown on the scoreboard with what fails and why") {
    const ScratchFolder folder;
    const std::filesystem::path results = folder.path() / "results",
                                scenes = folder.path() / "scenes/made-up";
    std::filesystem::create_directories(scenes);
    std::filesystem::create_directories(folder.path() / "docs");
    std::ofstream(scenes / "drop.toml") << scene;
    const std::string inside = fmt::format("cd '{}' &&", folder.path().string());

    const std::string check = "check scenes/made-up/drop.toml --quiet --record";
    CHECK(flotsam_says(check + " --coarse", inside).code == 1);
    CHECK(lines_in(text_of(results / "checks.csv")) == 4);
    const Said said = flotsam_says(check, inside);
    CHECK(said.code == 1);
    CHECK(contains(said, "1 of 3 claims hold, 1 known to fail\nfailed:\n  it floats"));
    CHECK(lines_in(text_of(results / "checks.csv")) == 7);

    REQUIRE(flotsam_says("scoreboard", inside).code == 0);
    const std::string page = text_of(folder.path() / "docs/scoreboard.md");
    CHECK(contains(page, "| `made-up/drop` | 1 | 1 of 3 | 1 | 1 |"));  // the run at full size, not the newest
    CHECK(contains(page, "| gravity \\| pulls |"));
    CHECK(contains(page, "| `made-up/drop` at 1 | it floats"));
    CHECK_FALSE(contains(page, "it falls"));
    CHECK(contains(page, "| `rest` | | | never recorded |"));

    CHECK(flotsam_says("validate rigid-rotation --quick --record", inside).code == 0);
    REQUIRE(flotsam_says("scoreboard", inside).code == 0);
    CHECK(
        contains(text_of(folder.path() / "docs/scoreboard.md"), "| `rigid-rotation` | cut-cell | quick | "));
    CHECK(contains(text_of(folder.path() / "docs/scoreboard_validation.md"), "cut-cell, quick level, "));
}

TEST_CASE("a results file that is not one is refused before anything runs") {
    const ScratchFolder folder;
    std::ofstream(folder.path() / "checks.csv") << "something,else\n";
    std::ofstream(folder.path() / "drop.toml") << scene;
    const std::string place = folder.path().string();
    const Said said = flotsam_says(
        fmt::format("check '{0}/drop.toml' --quiet --record --results '{0}' --out '{0}/run'", place));
    CHECK(said.code == 2);
    CHECK(contains(said, "checks.csv:1:1: the columns are not those of this version"));
    CHECK_FALSE(std::filesystem::exists(folder.path() / "run"));
}

TEST_CASE("a run can be cut short and goes on later; claims whose time has not come are not judged") {
    const ScratchFolder folder;
    std::ofstream(folder.path() / "drop.toml") << scene;
    const std::string place = folder.path().string();
    const Said said =
        flotsam_says(fmt::format("check '{0}/drop.toml' --quiet --frames 1 --out '{0}/check'", place));
    CHECK(contains(said, "unseen  it rises"));
    CHECK(contains(said, "0 of 3 claims hold, 2 not judged"));
    const std::string run = fmt::format("run '{0}/drop.toml' --out '{0}/run' ", place);
    CHECK(contains(flotsam_says(run + "--until 0.025"), "1 frames in"));
    CHECK(contains(flotsam_says(run + "--resume"), "2 frames in"));
    CHECK(contains(flotsam_says(run + "--frames 1 --until 1 --overwrite"), "leave out one of them"));
}

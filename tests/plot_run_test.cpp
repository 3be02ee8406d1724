// From the folder of a run to its charts, by the functions and by the command.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "core/check.h"
#include "io/atomic_file.h"
#include "plot/gallery.h"
#include "plot/run_charts.h"
#include "plot/validation_charts.h"
#include "run/run.h"
#include "tests/near.h"
#include "tests/program_says.h"
#include "tests/scratch_folder.h"
#include "tests/small_disk.h"
#include "tests/xml_checker.h"

using namespace flotsam;
namespace fs = std::filesystem;

namespace {

constexpr const char* scene_text = R"(
[scene]
title = "A <small> tank & paddle"
duration = 0.25
frames_per_second = 16
[domain]
size = [0.8, 0.4, 0.8]
resolution = 12
[[liquid.fill]]
level = 0.2
[[solid]]
name = "paddle"
motion = "scripted"
shape = { box = [0.4, 0.1, 0.1] }
position = [0.4, 0.1, 0.4]
spin = [0, 4, 0]
[[solid]]
name = "sled"
motion = "scripted"
shape = { box = [0.1, 0.1, 0.1] }
position = [0.1, 0.3, 0.1]
velocity = [0.5, 0, 0]
[[solid]]
name = "post"
shape = { box = [0.05, 0.3, 0.05] }
position = [0.7, 0.15, 0.7]
[[probe]]
name = "H1"
height = [0.1, 0.5]
[[probe]]
name = "H2"
height = [0.7, 0.5]
[[probe]]
name = "load"
force = "paddle"
)";

// Runs the small tank into a folder.
void run_small_tank(const fs::path& folder) {
    const Scene scene = parse_scene(scene_text, "tank.toml");
    const RunInputs inputs{.scenario = scene.scenario,
                           .output = {.surface = false, .volume = false},
                           .probes = scene.probes,
                           .scene_hash = scene.hash,
                           .scene_text = scene.effective_toml,
                           .scene_file = "tank.toml",
                           .version = "test",
                           .command = "flotsam run 'tank \"1\".toml'",
                           .resume_command = "flotsam run tank.toml --resume"};
    REQUIRE(run_scene(inputs, {folder, false, true, /*quiet=*/true}, {}).end == RunResult::End::completed);
}

// A folder with the least that can be plotted.
void write_run(const fs::path& folder, const std::string& audit) {
    fs::create_directories(folder);
    write_file(folder / "run.toml", "[run]\n\n[scene]\ntitle = \"by hand\"\n");
    write_file(folder / "audit.csv", audit);
}

std::map<std::string, Chart> by_name(const std::vector<NamedChart>& charts) {
    std::map<std::string, Chart> result;
    for (const NamedChart& named : charts) result[named.name] = named.chart;
    CHECK(result.size() == charts.size());  // no two files of one name
    return result;
}

Said plot(const std::string& arguments) { return flotsam_says("plot " + arguments); }

}  // namespace

TEST_CASE("a run has charts of its physics, its cost, its probes and its moving solids") {
    const ScratchFolder scratch;
    run_small_tank(scratch / "run");
    const RunTables run = read_run_tables(scratch / "run");
    CHECK(run.warnings.empty());
    CHECK(run.title == "A <small> tank & paddle");
    CHECK(run.command == "flotsam run 'tank \"1\".toml'");
    auto charts = by_name(charts_of(run));
    for (const char* name :
         {"volume", "spray", "momentum", "unaccounted", "energy", "extent", "speed", "iterations", "residual",
          "divergence", "time_step", "stages", "probe_height", "probe_load", "turn_paddle", "motion_sled"})
        CHECK_MESSAGE(charts.count(name) == 1, name);
    CHECK(charts.size() == 16);  // nothing about the post, which stands still

    // Curves say what the tables say.
    const std::size_t steps = run.audit.rows();
    REQUIRE(steps >= 4);
    const Curve& volume = charts["volume"].curves.at(0);
    REQUIRE(volume.points.size() == steps);
    CHECK(volume.points.back().x == run.audit.find("time")->back());
    CHECK(volume.points.back().y == run.audit.find("liquid.volume")->back());
    const Chart& energy = charts["energy"];
    CHECK(energy.curves.at(0).points[2].y ==
          near(energy.curves.at(1).points[2].y + energy.curves.at(2).points[2].y).relative(1e-12));
    CHECK(charts["probe_height"].curves.size() == 2);
    CHECK(charts["probe_height"].curves[1].name == "H2");
    CHECK(charts["probe_height"].y_unit == "m");
    CHECK(charts["probe_load"].title == "Force of the liquid on paddle");
    CHECK(charts["probe_load"].y_unit == "N");
    CHECK(charts["probe_load"].curves.at(1).name == "y");

    // 4 rad/s for 0.25 s about y; 0.5 m/s along x.
    CHECK(charts["turn_paddle"].curves.at(1).points.back().y == near(180 / std::numbers::pi).relative(1e-12));
    CHECK(std::abs(charts["turn_paddle"].curves.at(0).points.back().y) < 1e-9);
    CHECK(charts["motion_sled"].curves.at(0).points.back().y == near(0.225).relative(1e-12));

    // The stages of all steps add up to the times in the table.
    double drawn = 0, written = 0;
    for (const Curve& stage : charts["stages"].curves)
        for (const PlotPoint& p : stage.points) drawn += p.y;
    for (std::size_t n = 0; n < run.audit.names.size(); ++n)
        if (run.audit.names[n].starts_with("ms."))
            for (const double ms : run.audit.columns[n]) written += ms;
    CHECK(drawn == near(written).relative(1e-12));
}

TEST_CASE("the command writes every chart and a page that shows them; a new run removes them") {
    const ScratchFolder scratch;
    const fs::path folder = scratch / "run";
    run_small_tank(folder);
    const Said done = plot(folder.string());
    CHECK(done.code == 0);
    CHECK(contains(done.text, "16 charts; open " + (folder / "plots/index.html").string()));
    const std::string page = read_file(folder / "plots/index.html");
    CHECK(contains(page, "<h1>A &lt;small&gt; tank &amp; paddle</h1>"));
    CHECK(contains(page, " of 0.25 s</p>"));
    CHECK_FALSE(contains(page, "not complete"));
    CHECK(xml_problem(page.substr(page.find("<html"))) == "");
    int pictures = 0;
    for (const auto& entry : fs::directory_iterator(folder / "plots")) {
        if (entry.path().extension() != ".svg") continue;
        ++pictures;
        CAPTURE(entry.path());
        CHECK(xml_problem(read_file(entry.path())) == "");
        CHECK(contains(page, fmt::format("src=\"{}\"", entry.path().filename().string())));
    }
    CHECK(pictures == 16);

    write_file(folder / "plots/notes.txt", "mine");
    CHECK(plot(fmt::format("{} --out {}", folder.string(), (scratch / "elsewhere").string())).code == 0);
    CHECK(fs::exists(scratch / "elsewhere/volume.svg"));
    run_small_tank(folder);
    CHECK_FALSE(fs::exists(folder / "plots/volume.svg"));
    CHECK_FALSE(fs::exists(folder / "plots/index.html"));
    CHECK(fs::exists(folder / "plots/notes.txt"));
}

TEST_CASE("a run that is still going, or was killed within a line, is drawn as far as it came") {
    const ScratchFolder scratch;
    const fs::path folder = scratch / "run";
    run_small_tank(folder);
    const std::size_t steps = read_run_tables(folder).audit.rows();
    for (const char* name : {"audit.csv", "probes.csv"}) {
        const std::string table = read_file(folder / name);
        write_file(folder / name, table.substr(0, table.size() - 30));
    }
    CHECK(read_run_tables(folder).audit.rows() == steps - 1);
    CHECK(plot(folder.string()).code == 0);
    CHECK(contains(read_file(folder / "plots/index.html"), "the run is not complete"));

    // The header alone: the first step is under way.
    const std::string audit = read_file(folder / "audit.csv");
    write_file(folder / "audit.csv", audit.substr(0, audit.find('\n') + 1));
    CHECK(plot(folder.string()).code == 0);
    CHECK(contains(read_file(folder / "plots/volume.svg"), "no values yet"));
    fs::remove(folder / "audit.csv");
    const Said before = plot(folder.string());
    CHECK(before.code == 2);
    CHECK(contains(before.text, "audit.csv is missing"));
}

TEST_CASE("without its scene a run is drawn too, and says what is missing") {
    const ScratchFolder scratch;
    const fs::path folder = scratch / "run";
    run_small_tank(folder);
    write_file(folder / "scene.toml", "[scene\n");
    const Said done = plot(folder.string());
    CHECK(done.code == 0);
    CHECK(contains(done.text, "warning: the scene of the run cannot be read"));
    CHECK(fs::exists(folder / "plots/volume.svg"));
    CHECK(contains(read_file(folder / "plots/probe_H1.svg"), "unit not known"));
    CHECK_FALSE(fs::exists(folder / "plots/turn_paddle.svg"));

    run_small_tank(folder);
    fs::remove(folder / "probes.csv");
    CHECK(contains(plot(folder.string()).text, "probes.csv is missing, though the scene has probes"));
}

TEST_CASE("what is not a run, and tables that are damaged, are refused with their place") {
    const ScratchFolder scratch;
    fs::create_directories(scratch / "empty");
    const Said empty = plot((scratch / "empty").string());
    CHECK(empty.code == 2);
    CHECK(contains(empty.text, "empty is not the folder of a run: there is no run.toml in it"));
    CHECK(contains(plot((scratch / "nowhere").string()).text, "it does not exist"));

    const fs::path folder = scratch / "run";
    struct Damaged {
        std::string audit;
        const char* message;
    };
    const Damaged damaged_tables[] = {
        {"", "audit.csv:1: there is no line of column names"},
        {"step,time", "audit.csv:1: there is no line of column names"},
        {"step,volume\n1,2\n", "audit.csv:1: there is no column 'time'"},
        {"step,time\n1,0.1\n2,o.2\n", "audit.csv:3: 'o.2' is not a number (column time)"},
        {"step,time\n1,0.1\n2\n", "audit.csv:3: there are 1 numbers for 2 columns"},
        {"step,time\n1,0.1,7\n", "audit.csv:2: there are more numbers than the 2 columns"},
        {"step,time\n1,0.1\n\n3,0.3\n", "audit.csv:3: '' is not a number (column step)"},
        {"step,time\n1,0.2\n2,0.1\n", "audit.csv:3: the time 0.1 does not follow"},
        {"step,time\n1,nan\n", "audit.csv:2: the time nan does not follow"},
    };
    for (const Damaged& damaged : damaged_tables) {
        write_run(folder, damaged.audit);
        CAPTURE(damaged.audit);
        CHECK_THROWS_WITH_AS(read_run_tables(folder), doctest::Contains(damaged.message), UserError);
    }
    CHECK(plot(folder.string()).code == 2);
    write_run(folder, "step,time,liquid.volume\n1,0.1,nan\n2,0.2,-nan\n3,0.3,inf\n");
    CHECK(plot(folder.string()).code == 0);
}

TEST_CASE("columns with commas and quotes in their names are read") {
    const ScratchFolder scratch;
    write_file(scratch / "t.csv", "step,\"height, left\",\"a \"\"b\"\"\"\n1,2,3\n4,5,6\n7,8");
    const NumberTable table = read_number_table(scratch / "t.csv");
    CHECK(table.names == std::vector<std::string>{"step", "height, left", "a \"b\""});
    CHECK(table.rows() == 2);
    REQUIRE(table.find("height, left"));
    CHECK(*table.find("height, left") == std::vector<double>{2, 5});
    CHECK(table.find("left") == nullptr);
}

TEST_CASE("more probes than colours fill a second chart") {
    NumberTable table;
    Scene scene;
    table.names = {"step", "time"};
    for (std::size_t n = 0; n < most_curves + 2; ++n) {
        table.names.push_back(fmt::format("H{}", n));
        scene.probes.push_back({table.names.back(), Probe::Kind::height, {}});
    }
    table.columns.assign(table.names.size(), {1, 2});
    const std::vector<NamedChart> charts = probe_charts(table, scene);
    REQUIRE(charts.size() == 2);
    CHECK(charts[0].chart.curves.size() == most_curves);
    CHECK(charts[1].chart.curves.size() == 2);
    CHECK(charts[1].name == "probe_height_2");
}

TEST_CASE("on a full disk the finished charts stay, and no half ones") {
    SmallDisk disk("64k");
    if (!disk.mounted()) return;
    const std::string svg(20000, 'x');
    std::vector<ChartFile> pictures;
    for (const char* name : {"a.svg", "b.svg", "c.svg", "d.svg"}) pictures.push_back({name, name, svg});
    CHECK_THROWS_WITH_AS(write_gallery(disk / "plots", "t", {}, pictures), doctest::Contains("No space left"),
                         IoError);
    CHECK(read_file(disk / "plots/a.svg") == svg);
    for (const auto& entry : fs::directory_iterator(disk / "plots"))
        CHECK(entry.file_size() == svg.size());  // whole, and nothing called .tmp beside them
}

TEST_CASE("validation rows and curves become pictures") {
    const std::vector<ValidationRow> rows{{"wave", "", "cut-cell", 32, "period [s]", 1.01, 1, 5},
                                          {"wave", "", "cut-cell", 64, "period [s]", 1.2, 1, 5},
                                          {"wave", "", "cut-cell", 64, "order of period", 0.7, 0.8, 0, true},
                                          {"wave", "", "cut-cell", 64, "particles inside", 0, 0, 0},
                                          {"wave", "", "cut-cell", 64, "known", 1.2, 1, 5, false, "", "why"},
                                          {"wave", "", "cut-cell", 64, "broken", NAN, 1, 5}};
    std::vector<ValidationCurve> curves;
    for (const int n : {32, 64})
        curves.push_back({"wave",
                          "cut-cell",
                          n,
                          "Level & more",
                          "time",
                          "s",
                          "level",
                          "m",
                          "Someone 1999",
                          {{0, 1}, {1, 2}},
                          {{0, 1.1}, {1, 2.1}}});
    const std::vector<ChartFile> pictures = validation_pictures(rows, curves);
    REQUIRE(pictures.size() == 2);  // both resolutions in one chart
    for (const ChartFile& picture : pictures) CHECK(xml_problem(picture.svg) == "");
    CHECK(contains(pictures[0].svg, "2 passed, 3 failed, 1 known to fail"));
    CHECK(contains(pictures[0].svg, "0.7, must be above 0.8"));
    CHECK(contains(pictures[0].svg, ">known</text>"));
    for (const char* text : {"Level &amp; more", "Someone 1999", "32 cells", "64 cells", "level [m]"})
        CHECK(contains(pictures[1].svg, text));
    CHECK(contains(validation_pictures({}, {}).at(0).svg, "0 passed"));
}

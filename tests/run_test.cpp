#include "run/run.h"

#include <doctest/doctest.h>

#include <csignal>
#include <stdexcept>

#include "geometry/mass_properties.h"
#include "geometry/shape.h"
#include "io/atomic_file.h"
#include "io/checkpoint.h"
#include "io/number_table.h"
#include "tests/run_results.h"
#include "tests/scratch_folder.h"
#include "tests/small_disk.h"

using namespace flotsam;
namespace fs = std::filesystem;

namespace {

// A small dam break, 8 frames.
Scenario small_scenario() {
    Scenario scenario;
    scenario.title = "a \"small\" dam";
    scenario.domain.cells = {24, 20, 1};
    scenario.domain.h = 1.0 / 24;
    scenario.liquid.fills.push_back({make_box({0, 0, 0}, {0.3, 0.5, 1}), {0, 0, 0}});
    scenario.time.duration = 8.0 / 24;
    return scenario;
}

struct SmallRun {
    Scenario scenario = small_scenario();
    OutputSettings output{.surface = true, .volume = true, .particles = true, .checkpoint_every = 2};
    std::string hash = "0123abcd";

    RunResult run(const fs::path& folder, bool resume = false, bool overwrite = false,
                  const std::vector<Observer*>& extra = {}) const {
        const RunInputs inputs{
            .scenario = scenario,
            .output = output,
            .probes = {{.name = "height, left", .kind = Probe::Kind::height, .point = {0.1, 0, 0}}},
            .scene_hash = hash,
            .scene_text = "[scene]\n",
            .scene_file = "small.toml",
            .version = "test",
            .command = "flotsam run small.toml",
            .resume_command = "flotsam run small.toml --resume"};
        return run_scene(inputs, {folder, resume, overwrite, /*quiet=*/true}, extra);
    }
};

// Ctrl-C after a number of steps.
struct Interrupt : Observer {
    explicit Interrupt(std::int64_t at_step) : step(at_step) {}
    void on_step(const World& world, const StepReport&, double) override {
        if (world.step == step) std::raise(SIGINT);
    }
    std::int64_t step;
};

std::int64_t last_step(const fs::path& folder) {
    return inspect_checkpoint(list_checkpoints(folder / "checkpoints").front()).step;
}

}  // namespace

TEST_CASE("a run leaves its folder as the docs say") {
    const ScratchFolder scratch;
    const fs::path folder = scratch / "runs/a";
    const RunResult result = SmallRun().run(folder);
    CHECK(result.end == RunResult::End::completed);
    CHECK(result.exit_code() == 0);
    CHECK(result.frame == 8);
    const auto files = run_results(folder);
    for (int frame = 0; frame <= 8; ++frame) {
        CHECK(files.count("surface_000" + std::to_string(frame) + ".ply") == 1);
        CHECK(files.count("spray_000" + std::to_string(frame) + ".ply") == 1);
        CHECK(files.count("volume_000" + std::to_string(frame) + ".vdb") == 1);
        CHECK(files.count("particles_000" + std::to_string(frame) + ".ply") == 1);
    }
    CHECK(files.size() == 9 * 4 + 2);
    CHECK(list_checkpoints(folder / "checkpoints").size() == 3);
    CHECK(read_file(folder / "scene.toml") == "[scene]\n");
    const std::string about = read_file(folder / "run.toml");
    CHECK(about.find("hash = \"0123abcd\"") != std::string::npos);
    CHECK(about.find("title = \"a \\\"small\\\" dam\"") != std::string::npos);

    const std::int64_t steps = last_step(folder);
    const std::string& audit = files.at("audit.csv");
    CHECK(audit.starts_with("step,frame,time,dt,liquid.volume,"));
    CHECK(std::count(audit.begin(), audit.end(), '\n') == 1 + steps);
    const std::string& probes = files.at("probes.csv");
    CHECK(probes.starts_with("step,time,\"height, left\"\n0,0,"));
    CHECK(std::count(probes.begin(), probes.end(), '\n') == 2 + steps);
}

TEST_CASE("bodies.csv begins with the start, and without `solids` no animation is written") {
    const ScratchFolder scratch;
    SmallRun small;
    Solid ball;
    ball.name = "ball";
    ball.motion = Motion::rigid;
    ball.shape = solid_disc(0.1, 3.0 / 24, 0.02);
    ball.start.position = {0.6, 0.4, 0.5 / 24};
    ball.rigid.mass = mass_properties(enclosed_moments(ball.shape.mesh), 500);
    ball.rigid.velocity = {0.25, 0, 0};
    small.scenario.solids.push_back(ball);
    small.scenario.time.duration = 2.0 / 24;
    REQUIRE(small.run(scratch / "with").exit_code() == 0);
    CHECK(fs::exists(scratch / "with" / "solids.glb"));
    const NumberTable bodies = read_number_table(scratch / "with" / "bodies.csv");
    const NumberTable audit = read_number_table(scratch / "with" / "audit.csv");
    REQUIRE(bodies.rows() == audit.rows() + 1);
    CHECK(bodies.find("step")->front() == 0);
    CHECK(bodies.find("time")->front() == 0);
    CHECK(bodies.find("ball.position.x")->front() == 0.6);
    CHECK(bodies.find("ball.position.y")->front() == 0.4);
    CHECK(bodies.find("ball.velocity.x")->front() == 0.25);
    CHECK(bodies.find("ball.force.y")->front() == 0);
    CHECK(bodies.find("ball.contact.y")->front() == 0);

    small.output.solids = false;
    REQUIRE(small.run(scratch / "without").exit_code() == 0);
    CHECK_FALSE(fs::exists(scratch / "without" / "solids.glb"));
    CHECK_FALSE(fs::exists(scratch / "without" / "frames" / "solids_0000.ply"));
    // Pictures need to know where solids are.
    CHECK(fs::exists(scratch / "without" / "transforms.csv"));
}

TEST_CASE("an existing folder is refused, overwritten only when it is ours, and foreign files stay") {
    const ScratchFolder scratch;
    const fs::path folder = scratch / "a";
    SmallRun small;
    small.scenario.time.duration = 2.0 / 24;
    small.run(folder);
    CHECK_THROWS_WITH_AS(small.run(folder), doctest::Contains("--resume"), UserError);

    write_file(folder / "frames/notes.txt", "mine");
    write_file(folder / "frames/surface_9999.ply", "of an earlier, longer run");
    write_file(folder / "thesis.tex", "mine");
    small.hash = "another";
    CHECK(small.run(folder, false, true).end == RunResult::End::completed);
    CHECK(read_file(folder / "frames/notes.txt") == "mine");
    CHECK(read_file(folder / "thesis.tex") == "mine");
    CHECK_FALSE(fs::exists(folder / "frames/surface_9999.ply"));

    fs::create_directories(scratch / "other");
    write_file(scratch / "other/audit.csv", "mine");
    CHECK_THROWS_WITH_AS(small.run(scratch / "other", false, true), doctest::Contains("other things"),
                         UserError);
    CHECK_THROWS_AS(small.run(scratch / "other", true), UserError);
    CHECK(read_file(scratch / "other/audit.csv") == "mine");
    CHECK_THROWS_WITH_AS(small.run(scratch / "other/audit.csv"), doctest::Contains("is a file"), UserError);
}

TEST_CASE("two runs do not share a folder") {
    const ScratchFolder scratch;
    SmallRun small;
    small.scenario.time.duration = 1.0 / 24;
    struct Intruder : Observer {
        void on_start(const World&, int) override {
            CHECK_THROWS_WITH_AS(small->run(folder, true), doctest::Contains("another run"), UserError);
            tried = true;
        }
        const SmallRun* small;
        fs::path folder;
        bool tried = false;
    } intruder;
    intruder.small = &small;
    intruder.folder = scratch / "a";
    small.run(intruder.folder, false, false, {&intruder});
    CHECK(intruder.tried);
}

TEST_CASE("stopped by Ctrl-C and resumed equals never stopped") {
    const ScratchFolder scratch;
    const SmallRun small;
    small.run(scratch / "whole");
    const auto expected = run_results(scratch / "whole");
    const std::int64_t steps = last_step(scratch / "whole");
    REQUIRE(steps > 8);

    for (const std::int64_t at : {std::int64_t{1}, steps / 3, steps - 1}) {
        const fs::path folder = scratch / std::to_string(at);
        Interrupt interrupt(at);
        const RunResult stopped = small.run(folder, false, false, {&interrupt});
        CHECK(stopped.end == RunResult::End::interrupted);
        CHECK(stopped.exit_code() == 130);
        CHECK(last_step(folder) == at);
        CHECK(small.run(folder, true).end == RunResult::End::completed);
        CHECK(different_results(run_results(folder), expected) == "");
        CHECK(read_file(folder / "run.toml").find("[[resumed]]\nfrom_step = " + std::to_string(at)) !=
              std::string::npos);
    }

    CHECK(small.run(scratch / "whole", true).end == RunResult::End::complete_before);
    CHECK(different_results(run_results(scratch / "whole"), expected) == "");
    SmallRun other;
    other.hash = "changed";
    CHECK_THROWS_WITH_AS(other.run(scratch / "whole", true), doctest::Contains("another scene"), UserError);
}

TEST_CASE("killed after its last frame, before all is written, a run is not complete") {
    // What is written at the end is lost, as when the power goes: frame 8 has a checkpoint of its own
    // otherwise.
    struct PowerCut : Observer {
        void on_finish(World&, int, bool) override { throw std::runtime_error("dark"); }
    } cut;
    const ScratchFolder scratch;
    SmallRun run;
    run.run(scratch / "whole");
    CHECK_THROWS(run.run(scratch / "cut", false, false, {&cut}));
    CHECK(run.run(scratch / "cut", true).end == RunResult::End::completed);
    CHECK(different_results(run_results(scratch / "cut"), run_results(scratch / "whole")) == "");
}

TEST_CASE("damaged checkpoints are passed over, and without any the run begins anew") {
    const ScratchFolder scratch;
    const SmallRun small;
    const fs::path folder = scratch / "a";
    small.run(folder);
    const auto expected = run_results(folder);
    for (int damaged = 1; damaged <= 3; ++damaged) {
        auto checkpoints = list_checkpoints(folder / "checkpoints");
        for (int n = 0; n < damaged; ++n) fs::resize_file(checkpoints[n], 1000 * n);
        write_file(folder / "frames/surface_0007.ply", "to be rewritten");
        CHECK(small.run(folder, true).end == RunResult::End::completed);
        CHECK(different_results(run_results(folder), expected) == "");
    }
    for (const fs::path& file : list_checkpoints(folder / "checkpoints")) fs::remove(file);
    write_file(folder / "frames/surface_0003.ply.tmp", "left by a kill");
    CHECK(small.run(folder, true).end == RunResult::End::completed);
    CHECK(different_results(run_results(folder), expected) == "");
}

TEST_CASE("a step that fails ends the run just before it, and the run can go on from there") {
    const ScratchFolder scratch;
    SmallRun small;
    small.run(scratch / "whole");
    const auto expected = run_results(scratch / "whole");

    // From step 5 on the pressure solver gives up at once, and a failed step is not repeated with a smaller
    // dt.
    struct Sabotage : Observer {
        void on_step(const World& world, const StepReport&, double) override {
            if (world.step == 5) *scenario = broken;
        }
        Scenario* scenario;
        Scenario broken;
    } sabotage;
    const Scenario good = sabotage.broken = small.scenario;
    sabotage.scenario = &small.scenario;
    sabotage.broken.solver.tolerance.max_iterations = 1;
    sabotage.broken.time.retry = false;

    const RunResult failed = small.run(scratch / "a", false, false, {&sabotage});
    CHECK(failed.end == RunResult::End::failed);
    CHECK(failed.exit_code() == 3);
    CHECK(last_step(scratch / "a") == 5);
    CHECK(small.run(scratch / "a", true).end == RunResult::End::failed);  // the same step again
    CHECK(last_step(scratch / "a") == 5);
    small.scenario = good;
    CHECK(small.run(scratch / "a", true).end == RunResult::End::completed);
    CHECK(different_results(run_results(scratch / "a"), expected) == "");
}

TEST_CASE("a table that lost rows is not silently continued") {
    const ScratchFolder scratch;
    const SmallRun small;
    const fs::path folder = scratch / "a";
    Interrupt interrupt(10);
    small.run(folder, false, false, {&interrupt});
    write_file(folder / "probes.csv", read_file(folder / "probes.csv").substr(0, 60));
    CHECK_THROWS_WITH_AS(small.run(folder, true), doctest::Contains("rows were removed"), UserError);
    fs::remove(folder / "probes.csv");
    CHECK_THROWS_WITH_AS(small.run(folder, true), doctest::Contains("is missing"), UserError);
}

TEST_CASE("a disk that fills up stops the run; with space again it goes on to the same end") {
    const ScratchFolder scratch;
    const SmallRun small;
    small.run(scratch / "whole");
    const auto expected = run_results(scratch / "whole");
    std::uintmax_t needed = 0;
    for (const auto& entry : fs::recursive_directory_iterator(scratch / "whole"))
        if (entry.is_regular_file()) needed += entry.file_size();

    SmallDisk disk(std::to_string(needed * 6 / 10));
    if (!disk.mounted()) return;
    const RunResult full = small.run(disk / "a");
    CHECK(full.end == RunResult::End::failed);
    CHECK(full.exit_code() == 3);
    for (const auto& entry : fs::recursive_directory_iterator(disk / "a"))
        CHECK(entry.path().extension() != ".tmp");
    std::vector<std::string> problems;
    CHECK(find_newest_good_checkpoint(disk / "a/checkpoints", problems));
    CHECK(problems.empty());

    disk.resize(std::to_string(needed * 3));
    CHECK(small.run(disk / "a", true).end == RunResult::End::completed);
    CHECK(different_results(run_results(disk / "a"), expected) == "");

    disk.make_read_only();
    CHECK(small.run(disk / "b").exit_code() == 3);
}

TEST_CASE("a run.toml that lost its scene is not taken for another scene's") {
    const ScratchFolder scratch;
    const fs::path folder = scratch / "a";
    SmallRun small;
    small.scenario.time.duration = 2.0 / 24;
    small.run(folder);
    write_file(folder / "run.toml", "garbage");
    CHECK_THROWS_WITH_AS(small.run(folder, true), doctest::Contains("was altered"), UserError);
}

TEST_CASE("a domain without any liquid goes on: drained empty, or waiting for an emitter") {
    for (const Carrier carrier : {Carrier::apic, Carrier::flip, Carrier::markers}) {
        const ScratchFolder scratch;
        SmallRun small;
        small.scenario.liquid.carrier = carrier;
        small.scenario.liquid.sinks.push_back({make_box({-1, -1, -1}, {2, 2, 2})});
        CHECK(small.run(scratch / "drained").end == RunResult::End::completed);
        const auto drained = run_results(scratch / "drained");
        CHECK(drained.at("surface_0008.ply").find("element vertex 0\n") != std::string::npos);
        CHECK(drained.at("particles_0008.ply").find("element vertex 0\n") != std::string::npos);

        small = SmallRun();
        small.scenario.liquid.carrier = carrier;
        small.scenario.liquid.fills.clear();
        small.scenario.liquid.emitters.push_back(
            {.region = make_sphere({0.5, 0.5, 0}, 0.15), .velocity = {0, -1, 0}, .from = 0.1});
        CHECK(small.run(scratch / "emitted").end == RunResult::End::completed);
        const auto emitted = run_results(scratch / "emitted");
        CHECK(emitted.at("particles_0000.ply").find("element vertex 0\n") != std::string::npos);
        CHECK(emitted.at("particles_0008.ply").find("element vertex 0\n") == std::string::npos);
    }
}

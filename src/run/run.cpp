#include "run/run.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "core/check.h"
#include "io/atomic_file.h"
#include "io/audit.h"
#include "io/checkpoint.h"
#include "io/frames.h"
#include "io/point_cache.h"
#include "io/transforms.h"
#include "run/health.h"
#include "run/progress.h"
#include "run/signal_guard.h"

namespace flotsam {

namespace fs = std::filesystem;

namespace {

constexpr int kept_checkpoints = 3;

// Must come last among the observers: a checkpoint implies that everything before it is on the disk.
class Checkpointer : public Observer {
  public:
    Checkpointer(fs::path folder, Driver& driver, const std::string& scene_hash, int every)
        : folder_(std::move(folder)), driver_(driver), scene_hash_(scene_hash), every_(every) {}

    void on_start(const World& world, int) override {
        if (world.step > 0) saved_step_ = world.step;
    }
    // The last frame's is written after the other observers have finished: a run with this checkpoint is
    // complete.
    void on_frame(World& world, int frame) override {
        if (every_ > 0 && frame % every_ == 0 && frame < driver_.last_frame()) write(world, frame);
    }
    void on_finish(World& world, int frame, bool) override { write(world, frame); }

  private:
    void write(const World& world, int frame) {
        if (world.step == saved_step_) return;
        write_checkpoint(folder_ / checkpoint_name(world.step), {scene_hash_, frame, world.step, world.time},
                         [&](StateVisitor& visitor) { driver_.visit_state(visitor); });
        saved_step_ = world.step;
        remove_old_checkpoints(folder_, kept_checkpoints);
    }

    fs::path folder_;
    Driver& driver_;
    const std::string& scene_hash_;
    int every_;
    std::int64_t saved_step_ = -1;
};

void say(const std::string& text) { fmt::print(stderr, "flotsam: {}\n", text); }

// Starts from the beginning or from the newest good checkpoint; returns its step, or 0.
std::int64_t start_or_resume(Driver& driver, const RunFolder& folder, const RunInputs& inputs, bool resume) {
    std::vector<std::string> problems;
    std::optional<GoodCheckpoint> good;
    if (folder.continues()) good = find_newest_good_checkpoint(folder.checkpoints(), problems);
    for (const std::string& problem : problems) say(problem);
    if (!problems.empty() && good) say(fmt::format("using the checkpoint before: {}", good->file.string()));
    if (!good) {
        if (resume)
            say(fmt::format("no good checkpoint in {}: starting from the beginning",
                            folder.checkpoints().string()));
        driver.start();
        return 0;
    }
    if (good->info.scene_hash != inputs.scene_hash)
        throw UserError(
            fmt::format("{} belongs to another scene (hash {}, now {}).\n  Start anew with --overwrite.",
                        good->file.string(), good->info.scene_hash, inputs.scene_hash));
    read_checkpoint(good->file, [&](StateVisitor& visitor) { driver.visit_state(visitor); });
    return good->info.step;
}

std::string last_checkpoint_text(const fs::path& folder) {
    const std::vector<fs::path> files = list_checkpoints(folder);
    return files.empty() ? "There is no checkpoint yet."
                         : "The last checkpoint is " + files.front().string() + ".";
}

}  // namespace

int RunResult::exit_code() const {
    switch (end) {
        case End::completed:
        case End::complete_before:
            return 0;
        case End::interrupted:
            return 128 + signal;
        case End::failed:
            return 3;
    }
    return 3;
}

RunResult run_scene(const RunInputs& inputs, const RunFolderOptions& options,
                    const std::vector<Observer*>& extra) {
    const SignalGuard signals("stopping after this step");
    const Scenario& scenario = inputs.scenario;
    RunResult result;
    const fs::path checkpoints = options.folder / "checkpoints";
    Driver driver(scenario, make_scheme(scenario.method));
    try {
        const RunFolder folder(options, {inputs.version, inputs.command, inputs.scene_file, inputs.scene_hash,
                                         inputs.scene_text, scenario.title});
        if (inputs.most_frames > 0) driver.end_at(inputs.most_frames);
        const std::int64_t resumed_step = start_or_resume(driver, folder, inputs, options.resume);
        result.frame = driver.frame();
        if (driver.frame() >= driver.last_frame()) {
            say(fmt::format("{} is complete: {} frames", folder.path().string(), driver.frame()));
            result.end = RunResult::End::complete_before;
            return result;
        }
        if (resumed_step > 0) {
            folder.note_resumed(resumed_step);
            if (!options.quiet)
                say(fmt::format("going on after frame {}, step {}", driver.frame(), resumed_step));
        }

        FrameExporter frames(folder.frames(), scenario, inputs.output);
        Audit audit(folder.audit(), scenario);
        ProbeLog probes(folder.probes(), scenario, inputs.probes);
        BodyLog bodies(folder.bodies(), scenario);
        TransformLog transforms(folder.transforms(), inputs.output.solids ? folder.solids() : fs::path(),
                                scenario);
        PointCache cache(folder.point_cache(), folder.frames());
        Health health(folder.audit(), scenario, options.quiet);
        Progress progress(driver.last_frame(), scenario.time.duration);
        Checkpointer checkpointer(folder.checkpoints(), driver, inputs.scene_hash,
                                  inputs.output.checkpoint_every);
        std::vector<Observer*> observers{&frames, &audit};
        if (!inputs.probes.empty()) observers.push_back(&probes);
        if (count_bodies(driver.world()) > 0) observers.push_back(&bodies);
        if (has_moving_solids(scenario)) observers.push_back(&transforms);
        if (inputs.output.solids && has_deforming_solids(scenario)) observers.push_back(&cache);
        if (!options.quiet) observers.push_back(&progress);
        observers.insert(observers.end(), extra.begin(), extra.end());
        observers.push_back(&health);
        observers.push_back(&checkpointer);

        try {
            const bool completed = driver.run(observers, signals.stop());
            result.frame = driver.frame();
            if (!completed) {
                result.end = RunResult::End::interrupted;
                result.signal = signals.signal();
                say(fmt::format("stopped after frame {} of {}; this goes on:\n  {}", result.frame,
                                driver.last_frame(), inputs.resume_command));
            }
        } catch (const StepFailure& failure) {
            // The world is in the state before the failed step: one step from here reproduces the failure.
            result.end = RunResult::End::failed;
            result.frame = driver.frame();
            for (Observer* observer : observers) observer->on_finish(driver.world(), driver.frame(), false);
            say(failure.what());
            fmt::print(stderr, "  {}\n  Repeat the failing step: {}\n", last_checkpoint_text(checkpoints),
                       inputs.resume_command);
        }
    } catch (const IoError& error) {
        result.end = RunResult::End::failed;
        say(error.what());
        fmt::print(stderr, "  {}\n", last_checkpoint_text(checkpoints));
    }
    return result;
}

}  // namespace flotsam

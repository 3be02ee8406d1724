#include <fmt/format.h>
#include <unistd.h>

#include <atomic>

#include "bench/bench.h"
#include "core/check.h"
#include "core/stopwatch.h"
#include "render/run_pictures.h"
#include "run/run.h"
#include "scene/scene.h"

namespace flotsam {

namespace {

// The dam break of the bench of that name, after a quarter of a second: spray and sheets are in the air.
constexpr std::string_view scene_text = R"([scene]
title = "Dam break against a box"
duration = 0.25
[domain]
size = [1.0, 1.0, 1.0]
resolution = 32
[output]
volume = false
[[liquid.fill]]
box = { min = [0, 0, 0], max = [0.4, 0.6, 1.0] }
[[solid]]
name = "box"
shape = { box = [0.16, 0.24, 0.30] }
position = [0.7, 0.12, 0.5]
)";

// A folder that is gone when the bench ends.
struct TemporaryFolder {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / fmt::format("flotsam_bench_{}", ::getpid());
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
};

}  // namespace

void bench_render(bool quick, const std::function<void(const BenchRow&)>& report) {
    const int n = quick ? 32 : 100;
    const Scene scene =
        parse_scene(std::string(scene_text), "bench.toml", {fmt::format("domain.resolution={}", n)});
    const TemporaryFolder folder;
    const RunInputs inputs{.scenario = scene.scenario,
                           .output = scene.output,
                           .probes = {},
                           .scene_hash = scene.hash,
                           .scene_text = scene.effective_toml,
                           .scene_file = {},
                           .version = {},
                           .command = {},
                           .resume_command = {}};
    const RunResult run = run_scene(inputs, {folder.path, false, true, true});
    if (run.exit_code() != 0) throw IoError("the bench's scene did not run");
    for (const bool good : {false, true}) {
        if (good && quick) continue;
        PictureSettings settings;
        settings.width = 640;
        settings.height = 360;
        settings.good = good;
        const RunPictures pictures(folder.path, settings);
        const std::atomic<bool> never{false};
        Stopwatch watch;
        pictures.draw(run.frame, never);
        report({fmt::format("{}^3, 640x360, {}", n, good ? "good" : "draft"), 1e-3 * watch.lap(), "s",
                good ? 0.0 : 2.0, good ? "" : "limit"});
    }
}

}  // namespace flotsam

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "apps/scene_run.h"
#include "core/parallel.h"

namespace flotsam {

namespace {

// As the user typed it, so that it can be typed again.
std::string command_line() {
    std::ifstream in("/proc/self/cmdline", std::ios::binary);
    const std::string arguments(std::istreambuf_iterator<char>(in), {});
    std::string line = "flotsam";
    std::size_t begin = arguments.find('\0');
    while (begin != std::string::npos && begin + 1 < arguments.size()) {
        const std::size_t end = arguments.find('\0', ++begin);
        const std::string argument = arguments.substr(begin, end - begin);
        const bool plain =
            !argument.empty() && argument.find_first_of(" \t\n\"'\\$*?[]{}()<>|&;`#~!") == std::string::npos;
        line += plain ? " " + argument : " '" + argument + "'";
        begin = end;
    }
    return line;
}

}  // namespace

Scene load(const SceneOptions& options) {
    set_thread_count(options.threads);
    Scene scene = load_scene(options.scene, options.set, options.scale, options.method);
    for (const std::string& warning : scene.warnings) fmt::print(stderr, "warning: {}\n", warning);
    return scene;
}

std::filesystem::path run_folder(const RunOptions& options) {
    return options.out.empty() ? std::filesystem::path("runs") / options.scene.scene.stem() : options.out;
}

RunResult run(const Scene& scene, const RunOptions& options, const std::vector<Observer*>& extra) {
    const RunInputs inputs{.scenario = scene.scenario,
                           .output = scene.output,
                           .probes = scene.probes,
                           .scene_hash = scene.hash,
                           .scene_text = scene.effective_toml,
                           .scene_file = scene.file.string(),
                           .version = version_text(),
                           .command = command_line()};
    return run_scene(inputs, {run_folder(options), options.resume, options.overwrite, options.quiet}, extra);
}

int run_command(const RunOptions& options) {
    const Scene scene = load(options.scene);
    const RunResult result = run(scene, options);
    if (result.end == RunResult::End::completed && !options.quiet)
        fmt::print("{} frames in {}\n", result.frame, run_folder(options).string());
    return result.exit_code();
}

}  // namespace flotsam

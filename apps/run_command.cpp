#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "apps/scene_run.h"
#include "core/parallel.h"
#include "scene/estimate.h"

namespace flotsam {

namespace {

// As a shell reads it back.
std::string quoted(const std::string& argument) {
    if (!argument.empty() && argument.find_first_of(" \t\n\"'\\$*?[]{}()<>|&;`#~!") == std::string::npos)
        return argument;
    std::string text = "'";
    for (const char c : argument) text += c == '\'' ? "'\\''" : std::string(1, c);
    return text + "'";
}

// Also goes on with the folder of a demo or a check, which have no --resume of their own.
std::string resume_command(const RunOptions& options) {
    if (!options.again.empty()) return options.again;
    std::string line = fmt::format("{} run {}", program_name(), quoted(options.scene.scene.string()));
    for (const std::string& assignment : options.scene.set) line += " --set " + quoted(assignment);
    if (options.scene.scale != 1) line += fmt::format(" --scale {}", options.scene.scale);
    if (!options.scene.method.empty()) line += " --method " + quoted(options.scene.method);
    return line + fmt::format(" --out {} --resume", quoted(run_folder(options).string()));
}

// 0: as many as the scene has.
int most_frames(const Scene& scene, const RunOptions& options) {
    if (options.frames != 0 && options.until != 0)
        throw UserError("--frames and --until both say when to end\n  leave out one of them");
    if (options.frames < 0 || options.until < 0) throw UserError("--frames and --until must be above 0");
    return options.until > 0 ? frame_at(scene.scenario.time, options.until) : options.frames;
}

}  // namespace

std::string program_name() {
    const char* name = std::getenv("FLOTSAM_CALLED_AS");
    return name ? name : "flotsam";
}

std::string command_line() {
    std::ifstream in("/proc/self/cmdline", std::ios::binary);
    const std::string arguments(std::istreambuf_iterator<char>(in), {});
    std::string line = "flotsam";
    std::size_t begin = arguments.find('\0');
    while (begin != std::string::npos && begin + 1 < arguments.size()) {
        const std::size_t end = arguments.find('\0', ++begin);
        line += ' ' + quoted(arguments.substr(begin, end - begin));
        begin = end;
    }
    return line;
}

Scene load(const SceneOptions& options) {
    set_thread_count(options.threads);
    Scene scene = load_scene(options.scene, options.set, options.scale, options.method);
    for (const std::string& warning : scene.warnings) fmt::print(stderr, "warning: {}\n", warning);
    return scene;
}

std::string name_of_scene(const std::filesystem::path& file) {
    return (file.parent_path().filename() / file.stem()).string();
}

std::filesystem::path scenes_folder() {
    std::error_code error;
    if (std::filesystem::is_directory("scenes", error)) return "scenes";
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    return program.parent_path().parent_path() / "scenes";
}

std::vector<std::filesystem::path> scene_files() {
    std::vector<std::filesystem::path> files;
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator at(scenes_folder(), error), end; !error && at != end;
         at.increment(error))
        if (at->path().extension() == ".toml") files.push_back(at->path());
    std::sort(files.begin(), files.end());
    return files;
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
                           .scene_file = std::filesystem::absolute(scene.file).string(),
                           .version = version_text(),
                           .command = command_line(),
                           .resume_command = resume_command(options),
                           .most_frames = most_frames(scene, options)};
    return run_scene(inputs, {run_folder(options), options.resume, options.overwrite, options.quiet}, extra);
}

RunResult run_with_pictures(const Scene& scene, const RunOptions& options, const PictureSettings& settings,
                            std::filesystem::path& movie) {
    const std::filesystem::path folder = run_folder(options);
    PictureObserver observer(folder, settings);
    const RunResult result = run(scene, options, {&observer});
    if (observer.movie().made) movie = observer.movie_file();
    if (!observer.movie().problem.empty()) fmt::print(stderr, "flotsam: {}\n", observer.movie().problem);
    return result;
}

int run_command(const RunOptions& options) {
    const Scene scene = load(options.scene);
    if (!options.quiet) fmt::print("{}", tetrahedra_text(scene.scenario));
    std::filesystem::path movie;
    const RunResult result =
        options.render ? run_with_pictures(scene, options, {}, movie) : run(scene, options);
    if (result.end == RunResult::End::completed && !options.quiet) {
        fmt::print("{} frames in {}\n", result.frame, run_folder(options).string());
        if (!movie.empty()) fmt::print("{}\n", movie.string());
    }
    return result.exit_code();
}

}  // namespace flotsam

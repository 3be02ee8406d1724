#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "apps/scene_run.h"
#include "core/parallel.h"
#include "coupling/scheme.h"
#include "io/atomic_file.h"
#include "io/comparison.h"
#include "render/png.h"
#include "render/side_by_side.h"
#include "run/signal_guard.h"
#include "scene/suggest.h"

namespace flotsam {

namespace fs = std::filesystem;

namespace {

// The scene as one of the methods runs it.
struct Contestant {
    std::string method;
    Scene scene;
};

// "a,b" as typed, or every method there is.
std::vector<std::string> methods_of(const std::string& typed) {
    std::vector<std::string_view> known;
    for (const SchemeEntry& entry : schemes()) known.push_back(entry.name);
    if (typed.empty()) return {known.begin(), known.end()};
    std::vector<std::string> methods;
    for (std::size_t begin = 0; begin <= typed.size();) {
        const std::size_t end = std::min(typed.find(',', begin), typed.size());
        const std::string method = typed.substr(begin, end - begin);
        begin = end + 1;
        if (std::find(known.begin(), known.end(), method) == known.end())
            throw UserError(fmt::format("--methods {}: there is no method '{}'\n  {}", typed, method,
                                        suggestion(method, known)));
        if (std::find(methods.begin(), methods.end(), method) != methods.end())
            throw UserError(
                fmt::format("--methods {}: '{}' is there twice\n  name each method once", typed, method));
        methods.push_back(method);
    }
    return methods;
}

// Whether a method differs from others in this scene only by its name.
bool repeats_another(const std::string& method, const Scene& scene) {
    const std::vector<Solid>& solids = scene.scenario.solids;
    return make_scheme(method)->capabilities().elastic_variant &&
           std::none_of(solids.begin(), solids.end(),
                        [](const Solid& solid) { return solid.motion == Motion::elastic; });
}

// Those that admit the scene; what is changed for a method, and why one is left out, is printed.
std::vector<Contestant> contestants(const CompareOptions& options) {
    std::vector<Contestant> chosen;
    for (const std::string& method : methods_of(options.methods)) {
        std::vector<std::string> changes;
        try {
            Scene scene =
                load_scene_for(method, options.scene.scene, options.scene.set, options.scene.scale, changes);
            // What pictures are made from must be written, whatever the scene says.
            const bool flat = scene.scenario.domain.flat();
            if (!options.no_movie && !(flat ? scene.output.volume : scene.output.surface)) {
                std::vector<std::string> set = options.scene.set;
                set.emplace_back(flat ? "output.volume=true" : "output.surface=true");
                scene = load_scene_for(method, options.scene.scene, set, options.scene.scale, changes);
                changes.push_back(fmt::format("with {}: the movie is made from it", set.back()));
            }
            if (options.methods.empty() && repeats_another(method, scene)) {
                fmt::print("{} is left out: it differs from others by elastic solids, and there are none\n",
                           method);
                continue;
            }
            for (const std::string& warning : scene.warnings)
                fmt::print(stderr, "{}: warning: {}\n", method, warning);
            for (const std::string& change : changes) fmt::print("{} runs {}\n", method, change);
            chosen.push_back({method, std::move(scene)});
        } catch (const UserError& error) {
            fmt::print(stderr, "{} is left out: it does not admit this scene\n{}\n", method, error.what());
        }
    }
    std::fflush(stdout);
    return chosen;
}

// One picture of all runs for every frame; where a run has stopped early its last picture stays.
MovieResult draw_side_by_side(const std::vector<ComparedRun>& runs, const PictureSettings& settings,
                              const fs::path& folder, bool quiet, const std::atomic<bool>& stop) {
    std::vector<RunPictures> pictures;
    std::vector<std::string> labels;
    std::size_t frames = 0;
    double rate = 24;
    for (const ComparedRun& run : runs) {
        if (!quiet) fmt::print(stderr, "pictures of {}\n", run.label);
        const RunPictures& one = pictures.emplace_back(run.folder, settings);
        labels.push_back(run.label);
        draw_pictures(one, one.frames(), quiet, stop);
        if (stop) return {};
        frames = std::max(frames, one.frames().size());
        rate = one.scene().scenario.time.frames_per_second;
    }
    fs::create_directories(folder / "pictures");
    std::vector<fs::path> joined;
    for (std::size_t frame = 0; frame < frames; ++frame) {
        std::vector<Picture> of_frame;
        for (const RunPictures& one : pictures) {
            const fs::path file = one.picture(int(std::min(frame, one.frames().size() - 1)));
            of_frame.push_back(decode_png(read_file(file), file.string()));
        }
        joined.push_back(folder / "pictures" / fmt::format("side_by_side_{:04}.png", frame));
        write_file(joined.back(), encode_png(side_by_side(of_frame, labels)));
    }
    return make_movie(joined, movie_rate(rate), folder / "side_by_side.mp4");
}

}  // namespace

int compare_command(const CompareOptions& options) {
    set_thread_count(options.scene.threads);
    PictureOptions picture;
    picture.size = options.size;
    const PictureSettings settings = picture_settings(picture);
    const std::vector<Contestant> chosen = contestants(options);
    if (chosen.empty())
        throw UserError(fmt::format("{}: none of these methods admits it\n  what each refuses is said above",
                                    options.scene.scene.string()));
    const fs::path folder = options.out.empty()
                                ? fs::path("runs") / (options.scene.scene.stem().string() + "_compare")
                                : options.out;
    std::error_code error;
    if (fs::exists(folder, error) && !fs::is_empty(folder, error)) {
        bool ours = false;  // only what compare made is replaced
        for (const Contestant& one : chosen) ours |= fs::exists(folder / one.method / "run.toml", error);
        if (!(options.overwrite || options.resume) || !ours)
            throw UserError(fmt::format(
                "{}: there is something already\n  {}", folder.string(),
                ours ? "go on with --resume, replace it with --overwrite, or choose another place with --out"
                     : "it is no comparison: choose another place with --out"));
    }

    std::vector<ComparedRun> runs;
    int code = 0;
    for (const Contestant& one : chosen) {
        if (!options.quiet) fmt::print(stderr, "{} ({} of {})\n", one.method, runs.size() + 1, chosen.size());
        RunOptions run_options;
        run_options.scene = options.scene;
        run_options.out = folder / one.method;
        run_options.quiet = options.quiet;
        run_options.overwrite = options.overwrite;
        run_options.resume = options.resume && fs::exists(run_options.out / "run.toml", error);
        run_options.again = command_line() + (options.resume ? "" : " --resume");
        if (const std::size_t at = run_options.again.find(" --overwrite"); at != std::string::npos)
            run_options.again.erase(at, std::string_view(" --overwrite").size());
        const RunResult result = run(one.scene, run_options);
        if (result.end == RunResult::End::interrupted) return result.exit_code();
        code = std::max(code, result.exit_code());
        runs.push_back({one.method, run_options.out});
    }

    const std::vector<ComparisonRow> rows = compare_runs(runs);
    write_file(folder / "compare.csv", comparison_csv(runs, rows));
    write_file(folder / "motion.csv", motion_csv(runs));
    std::cout << comparison_text(runs, rows) << (folder / "compare.csv").string() << '\n'
              << (folder / "motion.csv").string() << std::endl;
    if (options.no_movie) return code;

    const SignalGuard signals("stopping; what is finished stays");
    const MovieResult movie = draw_side_by_side(runs, settings, folder, options.quiet, signals.stop());
    if (signals.stop()) {
        fmt::print(stderr, "flotsam: stopped before the movie; the same command with --resume goes on\n");
        return 128 + signals.signal();
    }
    if (movie.made)
        fmt::print("{}\n", (folder / "side_by_side.mp4").string());
    else
        fmt::print(stderr, "flotsam: {}\n", movie.problem);
    return movie.made ? code : 3;
}

}  // namespace flotsam

#include <fmt/format.h>

#include <charconv>

#include "apps/scene_run.h"
#include "core/parallel.h"
#include "render/run_pictures.h"
#include "run/signal_guard.h"
#include "scene/suggest.h"

namespace flotsam {

namespace {

// "z=0.25": an axis and a place along it [m].
PictureSettings::Cut plane_of(const std::string& option, const std::string& text) {
    PictureSettings::Cut plane;
    const std::size_t axis = text.empty() ? std::string::npos : std::string("xyz").find(text[0]);
    const char* end = text.data() + text.size();
    if (axis == std::string::npos || text.size() < 3 || text[1] != '=' ||
        std::from_chars(text.data() + 2, end, plane.at).ptr != end)
        throw UserError(
            fmt::format("{} {}: not a plane\n  write for example {} z=0.25 (metres)", option, text, option));
    plane.axis = int(axis);
    return plane;
}

void read_size(const std::string& text, PictureSettings& settings) {
    const std::size_t by = text.find('x');
    const char* end = text.data() + text.size();
    const bool read =
        by != std::string::npos &&
        std::from_chars(text.data(), text.data() + by, settings.width).ptr == text.data() + by &&
        std::from_chars(text.data() + by + 1, end, settings.height).ptr == end;
    if (!read || settings.width < 16 || settings.height < 16 || settings.width > 8192 ||
        settings.height > 8192)
        throw UserError(
            fmt::format("--size {}: not a size\n  write width x height in pixels, 16 to 8192 each, for "
                        "example --size 1280x720",
                        text));
}

}  // namespace

PictureSettings picture_settings(const PictureOptions& options) {
    PictureSettings settings;
    read_size(options.size, settings);
    if (options.quality != "draft" && options.quality != "good")
        throw UserError(fmt::format("--quality {}: there is no such quality\n  {}", options.quality,
                                    suggestion(options.quality, {"draft", "good"})));
    settings.good = options.quality == "good";
    if (!options.slice.empty() && (options.particles || !options.cut.empty()))
        throw UserError("--slice is a view of its own: leave --particles and --cut out");
    if (options.particles) settings.view = PictureSettings::View::particles;
    if (!options.slice.empty()) {
        settings.view = PictureSettings::View::slice;
        settings.plane.field = slice_field(options.slice);
    }
    if (!options.plane.empty()) {
        if (options.slice.empty())
            throw UserError("--plane says where --slice cuts: give both, or use --cut for a cut-away");
        const PictureSettings::Cut plane = plane_of("--plane", options.plane);
        settings.plane.axis = plane.axis;
        settings.plane.at = plane.at;
    }
    if (options.limit > 0) settings.plane.limit = options.limit;
    if (!options.cut.empty()) settings.cut = plane_of("--cut", options.cut);
    return settings;
}

int render_command(const RenderOptions& options) {
    set_thread_count(options.threads);
    const RunPictures pictures(options.run, picture_settings(options.picture), options.set);
    std::vector<int> frames = pictures.frames();
    if (options.frame >= 0) {
        if (options.frame > frames.back())
            throw UserError(fmt::format("--frame {}: the run's last frame is {}\n  frames are counted from 0",
                                        options.frame, frames.back()));
        frames = {int(options.frame)};
    }
    const SignalGuard signals("stopping; pictures that are finished stay");
    const DrawnPictures result = draw_pictures(pictures, frames, options.quiet, signals.stop());
    if (result.stopped) {
        fmt::print(stderr, "flotsam: stopped after {} of {} pictures; the same command goes on\n",
                   result.drawn + result.kept, frames.size());
        return 128 + signals.signal();
    }
    const int there = result.drawn + result.kept;
    if (options.frame >= 0) {
        if (there == 1) fmt::print("{}\n", pictures.picture(frames[0]).string());
        return there == 1 ? 0 : 3;
    }
    fmt::print("{} pictures in {}{}\n", there, pictures.picture(0).parent_path().string(),
               result.kept > 0 ? fmt::format(" ({} were there before)", result.kept) : "");
    const MovieResult movie = pictures.make_movie();
    if (movie.made)
        fmt::print("{}\n", pictures.movie().string());
    else
        fmt::print(stderr, "flotsam: {}\n", movie.problem);
    return result.problems.empty() && movie.made ? 0 : 3;
}

}  // namespace flotsam

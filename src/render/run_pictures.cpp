#include "render/run_pictures.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>

#include "core/hash.h"
#include "io/atomic_file.h"
#include "io/ply.h"
#include "io/transforms.h"
#include "render/camera.h"
#include "render/color_map.h"
#include "render/png.h"
#include "render/tracer.h"
#include "run/progress.h"
#include "scene/toml_tree.h"

namespace flotsam {

namespace fs = std::filesystem;

namespace {

// Increase it whenever the same frame looks different than before: older pictures are then drawn again.
constexpr int look_version = 2;

Scene scene_of_run(const fs::path& folder, const std::vector<std::string>& overrides) {
    std::error_code error;
    if (!fs::exists(folder, error))
        throw UserError(fmt::format(
            "{}: there is no such folder\n  name a run folder, such as runs/dam_break", folder.string()));
    const fs::path record = folder / "run.toml", file = folder / "scene.toml";
    if (!fs::is_regular_file(record, error) || !fs::is_regular_file(file, error))
        throw UserError(
            fmt::format("{}: not a run folder (it holds no run.toml and scene.toml)\n"
                        "  name a folder that `flotsam run` made, such as runs/dam_break",
                        folder.string()));
    // Mesh paths are relative to the scene file that was run.
    Mistakes mistakes;
    const std::string text = read_file(record);
    mistakes.add_source(record.string(), text);
    const TomlNode root = parse_toml(text, 0, mistakes);
    const TomlNode* table = root.find("scene");
    const TomlNode* from = table ? table->find("file") : nullptr;
    const fs::path original = from ? fs::path(from->text) : fs::path();
    return parse_scene(read_file(file), file, overrides, 1, "", original.parent_path());
}

std::string hash_text(std::string_view text) {
    return fmt::format("{:016x}", hash_bytes(text.data(), text.size()));
}

double typical_top_speed(const std::vector<Vec3f>& velocity) {
    std::vector<double> speeds;
    speeds.reserve(velocity.size());
    for (const Vec3f& v : velocity) speeds.push_back(double(length(v)));
    if (speeds.empty()) return 1;
    const auto place = speeds.begin() + std::ptrdiff_t(0.99 * double(speeds.size() - 1));
    std::nth_element(speeds.begin(), place, speeds.end());
    return round_up(*place);
}

}  // namespace

RunPictures::RunPictures(fs::path folder, const PictureSettings& settings,
                         const std::vector<std::string>& overrides)
    : folder_(std::move(folder)), settings_(settings), scene_(scene_of_run(folder_, overrides)) {
    if (settings_.view == PictureSettings::View::slice && scene_.scenario.domain.flat())
        settings_.plane.axis = 2;
    if (source().frames_in(folder_ / "frames").empty()) {
        const std::string key = settings_.view == PictureSettings::View::particles ? "particles"
                                : source().extension == volume_file.extension      ? "volume"
                                                                                   : "surface";
        throw UserError(
            fmt::format("{}: the run holds no {}NNNN{}, which this view is made from\n  run the scene with "
                        "--set output.{}=true",
                        (folder_ / "frames").string(), source().stem, source().extension, key));
    }
    const PictureSettings& s = settings_;
    std::string look = fmt::format("{} {} {}x{} {}", look_version, view_name(), s.width, s.height, s.good);
    if (s.cut) look += fmt::format(" cut {} {}", s.cut->axis, s.cut->at);
    if (s.view == PictureSettings::View::slice)
        look +=
            fmt::format(" plane {} {} {}", s.plane.axis, s.plane.at.value_or(-1), s.plane.limit.value_or(-1));
    look_ = hash_text(look + scene_.effective_toml);
}

std::string RunPictures::view_name() const {
    switch (settings_.view) {
        case PictureSettings::View::liquid:
            return "liquid";
        case PictureSettings::View::particles:
            return "particles";
        case PictureSettings::View::slice:
            break;
    }
    return fmt::format("slice_{}", name_of(settings_.plane.field));
}

FrameFile RunPictures::source() const {
    if (settings_.view == PictureSettings::View::particles) return particles_file;
    const bool plane = settings_.view == PictureSettings::View::slice || scene_.scenario.domain.flat();
    return plane ? volume_file : surface_file;
}

std::vector<int> RunPictures::frames() const {
    std::vector<int> all;
    const std::vector<int> written = source().frames_in(folder_ / "frames");
    for (int frame = 0; !written.empty() && frame <= written.back(); ++frame) all.push_back(frame);
    return all;
}

fs::path RunPictures::picture(int frame) const {
    return folder_ / "pictures" / fmt::format("{}_{:04}.png", view_name(), frame);
}

fs::path RunPictures::movie() const { return folder_ / "pictures" / (view_name() + ".mp4"); }

Scene RunPictures::scene_at(int frame) const {
    Scene scene = scene_;
    start_at_frame(scene.scenario, folder_ / "transforms.csv", frame);
    take_shapes_from_frame(scene.scenario, folder_ / "frames" / solids_file.name(frame));
    return scene;
}

Vec3 RunPictures::followed(int frame, double time) const {
    if (!scene_.view.follow) return {};
    Scenario scenario = scene_.scenario;
    start_at_frame(scenario, folder_ / "transforms.csv", frame);
    return pose_at(scenario.solids[*scene_.view.follow], time).position -
           pose_at(scene_.scenario.solids[*scene_.view.follow], 0).position;
}

Image RunPictures::draw_liquid(int frame, double time, const std::atomic<bool>& stop) const {
    const PlyContent content = read_ply(folder_ / "frames" / source().name(frame));
    std::vector<Vec3f> spray;
    std::error_code error;
    const fs::path spray_at = folder_ / "frames" / spray_file.name(frame);
    if (fs::exists(spray_at, error)) spray = read_ply(spray_at).mesh.vertices;
    const int width = settings_.width, height = settings_.height;
    const Camera camera(scene_.view, {{}, scene_.scenario.domain.size()}, width, height,
                        followed(frame, time));
    Stage stage;
    set_stage(stage, scene_at(frame), time);
    const bool particles = settings_.view == PictureSettings::View::particles;
    double top_speed = 1;
    if (particles) {
        top_speed = typical_top_speed(content.velocity);
        add_particles(stage, scene_, content.mesh.vertices, content.velocity, top_speed);
    } else {
        add_liquid(stage, scene_, content.mesh, spray);
    }
    if (settings_.cut) {
        const auto [axis, at] = *settings_.cut;
        stage.cuts.push_back({axis, float(at), camera.position()[axis] > at});
    }
    raise_curtain(stage);
    Image image =
        photograph(stage, camera, width, height, settings_.good ? good_quality : draft_quality, stop);
    expose(image);
    if (particles) draw_legend(image, {ColorMap::rising, 0, top_speed, "speed [m/s]"});
    return image;
}

RunPictures::Outcome RunPictures::draw(int frame, const std::atomic<bool>& stop) const {
    const fs::path file = folder_ / "frames" / source().name(frame), target = picture(frame);
    std::error_code error;
    if (!fs::exists(file, error)) throw IoError(fmt::format("{}: missing", file.string()));
    const std::string note = look_ + " " + hash_text(read_file(file));
    if (fs::exists(target, error) && note_in_png(read_file(target)) == note) return Outcome::kept;

    const double time = frame / scene_.scenario.time.frames_per_second;
    Image image;
    if (source().extension == volume_file.extension) {
        const VolumeFrame volume = read_vdb(file, scene_.scenario.domain);
        PlaneView plane = settings_.plane;
        if (settings_.view == PictureSettings::View::liquid) plane.field = SliceField::none;
        if (plane.field == SliceField::pressure && volume.pressure.empty() && !volume.distance.empty())
            throw IoError(
                fmt::format("{}: holds no pressure; it was written by an older Flotsam", file.string()));
        image = draw_plane(scene_at(frame), volume, time, plane, settings_.width, settings_.height);
    } else {
        image = draw_liquid(frame, time, stop);
    }
    if (stop) return Outcome::stopped;
    fs::create_directories(target.parent_path(), error);
    if (error) throw disk_error("make the folder", target.parent_path(), error.value());
    write_file(target, encode_png(develop(image), note));
    return Outcome::drawn;
}

MovieResult RunPictures::make_movie() const {
    std::vector<fs::path> made;
    std::error_code error;
    bool newer = !fs::exists(movie(), error);
    for (const int frame : frames()) {
        const fs::path file = picture(frame);
        if (!fs::exists(file, error)) continue;
        newer = newer || fs::last_write_time(file) > fs::last_write_time(movie());
        made.push_back(file);
    }
    if (!newer) return {true, {}};
    if (made.size() < 2) return {false, "one picture makes no movie"};
    return flotsam::make_movie(made, movie_rate(scene_.scenario.time.frames_per_second), movie());
}

DrawnPictures draw_pictures(const RunPictures& pictures, const std::vector<int>& frames, bool quiet,
                            const std::atomic<bool>& stop) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const bool terminal = ::isatty(STDERR_FILENO) == 1;
    DrawnPictures result;
    for (std::size_t n = 0; n < frames.size() && !stop; ++n) {
        const auto begun = Clock::now();
        try {
            const RunPictures::Outcome outcome = pictures.draw(frames[n], stop);
            if (outcome == RunPictures::Outcome::stopped) break;
            (outcome == RunPictures::Outcome::drawn ? result.drawn : result.kept)++;
            if (quiet || (outcome == RunPictures::Outcome::kept && !terminal)) continue;
        } catch (const DiskError&) {
            throw;
        } catch (const IoError& problem) {
            result.problems.emplace_back(problem.what());
            continue;
        }
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        const double own = std::chrono::duration<double>(Clock::now() - begun).count();
        const double left = seconds / std::max(1, result.drawn) * double(frames.size() - n - 1);
        const std::string text =
            fmt::format("picture {}/{}  {:.2f} s  {} left", n + 1, frames.size(), own, clock_text(left));
        if (terminal)
            draw_progress_line(progress_bar(double(n + 1) / double(frames.size())) + " " + text);
        else
            fmt::print(stderr, "{}\n", text);
    }
    if (terminal && !quiet && result.drawn + result.kept > 0) fmt::print(stderr, "\n");
    for (const std::string& problem : result.problems) fmt::print(stderr, "flotsam: {}\n", problem);
    result.stopped = stop;
    return result;
}

namespace {
const std::atomic<bool> never{false};
}

void PictureObserver::on_start(const World& world, int frame) {
    pictures_.emplace(folder_, settings_);
    if (world.step == 0) pictures_->draw(frame, never);
}

void PictureObserver::on_frame(World&, int frame) { pictures_->draw(frame, never); }

void PictureObserver::on_finish(World&, int, bool completed) {
    if (!completed) return;
    // A run that was resumed from a checkpoint may have begun without pictures.
    draw_pictures(*pictures_, pictures_->frames(), true, never);
    movie_ = pictures_->make_movie();
}

}  // namespace flotsam

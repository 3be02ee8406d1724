// From a run folder to its pictures: what is skipped, what is drawn again, and what goes wrong.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "io/atomic_file.h"
#include "render/camera.h"
#include "render/png.h"
#include "render/run_pictures.h"
#include "run/run.h"
#include "tests/program_says.h"
#include "tests/scratch_folder.h"
#include "tests/small_disk.h"

using namespace flotsam;
namespace fs = std::filesystem;

namespace {

const std::atomic<bool> never{false};

constexpr const char* splash_text = R"([scene]
title = "Splash"
duration = 0.125
[domain]
size = [0.4, 0.3, 0.2]
resolution = 16
[output]
particles = true
[[liquid.fill]]
box = { min = [0, 0, 0], max = [0.15, 0.25, 0.2] }
[[solid]]
name = "post"
shape = { box = [0.04, 0.2, 0.04] }
position = [0.3, 0.05, 0.1]
)";

void run_splash(const fs::path& folder, const std::vector<std::string>& overrides = {}) {
    const Scene scene = parse_scene(splash_text, "splash.toml", overrides);
    const RunInputs inputs{.scenario = scene.scenario,
                           .output = scene.output,
                           .probes = {},
                           .scene_hash = scene.hash,
                           .scene_text = scene.effective_toml,
                           .scene_file = "splash.toml",
                           .version = {},
                           .command = {},
                           .resume_command = {}};
    REQUIRE(run_scene(inputs, {folder, false, true, true}).exit_code() == 0);
}

PictureSettings small() {
    PictureSettings settings;
    settings.width = 96;
    settings.height = 54;
    return settings;
}

std::string error_of(const fs::path& folder, const PictureSettings& settings) {
    try {
        const RunPictures pictures(folder, settings);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("every view of a run can be drawn; pictures that are there are kept") {
    const ScratchFolder scratch;
    const fs::path run = scratch / "run";
    run_splash(run);
    std::vector<PictureSettings> views(7, small());
    views[1].view = PictureSettings::View::particles;
    views[2].cut = PictureSettings::Cut{2, 0.1};
    int next = 3;
    for (const SliceField field :
         {SliceField::pressure, SliceField::speed, SliceField::distance, SliceField::vorticity}) {
        views[next].view = PictureSettings::View::slice;
        views[next++].plane.field = field;
    }
    for (const PictureSettings& view : views) {
        const RunPictures pictures(run, view);
        REQUIRE(pictures.frames().size() == 4);
        CHECK(pictures.draw(2, never) == RunPictures::Outcome::drawn);
        CHECK(pictures.draw(2, never) == RunPictures::Outcome::kept);
        const Picture picture = decode_png(read_file(pictures.picture(2)), "picture");
        CHECK(picture.width == 96);
        CHECK(picture.height == 54);
    }
    // Other settings, another scene, another frame of the same name or half a picture: drawn again.
    const RunPictures pictures(run, small());
    CHECK(pictures.draw(2, never) == RunPictures::Outcome::drawn);  // the cut-away was there
    CHECK(RunPictures(run, small(), {"view.light=[1,1,1]"}).draw(2, never) == RunPictures::Outcome::drawn);
    CHECK(pictures.draw(2, never) == RunPictures::Outcome::drawn);
    write_file(run / "frames/surface_0002.ply", read_file(run / "frames/surface_0003.ply"));
    CHECK(pictures.draw(2, never) == RunPictures::Outcome::drawn);
    const std::string bytes = read_file(pictures.picture(2));
    write_file(pictures.picture(2), bytes.substr(0, bytes.size() / 2));
    CHECK(pictures.draw(2, never) == RunPictures::Outcome::drawn);
    CHECK(read_file(pictures.picture(2)) == bytes);

    // A stop leaves no half picture behind.
    const std::atomic<bool> stop{true};
    CHECK(pictures.draw(1, stop) == RunPictures::Outcome::stopped);
    CHECK_FALSE(fs::exists(pictures.picture(1)));
}

TEST_CASE("a view that follows a solid keeps it in the picture") {
    const ScratchFolder scratch;
    const fs::path run = scratch / "run";
    // A red block that flies along above the water.
    const std::vector<std::string> flight{"solid.0.motion=scripted",
                                          "solid.0.velocity=[1.6, 0, 0]",
                                          "solid.0.position=[0.08, 0.27, 0.1]",
                                          "solid.0.color=[1, 0, 0]",
                                          "solid.0.shape.box=[0.04, 0.04, 0.04]",
                                          "view.camera=[0.08, 0.3, 1.0]",
                                          "view.target=[0.08, 0.27, 0.1]",
                                          "view.field_of_view=10"};
    run_splash(run, flight);
    const auto middle_is_red = [&](const std::vector<std::string>& look, int frame) {
        const RunPictures pictures(run, small(), look);
        pictures.draw(frame, never);
        const Picture picture = decode_png(read_file(pictures.picture(frame)), "picture");
        const std::uint8_t* pixel = &picture.bytes[std::size_t((27 * 96 + 48) * 3)];
        return pixel[0] > 2 * pixel[1] && pixel[0] > 2 * pixel[2];
    };
    const std::vector<std::string> follow{"view.follow=post"};
    CHECK(middle_is_red({}, 0));
    CHECK(middle_is_red(follow, 0));
    CHECK_FALSE(middle_is_red({}, 3));
    CHECK(middle_is_red(follow, 3));
    CHECK_THROWS_WITH_AS(RunPictures(run, small(), {"view.follow=pots"}),
                         doctest::Contains("did you mean 'post'?"), UserError);

    // The camera keeps its height, so that it never sinks below the floor.
    ViewSettings view;
    view.camera = Vec3{0, 2, 5};
    view.target = Vec3{0, 1, 0};
    const Camera camera(view, {{}, {1, 1, 1}}, 96, 54, {3, -4, 1});
    CHECK(camera.position() == Vec3{3, 2, 6});
    const Vec3 way(camera.ray(48, 27).direction);
    CHECK(length(way / length(way) - Vec3{0, -5, -5} / length(Vec3{0, -5, -5})) < 1e-6);
}

TEST_CASE("bad and missing frames are told and passed over") {
    const ScratchFolder scratch;
    const fs::path run = scratch / "run";
    run_splash(run);
    fs::remove(run / "frames/surface_0001.ply");
    const std::string whole = read_file(run / "frames/surface_0002.ply");
    write_file(run / "frames/surface_0002.ply", whole.substr(0, whole.size() - 5));
    const RunPictures pictures(run, small());
    const DrawnPictures result = draw_pictures(pictures, pictures.frames(), true, never);
    CHECK(result.drawn == 2);
    REQUIRE(result.problems.size() == 2);
    CHECK(contains(result.problems[0], "surface_0001.ply: missing"));
    CHECK(contains(result.problems[1], "cut off or altered"));
    CHECK(fs::exists(pictures.picture(3)));

    // Broken in any other way: an error, never a crash.
    for (const std::string& text : {std::string(), std::string("ply\n"), std::string("no ply at all"),
                                    whole.substr(0, 100), "x" + whole}) {
        write_file(run / "frames/surface_0002.ply", text);
        CHECK_THROWS_AS(pictures.draw(2, never), IoError);
    }
    std::string wild = whole;
    wild[wild.size() - 2] = '\x7f';  // a corner far beyond the last vertex
    write_file(run / "frames/surface_0002.ply", wild);
    CHECK_THROWS_AS(pictures.draw(2, never), IoError);
    PictureSettings slice = small();
    slice.view = PictureSettings::View::slice;
    slice.plane.field = SliceField::speed;
    write_file(run / "frames/volume_0002.vdb", "no vdb at all");
    CHECK_THROWS_AS(RunPictures(run, slice).draw(2, never), IoError);
}

TEST_CASE("folders that are no runs, and views that a run did not write files for") {
    const ScratchFolder scratch;
    CHECK(contains(error_of(scratch / "nowhere", small()), "there is no such folder"));
    CHECK(contains(error_of(scratch.path(), small()), "not a run folder"));
    const fs::path run = scratch / "run";
    run_splash(run, {"output.particles=false", "output.volume=false"});
    PictureSettings settings = small();
    settings.view = PictureSettings::View::particles;
    CHECK(contains(error_of(run, settings), "output.particles=true"));
    settings.view = PictureSettings::View::slice;
    CHECK(contains(error_of(run, settings), "output.volume=true"));
}

TEST_CASE("the command: movie, skipping, mistakes and their advice") {
    const ScratchFolder scratch;
    const fs::path run = scratch / "run";
    run_splash(run);
    const std::string small_run = run.string() + " --size 64x36";
    const Said first = flotsam_says("render " + small_run);
    CHECK(first.code == 0);
    CHECK(contains(first.text, "4 pictures in"));
    CHECK(read_file(run / "pictures/liquid.mp4").substr(4, 4) == "ftyp");
    const auto written = fs::last_write_time(run / "pictures/liquid.mp4");
    CHECK(contains(flotsam_says("render " + small_run).text, "(4 were there before)"));
    CHECK(fs::last_write_time(run / "pictures/liquid.mp4") == written);

    CHECK(contains(flotsam_says("render " + small_run + " --frame 9").text, "the run's last frame is 3"));
    CHECK(contains(flotsam_says("render " + small_run + " --slice sped").text, "did you mean 'speed'?"));
    CHECK(contains(flotsam_says("render " + small_run + " --cut q=1").text, "not a plane"));
    CHECK(contains(flotsam_says("render " + small_run + " --quality best").text, "draft"));
    CHECK(contains(flotsam_says("render " + run.string() + " --size big").text, "--size 1280x720"));
    CHECK(flotsam_says("render " + scratch.path().string()).code == 2);
    CHECK(contains(flotsam_says("render " + small_run + " --set view.ligth=[1,1,1]").text, "'light'"));
}

TEST_CASE("without ffmpeg the pictures stay and the message says how to get it") {
    const ScratchFolder scratch;
    const fs::path run = scratch / "run";
    run_splash(run);
    const Said said = flotsam_says("render " + run.string() + " --size 64x36", "PATH=/nowhere");
    CHECK(said.code == 3);
    CHECK(contains(said.text, "apt-get install ffmpeg"));
    CHECK(fs::exists(run / "pictures/liquid_0003.png"));
    CHECK_FALSE(fs::exists(run / "pictures/liquid.mp4"));
}

TEST_CASE("a full disk ends the rendering; what was drawn stays and the same command goes on") {
    SmallDisk disk("3m");
    if (!disk.mounted()) return;
    const fs::path run = disk / "run";
    run_splash(run, {"output.particles=false"});
    std::ofstream(disk / "ballast") << std::string(4'000'000, 'x');
    const Said full = flotsam_says("render " + run.string() + " --size 320x180");
    CHECK(full.code == 3);
    CHECK(contains(full.text, "No space left"));
    for (const auto& entry : fs::directory_iterator(run / "pictures"))
        CHECK(entry.path().extension() != ".tmp");
    fs::remove(disk / "ballast");
    CHECK(flotsam_says("render " + run.string() + " --size 320x180").code == 0);
}

TEST_CASE("run --render draws while it simulates; --overwrite takes the old pictures away") {
    const ScratchFolder scratch;
    std::ofstream(scratch / "splash.toml") << splash_text;
    const std::string command =
        fmt::format("run {0}/splash.toml --out {0}/run --render --quiet", scratch.path().string());
    REQUIRE(flotsam_says(command).code == 0);
    CHECK(fs::exists(scratch / "run/pictures/liquid_0000.png"));
    CHECK(fs::exists(scratch / "run/pictures/liquid_0003.png"));
    CHECK(fs::exists(scratch / "run/pictures/liquid.mp4"));
    CHECK(flotsam_says("render " + (scratch / "run").string()).text.find("(4 were there before)") !=
          std::string::npos);
    // A 2D run draws flat pictures.
    REQUIRE(
        flotsam_says(command + " --overwrite --set scene.dimensions=2 --set output.particles=false").code ==
        0);
    CHECK(fs::exists(scratch / "run/pictures/liquid_0003.png"));
    REQUIRE(flotsam_says(
                fmt::format("run {0}/splash.toml --out {0}/run --overwrite --quiet", scratch.path().string()))
                .code == 0);
    CHECK_FALSE(fs::exists(scratch / "run/pictures/liquid_0003.png"));
}

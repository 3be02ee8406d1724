#include <fmt/format.h>

#include "apps/scene_run.h"

namespace flotsam {

namespace {

// In the current folder, or beside the folder that holds the program (build/).
std::filesystem::path demo_scene() {
    std::filesystem::path scene = "scenes/start/duck.toml";
    if (std::filesystem::exists(scene)) return scene;
    return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / scene;
}

}  // namespace

int demo_command(const RunOptions& options) {
    RunOptions demo = options;
    if (demo.scene.scene.empty()) demo.scene.scene = demo_scene();
    if (demo.out.empty()) demo.out = "runs/demo";
    demo.overwrite = !demo.resume;

    const Scene scene = load(demo.scene);
    if (!demo.quiet)
        fmt::print(stderr, "{}: {:g} s of liquid\n", scene.scenario.title, scene.scenario.time.duration);
    std::filesystem::path movie;
    PictureSettings pictures;  // small: a newcomer waits for them
    pictures.width = 640;
    pictures.height = 360;
    const RunResult result = run_with_pictures(scene, demo, pictures, movie);
    if (result.exit_code() != 0) return result.exit_code();
    const std::string folder = demo.out.string();
    if (!movie.empty())
        fmt::print("{} is the movie; {}/pictures/ holds its pictures.\n", movie.string(), folder);
    fmt::print(
        "{0}/frames/ holds the liquid's surface (.ply, opens in Blender) and volume (.vdb) at every frame.\n",
        folder);
    fmt::print(
        "{0}/audit.csv holds volume, momentum and energy at every step; {0}/run.toml tells what ran.\n",
        folder);
    fmt::print(
        "Next: change {0} and `{1} run` it, or `{1} list` for more scenes and `{1} new` for your own.\n",
        demo.scene.scene.string(), program_name());
    return 0;
}

}  // namespace flotsam

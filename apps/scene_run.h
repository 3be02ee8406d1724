// From the options of a command to a run: shared by run, check and demo.
#pragma once

#include <filesystem>
#include <vector>

#include "apps/commands.h"
#include "render/run_pictures.h"
#include "run/run.h"
#include "scene/scene.h"

namespace flotsam {

// Loads the scene that the options name, prints its warnings, and sets the number of threads.
Scene load(const SceneOptions& options);

// How results call a scene: "carlson-2004/gears" for scenes/carlson-2004/gears.toml.
std::string name_of_scene(const std::filesystem::path& file);
// The folder scenes/ beside where the program is called, or beside the folder it was built in.
std::filesystem::path scenes_folder();
// All scene files in it, sorted.
std::vector<std::filesystem::path> scene_files();

// options.out, or runs/<name of the scene file>.
std::filesystem::path run_folder(const RunOptions& options);

// As the user typed it, so that it can be typed again.
std::string command_line();

// Runs a loaded scene into its folder.
RunResult run(const Scene& scene, const RunOptions& options, const std::vector<Observer*>& extra = {});

// The same with a picture of every frame; `movie` tells where the movie is, if there is one.
RunResult run_with_pictures(const Scene& scene, const RunOptions& options, const PictureSettings& settings,
                            std::filesystem::path& movie);

// From how the user says it; what is wrong is a UserError.
PictureSettings picture_settings(const PictureOptions& options);

}  // namespace flotsam

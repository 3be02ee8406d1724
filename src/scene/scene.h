// Scene files: from TOML text to what the simulator understands.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "scene/claims.h"
#include "sim/measure.h"
#include "sim/run_settings.h"
#include "world/scenario.h"

namespace flotsam {

struct Scene {
    Scenario scenario;
    OutputSettings output;
    ViewSettings view;
    std::vector<Probe> probes;
    std::vector<Claim> claims;
    std::string hash;  // of all that changes a run, mesh files too: what a resumed run must share
    std::vector<std::string> warnings;  // "file:line:column: ..."
    std::filesystem::path file;
    std::string effective_toml;  // the scene with overrides, scale, method and every default written out
};

// Reads, checks and builds a scene. `overrides` are "a.b=value"; `scale` multiplies the resolution; a
// `method` that is not empty replaces the scene's. Throws one UserError that tells every mistake found.
Scene load_scene(const std::filesystem::path& file, const std::vector<std::string>& overrides = {},
                 double scale = 1, const std::string& method = "");

// The same for a method that need not be the one that the scene was written for: what that does not admit is
// replaced where it can be (adapt_scene.h), and `changes` tells what was.
Scene load_scene_for(const std::string& method, const std::filesystem::path& file,
                     const std::vector<std::string>& overrides, double scale,
                     std::vector<std::string>& changes);

// The same for a scene's text; `file` names it in messages. Mesh files are looked for in `meshes`, or beside
// `file` when that is empty.
Scene parse_scene(const std::string& text, const std::filesystem::path& file,
                  const std::vector<std::string>& overrides = {}, double scale = 1,
                  const std::string& method = "", const std::filesystem::path& meshes = {});

// The title of a scene without checking the rest; empty when it cannot be read.
std::string scene_title(const std::filesystem::path& file);

}  // namespace flotsam

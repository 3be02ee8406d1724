// Scene files: from TOML text to what the simulator understands.
#pragma once

#include <filesystem>
#include <optional>
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

// How a scene's claims are judged every day.
struct CheckSettings {
    double scale = 1;    // of the resolution
    double seconds = 0;  // that it takes on one core, about
};

// What lists show of a scene, without building it; empty where it cannot be read.
struct SceneSummary {
    struct Failure {
        std::string claim, why;
    };
    std::string title, method;
    std::optional<CheckSettings> check;
    int claims = 0;
    std::vector<Failure> failures;  // claims that are known to fail, at some scale
};
SceneSummary summarize_scene(const std::filesystem::path& file);

}  // namespace flotsam

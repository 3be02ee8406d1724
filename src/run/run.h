// Runs a scene into a run folder, from the start or from a checkpoint.
#pragma once

#include <string>
#include <vector>

#include "io/run_folder.h"
#include "sim/driver.h"
#include "sim/run_settings.h"

namespace flotsam {

struct RunInputs {
    const Scenario& scenario;
    OutputSettings output;
    std::vector<Probe> probes;
    std::string scene_hash;      // of everything that changes the result
    std::string scene_text;      // the scene as TOML with all defaults
    std::string scene_file;      // where it came from
    std::string version;         // of Flotsam
    std::string command;         // as the user typed it
    std::string resume_command;  // resumes this run
    int most_frames = 0;         // stop after this many; 0: at the end of the scene
};

struct RunResult {
    enum class End {
        completed,
        complete_before,  // nothing was left to do
        interrupted,      // Ctrl-C or SIGTERM; a checkpoint was written
        failed,           // the disk or a step; the message was printed
    };
    End end = End::completed;
    int frame = 0;   // the last one reached
    int signal = 0;  // that interrupted it

    // 0 completed, 3 failed, 128 + signal as a shell would report it.
    int exit_code() const;
};

// `extra` observers come after those that write the folder and before the checkpoint. Throws UserError when
// the folder cannot be used with these options.
RunResult run_scene(const RunInputs& inputs, const RunFolderOptions& options,
                    const std::vector<Observer*>& extra = {});

}  // namespace flotsam

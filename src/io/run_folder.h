// The folder of a run:
//   run.toml      what ran: version, scene hash, threads, machine, when
//   scene.toml    the scene with every default and every --set written out
//   frames/       surface_NNNN.ply, volume_NNNN.vdb, particles_NNNN.ply, solids_NNNN.ply
//   audit.csv     the physics of every step
//   bodies.csv    how every solid moves that moves by itself, and what pushes it, if there are any
//   probes.csv    what the scene's probes measured
//   checkpoints/  step_NNNNNNNN.h5, the last three
//   pictures/     VIEW_NNNN.png and VIEW.mp4, if it was rendered
//   plots/        index.html and the charts of `flotsam plot`
//   solids.pc2                   vertices of all solids at every frame, when some deform; for Blender
//   transforms.csv, solids.glb   where solids are at every frame, as a table and as an animation; if any
//                 moves
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace flotsam {

struct RunFolderOptions {
    std::filesystem::path folder;
    bool resume = false;     // continue from the newest good checkpoint
    bool overwrite = false;  // delete the files of an earlier run
    bool quiet = false;
};

// The content of run.toml.
struct RunRecord {
    std::string version, command;  // of Flotsam; as it was typed
    std::string scene_file, scene_hash, scene_text;
    std::string title;
};

// Version, command, scene and title from a folder's run.toml; a folder without one is a UserError.
RunRecord read_run_record(const std::filesystem::path& folder);

// Keeps other runs out of a folder. The system releases it however the process ends.
class FolderLock {
  public:
    explicit FolderLock(const std::filesystem::path& folder);  // throws UserError when another run has it
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;
    ~FolderLock();

  private:
    int descriptor_;
};

// A folder that this process alone writes to.
class RunFolder {
  public:
    // Makes the folder, or takes over an existing one as the options allow; throws UserError with advice
    // otherwise. `continues()` tells whether it holds an earlier run of the same scene to continue.
    RunFolder(const RunFolderOptions& options, const RunRecord& record);

    bool continues() const { return continues_; }
    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path frames() const { return path_ / "frames"; }
    std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
    std::filesystem::path audit() const { return path_ / "audit.csv"; }
    std::filesystem::path bodies() const { return path_ / "bodies.csv"; }
    std::filesystem::path probes() const { return path_ / "probes.csv"; }
    std::filesystem::path transforms() const { return path_ / "transforms.csv"; }
    std::filesystem::path solids() const { return path_ / "solids.glb"; }
    std::filesystem::path point_cache() const { return path_ / "solids.pc2"; }

    // Notes in run.toml that the run was resumed from `step`.
    void note_resumed(std::int64_t step) const;

  private:
    std::filesystem::path path_;
    FolderLock lock_;
    bool continues_ = false;
};

}  // namespace flotsam

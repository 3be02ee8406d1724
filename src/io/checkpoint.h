// Checkpoints: the complete state of a run, in an HDF5 file that other programs can read too.
//
// The file begins with 512 bytes of text (HDF5's user block) that hold the length of the file and a hash of
// the rest. A file that was cut off or altered in any byte is recognised before HDF5 sees it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/state.h"

namespace flotsam {

struct CheckpointInfo {
    std::string scene_hash;
    int frame = 0;          // the last one reached
    std::int64_t step = 0;  // steps taken
    double time = 0;        // [s]
};

// Lists a state to a visitor: [&](StateVisitor& visitor) { driver.visit_state(visitor); }
using VisitState = std::function<void(StateVisitor&)>;

void write_checkpoint(const std::filesystem::path& file, const CheckpointInfo& info,
                      const VisitState& visit_state);

// Verifies the whole file; throws IoError that says what is wrong with it.
CheckpointInfo inspect_checkpoint(const std::filesystem::path& file);

// Verifies the file, then restores the state from it.
CheckpointInfo read_checkpoint(const std::filesystem::path& file, const VisitState& visit_state);

// "step_00000120.h5", so that names sort by step.
std::string checkpoint_name(std::int64_t step);

// Checkpoints of a folder from the newest to the oldest. A folder that does not exist has none.
std::vector<std::filesystem::path> list_checkpoints(const std::filesystem::path& folder);

struct GoodCheckpoint {
    std::filesystem::path file;
    CheckpointInfo info;
};
// The newest checkpoint that is whole; `problems` lists the defects of newer ones.
std::optional<GoodCheckpoint> find_newest_good_checkpoint(const std::filesystem::path& folder,
                                                          std::vector<std::string>& problems);

// Deletes all but the newest `keep`.
void remove_old_checkpoints(const std::filesystem::path& folder, int keep);

}  // namespace flotsam

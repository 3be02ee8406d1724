// transforms.csv: the poses of moving solids at every frame. solids.glb: the same as an animation of their
// meshes; not written where its path is empty.
#pragma once

#include <filesystem>
#include <optional>

#include "io/csv_log.h"
#include "sim/driver.h"

namespace flotsam {

class TransformLog : public Observer {
  public:
    TransformLog(std::filesystem::path csv, std::filesystem::path gltf, const Scenario& scenario)
        : csv_(std::move(csv)), gltf_(std::move(gltf)), scenario_(scenario) {}

    void on_start(const World& world, int frame) override;
    void on_frame(World& world, int frame) override;
    void on_finish(World& world, int frame, bool completed) override;

  private:
    void write(const World& world, int frame);

    std::filesystem::path csv_, gltf_;
    const Scenario& scenario_;
    std::optional<CsvLog> log_;
};

// Sets the initial poses of solids that move by themselves to their poses in a frame of a run. Solids that
// are not in the table keep theirs, as do all when there is no table.
void start_at_frame(Scenario& scenario, const std::filesystem::path& csv, int frame);
// Gives solids that the run deforms their shapes from a file of all solids, if it exists.
void take_shapes_from_frame(Scenario& scenario, const std::filesystem::path& solids);

// Is there a solid whose shape the run changes?
bool has_deforming_solids(const Scenario& scenario);
// Does anything of the scenario move as a whole?
bool has_moving_solids(const Scenario& scenario);

}  // namespace flotsam

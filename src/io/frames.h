// frames/: what a run looks like at every frame.
#pragma once

#include <filesystem>

#include "sim/driver.h"
#include "sim/run_settings.h"

namespace flotsam {

// Writes surface_NNNN.ply, volume_NNNN.vdb, particles_NNNN.ply and solids_NNNN.ply, as the settings ask;
// frame 0 is the start.
class FrameExporter : public Observer {
  public:
    FrameExporter(std::filesystem::path folder, const Scenario& scenario, const OutputSettings& output)
        : folder_(std::move(folder)), scenario_(scenario), output_(output) {}

    void on_start(const World& world, int frame) override;
    void on_frame(World& world, int frame) override;

  private:
    void write(const World& world, int frame) const;

    std::filesystem::path folder_;
    const Scenario& scenario_;
    OutputSettings output_;
};

// The liquid's distance, which the simulation continues into solids, ended at their surfaces: what a picture
// needs.
Field<double> surface_beside_solids(const World& world, const Scenario& scenario);

// Is this the name of a file that FrameExporter writes?
bool is_frame_file(const std::string& name);

}  // namespace flotsam

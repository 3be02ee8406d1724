// solids.pc2: the vertices of all solids at every frame, for Blender's Mesh Cache modifier on the mesh of
// frames/solids_0000.ply.
#pragma once

#include <filesystem>

#include "sim/driver.h"

namespace flotsam {

// Written when a run ends, from all frames in the folder, including those before a restart.
class PointCache : public Observer {
  public:
    PointCache(std::filesystem::path file, std::filesystem::path frames)
        : file_(std::move(file)), frames_(std::move(frames)) {}
    void on_finish(World& world, int frame, bool completed) override;

  private:
    std::filesystem::path file_, frames_;
};

}  // namespace flotsam

// frames/: the geometry of a run at every frame.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "geometry/surface_nets.h"
#include "sim/driver.h"
#include "sim/run_settings.h"

namespace flotsam {

// One kind of file with one instance for every frame.
struct FrameFile {
    std::string_view stem, extension;
    std::string name(int frame) const;  // "surface_0012.ply"
    // The number in such a name; -1 when the name is not of this kind.
    int frame_of(std::string_view name) const;
    // The frames for which a folder holds this file, in order.
    std::vector<int> frames_in(const std::filesystem::path& folder) const;
};
constexpr FrameFile surface_file{"surface_", ".ply"}, volume_file{"volume_", ".vdb"},
    spray_file{"spray_", ".ply"}, particles_file{"particles_", ".ply"}, solids_file{"solids_", ".ply"},
    elastic_file{"elastic_", ".vtk"};

// Writes surface_NNNN.ply with spray_NNNN.ply, volume_NNNN.vdb, particles_NNNN.ply, solids_NNNN.ply and
// elastic_NNNN.vtk, according to the settings; frame 0 is the start.
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

// The surface of the liquid, drawn on a grid that is `refinement` times finer, and the droplets that are too
// small for it.
struct LiquidSurface {
    SurfaceMesh mesh;
    std::vector<Vec3f> velocity;  // of each vertex [m/s]
    Particles spray;
};
LiquidSurface liquid_surface(const World& world, const Scenario& scenario, int refinement);

// Velocities of particles of the liquid [m/s].
std::vector<Vec3f> particle_velocities(const Particles& particles, const World& world,
                                       const Scenario& scenario);

// Adds a solid's current surface, and the velocities of its vertices: over the previous millisecond for a
// solid that does not move by itself.
void append_solid(const World& world, const Scenario& scenario, std::size_t s, SurfaceMesh& mesh,
                  std::vector<Vec3f>& velocity);

// Ends the liquid of a distance field, which extends into solids, at a depth of `overlap` inside their
// surfaces [m]; less in solids that are too thin for it.
void end_at_solids(Field<double>& phi, const Domain& domain, const World& world, const Scenario& scenario,
                   double overlap);

// Pressure in the liquid, 0 elsewhere [Pa].
Field<double> pressure_in_liquid(const World& world, const Scenario& scenario);

// Is this the name of a file that FrameExporter writes?
bool is_frame_file(const std::string& name);

}  // namespace flotsam

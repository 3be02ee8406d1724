// A scene's settings for the output and the pictures of a run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/measure.h"

namespace flotsam {

struct OutputSettings {
    bool surface = true;         // frames/surface_NNNN.ply and spray_NNNN.ply
    bool volume = true;          // frames/volume_NNNN.vdb: distance and velocity
    bool particles = false;      // frames/particles_NNNN.ply
    int surface_refinement = 2;  // of the grid that the surface is drawn on
    int checkpoint_every = 10;   // frames; 0 only on Ctrl-C and at the end
    bool solids = true;          // frames/solids_NNNN.ply, solids.glb and solids.pc2
    bool stress = false;         // frames/elastic_NNNN.vtk
};

// How pictures of a run are taken.
struct ViewSettings {
    std::optional<Vec3> camera, target;   // [m]; otherwise chosen so that the tank fills the picture
    std::optional<int> follow;            // the solid that the camera goes along with
    double field_of_view = 30;            // of the picture's height [degrees]
    Vec3 light{-0.45, 1.0, 0.35};         // direction towards the sun
    Vec3 liquid_color{0.25, 0.66, 0.80};  // of white light after half the tank's longest side
};

}  // namespace flotsam

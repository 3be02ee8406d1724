// What a run writes and what it must show, as the scene says it.
#pragma once

#include <string>
#include <vector>

#include "sim/measure.h"

namespace flotsam {

struct OutputSettings {
    bool surface = true;        // frames/surface_NNNN.ply
    bool volume = true;         // frames/volume_NNNN.vdb: distance and velocity
    bool particles = false;     // frames/particles_NNNN.ply
    int checkpoint_every = 10;  // frames; 0 only on Ctrl-C and at the end
    bool solids = true;         // frames/solids_NNNN.ply
};

}  // namespace flotsam

// What a scene will cost, before it is run.
#pragma once

#include <cstdint>
#include <string>

#include "sim/run_settings.h"
#include "world/scenario.h"

namespace flotsam {

struct Estimate {
    std::int64_t cells = 0;         // of the domain
    std::int64_t liquid_cells = 0;  // that hold liquid when there is most of it
    std::int64_t particles = 0;     // at the same moment
    double memory = 0;              // [B]
    double disk_per_frame = 0;      // [B]
    std::int64_t frames = 0;
    double steps_per_frame = 0;
    double seconds_per_frame = 0;  // of computing: a rough guess
};

Estimate estimate(const Scenario& scenario, const OutputSettings& output);

// A few lines for a person.
std::string estimate_text(const Estimate& estimate);
// The tetrahedra of elastic solids, a line for each: how many, and the angles between their faces.
std::string tetrahedra_text(const Scenario& scenario);

// "12.3 MB"
std::string byte_text(double bytes);

// Memory of this machine [B].
double machine_memory();

// Volume of the part of `shape` that lies inside the domain [m^3], by counting places of particles; a
// hundredth off.
double volume_inside(const Shape& shape, const Domain& domain);

}  // namespace flotsam

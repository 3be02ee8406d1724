// What a scene asks for, after parsing and checking: constant during a run.
#pragma once

#include <string>
#include <vector>

#include "core/vec.h"
#include "fluid/grid/domain.h"
#include "fluid/grid/liquid.h"
#include "fluid/sph/sph_settings.h"
#include "linalg/solve.h"
#include "solid/rigid/joint.h"
#include "solid/solid.h"

namespace flotsam {

struct TimeSettings {
    double duration = 1;  // [s]
    double frames_per_second = 24;
    double cfl = 2;        // cells that the fastest liquid may cross in a step
    double time_step = 0;  // fixed step [s]; 0 chooses by CFL
    bool retry = true;     // repeat a failed step with half the time step
};

struct Scenario {
    std::string title;
    std::string method = "cut-cell";
    Domain domain;
    Vec3 gravity{0, -9.81, 0};  // [m/s^2]
    LiquidSettings liquid;
    SphSettings sph;  // of an SPH liquid
    std::vector<Solid> solids;
    std::vector<Joint> joints;
    TimeSettings time;
    SolverSettings solver;

    double particle_volume() const { return domain.cell_volume() / particles_per_cell(domain); }
    double particle_mass() const { return liquid.density * particle_volume(); }
};

}  // namespace flotsam

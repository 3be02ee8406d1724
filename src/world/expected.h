// Estimates from a scene before it runs: the speeds and pressures that energy allows, and the liquid's
// parameters.
#pragma once

#include "solid/spring/repulsion.h"
#include "world/scenario.h"

namespace flotsam {

// The highest speed that a scene's liquid and solids can reach by falling through the domain, or have from
// the start or from an emitter [m/s].
double expected_speed(const Scenario& scenario);

// The highest pressure that solids of a scene should withstand: that of water or a solid made of springs that
// has fallen to the bottom from the highest place where one starts or is emitted, with its initial velocity
// [Pa].
double highest_pressure(const Scenario& scenario);

// The liquid's parameters for the repulsion by solids made of springs.
MarkedLiquid marked_liquid(const Scenario& scenario);

}  // namespace flotsam

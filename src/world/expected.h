// What follows from a scene before it runs: speeds and pressures that energy allows, and the liquid in
// numbers.
#pragma once

#include "solid/spring/repulsion.h"
#include "world/scenario.h"

namespace flotsam {

// The highest speed that a scene's liquid and solids can reach by falling through the domain, or have from
// the start or from an emitter [m/s].
double expected_speed(const Scenario& scenario);

// The highest pressure that solids of a scene should withstand: of water or a solid made of springs that has
// fallen to the bottom from the highest place where the scene starts or emits one, with its velocity there
// [Pa].
double highest_pressure(const Scenario& scenario);

// The liquid as solids made of springs meet it.
MarkedLiquid marked_liquid(const Scenario& scenario);

}  // namespace flotsam

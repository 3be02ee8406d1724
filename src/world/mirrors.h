// Sides of the domain that are planes of symmetry, and the bodies that they cut.
#pragma once

#include <array>

#include "fluid/grid/domain.h"
#include "solid/solid.h"

namespace flotsam {

// The mirrors that cut a solid as it is at the start: it reaches through them by more than `slack` [m].
std::array<bool, 6> mirrors_through(const Solid& solid, const Domain& domain, double slack);

}  // namespace flotsam

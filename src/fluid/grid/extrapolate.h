// Extrapolation of the velocity into the air around the liquid.
#pragma once

#include "fluid/grid/liquid.h"

namespace flotsam {

// Gives each unknown value next to known ones their mean, layer by layer [Zarifi17 4.6]; `known` grows with
// it. `end` is one past the last index per axis.
void extrapolate(Field<double>& values, Field<char>& known, Int3 end, int layers);

}  // namespace flotsam

// The accuracy scoreboard as charts.
#pragma once

#include <vector>

#include "plot/gallery.h"
#include "validate/validation.h"

namespace flotsam {

// All rows against their tolerances, and the curves of each case against their references.
std::vector<ChartFile> validation_pictures(const std::vector<ValidationRow>& rows,
                                           const std::vector<ValidationCurve>& curves);

}  // namespace flotsam

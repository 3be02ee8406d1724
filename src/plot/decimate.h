// Long curves in few points.
#pragma once

#include <span>
#include <vector>

#include "plot/svg.h"

namespace flotsam {

// A curve cut where a value is missing: every piece has finite numbers only.
std::vector<std::vector<PlotPoint>> finite_pieces(std::span<const PlotPoint> points);

// Looks the same as the curve when drawn `columns` pixels wide: of the points in a column of pixels, the
// first, the lowest, the highest and the last are kept, in their order. x must not decrease.
std::vector<PlotPoint> decimate(std::span<const PlotPoint> points, double x_low, double x_high, int columns);

}  // namespace flotsam

// Charts as plain data, and how they are drawn: curves over one axis, or stages stacked upon each other.
#pragma once

#include <string>
#include <vector>

#include "plot/svg.h"

namespace flotsam {

// After Okabe & Ito 2008, told apart by all common kinds of colour vision; without their yellow, which is
// hard to see on white.
inline constexpr std::string_view plot_colors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                   "#56b4e9", "#e69f00", "#555555"};
inline constexpr std::size_t most_curves = std::size(plot_colors);

struct Curve {
    std::string name;               // stands beside it; empty where the chart's title says all
    std::vector<PlotPoint> points;  // x must not decrease; a y that is not finite is a gap
    enum class Kind { line, dots } kind = Kind::line;
};

struct Chart {
    std::string title = {};
    std::string note = {};  // one sentence under the title; may be empty
    std::string x_quantity = "time", x_unit = "s";
    std::string y_quantity = {}, y_unit = {};
    std::vector<Curve> curves = {};
    enum class Kind {
        linear,       // the axis fits the values
        from_zero,    // the axis also contains zero
        logarithmic,  // values that are not positive are gaps
        stacked,      // the curves share their x and are not negative; each stands on the one before
    } kind = Kind::linear;
};

std::string svg_of(const Chart& chart);

}  // namespace flotsam

// Axes: which numbers stand beside a chart, and where a value lies along it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace flotsam {

struct Tick {
    double value;
    std::string label;
};

struct Axis {
    double low = 0, high = 1;
    bool logarithmic = false;
    int exponent = 0;  // labels are in units of 10^exponent, which the axis' name must say
    std::vector<Tick> ticks = {};

    double share(double value) const;  // 0 at low, 1 at high
    // "volume [10⁻³ m³]" for the quantity "volume" in "m^3".
    std::string name(std::string_view quantity, std::string_view unit) const;
};

// Steps of 1, 2 or 5 times a power of ten: the finest that give at most `most` values within [low, high].
std::vector<double> nice_values(double low, double high, int most);

// An axis for values between `low` and `high`, with room around them when `padded`. Values that differ by
// less than a millionth of their size count as equal: their curve would only show rounding.
Axis linear_axis(double low, double high, int most_ticks, bool padded);

// Whole powers of ten around two positive numbers.
Axis log_axis(double low, double high, int most_ticks);

// A number in a sentence: four digits, a true minus sign, and a power of ten where zeros would have to be
// counted.
std::string number_text(double value);

// A change in percent, with its sign.
std::string change_text(double share);

// "m^3" as "m³"; "1", the unit of a count or a share, as nothing.
std::string unit_text(std::string_view unit);

}  // namespace flotsam

#include "plot/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace flotsam {

namespace {

std::string with_true_minus(const std::string& text) {
    std::string result;
    for (const char c : text) result += c == '-' ? std::string("−") : std::string(1, c);
    return result;
}

std::string power_of_ten(int exponent) {
    static constexpr const char* digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    std::string text = exponent < 0 ? "10⁻" : "10";
    for (const char c : std::to_string(std::abs(exponent))) text += digits[c - '0'];
    return text;
}

// The step of nice_values.
struct Step {
    int digit, exponent;  // 1, 2 or 5 times 10^exponent
    double size() const { return digit * std::pow(10.0, exponent); }
};

// Ends that lie on a value but for rounding contain it.
constexpr double on_value = 1e-9;

Step nice_step(double low, double high, int most) {
    Step step{1, int(std::floor(std::log10((high - low) / most))) - 1};
    const auto count = [&] {
        return std::floor(high / step.size() + on_value) - std::ceil(low / step.size() - on_value) + 1;
    };
    while (count() > most)
        step = step.digit == 1   ? Step{2, step.exponent}
               : step.digit == 2 ? Step{5, step.exponent}
                                 : Step{1, step.exponent + 1};
    return step;
}

std::vector<double> values_of(Step step, double low, double high) {
    std::vector<double> values;
    const double first = std::ceil(low / step.size() - on_value);
    const int count = int(std::floor(high / step.size() + on_value) - first) + 1;
    for (int i = 0; i < count; ++i) {
        // Divided rather than multiplied: 3 / 10 is the double nearest to 0.3, and 3 * 0.1 is not. No -0.
        const double n = (first + i) * step.digit;
        values.push_back(step.exponent < 0 ? n / std::pow(10.0, -step.exponent) + 0.0
                                           : n * std::pow(10.0, step.exponent) + 0.0);
    }
    return values;
}

}  // namespace

double Axis::share(double value) const {
    if (logarithmic) return std::log(value / low) / std::log(high / low);
    return (value - low) / (high - low);
}

std::string Axis::name(std::string_view quantity, std::string_view unit) const {
    std::string shown = unit_text(unit);
    if (exponent != 0) shown = power_of_ten(exponent) + (shown.empty() ? "" : " ") + shown;
    return shown.empty() ? std::string(quantity) : fmt::format("{} [{}]", quantity, shown);
}

std::vector<double> nice_values(double low, double high, int most) {
    FLOTSAM_CHECK(low < high && most >= 2, low, high);
    return values_of(nice_step(low, high, most), low, high);
}

Axis linear_axis(double low, double high, int most_ticks, bool padded) {
    const double size = std::max(std::abs(low), std::abs(high));
    if (size == 0) {
        low = -1, high = 1;
    } else if (high - low < 1e-6 * size) {
        low -= 0.05 * size, high += 0.05 * size;
    } else if (padded) {
        const double room = 0.06 * (high - low);
        // An axis that begins at zero needs no room below it.
        if (low != 0) low -= room;
        if (high != 0) high += room;
    }
    Axis axis{.low = low, .high = high};
    const Step step = nice_step(low, high, most_ticks);
    const std::vector<double> values = values_of(step, low, high);
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    // Numbers with many zeros are written as a power of ten, a multiple of three, once for all.
    if (largest >= 1e5 || (largest > 0 && largest < 0.0099))
        axis.exponent = 3 * int(std::floor(std::log10(largest * (1 + on_value)) / 3));
    const int decimals = std::max(0, axis.exponent - step.exponent);
    for (const double value : values)
        axis.ticks.push_back({value, with_true_minus(fmt::format(
                                         "{:.{}f}", value / std::pow(10.0, axis.exponent), decimals))});
    return axis;
}

Axis log_axis(double low, double high, int most_ticks) {
    FLOTSAM_CHECK(low > 0 && high >= low, low, high);
    const int first = int(std::floor(std::log10(low) + on_value));
    const int last = std::max(first + 1, int(std::ceil(std::log10(high) - on_value)));
    Axis axis{.low = std::pow(10.0, first), .high = std::pow(10.0, last), .logarithmic = true};
    // Within a decade or two its 2 and 5 are named as well.
    const bool narrow = 3 * (last - first) + 1 <= most_ticks;
    const int step = 1 + (last - first) / most_ticks;
    for (int n = first; n <= last; n += step)
        for (const int digit : {1, 2, 5}) {
            if (digit > 1 && (!narrow || n == last)) continue;
            const double value = digit * std::pow(10.0, n);
            std::string label = fmt::format("{:g}", value);
            if (std::abs(n) > 3) label = (digit > 1 ? fmt::format("{} × ", digit) : "") + power_of_ten(n);
            axis.ticks.push_back({value, label});
        }
    return axis;
}

std::string number_text(double value) {
    const double size = std::abs(value);
    if (!std::isfinite(value)) return with_true_minus(fmt::format("{}", value));
    if (size != 0 && (size < 1e-3 || size >= 1e6)) {
        int exponent = int(std::floor(std::log10(size)));
        if (std::abs(value / std::pow(10.0, exponent)) >= 9.995) ++exponent;  // would be written as 10.00
        return fmt::format("{} × {}",
                           with_true_minus(fmt::format("{:.2f}", value / std::pow(10.0, exponent))),
                           power_of_ten(exponent));
    }
    return with_true_minus(size >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value));
}

std::string change_text(double share) { return with_true_minus(fmt::format("{:+.2g} %", 100 * share)); }

std::string unit_text(std::string_view unit) {
    if (unit == "1") return "";
    std::string text;
    for (std::size_t i = 0; i < unit.size(); ++i) {
        const bool power =
            unit[i] == '^' && i + 1 < unit.size() && (unit[i + 1] == '2' || unit[i + 1] == '3');
        if (power)
            text += unit[++i] == '2' ? "²" : "³";
        else
            text += unit[i];
    }
    return text;
}

}  // namespace flotsam

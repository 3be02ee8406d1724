#include "plot/axis.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/random.h"
#include "near.h"

using namespace flotsam;

namespace {

std::vector<std::string> labels(const Axis& axis) {
    std::vector<std::string> texts;
    for (const Tick& tick : axis.ticks) texts.push_back(tick.label);
    return texts;
}
using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("nice values are steps of 1, 2 or 5 within the range, ends included") {
    CHECK(nice_values(0, 1, 6) == std::vector<double>{0, 0.2, 0.4, 0.6, 0.8, 1});
    CHECK(nice_values(0, 1, 5) == std::vector<double>{0, 0.5, 1});
    CHECK(nice_values(0, 0.3, 4) ==
          std::vector<double>{0, 0.1, 0.2, 0.3});  // 3 * 0.1 would be beyond the end
    CHECK(nice_values(-7, 13, 5) == std::vector<double>{-5, 0, 5, 10});
    CHECK(nice_values(1e6, 3e6, 3) == std::vector<double>{1e6, 2e6, 3e6});
    CHECK_FALSE(std::signbit(nice_values(-1, 1, 3)[1]));
}

TEST_CASE("nice values are as many as allowed and never more, over all magnitudes") {
    int fewest = 100;
    for (std::uint64_t n = 0; n < 2000; ++n) {
        const double low = std::pow(10.0, -12 + double(n % 25)) * (uniform(combine(n, 1)) - 0.5);
        const double high = low + std::pow(10.0, -12 + double(n % 23)) * (0.01 + uniform(combine(n, 2)));
        if (high - low < 1e-6 * std::abs(high)) continue;
        const std::vector<double> values = nice_values(low, high, 7);
        CAPTURE(low);
        CAPTURE(high);
        REQUIRE(values.size() <= 7);
        fewest = std::min(fewest, int(values.size()));
        CHECK(values.front() >= low - 1e-6 * (high - low));
        CHECK(values.back() <= high + 1e-6 * (high - low));
        for (std::size_t i = 2; i < values.size(); ++i)
            CHECK(values[i] - values[i - 1] == near(values[1] - values[0]).relative(1e-6));
    }
    CHECK(fewest >= 2);
}

TEST_CASE("labels have the digits they need and share one power of ten") {
    CHECK(labels(linear_axis(0, 1, 6, false)) == Texts{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"});
    CHECK(labels(linear_axis(-10, 10, 5, false)) == Texts{"−10", "−5", "0", "5", "10"});
    const Axis small = linear_axis(0, 0.0042, 5, false);
    CHECK(labels(small) == Texts{"0", "1", "2", "3", "4"});
    CHECK(small.exponent == -3);
    CHECK(small.name("volume", "m^3") == "volume [10⁻³ m³]");
    const Axis large = linear_axis(0, 2e6, 5, false);
    CHECK(labels(large) == Texts{"0.0", "0.5", "1.0", "1.5", "2.0"});
    CHECK(large.name("count", "1") == "count [10⁶]");
    CHECK(linear_axis(0, 1, 5, false).name("iterations", "1") == "iterations");
    // Close to each other and far from zero: digits enough to tell them apart.
    CHECK(labels(linear_axis(0.07200, 0.07202, 3, false)) == Texts{"0.07200", "0.07201", "0.07202"});
}

TEST_CASE("a constant has an axis around it, and rounding is not magnified") {
    const Axis zero = linear_axis(0, 0, 5, true);
    CHECK(zero.low < 0);
    CHECK(zero.high > 0);
    for (const double high : {3.0, 3.0 + 1e-12}) {
        const Axis three = linear_axis(3, high, 5, true);
        CHECK(three.share(3) == near(0.5).relative(1e-9));
        CHECK(three.high - three.low > 0.1);
        CHECK(three.ticks.size() >= 2);
    }
    CHECK(linear_axis(3, 3.001, 5, true).high < 3.01);  // a true change is shown
}

TEST_CASE("a padded axis keeps zero as its end and gives room elsewhere") {
    const Axis axis = linear_axis(0, 10, 5, true);
    CHECK(axis.low == 0);
    CHECK(axis.high > 10);
    CHECK(linear_axis(1, 10, 5, true).low < 1);
}

TEST_CASE("a logarithmic axis spans whole decades") {
    const Axis wide = log_axis(3e-9, 2e-2, 4);
    CHECK(wide.low == near(1e-9).relative(1e-12));
    CHECK(wide.high == near(0.1).relative(1e-12));
    CHECK(wide.ticks.size() <= 5);
    CHECK(wide.share(1e-5) == near(0.5).relative(1e-12));
    CHECK(labels(wide).front() == "10⁻⁹");
    const Axis narrow = log_axis(2, 3, 7);
    CHECK(labels(narrow) == Texts{"1", "2", "5", "10"});
    const Axis point = log_axis(10, 10, 7);
    CHECK(point.high > point.low);
}

TEST_CASE("numbers in sentences") {
    CHECK(number_text(0) == "0");
    CHECK(number_text(-2.5) == "−2.5");
    CHECK(number_text(0.071524) == "0.07152");
    CHECK(number_text(12345.6) == "12346");
    CHECK(number_text(1.5e-7) == "1.50 × 10⁻⁷");
    CHECK(number_text(9.999e-7) == "1.00 × 10⁻⁶");
    CHECK(number_text(-4e8) == "−4.00 × 10⁸");
    CHECK(number_text(std::numeric_limits<double>::quiet_NaN()) == "nan");
    CHECK(change_text(-0.0033) == "−0.33 %");
    CHECK(change_text(0.5) == "+50 %");
    CHECK(unit_text("kg/m^3") == "kg/m³");
    CHECK(unit_text("1") == "");
}

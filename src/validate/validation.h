// The accuracy scoreboard: cases with exact solutions, laboratory data or accepted benchmark values.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "solid/solid.h"

namespace flotsam {

// One measured quantity. Where the reference is zero, value is already a share of a natural scale and
// error_percent is simply 100 |value|.
struct ValidationRow {
    std::string name, variant, method;
    int resolution;  // cells along the length that the case names
    std::string quantity;
    double value, reference, tolerance_percent;
    bool shrinks = false;  // an observed order: passes when positive, whatever the tolerance
    double seconds = 0;    // wall-clock time of the run behind it

    double error_percent() const;
    bool pass() const;
};

// A measured curve beside the reference's points, or measured points on an exact curve: what rows say in
// numbers, to be seen.
struct ValidationCurve {
    std::string name, method;
    int resolution;
    std::string title, x_quantity, x_unit, y_quantity, y_unit;
    std::string reference_name;
    std::vector<std::array<double, 2>> measured, reference;
    bool exact =
        false;  // the reference is known everywhere: it is the line, and the measured values are points
};

struct ValidationRun {
    std::string method;
    bool quick;  // the coarse level only
    std::function<void(ValidationRow)> report;
    std::function<void(ValidationCurve)> show;
};

// Which methods a case is for. Those whose pressure travels as sound take steps a hundred times shorter.
enum class ForPressure { solved, sound, any };

struct ValidationCase {
    std::string_view name, summary;
    void (*run)(const ValidationRun&);
    Motion needs = Motion::fixed;  // of solids: methods that do not have it are left out
    ForPressure pressure = ForPressure::solved;
};
const std::vector<ValidationCase>& validation_cases();

// Runs a case under every method that it is for and that admits a liquid; full runs also report the observed
// order between their two resolutions (log2 of the ratio of errors), which must be positive.
void run_validation(
    const ValidationCase& c, bool quick, const std::function<void(const ValidationRow&)>& report,
    const std::function<void(const ValidationCurve&)>& show = [](const ValidationCurve&) {});

}  // namespace flotsam

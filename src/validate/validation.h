// The accuracy scoreboard: cases with exact solutions, laboratory data or accepted benchmark values.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

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

struct ValidationRun {
    std::string method;
    bool quick;  // the coarse level only
    std::function<void(ValidationRow)> report;
};

struct ValidationCase {
    std::string_view name, summary;
    void (*run)(const ValidationRun&);
};
const std::vector<ValidationCase>& validation_cases();

// Runs a case under every method that admits a liquid; full runs also report the observed order between their
// two resolutions (log2 of the ratio of errors), which must be positive.
void run_validation(const ValidationCase& c, bool quick,
                    const std::function<void(const ValidationRow&)>& report);

}  // namespace flotsam

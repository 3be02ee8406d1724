// The accuracy scoreboard: cases with exact solutions, laboratory data or accepted benchmark values.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "solid/solid.h"
#include "validate/known_failures.h"

namespace flotsam {

// What became of a row: a row on the list of known failures (known_failures.h) must fail, any other must
// pass.
enum class RowVerdict { pass, fail, known, holds_now };

// One measured quantity. Where the reference is zero, value is already a share of a natural scale and
// error_percent is simply 100 |value|.
struct ValidationRow {
    std::string name, variant, method;
    int resolution;  // cells along the length that the case names
    std::string quantity;
    double value, reference, tolerance_percent;
    // An observed order of convergence: the reference is the least that counts, the tolerance zero, and the
    // error 100 times what is missing.
    bool order = false;
    std::string why_low = {};        // of an order: why less than `least_order` is right
    std::string known_failure = {};  // why it fails, for a row on the list of known failures
    double seconds = 0;              // wall-clock time of the run behind it

    double error_percent() const;
    bool pass() const;
    RowVerdict verdict() const;
};

// Errors that shrink more slowly than this do not count as shrinking. Schemes of first order do better, and
// what is left of chance in two measurements stays below it. Where less is right, the row says why, and the
// error must shrink all the same.
inline constexpr double least_order = 0.8;
// Of errors at two resolutions: how fast they shrink with the size of a cell. A reason makes any shrinking
// do.
ValidationRow observed_order(const std::string& quantity, const ValidationRow& coarse,
                             const ValidationRow& fine, std::string why_low = {});

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
// order between their two resolutions. Returns known failures of this level that met no row: they are out of
// date, and to be taken off the list.
[[nodiscard]] std::vector<KnownFailure> run_validation(
    const ValidationCase& c, bool quick, const std::function<void(const ValidationRow&)>& report,
    const std::function<void(const ValidationCurve&)>& show = [](const ValidationCurve&) {});

}  // namespace flotsam

// Runs validation cases at their quick level and judges every row at its own tolerance.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "validate/validation.h"

namespace flotsam {

// Spread over three test files, so that they run side by side; validate_test checks that no case is left out.
inline const std::vector<std::string_view> liquid_cases{"rest",      "standing-wave",   "zalesak",
                                                        "sloshing",  "dam-break-front", "free-slip",
                                                        "spheric-2", "moving-sphere",   "sph-column"};
inline const std::vector<std::string_view> rigid_cases{"rigid-alone",   "added-mass", "kirchhoff-ellipse",
                                                       "draft",         "sph-draft",  "heave-cylinder",
                                                       "cylinder-entry"};
inline const std::vector<std::string_view> elastic_cases{
    "cantilever", "rigid-rotation", "cook", "turek-hron", "plate-column", "elastic-gate", "zarifi"};

inline const ValidationCase& validation_case(std::string_view name) {
    const auto at = std::find_if(validation_cases().begin(), validation_cases().end(),
                                 [&](const ValidationCase& c) { return c.name == name; });
    REQUIRE(at != validation_cases().end());
    return *at;
}

// Every row passes or is known to fail, none of those that are holds, and all of them were met. Returns the
// rows.
inline std::vector<ValidationRow> judge_case(std::string_view name, bool quick = true) {
    std::vector<ValidationRow> rows;
    CAPTURE(name);
    const std::vector<KnownFailure> unmet =
        run_validation(validation_case(name), quick, [&](const ValidationRow& row) { rows.push_back(row); });
    CHECK_FALSE(rows.empty());
    for (const ValidationRow& row : rows) {
        CAPTURE(row.method);
        CAPTURE(row.variant);
        CAPTURE(row.resolution);
        CAPTURE(row.quantity);
        CAPTURE(row.value);
        CAPTURE(row.reference);
        CAPTURE(row.tolerance_percent);
        CHECK(std::isfinite(row.value));  // also of rows that are known to fail
        CHECK_MESSAGE(row.verdict() != RowVerdict::fail, "beyond its tolerance");
        CHECK_MESSAGE(row.verdict() != RowVerdict::holds_now, "holds now: take it off the list");
    }
    for (const KnownFailure& entry : unmet) {
        CAPTURE(entry.variant);
        CAPTURE(entry.method);
        CAPTURE(entry.resolution);
        CAPTURE(entry.quantity);
        CHECK_MESSAGE(false, "a known failure of a row that there is not");
    }
    return rows;
}

inline void judge_cases(const std::vector<std::string_view>& names) {
    for (const std::string_view name : names) judge_case(name);
}

}  // namespace flotsam

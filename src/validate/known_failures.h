// Rows that are known to fail, each with the reason. The list is there to shrink: a row on it that holds is
// an error as well, until it is taken off.
#pragma once

#include <string_view>
#include <vector>

namespace flotsam {

// Which runs of a case report the row: `validate --quick`, `validate`, or both.
enum class RunLevel { quick, full, both };

struct KnownFailure {
    std::string_view name, variant, method;
    int resolution;
    std::string_view quantity;
    RunLevel level;
    std::string_view reason;
};
const std::vector<KnownFailure>& known_failures();

}  // namespace flotsam

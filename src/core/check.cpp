#include "core/check.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace flotsam {

namespace {
std::string& reproduction_hint() {
    static std::string hint;
    return hint;
}
}  // namespace

void set_reproduction_hint(std::string hint) { reproduction_hint() = std::move(hint); }

void check_failed(const char* expression, const char* file, int line, const std::string& operands) {
    fmt::print(stderr, "\nflotsam: internal error: {} is false{}\n  at {}:{}\n", expression,
               operands.empty() ? "" : " (" + operands + ")", file, line);
    if (!reproduction_hint().empty()) fmt::print(stderr, "  reproduce: {}\n", reproduction_hint());
    fmt::print(
        stderr,
        "  This is a bug in Flotsam. What was written so far is good; please report the lines above.\n");
    std::fflush(stderr);
    std::abort();
}

namespace detail {
std::string operand_text(double a) { return fmt::format("{}", a); }
std::string operand_text(double a, double b) { return fmt::format("{}, {}", a, b); }
}  // namespace detail

}  // namespace flotsam

#include "core/check.h"

#include <cstdio>
#include <cstdlib>

#include "core/format.h"

namespace flotsam {

namespace {
std::string& reproduction_hint() {
    static std::string hint;
    return hint;
}
}  // namespace

void set_reproduction_hint(std::string hint) { reproduction_hint() = std::move(hint); }

void check_failed(const char* expression, const char* file, int line, const std::string& operands) {
    std::string text = format_text("\nflotsam: internal error: {} is false{}\n  at {}:{}\n", expression,
                                   operands.empty() ? "" : " (" + operands + ")", file, line);
    if (!reproduction_hint().empty()) text += "  reproduce: " + reproduction_hint() + "\n";
    text += "  This is a bug in Flotsam. What was written so far is good; please report the lines above.\n";
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
    std::abort();
}

namespace detail {
std::string operand_text(double a) { return to_text(a); }
std::string operand_text(double a, double b) { return to_text(a) + ", " + to_text(b); }
}  // namespace detail

}  // namespace flotsam

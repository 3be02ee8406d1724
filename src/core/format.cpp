#include "core/format.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "core/check.h"

namespace flotsam {

std::string to_text(double value) {
    const double size = std::abs(value);
    const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
    std::array<char, 32> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                   plain ? std::chars_format::fixed : std::chars_format::scientific);
    return {text.data(), end.ptr};
}

std::string rounded(double value, int digits) {
    std::array<char, 64> text;
    const int size = std::snprintf(text.data(), text.size(), "%.*g", digits, value);
    return {text.data(), std::size_t(size)};
}

std::string filled_in(std::string_view pattern, const std::vector<std::string>& values) {
    std::string text;
    for (const std::string& value : values) {
        const std::size_t at = pattern.find("{}");
        FLOTSAM_CHECK(at != std::string_view::npos);
        text += std::string(pattern.substr(0, at)) + value;
        pattern.remove_prefix(at + 2);
    }
    return text += pattern;
}

}  // namespace flotsam

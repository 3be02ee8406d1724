// Text with values in it. The numerical core needs no library for its messages, and g++ 12 has no
// std::format.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace flotsam {

std::string to_text(double value);              // the fewest digits that read back as the same number
std::string rounded(double value, int digits);  // at most this many digits, without trailing zeros
inline std::string to_text(std::string_view value) { return std::string(value); }
template <std::integral T>
std::string to_text(T value) {
    return std::to_string(value);
}

// The pattern with its n-th "{}" replaced by the n-th value.
std::string filled_in(std::string_view pattern, const std::vector<std::string>& values);

template <class... Values>
std::string format_text(std::string_view pattern, const Values&... values) {
    return filled_in(pattern, {to_text(values)...});
}

}  // namespace flotsam

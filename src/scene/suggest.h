// "did you mean": the known word nearest to what was typed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace flotsam {

// Words with a separator between them.
template <class Words>
std::string joined(const Words& words, std::string_view separator) {
    std::string text;
    for (const auto& word : words) {
        if (!text.empty()) text += separator;
        text += word;
    }
    return text;
}

// The nearest of `known` within a third of the word's letters, or nothing.
std::string_view nearest_word(std::string_view typed, const std::vector<std::string_view>& known);

// "did you mean 'density'?", or the whole list when nothing is near.
std::string suggestion(std::string_view typed, const std::vector<std::string_view>& known);

}  // namespace flotsam

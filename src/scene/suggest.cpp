#include "scene/suggest.h"

#include <fmt/format.h>

#include <algorithm>

namespace flotsam {

namespace {

// How many letters must be added, dropped, changed or swapped with their neighbour.
int edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<int>> cost(a.size() + 1, std::vector<int>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i)
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                cost[i][j] = static_cast<int>(i + j);
                continue;
            }
            const int change = a[i - 1] == b[j - 1] ? 0 : 1;
            cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    return cost[a.size()][b.size()];
}

}  // namespace

std::string_view nearest_word(std::string_view typed, const std::vector<std::string_view>& known) {
    if (typed.size() > 64) return {};  // no word of ours is that long
    int best = std::max(1, static_cast<int>(typed.size()) / 3) + 1;
    std::string_view nearest;
    for (const std::string_view word : known)
        if (const int cost = edit_distance(typed, word); cost < best) {
            best = cost;
            nearest = word;
        }
    return nearest;
}

std::string suggestion(std::string_view typed, const std::vector<std::string_view>& known) {
    if (const std::string_view word = nearest_word(typed, known); !word.empty())
        return fmt::format("did you mean '{}'?", word);
    return known.empty() ? "there is none to choose from"
                         : fmt::format("known here: {}", joined(known, ", "));
}

}  // namespace flotsam

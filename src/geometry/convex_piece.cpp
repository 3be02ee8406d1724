#include "geometry/convex_piece.h"

#include <cmath>
#include <numbers>

namespace flotsam {

std::vector<Vec3> outermost_points(const std::vector<Vec3>& points) {
    constexpr int directions = 92;  // of a spiral on the sphere; a ball of them is round to 2 % of its radius
    std::vector<char> kept(points.size(), 0);
    for (int d = 0; d < directions; ++d) {
        const double y = 1 - (2.0 * d + 1) / directions, r = std::sqrt(1 - y * y);
        const double turn = d * std::numbers::pi * (3 - std::sqrt(5.0));
        const Vec3 direction{r * std::cos(turn), y, r * std::sin(turn)};
        std::size_t farthest = 0;
        for (std::size_t i = 1; i < points.size(); ++i)
            if (dot(points[i], direction) > dot(points[farthest], direction)) farthest = i;
        if (!points.empty()) kept[farthest] = 1;
    }
    std::vector<Vec3> result;
    for (std::size_t i = 0; i < points.size(); ++i)
        if (kept[i]) result.push_back(points[i]);
    return result;
}

}  // namespace flotsam

#include "plot/decimate.h"

#include <algorithm>
#include <cmath>

namespace flotsam {

std::vector<std::vector<PlotPoint>> finite_pieces(std::span<const PlotPoint> points) {
    std::vector<std::vector<PlotPoint>> pieces;
    bool inside = false;
    for (const PlotPoint& p : points) {
        const bool finite = std::isfinite(p.x) && std::isfinite(p.y);
        if (finite && !inside) pieces.emplace_back();
        if (finite) pieces.back().push_back(p);
        inside = finite;
    }
    return pieces;
}

std::vector<PlotPoint> decimate(std::span<const PlotPoint> points, double x_low, double x_high, int columns) {
    if (points.size() <= 4 * std::size_t(columns) || x_high <= x_low) return {points.begin(), points.end()};
    const auto column_of = [&](const PlotPoint& p) {
        return std::floor((p.x - x_low) / (x_high - x_low) * columns);
    };
    std::vector<PlotPoint> kept;
    for (std::size_t begin = 0; begin < points.size();) {
        std::size_t end = begin, lowest = begin, highest = begin;
        for (; end < points.size() && column_of(points[end]) == column_of(points[begin]); ++end) {
            if (points[end].y < points[lowest].y) lowest = end;
            if (points[end].y > points[highest].y) highest = end;
        }
        std::size_t chosen[] = {begin, lowest, highest, end - 1};
        std::sort(std::begin(chosen), std::end(chosen));
        for (auto at = std::begin(chosen), last = std::unique(std::begin(chosen), std::end(chosen));
             at != last; ++at)
            kept.push_back(points[*at]);
        begin = end;
    }
    return kept;
}

}  // namespace flotsam

// What the cases of bodies in water share.
#pragma once

#include <array>
#include <vector>

#include "validate/case_tools.h"
#include "world/mirrors.h"

namespace flotsam {

inline constexpr double water = 1000;  // density [kg/m^3]

// How thick the figures of 2D cases are made: thicker than the slab, which cuts them.
inline double figure_depth(const Domain& domain) { return 3 * domain.h; }

// A body of the relative density s with its centre at `place`; mirrors may cut it. Its contact piece is a
// crumb at its centre: nothing here touches anything but water.
inline Solid body_in_water(const Domain& domain, SolidShape shape, Vec3 place, double s) {
    Solid solid;
    solid.motion = Motion::rigid;
    solid.start.position = place;
    solid.rigid.mass = mass_properties(enclosed_moments(shape.mesh), s * water);
    const double share = domain.flat() ? domain.h / figure_depth(domain) : 1;
    solid.rigid.mass.mass *= share;
    solid.rigid.mass.inertia = solid.rigid.mass.inertia * share;
    const Box box = bounds(shape.mesh);
    ConvexPiece crumb;
    crumb.half = Vec3{1, 1, 1} * (1e-3 * (box.high.x - box.low.x));
    shape.pieces = {crumb};
    solid.shape = std::move(shape);
    solid.rigid.mirrored = mirrors_through(solid, domain, 0);
    return solid;
}

// Free to move up and down only.
inline constexpr Locks only_heave{true, false, true, true, true, true};

using TimeSeries = std::vector<std::array<double, 2>>;  // (t, value), by time

inline double value_at(const TimeSeries& series, double t) {
    std::size_t i = 1;
    while (i + 1 < series.size() && series[i][0] < t) ++i;
    const double share = (t - series[i - 1][0]) / (series[i][0] - series[i - 1][0]);
    return series[i - 1][1] + share * (series[i][1] - series[i - 1][1]);
}

// Where a series changes its sign, by straight lines between its points.
inline std::vector<double> zeros_of(const TimeSeries& series) {
    std::vector<double> zeros;
    for (std::size_t i = 1; i < series.size(); ++i) {
        const auto [t0, y0] = series[i - 1];
        const auto [t1, y1] = series[i];
        if (y0 * y1 < 0 || (y1 == 0 && y0 != 0)) zeros.push_back(t0 + (t1 - t0) * y0 / (y0 - y1));
    }
    return zeros;
}

}  // namespace flotsam

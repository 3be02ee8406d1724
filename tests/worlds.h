// Small worlds that several tests start from.
#pragma once

#include <cmath>

#include "sim/driver.h"

namespace flotsam::test {

// A box of `cells` cubic cells whose x side is 1 m long, filled up to `level`.
inline Scenario tank(Int3 cells, double level) {
    Scenario s;
    s.domain.cells = cells;
    s.domain.h = 1.0 / cells.x;
    s.liquid.fills.push_back({make_level(level), {}});
    return s;
}

// A column of water in the left part of a box: everything moves at once.
inline Scenario dam(Int3 cells) {
    Scenario s = tank(cells, 0);
    const Vec3 size = s.domain.size();
    s.liquid.fills = {{make_box({0, 0, 0}, {0.3 * size.x, 0.8 * size.y, size.z}), {}}};
    return s;
}

// A repeatable number in [-1, 1) for index i.
inline double noise(std::int64_t i) {
    const double s = std::sin(12.9898 * double(i) + 4.1414) * 43758.5453;
    return 2 * (s - std::floor(s)) - 1;
}

}  // namespace flotsam::test

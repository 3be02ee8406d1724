// Functions common to bodies made of nodes with masses.
#pragma once

#include <cmath>
#include <span>

#include "core/rotation.h"

namespace flotsam {

// Mass-weighted RMS distance of the nodes from a rigid placement of `rest` [m].
inline double distortion(const Pose& pose, std::span<const Vec3> now, std::span<const Vec3> rest,
                         std::span<const double> mass) {
    double sum = 0, total = 0;
    for (std::size_t n = 0; n < now.size(); ++n) {
        const Vec3 off = now[n] - pose.to_world(rest[n]);
        sum += mass[n] * dot(off, off);
        total += mass[n];
    }
    return std::sqrt(sum / total);
}

}  // namespace flotsam

// The cubic spline kernel (Monaghan 2005) in the plane and in space, each normalised for its own dimension.
//
// With q = r / h and (s)+ = max(s, 0) both of its pieces are one formula without branches,
//   W = k ((2 - q)+^3 - 4 (1 - q)+^3),   k = 5 / (14 pi h^2) in 2D and 1 / (4 pi h^3) in 3D,
// which is what lets many pairs be computed at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

namespace flotsam {

struct CubicSpline {
    double h = 1;  // smoothing length; nothing is felt beyond 2 h [m]
    double k = 1;  // [1/m^2] in 2D, [1/m^3] in 3D

    CubicSpline() = default;
    CubicSpline(double smoothing_length, bool flat)
        : h(smoothing_length),
          k(flat ? 5 / (14 * std::numbers::pi * h * h) : 1 / (4 * std::numbers::pi * h * h * h)) {}

    double support() const { return 2 * h; }
    double value(double r) const {
        const double a = std::max(2 - r / h, 0.0), b = std::max(1 - r / h, 0.0);
        return k * (a * a * a - 4 * b * b * b);
    }
    // The gradient at x_a of W(x_a - x_b) is this times (x_a - x_b). Never positive.
    double gradient_factor(double r) const {
        if (r == 0) return -12 * k / (h * h);
        const double a = std::max(2 - r / h, 0.0), b = std::max(1 - r / h, 0.0);
        return -3 * k * (a * a - 4 * b * b) / (h * r);
    }
};

}  // namespace flotsam

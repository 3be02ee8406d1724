// The cubic spline kernel (Monaghan 2005) in the plane and in space, each normalised for its own dimension.
//
// With q = r / h and (s)+ = max(s, 0) both of its pieces are one formula without branches,
//   W = k ((2 - q)+^3 - 4 (1 - q)+^3),   k = 5 / (14 pi h^2) in 2D and 1 / (4 pi h^3) in 3D,
// which is what lets many pairs be computed at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

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

// How much of a kernel lies beyond a plane at a distance from its centre: half of it for a plane through the
// centre, nothing from two smoothing lengths on.
class KernelBeyondPlane {
  public:
    KernelBeyondPlane() = default;
    KernelBeyondPlane(const CubicSpline& kernel, bool flat)
        : support_(kernel.support()), share_(entries + 1) {
        // Of the ring or shell at r, the part beyond the plane is acos(d/r)/pi or (1 - d/r)/2.
        constexpr int pieces = 400;
        for (int n = 0; n < entries; ++n) {
            const double d = support_ * n / entries, dr = (support_ - d) / pieces;
            for (int i = 0; i < pieces; ++i) {
                const double r = d + (i + 0.5) * dr;
                const double beyond = flat ? 2 * r * std::acos(d / r) : 2 * std::numbers::pi * r * (r - d);
                share_[n] += kernel.value(r) * beyond * dr;
            }
        }
    }
    double operator()(double distance) const {
        const double at = std::min(std::abs(distance) / support_, 1.0) * entries;
        const int n = std::min(int(at), entries - 1);
        const double share = share_[n] + (at - n) * (share_[n + 1] - share_[n]);
        return distance < 0 ? 1 - share : share;
    }

  private:
    static constexpr int entries = 256;
    double support_ = 1;
    std::vector<double> share_;
};

}  // namespace flotsam

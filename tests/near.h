// One number compared with another, within a tolerance that says what it is relative to:
//     CHECK(volume == near(0.064).relative(1e-3));
//     CHECK(drift == near(0).absolute(1e-9));
// doctest's Approx adds 1 to what its tolerance is relative to, so that next to a small number zero passes.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace flotsam {

class Near {
  public:
    Near(double reference, double tolerance, bool relative)
        : reference_(reference), tolerance_(tolerance), relative_(relative) {
        if (!std::isfinite(reference)) throw std::logic_error("near: the reference is no number");
        if (relative && reference == 0)
            throw std::logic_error("near: nothing is relative to 0: give an absolute tolerance");
        if (!(tolerance > 0) || (relative && !(tolerance < 1)))
            throw std::logic_error(
                "near: zero would pass, or nothing could: give a tolerance between 0 and 1");
    }
    // False for a value that is not a number, whatever the tolerance.
    friend bool operator==(double value, const Near& near) {
        return std::abs(value - near.reference_) <= near.allowed();
    }
    friend doctest::String toString(const Near& near) {
        std::ostringstream text;
        text.precision(std::numeric_limits<double>::max_digits10);
        text << near.reference_ << " within ";
        text.precision(3);
        text << near.tolerance_ << (near.relative_ ? " of that" : "");
        return text.str().c_str();
    }

  private:
    double allowed() const { return relative_ ? tolerance_ * std::abs(reference_) : tolerance_; }
    double reference_, tolerance_;
    bool relative_;
};

// Not comparable itself: a tolerance must be named.
struct NearReference {
    double reference;
    Near relative(double tolerance) const { return {reference, tolerance, true}; }
    Near absolute(double tolerance) const { return {reference, tolerance, false}; }
};
inline NearReference near(double reference) { return {reference}; }

}  // namespace flotsam

// Wall-clock time, for the audit and the benchmarks; never for physics.
#pragma once

#include <chrono>

namespace flotsam {

class Stopwatch {
  public:
    // Milliseconds since the start or the last lap.
    double lap() {
        const auto now = std::chrono::steady_clock::now();
        const double ms = std::chrono::duration<double, std::milli>(now - start_).count();
        start_ = now;
        return ms;
    }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace flotsam

// Asking for a linear solve and hearing how it went. A solver never fails silently.
#pragma once

#include <string>

namespace flotsam {

struct SolveTolerance {
    double relative = 1e-8;  // of the right-hand side's norm
    double absolute =
        1e-13;  // RMS residual that counts as none: water at rest has nothing but rounding to solve for
    int max_iterations = 2000;
};

struct SolverSettings {
    std::string name = "multigrid";  // or "iccg"
    SolveTolerance tolerance;
};

struct [[nodiscard]] SolveReport {
    bool converged = true;
    int iterations = 0;
    double residual = 0;  // relative to the right-hand side
};

}  // namespace flotsam

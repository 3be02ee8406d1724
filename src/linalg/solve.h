// Asking for a linear solve and hearing how it went. A solver never fails silently.
#pragma once

#include <functional>
#include <string>

namespace flotsam {

struct SolveTolerance {
    double relative = 1e-8;  // of the right-hand side's norm
    double absolute =
        1e-13;  // RMS residual that counts as none: water at rest has nothing but rounding to solve for
    int max_iterations = 2000;
};

// Halfway through a solve, when the residual is `relative` to the right-hand side's norm, x is a rough
// solution: `stop` may look at it and say that another right-hand side is wanted. If not, the solve goes on.
struct Pause {
    double relative = 0;
    std::function<bool()> stop{};
};

struct CoupledSystem;

struct SolverSettings {
    std::string name = "multigrid";  // or "iccg", or one of coupled_forms.h
    SolveTolerance tolerance;
    double alpha = 0.001;  // scale of velocities against pressures in "spd"; 0 chooses it [Zarifi17 5.2.5]
    // Shown what those of coupled_forms.h solve, with all that any of them needs: for benchmarks and tests.
    std::function<void(const CoupledSystem&)> inspect{};
};

struct [[nodiscard]] SolveReport {
    bool converged = false;  // x is as exact as was asked for: a solver says so itself, when it has seen it
    int iterations = 0;
    double residual = 0;      // of x, relative to the right-hand side; 0 where that counts as none
    double milliseconds = 0;  // from setting up to the answer, where it was measured
    bool stopped = false;     // by a Pause: x is no more than a rough solution
};

}  // namespace flotsam

// Asking for a linear solve and hearing how it went. A solver never fails silently.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

namespace flotsam {

struct SolveTolerance {
    double relative = 1e-8;  // of the right-hand side's norm
    double absolute =
        1e-13;  // RMS residual that counts as none: water at rest has nothing but rounding to solve for
    int max_iterations = 2000;
};

// The last four are the forms of coupled_forms.h, to compare with.
enum class Solver { multigrid, iccg, spd, factored, indefinite_bicgstab, indefinite_minres };
// As scene files call them, in the same order.
constexpr std::array<std::string_view, 6> solver_names{
    "multigrid", "iccg", "spd", "factored", "indefinite-bicgstab", "indefinite-minres"};
inline Solver solver_named(std::string_view name) {  // which must be one of them
    return Solver(std::find(solver_names.begin(), solver_names.end(), name) - solver_names.begin());
}

struct CoupledSystem;

struct SolverSettings {
    Solver solver = Solver::multigrid;
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
};

}  // namespace flotsam

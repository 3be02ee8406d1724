// Settings and reports of linear solves. A solver never fails silently.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

namespace flotsam {

struct SolveTolerance {
    double relative = 1e-8;  // of the right-hand side's norm
    double absolute =
        1e-13;  // RMS residual that counts as zero: for water at rest the right-hand side is only rounding
    int max_iterations = 2000;
};

// The last four are the forms of coupled_forms.h, for comparison.
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
    // Called with the system of the solvers of coupled_forms.h, complete for every form: for benchmarks and
    // tests.
    std::function<void(const CoupledSystem&)> inspect{};
};

struct [[nodiscard]] SolveReport {
    bool converged = false;  // x meets the tolerance; set by the solver itself, once it has checked
    int iterations = 0;
    double residual = 0;      // of x, relative to the right-hand side; 0 where that counts as zero
    double milliseconds = 0;  // including the setup, where it was measured
};

}  // namespace flotsam

// The linear solve for the pressure and the solids' velocities, by the solver that the settings name.
#pragma once

#include <optional>
#include <vector>

#include "fluid/grid/pressure_stages.h"
#include "fluid/grid/pressure_system.h"
#include "linalg/coupled_solver.h"
#include "linalg/multigrid.h"
#include "linalg/solid_system.h"
#include "linalg/solve.h"

namespace flotsam {

class PressureSolver {
  public:
    // Makes the preconditioner for these solids; the blocks of later solves may differ slightly. `sealed` are
    // the pockets whose volume cannot change. The system must outlive this.
    PressureSolver(const PressureSystem& system, std::vector<Pocket> sealed, const SolidSystem& solids,
                   const SolverSettings& settings, double dt);

    // Starts a solve of A x + J v = b. `x` is the first guess and the result; solids and x must outlive the
    // solve.
    void begin(const SolidSystem& solids, std::vector<double> b, std::vector<double>& x);
    // Whether `improve` can stop at a rough solution, as only some solvers can.
    bool can_pause() const { return iteration_.has_value(); }
    void improve(double relative);
    SolveReport finish();

    // The solids' velocity at x.
    const SolidVelocities& velocity() const { return velocity_; }
    const std::vector<Pocket>& sealed() const { return sealed_; }
    // Sum of the absolute net fluxes of sealed pockets, which were removed from b [m^3/s].
    double removed_flux() const { return removed_flux_; }

  private:
    SolveReport solve_written_out();
    SolveReport solve_keeping();

    const PressureSystem& system_;
    std::vector<Pocket> sealed_;
    SolverSettings settings_;
    double dt_;
    std::optional<Multigrid> multigrid_;
    const SolidSystem* solids_ = nullptr;
    std::vector<double>* x_ = nullptr;
    std::vector<double> rhs_;
    std::optional<EliminatedSolve> iteration_;
    SolidVelocities velocity_;
    double removed_flux_ = 0;
    int iterations_ = 0;  // of all solves
};

// One solve with solids that respond linearly, or none: right-hand side, solve, gradient, loads. `u` becomes
// divergence-free but for `source`, `guess` is the initial potential. `sealed` as above.
struct PressureUpdate : LiquidUpdate {
    SolveReport solve;
    SolidVelocities velocity;
    double removed_flux = 0;  // [m^3/s]
};
PressureUpdate solve_pressure(const PressureSystem& system, const Field<double>& source, double dt,
                              const SolverSettings& settings, MacGrid& u, const Field<double>& guess,
                              const SolidSystem& solids, std::vector<Pocket> sealed);
PressureUpdate solve_pressure(const PressureSystem& system, const Field<double>& source, double dt,
                              const SolverSettings& settings, MacGrid& u, const Field<double>& guess);

}  // namespace flotsam

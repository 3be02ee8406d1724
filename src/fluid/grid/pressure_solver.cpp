#include "fluid/grid/pressure_solver.h"

#include <utility>

#include "core/stopwatch.h"
#include "linalg/coupled_forms.h"

namespace flotsam {

PressureSolver::PressureSolver(const PressureSystem& system, std::vector<Pocket> sealed,
                               const SolidSystem& solids, const SolverSettings& settings, double dt)
    : system_(system), sealed_(std::move(sealed)), settings_(settings), dt_(dt) {
    if (settings.solver == Solver::multigrid)
        multigrid_.emplace(system.network, solids.rank_six_terms(system.network.slot_count()),
                           solids.ground_links());
}

void PressureSolver::begin(const SolidSystem& solids, std::vector<double> b, std::vector<double>& x) {
    solids_ = &solids;
    x_ = &x;
    rhs_ = std::move(b);
    solids.add_outflow(solids.known_velocity(), -1, rhs_);
    removed_flux_ = remove_net_flux(sealed_, rhs_) * system_.domain->h * system_.domain->h;
    if (iteration_) iterations_ += iteration_->iterations();  // of an abandoned solve
    iteration_.reset();
    if (multigrid_ && !solids.nodes.kept())
        iteration_.emplace(system_.network, solids, *multigrid_, rhs_, x, settings_.tolerance);
}

void PressureSolver::improve(double relative) {
    iteration_->improve(relative);
    velocity_ = solids_->velocity(*x_, std::move(velocity_));
}

SolveReport PressureSolver::finish() {
    SolveReport report;
    if (iteration_)
        report = iteration_->finish(), iteration_.reset();
    else if (solids_->nodes.equation)
        report = solve_written_out();
    else if (multigrid_)
        report = solve_keeping();
    else
        report = solve_iccg(system_.network, solids_->rigid.eliminated(), rhs_, *x_, settings_.tolerance);
    velocity_ = solids_->velocity(*x_, std::move(velocity_));
    report.iterations = iterations_ += report.iterations;
    return report;
}

SolveReport PressureSolver::solve_keeping() {
    const std::vector<Vec3>& from = solids_->nodes.from;
    std::vector<Vec3> d(from.size());  // v - from, starting at the last result
    for (std::size_t n = 0; n < velocity_.nodes.size(); ++n) d[n] = velocity_.nodes[n] - from[n];
    const SolveReport report =
        solve_keeping_nodes(system_.network, *solids_, *multigrid_, rhs_, *x_, d, settings_.tolerance);
    velocity_.nodes = from;
    for (std::size_t n = 0; n < d.size(); ++n) velocity_.nodes[n] += d[n];
    return report;
}

// Liquid and solids as one system of pressures and velocities [Zarifi17 Eq. 5.15-5.16].
SolveReport PressureSolver::solve_written_out() {
    const double h = system_.domain->h, to_pressure = system_.density * h / dt_;
    SolverSettings settings = settings_;
    if (settings.solver == Solver::iccg) settings.solver = Solver::spd;
    settings.tolerance.absolute *= h * h;
    AssembledNetwork assembled = assemble(system_.network);
    const std::vector<std::int64_t> cell = std::move(assembled.cell_index);
    CoupledSystem coupled{
        std::move(assembled.matrix), solids_->nodes.interface.entries(), *solids_->nodes.equation, dt_, {}};
    std::vector<std::uint32_t> row(rhs_.size());
    for (const std::int64_t n : cell) {
        row[n] = std::uint32_t(coupled.rhs.size());
        coupled.rhs.push_back(h * h * rhs_[n]);
    }
    for (double& value : coupled.liquid.value) value *= dt_ * h / system_.density;
    for (InterfaceEntry& entry : coupled.interface)
        entry.cell = row[entry.cell], entry.area = h * h * entry.area;
    if (settings.inspect) settings.inspect(coupled);
    std::vector<double> p(cell.size());
    for (std::size_t r = 0; r < p.size(); ++r) p[r] = to_pressure * (*x_)[cell[r]];
    velocity_.nodes.resize(solids_->nodes.from.size());
    const SolveReport report = solve(coupled, settings, p, velocity_.nodes);
    for (std::size_t r = 0; r < p.size(); ++r) (*x_)[cell[r]] = p[r] / to_pressure;
    return report;
}

PressureUpdate solve_pressure(const PressureSystem& system, const Field<double>& source, double dt,
                              const SolverSettings& settings, MacGrid& u, const Field<double>& guess,
                              const SolidSystem& solids, std::vector<Pocket> sealed) {
    PressureUpdate update;
    add_density_force(system, dt, u);
    stop_at_closed_sides(u, *system.domain);
    std::vector<double> b = right_hand_side(system, source, u, dt);
    std::vector<double> x = first_guess(system, guess, dt);
    Stopwatch watch;
    PressureSolver solver(system, std::move(sealed), solids, settings, dt);
    solver.begin(solids, std::move(b), x);
    update.solve = solver.finish();
    update.solve.milliseconds = watch.lap();
    update.velocity = solver.velocity();
    update.removed_flux = solver.removed_flux();
    const std::vector<double> beside = outflow_of(solids, update.velocity, x.size());
    static_cast<LiquidUpdate&>(update) =
        apply_pressure(system, source, solver.sealed(), beside, dt, std::move(x), u);
    return update;
}

PressureUpdate solve_pressure(const PressureSystem& system, const Field<double>& source, double dt,
                              const SolverSettings& settings, MacGrid& u, const Field<double>& guess) {
    return solve_pressure(system, source, dt, settings, u, guess, {}, system.sealed);
}

}  // namespace flotsam

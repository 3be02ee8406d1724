#include "fluid/grid/projection.h"

#include <algorithm>
#include <optional>

#include "core/check.h"
#include "core/stopwatch.h"
#include "fluid/grid/pressure_stages.h"
#include "fluid/grid/solid_terms.h"
#include "linalg/multigrid.h"

namespace flotsam {

ProjectionReport project(const PressureSystem& system, const Field<double>& source, double dt,
                         const SolverSettings& solver, MacGrid& u, Field<double>& potential,
                         std::array<Field<char>, 3>& changed, const Movables& movables) {
    std::vector<MovableBody> none;
    std::vector<MovableBody>& bodies = movables.bodies ? *movables.bodies : none;
    const BodyResponse& respond = movables.respond;
    const Domain& domain = *system.domain;

    stop_at_closed_sides(u, domain);
    const std::vector<double> b = right_hand_side(system, source, u, dt);
    std::vector<double> x = first_guess(system, potential, dt);

    BodyTerm body_term(system, bodies, dt);
    const bool assembled = solver.name == "iccg" || coupled_form(solver.name);
    YieldingTerm yielding_term(system, movables.yielding, dt, assembled);
    FLOTSAM_CHECK(!yielding_term.together() || bodies.empty());  // the loader refuses them
    std::vector<Pocket> sealed = body_term.sealed();
    yielding_term.keep_sealed(sealed);

    ProjectionReport report;
    Stopwatch watch;
    if (!yielding_term.linearize()) return report;
    std::optional<Multigrid> multigrid;
    if (!assembled)
        multigrid.emplace(system.network, body_term.modes(),
                          yielding_term.answers() ? &yielding_term : nullptr, yielding_term.guess());
    const auto solve_once = [&](const Pause& pause = {}) {
        std::vector<double> rhs = b;
        body_term.add_known_outflow(rhs, -1);
        yielding_term.add_known_outflow(rhs, -1);
        report.removed_flux = remove_net_flux(sealed, rhs) * domain.h * domain.h;
        const int before = report.solve.iterations;
        if (yielding_term.together())
            report.solve = yielding_term.solve_together(system, dt, solver, rhs, x);
        else if (assembled)
            report.solve = solve_iccg(system.network, body_term.modes(), rhs, x, solver.tolerance);
        else if (yielding_term.dear())
            report.solve = yielding_term.solve_keeping(*multigrid, rhs, x, solver.tolerance);
        else
            report.solve = multigrid->solve(rhs, x, solver.tolerance, pause);
        report.solve.iterations += before;
        body_term.move(x);
        yielding_term.move(x);
    };
    const auto agree = [&](int most_rounds) {
        report.contacts_agreed = false;
        for (int round = 0; round < most_rounds && report.solve.converged; ++round) {
            report.contacts_agreed = !respond(bodies);
            if (report.contacts_agreed) return;
            solve_once();
        }
    };
    // Contacts and the pressure agree after a few rounds, each from where the last one ended. Until they do,
    // a rough solution is enough for them to be found.
    if (respond && multigrid && !yielding_term.dear()) {
        bool changed_motion = true;
        const Pause rough{std::max(solver.tolerance.relative, 1e-3), [&] {
                              body_term.move(x);
                              yielding_term.move(x);
                              return changed_motion = respond(bodies);
                          }};
        for (int round = 0; round < 6 && changed_motion; ++round) {  // a solve that fails asks for no more
            changed_motion = false;
            solve_once(rough);
        }
        if (changed_motion) solve_once();
        agree(2);
    } else {
        solve_once();
        if (respond) agree(8);
    }
    // What came out may change the elastic solids' equation: where they touch something, or how far they
    // turn.
    while (report.solve.converged) {
        if (!yielding_term.take(x)) break;
        if (!yielding_term.linearize()) {
            report.solve.converged = false;
            return report;
        }
        solve_once();
        if (respond) agree(2);
    }
    report.crusher = find_crusher(system, sealed, dt);
    report.solve.milliseconds = watch.lap();
    std::vector<double> pushed_out;  // of each cell by what moved
    if (!bodies.empty() || yielding_term) {
        pushed_out.assign(x.size(), 0.0);
        body_term.add_outflow(pushed_out, 1);
        yielding_term.add_outflow(pushed_out, 1);
    }
    set_lowest_pressure(system, sealed, dt, x);
    subtract_gradient(system, std::move(x), dt, u, potential, changed);
    report.largest_divergence = largest_divergence(system, source, u, pushed_out);
    InterfaceLoads loads = interface_loads(system, potential, dt);
    report.wall_impulse = loads.wall_impulse;
    report.loads = std::move(loads.solids);
    return report;
}

}  // namespace flotsam

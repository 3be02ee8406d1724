// The dam break with a hanging beam of Zarifi 2017: Tables 6.2 to 6.4, and our own solver beside them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "bench/bench.h"
#include "linalg/coupled_forms.h"
#include "scene/scene.h"
#include "sim/driver.h"

namespace flotsam {

namespace {

using Report = std::function<void(const BenchRow&)>;

// The thesis gives neither sizes nor material, but for the distance of the nodes: 1/25 m in the coarse beam,
// 1/50 m in the fine one. A column of 0.3 m^3 gives about its number of non-zeros.
struct Setup {
    int grid;
    Int3 cells;              // of the beam, six tetrahedra each
    double place = 0.6;      // of the beam along x: before the column of water, or in it
    double stiffness = 2e5;  // [Pa]
    bool fixed = false;      // the beam is no more than an obstacle

    int nodes() const { return (cells.x + 1) * (cells.y + 1) * (cells.z + 1); }
    std::string name() const { return fmt::format("{}^3, {} nodes", grid, nodes()); }
};
constexpr Int3 coarse{2, 14, 2}, medium{3, 21, 3}, fine{4, 28, 4}, large{19, 133, 19};

Scenario dam_break(const Setup& setup) {
    const std::string beam = fmt::format(R"(motion = "elastic"
density = 1000
stiffness = {}
elastic = {{ cells = [{}, {}, {}], poisson = 0.4, newton_steps = 1 }}
[[solid.pin]]
box = {{ min = [0, 0.675, 0.4], max = [1, 0.685, 0.6] }})",
                                         setup.stiffness, setup.cells.x, setup.cells.y, setup.cells.z);
    return parse_scene(fmt::format(R"(
[scene]
duration = 4
[domain]
size = [1, 1, 1]
resolution = {}
[[liquid.fill]]
box = {{ min = [0, 0, 0], max = [0.4, 0.75, 1.0] }}
[solver]
tolerance = 1e-10
max_iterations = 100000
[[solid]]
name = "beam"
shape = {{ box = [0.08, 0.56, 0.08] }}
position = [{}, 0.4, 0.5]
{}
)",
                                   setup.grid, setup.place, setup.fixed ? "" : beam),
                       "dam_break.toml")
        .scenario;
}

struct Cost {
    double solve = 0, stage = 0, step = 0;  // the solid's factors, setting up and solving; all about pressure
    double iterations = 0;
    bool converged = true;
};

// Steps of one run, at a few moments, each done again in other ways from the same state.
class Moments {
  public:
    explicit Moments(const Scenario& scenario)
        : scenario_(scenario), driver_(scenario_, make_scheme("cut-cell")) {
        driver_.start();
    }
    void go_to(double time) {
        while (driver_.world().time < time) dt_ = driver_.advance().second;
    }
    // Shows the system of the step's first round.
    void inspect(const std::function<void(const CoupledSystem&)>& look) {
        Scenario scenario = scenario_;
        scenario.solver.solver = Solver::spd;
        bool seen = false;
        scenario.solver.inspect = [&](const CoupledSystem& system) {
            if (!std::exchange(seen, true)) look(system);
        };
        (void)step(scenario);
    }
    Cost cost(const std::string& solver) {
        Scenario scenario = scenario_;
        scenario.solver.solver = solver_named(solver);
        return cost_of(step(scenario));
    }
    // The best of three: what else the machine does lengthens some. Another method may do the step.
    Cost best_cost(const std::string& method) {
        const std::unique_ptr<Scheme> scheme = make_scheme(method);
        const World& now = driver_.world();
        Cost best;
        for (int k = 0; k < 3; ++k) {
            const Cost cost = cost_of(scheme->step(now, next_, {scenario_, now.time, dt_, now.step}));
            if (k == 0 || cost.step < best.step) best = cost;
        }
        return best;
    }

  private:
    static Cost cost_of(const StepReport& report) {
        Cost cost;
        cost.converged = report.solve.converged;
        cost.iterations = report.solve.iterations;
        cost.solve = 1e-3 * report.solve.milliseconds;
        for (const StageTime& stage : report.stages) {
            cost.step += 1e-3 * stage.milliseconds;
            if (stage.stage == std::string("pressure")) cost.stage += 1e-3 * stage.milliseconds;
        }
        return cost;
    }
    StepReport step(const Scenario& scenario) {
        const World& now = driver_.world();
        return driver_.scheme().step(now, next_, {scenario, now.time, dt_, now.step});
    }

    Scenario scenario_;
    Driver driver_;
    World next_;
    double dt_ = 0;
};

// Table 6.2, with MINRES, of which the thesis says that it was slower than BiCGSTAB, and our own solver.
void compare_forms(const Setup& setup, const std::vector<double>& times, std::array<double, 6> thesis,
                   const Report& report) {
    Moments moments(dam_break(setup));
    const std::string name = setup.name();
    const double share = 1 / double(times.size());
    std::map<CoupledForm, double> nonzeros, condition;
    double scaled_condition = 0;
    std::map<std::string, Cost> costs;
    for (const double time : times) {
        moments.go_to(time);
        for (const std::string solver : {"multigrid", "spd", "indefinite-bicgstab", "indefinite-minres"}) {
            Cost cost = moments.cost(solver);
            // What else the machine does lengthens some; the two that are compared get three tries each.
            for (int k = 0; k < 2 && (solver == "multigrid" || solver == "spd"); ++k) {
                const Cost again = moments.cost(solver);
                cost.solve = std::min(cost.solve, again.solve);
                cost.stage = std::min(cost.stage, again.stage);
            }
            Cost& mean = costs[solver];
            mean.solve += share * cost.solve;
            mean.stage += share * cost.stage;
            mean.iterations += share * cost.iterations;
            mean.converged &= cost.converged;
        }
        moments.inspect([&](const CoupledSystem& system) {
            for (const CoupledForm form : {CoupledForm::indefinite, CoupledForm::spd}) {
                nonzeros[form] += share * double(assemble(system, form, 0.001).nonzeros());
            }
            // Once is enough: its logarithm hardly changes, and each takes as long as some five solves.
            if (time != times.back()) return;
            condition[CoupledForm::spd] = log_condition(system, CoupledForm::spd, 0.001);
            condition[CoupledForm::indefinite] = log_condition(system, CoupledForm::indefinite, 1);
            scaled_condition = log_condition(system, CoupledForm::indefinite, 0.001);
        });
    }
    const auto solved = [&](const std::string& solver) {
        return costs[solver].converged ? "" : " (not converged)";
    };
    report({name + ", non-zeros, indefinite", nonzeros[CoupledForm::indefinite], "1", thesis[0], "thesis"});
    report({name + ", non-zeros, SPD", nonzeros[CoupledForm::spd], "1", thesis[1], "thesis"});
    report({name + ", log10 of condition, indefinite", condition[CoupledForm::indefinite], "1", thesis[2],
            "thesis"});
    report({name + ", the same, scaled by alpha too", scaled_condition, "1"});
    report({name + ", log10 of condition, SPD", condition[CoupledForm::spd], "1", thesis[3], "thesis"});
    report({name + ", indefinite, BiCGSTAB" + solved("indefinite-bicgstab"),
            costs["indefinite-bicgstab"].solve, "s", thesis[4], "thesis"});
    report({name + ", indefinite, MINRES" + solved("indefinite-minres"), costs["indefinite-minres"].solve,
            "s", costs["indefinite-bicgstab"].solve, "BiCGSTAB"});
    report({name + ", SPD, ICCG" + solved("spd"), costs["spd"].solve, "s", thesis[5], "thesis"});
    for (const std::string solver : {"indefinite-bicgstab", "indefinite-minres", "spd", "multigrid"})
        report({name + ", iterations, " + solver, costs[solver].iterations, "1"});
    report({name + ", ours" + solved("multigrid"), costs["multigrid"].solve, "s", costs["spd"].solve,
            "SPD, ICCG"});
    report({name + ", SPD over ours", costs["spd"].solve / costs["multigrid"].solve, "1"});
    report({name + ", the same, all about pressure", costs["spd"].stage / costs["multigrid"].stage, "1"});
}

// A row of Tables 6.3 and 6.4: whole steps and non-zeros, SPD and factored.
void compare_factored(const Setup& setup, double time, std::array<double, 4> thesis, const Report& report) {
    Moments moments(dam_break(setup));
    moments.go_to(time);
    const std::string name = setup.name();
    const Cost spd = moments.cost("spd"), factored = moments.cost("factored"),
               own = moments.cost("multigrid");
    double nonzeros = 0, factored_nonzeros = 0;
    moments.inspect([&](const CoupledSystem& system) {
        nonzeros = double(assemble(system, CoupledForm::spd, 0.001).nonzeros());
        factored_nonzeros = double(assemble(system, CoupledForm::factored, 0.001).nonzeros());
    });
    const auto solved = [](const Cost& cost) { return cost.converged ? "" : " (not converged)"; };
    report({name + ", step, SPD" + solved(spd), spd.step, "s", thesis[0], "thesis"});
    report({name + ", step, factored" + solved(factored), factored.step, "s", thesis[1], "thesis"});
    report({name + ", step, ours" + solved(own), own.step, "s", spd.step, "step, SPD"});
    report({name + ", non-zeros, SPD", nonzeros, "1", thesis[2], "thesis"});
    report({name + ", non-zeros, factored", factored_nonzeros, "1", thesis[3], "thesis"});
}

// The solver as scenes use it. What is plain is the same liquid around the same beam, which does not answer
// to the pressure within the solve.
void compare_plain(const Setup& setup, double time, double thesis, const Report& report) {
    Scenario scenario = dam_break(setup);
    scenario.solver.tolerance = {};
    Moments moments(scenario);
    moments.go_to(time);
    const std::string name = setup.name();
    const Cost coupled = moments.best_cost("cut-cell"), plain = moments.best_cost("cut-cell-weak");
    report({name + ", step", coupled.step, "s", thesis, "thesis"});
    report({name + ", solve", coupled.solve, "s", plain.solve, "plain"});
    report({name + ", iterations", coupled.iterations, "1", plain.iterations, "plain"});
    report({name + ", step, plain", plain.step, "s", coupled.step, "step"});
}

// What a mesh costs that is larger than the thesis's by far, beside all that the liquid costs around a beam
// that stands still.
void add_large_mesh(const Report& report) {
    const auto cost = [](const Setup& setup) {
        Scenario scenario = dam_break(setup);
        scenario.solver.tolerance = {};
        Moments moments(scenario);
        moments.go_to(0.05);
        return moments.best_cost("cut-cell");
    };
    Setup setup{128, large, 0.2, 1e6};
    const std::string name = setup.name();
    const Cost elastic = cost(setup);
    setup.fixed = true;
    const Cost liquid = cost(setup);
    report({name + ", step of the liquid alone", liquid.step, "s"});
    report({name + ", what the mesh adds", elastic.step - liquid.step, "s", liquid.step, "the liquid"});
    report({name + ", solve", elastic.solve, "s", liquid.solve, "the liquid"});
    report({name + ", iterations", elastic.iterations, "1", liquid.iterations, "the liquid"});
}

}  // namespace

void bench_elastic_solve(bool quick, const Report& report) {
    compare_plain(quick ? Setup{40, coarse} : Setup{100, fine}, 0.3, quick ? 0 : 18, report);
    if (!quick) add_large_mesh(report);
}

void bench_zarifi(bool quick, const Report& report) {
    if (quick) {  // a grid that the thesis does not have
        compare_forms({24, coarse}, {0.3}, {}, report);
        compare_factored({24, coarse}, 0.3, {}, report);
        return;
    }
    // The water has reached the beam; it runs up the wall behind it.
    const std::vector<double> times{0.3, 0.6};
    report({"Table 6.2: steps averaged over", double(times.size()), "1", 100, "thesis"});
    compare_forms({40, coarse}, times, {157498, 185503, 8.347, 10.497, 1.635, 1.813}, report);
    compare_forms({60, medium}, times, {499787, 610697, 8.579, 11.311, 16.121, 8.292}, report);
    compare_forms({80, fine}, times, {1177419, 1439173, 8.819, 11.497, 100.875, 28.020}, report);
    report({"Tables 6.3 and 6.4: steps averaged over", 1, "1", 100, "thesis"});
    struct Row {
        int grid;
        std::array<double, 4> coarse,
            fine;  // SPD, factored: time [s] and non-zeros; 0 where we cannot read it
    };
    for (const Row& row : {Row{50, {5.33, 6.69, 317505, 814424}, {14.15, 0, 624387, 0}},
                           Row{60, {9.51, 9.90, 501430, 998372}, {19.76, 32.02, 807789, 5838273}},
                           Row{70, {15.75, 15.32, 795668, 1218020}, {29.89, 36.98, 1095644, 6130135}},
                           Row{80, {23.54, 22.21, 1128123, 1545752}, {44.04, 47.87, 1425174, 6456548}},
                           Row{90, {35.93, 31.56, 1565587, 1985347}, {59.09, 58.76, 1856102, 6890398}}}) {
        compare_factored({row.grid, coarse}, 0.3, row.coarse, report);
        compare_factored({row.grid, fine}, 0.3, row.fine, report);
    }
}

}  // namespace flotsam

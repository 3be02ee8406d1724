// Rigid bodies in a pool against the same pool with the same solids held fast.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <memory>

#include "bench/bench.h"
#include "geometry/solid_shape.h"
#include "sim/driver.h"
#include "validate/case_tools.h"

namespace flotsam {

namespace {

using Report = std::function<void(const BenchRow&)>;

// A pool with a column of water that breaks down beside it, so that a pool of fixed solids has work to do
// too.
Scenario sloshing_pool(int n) {
    Scenario s = box_of_water({n, n, n}, 1.0, make_level(0.7));
    s.liquid.fills.push_back({make_box({-1, -1, -1}, {0.3, 0.9, 2}), {}});
    s.time.duration = 1e6;
    return s;
}

void add_body(Scenario& s, const SolidShape& shape, Vec3 position, double density) {
    Solid solid;
    solid.name = fmt::format("body {}", s.solids.size());
    solid.motion = Motion::rigid;
    solid.shape = shape;
    solid.start.position = position;
    solid.rigid.mass = mass_properties(enclosed_moments(shape.mesh), density);
    s.solids.push_back(std::move(solid));
}

// Crates in rows, at the corners of a lattice around the middle of the pool's water.
void add_crates(Scenario& s, Int3 rows, double edge, double spacing, double density) {
    const SolidShape crate = solid_box({edge, edge, edge});
    for (int k = 0; k < rows.z; ++k)
        for (int j = 0; j < rows.y; ++j)
            for (int i = 0; i < rows.x; ++i)
                add_body(s, crate,
                         Vec3{0.5, 0.35, 0.5} +
                             Vec3{i - 0.5 * (rows.x - 1), j - 0.5 * (rows.y - 1), k - 0.5 * (rows.z - 1)} *
                                 spacing,
                         density);
}

struct PoolCost {
    double step = 0, solve = 0, iterations = 0;  // per step [ms]
    std::map<std::string, double> stages;        // per step [ms]
};

Scenario held_fast(Scenario s) {
    for (Solid& solid : s.solids) solid.motion = Motion::fixed;
    return s;
}

// The mean over some steps of each pool, after two for warming up. They take turns, so that what else the
// machine does slows both alike.
std::vector<PoolCost> run_pools(const std::vector<Scenario>& pools, int steps) {
    std::vector<std::unique_ptr<Driver>> drivers;
    for (const Scenario& s : pools) {
        drivers.push_back(std::make_unique<Driver>(s, make_scheme("cut-cell")));
        drivers.back()->start();
    }
    std::vector<PoolCost> costs(pools.size());
    for (int n = -2; n < steps; ++n)
        for (std::size_t p = 0; p < pools.size(); ++p) {
            const auto [report, dt] = drivers[p]->advance();
            if (n < 0) continue;
            PoolCost& cost = costs[p];
            for (const StageTime& stage : report.stages) {
                cost.stages[stage.stage] += stage.milliseconds / steps;
                cost.step += stage.milliseconds / steps;
            }
            cost.iterations += double(report.solve.iterations) / steps;
            cost.solve = cost.stages.at("pressure");
        }
    return costs;
}

// Runs both pools and reports them; returns what the free bodies cost beyond the held ones [ms per step].
double compare(const std::string& name, const Scenario& s, int steps, const Report& report) {
    const std::vector<Scenario> pools{held_fast(s), s};
    const std::vector<PoolCost> costs = run_pools(pools, steps);
    const PoolCost &held = costs[0], &free = costs[1];
    report({name + ", pressure and contacts", free.solve, "ms", held.solve, "held fast"});
    report({name + ", iterations", free.iterations, "1", held.iterations, "held fast"});
    for (const auto& [stage, ms] : free.stages)
        if (stage != "pressure") report({name + ", " + stage, ms, "ms", held.stages.at(stage), "held fast"});
    report({name + ", step", free.step, "ms", held.step, "held fast"});
    report({name + ", coupling beside the solve", free.step - free.solve - held.step + held.solve, "ms",
            held.step, "whole step, held fast"});
    return free.step - held.step;
}

}  // namespace

void bench_rigid(bool quick, const Report& report) {
    const int n = quick ? 48 : 128, steps = quick ? 1 : 6;
    const double h = 1.0 / n;
    Scenario balls = sloshing_pool(n);
    for (int b = 0; b < 24; ++b) {
        const Int3 place{b % 4, b / 4 % 2, b / 8};
        add_body(balls, solid_sphere(0.06, 0.5 * h),
                 Vec3{0.15 + 0.23 * place.x, 0.2 + 0.22 * place.y, 0.2 + 0.3 * place.z},
                 1000 * 0.1 * std::pow(50.0, b / 23.0));
    }
    compare("24 balls", balls, steps, report);

    double previous = 0;
    for (const int count : quick ? std::vector{10} : std::vector{10, 100, 1000}) {
        const Int3 rows = count == 10 ? Int3{5, 2, 1} : count == 100 ? Int3{5, 4, 5} : Int3{10, 10, 10};
        Scenario crates = sloshing_pool(n);
        add_crates(crates, rows, 6 * h, 8.5 * h, 50);
        const std::string name = fmt::format("{} crates", count);
        const double more = compare(name, crates, steps, report) / count;
        report({name + ", beyond held fast per crate", more, "ms", previous, "a tenth of the crates"});
        previous = more;
    }

    // The worst there is: light crates so near each other that they share all of their cells.
    Scenario packed = sloshing_pool(n);
    const int side = quick ? 3 : 5;
    add_crates(packed, {side, side, side}, 6 * h, 6.5 * h, 50);
    compare(fmt::format("{} packed crates", packed.solids.size()), packed, steps, report);
}

}  // namespace flotsam

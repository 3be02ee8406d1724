#include <fmt/format.h>

#include <map>

#include "bench/bench.h"
#include "core/stopwatch.h"
#include "fluid/grid/projection.h"
#include "sim/driver.h"

namespace flotsam {

namespace {

using Report = std::function<void(const BenchRow&)>;

// Half-full cubic box with a random velocity: the pressure solve alone, set-up included.
void bench_pressure(bool quick, const Report& report) {
    for (const int n : quick ? std::vector{32} : std::vector{64, 128}) {
        Domain domain;
        domain.cells = {n, n, n};
        domain.h = 1.0 / n;
        std::vector<Int3> tiles;
        for (int z = 0; z <= n / 8; ++z)
            for (int y = 0; y <= n / 8; ++y)
                for (int x = 0; x <= n / 8; ++x) tiles.push_back({x, y, z});
        const auto tiling = std::make_shared<Tiling>(domain.cells, tiles);
        Field<double> phi(tiling, outside_distance(domain)), source(tiling, 0), potential(tiling, 0);
        for_each_cell(*tiling, domain.cells,
                      [&](Int3 c, std::int64_t m) { phi[m] = domain.cell_center(c).y - 0.5031; });
        MacGrid u{Field<double>(tiling, 0), Field<double>(tiling, 0), Field<double>(tiling, 0)};
        for (int axis = 0; axis < 3; ++axis)
            for_each_cell(*tiling, domain.cells + unit(axis), [&](Int3 c, std::int64_t m) {
                u[axis][m] = std::sin(0.3 * c.x + axis) * std::cos(0.2 * c.y) + std::sin(0.1 * c.z);
            });
        const MacGrid start = u;
        double iccg = 0;
        for (const std::string solver : {"iccg", "multigrid"}) {
            u = start;
            potential.fill(0);
            Stopwatch watch;
            const PressureSystem system = pressure_system(domain, phi, {0, -9.81, 0}, 1000);
            std::array<Field<char>, 3> changed;
            const ProjectionReport result =
                project(system, source, 0.01, {solver, {1e-10, 0, 5000}}, u, potential, changed);
            const double ms = watch.lap();
            double cells = 0;
            for (const double d : phi.values()) cells += d < 0;
            const double ns = 1e6 * ms / cells;
            report({fmt::format("{} {}^3, time per liquid cell", solver, n), ns, "ns", iccg, "iccg"});
            report({fmt::format("{} {}^3, iterations", solver, n), double(result.solve.iterations), "1"});
            iccg = ns;
        }
    }
}

// A 3D dam break, by stage.
void bench_step(bool quick, const Report& report) {
    const int n = quick ? 24 : 50;
    Scenario s;
    s.domain.cells = {n, n, n};
    s.domain.h = 1.0 / n;
    s.liquid.fills.push_back({make_box({0, 0, 0}, {0.4, 0.6, 1}), {}});
    s.time.duration = quick ? 0.25 : 1;
    Driver driver(s, make_scheme("cut-cell"));
    driver.start();
    std::map<std::string, double> stages;
    double total = 0;
    int steps = 0;
    while (driver.frame() < driver.last_frame()) {
        const auto [step, dt] = driver.advance();
        ++steps;
        for (const StageTime& stage : step.stages) {
            stages[stage.stage] += stage.milliseconds;
            total += stage.milliseconds;
        }
    }
    const double particles = double(driver.world().liquid.particles.count());
    report({fmt::format("dam break {}^3, step", n), total / steps, "ms"});
    for (const auto& [stage, ms] : stages)
        report({stage + ", time per particle and step", 1e6 * ms / steps / particles, "ns",
                1e6 * total / steps / particles, "whole step"});
}

}  // namespace

const std::vector<Bench>& benches() {
    static const std::vector<Bench> entries{
        {"pressure", "the pressure solve of a half-full box", bench_pressure},
        {"step", "a dam break, by stage", bench_step},
    };
    return entries;
}

}  // namespace flotsam

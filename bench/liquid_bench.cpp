#include <fmt/format.h>
#include <sys/resource.h>

#include <cmath>
#include <map>
#include <numbers>

#include "bench/bench.h"
#include "core/stopwatch.h"
#include "fluid/grid/pressure_solver.h"
#include "geometry/mesh_surface.h"
#include "geometry/solid_shape.h"
#include "linalg/multigrid.h"
#include "sim/driver.h"
#include "validate/case_tools.h"

namespace flotsam {

namespace {

using Report = std::function<void(const BenchRow&)>;

double peak_memory() {  // of this process so far [bytes]
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return 1024.0 * double(usage.ru_maxrss);
}

// What all threads together move from and to memory: a = b + s c over arrays that no cache holds [bytes/s].
double memory_bandwidth() {
    const std::int64_t count = 1 << 25;
    std::vector<double> a(count, 0.0), b(count, 1.0), c(count, 2.0);
    double best = 0;
    for (int repeat = 0; repeat < 3; ++repeat) {
        Stopwatch watch;
        parallel_blocks(count, 1 << 18, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) a[i] = b[i] + 3.0 * c[i];
        });
        best = std::max(best, 24.0 * double(count) / (1e-3 * watch.lap()));
    }
    return best;
}

// Of conjugate gradients with multigrid [bytes]: the matrix, b, x, r, p, q and the preconditioner.
std::int64_t solver_memory(const Network<double>& network) {
    return network.memory() + network.tiling().value_count() * 5 * std::int64_t(sizeof(double)) +
           Multigrid(network).memory();
}

// Half-full cubic box with a sphere in it and a smooth velocity: the pressure solve alone, set-up included.
void bench_pressure(bool quick, const Report& report) {
    const double bandwidth = memory_bandwidth();
    report({"memory bandwidth, all threads", 1e-9 * bandwidth, "GB/s"});
    for (const int n : quick ? std::vector{32} : std::vector{64, 128, 256}) {
        Domain domain;
        domain.cells = {n, n, n};
        domain.h = 1.0 / n;
        const auto tiling = whole_tiling(domain.cells);
        const SolidShape sphere = solid_sphere(0.15, 0.5 * domain.h);
        const Pose pose{{0.5, 0.3, 0.5}, {}};
        TriangleMesh mesh = sphere.mesh;
        for (Vec3& v : mesh.vertices) v = pose.to_world(v);
        const auto cut = std::make_shared<CutSolid>(cut_solid(mesh, domain.cells, domain.h));
        const Obstacles obstacles =
            place_obstacles({{sphere.distance, pose, pose, 1.0, {}, cut}}, domain, tiling);
        Field<double> phi(tiling, outside_distance(domain));
        for_each_cell(*tiling, domain.cells,
                      [&](Int3 c, std::int64_t m) { phi[m] = domain.cell_center(c).y - 0.5031; });
        MacGrid start{Field<double>(tiling, 0), Field<double>(tiling, 0), Field<double>(tiling, 0)};
        for (int axis = 0; axis < 3; ++axis)
            for_each_cell(*tiling, domain.cells + unit(axis), [&](Int3 c, std::int64_t m) {
                start[axis][m] = std::sin(0.3 * c.x + axis) * std::cos(0.2 * c.y) + std::sin(0.1 * c.z);
            });
        double cells = 0;
        for (std::int64_t m = 0; m < tiling->value_count(); ++m)
            cells += phi[m] < 0 && obstacles.open_volume[m] > 0;

        double iccg = 0;
        for (const std::string_view solver : {"iccg", "multigrid"}) {
            if (solver == "iccg" && n > 128) continue;  // minutes
            const Field<double> potential(tiling, 0), source(tiling, 0);
            const SolverSettings settings{solver_named(solver), {1e-10, 0, 5000}};
            double ns = 1e300;
            int iterations = 0;
            // The best of three: what else the machine does lengthens some.
            for (int repeat = 0; repeat < (solver == "iccg" ? 1 : 3); ++repeat) {
                MacGrid u = start;
                Stopwatch watch;
                const PressureSystem system = pressure_system(domain, phi, {0, -9.81, 0}, 1000, obstacles);
                const PressureUpdate result = solve_pressure(system, source, 0.01, settings, u, potential);
                ns = std::min(ns, 1e6 * watch.lap() / cells);
                iterations = result.solve.iterations;
            }
            report({fmt::format("{} {}^3, time per liquid cell", solver, n), ns, "ns", iccg, "iccg"});
            report({fmt::format("{} {}^3, iterations", solver, n), double(iterations), "1"});
            if (solver == "iccg") iccg = ns;
            if (solver == "multigrid") {
                const PressureSystem system = pressure_system(domain, phi, {0, -9.81, 0}, 1000, obstacles);
                report({fmt::format("multigrid {}^3, solver memory per liquid cell", n),
                        double(solver_memory(system.network)) / cells, "B"});
                // What an iteration must move at least: see docs/solver.md.
                const double bytes = 200.0 * iterations;
                report({fmt::format("multigrid {}^3, share of bandwidth", n), bytes / (1e-9 * ns) / bandwidth,
                        "1"});
            }
        }
    }
}

// Runs a dam break in a closed cube with a box in its way for half a second; `spread` makes the domain
// larger.
struct StepCost {
    double ms_per_step = 0, particles = 0, liquid_cells = 0;
    std::map<std::string, double> stages;  // ms per step
};
StepCost dam_break(int n, int spread, double duration) {
    Scenario s;
    s.domain.cells = {n * spread, n * spread, n * spread};
    s.domain.h = 1.0 / n;
    s.liquid.fills.push_back({make_box({-1, -1, -1}, {0.4, 0.6, 1.0}), {}});
    Solid box;
    box.name = "box";
    box.shape = solid_box({0.16, 0.24, 0.30});
    box.start.position = {0.7, 0.12, 0.5};
    s.solids.push_back(box);
    s.time.duration = duration;
    Driver driver(s, make_scheme("cut-cell"));
    driver.start();
    StepCost cost;
    int steps = 0;
    while (driver.frame() < driver.last_frame()) {
        const auto [step, dt] = driver.advance();
        ++steps;
        for (const StageTime& stage : step.stages) {
            cost.stages[stage.stage] += stage.milliseconds;
            cost.ms_per_step += stage.milliseconds;
        }
    }
    cost.ms_per_step /= steps;
    for (auto& [stage, ms] : cost.stages) ms /= steps;
    cost.particles = double(driver.world().liquid.particles.count());
    cost.liquid_cells = cost.particles / 8;
    return cost;
}

void bench_dam_break(bool quick, const Report& report) {
    double previous = 0;
    for (const int n : quick ? std::vector{32} : std::vector{100, 200}) {
        const StepCost cost = dam_break(n, 1, n == 200 ? 0.125 : 0.5);
        report({fmt::format("{}^3, step", n), cost.ms_per_step, "ms"});
        for (const auto& [stage, ms] : cost.stages)
            report({fmt::format("{}^3, {} per particle", n, stage), 1e6 * ms / cost.particles, "ns",
                    1e6 * cost.ms_per_step / cost.particles, "whole step"});
        const double transfers =
            cost.stages.at("advect") + cost.stages.at("to_grid") + cost.stages.at("to_particles");
        report({fmt::format("{}^3, transfers and advection per particle", n),
                1e6 * transfers / cost.particles, "ns"});
        const double per_cell = 1e6 * cost.ms_per_step / cost.liquid_cells;
        report(
            {fmt::format("{}^3, step per liquid cell", n), per_cell, "ns", previous, "half the resolution"});
        report({fmt::format("{}^3, peak memory", n), 1e-6 * peak_memory(), "MB"});
        previous = per_cell;
    }
}

// The same liquid in a domain 64 times as large: cost must follow the liquid.
void bench_puddle(bool quick, const Report& report) {
    const int n = quick ? 24 : 48;
    const StepCost small = dam_break(n, 1, 0.25);
    const double small_memory = peak_memory();
    const StepCost large = dam_break(n, 4, 0.25);
    report({"step in a domain 64 times larger", large.ms_per_step, "ms", small.ms_per_step, "small domain"});
    report({"peak memory", 1e-6 * peak_memory(), "MB", 1e-6 * small_memory, "small domain"});
}

// A closed, bumpy ball of about `triangles` triangles.
TriangleMesh bumpy_ball(double radius, int triangles) {
    TriangleMesh mesh = solid_sphere(radius, 2 * std::numbers::pi * radius / std::sqrt(triangles)).mesh;
    for (Vec3& v : mesh.vertices) {
        const double from_pole = std::atan2(std::hypot(v.x, v.z), v.y), around = std::atan2(v.z, v.x);
        v = v * (1 + 0.05 * std::sin(13 * from_pole) * std::sin(from_pole) * std::cos(9 * around));
    }
    return mesh;
}

// A large mesh moves through a tank: how much of a step is cutting it into the grid?
void bench_clip(bool quick, const Report& report) {
    const int n = quick ? 32 : 128;
    Scenario s;
    s.domain.cells = {n, n, n};
    s.domain.h = 1.0 / n;
    s.liquid.fills.push_back({make_level(0.6), {}});
    Solid solid;
    solid.name = "ball";
    solid.motion = Motion::scripted;
    solid.shape.mesh = bumpy_ball(0.2, quick ? 3000 : 50000);
    solid.shape.distance = std::make_shared<MeshSurface>(solid.shape.mesh, 48);
    solid.start.position = {0.4, 0.35, 0.5};
    solid.script.velocity = {0.5, 0, 0};
    solid.script.spin = {0, 2, 0};
    s.solids.push_back(solid);
    report({"triangles", double(solid.shape.mesh.triangles.size()), "1"});

    double clip = 0, step = 0;
    std::map<std::string, double> stages;
    s.time.duration = 1.0 / s.time.frames_per_second;
    Driver driver(s, make_scheme("cut-cell"));
    driver.start();
    int steps = 0;
    for (; driver.frame() < driver.last_frame(); ++steps) {
        for (const StageTime& stage : driver.advance().first.stages) {
            step += stage.milliseconds;
            stages[stage.stage] += stage.milliseconds;
        }
        const double time = driver.world().time;
        const TriangleMesh mesh = mesh_at(solid, time);
        // With what is swept, as for a mesh that deforms: that is the most that cutting can cost.
        SurfaceMotion motion{mesh_at(solid, time + 0.01).vertices, 0.01};
        for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
            motion.velocity[v] = (motion.velocity[v] - mesh.vertices[v]) / motion.time;
        Stopwatch watch;
        const CutSolid cut = cut_solid(mesh, s.domain.cells, s.domain.h, motion);
        clip += watch.lap();
    }
    for (const auto& [stage, ms] : stages)
        report({fmt::format("{}^3, {}", n, stage), ms / steps, "ms", step / steps, "whole step"});
    report({fmt::format("{}^3, step", n), step / steps, "ms"});
    report({fmt::format("{}^3, clipping alone", n), clip / steps, "ms", step / steps, "whole step"});
}

}  // namespace

const std::vector<Bench>& benches() {
    static const std::vector<Bench> entries{
        {"pressure", "the pressure solve of a half-full box with a sphere in it", bench_pressure},
        {"puddle", "the same liquid in a domain 64 times larger", bench_puddle},
        {"dam-break", "a dam break against a box, by stage", bench_dam_break},
        {"elastic", "steps of elastic cubes against building and factorising from scratch", bench_elastic},
        {"genevaux", "frames of the scenes of Genevaux 2003 against its Table 1", bench_genevaux},
        {"rigid", "bodies in a pool against the same pool with the bodies held fast", bench_rigid},
        {"sph", "the floating spheres of Becker 2009 against its Table 1, and its response schemes",
         bench_sph},
        {"elastic-solve", "elastic solids in the pressure solve beside the liquid alone, also a large mesh",
         bench_elastic_solve},
        {"zarifi", "forms of liquid and elastic solids in one matrix: Tables 6.2 to 6.4 of Zarifi 2017",
         bench_zarifi},
        {"render", "a picture of a dam break against a box", bench_render},
        {"clip", "a mesh of 50,000 triangles that moves through a tank: the share of cutting it", bench_clip},
    };
    return entries;
}

}  // namespace flotsam

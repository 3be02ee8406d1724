// The scenes of Génevaux, Habibi and Dischler 2003 against the times in its Table 1, and what the coupling
// alone costs.
#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <map>

#include "bench/bench.h"
#include "core/parallel.h"
#include "core/stopwatch.h"
#include "coupling/marker_springs.h"
#include "scene/scene.h"
#include "sim/driver.h"

namespace flotsam {

namespace {

using Report = std::function<void(const BenchRow&)>;

// Beside where the program is called, or beside the folder it was built in.
std::filesystem::path scene_file(const std::string& name) {
    std::filesystem::path here = "scenes/genevaux-2003/" + name + ".toml";
    if (std::filesystem::exists(here)) return here;
    return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / here;
}

// The mean over the whole run, as Table 1 has it, or quickly over the first frame of a coarse one. Other
// programs may have a part of the machine: what ours alone would take is its processor time over the threads,
// if they were always busy.
void time_scene(const std::string& name, double paper, bool quick, const Report& report) {
    const double scale = quick ? 0.4 : 1;
    const Scene scene = load_scene(scene_file(name), {}, scale);
    Driver driver(scene.scenario, make_scheme(scene.scenario.method));
    driver.start();
    std::map<std::string, double> stages;
    double ms = 0, steps = 0;
    const int frames = quick ? 1 : driver.last_frame();
    const std::clock_t begun = std::clock();
    while (driver.frame() < frames) {
        Stopwatch watch;
        const auto [step, dt] = driver.advance();
        ms += watch.lap();
        ++steps;
        for (const StageTime& stage : step.stages) stages[stage.stage] += stage.milliseconds;
    }
    const double busy = 1e3 * double(std::clock() - begun) / CLOCKS_PER_SEC / thread_count();
    report({name + ", markers", double(driver.world().liquid.particles.count()), "1"});
    report({name + ", steps per frame", steps / frames, "1"});
    for (const auto& [stage, sum] : stages) report({name + ", " + stage, sum / frames, "ms"});
    if (scale != 1) paper = 0;  // Table 1 has no such grid
    report({name + ", frame, processor time / threads", 1e-3 * busy / frames, "s", paper, "Table 1"});
    report({name + ", frame", 1e-3 * ms / frames, "s", paper, "Table 1"});
}

// A ball in still water: what repel_markers takes for each marker in the cells that it reaches.
void time_coupling(int per_edge, int share, double radius, const Report& report) {
    Domain domain;
    domain.cells = {32, 32, 32};
    domain.h = 1.0 / 32;
    domain.particles_per_edge = per_edge;
    LiquidSettings settings;
    settings.fills.push_back({make_level(2), {}});
    Particles markers = seed_fills(domain, settings);
    const auto tiling = tiling_around(markers, domain, 2);
    const CellRanges cells = sort_into_cells(markers, domain, *tiling);
    const MacGrid u{Field<double>(tiling, 0), Field<double>(tiling, 0), Field<double>(tiling, 0)};
    Solid solid;
    solid.spring.net = std::make_shared<SpringNet>(single_node(solid_sphere(radius, 0.02), radius, 500));
    solid.spring.radius = radius;
    solid.spring.repulsion = 1;
    solid.spring.share = share;
    const SpringBody ball = make_spring_body(0, solid.spring, {{0.5, 0.5, 0.5}, {}});
    double near = 0;
    const Int3 low = domain.cell_of(Vec3{0.5, 0.5, 0.5} - Vec3{1, 1, 1} * radius),
               high = domain.cell_of(Vec3{0.5, 0.5, 0.5} + Vec3{1, 1, 1} * radius);
    for (Int3 c{0, 0, low.z}; c.z <= high.z; ++c.z)
        for (c.y = low.y; c.y <= high.y; ++c.y)
            for (c.x = low.x; c.x <= high.x; ++c.x) near += cells.count(tiling->find(c));
    double best = 1e30;
    for (int repeat = 0; repeat < 5; ++repeat) {
        Stopwatch watch;
        const MarkedLiquid liquid{1000, particles_per_cell(domain) / domain.cell_volume(), domain.h};
        const Repulsion force = repel_markers({ball}, {solid}, markers, cells, u, domain, liquid, 1e-3);
        best = std::min(best, watch.lap());
    }
    report({fmt::format("coupling, {:.0f} markers near, 1/{}, each", near, share), 1e6 * best / near, "ns"});
}

}  // namespace

void bench_genevaux(bool quick, const Report& report) {
    for (const int share : {1, 8})
        for (const double radius : {0.1, 0.2, 0.4}) time_coupling(quick ? 2 : 4, share, radius, report);
    time_scene("surfacing_ball", 45.4, quick, report);
    time_scene("ricochet", 23.2, quick, report);
    time_scene("jet", 12, quick, report);
    time_scene("u_tube", 8, quick, report);
    time_scene("falling_ball", 0, quick, report);  // Fig. 1 is not in Table 1
}

}  // namespace flotsam

// Cases of bodies that the liquid moves.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "fluid/grid/obstacles.h"
#include "fluid/grid/pressure_solver.h"
#include "fluid/grid/solid_interface.h"
#include "validate/case_tools.h"
#include "validate/cases.h"

namespace flotsam {

namespace {

constexpr double density = 1000;

// Acceleration of a body of the relative density s, released from rest in a closed box full of water, in g.
double released_acceleration(const Domain& domain, const SolidShape& shape, double volume, Vec3 place,
                             double s) {
    const Pose pose{place, {}};
    TriangleMesh mesh = shape.mesh;
    for (Vec3& v : mesh.vertices) v = pose.to_world(v);
    const auto cut = std::make_shared<CutSolid>(cut_solid(mesh, domain.cells, domain.h));
    const auto tiling = whole_tiling(domain.cells);
    const Obstacles obstacles = place_obstacles({{shape.distance, pose, pose, 1.0, {}, cut}}, domain, tiling);
    Field<double> phi(tiling, -outside_distance(domain)), source(tiling, 0), potential(tiling, 0);
    MacGrid u;
    for (auto& component : u) component = Field<double>(tiling, 0);
    constexpr double dt = 0.01;
    const Vec3 gravity{0, -g, 0};
    const double mass = s * density * volume;
    const BodyInertia body{0, place, Vec3{1, 1, domain.flat() ? 0.0 : 1.0} / mass, {}};
    const PressureSystem system = pressure_system(domain, std::move(phi), gravity, density, obstacles);
    std::vector<Pocket> sealed = system.sealed;
    SolidSystem solids{impulse_scale(system), rigid_blocks(system, {body}, {}, dt, sealed), {}};
    solids.rigid.from[0] = as_six({gravity * dt, {}});
    const PressureUpdate report = solve_pressure(system, source, dt, {Solver::multigrid, {1e-10, 1e-14, 500}},
                                                 u, potential, solids, sealed);
    return report.solve.converged ? -report.velocity.rigid[0][1] / (g * dt)
                                  : std::numeric_limits<double>::infinity();
}

}  // namespace

void validate_added_mass(const ValidationRun& run) {
    // a / g = (1 - s) / (s + Cm) for a body of relative density s in the middle of a box of four diameters;
    // the added mass Cm of the box is derived in the project's validation notes (sphere in cube 0.51432,
    // cylinder in square 1.11352). Errors are shares of g / (s + Cm), the worst of eight offsets against the
    // grid.
    //   Square and cube, faces parallel to the box's: by a separate program, finite volumes on a grid aligned
    //   with
    // all faces, one quarter (octant) by symmetry, conjugate gradients to 1e-9; with 8 to 128 (8 to 32) cells
    // along half an edge, extrapolated with the corners' order 4/3 and then with 2: square 1.36393, cube
    // 0.6712. For the square, mode matching across the gap with (1 - s^2)^(-1/3) Gegenbauer trial functions
    // gives 1.3639 to 1.3640 as well. Edges make errors fall with the power 4/3 at best.
    struct Body {
        const char* name;
        bool flat, edged;
        double added, allowed[2];
        int cells[2];
    };
    for (const Body& b : {Body{"cylinder", true, false, 1.11352, {1.5, 0.5}, {64, 128}},
                          Body{"sphere", false, false, 0.51432, {1, 0.3}, {64, 128}},
                          Body{"square", true, true, 1.36393, {1.5, 0.5}, {64, 128}},
                          Body{"cube", false, true, 0.6712, {1, 0.3}, {64, 128}}}) {
        ObservedOrder order(run, "worst error");
        for (int level = 0; level < (run.quick ? 1 : 2); ++level) {
            const int n = b.cells[level];
            Domain domain;
            domain.cells = {n, n, b.flat ? 1 : n};
            domain.h = 1.0 / n;
            const double radius = 0.125, spacing = 0.25 * domain.h;
            const double side = 2 * radius, depth = 3 * domain.h;
            const SolidShape shape =
                b.edged  ? b.flat ? solid_rectangle(side, side, depth) : solid_box({side, side, side})
                 : b.flat ? solid_disc(radius, depth, spacing)
                         : solid_sphere(radius, spacing);
            const double volume = enclosed_moments(shape.mesh).volume * (b.flat ? domain.h / depth : 1);
            const int offsets = run.quick && !b.flat ? 2 : 8;
            double worst = 0, at_rest = 0;
            std::vector<std::array<double, 2>> rise_rate, exact_rate;
            for (int eighths = -16; eighths <= 16; ++eighths) {
                const double e = eighths / 8.0;
                const double s = std::pow(10, e);
                exact_rate.push_back({e, (1 - s) / (s + b.added)});
            }
            for (const double s : {0.01, 0.1, 0.5, 0.8, 1.0, 2.0, 8.0, 100.0}) {
                double worst_here = 0, rise = 0;
                for (int i = 0; i < offsets; ++i) {
                    Vec3 place{0.5, 0.5, b.flat ? 0.5 * domain.h : 0.5};
                    for (int a = 0; a < (b.flat ? 2 : 3); ++a)
                        place[a] += (uniform(combine(std::uint64_t(i), std::uint64_t(a))) - 0.5) * domain.h;
                    const double a = released_acceleration(domain, shape, volume, place, s);
                    const double exact = -(1 - s) / (s + b.added);
                    worst_here = larger(worst_here, std::abs(a - exact) * (s + b.added));
                    if (i == 0) rise = -a;
                    if (s == 1) at_rest = larger(at_rest, std::abs(a));
                }
                worst = larger(worst, worst_here);
                rise_rate.push_back({std::log10(s), rise});
                run.report({"", fmt::format("{}, s = {}", b.name, s), "", n, "error / (g / (s + Cm))",
                            worst_here, 0, b.allowed[level]});
            }
            run.show({"", "", n, fmt::format("Rise rate of a {} released in water", b.name),
                      "log10 of its density / water's", "1", "acceleration / g, upwards", "1",
                      "exact: (1 - s) / (s + Cm)", rise_rate, exact_rate, true});
            run.report({"", b.name, "", n, "|a| / g at s = 1", at_rest, 0, 0.1});
            order.add({"", b.name, "", n, "worst error / (g / (s + Cm))", worst, 0, b.allowed[level]});
        }
    }
}

}  // namespace flotsam

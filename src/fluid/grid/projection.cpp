#include "fluid/grid/projection.h"

#include <algorithm>

#include "core/check.h"
#include "core/stopwatch.h"
#include "fluid/grid/solid_terms.h"
#include "fluid/grid/surface.h"
#include "linalg/multigrid.h"

namespace flotsam {

namespace {

constexpr int block = Tiling::cells_per_tile;
constexpr std::int64_t tile_grain = 4;

// The part of a side's pressure that acts on the liquid in cell c.
Vec3 side_impulse(const PressureSystem& system, Int3 c, int side, double pi, double dt) {
    const Domain& domain = *system.domain;
    const int axis = side / 2;
    const double sign = side % 2 ? 1 : -1;  // outward
    Vec3 slope;
    for (int a = 0; a < 3; ++a) {
        if (a == axis) continue;
        const Int3 low = c - unit(a), high = c + unit(a);
        slope[a] = (domain.has_cell(high) ? system.phi(high) : system.phi(c)) -
                   (domain.has_cell(low) ? system.phi(low) : system.phi(c));
    }
    const double wet = cube_fraction_below(system.phi(c) / domain.h, slope);
    // Centre of the wetted part: below the middle of the face where the surface cuts it.
    Vec3 down = system.gravity;
    down[axis] = 0;
    if (length(down) > 0) down = down / length(down);
    const Vec3 place = domain.cell_center(c) + Vec3(unit(axis)) * (0.5 * sign * domain.h) +
                       down * (0.5 * (1 - wet) * domain.h);
    const double p = pi + system.density * dot(system.gravity, place);
    return Vec3(unit(axis)) * (-sign * p * wet * domain.h * domain.h * dt);
}

void stop_at_closed_sides(MacGrid& u, const Domain& domain) {
    for (int axis = 0; axis < 3; ++axis) {
        const Tiling& tiling = u[axis].tiling();
        parallel_for(tiling.tile_count(), 64, [&](std::int64_t slot) {
            const int first = tiling.first_cell(slot)[axis];
            for (const int side : {0, domain.cells[axis]}) {
                if (side < first || side >= first + Tiling::side || domain.open(2 * axis + (side > 0)))
                    continue;
                for (int local = 0; local < block; ++local)
                    if ((local >> (3 * axis) & 7) == side - first) u[axis][slot * block + local] = 0;
            }
        });
    }
}

// The obstacle that moves as it is told and closes on a sealed pocket with most of the liquid in it: -1 where
// there is none. What only moves about in there takes away on one side what it gives on the other.
int find_crusher(const PressureSystem& system, const std::vector<std::vector<std::int64_t>>& sealed,
                 double dt) {
    const Obstacles& obstacles = *system.obstacles;
    if (sealed.empty() || !obstacles.any()) return -1;
    const Domain& domain = *system.domain;
    const Tiling &tiling = system.network.tiling(), &all = system.phi.tiling();
    std::int64_t liquid = 0;
    for (std::int64_t tile = 0; tile < tiling.tile_count(); ++tile)
        system.for_each_liquid_cell(tile, [&](Int3, std::int64_t, int, std::int64_t) { ++liquid; });
    for (const std::vector<std::int64_t>& pocket : sealed) {
        if (2 * std::ssize(pocket) <= liquid) continue;
        Field<char> inside(system.phi.shared_tiling(), 0);
        double net = 0, gross = 0;
        for (const std::int64_t n : pocket) {
            const std::int64_t at = all.find(cell_at(tiling, n / block, int(n % block)));
            inside[at] = 1;
            net -= obstacles.outflow[at];
            gross += std::abs(obstacles.outflow[at]);
        }
        // Less than a millionth of the pocket in a step is what rounding makes of a script.
        if (net <= 0.1 * gross || net * dt <= 1e-6 * domain.h * double(pocket.size())) continue;
        std::vector<double> push(obstacles.list.size(), 0.0);
        for (const ObstaclePatch& patch : obstacles.patches)
            if (inside[patch.cell])
                push[patch.obstacle] -=
                    dot(obstacles.list[patch.obstacle].velocity(patch.center), patch.area);
        return int(std::max_element(push.begin(), push.end()) - push.begin());
    }
    return -1;
}

}  // namespace

ProjectionReport project(const PressureSystem& system, const Field<double>& source, double dt,
                         const SolverSettings& solver, MacGrid& u, Field<double>& potential,
                         std::array<Field<char>, 3>& changed, const Movables& movables) {
    std::vector<MovableBody> none;
    std::vector<MovableBody>& bodies = movables.bodies ? *movables.bodies : none;
    const BodyResponse& respond = movables.respond;
    const Domain& domain = *system.domain;
    const Tiling& tiling = system.network.tiling();
    const Tiling& all = system.phi.tiling();
    const double to_unknown = dt / domain.h;  // x = (pi / rho - datum) dt / h [m/s]
    const auto all_slot = [&](std::int64_t slot) { return all.find(tiling.first_cell(slot)) / block; };
    // Calls visit(face, axis, direction) for the six faces of a liquid cell.
    const auto for_each_face = [&](const TileView<double>& distance, Int3 c, int local, const auto& visit) {
        for (int axis = 0; axis < 3; ++axis)
            for (const int direction : {0, 1}) {
                const double beyond = direction ? distance.higher(local, axis) : distance.lower(local, axis);
                visit(system.face(c, axis, direction, distance[local], beyond), axis, direction);
            }
    };
    const Obstacles& obstacles = *system.obstacles;
    // What flows out of a cell through its faces and beside moving solids, less what shall; per face area
    // [m/s].
    const auto excess_outflow = [&](const std::array<TileView<double>, 3>& velocity, std::int64_t n,
                                    int local) {
        double sum = 0;
        if (!obstacles.any() || !obstacles.touches[n / block]) {
            for (int axis = 0; axis < 3; ++axis)
                sum += velocity[axis].higher(local, axis) - velocity[axis][local];
            return sum - source[n] * domain.h;
        }
        for (int axis = 0; axis < 3; ++axis) {
            const TileView<double> open(obstacles.open_face[axis], n / block);
            sum += open.higher(local, axis) * velocity[axis].higher(local, axis) -
                   open[local] * velocity[axis][local];
        }
        return sum + obstacles.outflow[n] - source[n] * domain.h * obstacles.open_volume[n];
    };
    const auto velocity_views = [&](std::int64_t slot) {
        return std::array{TileView<double>(u[0], slot), TileView<double>(u[1], slot),
                          TileView<double>(u[2], slot)};
    };

    stop_at_closed_sides(u, domain);

    // Where to start: at the potential of the last step; where there was no liquid then, at the mean around.
    const auto guess = [&](Int3 c) {
        if (const double last = potential(c); last != 0) return last;
        double sum = 0;
        int count = 0;
        for (int side = 0; side < 6; ++side)
            if (const double beside = potential(c + unit(side / 2) * (side % 2 ? 1 : -1)); beside != 0)
                sum += beside, ++count;
        return count > 0 ? sum / count : system.density * system.datum;
    };

    // What flows out of each cell, and what the surface's known potential does about it [Zarifi17 Eq. 4.38].
    std::vector<double> b(tiling.value_count(), 0.0), x(tiling.value_count(), 0.0);
    parallel_for(tiling.tile_count(), tile_grain, [&](std::int64_t tile) {
        const TileView<double> distance(system.phi, all_slot(tile));
        const auto velocity = velocity_views(all_slot(tile));
        const bool plain = system.network.plain(tile);
        system.for_each_liquid_cell(tile, [&](Int3 c, std::int64_t n, int local, std::int64_t slot) {
            double inflow = -excess_outflow(velocity, n, local);
            if (!plain)
                for_each_face(distance, c, local, [&](Face f, int axis, int direction) {
                    if (f.kind == Face::Kind::surface)
                        inflow += f.area / f.theta * to_unknown *
                                  system.surface_potential(c, axis, direction, f.reach);
                });
            b[slot * block + local] = inflow;
            x[slot * block + local] = (guess(c) / system.density - system.datum) * to_unknown;
        });
    });

    BodyTerm body_term(system, bodies, dt);
    const bool assembled = solver.name == "iccg" || coupled_form(solver.name);
    YieldingTerm yielding_term(system, movables.yielding, dt, assembled);
    FLOTSAM_CHECK(!yielding_term.together() || bodies.empty());  // the loader refuses them
    std::vector<std::vector<std::int64_t>> sealed = body_term.sealed();
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
        // A sealed pocket cannot change its volume: what flows into it on the whole is removed and reported.
        report.removed_flux = 0;
        for (const std::vector<std::int64_t>& pocket : sealed) {
            double inflow = 0;
            for (const std::int64_t n : pocket) inflow += rhs[n];
            for (const std::int64_t n : pocket) rhs[n] -= inflow / double(pocket.size());
            report.removed_flux += std::abs(inflow) * domain.h * domain.h;
        }
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
    const bool moving = !bodies.empty() || yielding_term;
    std::vector<double> body_outflow(moving ? tiling.value_count() : 0, 0.0);
    body_term.add_outflow(body_outflow, 1);
    yielding_term.add_outflow(body_outflow, 1);

    // pi of a sealed pocket is defined up to a constant: its lowest pressure is taken as zero.
    for (const std::vector<std::int64_t>& pocket : sealed) {
        double lowest = 1e300;
        for (const std::int64_t n : pocket) {
            const Vec3 place = domain.cell_center(cell_at(tiling, n / block, static_cast<int>(n % block)));
            lowest = std::min(lowest, x[n] / to_unknown + system.datum + dot(system.gravity, place));
        }
        for (const std::int64_t n : pocket) x[n] -= lowest * to_unknown;
    }

    // u -= grad(pi) dt / rho [Zarifi17 Eq. 4.31], with the same theta as in the matrix.
    Field<double> unknown(system.network.shared_tiling(), 0);
    unknown.values() = std::move(x);
    potential = Field<double>(system.phi.shared_tiling(), 0);
    for (auto& marks : changed) marks = Field<char>(system.phi.shared_tiling(), 0);
    parallel_for(tiling.tile_count(), tile_grain, [&](std::int64_t tile) {
        const TileView<double> distance(system.phi, all_slot(tile)), here(unknown, tile);
        const bool plain = system.network.plain(tile);
        system.for_each_liquid_cell(tile, [&](Int3 c, std::int64_t n, int local, std::int64_t) {
            potential[n] = system.density * (here[local] / to_unknown + system.datum);
            if (plain) {
                for (int axis = 0; axis < 3; ++axis) {
                    u[axis][n] -= here[local] - here.lower(local, axis);
                    changed[axis][n] = 1;
                }
                return;
            }
            for_each_face(distance, c, local, [&](Face f, int axis, int direction) {
                // The low face is this cell's own; a high face is the next cell's, unless that one is not
                // liquid.
                if (direction == 1 && f.kind == Face::Kind::interior) return;
                // A face that a solid closes has no velocity of its own: constrain_velocity gives it one. It
                // is left alone here, since the liquid cells on both its sides come by, maybe at once.
                if (f.kind == Face::Kind::wall &&
                    domain.has_cell(direction ? c + unit(axis) : c - unit(axis)))
                    return;
                const std::int64_t at = direction ? all.find(c + unit(axis)) : n;
                changed[axis][at] = 1;
                if (f.kind == Face::Kind::interior) u[axis][at] -= here[local] - here.lower(local, axis);
                if (f.kind != Face::Kind::surface) return;
                const double change =
                    (to_unknown * system.surface_potential(c, axis, direction, f.reach) - here[local]) /
                    f.theta;
                u[axis][at] -= direction ? change : -change;
            });
        });
    });

    report.largest_divergence = parallel_max(tiling.tile_count(), tile_grain, 0, [&](std::int64_t tile) {
        double largest = 0;
        const auto velocity = velocity_views(all_slot(tile));
        system.for_each_liquid_cell(tile, [&](Int3, std::int64_t n, int local, std::int64_t slot) {
            const double beside_bodies = moving ? body_outflow[slot * block + local] : 0;
            largest =
                std::max(largest, std::abs(excess_outflow(velocity, n, local) + beside_bodies) / domain.h);
        });
        return largest;
    });
    report.wall_impulse = fixed_sum<Vec3>(tiling.tile_count(), tile_grain, [&](std::int64_t tile) {
        Vec3 impulse;
        if (system.network.plain(tile)) return impulse;
        system.for_each_liquid_cell(tile, [&](Int3 c, std::int64_t n, int, std::int64_t) {
            for (int side = 0; side < 6; ++side) {
                const int axis = side / 2;
                const bool at_side = side % 2 ? c[axis] == domain.cells[axis] - 1 : c[axis] == 0;
                if (at_side && !domain.open(side)) impulse += side_impulse(system, c, side, potential[n], dt);
            }
        });
        return impulse;
    });
    report.loads.resize(obstacles.list.size());
    for (const ObstaclePatch& patch : obstacles.patches) {
        const std::int64_t cell = felt_cell(system, patch);
        if (cell < 0) continue;
        const double p = potential[cell] + system.density * dot(system.gravity, patch.center);
        bool at_surface = false;
        for (int side = 0; side < 6; ++side) {
            const Int3 beside = patch.at + unit(side / 2) * (side % 2 ? 1 : -1);
            at_surface |=
                domain.has_cell(beside) && system.phi(beside) >= 0 && obstacles.open_volume(beside) > 0;
        }
        // All of it counts, as in the solve, whether the solid gives way or not: what one side takes the
        // other gives. pi is constant in a cell; the weight of the water in p is integrated over the patch
        // exactly.
        const Vec3 force =
            potential[cell] * domain.h * domain.h * patch.area + hydrostatic_force(system, patch);
        SolidLoad& load = report.loads[patch.obstacle];
        load.force += force;
        if (patch.film) report.wall_impulse += force * dt;
        load.torque += cross(patch.center - obstacles.list[patch.obstacle].after.position, force) +
                       potential[cell] * domain.h * domain.h * patch.curl;
        // Below zero at the surface the patch lies above it and is dry; deeper down that is suction.
        if (p >= 0 || !at_surface) load.wetted_area += length(patch.area) * domain.h * domain.h;
    }
    return report;
}

}  // namespace flotsam

#include "fluid/grid/projection.h"

#include "fluid/grid/surface.h"

namespace flotsam {

namespace {

// Smallest share of a cell between a liquid centre and the surface. The matrix grows as 1/theta: below a
// hundredth the solver slows down and nothing is gained, since the surface is not known that well.
constexpr double least_theta = 0.01;

// Calls visit(cell, n) for liquid cells in natural order: x fastest, then y, then z. Incomplete Cholesky
// converges markedly faster in this order than tile by tile.
template <class Visit>
void visit_in_natural_order(const Tiling& tiling, Int3 end, const Visit& visit) {
    const std::vector<Int3>& tiles = tiling.tiles();  // sorted by z, y, x
    for (std::int64_t layer = 0; layer < tiling.tile_count();) {
        std::int64_t layer_end = layer;
        while (layer_end < tiling.tile_count() && tiles[layer_end].z == tiles[layer].z) ++layer_end;
        for (int k = 0; k < Tiling::side && tiles[layer].z * Tiling::side + k < end.z; ++k)
            for (std::int64_t row = layer; row < layer_end;) {
                std::int64_t row_end = row;
                while (row_end < layer_end && tiles[row_end].y == tiles[row].y) ++row_end;
                for (int j = 0; j < Tiling::side && tiles[row].y * Tiling::side + j < end.y; ++j)
                    for (std::int64_t slot = row; slot < row_end; ++slot) {
                        const Int3 first = tiling.first_cell(slot);
                        for (int i = 0; i < Tiling::side && first.x + i < end.x; ++i)
                            visit(first + Int3{i, j, k},
                                  slot * Tiling::cells_per_tile + Tiling::local_index(i, j, k));
                    }
                row = row_end;
            }
        layer = layer_end;
    }
}

// Calls visit(neighbour, face cell, axis, outward sign) for the six faces of a cell.
template <class Visit>
void for_each_face(Int3 c, const Visit& visit) {
    for (int axis = 0; axis < 3; ++axis) {
        visit(c - unit(axis), c, axis, -1);
        visit(c + unit(axis), c + unit(axis), axis, 1);
    }
}

void label_pockets(PressureSystem& system) {
    const auto rows = static_cast<std::int32_t>(system.cell.size());
    system.pocket.assign(rows, -1);
    std::vector<std::int32_t> stack;
    for (std::int32_t start = 0; start < rows; ++start) {
        if (system.pocket[start] >= 0) continue;
        const auto label = static_cast<std::int32_t>(system.sealed.size());
        system.sealed.push_back(1);
        system.pocket[start] = label;
        stack.push_back(start);
        while (!stack.empty()) {
            const Int3 c = system.cell[stack.back()];
            stack.pop_back();
            for_each_face(c, [&](Int3 neighbour, Int3 at, int axis, int) {
                const Face f = system.face(at, axis);
                if (f.kind == Face::Kind::surface_low || f.kind == Face::Kind::surface_high)
                    system.sealed[label] = 0;
                if (f.kind != Face::Kind::interior) return;
                std::int32_t& other = system.pocket[system.row(neighbour)];
                if (other >= 0) return;
                other = label;
                stack.push_back(system.row(neighbour));
            });
        }
    }
}

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

}  // namespace

Face PressureSystem::face(Int3 c, int axis) const {
    const Int3 low = c - unit(axis);
    const bool has_low = domain->has_cell(low), has_high = domain->has_cell(c);
    const bool wet_low = has_low && phi(low) < 0, wet_high = has_high && phi(c) < 0;
    if (!wet_low && !wet_high) return {Face::Kind::none};
    if (wet_low && wet_high) return {Face::Kind::interior};
    const Face::Kind surface = wet_low ? Face::Kind::surface_low : Face::Kind::surface_high;
    if (!has_low || !has_high) {
        if (!domain->open(2 * axis + (has_low ? 1 : 0))) return {Face::Kind::wall};
        return {surface, 0.5, 0.5};  // beyond an open side there is nothing: the surface is at the side
    }
    const double inside = wet_low ? phi(low) : phi(c), outside = wet_low ? phi(c) : phi(low);
    const double reach = inside / (inside - outside);  // [Zarifi17 Eq. 4.43]
    // The place of the surface is not clamped with theta: a displaced surface would not be level, and would
    // move.
    return {surface, std::max(reach, least_theta), reach};
}

double PressureSystem::surface_potential(Int3 c, int axis, Face f) const {
    const bool low = f.kind == Face::Kind::surface_low;
    const Vec3 center = domain->cell_center(low ? c - unit(axis) : c);
    const Vec3 place = center + Vec3(unit(axis)) * ((low ? f.reach : -f.reach) * domain->h);
    return -dot(gravity, place) - datum;
}

PressureSystem pressure_system(const Domain& domain, Field<double> phi, Vec3 gravity, double density) {
    PressureSystem system{&domain, gravity, density, 0, std::move(phi), {}, {}, {}, {}};
    system.row = Field<std::int32_t>(system.phi.shared_tiling(), -1);
    visit_in_natural_order(system.phi.tiling(), domain.cells, [&](Int3 c, std::int64_t n) {
        if (system.phi[n] >= 0) return;
        system.row[n] = static_cast<std::int32_t>(system.cell.size());
        system.cell.push_back(c);
    });
    label_pockets(system);

    double sum = 0, count = 0;
    for (const Int3 c : system.cell)
        for_each_face(c, [&](Int3, Int3 at, int axis, int) {
            const Face f = system.face(at, axis);
            if (f.kind != Face::Kind::surface_low && f.kind != Face::Kind::surface_high) return;
            sum += system.surface_potential(at, axis, f);
            count += 1;
        });
    if (count > 0) system.datum = sum / count;
    return system;
}

SymmetricMatrix assemble(const PressureSystem& system) {
    SymmetricMatrix matrix;
    matrix.column.reserve(4 * system.cell.size());
    matrix.value.reserve(4 * system.cell.size());
    for (std::size_t r = 0; r < system.cell.size(); ++r) {
        const Int3 c = system.cell[r];
        double diagonal = 0;
        for (const int axis : {2, 1, 0}) {  // ascending columns: the neighbour below in z comes first
            const Face f = system.face(c, axis);
            if (f.kind == Face::Kind::interior) matrix.add(system.row(c - unit(axis)), -1);
        }
        for_each_face(c, [&](Int3, Int3 at, int axis, int) {
            const Face f = system.face(at, axis);
            if (f.kind != Face::Kind::wall && f.kind != Face::Kind::none) diagonal += 1 / f.theta;
        });
        // A single cell between walls has no open face; any positive number keeps the matrix regular.
        matrix.add(static_cast<std::int32_t>(r), diagonal > 0 ? diagonal : 1);
        matrix.end_row();
    }
    return matrix;
}

ProjectionReport project(const PressureSystem& system, const Field<double>& source, double dt,
                         const SolverSettings& solver, MacGrid& u, Field<double>& potential,
                         std::array<Field<char>, 3>& changed) {
    const Domain& domain = *system.domain;
    const Tiling& tiling = system.phi.tiling();
    const auto rows = static_cast<std::int64_t>(system.cell.size());
    const double to_unknown = dt / domain.h;  // x = (pi / rho - datum) dt / h [m/s]

    // Closed sides stand still.
    for (int axis = 0; axis < 3; ++axis)
        for_each_cell(tiling, domain.cells + unit(axis), [&](Int3 c, std::int64_t n) {
            const int side = 2 * axis + (c[axis] == 0 ? 0 : 1);
            if ((c[axis] == 0 || c[axis] == domain.cells[axis]) && !domain.open(side)) u[axis][n] = 0;
        });

    // What flows out of each cell, and what the surface's known potential does about it [Zarifi17 Eq. 4.38].
    std::vector<double> b(rows), x(rows);
    parallel_for(rows, 1024, [&](std::int64_t r) {
        const Int3 c = system.cell[r];
        double inflow = source(c) * domain.h;
        for_each_face(c, [&](Int3, Int3 at, int axis, int outward) {
            inflow -= outward * u[axis](at);
            const Face f = system.face(at, axis);
            if (f.kind == Face::Kind::surface_low || f.kind == Face::Kind::surface_high)
                inflow += to_unknown * system.surface_potential(at, axis, f) / f.theta;
        });
        b[r] = inflow;
        x[r] = (potential(c) / system.density - system.datum) * to_unknown;
    });

    // A sealed pocket cannot change its volume: what flows into it on the whole is removed and reported.
    ProjectionReport report;
    std::vector<double> inflow(system.sealed.size(), 0), size(system.sealed.size(), 0);
    for (std::int64_t r = 0; r < rows; ++r) {
        inflow[system.pocket[r]] += b[r];
        size[system.pocket[r]] += 1;
    }
    for (std::int64_t r = 0; r < rows; ++r)
        if (system.sealed[system.pocket[r]]) b[r] -= inflow[system.pocket[r]] / size[system.pocket[r]];
    for (std::size_t p = 0; p < system.sealed.size(); ++p)
        if (system.sealed[p]) report.removed_flux += inflow[p] * domain.h * domain.h;

    report.solve = solve_iccg(assemble(system), b, x, solver.tolerance);

    // pi of a sealed pocket is defined up to a constant: its lowest pressure is taken as zero.
    std::vector<double> lowest(system.sealed.size(), 1e300);
    for (std::int64_t r = 0; r < rows; ++r) {
        const double p =
            x[r] / to_unknown + system.datum + dot(system.gravity, domain.cell_center(system.cell[r]));
        lowest[system.pocket[r]] = std::min(lowest[system.pocket[r]], p);
    }
    for (std::int64_t r = 0; r < rows; ++r)
        if (system.sealed[system.pocket[r]]) x[r] -= lowest[system.pocket[r]] * to_unknown;

    // u -= grad(pi) dt / rho [Zarifi17 Eq. 4.31], the same theta as in the matrix.
    const auto unknown = [&](Int3 c) { return x[system.row(c)]; };
    for (int axis = 0; axis < 3; ++axis) {
        changed[axis] = Field<char>(system.phi.shared_tiling(), 0);
        for_each_cell(tiling, domain.cells + unit(axis), [&](Int3 c, std::int64_t n) {
            const Face f = system.face(c, axis);
            changed[axis][n] = f.kind != Face::Kind::none;
            if (f.kind == Face::Kind::interior) {
                u[axis][n] -= unknown(c) - unknown(c - unit(axis));
            } else if (f.kind == Face::Kind::surface_low) {
                u[axis][n] -=
                    (to_unknown * system.surface_potential(c, axis, f) - unknown(c - unit(axis))) / f.theta;
            } else if (f.kind == Face::Kind::surface_high) {
                u[axis][n] -= (unknown(c) - to_unknown * system.surface_potential(c, axis, f)) / f.theta;
            }
        });
    }

    potential = Field<double>(system.phi.shared_tiling(), 0);
    parallel_for(rows, 1024, [&](std::int64_t r) {
        potential.at(system.cell[r]) = system.density * (x[r] / to_unknown + system.datum);
    });
    report.largest_divergence = parallel_max(rows, 1024, 0, [&](std::int64_t r) {
        const Int3 c = system.cell[r];
        double outflow = -source(c) * domain.h;
        for_each_face(c, [&](Int3, Int3 at, int axis, int outward) { outflow += outward * u[axis](at); });
        return std::abs(outflow) / domain.h;
    });
    report.wall_impulse = fixed_sum<Vec3>(rows, 1024, [&](std::int64_t r) {
        const Int3 c = system.cell[r];
        Vec3 impulse;
        for (int side = 0; side < 6; ++side) {
            const int axis = side / 2;
            const bool at_side = side % 2 ? c[axis] == domain.cells[axis] - 1 : c[axis] == 0;
            if (at_side && !domain.open(side)) impulse += side_impulse(system, c, side, potential(c), dt);
        }
        return impulse;
    });
    return report;
}

}  // namespace flotsam

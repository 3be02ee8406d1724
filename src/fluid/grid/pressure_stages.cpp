// The stages of a pressure solve, plain data in, plain data out.
#include "fluid/grid/pressure_stages.h"

#include <algorithm>

#include "fluid/grid/solid_interface.h"
#include "fluid/grid/surface.h"

namespace flotsam {

namespace {

constexpr int block = Tiling::cells_per_tile;
constexpr std::int64_t tile_grain = 4;

// The slot in phi's tiling of tile `tile` of the network.
std::int64_t phi_slot(const PressureSystem& system, std::int64_t tile) {
    return system.phi.tiling().find(system.network.tiling().first_cell(tile)) / block;
}

// Calls visit(face, axis, direction) for the six faces of a liquid cell.
template <class Visit>
void for_each_face(const PressureSystem& system, const TileView<double>& distance, Int3 c, int local,
                   const Visit& visit) {
    for (int axis = 0; axis < 3; ++axis)
        for (const int direction : {0, 1}) {
            const double beyond = direction ? distance.higher(local, axis) : distance.lower(local, axis);
            visit(system.face(c, axis, direction, distance[local], beyond), axis, direction);
        }
}

// Net outflow of the cells of a tile of phi, through their faces and through solids of prescribed motion,
// less the wanted outflow; per face area [m/s].
class ExcessOutflow {
  public:
    ExcessOutflow(const PressureSystem& system, const Field<double>& source, const MacGrid& u,
                  std::int64_t slot)
        : obstacles_(*system.obstacles),
          source_(source),
          h_(system.domain->h),
          cut_(obstacles_.any() && obstacles_.touches[slot]),
          velocity_{TileView<double>(u[0], slot), TileView<double>(u[1], slot),
                    TileView<double>(u[2], slot)} {}

    double operator()(std::int64_t n, int local) const {
        double sum = 0;
        if (!cut_) {
            for (int axis = 0; axis < 3; ++axis)
                sum += velocity_[axis].higher(local, axis) - velocity_[axis][local];
            return sum - source_[n] * h_;
        }
        for (int axis = 0; axis < 3; ++axis) {
            const TileView<double> open(obstacles_.open_face[axis], n / block);
            sum += open.higher(local, axis) * velocity_[axis].higher(local, axis) -
                   open[local] * velocity_[axis][local];
        }
        return sum + obstacles_.outflow[n] - source_[n] * h_ * obstacles_.open_volume[n];
    }

  private:
    const Obstacles& obstacles_;
    const Field<double>& source_;
    double h_;
    bool cut_;
    std::array<TileView<double>, 3> velocity_;
};

// The part of a side that the liquid in cell c touches.
struct WettedSide {
    double share = 1;  // of the cell's face
    Vec3 center;       // [m]
};
WettedSide wetted_side(const PressureSystem& system, Int3 c, int side) {
    const Domain& domain = *system.domain;
    const int axis = side / 2;
    const Int3 face = side % 2 ? c + unit(axis) : c;
    const auto open = [&](Int3 at) {
        return system.obstacles->any() ? system.obstacles->open_face[axis](at) : 1.0;
    };
    Vec3 rising, opening;  // slopes of the distance and of the open share along the side
    for (int a = 0; a < 3; ++a) {
        if (a == axis) continue;
        const Int3 low = domain.has_cell(c - unit(a)) ? unit(a) : Int3{};
        const Int3 high = domain.has_cell(c + unit(a)) ? unit(a) : Int3{};
        rising[a] = system.phi(c + high) - system.phi(c - low);
        opening[a] = open(face + high) - open(face - low);
    }
    WettedSide wetted{open(face), domain.face_center(face, axis)};
    // What an edge cuts off moves the centre of the rest by half the width that is lost.
    if (length(opening) > 0)
        wetted.center += opening * (0.5 * (1 - wetted.share) * domain.h / length(opening));
    // Below the middle of the face where the surface cuts it.
    const double below = cube_fraction_below(system.phi(c) / domain.h, rising);
    Vec3 down = system.gravity;
    down[axis] = 0;
    if (length(down) > 0) wetted.center += down * (0.5 * (1 - below) * domain.h / length(down));
    wetted.share *= below;
    return wetted;
}

// Impulse of a side's pressure on the liquid in cell c.
Vec3 side_impulse(const PressureSystem& system, Int3 c, int side, double pi, double dt) {
    const WettedSide wetted = wetted_side(system, c, side);
    const double p = pi + system.density * dot(system.gravity, wetted.center);
    const double inward = side % 2 ? -1 : 1, h = system.domain->h;
    return Vec3(unit(side / 2)) * (inward * p * wetted.share * h * h * dt);
}

}  // namespace

void stop_at_closed_sides(MacGrid& u, const Domain& domain) {
    for (int axis = 0; axis < 3; ++axis) {
        const Tiling& tiling = u[axis].tiling();
        for_each_tile(tiling, 64, [&](std::int64_t slot) {
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

void add_density_force(const PressureSystem& system, double dt, MacGrid& u) {
    for (int axis = 0; axis < 3; ++axis)
        if (!system.lightness[axis].empty())
            for_each_cell(u[axis].tiling(), system.domain->cells + unit(axis), [&](Int3 c, std::int64_t n) {
                u[axis][n] += (1 - system.lightness[axis](c)) * system.gravity[axis] * dt;
            });
}

std::vector<double> right_hand_side(const PressureSystem& system, const Field<double>& source,
                                    const MacGrid& u, double dt) {
    const Tiling& tiling = system.network.tiling();
    const double to_unknown = system.to_unknown(dt);
    std::vector<double> b(system.network.value_count(), 0.0);
    for_each_tile(tiling, tile_grain, [&](std::int64_t tile) {
        const TileView<double> distance(system.phi, phi_slot(system, tile));
        const ExcessOutflow excess_outflow(system, source, u, phi_slot(system, tile));
        const bool plain = system.network.plain(tile);
        system.for_each_liquid_cell(tile, [&](Int3 c, std::int64_t n, int local, std::int64_t slot) {
            double inflow = -excess_outflow(n, local);
            if (!plain)
                for_each_face(system, distance, c, local, [&](Face f, int axis, int direction) {
                    if (f.kind == Face::Kind::surface)
                        inflow += f.conductance() * to_unknown *
                                  system.surface_potential(c, axis, direction, f.reach);
                });
            b[slot * block + local] = inflow;
        });
    });
    return b;
}

std::vector<double> first_guess(const PressureSystem& system, const Field<double>& potential, double dt) {
    // Cells without liquid in the last step take the mean of their neighbours.
    const auto guess = [&](Int3 c) {
        if (const double last = potential(c); last != 0) return last;
        double sum = 0;
        int count = 0;
        for (int side = 0; side < 6; ++side)
            if (const double beside = potential(c + unit(side / 2) * (side % 2 ? 1 : -1)); beside != 0)
                sum += beside, ++count;
        return count > 0 ? sum / count : system.density * system.datum;
    };
    const Tiling& tiling = system.network.tiling();
    std::vector<double> x(system.network.value_count(), 0.0);
    for_each_tile(tiling, tile_grain, [&](std::int64_t tile) {
        system.for_each_liquid_cell(tile, [&](Int3 c, std::int64_t, int local, std::int64_t slot) {
            x[slot * block + local] = (guess(c) / system.density - system.datum) * system.to_unknown(dt);
        });
    });
    return x;
}

double remove_net_flux(const std::vector<Pocket>& sealed, std::vector<double>& rhs) {
    double removed = 0;
    for (const Pocket& pocket : sealed) {
        double inflow = 0;
        for (const std::int64_t n : pocket) inflow += rhs[n];
        for (const std::int64_t n : pocket) rhs[n] -= inflow / double(pocket.size());
        removed += std::abs(inflow);
    }
    return removed;
}

void set_lowest_pressure(const PressureSystem& system, const std::vector<Pocket>& sealed, double dt,
                         std::vector<double>& x) {
    const double to_unknown = system.to_unknown(dt);
    for (const Pocket& pocket : sealed) {
        double lowest = 1e300;
        for (const std::int64_t n : pocket) {
            const Vec3 place = system.domain->cell_center(system.network.place(n));
            lowest = std::min(lowest, x[n] / to_unknown + system.datum + dot(system.gravity, place));
        }
        for (const std::int64_t n : pocket) x[n] -= lowest * to_unknown;
    }
}

void subtract_gradient(const PressureSystem& system, std::vector<double> x, double dt, MacGrid& u,
                       Field<double>& potential, std::array<Field<char>, 3>& changed) {
    const Domain& domain = *system.domain;
    const Tiling &tiling = system.network.tiling(), &all = system.phi.tiling();
    const double to_unknown = system.to_unknown(dt);
    Field<double> unknown(system.network.shared_tiling(), 0);
    x.resize(tiling.value_count());
    unknown.values() = std::move(x);
    exchange(unknown);
    potential = Field<double>(system.phi.shared_tiling(), 0);
    for (auto& marks : changed) marks = Field<char>(system.phi.shared_tiling(), 0);
    for_each_tile(tiling, tile_grain, [&](std::int64_t tile) {
        const TileView<double> distance(system.phi, phi_slot(system, tile)), here(unknown, tile);
        const bool plain = system.network.plain(tile);
        system.for_each_liquid_cell(tile, [&](Int3 c, std::int64_t n, int local, std::int64_t) {
            potential[n] = system.potential(here[local], to_unknown);
            if (plain) {
                for (int axis = 0; axis < 3; ++axis) {
                    u[axis][n] -= here[local] - here.lower(local, axis);
                    changed[axis][n] = 1;
                }
                return;
            }
            for_each_face(system, distance, c, local, [&](Face f, int axis, int direction) {
                // A cell updates its low faces, and its high faces only where the next cell is not liquid.
                if (direction == 1 && f.kind == Face::Kind::interior) return;
                // A face that a solid closes gets its velocity from constrain_velocity. It is skipped here,
                // since the liquid cells on both its sides would update it, possibly at the same time.
                if (f.kind == Face::Kind::wall &&
                    domain.has_cell(direction ? c + unit(axis) : c - unit(axis)))
                    return;
                const std::int64_t at = direction ? all.find(c + unit(axis)) : n;
                if (at < 0) return;  // in a side of the domain, away from all particles: a film ends there
                changed[axis][at] = 1;
                if (f.kind == Face::Kind::interior)
                    u[axis][at] -= f.lightness * (here[local] - here.lower(local, axis));
                if (f.kind != Face::Kind::surface) return;
                const double change =
                    f.lightness *
                    ((to_unknown * system.surface_potential(c, axis, direction, f.reach) - here[local]) /
                     f.theta);
                u[axis][at] -= direction ? change : -change;
            });
        });
    });
}

std::vector<double> outflow_of(const SolidSystem& solids, const SolidVelocities& velocity,
                               std::size_t unknowns) {
    std::vector<double> outflow;
    if (solids.empty()) return outflow;
    outflow.assign(unknowns, 0.0);
    solids.add_outflow(velocity, 1, outflow);
    return outflow;
}

double largest_divergence(const PressureSystem& system, const Field<double>& source, const MacGrid& u,
                          const std::vector<double>& beside_movables) {
    const Tiling& tiling = system.network.tiling();
    return max_over_tiles(tiling, tile_grain, 0, [&](std::int64_t tile) {
        double largest = 0;
        const ExcessOutflow excess_outflow(system, source, u, phi_slot(system, tile));
        system.for_each_liquid_cell(tile, [&](Int3, std::int64_t n, int local, std::int64_t slot) {
            const double beside = beside_movables.empty() ? 0 : beside_movables[slot * block + local];
            largest = std::max(largest, std::abs(excess_outflow(n, local) + beside) / system.domain->h);
        });
        return largest;
    });
}

InterfaceLoads interface_loads(const PressureSystem& system, const std::vector<double>& x, double dt) {
    const Domain& domain = *system.domain;
    const Obstacles& obstacles = *system.obstacles;
    const Tiling& tiling = system.network.tiling();
    const double to_unknown = system.to_unknown(dt);
    InterfaceLoads loads;
    loads.wall_impulse = sum_over_tiles<Vec3>(tiling, tile_grain, [&](std::int64_t tile) {
        Vec3 impulse;
        if (system.network.plain(tile)) return impulse;
        system.for_each_liquid_cell(tile, [&](Int3 c, std::int64_t, int local, std::int64_t slot) {
            const double pi = system.potential(x[slot * block + local], to_unknown);
            for (int side = 0; side < 6; ++side) {
                const int axis = side / 2;
                const bool at_side = side % 2 ? c[axis] == domain.cells[axis] - 1 : c[axis] == 0;
                if (at_side && !domain.open(side)) impulse += side_impulse(system, c, side, pi, dt);
            }
        });
        return impulse;
    });
    loads.solids.resize(obstacles.list.size());
    for (const ObstaclePatch& patch : obstacles.patches) {
        const std::int64_t unknown = felt_unknown(system, patch);
        if (unknown < 0) continue;
        const double pi = system.potential(x[unknown], to_unknown);
        const double p = pi + system.density * dot(system.gravity, patch.center);
        bool at_surface = false;
        for (int side = 0; side < 6; ++side) {
            const Int3 beside = patch.at + unit(side / 2) * (side % 2 ? 1 : -1);
            at_surface |=
                domain.has_cell(beside) && system.phi(beside) >= 0 && obstacles.open_volume(beside) > 0;
        }
        // The whole patch counts, as in the solve, whether the solid moves or not, so that forces are equal
        // and opposite. pi is constant in a cell; the hydrostatic part of p is integrated over the patch
        // exactly.
        const Vec3 force = pi * domain.h * domain.h * patch.area + hydrostatic_force(system, patch);
        SolidLoad& load = loads.solids[patch.obstacle];
        load.force += force;
        load.torque += cross(patch.center - obstacles.list[patch.obstacle].after.position, force) +
                       pi * domain.h * domain.h * patch.curl + hydrostatic_torque(system, patch);
        // At the surface, negative pressure means that the patch lies above it and is dry; deeper down it is
        // suction.
        if (p >= 0 || !at_surface) load.wetted_area += length(patch.area) * domain.h * domain.h;
    }
    // On nodes the datum acts on their exact surface (node_interface). Clamped faces between two solids
    // belong to one of them in one cell and may belong to the other in the next, so the two sums differ
    // there.
    for (const NodePatch& patch : obstacles.node_patches)
        if (felt_unknown(system, patch) >= 0)
            loads.solids[patch.obstacle].force +=
                system.density * system.datum * domain.h * domain.h * (patch.exact - patch.area);
    return loads;
}

LiquidUpdate apply_pressure(const PressureSystem& system, const Field<double>& source,
                            const std::vector<Pocket>& sealed, const std::vector<double>& beside_movables,
                            double dt, std::vector<double> x, MacGrid& u) {
    LiquidUpdate update;
    set_lowest_pressure(system, sealed, dt, x);
    update.loads = interface_loads(system, x, dt);
    subtract_gradient(system, std::move(x), dt, u, update.potential, update.changed);
    update.largest_divergence = largest_divergence(system, source, u, beside_movables);
    return update;
}

int find_crusher(const PressureSystem& system, const std::vector<Pocket>& sealed, double dt) {
    const Obstacles& obstacles = *system.obstacles;
    if (sealed.empty() || !obstacles.any()) return -1;
    const Domain& domain = *system.domain;
    const Tiling &tiling = system.network.tiling(), &all = system.phi.tiling();
    std::int64_t liquid = 0;
    for (std::int64_t tile = 0; tile < tiling.owned_count(); ++tile)
        system.for_each_liquid_cell(tile, [&](Int3, std::int64_t, int, std::int64_t) { ++liquid; });
    for (const Pocket& pocket : sealed) {
        if (2 * std::ssize(pocket) <= liquid) continue;
        Field<char> inside(system.phi.shared_tiling(), 0);
        double net = 0, gross = 0;
        for (const std::int64_t n : pocket) {
            const std::int64_t at = all.find(system.network.place(n));
            inside[at] = 1;
            net -= obstacles.outflow[at];
            gross += std::abs(obstacles.outflow[at]);
        }
        // Less than a millionth of the pocket in a step is rounding of the script.
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

}  // namespace flotsam

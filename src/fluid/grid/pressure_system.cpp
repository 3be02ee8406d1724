#include "fluid/grid/pressure_system.h"

#include <algorithm>

namespace flotsam {

namespace {

// Smallest share of a cell between a liquid centre and the surface. The matrix grows as 1/theta: below a
// hundredth the solver slows down and nothing is gained, since the surface is not known that well.
constexpr double least_theta = 0.01;

constexpr int block = Tiling::cells_per_tile;
constexpr std::int64_t tile_grain = 4;

// Whether all cells of a tile and all cells beside it are liquid.
bool all_liquid(const PressureSystem& system, std::int64_t slot) {
    const Tiling& tiling = system.phi.tiling();
    const Int3 first = tiling.first_cell(slot), last = first + Int3{7, 7, 7};
    for (int axis = 0; axis < 3; ++axis)
        if (first[axis] == 0 || last[axis] >= system.domain->cells[axis] - 1) return false;
    const double* own = system.phi.values().data() + slot * block;
    if (std::any_of(own, own + block, [](double d) { return d >= 0; })) return false;
    for (int axis = 0; axis < 3; ++axis)
        for (const int direction : {0, 1}) {
            const std::int32_t beside = tiling.neighbour(slot, axis, direction);
            if (beside < 0) return false;
            const double* values = system.phi.values().data() + std::int64_t{beside} * block;
            const int layer = direction ? 0 : 7, a = 1 << 3 * ((axis + 1) % 3), b = 1 << 3 * ((axis + 2) % 3);
            for (int i = 0; i < 8; ++i)
                for (int j = 0; j < 8; ++j)
                    if (values[(layer << 3 * axis) + i * a + j * b] >= 0) return false;
        }
    return true;
}

// Labels the connected components of the liquid and collects those without a free surface.
std::vector<Pocket> find_sealed(const Network<double>& network) {
    // Within a tile, each cell's label is the lowest cell it is connected to; a plain tile is one component.
    std::vector<std::int32_t> parent(network.value_count());
    parallel_for(network.slot_count(), tile_grain, [&](std::int64_t slot) {
        const auto base = static_cast<std::int32_t>(slot * block);
        if (network.plain(slot)) {
            std::fill_n(parent.begin() + base, block, base);
            return;
        }
        const TileCoefficients<double>& c = network.coefficients(slot);
        const auto root = [&](std::int32_t n) {
            while (parent[n] != n) n = parent[n] = parent[parent[n]];
            return n;
        };
        for (int local = 0; local < block; ++local) {
            parent[base + local] = base + local;
            for (int axis = 0; axis < 3; ++axis) {
                const int stride = 1 << (3 * axis);
                if ((local >> (3 * axis) & 7) == 0 || c.link[axis][local] == 0) continue;
                const std::int32_t a = root(base + local), b = root(base + local - stride);
                parent[std::max(a, b)] = std::min(a, b);
            }
        }
        for (int local = 0; local < block; ++local) parent[base + local] = root(base + local);
    });
    const auto root = [&](std::int32_t n) {
        while (parent[n] != n) n = parent[n] = parent[parent[n]];
        return n;
    };
    for (std::int64_t slot = 0; slot < network.slot_count(); ++slot)
        for (int axis = 0; axis < 3; ++axis) {
            const std::int32_t below = network.neighbour(slot, axis, 0);
            if (below < 0) continue;
            const int stride = 1 << (3 * axis);
            for (int local = 0; local < block; ++local) {
                if ((local >> (3 * axis) & 7) != 0 || network.coefficients(slot).link[axis][local] == 0)
                    continue;
                const std::int32_t a = root(parent[slot * block + local]);
                const std::int32_t b = root(parent[std::int64_t{below} * block + local + 7 * stride]);
                parent[std::max(a, b)] = std::min(a, b);
                if (network.plain(slot) && network.plain(below)) break;  // one link connects them all
            }
        }
    for (const auto& link : network.listed().links) {
        const std::int32_t a = root(static_cast<std::int32_t>(network.first_listed() + link.node));
        const std::int32_t b = root(static_cast<std::int32_t>(link.other));
        parent[std::max(a, b)] = std::min(a, b);
    }
    std::vector<char> held(network.value_count(), 0);
    for (std::int64_t slot = 0; slot < network.slot_count(); ++slot) {
        if (network.plain(slot)) continue;
        for (int local = 0; local < block; ++local)
            for (int axis = 0; axis < 3; ++axis)
                if (network.ground(slot, axis, local) > 0) held[root(parent[slot * block + local])] = 1;
    }
    std::vector<Pocket> sealed;
    std::vector<std::int32_t> pocket(network.value_count(), -1);
    for (std::int64_t slot = 0; slot < network.slot_count(); ++slot) {
        if (network.plain(slot) && held[root(static_cast<std::int32_t>(slot * block))]) continue;
        for (int local = 0; local < block; ++local) {
            if (network.coefficients(slot).diagonal[local] == 0) continue;
            const std::int32_t body = root(parent[slot * block + local]);
            if (held[body]) continue;
            if (pocket[body] < 0) {
                pocket[body] = static_cast<std::int32_t>(sealed.size());
                sealed.emplace_back();
            }
            sealed[pocket[body]].push_back(slot * block + local);
        }
    }
    return sealed;
}

}  // namespace

Face PressureSystem::face(Int3 c, int axis, int direction, double here, double beyond) const {
    const double area = obstacles->any() ? obstacles->open_face[axis](direction ? c + unit(axis) : c) : 1;
    const double light = lightness[axis].empty() ? 1 : lightness[axis](direction ? c + unit(axis) : c);
    const int next = c[axis] + (direction ? 1 : -1);
    if (next < 0 || next >= domain->cells[axis]) {
        if (here >= 0) return {Face::Kind::none};
        if (area == 0 || !domain->open(2 * axis + direction)) return {Face::Kind::wall};
        // Beyond an open side there is nothing: the surface is at the side.
        return {.kind = Face::Kind::surface, .area = area, .theta = 0.5, .reach = 0.5, .lightness = light};
    }
    if (here >= 0 && beyond >= 0) return {Face::Kind::none};
    if (area == 0) return {Face::Kind::wall};
    if (here < 0 && beyond < 0) return {.kind = Face::Kind::interior, .area = area, .lightness = light};
    const double reach = here < 0 ? here / (here - beyond) : beyond / (beyond - here);  // [Zarifi17 Eq. 4.43]
    // The place of the surface is not clamped with theta: a displaced surface would not be level, and would
    // move.
    return {.kind = Face::Kind::surface,
            .area = area,
            .theta = std::max(reach, least_theta),
            .reach = reach,
            .lightness = light};
}

double PressureSystem::surface_potential(Int3 c, int axis, int direction, double reach) const {
    const Vec3 place = domain->cell_center(c) + Vec3(unit(axis)) * ((direction ? reach : -reach) * domain->h);
    return -dot(gravity, place) - datum;
}

namespace {

// Cells beside a tile that does not exist hold no liquid. There are tiles around all particles, but a film,
// which holds none, may go on beyond: its face there would have no place for a velocity.
void dry_edges(Field<double>& phi, const Domain& domain) {
    const Tiling& tiling = phi.tiling();
    for_each_tile(tiling, tile_grain, [&](std::int64_t slot) {
        for (int side = 0; side < 6; ++side) {
            const int axis = side / 2, layer = side % 2 ? Tiling::side - 1 : 0;
            if (tiling.neighbour(slot, axis, side % 2) >= 0) continue;
            const Int3 beyond = unit(axis) * (side % 2 ? 1 : -1);
            for_each_cell_of_tile(tiling, slot, domain.cells, [&](Int3 c, std::int64_t n) {
                if ((c[axis] & (Tiling::side - 1)) == layer && phi[n] < 0 && domain.has_cell(c + beyond))
                    phi[n] = domain.h;
            });
        }
    });
}

}  // namespace

PressureSystem pressure_system(const Domain& domain, Field<double> phi, Vec3 gravity, double density,
                               const Obstacles& obstacles, Lightness lightness) {
    PressureSystem system{&domain, gravity, density, std::move(phi), &obstacles, std::move(lightness),
                          0,       {},      {}};
    const bool uniform = system.lightness[0].empty();
    // Cells that solids fill hold no liquid, whatever the extrapolated distance says.
    if (obstacles.any())
        for_each_cell(system.phi.tiling(), domain.cells, [&](Int3, std::int64_t n) {
            if (obstacles.open_volume[n] == 0) system.phi[n] = std::max(system.phi[n], domain.h);
        });
    dry_edges(system.phi, domain);
    const Tiling& all = system.phi.tiling();
    std::vector<char> kind(all.tile_count());  // 0 dry, 1 mixed, 2 plain
    for_each_tile(all, tile_grain, [&](std::int64_t slot) {
        for_each_cell_of_tile(all, slot, domain.cells, [&](Int3, std::int64_t n) {
            if (system.phi[n] < 0) kind[slot] = 1;
        });
        const bool cut = obstacles.any() && obstacles.touches[slot];
        if (kind[slot] && !cut && uniform && all_liquid(system, slot)) kind[slot] = 2;
    });
    std::vector<Int3> tiles;
    std::vector<std::int64_t> mixed;
    for (std::int64_t slot = 0; slot < all.owned_count(); ++slot) {
        if (kind[slot] == 1) mixed.push_back(static_cast<std::int64_t>(tiles.size()));
        if (kind[slot]) tiles.push_back(all.tiles()[slot]);
    }
    system.network = Network<double>(std::make_shared<Tiling>(domain.cells, std::move(tiles)));
    system.network.set_mixed(mixed);

    // One row per liquid cell, conductance 1 / theta [Zarifi17 Eq. 4.38 with 4.40; the factor dt / rho is in
    // the unknown].
    struct SurfaceSum {
        double potential = 0, faces = 0;
        SurfaceSum& operator+=(SurfaceSum o) {
            potential += o.potential;
            faces += o.faces;
            return *this;
        }
    };
    const Tiling& tiling = system.network.tiling();
    const SurfaceSum surface =
        fixed_sum<SurfaceSum>(std::int64_t(mixed.size()), tile_grain, [&](std::int64_t m) {
            const std::int64_t slot = mixed[m];
            const TileView<double> distance(system.phi, all.find(tiling.first_cell(slot)) / block);
            TileCoefficients<double>& c = system.network.mixed(slot);
            auto& ground = system.network.ground(slot);
            SurfaceSum sum;
            for_each_cell_of_tile(tiling, slot, domain.cells, [&](Int3 cell, std::int64_t n) {
                const int local = static_cast<int>(n - slot * block);
                if (distance[local] >= 0) return;
                for (int axis = 0; axis < 3; ++axis)
                    for (const int direction : {0, 1}) {
                        const double beyond =
                            direction ? distance.higher(local, axis) : distance.lower(local, axis);
                        const Face f = system.face(cell, axis, direction, distance[local], beyond);
                        if (f.kind == Face::Kind::interior && direction == 0)
                            c.link[axis][local] = f.conductance();
                        if (f.kind != Face::Kind::surface) continue;
                        ground[axis][local] += f.conductance();
                        sum += {system.surface_potential(cell, axis, direction, f.reach), 1};
                    }
            });
            return sum;
        });
    system.network.finish([&](std::int64_t slot, int local) {
        const Int3 cell = cell_at(tiling, slot, local);
        return domain.has_cell(cell) && system.phi(cell) < 0;
    });
    if (surface.faces > 0) system.datum = surface.potential / surface.faces;
    system.sealed = find_sealed(system.network);
    return system;
}

bool leave_out_slits(PressureSystem& system, const Field<double>& open_volume) {
    bool any = false;
    for (const Pocket& pocket : system.sealed) {
        std::vector<std::int64_t> cells;
        double volume = 0;
        for (const std::int64_t n : pocket) {
            cells.push_back(system.phi.tiling().find(system.network.place(n)));
            volume += open_volume[cells.back()];
        }
        if (volume >= 1) continue;
        for (const std::int64_t n : cells) system.phi[n] = system.domain->h;
        any = true;
    }
    return any;
}

}  // namespace flotsam

#include "fluid/grid/projection.h"

#include <algorithm>
#include <optional>

#include "core/check.h"
#include "core/stopwatch.h"
#include "fluid/grid/surface.h"
#include "linalg/coupled_forms.h"
#include "linalg/multigrid.h"

namespace flotsam {

namespace {

// Smallest share of a cell between a liquid centre and the surface. The matrix grows as 1/theta: below a
// hundredth the solver slows down and nothing is gained, since the surface is not known that well.
constexpr double least_theta = 0.01;

constexpr int block = Tiling::cells_per_tile;
constexpr std::int64_t tile_grain = 4;

Int3 cell_at(const Tiling& tiling, std::int64_t slot, int local) {
    return tiling.first_cell(slot) + Int3{local & 7, local >> 3 & 7, local >> 6};
}

// A tile whose cells are all liquid, and all those beside it too.
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

// Labels connected liquid and collects the bodies that no free surface holds.
std::vector<std::vector<std::int64_t>> find_sealed(const Network<double>& network) {
    const Tiling& tiling = network.tiling();
    // Within a tile, each cell's label is the lowest cell it is connected to; a plain tile is one body.
    std::vector<std::int32_t> parent(tiling.value_count());
    parallel_for(tiling.tile_count(), tile_grain, [&](std::int64_t slot) {
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
    for (std::int64_t slot = 0; slot < tiling.tile_count(); ++slot)
        for (int axis = 0; axis < 3; ++axis) {
            const std::int32_t below = tiling.neighbour(slot, axis, 0);
            if (below < 0) continue;
            const int stride = 1 << (3 * axis);
            for (int local = 0; local < block; ++local) {
                if ((local >> (3 * axis) & 7) != 0 || network.coefficients(slot).link[axis][local] == 0)
                    continue;
                const std::int32_t a = root(parent[slot * block + local]);
                const std::int32_t b = root(parent[std::int64_t{below} * block + local + 7 * stride]);
                parent[std::max(a, b)] = std::min(a, b);
                if (network.plain(slot) && network.plain(below)) break;  // one link tells all
            }
        }
    std::vector<char> held(tiling.value_count(), 0);
    for (std::int64_t slot = 0; slot < tiling.tile_count(); ++slot) {
        if (network.plain(slot)) continue;
        for (int local = 0; local < block; ++local)
            for (int axis = 0; axis < 3; ++axis)
                if (network.ground(slot, axis, local) > 0) held[root(parent[slot * block + local])] = 1;
    }
    std::vector<std::vector<std::int64_t>> sealed;
    std::vector<std::int32_t> pocket(tiling.value_count(), -1);
    for (std::int64_t slot = 0; slot < tiling.tile_count(); ++slot) {
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

}  // namespace

Face PressureSystem::face(Int3 c, int axis, int direction, double here, double beyond) const {
    const double area = obstacles->any() ? obstacles->open_face[axis](direction ? c + unit(axis) : c) : 1;
    const int next = c[axis] + (direction ? 1 : -1);
    if (next < 0 || next >= domain->cells[axis]) {
        if (here >= 0) return {Face::Kind::none};
        if (area == 0 || !domain->open(2 * axis + direction)) return {Face::Kind::wall};
        // Beyond an open side there is nothing: the surface is at the side.
        return {.kind = Face::Kind::surface, .area = area, .theta = 0.5, .reach = 0.5};
    }
    if (here >= 0 && beyond >= 0) return {Face::Kind::none};
    if (area == 0) return {Face::Kind::wall};
    if (here < 0 && beyond < 0) return {Face::Kind::interior, area};
    const double reach = here < 0 ? here / (here - beyond) : beyond / (beyond - here);  // [Zarifi17 Eq. 4.43]
    // The place of the surface is not clamped with theta: a displaced surface would not be level, and would
    // move.
    return {.kind = Face::Kind::surface, .area = area, .theta = std::max(reach, least_theta), .reach = reach};
}

double PressureSystem::surface_potential(Int3 c, int axis, int direction, double reach) const {
    const Vec3 place = domain->cell_center(c) + Vec3(unit(axis)) * ((direction ? reach : -reach) * domain->h);
    return -dot(gravity, place) - datum;
}

template <class Body>
void PressureSystem::for_each_liquid_cell(std::int64_t slot, const Body& body) const {
    const Tiling& tiling = network.tiling();
    const std::int64_t base = phi.tiling().find(tiling.first_cell(slot));
    const TileCoefficients<double>& c = network.coefficients(slot);
    for (int local = 0; local < block; ++local)
        if (c.diagonal[local] != 0) body(cell_at(tiling, slot, local), base + local, local, slot);
}

PressureSystem pressure_system(const Domain& domain, Field<double> phi, Vec3 gravity, double density,
                               const Obstacles& obstacles) {
    PressureSystem system{&domain, gravity, density, std::move(phi), &obstacles, 0, {}, {}};
    // Cells that solids fill hold no liquid, whatever the continued distance says.
    if (obstacles.any())
        for_each_cell(system.phi.tiling(), domain.cells, [&](Int3, std::int64_t n) {
            if (obstacles.open_volume[n] == 0) system.phi[n] = std::max(system.phi[n], domain.h);
        });
    const Tiling& all = system.phi.tiling();
    std::vector<char> kind(all.tile_count());  // 0 dry, 1 mixed, 2 plain
    parallel_for(all.tile_count(), tile_grain, [&](std::int64_t slot) {
        for_each_cell_of_tile(all, slot, domain.cells, [&](Int3, std::int64_t n) {
            if (system.phi[n] < 0) kind[slot] = 1;
        });
        const bool cut = obstacles.any() && obstacles.touches[slot];
        if (kind[slot] && !cut && all_liquid(system, slot)) kind[slot] = 2;
    });
    std::vector<Int3> tiles;
    std::vector<std::int64_t> mixed;
    for (std::int64_t slot = 0; slot < all.tile_count(); ++slot) {
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
                        if (f.kind == Face::Kind::interior && direction == 0) c.link[axis][local] = f.area;
                        if (f.kind != Face::Kind::surface) continue;
                        ground[axis][local] += f.area / f.theta;
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
    const Tiling& tiling = system.network.tiling();
    bool any = false;
    for (const std::vector<std::int64_t>& pocket : system.sealed) {
        std::vector<std::int64_t> cells;
        double volume = 0;
        for (const std::int64_t n : pocket) {
            cells.push_back(system.phi.tiling().find(tiling.first_cell(n / block)) + n % block);
            volume += open_volume[cells.back()];
        }
        if (volume >= 1) continue;
        for (const std::int64_t n : cells) system.phi[n] = system.domain->h;
        any = true;
    }
    return any;
}

namespace {

// The cell whose pressure a patch feels, in phi's tiling, or -1: its own, if that is liquid; one beside it
// where the solid all but fills the patch's own.
template <class AnyPatch>
std::int64_t felt_cell(const PressureSystem& system, const AnyPatch& patch) {
    if (system.phi[patch.cell] < 0) return patch.cell;
    if (system.obstacles->open_volume[patch.cell] > 0) return -1;
    for (int side = 0; side < 6; ++side) {
        const Int3 beside = patch.at + unit(side / 2) * (side % 2 ? 1 : -1);
        if (system.domain->has_cell(beside) && system.phi(beside) < 0)
            return system.phi.tiling().find(beside);
    }
    return -1;
}

// The weight of the water in p = pi + rho g.x, integrated over a patch exactly [N].
template <class AnyPatch>
Vec3 hydrostatic_force(const PressureSystem& system, const AnyPatch& patch) {
    Vec3 force;
    for (int d = 0; d < 3; ++d) force -= system.density * system.gravity[d] * patch.moment[d];
    return force;
}

// The bodies' part of the solve. J maps the six velocities of each body to what they push out of each liquid
// cell, its transpose maps x to the bodies' impulses [Zarifi17 5.2.3; Batty 2007]. Nothing is spread by
// volume: both are the patches' exact area vectors.
class BodyTerm {
  public:
    BodyTerm(const PressureSystem& system, std::vector<MovableBody>& bodies, double dt)
        : bodies_(bodies),
          to_impulse_(system.density * std::pow(system.domain->h, 3)),
          sealed_(system.sealed) {
        if (bodies.empty()) return;
        const double h = system.domain->h;
        const Tiling& tiling = system.network.tiling();
        std::vector<int> body_of(system.obstacles->list.size(), -1);
        for (std::size_t b = 0; b < bodies.size(); ++b) body_of[bodies[b].obstacle] = int(b);
        std::vector<ModeEntry<double>> entries;
        weight_.resize(bodies.size());
        for (const ObstaclePatch& patch : system.obstacles->patches) {
            const int b = body_of[patch.obstacle];
            if (b < 0 || felt_cell(system, patch) < 0) continue;
            const Vec3 arm = patch.center - bodies[b].center;
            // What is known of pi beforehand: the datum and the weight of the water.
            const Vec3 weight = hydrostatic_force(system, patch) * dt;
            const Vec3 turning = cross(arm, patch.area) + patch.curl;
            const double datum = system.density * system.datum * h * h * dt;
            add(weight_[b], weight + datum * patch.area, cross(arm, weight) + datum * turning);
            if (system.phi[patch.cell] >= 0) continue;
            entries.push_back({std::uint32_t(tiling.find(patch.at)), b, {}});
            add(entries.back().flux, patch.area, turning);
        }
        std::erase_if(sealed_, [&](const auto& pocket) { return yields(pocket, system, entries); });
        std::vector<SixBySix<double>> compliance(bodies.size());
        for (std::size_t b = 0; b < bodies.size(); ++b)
            for (int i = 0; i < 3; ++i) {
                compliance[b][i][i] = to_impulse_ * bodies[b].inverse_mass[i];
                for (int j = 0; j < 3; ++j)
                    compliance[b][3 + i][3 + j] = to_impulse_ * bodies[b].inverse_inertia.row[i][j];
            }
        modes_ = LowRank<double>(tiling.tile_count(), std::move(entries), std::move(compliance));
    }
    const LowRank<double>& modes() const { return modes_; }
    // The pockets of liquid that neither a free surface nor a body gives way to.
    const std::vector<std::vector<std::int64_t>>& sealed() const { return sealed_; }

    // What flows out of each cell beside the bodies is added to `to`, `sign` times: of their motion without
    // x, or of their motion as it is.
    void add_known_outflow(std::vector<double>& to, double sign) const {
        add_outflow(to, sign, [&](std::size_t b) { return moved(b, {}); });
    }
    void add_outflow(std::vector<double>& to, double sign) const {
        add_outflow(to, sign, [&](std::size_t b) { return bodies_[b].motion; });
    }
    // The motion that x gives them.
    void move(const std::vector<double>& x) {
        if (bodies_.empty()) return;
        std::vector<Six<double>> impulse = modes_.gather(x);
        for (std::size_t b = 0; b < bodies_.size(); ++b) {
            for (double& value : impulse[b]) value *= to_impulse_;
            bodies_[b].motion = moved(b, impulse[b]);
        }
    }

  private:
    // Whether a pocket's liquid can push a body aside. A body that is all inside it cannot be pushed by a
    // constant pressure: small sums of its fluxes, which closed slivers leave, are taken out, or that
    // pressure would grow until they balance what flows into the pocket.
    bool yields(const std::vector<std::int64_t>& pocket, const PressureSystem& system,
                std::vector<ModeEntry<double>>& entries) const {
        const Tiling& tiling = system.network.tiling();
        std::vector<char> inside(tiling.value_count(), 0);
        for (const std::int64_t n : pocket) inside[n] = 1;
        // What an entry could be at most, all but for a factor.
        const auto size = [&](const ModeEntry<double>& entry) {
            const Vec3 at =
                system.domain->cell_center(cell_at(tiling, entry.cell / block, entry.cell % block));
            const double area = std::hypot(entry.flux[0], entry.flux[1], entry.flux[2]);
            const double arm = area * length(at - bodies_[entry.group].center);
            return Six<double>{area, area, area, arm, arm, arm};
        };
        std::vector<Six<double>> sum(bodies_.size()), all(bodies_.size());
        for (const ModeEntry<double>& entry : entries)
            if (inside[entry.cell])
                for (int k = 0; k < 6; ++k) {
                    sum[entry.group][k] += entry.flux[k];
                    all[entry.group][k] += size(entry)[k];
                }
        for (std::size_t b = 0; b < bodies_.size(); ++b)
            for (int k = 0; k < 6; ++k)
                if (std::abs(sum[b][k]) > 0.01 * all[b][k]) return true;
        for (ModeEntry<double>& entry : entries) {
            if (!inside[entry.cell]) continue;
            const Six<double> share = size(entry);
            for (int k = 0; k < 6; ++k)
                if (const double whole = all[entry.group][k]; whole > 0)
                    entry.flux[k] -= sum[entry.group][k] * share[k] / whole;
        }
        return false;
    }
    static void add(Six<double>& six, Vec3 linear, Vec3 angular) {
        for (int a = 0; a < 3; ++a) six[a] += linear[a], six[3 + a] += angular[a];
    }
    Twist moved(std::size_t b, const Six<double>& impulse) const {
        const MovableBody& body = bodies_[b];
        Twist twist = body.free;
        Vec3 angular;
        for (int a = 0; a < 3; ++a) {
            twist.velocity[a] += body.inverse_mass[a] * (impulse[a] + weight_[b][a]);
            angular[a] = impulse[3 + a] + weight_[b][3 + a];
        }
        twist.spin += body.inverse_inertia * angular;
        return twist;
    }
    template <class Motion>
    void add_outflow(std::vector<double>& to, double sign, const Motion& motion) const {
        if (modes_.empty()) return;
        std::vector<Six<double>> v(bodies_.size());
        for (std::size_t b = 0; b < v.size(); ++b) {
            const Twist twist = motion(b);
            add(v[b], twist.velocity, twist.spin);
        }
        modes_.scatter(v, std::span(to), [=](std::int64_t) { return sign; });
    }

    std::vector<MovableBody>& bodies_;
    double to_impulse_;                // of x times face areas [kg]
    std::vector<Six<double>> weight_;  // impulse of what is known of pi
    std::vector<std::vector<std::int64_t>> sealed_;
    LowRank<double> modes_;
};

// The elastic solids' part of the solve: J S^-1 J^T, with J down to their nodes [Zarifi17 5.1]. S is
// eliminated exactly; the pressure is all that is left to solve for.
class YieldingTerm final : public AddedTerm {
  public:
    // `together`: their equation is not eliminated.
    YieldingTerm(const PressureSystem& system, YieldingSolids* solids, double dt, bool together)
        : solids_(solids),
          together_(together && solids && solids->answers()),
          to_impulse_(system.density * std::pow(system.domain->h, 3)) {
        if (!solids) return;
        const double h = system.domain->h;
        const Tiling& tiling = system.network.tiling();
        std::vector<InterfaceEntry> entries;
        known_.assign(solids->nodes(), {});
        for (const NodePatch& patch : system.obstacles->node_patches) {
            if (felt_cell(system, patch) < 0) continue;
            const double datum = system.density * system.datum * h * h;
            known_[patch.node] += dt * (hydrostatic_force(system, patch) + datum * patch.exact);
            if (system.phi[patch.cell] < 0)
                entries.push_back({std::uint32_t(tiling.find(patch.at)), patch.node, patch.area});
        }
        map_ = InterfaceMap(tiling.tile_count(), solids->nodes(), std::move(entries));
        impulse_.resize(known_.size());
        velocity_.resize(known_.size());
        seen_.resize(known_.size());
    }
    explicit operator bool() const { return solids_ != nullptr; }
    bool answers() const { return solids_ && solids_->answers(); }
    bool together() const { return together_; }

    bool linearize() { return !solids_ || solids_->linearize(known_); }
    // Leaves the pockets that no surface of these solids gives way to.
    void keep_sealed(std::vector<std::vector<std::int64_t>>& sealed) const {
        if (!answers()) return;
        std::erase_if(sealed, [&](const std::vector<std::int64_t>& pocket) {
            const auto by_cell = [](const InterfaceEntry& e, std::int64_t n) { return e.cell < n; };
            return std::any_of(pocket.begin(), pocket.end(), [&](std::int64_t n) {
                const auto at = std::lower_bound(map_.entries().begin(), map_.entries().end(), n, by_cell);
                return at != map_.entries().end() && at->cell == n;
            });
        });
    }
    void add_known_outflow(std::vector<double>& to, double sign) const {
        if (together_)
            map_.scatter(solids_->equation(false).from, to, sign);
        else if (solids_)
            map_.scatter(solids_->free(), to, sign);
    }
    void add_outflow(std::vector<double>& to, double sign) const {
        if (solids_) map_.scatter(seen_, to, sign);
    }
    // Liquid and solids as one system of pressures and velocities [Zarifi17 Eq. 5.15-5.16].
    CoupledSystem coupled(const PressureSystem& system, AssembledNetwork assembled, double dt,
                          const std::vector<double>& rhs, bool factors) const {
        const double h = system.domain->h;
        CoupledSystem coupled{
            std::move(assembled.matrix), map_.entries(), solids_->equation(factors), dt, {}};
        std::vector<std::uint32_t> row(rhs.size());
        for (const std::int64_t n : assembled.cell_index) {
            row[n] = std::uint32_t(coupled.rhs.size());
            coupled.rhs.push_back(h * h * rhs[n]);
        }
        for (double& value : coupled.liquid.value) value *= dt * h / system.density;
        for (InterfaceEntry& entry : coupled.interface)
            entry.cell = row[entry.cell], entry.area = h * h * entry.area;
        return coupled;
    }
    // Solves that system: x and the nodes' velocity.
    SolveReport solve_together(const PressureSystem& system, double dt, SolverSettings settings,
                               const std::vector<double>& rhs, std::vector<double>& x) {
        const double h = system.domain->h, to_pressure = system.density * h / dt;
        if (settings.name == "iccg") settings.name = "spd";
        settings.tolerance.absolute *= h * h;
        AssembledNetwork assembled = assemble(system.network);
        const std::vector<std::int64_t> cell = assembled.cell_index;
        const bool factors = settings.inspect || coupled_form(settings.name) == CoupledForm::factored;
        const CoupledSystem all = coupled(system, std::move(assembled), dt, rhs, factors);
        if (settings.inspect) settings.inspect(all);
        std::vector<double> p;
        for (const std::int64_t n : cell) p.push_back(to_pressure * x[n]);
        const SolveReport report = flotsam::solve(all, settings, p, seen_);
        for (std::size_t r = 0; r < p.size(); ++r) x[cell[r]] = p[r] / to_pressure;
        return report;
    }
    // The motion that x gives them.
    void move(const std::vector<double>& x) {
        if (!solids_) return;
        find_impulse(x);
        if (together_) return;  // it was found with x
        seen_.assign(solids_->free().begin(), solids_->free().end());
        if (!answers()) return;
        solids_->answer(impulse_, velocity_);
        for (std::size_t n = 0; n < seen_.size(); ++n) seen_[n] += velocity_[n];
    }
    bool take() {
        return solids_ &&
               solids_->take(impulse_, together_ ? std::span<const Vec3>(seen_) : std::span<const Vec3>());
    }

    void add(std::span<const double> x, std::span<double> y) const override {
        find_impulse(x);
        solids_->answer(impulse_, velocity_);
        map_.scatter(velocity_, y, 1);
    }
    // For the preconditioner S^-1 is what each node does alone, and what bodies do as rigid ones.
    AddedGuess guess() const {
        AddedGuess guess;
        if (!answers()) return guess;
        YieldingSolids::Lumps lumps = solids_->lumps();
        std::vector<Vec3> yields(known_.size());
        for (const InterfaceEntry& entry : map_.entries()) yields[entry.node] += entry.area;
        for (std::size_t n = 0; n < yields.size(); ++n) yields[n] = lumps.own[n] * yields[n] * to_impulse_;
        const std::vector<InterfaceEntry>& entries = map_.entries();
        for (std::size_t e = 0; e < entries.size();) {
            const std::uint32_t cell = entries[e].cell;
            double conductance = 0;
            Vec3 across;
            for (; e < entries.size() && entries[e].cell == cell; ++e) {
                const InterfaceEntry& entry = entries[e];
                conductance += dot(entry.area, yields[entry.node]);
                for (int a = 0; a < 3; ++a) across[a] += std::abs(entry.area[a]);
                const Vec3 turning = cross(lumps.arm[entry.node], entry.area);
                guess.entries.push_back(
                    {cell,
                     lumps.lump[entry.node],
                     {entry.area.x, entry.area.y, entry.area.z, turning.x, turning.y, turning.z}});
            }
            const int axis = across.x >= across.y && across.x >= across.z ? 0 : across.y >= across.z ? 1 : 2;
            if (conductance > 0) guess.grounds.push_back({cell, axis, conductance});
        }
        guess.compliance = std::move(lumps.compliance);
        for (SixBySix<double>& c : guess.compliance)
            for (Six<double>& row : c)
                for (double& value : row) value *= to_impulse_;
        return guess;
    }

  private:
    void find_impulse(std::span<const double> x) const {
        map_.gather(x, impulse_);
        for (Vec3& w : impulse_) w *= to_impulse_;
    }

    YieldingSolids* solids_;
    bool together_;
    double to_impulse_;  // of x times face areas [kg]
    InterfaceMap map_;
    std::vector<Vec3> known_;
    std::vector<Vec3> seen_;                        // how the liquid sees the nodes move
    mutable std::vector<Vec3> impulse_, velocity_;  // scratch
};

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
            x[slot * block + local] = (potential(c) / system.density - system.datum) * to_unknown;
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
    report.solve.converged = yielding_term.linearize();
    if (!report.solve.converged) return report;
    std::optional<Multigrid> multigrid;
    if (!assembled)
        multigrid.emplace(system.network, body_term.modes(),
                          yielding_term.answers() ? &yielding_term : nullptr, yielding_term.guess());
    const auto solve_once = [&](const SolveTolerance& tolerance) {
        std::vector<double> rhs = b;
        body_term.add_known_outflow(rhs, -1);
        yielding_term.add_known_outflow(rhs, -1);
        // A sealed pocket cannot change its volume: what flows into it on the whole is removed and reported.
        report.removed_flux = 0;
        for (const std::vector<std::int64_t>& pocket : sealed) {
            double inflow = 0;
            for (const std::int64_t n : pocket) inflow += rhs[n];
            for (const std::int64_t n : pocket) rhs[n] -= inflow / double(pocket.size());
            report.removed_flux += inflow * domain.h * domain.h;
        }
        const int before = report.solve.iterations;
        if (yielding_term.together())
            report.solve = yielding_term.solve_together(system, dt, solver, rhs, x);
        else if (assembled)
            report.solve = solve_iccg(system.network, body_term.modes(), rhs, x, tolerance);
        else
            report.solve = multigrid->solve(rhs, x, tolerance);
        report.solve.iterations += before;
        body_term.move(x);
        yielding_term.move(x);
    };
    // Contacts and the pressure agree after a few rounds, each from where the last one ended. Until they do,
    // a rough solution is enough for them to be found.
    SolveTolerance rough = solver.tolerance;
    rough.relative = std::max(rough.relative, 1e-3);
    const auto agree = [&](const SolveTolerance& tolerance, int most_rounds) {
        for (int round = 0; round < most_rounds && report.solve.converged && respond(bodies); ++round)
            solve_once(tolerance);
    };
    if (respond) {
        solve_once(rough);
        agree(rough, 6);
    }
    solve_once(solver.tolerance);
    if (respond) agree(solver.tolerance, 2);
    // What came out may change the elastic solids' equation: where they touch something, or how far they
    // turn.
    while (report.solve.converged && yielding_term.take()) {
        report.solve.converged = yielding_term.linearize();
        if (!report.solve.converged) return report;
        solve_once(solver.tolerance);
        if (respond) agree(solver.tolerance, 2);
    }
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
    std::vector<char> movable(obstacles.list.size(), 0);
    for (const MovableBody& body : bodies) movable[body.obstacle] = 1;
    for (const NodePatch& patch : obstacles.node_patches) movable[patch.obstacle] = 1;
    for (const ObstaclePatch& patch : obstacles.patches) {
        const std::int64_t cell = felt_cell(system, patch);
        if (cell < 0) continue;
        // Below zero at the surface the patch lies above it; deeper down that is suction, and pulls.
        const double p = potential[cell] + system.density * dot(system.gravity, patch.center);
        bool at_surface = false;
        for (int side = 0; side < 6; ++side) {
            const Int3 beside = patch.at + unit(side / 2) * (side % 2 ? 1 : -1);
            at_surface |=
                domain.has_cell(beside) && system.phi(beside) >= 0 && obstacles.open_volume(beside) > 0;
        }
        // A body that moves feels all of it, as in the solve.
        if (p < 0 && at_surface && !movable[patch.obstacle]) continue;
        // pi is constant in a cell; the weight of the water in p is integrated over the patch exactly.
        const Vec3 force =
            potential[cell] * domain.h * domain.h * patch.area + hydrostatic_force(system, patch);
        SolidLoad& load = report.loads[patch.obstacle];
        load.force += force;
        if (patch.film) report.wall_impulse += force * dt;
        load.torque += cross(patch.center - obstacles.list[patch.obstacle].after.position, force) +
                       potential[cell] * domain.h * domain.h * patch.curl;
        load.wetted_area += length(patch.area) * domain.h * domain.h;
    }
    return report;
}

}  // namespace flotsam

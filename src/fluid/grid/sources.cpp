#include "fluid/grid/sources.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/random.h"
#include "fluid/grid/confines.h"
#include "fluid/grid/sample.h"

namespace flotsam {

namespace {

bool is_open(const Emitter& emitter, double time, double dt) {
    return time + dt > emitter.from && time < emitter.until;
}

// Points that travel with an emitter's velocity, during one step or the part of it that the emitter is open.
class Inflow {
  public:
    Inflow(const Emitter& emitter, const Domain& domain, double time, double dt)
        : emitter_(emitter),
          box_(emitter.region->bounds()),
          fills_(time <= emitter.from),
          begin_(std::max(time, emitter.from)),
          end_(std::min(time + dt, emitter.until)) {
        box_ = {max(box_.low, Vec3{0, 0, 0}), min(box_.high, domain.size())};
        // Looked for in pieces of its way, so that no point jumps over a thin region.
        const Vec3 size = box_.high - box_.low;
        const double thin = std::min({domain.h, size.x, size.y, domain.flat() ? size.x : size.z});
        pieces_ = std::max(1, int(std::ceil(4 * length(way()) / thin)));
    }

    double end() const { return end_; }
    Vec3 way() const { return emitter_.velocity * (end_ - begin_); }
    // Where the points that come in are when it ends.
    Box reach() const { return {min(box_.low, box_.low + way()), max(box_.high, box_.high + way())}; }

    // When the point that ends at `x` comes into the region, if it does. The first step fills the region.
    std::optional<double> entry(Vec3 x) const {
        if (fills_) return inside(x) ? std::optional(end_) : std::nullopt;
        bool was_inside = inside(x - way());
        for (int piece = 1; piece <= pieces_; ++piece) {
            const double left = 1 - double(piece) / pieces_;
            const bool is_inside = inside(x - left * way());
            if (is_inside && !was_inside) return end_ - left * (end_ - begin_);
            was_inside = is_inside;
        }
        return std::nullopt;
    }

  private:
    bool inside(Vec3 x) const { return box_.contains(x) && emitter_.region->contains(x); }

    const Emitter& emitter_;
    Box box_;
    bool fills_;
    double begin_, end_;
    int pieces_ = 1;
};

void impose_velocity(Particles& particles, const Emitter& emitter) {
    parallel_for(particles.count(), 4096, [&](std::int64_t i) {
        if (!emitter.region->contains(Vec3(particles.position[i]))) return;
        particles.velocity[i] = Vec3f(emitter.velocity);
        for (auto& row : particles.affine)
            if (!row.empty()) row[i] = {};
    });
}

}  // namespace

Exchange emit(Particles& particles, const Domain& domain, const LiquidSettings& settings, double time,
              double dt, double now, const std::vector<Obstacle>& obstacles) {
    const bool carries_velocity = settings.carrier != Carrier::markers;
    const Confines confines(domain, obstacles);
    const Vec3 lowest = Vec3{1, 1, 1} * confines.gap(), highest = domain.size() - lowest;
    Exchange exchange;
    for (std::size_t e = 0; e < settings.emitters.size(); ++e) {
        const Emitter& emitter = settings.emitters[e];
        if (!is_open(emitter, time, dt)) continue;
        if (carries_velocity) impose_velocity(particles, emitter);

        const Inflow inflow(emitter, domain, time, dt);
        // The lattice has travelled `shift` since the emitter opened.
        const Vec3 shift = emitter.velocity * (inflow.end() - emitter.from);
        const Box reach = inflow.reach();
        const Int3 low = domain.cell_of(reach.low - shift) - Int3{1, 1, 1},
                   high = domain.cell_of(reach.high - shift) + Int3{1, 1, 1};
        const std::uint64_t seed = combine(settings.seed, 1000 + e);
        const auto let_in = [&](Vec3 x) {
            const std::optional<double> entry = inflow.entry(x);
            if (!entry) return;
            Vec3 place = min(max(x - emitter.velocity * (inflow.end() - now), lowest), highest);
            if (std::any_of(obstacles.begin(), obstacles.end(),
                            [&](const Obstacle& o) { return o.distance(place) <= 0; }))
                return;
            if (*entry < now) place = confines.stop(x - emitter.velocity * (inflow.end() - *entry), place);
            particles.position.push_back(Vec3f(place));
            if (carries_velocity) particles.velocity.push_back(Vec3f(emitter.velocity));
            ++exchange.count;
            exchange.velocity_sum += emitter.velocity;
        };
        for (int k = domain.flat() ? 0 : low.z; k <= (domain.flat() ? 0 : high.z); ++k)
            for (int j = low.y; j <= high.y; ++j)
                for (int i = low.x; i <= high.x; ++i) {
                    const SeedPoints points = seed_points(domain, {i, j, k}, seed, shift);
                    for (int p = 0; p < points.count; ++p) let_in(points.point[p]);
                }
    }
    resize_like_positions(particles, settings.carrier);
    return exchange;
}

void impose_emitters(MacGrid& u, const Domain& domain, const LiquidSettings& settings, double time,
                     double dt) {
    for (const Emitter& emitter : settings.emitters) {
        if (!is_open(emitter, time, dt)) continue;
        for (int axis = 0; axis < 3; ++axis)
            for_each_cell(u[axis].tiling(), domain.cells + unit(axis), [&](Int3 c, std::int64_t n) {
                // Half a cell beyond the region: a nozzle thinner than a cell may contain no face at all.
                if (emitter.region->distance(domain.face_center(c, axis)) <= 0.5 * domain.h)
                    u[axis][n] = emitter.velocity[axis];
            });
    }
}

Exchange drain(Particles& particles, const MacGrid& u, const Domain& domain, const LiquidSettings& settings,
               double time) {
    Exchange exchange;
    std::vector<const Shape*> sinks;  // that are open now
    for (const Sink& sink : settings.sinks)
        if (time >= sink.from && time < sink.until) sinks.push_back(sink.region.get());
    // Particles at least half the gap of Confines inside the domain need no cell look-up; usually all are.
    const Vec3f low(Vec3{1, 1, 1} * (5e-4 * domain.h)), high(domain.size() - Vec3(low));
    const auto inside = [&](Vec3f p) {
        return (p.x > low.x) & (p.y > low.y) & (p.z > low.z) & (p.x < high.x) & (p.y < high.y) &
               (p.z < high.z);
    };
    const auto outside = fixed_sum<std::int64_t>(
        particles.count(), 4096, [&](std::int64_t i) { return !inside(particles.position[i]); });
    if (outside == 0 && sinks.empty()) return exchange;
    std::vector<char> dead(particles.count(), 0);
    const auto any = fixed_sum<std::int64_t>(particles.count(), 4096, [&](std::int64_t i) {
        const Vec3f p = particles.position[i];
        if (!inside(p)) dead[i] = !domain.has_cell(domain.cell_of(Vec3(p)));
        for (const Shape* sink : sinks)
            if (sink->contains(Vec3(p))) dead[i] = 1;
        return std::int64_t{dead[i]};
    });
    if (any == 0) return exchange;
    for (std::int64_t i = 0; i < particles.count(); ++i)
        if (dead[i]) {
            ++exchange.count;
            exchange.velocity_sum += particles.velocity.empty()
                                         ? sample_velocity(u, domain, Vec3(particles.position[i]))
                                         : Vec3(particles.velocity[i]);
        }
    remove_particles(particles, dead);
    return exchange;
}

namespace {

// Connected components of a tile's cells, through open faces inside the tile: a label per cell.
std::array<int, Tiling::cells_per_tile> connected_parts(const Tiling& tiling, std::int64_t slot,
                                                        const Domain& domain, const Obstacles& obstacles) {
    std::array<int, Tiling::cells_per_tile> part{};
    if (!obstacles.any() || !obstacles.touches[slot]) return part;
    part.fill(-1);
    const Int3 first = tiling.first_cell(slot);
    int parts = 0;
    std::vector<int> reached;
    for (int seed = 0; seed < Tiling::cells_per_tile; ++seed) {
        if (part[seed] >= 0) continue;
        part[seed] = parts;
        reached.assign(1, seed);
        while (!reached.empty()) {
            const int local = reached.back();
            reached.pop_back();
            const Int3 at{local & 7, local >> 3 & 7, local >> 6};
            for (int axis = 0; axis < 3; ++axis)
                for (const int direction : {0, 1}) {
                    const Int3 beside = direction ? at + unit(axis) : at - unit(axis);
                    if (beside[axis] < 0 || beside[axis] > 7 || !domain.has_cell(first + beside)) continue;
                    const int other = beside.x + 8 * (beside.y + 8 * beside.z);
                    const double open =
                        obstacles
                            .open_face[axis][slot * Tiling::cells_per_tile + (direction ? other : local)];
                    if (part[other] >= 0 || open == 0) continue;
                    part[other] = parts;
                    reached.push_back(other);
                }
        }
        ++parts;
    }
    return part;
}

}  // namespace

Displaced reseed(Particles& particles, const CellRanges& cells, const Domain& domain,
                 const LiquidSettings& settings, const Field<double>& phi, const Obstacles& obstacles,
                 const MacGrid& u, std::int64_t step) {
    // Particles of a cell beyond this many times its rest density move to sparse cells or, if there are none,
    // to a cell beside it. A ball that crosses a tank ten times: fullest cell 6 times rest density without
    // this, 2.4 with it. At 1.25 the period of a standing wave is 0.6 % wrong.
    constexpr double crowded = 1.5;
    const int rest = particles_per_cell(domain);
    const Tiling& tiling = phi.tiling();
    return sum_over_tiles<Displaced>(tiling, 1, [&](std::int64_t slot) {
        struct Spare {
            std::int32_t particle;
            Int3 cell;
        };
        const auto tile_of = [](Int3 c) { return Int3{c.x >> 3, c.y >> 3, c.z >> 3}; };
        std::vector<Spare> spare;
        std::vector<Int3> gaps;  // cells deep inside that lack a particle, once per missing one
        const std::int64_t base = slot * Tiling::cells_per_tile;
        if (cells.begin[base] == cells.begin[base + Tiling::cells_per_tile]) return Displaced{};
        const Int3 first = tiling.first_cell(slot);
        const auto local = [&](Int3 c) {
            return Tiling::local_index(c.x - first.x, c.y - first.y, c.z - first.z);
        };
        for_each_cell_of_tile(tiling, slot, domain.cells, [&](Int3 c, std::int64_t n) {
            const double open = obstacles.any() ? obstacles.open_volume[n] : 1;
            const double full =
                rest * std::max(0.5, open);  // smaller parts hold too few particles to judge by
            const int count = cells.count(n);
            // In a cell that a thin solid divides, particles may be on the side that the cell does not stand
            // for.
            const bool divided = obstacles.any() && obstacles.split[n];
            for (int extra = 0; !divided && extra < count - std::ceil(crowded * full); ++extra)
                spare.push_back({cells.begin[n] + extra, c});
            // Near the surface, few particles mean little liquid, not a gap.
            if (open < 1 || phi[n] > -1.5 * domain.h) return;
            for (int missing = 0; missing < rest - count; ++missing) gaps.push_back(c);
        });
        if (spare.empty()) return Displaced{};
        const auto part = connected_parts(tiling, slot, domain, obstacles);
        std::array<int, Tiling::cells_per_tile> added{};
        Displaced moves;
        for (const Spare& from : spare) {
            const std::uint64_t key =
                combine(combine(settings.seed, std::uint64_t(step)), std::uint64_t(from.particle));
            const int side_of_solids = part[local(from.cell)];
            Int3 to = from.cell;
            for (std::size_t i = 0; i < gaps.size() && to == from.cell; ++i) {
                Int3& gap = gaps[(key + i) % gaps.size()];
                if (part[local(gap)] != side_of_solids) continue;
                to = gap;
                gap = gaps.back();
                gaps.pop_back();
            }
            int fewest = rest;
            const bool homeless = to == from.cell;
            for (int side = 0; side < 6 && homeless; ++side) {
                const Int3 beside = from.cell + unit(side / 2) * (side % 2 ? 1 : -1);
                if (!domain.has_cell(beside) || tile_of(beside) != tile_of(first)) continue;
                const int n = local(beside);
                if (part[n] != side_of_solids) continue;
                if (obstacles.any() && obstacles.open_volume[base + n] < 1) continue;
                if (const int count = cells.count(base + n) + added[n]; count < fewest)
                    fewest = count, to = beside;
            }
            if (to == from.cell) continue;
            ++added[local(to)];
            Vec3 x;
            for (int a = 0; a < 3; ++a) x[a] = (to[a] + uniform(combine(key, std::uint64_t(a)))) * domain.h;
            if (domain.flat()) x.z = 0.5 * domain.h;
            const std::int32_t i = from.particle;
            const Vec3 before(particles.position[i]);
            particles.position[i] = Vec3f(x);
            moves.add(x - before);
            if (particles.velocity.empty()) {
                moves.velocity += sample_velocity(u, domain, x) - sample_velocity(u, domain, before);
                continue;
            }
            moves.velocity -= Vec3(particles.velocity[i]);
            for (int axis = 0; axis < 3; ++axis) {
                const Stencil s = face_stencil(domain, x, axis);
                const auto v = s.gather(u[axis]);
                particles.velocity[i][axis] = static_cast<float>(s.mix(v));
                if (!particles.affine[axis].empty()) particles.affine[axis][i] = Vec3f(s.slope(v) / domain.h);
            }
            moves.velocity += Vec3(particles.velocity[i]);
        }
        return moves;
    });
}

}  // namespace flotsam

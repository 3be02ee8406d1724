#include "fluid/grid/particles.h"

#include <atomic>
#include <utility>

#include "core/random.h"
#include "fluid/grid/lanes.h"

namespace flotsam {

namespace {

constexpr std::int64_t particle_grain = 4096;

// Applies fn to every array that the particles have.
template <class Fn>
void for_each_array(Particles& p, const Fn& fn) {
    fn(p.position);
    if (!p.velocity.empty()) fn(p.velocity);
    for (auto& row : p.affine)
        if (!row.empty()) fn(row);
}

// Calls body(i, cell) for each of the particles begin to end.
template <class Body>
void for_each_with_cell(const Particles& particles, const Domain& domain, std::int64_t begin,
                        std::int64_t end, const Body& body) {
    for (std::int64_t first = begin; first < end; first += lanes) {
        const int count = int(std::min<std::int64_t>(lanes, end - first));
        const auto cell = cells_of(domain, load_lanes(particles.position.data() + first, count));
        for (int l = 0; l < count; ++l) body(first + l, Int3{cell[0][l], cell[1][l], cell[2][l]});
    }
}

}  // namespace

void Particles::visit_state(StateVisitor& visit) {
    visit.array("particles/position", position);
    visit.array("particles/velocity", velocity);
    visit.array("particles/affine_x", affine[0]);
    visit.array("particles/affine_y", affine[1]);
    visit.array("particles/affine_z", affine[2]);
}

void LiquidState::visit_state(StateVisitor& visit, const Domain& domain) {
    particles.visit_state(visit);
    std::vector<Int3> tiles = tiling->tiles();
    visit.array("grid/tiles", tiles);
    if (tiles != tiling->tiles() || tiling->cells() != domain.cells)
        tiling = std::make_shared<Tiling>(domain.cells, tiles);
    const auto field = [&](const char* name, Field<double>& f, double background) {
        if (f.empty() || f.shared_tiling() != tiling) f = Field<double>(tiling, background);
        visit.array(name, f.values());
    };
    field("grid/velocity_x", velocity[0], 0);
    field("grid/velocity_y", velocity[1], 0);
    field("grid/velocity_z", velocity[2], 0);
    field("grid/distance", phi, outside_distance(domain));
    field("grid/potential", potential, 0);
    std::int64_t has_solids = !open_volume.empty();
    visit.scalar("grid/has_solids", has_solids);
    if (has_solids) field("grid/open_volume", open_volume, 1);
    for (int axis = 0; axis < 3; ++axis) {
        const std::string slit = std::string("grid/slit_") + "xyz"[axis];
        visit.array(slit + "_face", slits.face[axis]);
        visit.array(slit + "_velocity", slits.velocity[axis]);
        visit.array(slit + "_open", slits.open[axis]);
    }
}

SeedPoints seed_points(const Domain& domain, Int3 c, std::uint64_t seed, Vec3 shift) {
    const int edge = domain.particles_per_edge, parts = particles_per_cell(domain);
    const double part_edge = 1.0 / edge;
    SeedPoints points{};
    const std::uint64_t cell_key =
        combine(combine(combine(seed, std::uint64_t(c.x)), std::uint64_t(c.y)), std::uint64_t(c.z));
    for (int part = 0; part < parts; ++part) {
        const Vec3 low = part_edge * Vec3(Int3{part % edge, part / edge % edge, part / (edge * edge)});
        Vec3 jitter;
        for (int axis = 0; axis < 3; ++axis)
            jitter[axis] = part_edge * uniform(combine(cell_key, std::max(8, parts) * axis + part));
        Vec3 p = Vec3(c) + low + jitter;
        if (domain.flat()) p.z = 0.5;  // a slab has no depth to jitter in
        points.point[points.count++] = p * domain.h + shift;
    }
    return points;
}

void resize_like_positions(Particles& particles, Carrier carrier) {
    if (carrier != Carrier::markers) particles.velocity.resize(particles.position.size());
    if (carrier == Carrier::apic)
        for (auto& row : particles.affine) row.resize(particles.position.size());
}

Particles seed_fills(const Domain& domain, const LiquidSettings& settings) {
    // Rows of cells are seeded in parallel and joined in order.
    std::vector<Particles> layers(domain.cells.z * domain.cells.y);
    parallel_for(std::int64_t(layers.size()), 1, [&](std::int64_t layer) {
        Int3 c{0, int(layer % domain.cells.y), int(layer / domain.cells.y)};
        for (c.x = 0; c.x < domain.cells.x; ++c.x) {
            const SeedPoints points = seed_points(domain, c, settings.seed);
            for (int i = 0; i < points.count; ++i)
                for (const Fill& fill : settings.fills)
                    if (fill.region->contains(points.point[i])) {
                        layers[layer].position.push_back(Vec3f(points.point[i]));
                        layers[layer].velocity.push_back(Vec3f(fill.velocity));
                        break;
                    }
        }
    });
    Particles all;
    for (const Particles& layer : layers) {
        all.position.insert(all.position.end(), layer.position.begin(), layer.position.end());
        all.velocity.insert(all.velocity.end(), layer.velocity.begin(), layer.velocity.end());
    }
    return all;
}

std::shared_ptr<const Tiling> tiling_around(const Particles& particles, const Domain& domain, int margin,
                                            const std::vector<CellBox>& boxes) {
    const Int3 size{domain.cells.x / Tiling::side + 1, domain.cells.y / Tiling::side + 1,
                    domain.cells.z / Tiling::side + 1};
    const auto entry = [&](Int3 t) {
        return t.x + std::int64_t{size.x} * (t.y + std::int64_t{size.y} * t.z);
    };

    // The occupied indices of every tile along each axis, as bits; setting bits commutes, so order does not
    // matter.
    const std::int64_t tile_count = entry({0, 0, size.z});
    std::vector<std::atomic<std::uint32_t>> occupied(tile_count);
    parallel_blocks(particles.count(), particle_grain, [&](std::int64_t begin, std::int64_t end) {
        Int3 last{-1, -1, -1};
        for_each_with_cell(particles, domain, begin, end, [&](std::int64_t, Int3 c) {
            if (c == last) return;  // mostly, since they were sorted
            last = c;
            const std::uint32_t bits = 1u << (c.x & 7) | 1u << (8 + (c.y & 7)) | 1u << (16 + (c.z & 7));
            auto& tile = occupied[entry({c.x >> 3, c.y >> 3, c.z >> 3})];
            if ((tile.load(std::memory_order_relaxed) & bits) != bits)
                tile.fetch_or(bits, std::memory_order_relaxed);
        });
    });

    std::vector<char> exists(tile_count, 0);
    const auto make_tiles = [&](Int3 low, Int3 high) {
        for (int z = low.z; z <= high.z; ++z)
            for (int y = low.y; y <= high.y; ++y)
                for (int x = low.x; x <= high.x; ++x) exists[entry({x, y, z})] = 1;
    };
    for (Int3 t; t.z < size.z; ++t.z)
        for (t.y = 0; t.y < size.y; ++t.y)
            for (t.x = 0; t.x < size.x; ++t.x) {
                const std::uint32_t bits = occupied[entry(t)];
                if (bits == 0) continue;
                Int3 low, high;  // tiles within the margin of this one's occupied cells
                for (int axis = 0; axis < 3; ++axis) {
                    const std::uint32_t b = bits >> (8 * axis) & 0xff;
                    const int first = t[axis] * 8 + __builtin_ctz(b),
                              last = t[axis] * 8 + 31 - __builtin_clz(b);
                    low[axis] = std::max(0, first - margin) >> 3;
                    high[axis] = std::min(domain.cells[axis], last + margin) >> 3;
                }
                make_tiles(low, high);
            }
    for (const CellBox& box : boxes) {
        const Int3 low = max(box.low, Int3{}), high = min(box.high, domain.cells);
        make_tiles({low.x >> 3, low.y >> 3, low.z >> 3}, {high.x >> 3, high.y >> 3, high.z >> 3});
    }
    std::vector<Int3> tiles;
    for (int z = 0; z < size.z; ++z)
        for (int y = 0; y < size.y; ++y)
            for (int x = 0; x < size.x; ++x)
                if (exists[entry({x, y, z})]) tiles.push_back({x, y, z});
    return std::make_shared<Tiling>(domain.cells, std::move(tiles));
}

CellRanges sort_into_cells(Particles& particles, const Domain& domain, const Tiling& tiling,
                           const Particles* carried) {
    // First by tile, block of particles by block of particles; then each tile by cell. Both are stable, and
    // which particles make a block does not depend on the number of threads.
    const std::int64_t count = particles.count(), tiles = tiling.tile_count();
    const std::int64_t block_size = std::max<std::int64_t>(particle_grain, (count + 63) / 64);
    const std::int64_t blocks = (count + block_size - 1) / block_size;
    std::vector<std::int32_t> cell(count);
    std::vector<std::int32_t> next(blocks * tiles, 0);  // where a block's next particle of a tile goes
    parallel_blocks(count, block_size, [&](std::int64_t begin, std::int64_t end) {
        std::int32_t* counts = next.data() + begin / block_size * tiles;
        for_each_with_cell(particles, domain, begin, end, [&](std::int64_t i, Int3 c) {
            const std::int64_t n = tiling.find(c);
            FLOTSAM_CHECK(n >= 0);
            cell[i] = static_cast<std::int32_t>(n);
            ++counts[n / Tiling::cells_per_tile];
        });
    });
    std::vector<std::int32_t> tile_begin(tiles + 1, 0);
    std::int32_t total = 0;
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
        tile_begin[tile] = total;
        for (std::int64_t b = 0; b < blocks; ++b) total += std::exchange(next[b * tiles + tile], total);
    }
    tile_begin[tiles] = total;
    std::vector<std::int32_t> by_tile(count);
    parallel_blocks(count, block_size, [&](std::int64_t begin, std::int64_t end) {
        std::int32_t* places = next.data() + begin / block_size * tiles;
        for (std::int64_t i = begin; i < end; ++i)
            by_tile[places[cell[i] / Tiling::cells_per_tile]++] = static_cast<std::int32_t>(i);
    });

    CellRanges ranges;
    ranges.begin.resize(tiling.value_count() + 1);
    ranges.begin.back() = total;
    std::vector<std::int32_t> source(count);  // which particle moves to place i
    parallel_for(tiles, 1, [&](std::int64_t tile) {
        std::int32_t* begin = ranges.begin.data() + tile * Tiling::cells_per_tile;
        std::array<std::int32_t, Tiling::cells_per_tile> place{};
        const std::int64_t first_cell = tile * Tiling::cells_per_tile;
        for (std::int32_t i = tile_begin[tile]; i < tile_begin[tile + 1]; ++i)
            ++place[cell[by_tile[i]] - first_cell];
        std::int32_t at = tile_begin[tile];
        for (int local = 0; local < Tiling::cells_per_tile; ++local) {
            begin[local] = at;
            at += std::exchange(place[local], at);
        }
        for (std::int32_t i = tile_begin[tile]; i < tile_begin[tile + 1]; ++i)
            source[place[cell[by_tile[i]] - first_cell]++] = by_tile[i];
    });

    std::vector<Vec3f> sorted(count);
    const auto gather = [&](const std::vector<Vec3f>& from, std::vector<Vec3f>& to) {
        to.resize(from.size());
        parallel_for(std::int64_t(from.size()), particle_grain,
                     [&](std::int64_t i) { to[i] = from[source[i]]; });
    };
    const auto rearrange = [&](std::vector<Vec3f>& values) {
        gather(values, sorted);
        values.swap(sorted);
    };
    if (carried) {
        rearrange(particles.position);
        gather(carried->velocity, particles.velocity);
        for (int axis = 0; axis < 3; ++axis) gather(carried->affine[axis], particles.affine[axis]);
    } else {
        for_each_array(particles, rearrange);
    }
    return ranges;
}

void remove_particles(Particles& particles, const std::vector<char>& dead) {
    for_each_array(particles, [&](std::vector<Vec3f>& values) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < values.size(); ++i)
            if (!dead[i]) values[kept++] = values[i];
        values.resize(kept);
    });
}

}  // namespace flotsam

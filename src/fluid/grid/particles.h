// Stages over the liquid's particles: seeding, the tiles around them, sorting, counting.
#pragma once

#include <memory>

#include "fluid/grid/liquid.h"

namespace flotsam {

// The jittered points that stand for the liquid in cell `c` of a lattice displaced by `shift`: one in each of
// the 2 x 2 x 2 (2D: 2 x 2; or more, see Domain) parts of the cell. The jitter depends on the seed and the
// cell alone.
struct SeedPoints {
    static constexpr int most =
        Domain::most_particles_per_edge * Domain::most_particles_per_edge * Domain::most_particles_per_edge;
    std::array<Vec3, most> point;
    int count;
};
SeedPoints seed_points(const Domain& domain, Int3 c, std::uint64_t seed, Vec3 shift = {});

// The liquid that the scene starts with. Where fills overlap, the first one counts.
Particles seed_fills(const Domain& domain, const LiquidSettings& settings);

// Makes every array as long as `position`, new entries zero; which arrays exist depends on the carrier.
void resize_like_positions(Particles& particles, Carrier carrier);

// Cells from `low` to `high`, both included.
struct CellBox {
    Int3 low, high;
};

// All tiles that hold cells within `margin` cells of a particle, or cells of the boxes.
std::shared_ptr<const Tiling> tiling_around(const Particles& particles, const Domain& domain, int margin,
                                            const std::vector<CellBox>& boxes = {});

// Where the particles of each cell are after sorting: cell n holds [begin[n], begin[n + 1]).
struct CellRanges {
    std::vector<std::int32_t> begin;  // value_count() + 1 entries
    int count(std::int64_t n) const { return begin[n + 1] - begin[n]; }
};

// Sorts by tile and cell, keeping the order within a cell. Particles outside the domain must be gone. With
// `carried`, only positions are taken from `particles`; velocities and gradients are taken from `carried`.
CellRanges sort_into_cells(Particles& particles, const Domain& domain, const Tiling& tiling,
                           const Particles* carried = nullptr);

// Removes the particles for which dead[i] is not zero, keeping the order of the others.
void remove_particles(Particles& particles, const std::vector<char>& dead);

}  // namespace flotsam

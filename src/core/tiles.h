// Sparse storage of grid values: only in tiles of 8 x 8 x 8 cells near the liquid, so that cost scales with
// the liquid and not with the domain.
//
//   Tiling     which tiles exist now (built once a step, shared by every field of that step)
//   Field<T>   one value per cell of those tiles; elsewhere it reads as its background value
//
// A cell (i, j, k) also names its three low faces; the high faces of the last cells have index n, so valid
// indices run from 0 to n inclusive on every axis.
//
// A tile is also the unit in which a domain can be split among processes: each owns some tiles and keeps
// copies of those around them, its halo. Loops and sums run over owned tiles (for_each_tile, sum_over_tiles
// and the like), neighbours may be in the halo, and exchange() fills it after a field was written. On one
// process everything is owned and exchange() does nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/check.h"
#include "core/parallel.h"
#include "core/vec.h"

namespace flotsam {

class Tiling;

// Copies the values of halo tiles from the processes that own them.
class HaloExchange {
  public:
    virtual ~HaloExchange() = default;
    virtual void fill(const Tiling& tiling, std::byte* values, std::size_t bytes_per_tile) const = 0;
};

class Tiling {
  public:
    static constexpr int side = 8;
    static constexpr int cells_per_tile = side * side * side;

    Tiling() : Tiling({1, 1, 1}, {}) {}
    // `cells` of the whole domain; `tiles`: coordinates (cell / 8) of the tiles that exist, in any order.
    // `halo`: tiles that other processes own.
    Tiling(Int3 cells, std::vector<Int3> tiles, std::vector<Int3> halo = {},
           std::shared_ptr<const HaloExchange> exchange = nullptr);

    Int3 cells() const { return cells_; }  // of the whole domain
    std::int64_t tile_count() const { return static_cast<std::int64_t>(tiles_.size()); }
    std::int64_t owned_count() const { return owned_; }  // owned tiles come first
    std::int64_t value_count() const { return tile_count() * cells_per_tile; }
    const std::vector<Int3>& tiles() const { return tiles_; }  // sorted by z, then y, then x; then the halo
    const HaloExchange* halo_exchange() const { return exchange_.get(); }
    Int3 first_cell(std::int64_t slot) const { return tiles_[slot] * side; }

    // Index of a cell's value in every field of this tiling, or -1 where there is no tile.
    std::int64_t find(int i, int j, int k) const {
        if (unsigned(i) > unsigned(cells_.x) || unsigned(j) > unsigned(cells_.y) ||
            unsigned(k) > unsigned(cells_.z))
            return -1;
        const std::int32_t slot =
            table_[(i >> 3) + table_size_.x * ((j >> 3) + std::int64_t{table_size_.y} * (k >> 3))];
        return slot < 0 ? -1 : std::int64_t{slot} * cells_per_tile + local_index(i & 7, j & 7, k & 7);
    }
    std::int64_t find(Int3 c) const { return find(c.x, c.y, c.z); }

    // The tile beside tile `slot` along an axis, direction 0 for the lower and 1 for the higher one; -1 where
    // there is none.
    std::int32_t neighbour(std::int64_t slot, int axis, int direction) const {
        return neighbours_[6 * slot + 2 * axis + direction];
    }

    static constexpr int local_index(int i, int j, int k) { return i + side * (j + side * k); }

  private:
    Int3 cells_, table_size_;
    std::vector<Int3> tiles_;
    std::int64_t owned_;
    std::shared_ptr<const HaloExchange> exchange_;
    std::vector<std::int32_t> table_;       // slot of each tile of the domain, or -1
    std::vector<std::int32_t> neighbours_;  // six per tile
};

template <class T>
class Field {
  public:
    Field() = default;
    Field(std::shared_ptr<const Tiling> tiling, T background)
        : tiling_(std::move(tiling)), background_(background), values_(tiling_->value_count(), background) {}

    const Tiling& tiling() const { return *tiling_; }
    const std::shared_ptr<const Tiling>& shared_tiling() const { return tiling_; }
    bool empty() const { return values_.empty(); }
    T background() const { return background_; }

    // Reads anywhere; where no tile exists, the background.
    T operator()(int i, int j, int k) const {
        const std::int64_t n = tiling_->find(i, j, k);
        return n < 0 ? background_ : values_[n];
    }
    T operator()(Int3 c) const { return (*this)(c.x, c.y, c.z); }

    // Writes only where a tile exists.
    T& at(Int3 c) {
        const std::int64_t n = tiling_->find(c);
        FLOTSAM_CHECK(n >= 0);
        return values_[n];
    }

    // Access by the index from Tiling::find or for_each_cell.
    T operator[](std::int64_t n) const { return values_[n]; }
    T& operator[](std::int64_t n) { return values_[n]; }

    std::vector<T>& values() { return values_; }
    const std::vector<T>& values() const { return values_; }
    void fill(T value) { std::fill(values_.begin(), values_.end(), value); }

  private:
    std::shared_ptr<const Tiling> tiling_;
    T background_{};
    std::vector<T> values_;
};

// A tile's values and those beside it, for stencils that reach one cell along one axis at a time.
template <class T>
class TileView {
  public:
    TileView(const Field<T>& field, std::int64_t slot)
        : own_(field.values().data() + slot * Tiling::cells_per_tile), background_(field.background()) {
        for (int side = 0; side < 6; ++side) {
            const std::int32_t n = field.tiling().neighbour(slot, side / 2, side % 2);
            beside_[side] =
                n < 0 ? nullptr : field.values().data() + std::int64_t{n} * Tiling::cells_per_tile;
        }
    }
    T operator[](int local) const { return own_[local]; }
    // The value one cell lower or higher along an axis; the background where no tile exists.
    T lower(int local, int axis) const {
        return place(local, axis) > 0 ? own_[local - stride(axis)] : far(2 * axis, local + 7 * stride(axis));
    }
    T higher(int local, int axis) const {
        return place(local, axis) < 7 ? own_[local + stride(axis)]
                                      : far(2 * axis + 1, local - 7 * stride(axis));
    }

  private:
    static int stride(int axis) { return 1 << (3 * axis); }
    static int place(int local, int axis) { return local >> (3 * axis) & 7; }
    T far(int side, int local) const { return beside_[side] ? beside_[side][local] : background_; }

    const T* own_;
    std::array<const T*, 6> beside_;
    T background_;
};

// Fills a field's halo after it was written, before neighbours are read.
template <class T>
void exchange(Field<T>& field) {
    const Tiling& tiling = field.tiling();
    if (tiling.halo_exchange())
        tiling.halo_exchange()->fill(tiling, reinterpret_cast<std::byte*>(field.values().data()),
                                     Tiling::cells_per_tile * sizeof(T));
}

// Calls body(slot) for every tile, in parallel.
template <class Body>
void for_each_tile(const Tiling& tiling, std::int64_t grain, const Body& body) {
    parallel_for(tiling.owned_count(), grain, body);
}
// Sum and maximum of term(slot) over tiles; the sum in a fixed order.
template <class T, class Term>
T sum_over_tiles(const Tiling& tiling, std::int64_t grain, const Term& term) {
    return fixed_sum<T>(tiling.owned_count(), grain, term);
}
template <class Term>
double max_over_tiles(const Tiling& tiling, std::int64_t grain, double least, const Term& term) {
    return parallel_max(tiling.owned_count(), grain, least, term);
}

// Calls body(cell, n) for the cells of tile `slot` with indices below `end`; n is the value's index.
template <class Body>
void for_each_cell_of_tile(const Tiling& tiling, std::int64_t slot, Int3 end, const Body& body) {
    const Int3 first = tiling.first_cell(slot);
    const Int3 size = min(end - first, Int3{Tiling::side, Tiling::side, Tiling::side});
    const std::int64_t base = slot * Tiling::cells_per_tile;
    for (int k = 0; k < size.z; ++k)
        for (int j = 0; j < size.y; ++j)
            for (int i = 0; i < size.x; ++i)
                body(Int3{first.x + i, first.y + j, first.z + k}, base + Tiling::local_index(i, j, k));
}

// The same for every tile, in parallel. `end` is cells() for cells and cells() + unit(axis) for faces.
template <class Body>
void for_each_cell(const Tiling& tiling, Int3 end, const Body& body) {
    for_each_tile(tiling, 1, [&](std::int64_t slot) { for_each_cell_of_tile(tiling, slot, end, body); });
}

// Sum of term(cell, n) over cells, in a fixed order.
template <class T, class Term>
T sum_over_cells(const Tiling& tiling, Int3 end, const Term& term) {
    return sum_over_tiles<T>(tiling, 1, [&](std::int64_t slot) {
        T sum{};
        for_each_cell_of_tile(tiling, slot, end, [&](Int3 c, std::int64_t n) { sum += term(c, n); });
        return sum;
    });
}

template <class Term>
double max_over_cells(const Tiling& tiling, Int3 end, double least, const Term& term) {
    return max_over_tiles(tiling, 1, least, [&](std::int64_t slot) {
        double m = least;
        for_each_cell_of_tile(tiling, slot, end, [&](Int3 c, std::int64_t n) {
            const double value = term(c, n);
            m = value > m ? value : m;
        });
        return m;
    });
}

}  // namespace flotsam

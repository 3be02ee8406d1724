// The operator behind every grid pressure solve: a network of conductances between neighbouring cells and
// from cells to the ground, on tiles.
//
//   (A x)_i = sum over neighbours j of link_ij (x_i - x_j) + ground_i x_i
//
// Unknowns that are not cells (further pieces of a cell that a sheet divides, pockets of air) are listed
// beside the tiles, with explicit links. In every vector they follow the tiles' values, padded to whole
// tiles.
//
// Most tiles of a liquid are plain: all their links, also those to the tiles around them, are 1 and nothing
// is grounded. Plain tiles and absent ones share constant coefficients, so memory and bandwidth go to the
// others alone.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "core/tiles.h"
#include "linalg/symmetric_matrix.h"

namespace flotsam {

template <class T>
struct TileCoefficients {
    std::array<std::array<T, Tiling::cells_per_tile>, 3> link;  // to the low neighbour along each axis
    std::array<T, Tiling::cells_per_tile> diagonal;             // 0 where the cell is no unknown
};

template <class T>
struct ListedNodes {
    struct Link {
        std::int64_t node;   // its number in the list
        std::int64_t other;  // index of any unknown: a cell of a tile that is not plain, or a listed one
        T conductance;
    };
    std::vector<Int3> cell;  // cell of each node; x = -1 for a node without a place
    std::vector<T> ground;   // conductance of each to the ground
    std::vector<Link> links;

    std::int64_t count() const { return std::int64_t(cell.size()); }
};

template <class T>
class Network {
  public:
    using Coefficients = TileCoefficients<T>;
    // Conductance to the ground through the two faces across each axis; needed to coarsen, not to apply.
    using Ground = std::array<std::array<T, Tiling::cells_per_tile>, 3>;

    Network() = default;
    explicit Network(std::shared_ptr<const Tiling> tiling)
        : tiling_(std::move(tiling)), index_(tiling_->tile_count(), plain_tile) {}

    const Tiling& tiling() const { return *tiling_; }
    const std::shared_ptr<const Tiling>& shared_tiling() const { return tiling_; }
    // Tiles and blocks of listed nodes; the length of vectors.
    std::int64_t slot_count() const { return static_cast<std::int64_t>(index_.size()); }
    std::int64_t value_count() const { return slot_count() * Tiling::cells_per_tile; }
    const ListedNodes<T>& listed() const { return listed_; }
    std::int64_t first_listed() const { return tiling_->value_count(); }  // its index in vectors
    std::int32_t neighbour(std::int64_t slot, int axis, int direction) const {
        return slot < tiling_->tile_count() ? tiling_->neighbour(slot, axis, direction) : -1;
    }
    // The cell of an unknown.
    Int3 place(std::int64_t n) const {
        if (n >= first_listed()) return listed_.cell[n - first_listed()];
        const int local = int(n % Tiling::cells_per_tile);
        return tiling_->first_cell(n / Tiling::cells_per_tile) + Int3{local & 7, local >> 3 & 7, local >> 6};
    }
    bool plain(std::int64_t slot) const { return index_[slot] == plain_tile; }
    std::int64_t mixed_count() const { return static_cast<std::int64_t>(own_.size()); }

    // Gives these tiles coefficients of their own, all zero, to be filled in by mixed() and ground().
    void set_mixed(const std::vector<std::int64_t>& slots) {
        own_.assign(slots.size(), Coefficients{});
        ground_.assign(slots.size(), Ground{});
        for (std::size_t m = 0; m < slots.size(); ++m) index_[slots[m]] = static_cast<std::int32_t>(m);
    }
    // Adds listed nodes; called after set_mixed and before finish.
    void list(ListedNodes<T> nodes) {
        listed_ = std::move(nodes);
        for (std::int64_t n = 0; n < listed_.count(); ++n) {
            if (n % Tiling::cells_per_tile == 0) {
                index_.push_back(static_cast<std::int32_t>(own_.size()));
                own_.push_back({});
                ground_.push_back({});
            }
            ground_.back()[0][n % Tiling::cells_per_tile] = listed_.ground[n];
        }
    }
    Coefficients& mixed(std::int64_t slot) { return own_[index_[slot]]; }
    Ground& ground(std::int64_t slot) { return ground_[index_[slot]]; }

    // Coefficients of any tile, also of an absent one (slot -1).
    const Coefficients& coefficients(std::int64_t slot) const {
        return slot < 0 ? absent() : index_[slot] == plain_tile ? plain() : own_[index_[slot]];
    }
    T ground(std::int64_t slot, int axis, int local) const {
        return slot < 0 || plain(slot) ? T(0) : ground_[index_[slot]][axis][local];
    }

    // Fills the diagonals of mixed tiles from links and grounds. Unknown cells without links or ground get
    // the diagonal 1. `unknown(slot, local)` says which cells are unknowns.
    template <class Unknown>
    void finish(const Unknown& unknown) {
        for_each_tile(*tiling_, 4, [&](std::int64_t slot) {
            if (plain(slot)) return;
            Coefficients& c = mixed(slot);
            for_each_cell_of_tile(*tiling_, slot, tiling_->first_cell(slot) + Int3{8, 8, 8},
                                  [&](Int3 cell, std::int64_t n) {
                                      const int local = static_cast<int>(n - slot * Tiling::cells_per_tile);
                                      if (!unknown(slot, local)) return;
                                      const T sum = links_and_grounds(slot, cell, local);
                                      c.diagonal[local] = sum > 0 ? sum : T(1);
                                  });
        });
        finish_listed();
    }

    // Link to the high neighbour along an axis: the neighbour's low one.
    T high_link(std::int64_t slot, Int3 cell, int local, int axis) const {
        const int stride = axis == 0 ? 1 : axis == 1 ? 8 : 64;
        if ((cell[axis] & 7) < 7) return coefficients(slot).link[axis][local + stride];
        return coefficients(neighbour(slot, axis, 1)).link[axis][local - 7 * stride];
    }

    void forget_grounds() { ground_ = {}; }
    std::int64_t memory() const { return mixed_count() * std::int64_t(sizeof(Coefficients)); }  // [B]

    // Adds to the diagonal that a smoother divides by, at a cell of a mixed tile; the operator stays as it
    // is.
    void add_to_smoothing(std::int64_t cell, T value) {
        if (smoothing_.empty()) smoothing_.assign(own_.size(), {});
        smoothing_[index_[cell / Tiling::cells_per_tile]][cell % Tiling::cells_per_tile] += value;
    }
    const T* smoothing(std::int64_t slot) const {  // the additions at all cells of a tile
        static const std::array<T, Tiling::cells_per_tile> nothing{};
        return slot < 0 || plain(slot) || smoothing_.empty() ? nothing.data()
                                                             : smoothing_[index_[slot]].data();
    }

  private:
    T links_and_grounds(std::int64_t slot, Int3 cell, int local) const {
        T sum = 0;
        for (int axis = 0; axis < 3; ++axis)
            sum += coefficients(slot).link[axis][local] + high_link(slot, cell, local, axis) +
                   ground_[index_[slot]][axis][local];
        return sum;
    }
    // Diagonals of listed nodes, and their links' additions to the diagonals of cells.
    void finish_listed() {
        const auto diagonal = [&](std::int64_t n) -> T& {
            return mixed(n / Tiling::cells_per_tile).diagonal[n % Tiling::cells_per_tile];
        };
        for (std::int64_t n = 0; n < listed_.count(); ++n) diagonal(first_listed() + n) = listed_.ground[n];
        for (const auto& link : listed_.links)
            if (link.other < first_listed())  // replaces the 1 of a cell without links or ground
                diagonal(link.other) =
                    links_and_grounds(link.other / Tiling::cells_per_tile, place(link.other),
                                      int(link.other % Tiling::cells_per_tile));
        for (const auto& link : listed_.links) {
            diagonal(first_listed() + link.node) += link.conductance;
            diagonal(link.other) += link.conductance;
        }
        for (std::int64_t n = 0; n < listed_.count(); ++n)
            if (T& d = diagonal(first_listed() + n); d == 0) d = 1;
    }

    static constexpr std::int32_t plain_tile = -1;
    static const Coefficients& plain() {
        static const Coefficients c = [] {
            Coefficients p{};
            for (auto& axis : p.link) axis.fill(1);
            p.diagonal.fill(6);
            return p;
        }();
        return c;
    }
    static const Coefficients& absent() {
        static const Coefficients c{};
        return c;
    }

    std::shared_ptr<const Tiling> tiling_ = std::make_shared<Tiling>();
    std::vector<std::int32_t> index_;  // of each slot's own coefficients
    ListedNodes<T> listed_;
    std::vector<Coefficients> own_;
    std::vector<Ground> ground_;
    std::vector<std::array<T, Tiling::cells_per_tile>> smoothing_;  // of mixed tiles, or empty
};

// y = A x, where x ends with a tile of zeros. Returns their product.
double apply(const Network<double>& network, std::span<const double> x, std::span<double> y);
double unknowns(const Network<double>& network);  // their number

// The same operator as a matrix over the unknown cells in natural order (x fastest), for ICCG and for tests.
// `cell_index[r]` is where row r's value lives in tile order.
struct AssembledNetwork {
    SymmetricMatrix matrix;
    std::vector<std::int64_t> cell_index;
};
AssembledNetwork assemble(const Network<double>& network);

}  // namespace flotsam

// A sum of rank-6 terms added to a network: J C J^T, one 6 x 6 compliance C per group of six modes.
//
// A rigid body in a pressure solve is such a term: column k of its J is the flux out of each cell that the
// body's k-th motion makes, C its inverse mass. It is applied as two sweeps over the entries of J and never
// formed: its matrix would couple every cell along the body's surface with every other.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/tiles.h"
#include "linalg/block_cholesky.h"
#include "linalg/network.h"
#include "linalg/solve.h"

namespace flotsam {

// y = m v
template <class T>
Six<T> multiply(const SixBySix<T>& m, const Six<T>& v) {
    Six<T> y{};
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) y[i] += m[i][j] * v[j];
    return y;
}

// One row of J, restricted to one group.
template <class T>
struct ModeEntry {
    std::uint32_t cell;  // in tile order
    std::int32_t group;
    Six<T> flux;
};

template <class T>
class LowRank {
  public:
    LowRank() = default;
    // Entries of the same cell and group are summed.
    LowRank(std::int64_t tiles, std::vector<ModeEntry<T>> entries, std::vector<SixBySix<T>> compliance);

    bool empty() const { return entries_.empty(); }
    std::int64_t groups() const { return static_cast<std::int64_t>(compliance_.size()); }
    const std::vector<ModeEntry<T>>& entries() const { return entries_; }
    const std::vector<SixBySix<T>>& compliance() const { return compliance_; }
    std::int64_t memory() const;

    // J^T v of every group.
    std::vector<Six<T>> gather(std::span<const T> v) const;
    // v += J y, entry number e times scale(e). Returns the product of `with` and the change.
    template <class Scale>
    double scatter(const std::vector<Six<T>>& y, std::span<T> v, const Scale& scale,
                   std::span<const T> with = {}) const;
    std::vector<Six<T>> times_compliance(std::vector<Six<T>> w) const;

    // An upper bound of D + J C J^T that is easy to invert: Woodbury's formula for D' + K C' K^T. With C' = R
    // R^T, its inverse is D'^-1 - D'^-1 K R G^-1 R^T K^T D'^-1, G = 1 + R^T K^T D'^-1 K R, where groups that
    // share cells are coupled. K = J, C' = C and D' = D, as long as the factors stay sparse. Otherwise K
    // holds the fluxes of cells that belong to one group alone, and shared cells go to the diagonal D': the
    // fluxes of a group there, F, and elsewhere, K, satisfy (K + F) C (K + F)^T <= K 2C K^T + F 2C F^T, and F
    // 2C F^T is not larger than the diagonal matrix of its row sums.
    struct Smoothing {
        std::optional<LowRank<T>> own;                  // K, where it is not J
        std::vector<SixBySix<T>> root;                  // R
        std::optional<BlockCholesky> joint;             // of G
        std::vector<std::pair<std::int64_t, T>> extra;  // cells and the additions to their diagonal

        std::int64_t memory() const;
        std::vector<Six<T>> times_root(std::vector<Six<T>> s) const;             // R s
        std::vector<Six<T>> times_transposed_root(std::vector<Six<T>> w) const;  // R^T w
    };
    Smoothing smoothing(const std::vector<T>& weight) const;  // of each entry: D^-1 of its cell

  private:
    // The rows of 1 + R^T J^T D^-1 J R up to the diagonal.
    std::vector<std::vector<BlockCholesky::Block>> coupling(const std::vector<T>& weight,
                                                            const std::vector<SixBySix<T>>& root) const;

    std::vector<ModeEntry<T>> entries_;     // by cell
    std::vector<std::int64_t> tile_begin_;  // of the entries of each tile
    // The same entries sorted by group, with their indices in entries_, so that gathering reads memory in
    // sequence.
    struct GroupEntry {
        Six<T> flux;
        std::uint32_t cell, entry;
    };
    std::vector<GroupEntry> by_group_;
    std::vector<std::int64_t> group_begin_;
    std::vector<SixBySix<T>> compliance_;
};

// Solves (A + J C J^T) x = b with ICCG and Woodbury's formula: one more solve per mode. For tests and for
// comparison.
SolveReport solve_iccg(const Network<double>& network, const LowRank<double>& modes,
                       std::span<const double> b, std::span<double> x, const SolveTolerance& tolerance);

template <class T>
template <class Scale>
double LowRank<T>::scatter(const std::vector<Six<T>>& y, std::span<T> v, const Scale& scale,
                           std::span<const T> with) const {
    return fixed_sum<double>(std::int64_t(tile_begin_.size()) - 1, 16, [&](std::int64_t tile) {
        double product = 0;
        for (std::int64_t e = tile_begin_[tile]; e < tile_begin_[tile + 1]; ++e) {
            const ModeEntry<T>& entry = entries_[e];
            T change = 0;
            for (int k = 0; k < 6; ++k) change += entry.flux[k] * y[entry.group][k];
            change *= scale(e);
            v[entry.cell] += change;
            if (!with.empty()) product += double(with[entry.cell]) * change;
        }
        return product;
    });
}

}  // namespace flotsam

// A sum of rank-6 terms beside a network: J C J^T, one 6 x 6 compliance C per group of six modes.
//
// A rigid body in a pressure solve is such a term: column k of its J is the flux out of each cell that the
// body's k-th motion makes, C its inverse mass. It is applied as two sweeps over the entries of J and never
// formed: its matrix would couple every cell along the body's surface with every other.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/tiles.h"
#include "linalg/network.h"
#include "linalg/solve.h"

namespace flotsam {

template <class T>
using Six = std::array<T, 6>;
template <class T>
using SixBySix = std::array<Six<T>, 6>;

// y = m v
template <class T>
Six<T> multiply(const SixBySix<T>& m, const Six<T>& v) {
    Six<T> y{};
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) y[i] += m[i][j] * v[j];
    return y;
}

// One row of J, as far as a group is concerned.
template <class T>
struct ModeEntry {
    std::int64_t cell;  // in tile order
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
    // v += J y, each entry times scale(cell). Returns the product of `with` and the change.
    template <class Scale>
    double scatter(const std::vector<Six<T>>& y, std::span<T> v, const Scale& scale,
                   std::span<const T> with = {}) const;
    std::vector<Six<T>> times_compliance(std::vector<Six<T>> w) const;

    // A matrix that is not smaller than D + J C J^T and easily inverted: D' + K S' K^T, where K holds the
    // fluxes of cells that belong to one group alone. Cells that groups share go to the diagonal D': the
    // fluxes of a group there, F, and elsewhere, K, satisfy (K + F) C (K + F)^T <= K 2C K^T + F 2C F^T, and F
    // 2C F^T is not larger than the diagonal matrix of its row sums. Joint inverses of touching bodies would
    // fill up.
    struct Smoothing {
        LowRank<T> own;                                 // K
        std::vector<SixBySix<T>> inverse;               // (S'^-1 + K^T D^-1 K)^-1, for Woodbury's formula
        std::vector<std::pair<std::int64_t, T>> extra;  // cells and what their diagonal grows by
    };
    template <class Inverse>
    Smoothing smoothing(const Inverse& inverse_diagonal) const;

  private:
    std::vector<ModeEntry<T>> entries_;     // by cell
    std::vector<std::int64_t> tile_begin_;  // of the entries of each tile
    std::vector<std::int32_t> by_group_;    // indices of entries, group by group
    std::vector<std::int64_t> group_begin_;
    std::vector<SixBySix<T>> compliance_;
};

// Solves (A + J C J^T) x = b with ICCG and Woodbury's formula: one more solve per mode. For tests and for
// comparison.
SolveReport solve_iccg(const Network<double>& network, const LowRank<double>& modes,
                       std::span<const double> b, std::span<double> x, const SolveTolerance& tolerance);

// (C^-1 + G)^-1 for symmetric G and a C that may be singular: C (1 + G C)^-1.
SixBySix<double> join_in_series(const SixBySix<double>& c, const SixBySix<double>& g);

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
            change *= scale(entry.cell);
            v[entry.cell] += change;
            if (!with.empty()) product += double(with[entry.cell]) * change;
        }
        return product;
    });
}

template <class T>
template <class Inverse>
typename LowRank<T>::Smoothing LowRank<T>::smoothing(const Inverse& inverse_diagonal) const {
    std::vector<char> shared(entries_.size(), 0);
    for (std::size_t e = 1; e < entries_.size(); ++e)
        if (entries_[e].cell == entries_[e - 1].cell) shared[e] = shared[e - 1] = 1;
    std::vector<double> root_sum(groups(), 0.0);  // of the square roots of f^T C f over shared cells
    const auto root = [&](const ModeEntry<T>& entry) {
        double q = 0;
        const Six<T> y = multiply(compliance_[entry.group], entry.flux);
        for (int k = 0; k < 6; ++k) q += double(entry.flux[k]) * y[k];
        return std::sqrt(std::max(0.0, q));
    };
    std::vector<ModeEntry<T>> own;
    for (std::size_t e = 0; e < entries_.size(); ++e) {
        if (shared[e])
            root_sum[entries_[e].group] += root(entries_[e]);
        else
            own.push_back(entries_[e]);
    }
    Smoothing result;
    for (std::size_t e = 0; e < entries_.size(); ++e)
        if (shared[e])
            result.extra.push_back(
                {entries_[e].cell, T(2 * root(entries_[e]) * root_sum[entries_[e].group])});
    result.own = LowRank<T>(std::int64_t(tile_begin_.size()) - 1, std::move(own), compliance_);
    result.inverse.resize(groups());
    parallel_for(groups(), 4, [&](std::int64_t g) {
        SixBySix<double> sum{}, c{};
        for (std::int64_t i = result.own.group_begin_[g]; i < result.own.group_begin_[g + 1]; ++i) {
            const ModeEntry<T>& entry = result.own.entries_[result.own.by_group_[i]];
            const auto weight = double(inverse_diagonal(entry.cell));
            for (int a = 0; a < 6; ++a)
                for (int b = 0; b < 6; ++b) sum[a][b] += weight * entry.flux[a] * entry.flux[b];
        }
        for (int a = 0; a < 6; ++a)
            for (int b = 0; b < 6; ++b) c[a][b] = compliance_[g][a][b] * (root_sum[g] > 0 ? 2 : 1);
        const SixBySix<double> s = join_in_series(c, sum);
        for (int a = 0; a < 6; ++a)
            for (int b = 0; b < 6; ++b) result.inverse[g][a][b] = T(s[a][b]);
    });
    return result;
}

}  // namespace flotsam

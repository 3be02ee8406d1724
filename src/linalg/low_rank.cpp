#include "linalg/low_rank.h"

#include <Eigen/Dense>
#include <algorithm>
#include <tuple>

namespace flotsam {

template <class T>
LowRank<T>::LowRank(std::int64_t tiles, std::vector<ModeEntry<T>> entries,
                    std::vector<SixBySix<T>> compliance)
    : compliance_(std::move(compliance)) {
    const auto tile_of = [](const ModeEntry<T>& entry) { return entry.cell / Tiling::cells_per_tile; };
    // Prefix sums: turns counts, stored one place further, into the index where each begins.
    const auto add_up = [](std::vector<std::int64_t>& begin) {
        for (std::size_t n = 1; n < begin.size(); ++n) begin[n] += begin[n - 1];
    };
    // Tile by tile; then within each tile.
    std::vector<std::int64_t> begin(tiles + 1, 0);
    for (const ModeEntry<T>& entry : entries) ++begin[tile_of(entry) + 1];
    add_up(begin);
    std::vector<std::int64_t> next = begin;
    std::vector<ModeEntry<T>> sorted(entries.size());
    for (const ModeEntry<T>& entry : entries) sorted[next[tile_of(entry)]++] = entry;
    tile_begin_.assign(tiles + 1, 0);
    parallel_for(tiles, 4, [&](std::int64_t tile) {
        const auto first = sorted.begin() + begin[tile], last = sorted.begin() + begin[tile + 1];
        std::stable_sort(first, last, [](const ModeEntry<T>& a, const ModeEntry<T>& b) {
            return std::tie(a.cell, a.group) < std::tie(b.cell, b.group);
        });
        auto kept = first;
        for (auto entry = first; entry != last; ++entry)
            if (kept != first && kept[-1].cell == entry->cell && kept[-1].group == entry->group)
                for (int k = 0; k < 6; ++k) kept[-1].flux[k] += entry->flux[k];
            else
                *kept++ = *entry;
        tile_begin_[tile + 1] = kept - first;
    });
    add_up(tile_begin_);
    entries_.resize(tile_begin_.back());
    parallel_for(tiles, 64, [&](std::int64_t tile) {
        std::copy_n(sorted.begin() + begin[tile], tile_begin_[tile + 1] - tile_begin_[tile],
                    entries_.begin() + tile_begin_[tile]);
    });
    group_begin_.assign(compliance_.size() + 1, 0);
    for (const ModeEntry<T>& entry : entries_) ++group_begin_[entry.group + 1];
    add_up(group_begin_);
    by_group_.resize(entries_.size());
    next = group_begin_;
    for (std::size_t e = 0; e < entries_.size(); ++e)
        by_group_[next[entries_[e].group]++] = {entries_[e].flux, entries_[e].cell, std::uint32_t(e)};
}

template <class T>
std::vector<Six<T>> LowRank<T>::gather(std::span<const T> v) const {
    std::vector<Six<T>> w(groups());
    parallel_for(groups(), 4, [&](std::int64_t g) {
        // In double precision: a body's modes are sums over hundreds of cells whose parts nearly cancel.
        Six<double> sum{};
        for (std::int64_t i = group_begin_[g]; i < group_begin_[g + 1]; ++i) {
            const GroupEntry& entry = by_group_[i];
            const double value = v[entry.cell];
            for (int k = 0; k < 6; ++k) sum[k] += double(entry.flux[k]) * value;
        }
        for (int k = 0; k < 6; ++k) w[g][k] = T(sum[k]);
    });
    return w;
}

template <class T>
std::vector<Six<T>> LowRank<T>::times_compliance(std::vector<Six<T>> w) const {
    for (std::size_t g = 0; g < w.size(); ++g) w[g] = multiply(compliance_[g], w[g]);
    return w;
}

template <class T>
std::int64_t LowRank<T>::memory() const {
    return bytes_of(entries_) + bytes_of(tile_begin_) + bytes_of(by_group_) + bytes_of(group_begin_) +
           bytes_of(compliance_);
}

template <class T>
std::int64_t LowRank<T>::Smoothing::memory() const {
    return (own ? own->memory() : 0) + bytes_of(root) + (joint ? joint->memory() : 0) + bytes_of(extra);
}

template <class T>
std::vector<std::vector<BlockCholesky::Block>> LowRank<T>::coupling(
    const std::vector<T>& weight, const std::vector<SixBySix<T>>& root) const {
    // R^T of an entry's flux.
    const auto felt = [&](const ModeEntry<T>& entry) {
        Six<double> f{};
        for (int a = 0; a < 6; ++a)
            for (int b = 0; b < 6; ++b) f[a] += double(root[entry.group][b][a]) * entry.flux[b];
        return f;
    };
    std::vector<std::vector<BlockCholesky::Block>> rows(groups());
    parallel_for(groups(), 4, [&](std::int64_t g) {
        std::vector<BlockCholesky::Block>& row = rows[g];
        row.push_back({int(g), {}});
        for (int a = 0; a < 6; ++a) row[0].value[a][a] = 1;
        for (std::int64_t i = group_begin_[g]; i < group_begin_[g + 1]; ++i) {
            const std::int64_t e = by_group_[i].entry;
            const Six<double> own = felt(entries_[e]);
            // Entries of a cell follow each other, by group.
            for (std::int64_t other = e; other >= 0 && entries_[other].cell == entries_[e].cell; --other) {
                const Six<double> beside = felt(entries_[other]);
                auto block = std::find_if(row.begin(), row.end(), [&](const BlockCholesky::Block& b) {
                    return b.column == entries_[other].group;
                });
                if (block == row.end()) {
                    row.push_back({entries_[other].group, {}});
                    block = row.end() - 1;
                }
                for (int a = 0; a < 6; ++a)
                    for (int b = 0; b < 6; ++b) block->value[a][b] += weight[e] * own[a] * beside[b];
            }
        }
    });
    return rows;
}

template <class T>
typename LowRank<T>::Smoothing LowRank<T>::smoothing(const std::vector<T>& weight) const {
    Smoothing result;
    const auto set_roots = [&](const auto& scale) {
        result.root.resize(groups());
        for (std::int64_t g = 0; g < groups(); ++g) {
            SixBySix<double> c;
            for (int a = 0; a < 6; ++a)
                for (int b = 0; b < 6; ++b) c[a][b] = scale(g) * compliance_[g][a][b];
            c = cholesky(c);
            for (int a = 0; a < 6; ++a)
                for (int b = 0; b < 6; ++b) result.root[g][a][b] = T(c[a][b]);
        }
    };
    set_roots([](std::int64_t) { return 1.0; });
    // Beyond this a factor costs more than the iterations that it saves: on coarse levels all groups share
    // cells.
    const std::int64_t most_blocks = 64 * groups();
    result.joint = BlockCholesky::factor(coupling(weight, result.root), most_blocks);
    if (result.joint) return result;
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
    std::vector<T> own_weight;
    for (std::size_t e = 0; e < entries_.size(); ++e) {
        if (shared[e])
            root_sum[entries_[e].group] += root(entries_[e]);
        else
            own.push_back(entries_[e]), own_weight.push_back(weight[e]);
    }
    for (std::size_t e = 0; e < entries_.size(); ++e)
        if (shared[e])
            result.extra.push_back(
                {entries_[e].cell, T(2 * root(entries_[e]) * root_sum[entries_[e].group])});
    result.own = LowRank<T>(std::int64_t(tile_begin_.size()) - 1, std::move(own), compliance_);
    set_roots([&](std::int64_t g) { return root_sum[g] > 0 ? 2.0 : 1.0; });
    result.joint = BlockCholesky::factor(result.own->coupling(own_weight, result.root), most_blocks);
    return result;
}

template <class T>
std::vector<Six<T>> LowRank<T>::Smoothing::times_root(std::vector<Six<T>> s) const {
    for (std::size_t g = 0; g < s.size(); ++g) s[g] = multiply(root[g], s[g]);
    return s;
}

template <class T>
std::vector<Six<T>> LowRank<T>::Smoothing::times_transposed_root(std::vector<Six<T>> w) const {
    for (std::size_t g = 0; g < w.size(); ++g) {
        Six<T> v{};
        for (int b = 0; b < 6; ++b)
            for (int a = 0; a <= b; ++a) v[a] += root[g][b][a] * w[g][b];
        w[g] = v;
    }
    return w;
}

SolveReport solve_iccg(const Network<double>& network, const LowRank<double>& modes,
                       std::span<const double> b, std::span<double> x, const SolveTolerance& tolerance) {
    const AssembledNetwork assembled = assemble(network);
    const auto solve = [&](std::span<const double> rhs, std::span<double> unknown) {
        std::vector<double> packed_b, packed_x;
        for (const std::int64_t n : assembled.cell_index)
            packed_b.push_back(rhs[n]), packed_x.push_back(unknown[n]);
        const SolveReport report = solve_iccg(assembled.matrix, packed_b, packed_x, tolerance);
        for (std::size_t r = 0; r < packed_x.size(); ++r) unknown[assembled.cell_index[r]] = packed_x[r];
        return report;
    };
    SolveReport report = solve(b, x);
    if (modes.empty()) return report;
    // Columns of A^-1 J, mode by mode; then (1 + C J^T A^-1 J) y = C J^T A^-1 b and x = A^-1 b - A^-1 J y.
    const std::int64_t groups = modes.groups();
    std::vector<std::vector<double>> response(6 * groups, std::vector<double>(x.size(), 0.0));
    Eigen::MatrixXd system = Eigen::MatrixXd::Identity(6 * groups, 6 * groups);
    for (std::int64_t m = 0; m < 6 * groups; ++m) {
        std::vector<double> column(x.size(), 0.0);
        std::vector<Six<double>> one(groups, Six<double>{});
        one[m / 6][m % 6] = 1;
        modes.scatter(one, std::span(column), [](std::int64_t) { return 1.0; });
        const SolveReport more = solve(column, response[m]);
        report.converged &= more.converged;
        report.iterations += more.iterations;
        const auto w = modes.times_compliance(modes.gather(response[m]));
        for (std::int64_t r = 0; r < 6 * groups; ++r) system(r, m) += w[r / 6][r % 6];
    }
    const auto w = modes.times_compliance(modes.gather(std::span<const double>(x.data(), x.size())));
    Eigen::VectorXd rhs(6 * groups);
    for (std::int64_t r = 0; r < 6 * groups; ++r) rhs(r) = w[r / 6][r % 6];
    const Eigen::VectorXd y = system.partialPivLu().solve(rhs);
    for (std::int64_t m = 0; m < 6 * groups; ++m)
        for (std::size_t n = 0; n < x.size(); ++n) x[n] -= y(m) * response[m][n];
    // Each solve leaves a small residual, and the small system may be nearly singular: check the residual of
    // the whole.
    std::vector<double> left(b.begin(), b.end()), packed_x;
    modes.scatter(modes.times_compliance(modes.gather(std::span<const double>(x.data(), x.size()))),
                  std::span(left), [](std::int64_t) { return -1.0; });
    for (const std::int64_t n : assembled.cell_index) packed_x.push_back(x[n]);
    const std::vector<double> by_network = assembled.matrix.times(packed_x);
    double squares = 0, asked = 0;
    for (std::size_t r = 0; r < packed_x.size(); ++r) {
        const std::int64_t n = assembled.cell_index[r];
        squares += std::pow(left[n] - by_network[r], 2);
        asked += b[n] * b[n];
    }
    const double wanted = std::max(tolerance.relative * std::sqrt(asked),
                                   tolerance.absolute * std::sqrt(double(packed_x.size())));
    report.residual = asked > 0 ? std::sqrt(squares / asked) : 0;
    report.converged &= std::sqrt(squares) <= 10 * wanted;
    return report;
}

template class LowRank<float>;
template class LowRank<double>;

}  // namespace flotsam

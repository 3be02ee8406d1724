#include "linalg/low_rank.h"

#include <Eigen/Dense>
#include <algorithm>
#include <tuple>

namespace flotsam {

template <class T>
LowRank<T>::LowRank(std::int64_t tiles, std::vector<ModeEntry<T>> entries,
                    std::vector<SixBySix<T>> compliance)
    : compliance_(std::move(compliance)) {
    std::stable_sort(entries.begin(), entries.end(), [](const ModeEntry<T>& a, const ModeEntry<T>& b) {
        return std::tie(a.cell, a.group) < std::tie(b.cell, b.group);
    });
    for (const ModeEntry<T>& entry : entries) {
        if (!entries_.empty() && entries_.back().cell == entry.cell && entries_.back().group == entry.group)
            for (int k = 0; k < 6; ++k) entries_.back().flux[k] += entry.flux[k];
        else
            entries_.push_back(entry);
    }
    tile_begin_.assign(tiles + 1, 0);
    group_begin_.assign(compliance_.size() + 1, 0);
    for (const ModeEntry<T>& entry : entries_) {
        ++tile_begin_[entry.cell / Tiling::cells_per_tile + 1];
        ++group_begin_[entry.group + 1];
    }
    for (std::size_t t = 1; t < tile_begin_.size(); ++t) tile_begin_[t] += tile_begin_[t - 1];
    for (std::size_t g = 1; g < group_begin_.size(); ++g) group_begin_[g] += group_begin_[g - 1];
    by_group_.resize(entries_.size());
    std::vector<std::int64_t> next = group_begin_;
    for (std::size_t e = 0; e < entries_.size(); ++e)
        by_group_[next[entries_[e].group]++] = static_cast<std::int32_t>(e);
}

template <class T>
std::vector<Six<T>> LowRank<T>::gather(std::span<const T> v) const {
    std::vector<Six<T>> w(groups());
    parallel_for(groups(), 4, [&](std::int64_t g) {
        // In double precision: a body's modes are sums over hundreds of cells whose parts nearly cancel.
        Six<double> sum{};
        for (std::int64_t i = group_begin_[g]; i < group_begin_[g + 1]; ++i) {
            const ModeEntry<T>& entry = entries_[by_group_[i]];
            for (int k = 0; k < 6; ++k) sum[k] += double(entry.flux[k]) * v[entry.cell];
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
    return std::int64_t(entries_.size()) * std::int64_t(sizeof(ModeEntry<T>) + sizeof(std::int32_t)) +
           std::int64_t(tile_begin_.size() * sizeof(std::int64_t) + compliance_.size() * sizeof(SixBySix<T>));
}

SixBySix<double> join_in_series(const SixBySix<double>& c, const SixBySix<double>& g) {
    Eigen::Matrix<double, 6, 6> cm, gm;
    for (int a = 0; a < 6; ++a)
        for (int b = 0; b < 6; ++b) cm(a, b) = c[a][b], gm(a, b) = g[a][b];
    const Eigen::Matrix<double, 6, 6> one = Eigen::Matrix<double, 6, 6>::Identity();
    const Eigen::Matrix<double, 6, 6> s = (one + cm * gm).partialPivLu().solve(cm);
    SixBySix<double> result;
    for (int a = 0; a < 6; ++a)
        for (int b = 0; b < 6; ++b) result[a][b] = 0.5 * (s(a, b) + s(b, a));
    return result;
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
    return report;
}

template class LowRank<float>;
template class LowRank<double>;

}  // namespace flotsam

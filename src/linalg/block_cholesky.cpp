#include "linalg/block_cholesky.h"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>

namespace flotsam {

namespace {

// a -= b c^T
void subtract_product(SixBySix<double>& a, const SixBySix<double>& b, const SixBySix<double>& c) {
    for (int i = 0; i < 6; ++i)
        for (int k = 0; k < 6; ++k) {
            double sum = 0;
            for (int j = 0; j < 6; ++j) sum += b[i][j] * c[k][j];
            a[i][k] -= sum;
        }
}

SixBySix<double> inverse_of_lower(const SixBySix<double>& l) {
    SixBySix<double> inverse{};
    for (int j = 0; j < 6; ++j) {
        inverse[j][j] = 1 / l[j][j];
        for (int i = j + 1; i < 6; ++i) {
            double sum = 0;
            for (int k = j; k < i; ++k) sum -= l[i][k] * inverse[k][j];
            inverse[i][j] = sum / l[i][i];
        }
    }
    return inverse;
}

SixBySix<float> in_single_precision(const SixBySix<double>& m) {
    SixBySix<float> single;
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) single[i][j] = float(m[i][j]);
    return single;
}

std::vector<int> sparse_order(const std::vector<std::vector<BlockCholesky::Block>>& rows) {
    std::vector<Eigen::Triplet<double>> pattern;
    for (int i = 0; i < int(rows.size()); ++i)
        for (const auto& block : rows[i]) {
            pattern.emplace_back(i, block.column, 1.0);
            pattern.emplace_back(block.column, i, 1.0);
        }
    Eigen::SparseMatrix<double> graph(Eigen::Index(rows.size()), Eigen::Index(rows.size()));
    graph.setFromTriplets(pattern.begin(), pattern.end());
    Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> order;
    Eigen::AMDOrdering<int>()(graph, order);
    return {order.indices().data(), order.indices().data() + order.indices().size()};
}

}  // namespace

SixBySix<double> cholesky(const SixBySix<double>& m) {
    SixBySix<double> l{};
    for (int j = 0; j < 6; ++j) {
        double pivot = m[j][j];
        for (int k = 0; k < j; ++k) pivot -= l[j][k] * l[j][k];
        if (pivot <= 1e-12 * m[j][j] || m[j][j] <= 0) continue;
        l[j][j] = std::sqrt(pivot);
        for (int i = j + 1; i < 6; ++i) {
            double sum = m[i][j];
            for (int k = 0; k < j; ++k) sum -= l[i][k] * l[j][k];
            l[i][j] = sum / l[j][j];
        }
    }
    return l;
}

std::optional<BlockCholesky> BlockCholesky::factor(const std::vector<std::vector<Block>>& rows,
                                                   std::int64_t most_blocks) {
    const int size = int(rows.size());
    BlockCholesky result;
    result.order_ = sparse_order(rows);
    std::vector<int> place(size);
    for (int n = 0; n < size; ++n) place[result.order_[n]] = n;
    // The lower triangle in the new order, column by column.
    std::vector<std::vector<std::pair<int, SixBySix<double>>>> columns(size);
    for (int i = 0; i < size; ++i)
        for (const Block& block : rows[i]) {
            const int a = place[i], b = place[block.column];
            SixBySix<double> value = block.value;
            if (a < b)
                for (int k = 0; k < 6; ++k)
                    for (int l = 0; l < k; ++l) std::swap(value[k][l], value[l][k]);
            columns[std::min(a, b)].push_back({std::max(a, b), value});
        }

    // Left-looking: each column first subtracts the contributions of earlier columns that have a block in its
    // row.
    std::vector<SixBySix<double>> work(size), below;
    std::vector<char> used(size, 0);
    std::vector<int> first_with_row(size, -1), next_with_row(size, -1);  // lists of columns by their next row
    std::vector<std::int64_t> at(size, 0);                               // where that row is
    result.begin_.assign(1, 0);
    for (int j = 0; j < size; ++j) {
        std::vector<int> pattern;
        const auto touch = [&](int i) {
            if (used[i]) return;
            used[i] = 1;
            work[i] = {};
            pattern.push_back(i);
        };
        touch(j);
        for (const auto& [i, value] : columns[j]) touch(i), work[i] = value;
        for (int k = first_with_row[j]; k >= 0;) {
            const int after = next_with_row[k];
            const std::int64_t here = at[k]++;
            for (std::int64_t n = here; n < result.begin_[k + 1]; ++n) {
                touch(result.row_[n]);
                subtract_product(work[result.row_[n]], below[n], below[here]);
            }
            if (at[k] < result.begin_[k + 1]) {
                next_with_row[k] = first_with_row[result.row_[at[k]]];
                first_with_row[result.row_[at[k]]] = k;
            }
            k = after;
        }
        std::sort(pattern.begin(), pattern.end());
        const SixBySix<double> inverse = inverse_of_lower(cholesky(work[j]));
        result.inverse_.push_back(in_single_precision(inverse));
        for (const int i : pattern) {
            used[i] = 0;
            if (i == j) continue;
            SixBySix<double> block{};
            for (int a = 0; a < 6; ++a)
                for (int b = 0; b < 6; ++b)
                    for (int c = 0; c <= b; ++c) block[a][b] += work[i][a][c] * inverse[b][c];
            result.row_.push_back(i);
            below.push_back(block);
        }
        result.begin_.push_back(std::int64_t(below.size()));
        if (result.begin_.back() > most_blocks) return std::nullopt;
        at[j] = result.begin_[j];
        if (at[j] < result.begin_[j + 1]) {
            next_with_row[j] = first_with_row[result.row_[at[j]]];
            first_with_row[result.row_[at[j]]] = j;
        }
    }
    result.below_.reserve(below.size());
    for (const SixBySix<double>& block : below) result.below_.push_back(in_single_precision(block));
    return result;
}

std::vector<Six<float>> BlockCholesky::solved(const std::vector<Six<float>>& v) const {
    const int size = int(order_.size());
    std::vector<Six<float>> y(size);
    for (int n = 0; n < size; ++n) y[n] = v[order_[n]];
    for (int j = 0; j < size; ++j) {
        Six<float> z{};
        for (int a = 0; a < 6; ++a)
            for (int b = 0; b <= a; ++b) z[a] += inverse_[j][a][b] * y[j][b];
        y[j] = z;
        for (std::int64_t n = begin_[j]; n < begin_[j + 1]; ++n)
            for (int a = 0; a < 6; ++a)
                for (int b = 0; b < 6; ++b) y[row_[n]][a] -= below_[n][a][b] * z[b];
    }
    for (int j = size; j-- > 0;) {
        Six<float> rest = y[j], z{};
        for (std::int64_t n = begin_[j]; n < begin_[j + 1]; ++n)
            for (int a = 0; a < 6; ++a)
                for (int b = 0; b < 6; ++b) rest[b] -= below_[n][a][b] * y[row_[n]][a];
        for (int b = 0; b < 6; ++b)
            for (int a = b; a < 6; ++a) z[b] += inverse_[j][a][b] * rest[a];
        y[j] = z;
    }
    std::vector<Six<float>> x(size);
    for (int n = 0; n < size; ++n) x[order_[n]] = y[n];
    return x;
}

}  // namespace flotsam

#include "linalg/rigid_constraints.h"

#include <Eigen/Dense>
#include <algorithm>
#include <utility>

#include "core/check.h"

namespace flotsam {

namespace {

double dot(const Six<double>& a, const Six<double>& b) {
    double sum = 0;
    for (int k = 0; k < 6; ++k) sum += a[k] * b[k];
    return sum;
}

void add(Six<double>& to, double factor, const Six<double>& v) {
    for (int k = 0; k < 6; ++k) to[k] += factor * v[k];
}

// Upper bound of the response of a body to a row of this size, in whatever direction.
double largest_response(const SixBySix<double>& inverse, const Six<double>& on) {
    double linear = 0, angular = 0, way = 0, turn = 0;
    for (int k = 0; k < 3; ++k) {
        linear += inverse[k][k], angular += inverse[3 + k][3 + k];
        way += on[k] * on[k], turn += on[3 + k] * on[3 + k];
    }
    return way * linear + turn * angular;
}

// The name of the group of each body that rows connect, its lowest body; -1 for a body without rows.
std::vector<int> group_names(std::size_t bodies, const std::vector<ConstraintRow>& rows) {
    std::vector<int> name(bodies, -1);
    const auto first = [&](int body) {
        if (name[body] < 0) name[body] = body;
        while (name[body] != body) body = name[body];
        return body;
    };
    for (const ConstraintRow& row : rows) {
        const int a = row.a >= 0 ? first(row.a) : -1, b = row.b >= 0 ? first(row.b) : -1;
        if (a >= 0 && b >= 0) name[std::max(a, b)] = std::min(a, b);
    }
    for (std::size_t body = 0; body < bodies; ++body)
        if (name[body] >= 0) name[body] = first(int(body));
    return name;
}

}  // namespace

RigidConstraints::RigidConstraints(const std::vector<SixBySix<double>>& inverse,
                                   std::vector<ConstraintRow> rows)
    : inverse_(inverse), rows_(std::move(rows)) {
    const std::vector<int> name = group_names(inverse.size(), rows_);
    std::vector<int> group_of(inverse.size(), -1);
    for (std::size_t body = 0; body < inverse.size(); ++body) {
        if (name[body] < 0) continue;
        int& group = group_of[name[body]];
        if (group < 0) group = int(groups_.size()), groups_.emplace_back();
        groups_[group].bodies.push_back(int(body));
    }
    for (std::size_t r = 0; r < rows_.size(); ++r) {
        const int body = std::max(rows_[r].a, rows_[r].b);
        if (body >= 0) groups_[group_of[name[body]]].rows.push_back(int(r));
    }
    for (Group& group : groups_) eliminate(group);
}

void RigidConstraints::set_targets(const std::vector<double>& targets) {
    FLOTSAM_CHECK(targets.size() == rows_.size(), targets.size(), rows_.size());
    for (std::size_t r = 0; r < rows_.size(); ++r) rows_[r].target = targets[r];
}

void RigidConstraints::eliminate(Group& group) const {
    // The columns of L, without those of locked motions.
    struct Column {
        int body;
        Six<double> value;
    };
    std::vector<Column> columns;
    for (const int body : group.bodies) {
        const SixBySix<double> root = cholesky(inverse_[body]);
        for (int k = 0; k < 6; ++k)
            if (root[k][k] > 0) {
                columns.push_back({body, {}});
                for (int i = 0; i < 6; ++i) columns.back().value[i] = root[i][k];
            }
    }
    const auto width = Eigen::Index(columns.size()), height = Eigen::Index(group.rows.size());
    Eigen::MatrixXd transposed = Eigen::MatrixXd::Zero(width, height);  // (G L)^T
    for (Eigen::Index r = 0; r < height; ++r)
        for (Eigen::Index c = 0; c < width; ++c) {
            const ConstraintRow& row = rows_[group.rows[r]];
            if (row.a == columns[c].body) transposed(c, r) += dot(row.on_a, columns[c].value);
            if (row.b == columns[c].body) transposed(c, r) += dot(row.on_b, columns[c].value);
        }
    // Rows of unit length, so that one tolerance tells which repeat others, be they about ways or turns. Rows
    // along locked axes that have a free part by rounding alone are left out: they would hold that, too.
    Eigen::VectorXd size = transposed.colwise().norm();
    for (Eigen::Index r = 0; r < height; ++r) {
        const ConstraintRow& row = rows_[group.rows[r]];
        const double most = (row.a >= 0 ? largest_response(inverse_[row.a], row.on_a) : 0) +
                            (row.b >= 0 ? largest_response(inverse_[row.b], row.on_b) : 0);
        if (size(r) * size(r) <= 1e-20 * most)
            transposed.col(r).setZero();
        else
            transposed.col(r) /= size(r);
    }
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> factors(transposed);
    factors.setThreshold(1e-9);
    const Eigen::Index rank = factors.rank();
    // With (G L)^T P = Q R, (G S^-1 G^T)^-1 = P R^-1 R^-T P^T.
    const Eigen::MatrixXd root = factors.matrixR()
                                     .topLeftCorner(rank, rank)
                                     .triangularView<Eigen::Upper>()
                                     .solve(Eigen::MatrixXd::Identity(rank, rank));
    const Eigen::MatrixXd inner = root * root.transpose();
    group.multiplier.assign(height * height, 0.0);
    const auto& order = factors.colsPermutation().indices();
    for (Eigen::Index i = 0; i < rank; ++i)
        for (Eigen::Index j = 0; j < rank; ++j)
            group.multiplier[order(i) * height + order(j)] = inner(i, j) / (size(order(i)) * size(order(j)));
    const Eigen::MatrixXd q = factors.householderQ();
    for (Eigen::Index mode = rank; mode < width; ++mode) {
        group.basis.emplace_back(group.bodies.size(), Six<double>{});
        for (Eigen::Index c = 0; c < width; ++c) {
            const auto body = std::lower_bound(group.bodies.begin(), group.bodies.end(), columns[c].body);
            add(group.basis.back()[body - group.bodies.begin()], q(c, mode), columns[c].value);
        }
    }
}

double RigidConstraints::speed(const ConstraintRow& row, const std::vector<Six<double>>& velocity) const {
    return (row.a >= 0 ? dot(row.on_a, velocity[row.a]) : 0) +
           (row.b >= 0 ? dot(row.on_b, velocity[row.b]) : 0);
}

std::vector<Six<double>> RigidConstraints::impulses(const std::vector<Six<double>>& velocity,
                                                    bool with_targets) const {
    std::vector<Six<double>> sum(velocity.size()), now = velocity;
    // The second time removes what rounding left in the inverse.
    for (int time = 0; time < 2; ++time)
        for (const Group& group : groups_) {
            const std::size_t height = group.rows.size();
            std::vector<double> missing;
            for (const int r : group.rows)
                missing.push_back((with_targets ? rows_[r].target : 0) - speed(rows_[r], now));
            std::vector<Six<double>> received(group.bodies.size());
            const auto give = [&](int body, double multiplier, const Six<double>& on) {
                if (body < 0) return;
                const auto at = std::lower_bound(group.bodies.begin(), group.bodies.end(), body);
                add(received[at - group.bodies.begin()], multiplier, on);
            };
            for (std::size_t i = 0; i < height; ++i) {
                double multiplier = 0;
                for (std::size_t j = 0; j < height; ++j)
                    multiplier += group.multiplier[i * height + j] * missing[j];
                const ConstraintRow& row = rows_[group.rows[i]];
                give(row.a, multiplier, row.on_a);
                give(row.b, multiplier, row.on_b);
            }
            for (std::size_t m = 0; m < group.bodies.size(); ++m) {
                const int body = group.bodies[m];
                add(sum[body], 1, received[m]);
                add(now[body], 1, multiply(inverse_[body], received[m]));
            }
        }
    return sum;
}

std::vector<Six<double>> RigidConstraints::impulses(const std::vector<Six<double>>& velocity) const {
    return impulses(velocity, true);
}

std::vector<Six<double>> RigidConstraints::unbalanced(std::vector<Six<double>> impulse) const {
    if (empty()) return impulse;
    std::vector<Six<double>> velocity;
    for (std::size_t b = 0; b < impulse.size(); ++b) velocity.push_back(multiply(inverse_[b], impulse[b]));
    const std::vector<Six<double>> balance = impulses(velocity, false);
    for (std::size_t b = 0; b < impulse.size(); ++b) add(impulse[b], 1, balance[b]);
    return impulse;
}

LowRank<double> RigidConstraints::modes(const LowRank<double>& bodies, std::int64_t slots,
                                        double scale) const {
    // Where each body is: its place in a group, or a rank-6 term of its own.
    struct Place {
        const Group* group = nullptr;
        std::size_t member = 0;
        int first = 0;  // term
    };
    std::vector<Place> place(inverse_.size());
    std::vector<SixBySix<double>> compliance;
    for (const Group& group : groups_) {
        for (std::size_t m = 0; m < group.bodies.size(); ++m)
            place[group.bodies[m]] = {&group, m, int(compliance.size())};
        for (std::size_t mode = 0; mode < group.basis.size(); ++mode) {
            if (mode % 6 == 0) compliance.emplace_back();
            compliance.back()[mode % 6][mode % 6] = scale;
        }
    }
    for (std::size_t b = 0; b < place.size(); ++b)
        if (!place[b].group) {
            place[b].first = int(compliance.size());
            compliance.push_back(bodies.compliance()[b]);
        }
    std::vector<ModeEntry<double>> entries;
    for (const ModeEntry<double>& entry : bodies.entries()) {
        const Place& at = place[entry.group];
        if (!at.group) {
            entries.push_back({entry.cell, at.first, entry.flux});
            continue;
        }
        for (std::size_t mode = 0; mode < at.group->basis.size(); ++mode) {
            if (mode % 6 == 0) entries.push_back({entry.cell, at.first + int(mode / 6), {}});
            entries.back().flux[mode % 6] = dot(at.group->basis[mode][at.member], entry.flux);
        }
    }
    return {slots, std::move(entries), std::move(compliance)};
}

}  // namespace flotsam

// Constraints between rigid bodies in a coupled solve: impulses and modes against the formulas written out.
#include "linalg/rigid_constraints.h"

#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "near.h"

using namespace flotsam;

namespace {

double random_sign(std::uint64_t key) { return 2 * uniform(key) - 1; }

Six<double> random_six(std::uint64_t key) {
    Six<double> six;
    for (int k = 0; k < 6; ++k) six[k] = random_sign(combine(key, k));
    return six;
}

// Four bodies: 0 and 2 are held together by four rows, one of which is there twice, and 2 is held to the
// world by one; 3 is free and so is 1, which cannot move along x.
struct Joined {
    std::vector<SixBySix<double>> inverse;
    std::vector<ConstraintRow> rows;

    Joined() {
        for (int b = 0; b < 4; ++b) {
            Eigen::Matrix<double, 6, 6> m;
            for (int i = 0; i < 6; ++i)
                for (int j = 0; j < 6; ++j) m(i, j) = random_sign(combine(b, 6 * i + j));
            m = (m * m.transpose() + 0.3 * Eigen::Matrix<double, 6, 6>::Identity()).eval();
            if (b == 1) m.row(0).setZero(), m.col(0).setZero();
            SixBySix<double> block;
            for (int i = 0; i < 6; ++i)
                for (int j = 0; j < 6; ++j) block[i][j] = m(i, j);
            inverse.push_back(block);
        }
        for (int r = 0; r < 4; ++r)
            rows.push_back({2, 0, random_six(100 + r), random_six(200 + r), random_sign(300 + r)});
        rows.push_back(rows[1]);
        rows.push_back({-1, 2, {}, random_six(400), 0.25});
    }
    // S^-1 - S^-1 G^T (G S^-1 G^T)^-1 G S^-1, with the row that is there twice left out.
    Eigen::MatrixXd compliance() const {
        Eigen::MatrixXd free = Eigen::MatrixXd::Zero(24, 24), g = Eigen::MatrixXd::Zero(5, 24);
        for (int b = 0; b < 4; ++b)
            for (int i = 0; i < 6; ++i)
                for (int j = 0; j < 6; ++j) free(6 * b + i, 6 * b + j) = inverse[b][i][j];
        for (int r = 0; r < 5; ++r) {
            const ConstraintRow& row = rows[r < 4 ? r : 5];
            for (int k = 0; k < 6; ++k) {
                if (row.a >= 0) g(r, 6 * row.a + k) += row.on_a[k];
                if (row.b >= 0) g(r, 6 * row.b + k) += row.on_b[k];
            }
        }
        return free - free * g.transpose() * (g * free * g.transpose()).inverse() * g * free;
    }
};

double product(const Six<double>& a, const Six<double>& b) {
    double sum = 0;
    for (int k = 0; k < 6; ++k) sum += a[k] * b[k];
    return sum;
}

}  // namespace

TEST_CASE("constraints: impulses make every row hold, with nothing from outside but what the world holds") {
    const Joined joined;
    const RigidConstraints constraints(joined.inverse, joined.rows);
    std::vector<Six<double>> velocity(4);
    for (int b = 0; b < 4; ++b) velocity[b] = random_six(500 + b);
    const std::vector<Six<double>> impulse = constraints.impulses(velocity);
    CHECK(product(impulse[1], impulse[1]) + product(impulse[3], impulse[3]) == 0);
    for (int b = 0; b < 4; ++b) {
        const Six<double> gain = multiply(joined.inverse[b], impulse[b]);
        for (int k = 0; k < 6; ++k) velocity[b][k] += gain[k];
    }
    for (const ConstraintRow& row : joined.rows) {
        double speed = row.b >= 0 ? product(row.on_b, velocity[row.b]) : 0;
        if (row.a >= 0) speed += product(row.on_a, velocity[row.a]);
        CHECK(speed == near(row.target).absolute(1e-13));
    }
}

TEST_CASE("constraints: modes are the compliance of bodies that are held together") {
    const Joined joined;
    const double scale = 0.7;
    std::vector<ModeEntry<double>> entries;
    std::vector<SixBySix<double>> compliance = joined.inverse;
    for (SixBySix<double>& c : compliance)
        for (Six<double>& row : c)
            for (double& value : row) value *= scale;
    Eigen::MatrixXd fluxes = Eigen::MatrixXd::Zero(30, 24);
    for (int n = 0; n < 60; ++n) {
        const int cell = n / 2, body = (n + n / 7) % 4;
        const Six<double> flux = random_six(700 + n);
        entries.push_back({std::uint32_t(cell), body, flux});
        for (int k = 0; k < 6; ++k) fluxes(cell, 6 * body + k) += flux[k];
    }
    const LowRank<double> bodies(1, entries, compliance);
    const LowRank<double> modes = RigidConstraints(joined.inverse, joined.rows).modes(bodies, 1, scale);
    CHECK(modes.groups() == 4);  // 12 - 5 modes of the pair in two terms, two bodies by themselves
    const Eigen::MatrixXd exact = scale * fluxes * joined.compliance() * fluxes.transpose();
    double worst = 0;
    for (int n = 0; n < 30; ++n) {
        std::vector<double> x(512, 0.0), y(512, 0.0);
        x[n] = 1;
        const auto z = modes.times_compliance(modes.gather(x));
        modes.scatter(z, std::span(y), [](std::int64_t) { return 1.0; });
        for (int m = 0; m < 30; ++m) worst = std::max(worst, std::abs(y[m] - exact(m, n)));
    }
    CHECK(worst < 1e-12 * exact.cwiseAbs().maxCoeff());
}

TEST_CASE("constraints: what they balance moves nothing, the rest moves the bodies alike") {
    const Joined joined;
    const RigidConstraints constraints(joined.inverse, joined.rows);
    std::vector<Six<double>> impulse;
    Eigen::VectorXd all(24);
    for (int b = 0; b < 4; ++b) {
        impulse.push_back(random_six(900 + b));
        for (int k = 0; k < 6; ++k) all(6 * b + k) = impulse[b][k];
    }
    const std::vector<Six<double>> rest = constraints.unbalanced(impulse);
    const Eigen::VectorXd moved = joined.compliance() * all;
    double worst = 0;
    for (int b = 0; b < 4; ++b) {
        const Six<double> gain = multiply(joined.inverse[b], rest[b]);
        for (int k = 0; k < 6; ++k) worst = std::max(worst, std::abs(gain[k] - moved(6 * b + k)));
    }
    CHECK(worst < 1e-12);
    CHECK(rest[3] == impulse[3]);
}

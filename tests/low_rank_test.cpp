// Rank-6 terms beside a network: the multigrid solver against the sum written out.
#include "linalg/low_rank.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/random.h"
#include "linalg/multigrid.h"
#include "validate/case_tools.h"

using namespace flotsam;

namespace {

double random_sign(std::uint64_t key) { return 2 * uniform(key) - 1; }

// A box of n^3 cells with ground above, and bodies in it: shells of cells with random fluxes that sum to
// zero, as those of a closed surface do. Two of the bodies share cells.
struct Pool {
    Network<double> network;
    LowRank<double> modes;

    Pool(int n, double compliance) : network(whole_tiling({n, n, n})) {
        const Tiling& tiling = network.tiling();
        std::vector<std::int64_t> all;
        for (std::int64_t slot = 0; slot < tiling.tile_count(); ++slot) all.push_back(slot);
        network.set_mixed(all);
        for_each_cell(tiling, {n, n, n}, [&](Int3 c, std::int64_t m) {
            const std::int64_t slot = m / Tiling::cells_per_tile;
            const auto local = static_cast<int>(m % Tiling::cells_per_tile);
            for (int axis = 0; axis < 3; ++axis) network.mixed(slot).link[axis][local] = c[axis] > 0 ? 1 : 0;
            if (c.y == n - 1) network.ground(slot)[1][local] = 2;
        });
        network.finish([&](std::int64_t slot, int local) {
            const Int3 c = tiling.first_cell(slot) + Int3{local & 7, local >> 3 & 7, local >> 6};
            return c.x < n && c.y < n && c.z < n;
        });
        std::vector<ModeEntry<double>> entries;
        const std::array<Vec3, 3> centers{Vec3{0.3, 0.4, 0.4}, Vec3{0.5, 0.4, 0.4}, Vec3{0.6, 0.7, 0.75}};
        const double radius = 0.14 * n;
        std::vector<SixBySix<double>> c(centers.size());
        for (int body = 0; body < int(centers.size()); ++body) {
            const Vec3 middle = centers[body] * double(n);
            for_each_cell_in_order(tiling, n, [&](Int3 cell, std::int64_t m) {
                const Vec3 arm = Vec3(cell) + Vec3{0.5, 0.5, 0.5} - middle;
                if (std::abs(length(arm) - radius) > 0.6) return;
                const Vec3 area = arm / length(arm) + 0.2 * Vec3{random_sign(m), random_sign(m + 7), 0};
                const Vec3 turn = cross(arm / radius, area);
                entries.push_back({m, body, {area.x, area.y, area.z, turn.x, turn.y, turn.z}});
            });
            for (int k = 0; k < 6; ++k)
                c[body][k][k] = compliance / (radius * radius * radius) * (1 + 0.1 * k);
            c[body][4][5] = c[body][5][4] = 0.3 * c[body][4][4];
        }
        modes = LowRank<double>(tiling.tile_count(), std::move(entries), std::move(c));
    }
    template <class Body>
    static void for_each_cell_in_order(const Tiling& tiling, int n, const Body& body) {
        for (Int3 c; c.z < n; ++c.z)
            for (c.y = 0; c.y < n; ++c.y)
                for (c.x = 0; c.x < n; ++c.x) body(c, tiling.find(c));
    }
    // (A + J C J^T) x, from the assembled network and the entries one by one.
    std::vector<double> apply(const std::vector<double>& x) const {
        std::vector<double> y(x.size(), 0.0);
        const AssembledNetwork assembled = assemble(network);
        std::vector<double> packed;
        for (const std::int64_t n : assembled.cell_index) packed.push_back(x[n]);
        const std::vector<double> rows = assembled.matrix.times(packed);
        for (std::size_t r = 0; r < rows.size(); ++r) y[assembled.cell_index[r]] = rows[r];
        std::vector<Six<double>> w(modes.groups());
        for (const auto& e : modes.entries())
            for (int k = 0; k < 6; ++k) w[e.group][k] += e.flux[k] * x[e.cell];
        for (const auto& e : modes.entries())
            for (int i = 0; i < 6; ++i)
                for (int j = 0; j < 6; ++j)
                    y[e.cell] += e.flux[i] * modes.compliance()[e.group][i][j] * w[e.group][j];
        return y;
    }
};

std::vector<double> random_values(const Network<double>& network, std::uint64_t seed) {
    std::vector<double> v(network.tiling().value_count(), 0.0);
    for (std::size_t n = 0; n < v.size(); ++n)
        if (network.coefficients(n / Tiling::cells_per_tile).diagonal[n % Tiling::cells_per_tile] != 0)
            v[n] = random_sign(combine(seed, n));
    return v;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t n = 0; n < a.size(); ++n) sum += a[n] * b[n];
    return sum;
}

}  // namespace

TEST_CASE("multigrid solves a network with rank-6 terms, however light the bodies are") {
    int plain = 0;
    for (const double compliance : {0.0, 0.01, 1.0, 5.0, 25.0, 100.0}) {
        const Pool pool(24, compliance);
        const std::vector<double> b = random_values(pool.network, 1);
        std::vector<double> x(b.size(), 0.0);
        Multigrid solver(pool.network, pool.modes);
        const SolveReport report = solver.solve(b, x, {1e-10, 0, 100});
        CAPTURE(compliance);
        CHECK(report.converged);
        if (compliance == 0) plain = report.iterations;
        // Two of the bodies share cells, which slows down the lightest; 5 is a ball of a twentieth of the
        // density.
        CHECK(report.iterations <= (compliance > 5 ? 50 : plain + 4));
        std::vector<double> rest = pool.apply(x);
        for (std::size_t n = 0; n < rest.size(); ++n) rest[n] -= b[n];
        CHECK(std::sqrt(product(rest, rest)) < 2e-9 * std::sqrt(product(b, b)));
    }
}

TEST_CASE("the preconditioner with rank-6 terms is symmetric and positive") {
    for (const double compliance : {0.01, 100.0}) {
        const Pool pool(20, compliance);
        Multigrid solver(pool.network, pool.modes);
        const std::vector<double> u = random_values(pool.network, 2), v = random_values(pool.network, 3);
        const std::vector<double> pu = solver.precondition(u), pv = solver.precondition(v);
        const double scale = std::sqrt(product(u, pu) * product(v, pv));
        CHECK(product(u, pu) > 0);
        CHECK(product(v, pv) > 0);
        CHECK(std::abs(product(u, pv) - product(v, pu)) < 1e-5 * scale);
    }
}

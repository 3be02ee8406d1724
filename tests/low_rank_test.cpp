// Rank-6 terms beside a network: the multigrid solver against the sum written out.
#include "linalg/low_rank.h"

#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "linalg/coupled_solver.h"
#include "near.h"
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
                entries.push_back({std::uint32_t(m), body, {area.x, area.y, area.z, turn.x, turn.y, turn.z}});
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

// Bodies with these modes; their velocities are nobody's business here.
SolidSystem bodies_with(const LowRank<double>& modes) {
    SolidSystem solids;
    solids.rigid.interface = modes;
    return solids;
}

SolveReport solve_by_multigrid(const Network<double>& network, const LowRank<double>& modes,
                               const std::vector<double>& b, std::vector<double>& x,
                               const SolveTolerance& tolerance) {
    Multigrid multigrid(network, modes);
    const SolidSystem solids = bodies_with(modes);
    return EliminatedSolve(network, solids, multigrid, b, x, tolerance).finish();
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
        const SolveReport report = solve_by_multigrid(pool.network, pool.modes, b, x, {1e-10, 0, 100});
        CAPTURE(compliance);
        CHECK(report.converged);
        if (compliance == 0) plain = report.iterations;
        // 5 is a ball of a twentieth of the density. Two of the bodies share cells.
        CHECK(report.iterations <= plain + 4);
        std::vector<double> rest = pool.apply(x);
        for (std::size_t n = 0; n < rest.size(); ++n) rest[n] -= b[n];
        CHECK(std::sqrt(product(rest, rest)) < 2e-9 * std::sqrt(product(b, b)));
    }
}

TEST_CASE("a solve that was left or ran out of iterations says so, and how exact its x is") {
    const Pool pool(24, 5);
    const std::vector<double> b = random_values(pool.network, 1);
    const double size = std::sqrt(product(b, b));
    const auto left = [&](const std::vector<double>& x) {
        std::vector<double> rest = pool.apply(x);
        for (std::size_t n = 0; n < rest.size(); ++n) rest[n] -= b[n];
        return std::sqrt(product(rest, rest)) / size;
    };
    Multigrid multigrid(pool.network, pool.modes);
    const SolidSystem solids = bodies_with(pool.modes);
    std::vector<double> x(b.size(), 0.0);
    EliminatedSolve rough(pool.network, solids, multigrid, b, x, {1e-10, 0, 100});
    rough.improve(1e-2);
    CHECK(rough.residual() < 1e-2);
    CHECK(rough.residual() > 1e-4);
    CHECK(std::abs(rough.residual() - left(x)) < 1e-6 * left(x));
    // Taken up again, it goes on as if it had never been left.
    const SolveReport whole = rough.finish();
    CHECK(whole.converged);
    std::vector<double> straight(b.size(), 0.0);
    const SolveReport at_once = solve_by_multigrid(pool.network, pool.modes, b, straight, {1e-10, 0, 100});
    CHECK(whole.iterations == at_once.iterations);
    CHECK(x == straight);

    // Both solvers, without rank-6 terms and with them: the residual is that of x.
    const LowRank<double> none;
    for (const bool iccg : {false, true})
        for (const LowRank<double>* modes : {&pool.modes, &none}) {
            const auto solve = [&](const SolveTolerance& tolerance) {
                x.assign(b.size(), 0.0);
                return iccg ? solve_iccg(pool.network, *modes, b, x, tolerance)
                            : solve_by_multigrid(pool.network, *modes, b, x, tolerance);
            };
            const SolveReport cut_off = solve({1e-10, 0, 2});
            CHECK(!cut_off.converged);
            CHECK(cut_off.residual > 1e-6);
            if (modes == &pool.modes) CHECK(std::abs(cut_off.residual - left(x)) < 1e-6 * left(x));
            CHECK(solve({1e-10, 0, 500}).converged);
            std::vector<double> nothing(b.size(), 0.0), y = b;
            const SolveReport trivial =
                iccg ? solve_iccg(pool.network, *modes, nothing, y, {1e-10, 0, 500})
                     : solve_by_multigrid(pool.network, *modes, nothing, y, {1e-10, 0, 500});
            CHECK(trivial.converged);
            CHECK(product(y, y) == 0);
        }
}

TEST_CASE("the preconditioner with rank-6 terms is symmetric and positive") {
    for (const double compliance : {0.01, 100.0}) {
        const Pool pool(20, compliance);
        Multigrid solver(pool.network, pool.modes);
        const std::vector<double> u = random_values(pool.network, 2), v = random_values(pool.network, 3);
        const std::vector<float> for_u = solver.precondition(u), for_v = solver.precondition(v);
        const std::vector<double> pu(for_u.begin(), for_u.end()), pv(for_v.begin(), for_v.end());
        const double scale = std::sqrt(product(u, pu) * product(v, pv));
        CHECK(product(u, pu) > 0);
        CHECK(product(v, pv) > 0);
        CHECK(std::abs(product(u, pv) - product(v, pu)) < 1e-5 * scale);
    }
}

namespace {

// The bodies' motions as unknowns of their own: what they are eliminated to is J C J^T. Their equation is
// solved only as well as is asked for.
struct KeptBodies final : MomentumOperator {
    const LowRank<double>& modes;
    std::vector<SixBySix<double>> inertia;
    mutable int asked = 0;

    explicit KeptBodies(const LowRank<double>& m) : modes(m) {
        for (const SixBySix<double>& c : modes.compliance()) {
            Eigen::Matrix<double, 6, 6> all;
            for (int i = 0; i < 6; ++i)
                for (int j = 0; j < 6; ++j) all(i, j) = c[i][j];
            all = all.inverse().eval();
            inertia.emplace_back();
            for (int i = 0; i < 6; ++i)
                for (int j = 0; j < 6; ++j) inertia.back()[i][j] = all(i, j);
        }
    }
    static double& at(std::span<Vec3> v, int body, int k) { return v[2 * body + k / 3][k % 3]; }
    static double at(std::span<const Vec3> v, int body, int k) { return v[2 * body + k / 3][k % 3]; }
    static void times(const std::vector<SixBySix<double>>& matrix, std::span<const Vec3> in,
                      std::span<Vec3> out, double scale) {
        for (int body = 0; body < int(matrix.size()); ++body)
            for (int i = 0; i < 6; ++i) {
                double sum = 0;
                for (int j = 0; j < 6; ++j) sum += matrix[body][i][j] * at(in, body, j);
                at(out, body, i) = scale * sum;
            }
    }
    // Two nodes a body: one for its velocity, one for its spin.
    InterfaceMap interface(std::int64_t tiles) const {
        std::vector<InterfaceEntry> entries;
        for (const auto& e : modes.entries()) {
            entries.push_back({e.cell, 2 * e.group, {e.flux[0], e.flux[1], e.flux[2]}});
            entries.push_back({e.cell, 2 * e.group + 1, {e.flux[3], e.flux[4], e.flux[5]}});
        }
        return {tiles, 2 * modes.groups(), std::move(entries)};
    }
    bool exact() const override { return false; }
    void hold(std::span<Vec3>) const override {}
    void multiply(std::span<const Vec3> d, std::span<Vec3> w) const override { times(inertia, d, w, 1); }
    void invert(std::span<const Vec3> w, std::span<Vec3> d, double accuracy) const override {
        // Too much and too little in turn.
        times(modes.compliance(), w, d, ++asked % 2 ? 1 + accuracy : 1 - accuracy);
    }
};

}  // namespace

TEST_CASE("unknowns that are kept and only roughly solved for come out as if they were eliminated") {
    for (const double compliance : {0.01, 1.0, 25.0}) {
        CAPTURE(compliance);
        const Pool pool(24, compliance);
        const std::vector<double> b = random_values(pool.network, 1);
        const KeptBodies kept(pool.modes);
        std::vector<Vec3> push(2 * kept.inertia.size()), free(push.size()), d(push.size());
        for (std::size_t n = 0; n < push.size(); ++n)
            push[n] = 1e3 * Vec3(random_sign(n), random_sign(n + 50), random_sign(n + 90));

        KeptBodies::times(pool.modes.compliance(), push, free, 1);
        std::vector<double> flux(b.size(), 0.0), expected(b.size(), 0.0), x(b.size(), 0.0);
        SolidSystem solids;
        solids.to_impulse = 1;
        solids.nodes.momentum = &kept;
        solids.nodes.interface = kept.interface(pool.network.tiling().tile_count());
        solids.nodes.from.resize(push.size());
        solids.nodes.push = push;
        solids.add_outflow({{}, free}, 1, flux);
        for (std::size_t n = 0; n < b.size(); ++n) flux[n] = b[n] - flux[n];
        const SolveReport plain =
            solve_by_multigrid(pool.network, pool.modes, flux, expected, {1e-11, 0, 100});

        Multigrid multigrid(pool.network, pool.modes);
        const SolveReport report =
            solve_keeping_nodes(pool.network, solids, multigrid, b, x, d, {1e-11, 0, 100});
        CHECK(report.converged);
        CHECK(report.iterations <= 2 * plain.iterations);  // errors as large as they may be
        std::vector<double> difference(x.size());
        for (std::size_t n = 0; n < x.size(); ++n) difference[n] = x[n] - expected[n];
        CHECK(std::sqrt(product(difference, difference)) < 1e-8 * std::sqrt(product(expected, expected)));
        std::vector<Vec3> given = solids.node_impulse(expected), wanted(d.size());
        for (std::size_t n = 0; n < d.size(); ++n) given[n] += push[n];
        KeptBodies::times(pool.modes.compliance(), given, wanted, 1);
        for (std::size_t n = 0; n < d.size(); ++n) CHECK(length(d[n] - wanted[n]) < 1e-7 * length(wanted[n]));
    }
}

TEST_CASE("factors of a sparse matrix of blocks solve what the matrix written out does") {
    constexpr int size = 30;
    // Each row is coupled with a few before it.
    std::vector<std::vector<BlockCholesky::Block>> rows(size);
    std::vector<std::vector<double>> dense(6 * size, std::vector<double>(6 * size, 0.0));
    for (int i = 0; i < size; ++i)
        for (int j = 0; j <= i; ++j) {
            if (j != i && (i * 7 + j * 3) % 11 != 0 && j != i - 1) continue;
            BlockCholesky::Block block{j, {}};
            for (int a = 0; a < 6; ++a)
                for (int b = 0; b < 6; ++b) {
                    const std::uint64_t key =
                        i == j ? combine(combine(9, i), std::min(a, b) * 6 + std::max(a, b))
                               : combine(combine(9, i * size + j), a * 6 + b);
                    block.value[a][b] = random_sign(key) + (i == j && a == b ? 40 : 0);
                    dense[6 * i + a][6 * j + b] = dense[6 * j + b][6 * i + a] = block.value[a][b];
                }
            rows[i].push_back(block);
        }
    const auto factors = BlockCholesky::factor(rows, 10000);
    REQUIRE(factors);
    std::vector<Six<float>> v(size);
    for (int i = 0; i < size; ++i)
        for (int a = 0; a < 6; ++a) v[i][a] = float(random_sign(i * 6 + a));
    const std::vector<Six<float>> rhs = v;
    v = factors->solved(v);
    for (int i = 0; i < 6 * size; ++i) {
        double sum = 0;
        for (int j = 0; j < 6 * size; ++j) sum += dense[i][j] * v[j / 6][j % 6];
        CHECK(sum == near(rhs[i / 6][i % 6]).absolute(1e-6));
    }
    CHECK(!BlockCholesky::factor(rows, 10));  // too many blocks
}

TEST_CASE("light bodies packed side by side, sharing all of their cells, hardly slow the solver down") {
    const int n = 32;
    const Pool pool(n, 0);  // for its network
    const Tiling& tiling = pool.network.tiling();
    // Blocks of 6 cells in rows, half a cell apart: each face's fluxes are in cells that the neighbour has
    // fluxes in too.
    std::vector<ModeEntry<double>> entries;
    std::vector<SixBySix<double>> compliance;
    for (Int3 at; at.z < 4; ++at.z)
        for (at.y = 0; at.y < 3; ++at.y)
            for (at.x = 0; at.x < 4; ++at.x) {
                const int group = int(compliance.size());
                const Int3 low = at * 7 + Int3{1, 1, 1}, high = low + Int3{7, 7, 7};
                for (int axis = 0; axis < 3; ++axis)
                    for (const int side : {0, 1})
                        for (int a = 1; a < 7; ++a)
                            for (int b = 1; b < 7; ++b) {
                                Int3 cell = low;
                                cell[axis] = side ? high[axis] : low[axis];
                                cell[(axis + 1) % 3] += a, cell[(axis + 2) % 3] += b;
                                const Vec3 area = Vec3(unit(axis)) * (side ? 1.0 : -1.0);
                                const Vec3 turn = cross(Vec3(cell - low) - Vec3{3.5, 3.5, 3.5}, area) / 3.5;
                                entries.push_back({std::uint32_t(tiling.find(cell)),
                                                   group,
                                                   {area.x, area.y, area.z, turn.x, turn.y, turn.z}});
                            }
                SixBySix<double> c{};
                for (int k = 0; k < 6; ++k) c[k][k] = 1 / (0.01 * 216);  // a hundredth of the density
                compliance.push_back(c);
            }
    const LowRank<double> modes(tiling.tile_count(), std::move(entries), std::move(compliance));
    const std::vector<double> b = random_values(pool.network, 1);
    std::vector<double> x(b.size(), 0.0);
    const int plain = solve_by_multigrid(pool.network, {}, b, x, {1e-10, 0, 100}).iterations;
    std::fill(x.begin(), x.end(), 0.0);
    const SolveReport report = solve_by_multigrid(pool.network, modes, b, x, {1e-10, 0, 100});
    CHECK(report.converged);
    CHECK(report.iterations <= 2 * plain);
}

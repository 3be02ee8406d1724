// Networks with unknowns that are no cells: listed nodes with links by name.
#include "linalg/network.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "core/random.h"
#include "linalg/coarsen.h"
#include "linalg/coupled_solver.h"
#include "near.h"
#include "validate/case_tools.h"

using namespace flotsam;

namespace {

constexpr int block = Tiling::cells_per_tile;

double noise(std::uint64_t key) { return 2 * uniform(key) - 1; }

// A box of n^3 cells, grounded above. `lifted(cell)`: this cell is no unknown of the tiles but a listed node
// with the same links.
struct Cube {
    Network<double> network;
    std::vector<std::int64_t> index;  // of every cell in vectors, x fastest

    template <class Lifted>
    Cube(int n, const Lifted& lifted) : network(whole_tiling({n, n, n})) {
        const Tiling& tiling = network.tiling();
        std::vector<std::int64_t> all;
        for (std::int64_t slot = 0; slot < tiling.tile_count(); ++slot) all.push_back(slot);
        network.set_mixed(all);
        const auto number = [&](Int3 c) { return c.x + n * (c.y + n * c.z); };
        ListedNodes<double> listed;
        index.resize(std::size_t(n) * n * n);
        for_each_in_order(n, [&](Int3 c) {
            index[number(c)] = lifted(c) ? network.first_listed() + listed.count() : tiling.find(c);
            if (!lifted(c)) return;
            listed.cell.push_back(c);
            listed.ground.push_back(c.y == n - 1 ? 2 : 0);
        });
        for_each_in_order(n, [&](Int3 c) {
            const std::int64_t m = tiling.find(c);
            if (c.y == n - 1 && !lifted(c)) network.ground(m / block)[1][m % block] = 2;
            for (int axis = 0; axis < 3; ++axis) {
                const Int3 low = c - unit(axis);
                if (low[axis] < 0) continue;
                const double conductance = 0.2 + uniform(combine(axis, m));
                if (!lifted(c) && !lifted(low))
                    network.mixed(m / block).link[axis][m % block] = conductance;
                else if (lifted(c))
                    listed.links.push_back(
                        {index[number(c)] - network.first_listed(), index[number(low)], conductance});
                else
                    listed.links.push_back(
                        {index[number(low)] - network.first_listed(), index[number(c)], conductance});
            }
        });
        network.list(std::move(listed));
        network.finish([&](std::int64_t slot, int local) {
            const Int3 c = tiling.first_cell(slot) + Int3{local & 7, local >> 3 & 7, local >> 6};
            return c.x < n && c.y < n && c.z < n && !lifted(c);
        });
    }
    template <class Body>
    static void for_each_in_order(int n, const Body& body) {
        for (Int3 c; c.z < n; ++c.z)
            for (c.y = 0; c.y < n; ++c.y)
                for (c.x = 0; c.x < n; ++c.x) body(c);
    }
    // A vector of the network with one value for each cell, in order.
    std::vector<double> spread(const std::vector<double>& values) const {
        std::vector<double> v(network.value_count(), 0.0);
        for (std::size_t i = 0; i < values.size(); ++i) v[index[i]] = values[i];
        return v;
    }
    std::vector<double> gathered(const std::vector<double>& v) const {
        std::vector<double> values;
        for (const std::int64_t n : index) values.push_back(v[n]);
        return values;
    }
    std::vector<double> times(const std::vector<double>& values, double* product = nullptr) const {
        std::vector<double> x = spread(values), y(x.size());
        x.resize(x.size() + block, 0.0);
        const double found = apply(network, x, y);
        if (product) *product = found;
        return gathered(y);
    }
};

std::vector<double> noisy(std::size_t count, std::uint64_t seed) {
    std::vector<double> v;
    for (std::size_t i = 0; i < count; ++i) v.push_back(noise(combine(seed, i)));
    return v;
}

double product_of(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

bool nowhere(Int3) { return false; }
// A sheet two cells thick across the box, and a few alone.
bool in_sheet(Int3 c) { return c.x == 7 || c.x == 8 || (c.x % 5 == 2 && c.y % 5 == 1 && c.z % 4 == 3); }

}  // namespace

TEST_CASE("a cell that is listed instead acts as it did in its tile") {
    constexpr int n = 20;
    const Cube plain(n, nowhere), lifted(n, in_sheet);
    REQUIRE(lifted.network.listed().count() > block);  // more than one block of them
    const std::vector<double> x = noisy(plain.index.size(), 1);
    double product = 0, expected_product = 0;
    const std::vector<double> y = lifted.times(x, &product), expected = plain.times(x, &expected_product);
    double apart = 0;
    for (std::size_t i = 0; i < y.size(); ++i) apart = std::max(apart, std::abs(y[i] - expected[i]));
    CHECK(apart < 1e-13);
    CHECK(product == near(expected_product).relative(1e-12));
    CHECK(product == near(product_of(x, y)).relative(1e-12));
    CHECK(unknowns(lifted.network) == unknowns(plain.network));
}

TEST_CASE("a network with listed nodes and its assembled matrix are the same operator") {
    const Cube box(12, in_sheet);
    const AssembledNetwork assembled = assemble(box.network);
    const std::vector<double> x = noisy(box.index.size(), 2), spread = box.spread(x);
    REQUIRE(assembled.cell_index.size() == x.size());
    std::vector<double> packed;
    for (const std::int64_t m : assembled.cell_index) packed.push_back(spread[m]);
    const std::vector<double> rows = assembled.matrix.times(packed);
    std::vector<double> y(box.network.value_count(), 0.0);
    for (std::size_t r = 0; r < rows.size(); ++r) y[assembled.cell_index[r]] = rows[r];
    const std::vector<double> found = box.times(x), wanted = box.gathered(y);
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(std::abs(found[i] - wanted[i]) < 1e-13);
}

TEST_CASE("multigrid with listed nodes: symmetric, positive, and as good as without them") {
    constexpr int n = 32;
    const Cube plain(n, nowhere), lifted(n, in_sheet);
    {
        Multigrid cycle(lifted.network);
        const std::vector<double> u = lifted.spread(noisy(lifted.index.size(), 3)),
                                  v = lifted.spread(noisy(lifted.index.size(), 4));
        const std::vector<float> mu = cycle.precondition(u), mv = cycle.precondition(v);
        const std::vector<double> pu(mu.begin(), mu.end()), pv(mv.begin(), mv.end());
        CHECK(product_of(u, pu) > 0);
        CHECK(product_of(v, pv) > 0);
        CHECK(std::abs(product_of(u, pv) - product_of(v, pu)) <
              1e-5 * std::sqrt(product_of(u, pu) * product_of(v, pv)));
    }
    const std::vector<double> rhs = noisy(plain.index.size(), 5);
    int iterations[2];
    std::vector<double> found[2];
    for (const int k : {0, 1}) {
        const Cube& box = k == 0 ? plain : lifted;
        const std::vector<double> b = box.spread(rhs);
        std::vector<double> x(b.size(), 0.0);
        Multigrid multigrid(box.network);
        const SolidSystem none;
        const SolveReport report =
            EliminatedSolve(box.network, none, multigrid, b, x, {1e-11, 0, 200}).finish();
        CHECK(report.converged);
        iterations[k] = report.iterations;
        found[k] = box.gathered(x);
    }
    double apart = 0, size = 0;
    for (std::size_t i = 0; i < rhs.size(); ++i)
        apart = std::max(apart, std::abs(found[0][i] - found[1][i])),
        size = std::max(size, std::abs(found[0][i]));
    CHECK(apart < 1e-8 * size);
    CHECK(iterations[1] <= 1.5 * iterations[0]);
}

TEST_CASE("two sides of a sheet that share their cells stay apart on every level") {
    // The cells of one layer have two unknowns each: the tiles' own belong to the left, listed ones to the
    // right. Nothing links the two sides; the left one is grounded to 1, the right one to -1.
    constexpr int n = 24, layer = 11;
    Network<double> network(whole_tiling({n, n, n}));
    const Tiling& tiling = network.tiling();
    std::vector<std::int64_t> all;
    for (std::int64_t slot = 0; slot < tiling.tile_count(); ++slot) all.push_back(slot);
    network.set_mixed(all);
    ListedNodes<double> listed;
    const auto number = [&](Int3 c) { return c.y + std::int64_t{n} * c.z; };
    for (Int3 c{layer, 0, 0}; c.z < n; ++c.z)
        for (c.y = 0; c.y < n; ++c.y) {
            listed.cell.push_back(c);
            listed.ground.push_back(0);
            listed.links.push_back({number(c), tiling.find(c + unit(0)), 1.0});
            for (int axis = 1; axis < 3; ++axis)
                if (c[axis] > 0)
                    listed.links.push_back({number(c), network.first_listed() + number(c - unit(axis)), 1.0});
        }
    Cube::for_each_in_order(n, [&](Int3 c) {
        const std::int64_t m = tiling.find(c);
        for (int axis = 0; axis < 3; ++axis)
            network.mixed(m / block).link[axis][m % block] =
                c[axis] > 0 && !(axis == 0 && c.x == layer + 1) ? 1 : 0;
        if (c.x == 0 || c.x == n - 1) network.ground(m / block)[0][m % block] = 2;
    });
    network.list(std::move(listed));
    network.finish([&](std::int64_t slot, int local) {
        const Int3 c = tiling.first_cell(slot) + Int3{local & 7, local >> 3 & 7, local >> 6};
        return c.x < n && c.y < n && c.z < n;
    });
    std::vector<double> b(network.value_count(), 0.0), x = b;
    Cube::for_each_in_order(n, [&](Int3 c) {
        if (c.x == 0) b[tiling.find(c)] = 2;
        if (c.x == n - 1) b[tiling.find(c)] = -2;
    });
    Multigrid multigrid(network);
    const SolidSystem none;
    const SolveReport report = EliminatedSolve(network, none, multigrid, b, x, {1e-11, 0, 200}).finish();
    CHECK(report.converged);
    CHECK(report.iterations < 25);
    double apart = 0;
    Cube::for_each_in_order(n, [&](Int3 c) {
        apart = std::max(apart, std::abs(x[tiling.find(c)] - (c.x <= layer ? 1 : -1)));
        if (c.x == layer) apart = std::max(apart, std::abs(x[network.first_listed() + number(c)] + 1));
    });
    CHECK(apart < 1e-8);
}

#include "core/tiles.h"

#include <doctest/doctest.h>

#include <barrier>
#include <cmath>
#include <cstring>
#include <thread>

#include "fluid/grid/extrapolate.h"

using namespace flotsam;

TEST_CASE("a field reads its background where there is no tile, and its value where there is one") {
    const auto tiling = std::make_shared<Tiling>(Int3{20, 20, 9}, std::vector<Int3>{{1, 0, 0}, {0, 2, 1}});
    Field<double> f(tiling, 7);
    CHECK(f(0, 0, 0) == 7);
    CHECK(f(-1, 3, 100) == 7);
    f.at({8, 7, 0}) = 3;
    f.at({3, 20, 9}) = 4;  // a face beyond the last cell
    CHECK(f(8, 7, 0) == 3);
    CHECK(f(3, 20, 9) == 4);
    CHECK(f(3, 21, 9) == 7);
}

TEST_CASE("loops visit every cell of existing tiles inside the domain once") {
    const Int3 cells{11, 9, 8};
    const auto tiling = std::make_shared<Tiling>(cells, std::vector<Int3>{{1, 1, 0}, {0, 0, 0}, {1, 0, 1}});
    Field<int> visits(tiling, 0);
    for_each_cell(*tiling, cells, [&](Int3 c, std::int64_t n) {
        CHECK(tiling->find(c) == n);
        ++visits[n];
    });
    const double total =
        sum_over_cells<double>(*tiling, cells, [&](Int3, std::int64_t n) { return visits[n]; });
    CHECK(total == 8 * 8 * 8 + 3 * 1 * 8);  // a whole tile, the corner of another, none of the third (z = 8)
    CHECK(sum_over_cells<double>(*tiling, cells + unit(2), [&](Int3, std::int64_t) { return 1.0; }) ==
          total + 3 * 8);
}

TEST_CASE("sums have the same bits on any number of threads") {
    const auto sum = [] {
        return fixed_sum<double>(100000, 64, [](std::int64_t i) { return 1.0 / (1.0 + double(i)); });
    };
    set_thread_count(1);
    const double one = sum();
    set_thread_count(7);
    CHECK(sum() == one);
    set_thread_count(0);
    CHECK(sum() == one);
}

namespace {

// Two processes, played by two threads: each owns half of the tiles and keeps a copy of the others around
// them.
class TwoHalves {
  public:
    struct Half final : HaloExchange {
        TwoHalves* both = nullptr;
        void fill(const Tiling& tiling, std::byte* values, std::size_t bytes) const override {
            both->meet(tiling, values, bytes);
        }
    };
    // All tiles of a domain, dealt out by `first(tile)`.
    template <class First>
    TwoHalves(Int3 cells, const std::vector<Int3>& tiles, const First& first) {
        std::vector<Int3> own[2];
        for (const Int3 t : tiles) own[first(t) ? 0 : 1].push_back(t);
        for (const int p : {0, 1}) {
            std::vector<Int3> halo;
            for (const Int3 t : own[1 - p])
                for (const Int3 mine : own[p])
                    if (std::abs(t.x - mine.x) <= 1 && std::abs(t.y - mine.y) <= 1 &&
                        std::abs(t.z - mine.z) <= 1) {
                        halo.push_back(t);
                        break;
                    }
            auto exchange = std::make_shared<Half>();
            exchange->both = this;
            tiling[p] = std::make_shared<Tiling>(cells, own[p], halo, exchange);
        }
    }
    std::shared_ptr<const Tiling> tiling[2];

  private:
    struct Visit {
        const Tiling* tiling;
        std::byte* values;
    };
    // Waits for the other one, copies what it owns, and waits until it has done so, too.
    void meet(const Tiling& here, std::byte* values, std::size_t bytes) {
        const int me = &here == tiling[0].get() ? 0 : 1;
        visit_[me] = {&here, values};
        barrier_.arrive_and_wait();
        const Visit& other = visit_[1 - me];
        for (std::int64_t slot = here.owned_count(); slot < here.tile_count(); ++slot) {
            const std::int64_t from = other.tiling->find(here.first_cell(slot)) / Tiling::cells_per_tile;
            std::memcpy(values + std::size_t(slot) * bytes, other.values + std::size_t(from) * bytes, bytes);
        }
        barrier_.arrive_and_wait();
    }
    Visit visit_[2];
    std::barrier<> barrier_{2};
};

}  // namespace

TEST_CASE("a stage that runs on two pieces of a domain with a halo gives what it gives on the whole") {
    const Int3 cells{32, 24, 16};
    std::vector<Int3> tiles;
    for (Int3 t; t.z < 2; ++t.z)
        for (t.y = 0; t.y < 3; ++t.y)
            for (t.x = 0; t.x < 4; ++t.x) tiles.push_back(t);
    const auto seed = [&](Field<double>& values, Field<char>& known) {
        for (std::int64_t slot = 0; slot < values.tiling().tile_count(); ++slot)
            for_each_cell_of_tile(values.tiling(), slot, cells, [&](Int3 c, std::int64_t n) {
                known[n] = (c.x * 7 + c.y * 3 + c.z * 5) % 97 == 0;
                values[n] = known[n] ? std::sin(1.0 + c.x) + 0.1 * c.y * c.z : 0;
            });
    };
    const auto whole_tiling = std::make_shared<Tiling>(cells, tiles);
    Field<double> whole(whole_tiling, 0);
    Field<char> known(whole_tiling, 0);
    seed(whole, known);
    extrapolate(whole, known, cells, 9);
    TwoHalves halves(cells, tiles, [](Int3 t) { return (t.x + t.y) % 3 == 0; });
    Field<double> piece[2];
    std::thread process[2];
    for (const int p : {0, 1})
        process[p] = std::thread([&, p] {
            piece[p] = Field<double>(halves.tiling[p], 0);
            Field<char> piece_known(halves.tiling[p], 0);
            seed(piece[p], piece_known);
            extrapolate(piece[p], piece_known, cells, 9);
        });
    for (std::thread& t : process) t.join();
    std::int64_t compared = 0, differ = 0;
    for (const int p : {0, 1})
        for (std::int64_t slot = 0; slot < halves.tiling[p]->owned_count(); ++slot)
            for_each_cell_of_tile(*halves.tiling[p], slot, cells, [&](Int3 c, std::int64_t n) {
                ++compared;
                differ += piece[p][n] != whole(c);
            });
    CHECK(compared == std::int64_t(cells.x) * cells.y * cells.z);
    CHECK(differ == 0);
    // Sums are over what is owned: together that is all of it.
    const auto one = [](Int3, std::int64_t) { return 1.0; };
    CHECK(sum_over_cells<double>(*halves.tiling[0], cells, one) +
              sum_over_cells<double>(*halves.tiling[1], cells, one) ==
          double(compared));
}

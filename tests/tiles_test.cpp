#include "core/tiles.h"

#include <doctest/doctest.h>

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

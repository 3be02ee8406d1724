// Anderson's acceleration of fixed-point iterations.
#include "linalg/anderson.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace flotsam;

TEST_CASE("a linear iteration that would swing ever further settles in as many rounds as it has directions") {
    // g(x) = b - m x with eigenvalues 3 and 0.9 of m: by itself it diverges. The fixed point is (1, 2).
    const auto g = [](const std::vector<double>& x) {
        const double u = x[0] - 1, v = x[1] - 2;
        return std::vector{1 - (1.95 * u + 1.05 * v), 2 - (1.05 * u + 1.95 * v)};
    };
    Anderson rounds({1, 1});
    std::vector<double> x{0, 0};
    for (int round = 0; round < 4; ++round) x = rounds.next(x, g(x));
    CHECK(std::hypot(x[0] - 1, x[1] - 2) < 1e-9);
}

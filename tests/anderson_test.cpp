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

TEST_CASE("the weights make components comparable: their units do not matter") {
    // Three directions and two rounds: what is left is made as small as can be, in the weights' measure.
    const auto after_two = [](const std::vector<double>& unit) {
        const auto g = [&](const std::vector<double>& x) {
            const double a = x[0] / unit[0], b = x[1] / unit[1], c = x[2] / unit[2];
            return std::vector{(1 - 0.9 * a + 0.2 * b) * unit[0], (2 + 0.3 * a - 0.5 * c) * unit[1],
                               (0.5 * b - 0.7 * c - 1) * unit[2]};
        };
        Anderson rounds({1 / unit[0], 1 / unit[1], 1 / unit[2]});
        std::vector<double> x{0, 0, 0};
        for (int round = 0; round < 2; ++round) x = rounds.next(x, g(x));
        for (std::size_t i = 0; i < 3; ++i) x[i] /= unit[i];
        return x;
    };
    const std::vector<double> plain = after_two({1, 1, 1}), scaled = after_two({1e-3, 1, 100});
    for (std::size_t i = 0; i < 3; ++i) CHECK(std::abs(scaled[i] - plain[i]) < 1e-9);
}

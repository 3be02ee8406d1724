#include <doctest/doctest.h>

#include <limits>

#include "near.h"
#include "scene/claims.h"

using namespace flotsam;

namespace {

// Judges one claim on samples (time, value).
ClaimVerdict judge(const Claim& claim, const std::vector<std::pair<double, double>>& samples) {
    ClaimJudge judge({claim}, {});
    for (const auto& [time, value] : samples) judge.sample(time, std::vector<double>{value});
    return judge.verdicts().front();
}

// What was measured, as a number.
double measured(const Claim& claim, const std::vector<std::pair<double, double>>& samples) {
    return std::stod(judge(claim, samples).measured);
}

}  // namespace

TEST_CASE("a claim over every step fails at a single step outside") {
    const Claim claim{.what = "x", .says = "", .min = 0.9, .max = 1.1};
    CHECK(judge(claim, {{0, 1}, {1, 1.05}, {2, 0.95}}).holds);
    CHECK_FALSE(judge(claim, {{0, 1}, {1, 1.2}, {2, 1}}).holds);
    CHECK_FALSE(judge(claim, {{0, 1}, {1, 0.8}, {2, 1}}).holds);
}

TEST_CASE("relative claims divide by the first sample, whatever the window") {
    Claim claim{.what = "x", .says = "", .min = 0.9, .max = 1.1, .relative_to_start = true, .from = 1};
    CHECK(judge(claim, {{0, 50}, {1, 51}, {2, 49}}).holds);
    CHECK_FALSE(judge(claim, {{0, 50}, {1, 60}, {2, 50}}).holds);
    CHECK_FALSE(judge(claim, {{0, 0}, {1, 0}}).holds);  // no ratio to zero
    CHECK(judge(claim, {{0, -50}, {1, -51}, {2, -49}}).holds);
}

TEST_CASE("windows and ways of summing up") {
    const std::vector<std::pair<double, double>> samples = {{0, 0}, {1, 10}, {1.5, 20}, {3, 20}, {4, -5}};
    const auto over = [](Claim::Over how, double from, double until) {
        return Claim{.what = "x", .says = "", .min = 0, .from = from, .until = until, .over = how};
    };
    CHECK(measured(over(Claim::Over::mean, 1, 3), samples) ==
          near((0.5 * 15 + 1.5 * 20) / 2).relative(1e-12));
    CHECK(measured(over(Claim::Over::rms, 1.5, 3), samples) == near(20).relative(1e-12));
    CHECK(measured(over(Claim::Over::max, 0, 4), samples) == 20);
    CHECK(measured(over(Claim::Over::min, 0, 4), samples) == -5);
    CHECK(measured(over(Claim::Over::final, 0, 3.5), samples) == 20);
    CHECK_FALSE(judge(over(Claim::Over::min, 0, 4), samples).holds);
    CHECK(judge(over(Claim::Over::min, 0, 3), samples).holds);
}

TEST_CASE("a moment between two steps is read off the line between them") {
    const Claim claim{.what = "x", .says = "", .from = 0.25, .until = 0.25};
    CHECK(measured(claim, {{0, 0}, {1, 4}, {2, 100}}) == near(1).relative(1e-12));
    CHECK(measured(claim, {{0, 0}, {0.25, 7}, {1, 4}}) == 7);
    const Claim start{.what = "x", .says = "", .from = 0, .until = 0};
    CHECK(measured(start, {{0, 3}, {1, 4}}) == 3);
}

TEST_CASE("claims on nothing or on NaN fail and say why") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Claim late{.what = "x", .says = "", .from = 5, .until = 6};
    CHECK_FALSE(judge(late, {{0, 1}, {1, 1}}).holds);
    CHECK(judge(late, {{0, 1}, {1, 1}}).measured.find("ended at 1 s") != std::string::npos);
    CHECK_FALSE(judge(late, {}).holds);
    for (const Claim::Over over : {Claim::Over::every, Claim::Over::mean, Claim::Over::max, Claim::Over::min,
                                   Claim::Over::rms, Claim::Over::final}) {
        const Claim any{.what = "x", .says = "", .over = over};
        CHECK(judge(any, {{0, 1}, {1, 1}, {2, 1}}).holds);
        CHECK_FALSE(judge(any, {{0, 1}, {1, nan}, {2, 1}}).holds);
    }
    const Claim ratio{.what = "x", .says = "", .relative_to_start = true, .from = 1};
    CHECK_FALSE(judge(ratio, {{0, nan}, {1, 1}}).holds);
}

TEST_CASE("a verdict is one line: words, measured, demanded") {
    const Claim claim{.what = "liquid.volume",
                      .says = "nothing is lost",
                      .min = 0.9,
                      .max = 1.1,
                      .relative_to_start = true};
    const std::string line = verdict_line(judge(claim, {{0, 2}, {1, 3}}));
    CHECK(line ==
          "FAILED  nothing is lost (liquid.volume relative to start): measured 1 (at 0 s) .. 1.5 (at 1 s), "
          "demanded 0.9 .. 1.1");
}

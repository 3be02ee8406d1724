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
    CHECK(judge(claim, {{0, 1}, {1, 1.05}, {2, 0.95}}).holds());
    CHECK_FALSE(judge(claim, {{0, 1}, {1, 1.2}, {2, 1}}).holds());
    CHECK_FALSE(judge(claim, {{0, 1}, {1, 0.8}, {2, 1}}).holds());
}

TEST_CASE("relative claims divide by the first sample, whatever the window") {
    Claim claim{.what = "x", .says = "", .min = 0.9, .max = 1.1, .relative_to_start = true, .from = 1};
    CHECK(judge(claim, {{0, 50}, {1, 51}, {2, 49}}).holds());
    CHECK_FALSE(judge(claim, {{0, 50}, {1, 60}, {2, 50}}).holds());
    CHECK_FALSE(judge(claim, {{0, 0}, {1, 0}}).holds());  // no ratio to zero
    CHECK(judge(claim, {{0, -50}, {1, -51}, {2, -49}}).holds());
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
    CHECK_FALSE(judge(over(Claim::Over::min, 0, 4), samples).holds());
    CHECK(judge(over(Claim::Over::min, 0, 3), samples).holds());
}

TEST_CASE("a moment between two steps is read off the line between them") {
    const Claim claim{.what = "x", .says = "", .from = 0.25, .until = 0.25};
    CHECK(measured(claim, {{0, 0}, {1, 4}, {2, 100}}) == near(1).relative(1e-12));
    CHECK(measured(claim, {{0, 0}, {0.25, 7}, {1, 4}}) == 7);
    const Claim start{.what = "x", .says = "", .from = 0, .until = 0};
    CHECK(measured(start, {{0, 3}, {1, 4}}) == 3);
}

TEST_CASE("a window may begin and end with events") {
    // Two quantities: the claim's own and the one that is watched, which falls from 2 to 0 within two
    // seconds.
    const auto watch = [](const Claim& claim) {
        ClaimJudge judge({claim}, {});
        for (const double time : {0.0, 1.0, 2.0, 3.0}) {
            std::vector<double> values{10 * time};
            if (claim.from_event) values.push_back(2 - time);
            if (claim.until_event) values.push_back(2 - time);
            judge.sample(time, values);
        }
        return judge.verdicts().front();
    };
    const Event passes{"y", 0.5, false}, never{"y", 5, true};
    Claim claim{.what = "x", .says = "", .from_event = passes, .until_event = passes};
    CHECK(watch(claim).measured == "15");  // at 1.5 s
    CHECK(watch(claim).text == "x, when y is below 0.5");
    claim.until_event = {};
    claim.over = Claim::Over::min;
    CHECK(watch(claim).measured == "20");  // the first step after it
    claim.from_event = {};
    claim.until_event = passes;
    claim.over = Claim::Over::max;
    CHECK(watch(claim).measured == "10");
    claim.from_event = claim.until_event = Event{"y", 1.5, true};  // from the start on
    CHECK(watch(claim).measured == "0");
    claim.from_event = claim.until_event = never;
    CHECK_FALSE(watch(claim).holds());
}

TEST_CASE("claims on nothing or on NaN fail and say why") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Claim late{.what = "x", .says = "", .from = 5, .until = 6};
    CHECK_FALSE(judge(late, {{0, 1}, {1, 1}}).holds());
    CHECK(judge(late, {{0, 1}, {1, 1}}).measured.find("ended at 1 s") != std::string::npos);
    CHECK_FALSE(judge(late, {}).holds());
    for (const Claim::Over over : {Claim::Over::every, Claim::Over::mean, Claim::Over::max, Claim::Over::min,
                                   Claim::Over::rms, Claim::Over::final}) {
        const Claim any{.what = "x", .says = "", .over = over};
        CHECK(judge(any, {{0, 1}, {1, 1}, {2, 1}}).holds());
        CHECK_FALSE(judge(any, {{0, 1}, {1, nan}, {2, 1}}).holds());
    }
    const Claim ratio{.what = "x", .says = "", .relative_to_start = true, .from = 1};
    CHECK_FALSE(judge(ratio, {{0, nan}, {1, 1}}).holds());
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

TEST_CASE("a claim that is known to fail is accepted while it fails, and not when it holds") {
    using Kind = ClaimVerdict::Kind;
    Claim claim{.what = "x", .says = "", .max = 1};
    CHECK(judge(claim, {{0, 0}, {1, 2}}).kind == Kind::failed);
    claim.fails = "drag from nowhere";
    const ClaimVerdict known = judge(claim, {{0, 0}, {1, 2}}), mended = judge(claim, {{0, 0}, {1, 1}});
    CHECK(known.kind == Kind::known_failure);
    CHECK(known.good());
    CHECK(verdict_line(known).find("known to fail: drag from nowhere") != std::string::npos);
    CHECK(mended.kind == Kind::mended);
    CHECK_FALSE(mended.good());
    CHECK(verdict_line(mended).find("remove 'fails'") != std::string::npos);
}

TEST_CASE("of a run that was cut short, claims are judged whose time is over or that are already broken") {
    using Kind = ClaimVerdict::Kind;
    const auto cut_short = [](const Claim& claim) {
        ClaimJudge judge({claim}, {});
        for (const auto& [time, value] : {std::pair{0.0, 1.0}, {1.0, 3.0}})
            judge.sample(time, std::vector<double>{value});
        return judge.verdicts(true).front().kind;
    };
    CHECK(cut_short({.what = "x", .says = "", .max = 4}) == Kind::unseen);
    CHECK(cut_short({.what = "x", .says = "", .max = 2}) == Kind::failed);
    CHECK(cut_short({.what = "x", .says = "", .max = 4, .until = 1}) == Kind::holds);
    CHECK(cut_short({.what = "x", .says = "", .min = 9, .over = Claim::Over::max}) == Kind::unseen);
    CHECK(cut_short({.what = "x", .says = "", .min = 9, .until = 1, .over = Claim::Over::max}) ==
          Kind::failed);
    CHECK(cut_short({.what = "x", .says = "", .max = 2, .from = 3}) == Kind::unseen);
}

TEST_CASE("the end of a check says how many claims held and which did not") {
    using Kind = ClaimVerdict::Kind;
    const std::vector<ClaimVerdict> verdicts{{"one", "", "", Kind::holds, ""},
                                             {"two", "", "", Kind::failed, ""},
                                             {"three", "", "", Kind::known_failure, "why"},
                                             {"four", "", "", Kind::mended, "why"}};
    CHECK(verdict_summary(verdicts) ==
          "2 of 4 claims hold, 1 known to fail\nfailed:\n  two\nno longer failing, remove their 'fails':\n  "
          "four");
    CHECK(verdict_summary({}) == "the scene makes no claims");
}

TEST_CASE("relative to a start below zero, a root mean square is still positive") {
    Claim claim{
        .what = "x", .says = "", .min = 0.9, .max = 1.1, .relative_to_start = true, .over = Claim::Over::rms};
    CHECK(std::abs(measured(claim, {{0, -50}, {1, -50}, {2, -50}}) - 1) < 1e-6);
    CHECK(judge(claim, {{0, -50}, {1, -50}, {2, -50}}).holds());
    CHECK_FALSE(judge(claim, {{0, -50}, {1, 100}, {2, -100}}).holds());
}

TEST_CASE("what stays as it was is exactly 1 relative to its start, however it is summed up") {
    for (const Claim::Over over : {Claim::Over::every, Claim::Over::mean, Claim::Over::max, Claim::Over::min,
                                   Claim::Over::rms, Claim::Over::final}) {
        const Claim claim{
            .what = "x", .says = "", .min = 1, .max = 1, .relative_to_start = true, .over = over};
        for (int n = 1; n < 200; ++n) {
            CAPTURE(n);
            const double value = n % 2 ? 1.0 / n : -0.3 * n;  // of many, x * (1 / x) is not 1
            std::vector<std::pair<double, double>> samples(20);
            for (int step = 0; step < 20; ++step) samples[step] = {0.1 * step, value};
            CHECK(judge(claim, samples).holds());
            samples.back().second *= 1 + 1e-12;
            CHECK(judge(claim, samples).holds() == (over == Claim::Over::min));  // the least is 1 still
        }
    }
}

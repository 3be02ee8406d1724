// How rows are judged; then the cases of a liquid alone or around solids whose motion is given.
#include "validate/validation.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "coupling/scheme.h"
#include "tests/validation_rows.h"
#include "validate/case_tools.h"

using namespace flotsam;

TEST_CASE("rows pass within their tolerance and not beyond it") {
    ValidationRow row{"", "", "", 1, "", 1.009, 1, 1};
    CHECK(row.pass());
    row.value = 1.011;
    CHECK_FALSE(row.pass());
    row.value = 0.989;
    CHECK_FALSE(row.pass());
    row.value = NAN;
    CHECK_FALSE(row.pass());
    row = {"", "", "", 1, "", -0.02, 0, 1};  // a reference of zero: the value is a share already
    CHECK(std::abs(row.error_percent() - 2) < 1e-12);
    CHECK_FALSE(row.pass());
}

TEST_CASE("a row on the list of known failures must fail, any other must pass") {
    ValidationRow row{"", "", "", 1, "", 1, 1, 1};
    CHECK(row.verdict() == RowVerdict::pass);
    row.known_failure = "a reason";
    CHECK(row.verdict() == RowVerdict::holds_now);
    row.value = 2;
    CHECK(row.verdict() == RowVerdict::known);
    row.value = NAN;
    CHECK(row.verdict() == RowVerdict::known);
    row.known_failure.clear();
    CHECK(row.verdict() == RowVerdict::fail);
}

TEST_CASE("an order is the power of the cell's size that the error falls with, and counts above 0.8") {
    const auto row_with = [](int resolution, double error) {
        return ValidationRow{"", "", "", resolution, "", error, 0, 1};
    };
    const auto order = [&](int coarse, int fine, double power, const char* why_low = "") {
        const double ratio = double(fine) / coarse;
        return observed_order("", row_with(coarse, 0.3), row_with(fine, 0.3 * std::pow(ratio, -power)),
                              why_low);
    };
    for (const auto& cells : {std::pair{16, 32}, {32, 48}, {10, 40}})
        for (const double power : {2.0, 0.81, 0.79, -0.5}) {
            CAPTURE(cells.second);
            CAPTURE(power);
            const ValidationRow row = order(cells.first, cells.second, power);
            CHECK(std::abs(row.value - power) < 1e-12);
            CHECK(row.pass() == (power > 0.8));
            CHECK(row.error_percent() == (power > 0.8 ? 0 : 100 * (0.8 - row.value)));
        }
    // Where less is right and said to be, the error must still shrink.
    CHECK(order(16, 32, 0.1, "a reason").pass());
    CHECK(order(16, 32, 0.1, "a reason").why_low == "a reason");
    CHECK_FALSE(order(16, 32, -0.1, "a reason").pass());
    ValidationRow broken = order(16, 32, 1);
    broken.value = NAN;
    CHECK_FALSE(broken.pass());
}

TEST_CASE("the worst of some errors is not a number when one of them is not") {
    CHECK(larger(1, 2) == 2);
    CHECK(larger(2, 1) == 2);
    CHECK(std::isnan(larger(1, NAN)));
    CHECK(std::isnan(larger(NAN, 1)));
}

TEST_CASE("known failures meet their rows, and those that meet none are returned") {
    // A made-up case whose name the list knows: its rows are those of the list, but for the last.
    std::set<std::string_view> names;
    for (const KnownFailure& entry : known_failures()) names.insert(entry.name);
    REQUIRE_FALSE(names.empty());
    const ValidationCase nothing{*names.begin(), "", [](const ValidationRun&) {}};
    std::size_t full = 0, quick = 0;
    for (const KnownFailure& entry : known_failures())
        if (entry.name == nothing.name)
            full += entry.level != RunLevel::quick, quick += entry.level != RunLevel::full;
    CHECK(run_validation(nothing, true, [](const ValidationRow&) {}).size() == quick);
    CHECK(run_validation(nothing, false, [](const ValidationRow&) {}).size() == full);

    static KnownFailure first;
    first = *std::find_if(known_failures().begin(), known_failures().end(), [](const KnownFailure& entry) {
        return entry.level != RunLevel::quick && entry.method == "cut-cell";
    });
    const ValidationCase one{
        first.name, "", [](const ValidationRun& run) {
            ValidationRow row{
                "", std::string(first.variant), "", first.resolution, std::string(first.quantity), 2, 1, 1};
            if (run.method != first.method) return;
            run.report(row);
            row.resolution += 1;
            run.report(row);
        }};
    std::vector<ValidationRow> rows;
    const auto unmet = run_validation(one, false, [&](const ValidationRow& row) { rows.push_back(row); });
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].known_failure == first.reason);
    CHECK(rows[0].verdict() == RowVerdict::known);
    CHECK(rows[1].verdict() == RowVerdict::fail);
    for (const KnownFailure& entry : unmet)
        CHECK_FALSE((entry.variant == first.variant && entry.method == first.method &&
                     entry.resolution == first.resolution && entry.quantity == first.quantity));
}

TEST_CASE("every known failure names a case, a method and a reason, and stands on the list once") {
    std::set<std::string> seen;
    for (const KnownFailure& entry : known_failures()) {
        CAPTURE(entry.name);
        CAPTURE(entry.quantity);
        (void)validation_case(entry.name);
        CHECK_NOTHROW((void)make_scheme(entry.method));
        CHECK(entry.reason.size() > 20);
        for (const RunLevel level : {RunLevel::quick, RunLevel::full})
            if (entry.level == level || entry.level == RunLevel::both)
                CHECK(seen.insert(std::string(entry.name) + "|" + std::string(entry.variant) + "|" +
                                  std::string(entry.method) + "|" + std::to_string(entry.resolution) + "|" +
                                  std::string(entry.quantity) + "|" + std::to_string(int(level)))
                          .second);
    }
}

TEST_CASE("no case is left out of the tests") {
    std::set<std::string_view> tested, all;
    for (const auto& group : {liquid_cases, rigid_cases, elastic_cases})
        for (const std::string_view name : group) CHECK(tested.insert(name).second);
    for (const ValidationCase& c : validation_cases()) all.insert(c.name);
    CHECK(tested == all);
}

TEST_CASE("liquids alone and around given solids: every row at its own tolerance") {
    judge_cases(liquid_cases);
}

TEST_CASE("the error of a standing wave's period shrinks when the resolution doubles") {
    int orders = 0;
    for (const ValidationRow& row : judge_case("standing-wave", false)) orders += row.order;
    CHECK(orders >= 1);
}

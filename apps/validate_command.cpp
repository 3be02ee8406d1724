#include <fmt/format.h>

#include <cstdio>
#include <map>

#include "apps/commands.h"
#include "apps/record.h"
#include "apps/table.h"
#include "core/check.h"
#include "core/parallel.h"
#include "plot/validation_charts.h"
#include "validate/validation.h"

namespace flotsam {

namespace {

std::string_view printed(RowVerdict verdict) {
    switch (verdict) {
        case RowVerdict::pass:
            return "pass";
        case RowVerdict::known:
            return "known";
        case RowVerdict::holds_now:
            return "MENDED";
        case RowVerdict::fail:
            break;
    }
    return "FAIL";
}

std::string_view in_csv(RowVerdict verdict) {
    switch (verdict) {
        case RowVerdict::pass:
            return "yes";
        case RowVerdict::known:
            return "known";
        case RowVerdict::holds_now:
            return "holds-now";
        case RowVerdict::fail:
            break;
    }
    return "no";
}

}  // namespace

int validate_command(const TableOptions& options) {
    set_thread_count(options.threads);
    const auto chosen = choose(options.names, validation_cases(), "case", "flotsam list cases");
    CsvTable csv(options.csv,
                 "case,variant,method,resolution,quantity,value,reference,error_percent,tolerance_percent,"
                 "pass,seconds");
    const RecordFile records = validation_records(options.results);
    if (options.record) records.append({});
    std::vector<RecordRow> recorded;
    std::vector<ValidationRow> rows;
    std::vector<ValidationCurve> curves;
    std::map<RowVerdict, int> count;
    std::map<std::string, int> reasons;  // why rows are known to fail, and how many do so
    std::vector<std::string> mistakes;   // of the list of known failures
    fmt::print("{:<16} {:<14} {:<10} {:>5}  {:<38} {:>12} {:>12} {:>9} {:>9}\n", "case", "variant", "method",
               "cells", "quantity", "value", "reference", "error %", "allowed");
    const auto report = [&](const ValidationRow& row) {
        rows.push_back(row);
        ++count[row.verdict()];
        if (row.verdict() == RowVerdict::known) ++reasons[row.known_failure];
        if (row.verdict() == RowVerdict::holds_now)
            mistakes.push_back(fmt::format("holds now: {}, {}, {}, {} cells, {}", row.name, row.variant,
                                           row.method, row.resolution, row.quantity));
        fmt::print("{:<16} {:<14} {:<10} {:>5}  {:<38} {:>12.6g} {:>12.6g} {:>9.3g} {:>9.3g} {}\n", row.name,
                   row.variant, row.method, row.resolution, row.quantity, row.value, row.reference,
                   row.error_percent(), row.tolerance_percent, printed(row.verdict()));
        std::fflush(stdout);
        csv.row(fmt::format("{},{},{},{},{},{},{},{},{},{},{:.3f}", row.name, csv_text(row.variant),
                            row.method, row.resolution, csv_text(row.quantity), row.value, row.reference,
                            row.error_percent(), row.tolerance_percent, in_csv(row.verdict()), row.seconds));
        recorded.push_back({row.name, options.quick ? "quick" : "full", row.variant, row.method,
                            fmt::format("{}", row.resolution), row.quantity, fmt::format("{:.6g}", row.value),
                            fmt::format("{:.6g}", row.reference), fmt::format("{:.3g}", row.error_percent()),
                            fmt::format("{:g}", row.tolerance_percent), std::string(printed(row.verdict())),
                            fmt::format("{:.1f}", row.seconds),
                            row.known_failure.empty() ? row.why_low : row.known_failure});
    };
    for (const ValidationCase* c : chosen) {
        for (const KnownFailure& unmet : run_validation(
                 *c, options.quick, report, [&](const ValidationCurve& curve) { curves.push_back(curve); }))
            mistakes.push_back(fmt::format("is no row any more: {}, {}, {}, {} cells, {}", unmet.name,
                                           unmet.variant, unmet.method, unmet.resolution, unmet.quantity));
        if (options.record) records.append(recorded);
        recorded.clear();
        // After every case, so that a long run that is stopped has drawn what it knows.
        if (!options.plot.empty())
            write_gallery(options.plot, "Flotsam: validation", {version_text()},
                          validation_pictures(rows, curves));
    }
    if (!reasons.empty()) fmt::print("\nknown to fail, and why:\n");
    for (const auto& [reason, rows_with_it] : reasons)
        fmt::print("  {} row{}: {}\n", rows_with_it, rows_with_it == 1 ? "" : "s", reason);
    if (!mistakes.empty()) fmt::print("\nto be taken off the list in src/validate/known_failures.cpp:\n");
    for (const std::string& mistake : mistakes) fmt::print("  {}\n", mistake);
    fmt::print("\n{} passed, {} failed, {} known to fail\n", count[RowVerdict::pass], count[RowVerdict::fail],
               count[RowVerdict::known]);
    return count[RowVerdict::fail] == 0 && mistakes.empty() ? 0 : 1;
}

}  // namespace flotsam

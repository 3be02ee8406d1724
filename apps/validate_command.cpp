#include <fmt/format.h>

#include <cstdio>

#include "apps/commands.h"
#include "apps/record.h"
#include "apps/table.h"
#include "core/check.h"
#include "core/parallel.h"
#include "plot/validation_charts.h"
#include "validate/validation.h"

namespace flotsam {

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
    int passed = 0, failed = 0;
    fmt::print("{:<16} {:<14} {:<10} {:>5}  {:<38} {:>12} {:>12} {:>9} {:>9}\n", "case", "variant", "method",
               "cells", "quantity", "value", "reference", "error %", "allowed");
    const auto report = [&](const ValidationRow& row) {
        rows.push_back(row);
        (row.pass() ? passed : failed)++;
        fmt::print("{:<16} {:<14} {:<10} {:>5}  {:<38} {:>12.6g} {:>12.6g} {:>9.3g} {:>9.3g} {}\n", row.name,
                   row.variant, row.method, row.resolution, row.quantity, row.value, row.reference,
                   row.error_percent(), row.tolerance_percent, row.pass() ? "pass" : "FAIL");
        std::fflush(stdout);
        csv.row(fmt::format("{},{},{},{},{},{},{},{},{},{},{:.3f}", row.name, row.variant, row.method,
                            row.resolution, csv_text(row.quantity), row.value, row.reference,
                            row.error_percent(), row.tolerance_percent, row.pass() ? "yes" : "no",
                            row.seconds));
        recorded.push_back({row.name, options.quick ? "quick" : "full", row.variant, row.method,
                            fmt::format("{}", row.resolution), row.quantity, fmt::format("{:.6g}", row.value),
                            fmt::format("{:.6g}", row.reference), fmt::format("{:.3g}", row.error_percent()),
                            fmt::format("{:g}", row.tolerance_percent), row.pass() ? "pass" : "FAIL",
                            fmt::format("{:.1f}", row.seconds), ""});
    };
    for (const ValidationCase* c : chosen) {
        run_validation(*c, options.quick, report,
                       [&](const ValidationCurve& curve) { curves.push_back(curve); });
        if (options.record) records.append(recorded);
        recorded.clear();
        // After every case, so that a long run that is stopped has drawn what it knows.
        if (!options.plot.empty())
            write_gallery(options.plot, "Flotsam: validation", {version_text()},
                          validation_pictures(rows, curves));
    }
    fmt::print("{} passed, {} failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}

}  // namespace flotsam

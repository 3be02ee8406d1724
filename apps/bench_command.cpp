#include <fmt/format.h>

#include <cstdio>
#include <limits>

#include "apps/commands.h"
#include "apps/record.h"
#include "apps/table.h"
#include "bench/bench.h"
#include "core/parallel.h"
#include "plot/axis.h"
#include "plot/gallery.h"
#include "plot/score_chart.h"

namespace flotsam {

namespace {

ScoreRow score_of(std::string_view bench, const BenchRow& row) {
    ScoreRow score;
    score.group = bench;
    score.label = unit_text(row.quantity);
    const std::string unit = unit_text(row.unit);
    score.numbers = fmt::format("{}{}{}", number_text(row.value), unit.empty() ? "" : " ", unit);
    score.share = std::numeric_limits<double>::quiet_NaN();
    if (row.reference != 0) {
        score.share = row.value / row.reference;
        score.numbers += fmt::format(" = {} × {}", number_text(score.share), row.reference_name);
    }
    return score;
}

}  // namespace

int bench_command(const TableOptions& options) {
    set_thread_count(options.threads);
    const auto chosen = choose(options.names, benches(), "bench", "flotsam list benches");
    ScoreChart chart{.title = "Speed",
                     .note = "left of the line is less than the reference that the row names",
                     .axis = "measured / reference",
                     .line = "reference",
                     .logarithmic = true};
    CsvTable csv(options.csv, "bench,quantity,value,unit,reference,reference_name,ratio");
    fmt::print("{:<12} {:<44} {:>12} {:<6} {:>12} {:<16} {:>8}\n", "bench", "quantity", "value", "unit",
               "reference", "", "ratio");
    const RecordFile records = bench_records(options.results);
    if (options.record) records.append({});
    for (const Bench* b : chosen) {
        std::vector<RecordRow> recorded;
        b->run(options.quick, [&](const BenchRow& row) {
            chart.rows.push_back(score_of(b->name, row));
            const bool has_reference = row.reference != 0;
            const std::string reference = has_reference ? fmt::format("{:.4g}", row.reference) : "";
            const std::string ratio = has_reference ? fmt::format("{:.3g}", row.value / row.reference) : "";
            fmt::print("{:<12} {:<44} {:>12.4g} {:<6} {:>12} {:<16} {:>8}\n", b->name, row.quantity,
                       row.value, row.unit, reference, row.reference_name, ratio);
            std::fflush(stdout);
            csv.row(fmt::format("{},{},{},{},{},{},{}", b->name, csv_text(row.quantity), row.value, row.unit,
                                reference, row.reference_name, ratio));
            recorded.push_back({std::string(b->name), options.quick ? "quick" : "full", row.quantity,
                                fmt::format("{:.4g}", row.value), row.unit, reference, row.reference_name,
                                ratio});
        });
        if (options.record) records.append(recorded);
        // After every bench, so that a long run that is stopped has drawn what it knows.
        if (!options.plot.empty())
            write_gallery(options.plot, "Flotsam: speed", {version_text()},
                          {{"speed.svg", chart.title, svg_of(chart)}});
    }
    return 0;
}

}  // namespace flotsam

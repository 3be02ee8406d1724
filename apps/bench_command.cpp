#include <fmt/format.h>

#include <cstdio>

#include "apps/commands.h"
#include "apps/table.h"
#include "bench/bench.h"
#include "core/parallel.h"

namespace flotsam {

int bench_command(const TableOptions& options) {
    set_thread_count(options.threads);
    const auto chosen = choose(options.names, benches(), "bench", "flotsam list benches");
    CsvTable csv(options.csv, "bench,quantity,value,unit,reference,reference_name,ratio");
    fmt::print("{:<12} {:<44} {:>12} {:<6} {:>12} {:<16} {:>8}\n", "bench", "quantity", "value", "unit",
               "reference", "", "ratio");
    for (const Bench* b : chosen)
        b->run(options.quick, [&](const BenchRow& row) {
            const bool has_reference = row.reference != 0;
            const std::string reference = has_reference ? fmt::format("{:.4g}", row.reference) : "";
            const std::string ratio = has_reference ? fmt::format("{:.3g}", row.value / row.reference) : "";
            fmt::print("{:<12} {:<44} {:>12.4g} {:<6} {:>12} {:<16} {:>8}\n", b->name, row.quantity,
                       row.value, row.unit, reference, row.reference_name, ratio);
            std::fflush(stdout);
            csv.row(fmt::format("{},{},{},{},{},{},{}", b->name, csv_text(row.quantity), row.value, row.unit,
                                reference, row.reference_name, ratio));
        });
    return 0;
}

}  // namespace flotsam

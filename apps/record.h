// results/*.csv: what ran when, on which machine, with which version, and what came out. Rows are only ever
// appended; docs/scoreboard.md is written from them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace flotsam {

using RecordRow = std::vector<std::string>;

// One results file: its own columns follow those that every row begins with (date, version, processor,
// threads).
struct RecordFile {
    std::filesystem::path file;
    std::vector<std::string> columns;

    // All at once, also beside other processes that append to the same file.
    void append(const std::vector<RecordRow>& rows) const;
    // Every row with all its columns, the common ones first; none where there is no file.
    std::vector<RecordRow> read() const;
    // Where a column is in a row.
    std::size_t column(std::string_view name) const;
};

RecordFile check_records(const std::filesystem::path& results);
RecordFile validation_records(const std::filesystem::path& results);
RecordFile bench_records(const std::filesystem::path& results);

}  // namespace flotsam

#include "apps/record.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "apps/commands.h"
#include "core/check.h"
#include "core/parallel.h"

namespace flotsam {

namespace {

const std::vector<std::string>& common_columns() {
    static const std::vector<std::string> columns{"date", "version", "processor", "threads"};
    return columns;
}

// To the millisecond: rows of one run share it, and runs that end within a second do not.
std::string date_text() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::time_t(milliseconds / 1000)),
                       milliseconds % 1000);
}

std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name")) return line.substr(std::min(line.size(), line.find(':') + 2));
    return "unknown";
}

std::string quoted(const std::string& text) {
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"') result += '"';
        result += c == '\n' ? ' ' : c;
    }
    return result + '"';
}

std::string line_of(const RecordRow& cells) {
    std::string line;
    for (const std::string& cell : cells) line += (line.empty() ? "" : ",") + quoted(cell);
    return line + '\n';
}

RecordRow cells_of(const std::string& line) {
    RecordRow cells{""};
    bool inside = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (c == '"' && inside && i + 1 < line.size() && line[i + 1] == '"')
            cells.back() += line[++i];
        else if (c == '"')
            inside = !inside;
        else if (c == ',' && !inside)
            cells.emplace_back();
        else
            cells.back() += c;
    }
    return cells;
}

RecordRow all_columns(const RecordFile& record) {
    RecordRow columns = common_columns();
    columns.insert(columns.end(), record.columns.begin(), record.columns.end());
    return columns;
}

// A file that is closed, and so unlocked, whatever happens.
struct OpenFile {
    int descriptor;
    explicit OpenFile(const std::filesystem::path& file)
        : descriptor(::open(file.c_str(), O_RDWR | O_APPEND | O_CREAT, 0644)) {}
    ~OpenFile() {
        if (descriptor >= 0) ::close(descriptor);
    }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
};

}  // namespace

void RecordFile::append(const std::vector<RecordRow>& rows) const {
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    const OpenFile out(file);
    if (out.descriptor < 0 || ::flock(out.descriptor, LOCK_EX) != 0)
        throw IoError(
            fmt::format("{}: cannot be written; choose another place with --results", file.string()));
    std::string text;
    if (std::filesystem::file_size(file) == 0)
        text = line_of(all_columns(*this));
    else
        read();  // refuses a file with other columns
    const RecordRow common{date_text(), revision_text(), processor_name(), fmt::format("{}", thread_count())};
    for (const RecordRow& row : rows) {
        FLOTSAM_CHECK(row.size() == columns.size(), row.size(), columns.size());
        RecordRow whole = common;
        whole.insert(whole.end(), row.begin(), row.end());
        text += line_of(whole);
    }
    if (::write(out.descriptor, text.data(), text.size()) != ssize_t(text.size()))
        throw IoError(fmt::format("{}: writing failed: is the disk full?", file.string()));
}

std::vector<RecordRow> RecordFile::read() const {
    std::vector<RecordRow> rows;
    std::ifstream in(file);
    std::string line;
    if (!in || !std::getline(in, line)) return rows;
    if (cells_of(line) != all_columns(*this))
        throw UserError(
            fmt::format("{}:1:1: the columns are not those of this version\n  move the file away to "
                        "begin a new one",
                        file.string()));
    while (std::getline(in, line)) {
        rows.push_back(cells_of(line));
        if (rows.back().size() != all_columns(*this).size())
            throw UserError(fmt::format("{}:{}:1: the row has {} cells, the first line {}\n  remove the line",
                                        file.string(), rows.size() + 1, rows.back().size(),
                                        all_columns(*this).size()));
    }
    return rows;
}

std::size_t RecordFile::column(std::string_view name) const {
    const RecordRow all = all_columns(*this);
    const auto found = std::find(all.begin(), all.end(), name);
    FLOTSAM_CHECK(found != all.end());
    return std::size_t(found - all.begin());
}

RecordFile check_records(const std::filesystem::path& results) {
    return {
        results / "checks.csv",
        {"scene", "scale", "cells", "method", "seconds", "claim", "verdict", "measured", "demanded", "why"}};
}

RecordFile validation_records(const std::filesystem::path& results) {
    return {results / "validation.csv",
            {"case", "level", "variant", "method", "resolution", "quantity", "value", "reference",
             "error_percent", "tolerance_percent", "verdict", "seconds", "why"}};
}

RecordFile bench_records(const std::filesystem::path& results) {
    return {results / "bench.csv",
            {"bench", "level", "quantity", "value", "unit", "reference", "reference_name", "ratio"}};
}

}  // namespace flotsam

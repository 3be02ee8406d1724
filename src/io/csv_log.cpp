#include "io/csv_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <iterator>
#include <utility>

#include "core/check.h"
#include "io/atomic_file.h"

namespace flotsam {

namespace {

std::string quoted(const std::string& column) {
    if (column.find_first_of(",\"\n") == std::string::npos) return column;
    std::string text = "\"";
    for (const char c : column) text += c == '"' ? "\"\"" : std::string(1, c);
    return text + '"';
}

}  // namespace

std::string CsvLog::header_of(const std::vector<std::string>& columns) {
    std::string line;
    for (const std::string& column : columns) line += (line.empty() ? "" : ",") + quoted(column);
    return line;
}

CsvLog::CsvLog(std::filesystem::path file, int flags) : file_(std::move(file)) {
    descriptor_ = ::open(file_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | flags, 0666);
    if (descriptor_ < 0) throw disk_error("write", file_, errno);
}

CsvLog CsvLog::create(const std::filesystem::path& file, const std::vector<std::string>& columns) {
    CsvLog log(file, O_CREAT | O_TRUNC);
    log.header_ = header_of(columns);
    const std::string line = log.header_ + '\n';
    write_fully(log.descriptor_, line.data(), line.size(), file);
    return log;
}

CsvLog CsvLog::resume(const std::filesystem::path& file, std::int64_t step) {
    const std::string text = read_file(file);
    CsvLog log(file, 0);
    std::size_t good = text.find('\n');
    if (good == std::string::npos) throw IoError(fmt::format("{} has no header", file.string()));
    log.header_ = text.substr(0, good++);
    for (std::size_t end; (end = text.find('\n', good)) != std::string::npos; good = end + 1) {
        std::int64_t row_step = -1;
        const auto [stop, error] = std::from_chars(text.data() + good, text.data() + end, row_step);
        if (error != std::errc() || *stop != ',' || row_step > step) break;
        log.last_step_ = row_step;
    }
    if (good < text.size() && ::ftruncate(log.descriptor_, off_t(good)) != 0)
        throw disk_error("write", file, errno);
    return log;
}

CsvLog::CsvLog(CsvLog&& other) noexcept
    : file_(std::move(other.file_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      header_(std::move(other.header_)),
      last_step_(other.last_step_) {}

CsvLog::~CsvLog() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

void CsvLog::write(std::span<const double> row) {
    fmt::memory_buffer line;
    for (const double value : row) fmt::format_to(std::back_inserter(line), "{},", value);
    line[line.size() - 1] = '\n';
    write_fully(descriptor_, line.data(), line.size(), file_);
    last_step_ = static_cast<std::int64_t>(row.front());
}

void CsvLog::sync() {
    // A pipe or a device cannot be synced, and need not.
    if (::fsync(descriptor_) != 0 && errno != EINVAL) throw disk_error("write", file_, errno);
}

CsvLog resume_log(const std::filesystem::path& file, std::int64_t step,
                  const std::vector<std::string>& columns) {
    if (!std::filesystem::exists(file))
        throw UserError(
            fmt::format("{} is missing from the run.\n"
                        "  Put the file back, or start anew with --overwrite.",
                        file.string()));
    CsvLog log = CsvLog::resume(file, step);
    const std::string expected = CsvLog::header_of(columns);
    if (log.header() != expected && !log.header().starts_with(expected + ','))
        throw UserError(
            fmt::format("{} has other columns than this version of Flotsam writes.\n"
                        "  Resume with the version that began the run, or start anew with --overwrite.",
                        file.string()));
    if (log.last_step() != step)
        throw UserError(
            fmt::format("{0} ends at {1} {2}, but the checkpoint is of {1} {3}: rows were removed.\n"
                        "  Put the file back, or start anew with --overwrite.",
                        file.string(), columns.front(), log.last_step(), step));
    return log;
}

}  // namespace flotsam

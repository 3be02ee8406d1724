// A table that grows by a row per step and is valid after each of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace flotsam {

class CsvLog {
  public:
    // Starts a new file.
    static CsvLog create(const std::filesystem::path& file, const std::vector<std::string>& columns);
    // Continues after the rows up to `step`, the first column; later rows and a half-written one are cut off.
    static CsvLog resume(const std::filesystem::path& file, std::int64_t step);
    CsvLog(CsvLog&& other) noexcept;
    CsvLog& operator=(CsvLog&&) = delete;
    ~CsvLog();

    const std::string& header() const { return header_; }  // the first line
    std::int64_t last_step() const { return last_step_; }  // -1 when there is no row

    // Writes a row; its first value is the step. Numbers are the shortest that read back as the same bits.
    void write(std::span<const double> row);
    // Waits until all rows are on the disk.
    void sync();

    // The first line of a table with these columns.
    static std::string header_of(const std::vector<std::string>& columns);

  private:
    CsvLog(std::filesystem::path file, int flags);

    std::filesystem::path file_;
    int descriptor_ = -1;
    std::string header_;
    std::int64_t last_step_ = -1;
};

// Continues a table, which must have the rows up to `step` and whose columns must begin with `columns`;
// throws UserError otherwise.
CsvLog resume_log(const std::filesystem::path& file, std::int64_t step,
                  const std::vector<std::string>& columns);

}  // namespace flotsam

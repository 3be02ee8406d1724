// Reads tables that CsvLog has written.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace flotsam {

struct NumberTable {
    std::vector<std::string> names;            // of the columns
    std::vector<std::vector<double>> columns;  // all of the same length

    std::size_t rows() const { return columns.empty() ? 0 : columns.front().size(); }
    const std::vector<double>* find(std::string_view name) const;  // null when there is no such column
};

// Reads a table of numbers under one line of names. A last line without its end is left out: a run that is
// still going, or was killed, was writing it. Any other defect is a UserError with file:line.
NumberTable read_number_table(const std::filesystem::path& file);

}  // namespace flotsam

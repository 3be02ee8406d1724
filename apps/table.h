// What `validate` and `bench` share: choosing entries by name and writing rows as CSV.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/check.h"

namespace flotsam {

// The named entries in table order, or all of them; an unknown name is a UserError that says where to look.
template <class Entry>
std::vector<const Entry*> choose(const std::vector<std::string>& names, const std::vector<Entry>& entries,
                                 const std::string& kind, const std::string& see) {
    for (const std::string& name : names) {
        bool known = false;
        for (const Entry& entry : entries) known |= entry.name == name;
        if (!known) throw UserError(fmt::format("unknown {} '{}'\n  `{}` shows them all", kind, name, see));
    }
    std::vector<const Entry*> chosen;
    for (const Entry& entry : entries) {
        bool wanted = names.empty();
        for (const std::string& name : names) wanted |= entry.name == name;
        if (wanted) chosen.push_back(&entry);
    }
    return chosen;
}

// Rows appear in the file as they are known; without a file nothing is written.
class CsvTable {
  public:
    CsvTable(const std::filesystem::path& file, const std::string& header) {
        if (file.empty()) return;
        out_.open(file);
        if (!out_)
            throw UserError(
                fmt::format("{}: cannot be written\n  choose another place with --csv", file.string()));
        row(header);
    }
    void row(const std::string& text) {
        if (out_.is_open()) out_ << text << std::endl;
    }

  private:
    std::ofstream out_;
};

// Quotes a text that contains a comma.
inline std::string csv_text(const std::string& text) {
    return text.find(',') == std::string::npos ? text : '"' + text + '"';
}

}  // namespace flotsam

#include "io/number_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/check.h"
#include "io/atomic_file.h"

namespace flotsam {

namespace {

// The names in a header line, in which names with a comma or a quote are quoted.
std::vector<std::string> names_in(std::string_view line) {
    std::vector<std::string> names(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const bool doubled = quoted && line[i] == '"' && i + 1 < line.size() && line[i + 1] == '"';
        if (doubled)
            names.back() += line[++i];
        else if (line[i] == '"')
            quoted = !quoted;
        else if (line[i] == ',' && !quoted)
            names.emplace_back();
        else
            names.back() += line[i];
    }
    return names;
}

}  // namespace

const std::vector<double>* NumberTable::find(std::string_view name) const {
    const auto at = std::find(names.begin(), names.end(), name);
    return at == names.end() ? nullptr : &columns[at - names.begin()];
}

NumberTable read_number_table(const std::filesystem::path& file) {
    const std::string text = read_file(file);
    const std::size_t header_end = text.find('\n');
    if (header_end == std::string::npos)
        throw UserError(
            fmt::format("{}:1: there is no line of column names\n  The file was cut off or is "
                        "not a table of Flotsam.",
                        file.string()));
    NumberTable table;
    table.names = names_in(std::string_view(text).substr(0, header_end));
    table.columns.resize(table.names.size());

    int line_number = 2;
    std::size_t begin = header_end + 1;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos;
         begin = end + 1, ++line_number) {
        const auto broken = [&](const std::string& what) {
            return UserError(
                fmt::format("{}:{}: {}\n  The file was altered or damaged; the rows before this "
                            "line are good.",
                            file.string(), line_number, what));
        };
        const char* at = text.data() + begin;
        const char* const line_end = text.data() + end;
        for (std::size_t column = 0; column < table.columns.size(); ++column) {
            const char* const stop = std::find(at, line_end, ',');
            double value = 0;
            const auto [rest, error] = std::from_chars(at, stop, value);
            if (error != std::errc() || rest != stop)
                throw broken(fmt::format("'{}' is not a number (column {})", std::string(at, stop),
                                         table.names[column]));
            table.columns[column].push_back(value);
            const bool last = column + 1 == table.columns.size();
            if (!last && stop == line_end)
                throw broken(
                    fmt::format("there are {} numbers for {} columns", column + 1, table.columns.size()));
            if (last && stop != line_end)
                throw broken(fmt::format("there are more numbers than the {} columns", table.columns.size()));
            at = stop + 1;
        }
    }
    return table;
}

}  // namespace flotsam

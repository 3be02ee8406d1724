#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "apps/command_table.h"
#include "apps/commands.h"
#include "bench/bench.h"
#include "core/check.h"
#include "coupling/scheme.h"
#include "scene/scene.h"
#include "scene/schema.h"
#include "scene/suggest.h"
#include "sim/measure.h"
#include "validate/validation.h"

namespace flotsam {

namespace {

// A name and a line about it.
struct Listed {
    std::string name, summary;
};

void print(const std::string& heading, const std::vector<Listed>& entries, bool with_heading) {
    if (with_heading) std::cout << heading << '\n';
    std::size_t width = 0;
    for (const Listed& entry : entries) width = std::max(width, entry.name.size());
    for (const Listed& entry : entries)
        std::cout << fmt::format("{}{:<{}}  {}\n", with_heading ? "  " : "", entry.name, width,
                                 entry.summary);
    if (with_heading) std::cout << '\n';
}

// Beside where the program is called, or beside the folder it was built in.
std::filesystem::path scenes_folder() {
    std::error_code error;
    if (std::filesystem::is_directory("scenes", error)) return "scenes";
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    return program.parent_path().parent_path() / "scenes";
}

std::vector<Listed> listed_scenes() {
    std::vector<Listed> entries;
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator at(scenes_folder(), error), end; !error && at != end;
         at.increment(error))
        if (at->path().extension() == ".toml")
            entries.push_back({at->path().string(), scene_title(at->path())});
    std::sort(entries.begin(), entries.end(),
              [](const Listed& a, const Listed& b) { return a.name < b.name; });
    return entries;
}

// Any table whose entries have a name and a summary.
template <class Entry>
std::vector<Listed> listed(const std::vector<Entry>& table) {
    std::vector<Listed> entries;
    entries.reserve(table.size());
    for (const Entry& entry : table) entries.push_back({std::string(entry.name), std::string(entry.summary)});
    return entries;
}

std::vector<Listed> listed_quantities() {
    std::vector<Listed> entries;
    for (const Quantity& quantity : quantities())
        entries.push_back(
            {std::string(quantity.name), fmt::format("{} [{}]", quantity.meaning, quantity.unit)});
    return entries;
}

}  // namespace

int list_command(const std::string& what) {
    const bool all = what.empty();
    if (all || what == "methods") print("methods", listed(schemes()), all);
    if (all || what == "scenes") print("scenes", listed_scenes(), all);
    if (all || what == "benches") print("benches", listed(benches()), all);
    if (all || what == "cases") print("cases", listed(validation_cases()), all);
    if (what == "keys") std::cout << key_list();
    if (what == "quantities") print("quantities", listed_quantities(), false);
    const std::vector<std::string_view>& known = command_text("list").argument.words;
    if (!all && std::find(known.begin(), known.end(), what) == known.end())
        throw UserError(fmt::format("list: there is no list of '{}'\n  {}", what, suggestion(what, known)));
    return 0;
}

}  // namespace flotsam

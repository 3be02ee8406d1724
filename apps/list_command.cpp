#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "apps/command_table.h"
#include "apps/commands.h"
#include "apps/scene_run.h"
#include "bench/bench.h"
#include "core/check.h"
#include "coupling/scheme.h"
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

std::vector<Listed> listed_scenes() {
    std::vector<Listed> entries;
    for (const std::filesystem::path& file : scene_files())
        entries.push_back({file.string(), summarize_scene(file).title});
    return entries;
}

// A line for each scene that says how coarse it may be judged: seconds, scale, file; the cheapest first.
void print_checks() {
    std::vector<std::pair<CheckSettings, std::filesystem::path>> checks;
    for (const std::filesystem::path& file : scene_files())
        if (const auto check = summarize_scene(file).check) checks.emplace_back(*check, file);
    std::stable_sort(checks.begin(), checks.end(),
                     [](const auto& a, const auto& b) { return a.first.seconds < b.first.seconds; });
    for (const auto& [check, file] : checks)
        std::cout << fmt::format("{:g} {:g} {}\n", check.seconds, check.scale, file.string());
}

// Every claim that is known to fail, with the reason.
std::vector<Listed> listed_failures() {
    std::vector<Listed> entries;
    for (const std::filesystem::path& file : scene_files())
        for (const SceneSummary::Failure& failure : summarize_scene(file).failures)
            entries.push_back({name_of_scene(file), fmt::format("{}: {}", failure.claim, failure.why)});
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
    if (what == "checks") print_checks();
    if (what == "failures") print("failures", listed_failures(), false);
    const std::vector<std::string_view>& known = command_text("list").argument.words;
    if (!all && std::find(known.begin(), known.end(), what) == known.end())
        throw UserError(fmt::format("list: there is no list of '{}'\n  {}", what, suggestion(what, known)));
    return 0;
}

}  // namespace flotsam

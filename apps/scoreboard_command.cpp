// docs/scoreboard*.md, written from results/*.csv: no number in them is typed by hand.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include "apps/record.h"
#include "apps/scene_run.h"
#include "bench/bench.h"
#include "core/check.h"
#include "coupling/scheme.h"
#include "validate/validation.h"

namespace flotsam {

namespace {

// The rows of one run of a scene, a case or a bench, and where their columns are.
struct Recorded {
    const RecordFile& file;
    std::vector<RecordRow> rows;

    const std::string& at(std::size_t row, std::string_view column) const {
        return rows[row][file.column(column)];
    }
    const std::string& first(std::string_view column) const { return at(0, column); }
    int count(std::string_view column, std::string_view value) const {
        int found = 0;
        for (std::size_t n = 0; n < rows.size(); ++n) found += at(n, column) == value;
        return found;
    }
};

// A cell of a Markdown table.
std::string cell(std::string text) {
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
        text.insert(at, 1, '\\');
    return text;
}

std::string day(const std::string& date) { return date.substr(0, 10); }

std::string first_line_of(const std::string& command) {
    std::string text;
    if (std::FILE* pipe = ::popen((command + " 2>/dev/null").c_str(), "r")) {
        char buffer[256];
        if (std::fgets(buffer, sizeof buffer, pipe)) text = buffer;
        ::pclose(pipe);
    }
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

// How many commits since `version` touched `paths`: how much may have changed since something was measured.
std::string age(const std::string& version, const std::string& paths) {
    static std::map<std::pair<std::string, std::string>, std::string> known;
    std::string& text = known[{version, paths}];
    if (!text.empty()) return text;
    const std::string revision = version.substr(0, version.find('-'));
    text = first_line_of(fmt::format("git rev-list --count {}..HEAD -- {}", revision, paths));
    if (text.empty()) text = "unknown";
    return text;
}

constexpr std::string_view simulation = "src ':!src/render' ':!src/plot' ':!src/io'";

// What a scene uses: the engine without what other methods need, and its own file.
std::string paths_of(const std::string& method, const std::string& scene) {
    const bool sound = make_scheme(method)->capabilities().compressible;
    return fmt::format(
        "{} ':!src/validate' {} scenes/{}.toml", simulation,
        sound ? "':!src/linalg' ':!src/solid/elastic' ':!src/solid/spring'" : "':!src/fluid/sph'", scene);
}

// The newest run of `name` at the highest value of `level` ("scale": the largest; "level": full before
// quick).
Recorded newest(const RecordFile& file, const std::vector<RecordRow>& rows, std::string_view name_column,
                const std::string& name, std::string_view level, std::string_view method_column = {},
                const std::string& method = {}) {
    const auto rank = [&](const RecordRow& row) {
        const std::string& text = row[file.column(level)];
        const double height = level == "scale" ? std::stod(text) : text == "full" ? 1 : 0;
        return std::pair{height, row[file.column("date")]};
    };
    Recorded found{file, {}};
    for (const RecordRow& row : rows) {
        if (row[file.column(name_column)] != name) continue;
        if (!method_column.empty() && row[file.column(method_column)] != method) continue;
        if (found.rows.empty() || rank(row) > rank(found.rows.front())) found.rows.clear();
        if (found.rows.empty() || rank(row) == rank(found.rows.front())) found.rows.push_back(row);
    }
    return found;
}

void write_page(const std::filesystem::path& file, const std::string& text) {
    std::ofstream out(file);
    out << text;
    out.close();
    if (!out) throw UserError(fmt::format("{}: cannot be written\n  say where with --docs", file.string()));
    std::cout << file.string() << '\n';
}

std::string where(const Recorded& run) {
    return fmt::format("{}, {} threads", run.first("processor"), run.first("threads"));
}

struct Page {
    std::string table, failing;
};

Page scenes_page(const RecordFile& file) {
    Page page;
    const std::vector<RecordRow> rows = file.read();
    for (const std::filesystem::path& path : scene_files()) {
        const std::string name = name_of_scene(path);
        const SceneSummary summary = summarize_scene(path);
        const Recorded run = newest(file, rows, "scene", name, "scale");
        if (run.rows.empty()) {
            page.table += fmt::format("| `{}` | | never recorded | | | | | | |\n", name);
            continue;
        }
        const int holds = run.count("verdict", "holds") + run.count("verdict", "MENDED"),
                  known = run.count("verdict", "known"), failed = run.count("verdict", "FAILED");
        page.table +=
            fmt::format("| `{}` | {} | {} of {} | {} | {} | {} | {} | {} | {} |\n", name, run.first("scale"),
                        holds, run.rows.size(), known, failed, run.first("seconds"), where(run),
                        day(run.first("date")), age(run.first("version"), paths_of(summary.method, name)));
        for (std::size_t n = 0; n < run.rows.size(); ++n) {
            const std::string& verdict = run.at(n, "verdict");
            if (verdict == "holds" || verdict == "unseen") continue;
            std::string why = run.at(n, "why");
            if (verdict == "FAILED") why = "unexpected";
            if (verdict == "MENDED") why.insert(0, "holds now; was: ");
            page.failing += fmt::format("| `{}` at {} | {} | {} | {} | {} |\n", name, run.first("scale"),
                                        cell(run.at(n, "claim")), cell(run.at(n, "measured")),
                                        cell(run.at(n, "demanded")), cell(why));
        }
    }
    return page;
}

struct ValidationPage : Page {
    std::string details;
};

ValidationPage cases_page(const RecordFile& file) {
    ValidationPage page;
    const std::vector<RecordRow> rows = file.read();
    for (const ValidationCase& c : validation_cases()) {
        std::set<std::string> methods;
        for (const RecordRow& row : rows)
            if (row[file.column("case")] == c.name) methods.insert(row[file.column("method")]);
        if (methods.empty()) page.table += fmt::format("| `{}` | | | never recorded | | | | | | |\n", c.name);
        page.details += fmt::format("\n## `{}`: {}\n", c.name, c.summary);
        for (const std::string& method : methods) {
            const Recorded run = newest(file, rows, "case", std::string(c.name), "level", "method", method);
            double seconds = 0;
            for (std::size_t n = 0; n < run.rows.size(); ++n) seconds += std::stod(run.at(n, "seconds"));
            page.table += fmt::format("| `{}` | {} | {} | {} of {} | {} | {} | {:.0f} | {} | {} | {} |\n",
                                      c.name, method, run.first("level"), run.count("verdict", "pass"),
                                      run.rows.size(), run.count("verdict", "known"),
                                      run.count("verdict", "FAIL") + run.count("verdict", "MENDED"), seconds,
                                      where(run), day(run.first("date")),
                                      age(run.first("version"), std::string(simulation)));
            page.details += fmt::format("\n{}, {} level, {}, version {}, {}:\n\n", method, run.first("level"),
                                        day(run.first("date")), run.first("version"), where(run));
            page.details +=
                "| variant | cells | quantity | value | reference | error % | allowed % | |\n"
                "| --- | ---: | --- | ---: | ---: | ---: | ---: | --- |\n";
            for (std::size_t n = 0; n < run.rows.size(); ++n) {
                const std::string &verdict = run.at(n, "verdict"), &why = run.at(n, "why");
                page.details += fmt::format(
                    "| {} | {} | {} | {} | {} | {} | {} | {} |\n", cell(run.at(n, "variant")),
                    run.at(n, "resolution"), cell(run.at(n, "quantity")), run.at(n, "value"),
                    run.at(n, "reference"), run.at(n, "error_percent"), run.at(n, "tolerance_percent"),
                    why.empty() ? verdict : verdict + ": " + cell(why));
                if (verdict == "pass") continue;
                page.failing +=
                    fmt::format("| `{}` {} | {}, {} cells: {} | {} | {} (± {} %) | {} |\n", c.name, method,
                                cell(run.at(n, "variant")), run.at(n, "resolution"),
                                cell(run.at(n, "quantity")), run.at(n, "value"), run.at(n, "reference"),
                                run.at(n, "tolerance_percent"), why.empty() ? "unexpected" : cell(why));
            }
        }
        if (methods.empty()) page.details += "\nNever recorded.\n";
    }
    return page;
}

std::string speed_page(const RecordFile& file) {
    std::string text;
    const std::vector<RecordRow> rows = file.read();
    for (const Bench& b : benches()) {
        text += fmt::format("\n## `{}`: {}\n\n", b.name, b.summary);
        const Recorded run = newest(file, rows, "bench", std::string(b.name), "level");
        if (run.rows.empty()) {
            text += "Never recorded.\n";
            continue;
        }
        text += fmt::format("{} level, {}, version {} ({} commits to `src` and `bench` since), {}:\n\n",
                            run.first("level"), day(run.first("date")), run.first("version"),
                            age(run.first("version"), fmt::format("{} bench", simulation)), where(run));
        text +=
            "| quantity | value | unit | reference | | ratio |\n| --- | ---: | --- | ---: | --- | ---: |\n";
        for (std::size_t n = 0; n < run.rows.size(); ++n)
            text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", cell(run.at(n, "quantity")),
                                run.at(n, "value"), run.at(n, "unit"), run.at(n, "reference"),
                                cell(run.at(n, "reference_name")), run.at(n, "ratio"));
    }
    return text;
}

constexpr std::string_view written =
    "Written by `./flotsam scoreboard` from [results/](../results); do not edit. ";

}  // namespace

int scoreboard_command(const ScoreboardOptions& options) {
    const RecordFile checks = check_records(options.results), cases = validation_records(options.results),
                     speed = bench_records(options.results);
    const Page scenes = scenes_page(checks);
    const ValidationPage validation = cases_page(cases);
    std::string text = fmt::format(
        "# Scoreboard\n\n{}Runs are recorded with `check --record`, `validate --record` and `bench "
        "--record`. "
        "Age counts the commits since that run which touched what it uses.\n\n"
        "## What fails, and why\n\n"
        "Every claim of a scene and every row of a validation case that did not hold in its last recorded "
        "run.\n\n"
        "| where | what | measured | demanded | why |\n| --- | --- | --- | --- | --- |\n{}{}\n"
        "## Scenes\n\nThe newest run at the largest scale that was recorded; 1 is full size.\n\n"
        "| scene | scale | claims hold | known to fail | failed | seconds | machine | date | age |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | --- | --- | ---: |\n{}\n"
        "## Validation\n\nThe newest run of each case; every row is in [scoreboard_validation.md]"
        "(scoreboard_validation.md), what the cases are in [validation.md](validation.md).\n\n"
        "| case | method | level | rows pass | known to fail | failed | seconds | machine | date | age |\n"
        "| --- | --- | --- | ---: | ---: | ---: | ---: | --- | --- | ---: |\n{}\n"
        "## Speed\n\nIn [scoreboard_speed.md](scoreboard_speed.md).\n",
        written, scenes.failing, validation.failing, scenes.table, validation.table);
    write_page(options.docs / "scoreboard.md", text);
    write_page(
        options.docs / "scoreboard_validation.md",
        fmt::format("# Validation, every row\n\n{}What the cases are and what their errors come from is in "
                    "[validation.md](validation.md). Where the reference is 0, the error is 100 times the "
                    "value.\n{}",
                    written, validation.details));
    write_page(options.docs / "scoreboard_speed.md",
               fmt::format("# Speed\n\n{}Where there is a reference, it was measured in the same run.\n{}",
                           written, speed_page(speed)));
    return 0;
}

}  // namespace flotsam

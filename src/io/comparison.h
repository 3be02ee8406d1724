// Compares several runs of one scene by numbers, from the tables in their folders.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace flotsam {

struct ComparedRun {
    std::string label;
    std::filesystem::path folder;
};

struct ComparisonRow {
    std::string quantity, unit;
    std::vector<std::optional<double>> value;  // of each run; none where it does not apply
};

// Motion of each solid that moves by itself or by a script, volume, leaks, momentum and time. Runs may have
// stopped early; rows about a time that a run did not reach have no value for it.
std::vector<ComparisonRow> compare_runs(const std::vector<ComparedRun>& runs);

// The same as a text table with a column per run, and as CSV.
std::string comparison_text(const std::vector<ComparedRun>& runs, const std::vector<ComparisonRow>& rows);
std::string comparison_csv(const std::vector<ComparedRun>& runs, const std::vector<ComparisonRow>& rows);

// The position of every solid at every frame, in every run: "time,cut-cell.ball.x,...".
std::string motion_csv(const std::vector<ComparedRun>& runs);

}  // namespace flotsam

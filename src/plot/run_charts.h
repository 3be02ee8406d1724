// What a run's tables show, as charts.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/number_table.h"
#include "plot/chart.h"
#include "scene/scene.h"

namespace flotsam {

struct NamedChart {
    std::string name;  // of its file, without ".svg"
    Chart chart;
};

// What a run folder holds for charts, be the run complete, interrupted or still going.
struct RunTables {
    std::string title, command;
    NumberTable audit;
    std::optional<NumberTable> probes;  // a scene may have none
    std::optional<Scene> scene;         // names the probes' units and the solids' motion
    std::vector<std::string> warnings;  // what is missing, and what cannot be drawn therefore
};
RunTables read_run_tables(const std::filesystem::path& run_folder);

// From audit.csv: volume, momentum, energy, solver, times and so on, by what its columns allow.
std::vector<NamedChart> audit_charts(const NumberTable& audit);

// From probes.csv: probes of one kind share a chart, the components of a vector have one of their own.
std::vector<NamedChart> probe_charts(const NumberTable& probes, const std::optional<Scene>& scene);

// Where every solid that moves was at the times of the steps, and how far it had turned about each axis.
std::vector<NamedChart> motion_charts(const std::vector<double>& times, const Scenario& scenario);

std::vector<NamedChart> charts_of(const RunTables& run);

}  // namespace flotsam

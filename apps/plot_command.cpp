#include <fmt/format.h>

#include <cstdio>

#include "apps/commands.h"
#include "plot/axis.h"
#include "plot/gallery.h"
#include "plot/run_charts.h"

namespace flotsam {

namespace {

// How far a run came; the scene says how far it should.
std::string progress_text(const RunTables& run) {
    const std::vector<double>& time = *run.audit.find("time");
    const double reached = time.empty() ? 0 : time.back();
    std::string text = fmt::format("{} steps, {} s", time.size(), number_text(reached));
    if (!run.scene) return text;
    const double duration = run.scene->scenario.time.duration;
    text += fmt::format(" of {} s", number_text(duration));
    // The last frame may lie a millionth of a frame before the end, and the time is a sum of rounded steps.
    const bool complete = reached >= duration - 1e-5 / run.scene->scenario.time.frames_per_second;
    return complete ? text : text + ": the run is not complete";
}

}  // namespace

int plot_command(const PlotOptions& options) {
    const RunTables run = read_run_tables(options.run);
    for (const std::string& warning : run.warnings) fmt::print(stderr, "warning: {}\n", warning);
    std::vector<ChartFile> pictures;
    for (const NamedChart& named : charts_of(run))
        pictures.push_back({named.name + ".svg", named.chart.title, svg_of(named.chart)});
    const std::filesystem::path folder = options.out.empty() ? options.run / "plots" : options.out;
    write_gallery(folder, run.title, {progress_text(run), run.command}, pictures);
    fmt::print("{} charts; open {}\n", pictures.size(), (folder / "index.html").string());
    return 0;
}

}  // namespace flotsam

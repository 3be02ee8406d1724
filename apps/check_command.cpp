#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "apps/record.h"
#include "apps/scene_run.h"
#include "core/stopwatch.h"
#include "scene/claim_observer.h"
#include "scene/estimate.h"

namespace flotsam {

namespace {

double coarse_scale(const SceneOptions& options) {
    if (options.scale != 1)
        throw UserError("check: --coarse takes its scale from the scene\n  leave out --scale or --coarse");
    const std::optional<CheckSettings> settings = summarize_scene(options.scene).check;
    if (!settings)
        throw UserError(
            fmt::format("{}: the scene does not say how coarse its claims may be judged\n  give it a "
                        "table [check] with 'scale' and 'seconds'",
                        options.scene.string()));
    return settings->scale;
}

void record(const CheckOptions& options, const Scene& scene, double seconds, const RunResult& result,
            const std::vector<ClaimVerdict>& verdicts) {
    const Int3 cells = scene.scenario.domain.cells;
    const auto row = [&](const std::string& claim, std::string_view word, const ClaimVerdict& verdict) {
        return RecordRow{name_of_scene(scene.file),
                         fmt::format("{:g}", options.run.scene.scale),
                         fmt::format("{}", std::max({cells.x, cells.y, cells.z})),
                         scene.scenario.method,
                         fmt::format("{:.1f}", seconds),
                         claim,
                         std::string(word),
                         verdict.measured,
                         verdict.demanded,
                         verdict.fails};
    };
    std::vector<RecordRow> rows;
    if (result.exit_code() != 0) rows.push_back(row("the run reaches its end", "FAILED", {}));
    for (const ClaimVerdict& verdict : verdicts)
        rows.push_back(row(verdict.text, word_of(verdict.kind), verdict));
    if (rows.empty()) rows.push_back(row("none", "holds", {}));
    check_records(options.results).append(rows);
}

}  // namespace

int check_command(const CheckOptions& asked) {
    CheckOptions options = asked;
    RunOptions& chosen = options.run;
    if (options.coarse) chosen.scene.scale = coarse_scale(chosen.scene);
    const Scene scene = load(chosen.scene);
    if (options.dry) {
        std::cout << fmt::format("{}: {} ({})\n{}{}", scene.file.string(), scene.scenario.title,
                                 scene.scenario.method, estimate_text(estimate(scene.scenario, scene.output)),
                                 tetrahedra_text(scene.scenario));
        return 0;
    }
    // A folder of its own by default, so that checking again, or checking after a run, loses nothing.
    if (chosen.out.empty()) {
        chosen.out = std::filesystem::path("runs") / (chosen.scene.scene.stem().string() + "_check");
        chosen.overwrite = true;
    }
    if (options.record) check_records(options.results).append({});  // before hours of work, not after
    ClaimJudge judge(scene.claims, scene.probes);
    ClaimObserver observer(judge, scene.scenario);
    Stopwatch watch;
    const RunResult result = run(scene, chosen, {&observer});
    const double seconds = watch.lap() / 1000;
    const bool whole = result.frame == frame_at(scene.scenario.time, scene.scenario.time.duration);
    if (result.end == RunResult::End::failed && options.record) record(options, scene, seconds, result, {});
    if (result.exit_code() != 0) return result.exit_code();

    const std::vector<ClaimVerdict> verdicts = judge.verdicts(!whole);
    for (const ClaimVerdict& verdict : verdicts) std::cout << verdict_line(verdict) << '\n';
    std::cout << verdict_summary(verdicts) << '\n';
    if (options.record) record(options, scene, seconds, result, verdicts);
    return std::all_of(verdicts.begin(), verdicts.end(), [](const ClaimVerdict& v) { return v.good(); }) ? 0
                                                                                                         : 1;
}

}  // namespace flotsam

#include <fmt/format.h>

#include <iostream>

#include "apps/scene_run.h"
#include "scene/claim_observer.h"
#include "scene/estimate.h"

namespace flotsam {

int check_command(const CheckOptions& options) {
    RunOptions chosen = options.run;
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
    ClaimJudge judge(scene.claims, scene.probes);
    ClaimObserver observer(judge, scene.scenario);
    const RunResult result = run(scene, chosen, {&observer});
    if (result.exit_code() != 0) return result.exit_code();

    bool all_hold = true;
    for (const ClaimVerdict& verdict : judge.verdicts()) {
        std::cout << verdict_line(verdict) << '\n';
        all_hold = all_hold && verdict.holds;
    }
    if (scene.claims.empty()) std::cout << "the scene makes no claims\n";
    return all_hold ? 0 : 1;
}

}  // namespace flotsam

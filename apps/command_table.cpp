#include "apps/command_table.h"

#include "core/check.h"
#include "scene/scene_template.h"

namespace flotsam {

namespace {

std::vector<CommandText> make_table() {
    using Kind = ArgumentText::Kind;
    const OptionText threads{"--threads", "N",
                             "threads to use; 0 (default) takes all cores; results do not depend on it"};
    const OptionText out{"--out", "DIR",
                         "run folder; default runs/NAME for scene NAME.toml (check: runs/NAME_check)"};
    const OptionText overwrite{"--overwrite", "", "replace an existing run folder"};
    const OptionText quiet{"--quiet", "", "no progress, only problems"};
    const OptionText csv{"--csv", "FILE", "also write the rows as CSV"};
    const OptionText plot{"--plot", "DIR",
                          "also draw the rows as charts, with an index.html that shows them"};
    const OptionText quick{"--quick", "", "coarse level only"};
    const OptionText scale{"--scale", "X", "multiply the resolution, e.g. 0.5"};
    const OptionText record{"--record", "", "append what came out to results/*.csv, for docs/scoreboard.md"};
    const OptionText results{"--results", "DIR", "folder of what is recorded; default results"};
    const OptionText frames{"--frames", "N", "end after so many frames; `run --resume` goes on"};
    const std::vector<OptionText> of_scene = {
        {"--set", "KEY=VALUE", "override a key of the scene, e.g. domain.resolution=50; may be repeated"},
        scale,
        {"--method", "NAME", "use this method instead of the scene's"},
        threads,
        out,
        overwrite,
        quiet,
        frames,
        {"--until", "T", "end with the frame at this time in seconds; `run --resume` goes on"}};
    const ArgumentText scene{Kind::scene_file, "SCENE", "scene file (.toml)"};
    const auto plus = [](std::vector<OptionText> options, OptionText more) {
        options.push_back(more);
        return options;
    };
    std::vector<std::string_view> kinds;
    for (const SceneTemplate& entry : scene_templates()) kinds.push_back(entry.kind);

    return {
        {"demo",
         "simulate a small scene, make a movie of it, and say where it is",
         "flotsam demo",
         {},
         {{"--out", "DIR", "run folder; default runs/demo, replaced each time"},
          scale,
          frames,
          quiet,
          threads}},
        {"run", "simulate a scene", "flotsam run scenes/start/dam_break.toml --set domain.resolution=60",
         scene,
         plus(plus(of_scene, {"--resume", "", "go on from the newest good checkpoint"}),
              {"--render", "", "draw each frame as soon as it is there, and a movie at the end"})},
        {"render",
         "make pictures and a movie of a run",
         "flotsam render runs/dam_break --quality good",
         {Kind::any_file, "RUN", "run folder"},
         {{"--frame", "N", "only this frame, counted from 0; no movie"},
          {"--size", "WxH", "of the pictures in pixels; default 960x540"},
          {"--quality", "WORD", "draft (default) or good"},
          {"--particles", "", "the particles, coloured by speed; the run must have written them"},
          {"--slice", "FIELD", "a plane coloured by pressure, speed, distance or vorticity"},
          {"--plane", "AXIS=X", "where --slice cuts, e.g. x=0.5 (metres); default: the middle of z"},
          {"--limit", "X", "highest value of --slice's colours; default: that of each frame, rounded up"},
          {"--cut", "AXIS=X", "take away what lies between this plane and the camera, e.g. z=0.3"},
          {"--set", "KEY=VALUE",
           "override a key of the scene's [view], e.g. view.light=[1,1,1]; may be repeated"},
          quiet,
          threads}},
        {"check", "run a scene and judge its claims; exits 0 only if all hold",
         "flotsam check scenes/start/slab.toml --scale 0.5", scene,
         plus(plus(plus(plus(of_scene, {"--dry", "", "only validate, and say what a run would cost"}),
                        {"--coarse", "", "at the scale that the scene's [check] states"}),
                   record),
              results)},
        {"compare",
         "run a scene under several methods: one table and one movie with them side by side",
         "flotsam compare scenes/genevaux-2003/surfacing_ball.toml --methods marker-springs,cut-cell --scale "
         "0.8",
         scene,
         {{"--methods", "A,B", "methods to compare, the first is the yardstick; default: all that admit it"},
          of_scene[0],
          scale,
          threads,
          {"--out", "DIR", "folder of the comparison; default runs/NAME_compare for scene NAME.toml"},
          overwrite,
          {"--resume", "", "go on with a comparison that was stopped"},
          {"--size", "WxH", "of each method's pictures in pixels; default 640x540"},
          {"--no-movie", "", "only the table"},
          quiet}},
        {"new",
         "write a commented scene to start from",
         "flotsam new my_scene.toml --kind slab",
         {Kind::any_file, "FILE", "scene file to write"},
         {{"--kind", "KIND", "dam-break (default), slab or fountain"}}},
        {"list",
         "list what there is, a line each",
         "flotsam list methods",
         {Kind::words,
          "WHAT",
          "methods, scenes, benches, cases, keys, quantities, checks (seconds, scale and file of every scene "
          "with "
          "a [check]) or failures (claims that are known to fail); default: the first four",
          {"methods", "scenes", "benches", "cases", "keys", "quantities", "checks", "failures"}},
         {}},
        {"validate",
         "measure against exact solutions and experiments",
         "flotsam validate rest standing-wave --csv table.csv",
         {Kind::words, "CASE", "cases to run; default: all"},
         {csv, plot, quick, threads, record, results}},
        {"bench",
         "measure speed",
         "flotsam bench --csv bench.csv",
         {Kind::words, "NAME", "benches to run; default: all"},
         {csv, plot, quick, threads, record, results}},
        {"plot",
         "draw the curves of a run, complete or not, as SVG files",
         "flotsam plot runs/dam_break",
         {Kind::any_file, "RUN", "folder of the run"},
         {{"--out", "DIR", "folder for the charts; default: plots/ in the run's"}}},
        {"docs",
         "write the scene reference",
         "flotsam docs docs/scene_reference.md",
         {Kind::any_file, "FILE", "file to write; - for standard output"},
         {}},
        {"scoreboard",
         "write docs/scoreboard.md and its tables from what was recorded",
         "flotsam scoreboard",
         {},
         {results, {"--docs", "DIR", "folder of the pages; default docs"}}},
        {"completion",
         "print the completion script of a shell",
         "source <(flotsam completion bash)",
         {Kind::words, "SHELL", "bash, zsh or fish", {"bash", "zsh", "fish"}},
         {}},
    };
}

}  // namespace

const std::vector<CommandText>& command_table() {
    static const std::vector<CommandText> table = make_table();
    return table;
}

const CommandText& command_text(std::string_view name) {
    for (const CommandText& command : command_table())
        if (command.name == name) return command;
    FLOTSAM_CHECK(!"a command is missing in the table");
    return command_table().front();
}

}  // namespace flotsam

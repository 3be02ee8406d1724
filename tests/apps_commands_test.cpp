// The program as a user meets it: texts, exit codes, completion.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "tests/places.h"
#include "tests/program_says.h"
#include "tests/scratch_folder.h"

using namespace flotsam;

TEST_CASE("every command has help with an example") {
    const Said all = flotsam_says("--help");
    CHECK(all.code == 0);
    for (const std::string command : {"demo", "run", "render", "check", "compare", "new", "list", "validate",
                                      "bench", "plot", "docs", "completion"}) {
        CAPTURE(command);
        CHECK(contains(all, "  " + command + " "));
        const Said help = flotsam_says(command + " --help");
        CHECK(help.code == 0);
        CHECK(contains(help, "Example:\n"));
        CHECK(contains(help, "flotsam " + command));
    }
    CHECK(contains(all, "Exit codes:\n"));
    CHECK(contains(flotsam_says(""), "Subcommands:"));
    CHECK(flotsam_says("--version").code == 0);
}

TEST_CASE("mistakes on the command line exit with 2 and advice") {
    CHECK(flotsam_says("").code == 2);
    const Said unknown = flotsam_says("rnu");
    CHECK(unknown.code == 2);
    CHECK(contains(unknown, "did you mean 'run'?"));
    CHECK(flotsam_says("run").code == 2);
    CHECK(flotsam_says("run --no-such-option x.toml").code == 2);
    const Said missing = flotsam_says("run /nowhere/x.toml");
    CHECK(missing.code == 2);
    CHECK(contains(missing, "there is no such scene file"));
    CHECK(contains(flotsam_says("list method"), "did you mean 'methods'?"));
    CHECK(contains(flotsam_says("completion csh"), "did you mean"));
}

TEST_CASE("new writes a scene that check --dry accepts, and never overwrites") {
    const ScratchFolder folder;
    for (const std::string kind : {"dam-break", "slab", "fountain"}) {
        CAPTURE(kind);
        const std::string file = (folder / (kind + ".toml")).string();
        CHECK(flotsam_says(fmt::format("new {} --kind {}", file, kind)).code == 0);
        const Said dry = flotsam_says("check --dry " + file);
        CHECK(dry.code == 0);
        for (const std::string word : {"cells", "particles", "memory", "disk", "per frame"})
            CHECK(contains(dry, word));
        const Said again = flotsam_says(fmt::format("new {} --kind {}", file, kind));
        CHECK(again.code == 2);
        CHECK(contains(again, "exists already"));
    }
    CHECK(contains(flotsam_says("new x --kind damm-break"), "did you mean 'dam-break'?"));
    // Options of the scene reach it; `--set` takes one value and leaves the scene alone.
    const std::string slab = (folder / "slab.toml").string();
    CHECK(contains(flotsam_says("check --dry --set domain.resolution=50 " + slab), "cells      1500 "));
    CHECK(contains(flotsam_says("check --dry --scale 0.5 " + slab), "cells      1500 "));
    const Said wrong = flotsam_says("check --dry --set liquid.densty=3 " + slab);
    CHECK(wrong.code == 2);
    CHECK(contains(wrong, "--set liquid.densty=3: unknown key 'densty'"));
}

TEST_CASE("lists, reference and completion are printed") {
    CHECK(contains(flotsam_says("list methods"), "cut-cell"));
    CHECK(contains(flotsam_says("list keys"), "[[liquid.fill]]"));
    CHECK(contains(flotsam_says("list quantities"), "liquid.volume"));
    CHECK(flotsam_says("list").code == 0);
    CHECK(contains(flotsam_says("docs -"), "# Scene reference"));
    for (const std::string shell : {"bash", "zsh", "fish"}) {
        const Said script = flotsam_says("completion " + shell);
        CHECK(script.code == 0);
        CHECK(contains(script, "check"));
        CHECK(contains(script, "overwrite"));
    }
    const ScratchFolder folder;
    const std::string script = (folder / "completion").string();
    std::ofstream(script) << flotsam_says("completion bash").text;
    const std::string typed = fmt::format(
        "bash -c '. {} && COMP_WORDS=(flotsam ch) COMP_CWORD=1 && _flotsam && echo ${{COMPREPLY[*]}}'",
        script);
    std::FILE* pipe = ::popen(typed.c_str(), "r");
    char answer[64] = {};
    CHECK(std::fgets(answer, sizeof answer, pipe) != nullptr);
    ::pclose(pipe);
    CHECK(std::string(answer) == "check\n");
}

TEST_CASE("a check that was stopped says which command goes on, and that command does") {
    const ScratchFolder folder;
    const std::string scene = fmt::format("{}/scenes/start/slab.toml", source_folder());
    const std::string out = (folder / "it's here").string();
    const std::string stopped_check = fmt::format(
        "'{0}' check {1} --set liquid.fill.0.velocity=[0,0,0] --out \"{2}\" 2>&1 & "
        "until [ -e \"{2}/frames/surface_0002.ply\" ]; do sleep 0.01; done; kill -INT $!; wait $!",
        program_file(), scene, out);
    // bash: a plain sh starts what runs in the background with Ctrl-C ignored.
    std::ofstream(folder / "stopped_check") << "set -m\n" << stopped_check;
    std::FILE* pipe =
        ::popen(fmt::format("bash {}/stopped_check | tail -n 1", folder.path().string()).c_str(), "r");
    REQUIRE(pipe != nullptr);
    char line[4096] = {};
    CHECK(std::fgets(line, sizeof line, pipe) != nullptr);
    ::pclose(pipe);
    const std::string advice(line);
    REQUIRE(advice.starts_with("  flotsam run "));
    const Said resumed = flotsam_says(advice.substr(10, advice.size() - 11));
    CHECK(resumed.code == 0);
    CHECK(contains(resumed, "going on after frame"));
}

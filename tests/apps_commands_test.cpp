// The program as a user meets it: texts, exit codes, completion.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

struct Outcome {
    int code = -1;
    std::string text;  // standard output and error together
};

Outcome flotsam_says(const std::string& arguments) {
    Outcome outcome;
    std::FILE* pipe = ::popen(fmt::format("'{}' {} 2>&1", FLOTSAM_BINARY, arguments).c_str(), "r");
    REQUIRE(pipe != nullptr);
    char buffer[4096];
    while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, pipe))
        outcome.text.append(buffer, count);
    const int status = ::pclose(pipe);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return outcome;
}

bool contains(const Outcome& outcome, const std::string& part) {
    return outcome.text.find(part) != std::string::npos;
}

// A folder that is gone when the test ends.
struct TemporaryFolder {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / fmt::format("flotsam_apps_test_{}", ::getpid());
    TemporaryFolder() { std::filesystem::create_directories(path); }
    ~TemporaryFolder() { std::filesystem::remove_all(path); }
};

}  // namespace

TEST_CASE("every command has help with an example") {
    const Outcome all = flotsam_says("--help");
    CHECK(all.code == 0);
    for (const std::string command : {"demo", "run", "render", "check", "new", "list", "validate", "bench",
                                      "plot", "docs", "completion"}) {
        CAPTURE(command);
        CHECK(contains(all, "  " + command + " "));
        const Outcome help = flotsam_says(command + " --help");
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
    const Outcome unknown = flotsam_says("rnu");
    CHECK(unknown.code == 2);
    CHECK(contains(unknown, "did you mean 'run'?"));
    CHECK(flotsam_says("run").code == 2);
    CHECK(flotsam_says("run --no-such-option x.toml").code == 2);
    const Outcome missing = flotsam_says("run /nowhere/x.toml");
    CHECK(missing.code == 2);
    CHECK(contains(missing, "there is no such scene file"));
    CHECK(contains(flotsam_says("list method"), "did you mean 'methods'?"));
    CHECK(contains(flotsam_says("completion csh"), "did you mean"));
}

TEST_CASE("new writes a scene that check --dry accepts, and never overwrites") {
    const TemporaryFolder folder;
    for (const std::string kind : {"dam-break", "slab", "fountain"}) {
        CAPTURE(kind);
        const std::string file = (folder.path / (kind + ".toml")).string();
        CHECK(flotsam_says(fmt::format("new {} --kind {}", file, kind)).code == 0);
        const Outcome dry = flotsam_says("check --dry " + file);
        CHECK(dry.code == 0);
        for (const std::string word : {"cells", "particles", "memory", "disk", "per frame"})
            CHECK(contains(dry, word));
        const Outcome again = flotsam_says(fmt::format("new {} --kind {}", file, kind));
        CHECK(again.code == 2);
        CHECK(contains(again, "exists already"));
    }
    CHECK(contains(flotsam_says("new x --kind damm-break"), "did you mean 'dam-break'?"));
    // Options of the scene reach it; `--set` takes one value and leaves the scene alone.
    const std::string slab = (folder.path / "slab.toml").string();
    CHECK(contains(flotsam_says("check --dry --set domain.resolution=50 " + slab), "cells      1500 "));
    CHECK(contains(flotsam_says("check --dry --scale 0.5 " + slab), "cells      1500 "));
    const Outcome wrong = flotsam_says("check --dry --set liquid.densty=3 " + slab);
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
        const Outcome script = flotsam_says("completion " + shell);
        CHECK(script.code == 0);
        CHECK(contains(script, "check"));
        CHECK(contains(script, "overwrite"));
    }
    const TemporaryFolder folder;
    const std::string script = (folder.path / "completion").string();
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
    const TemporaryFolder folder;
    const std::string scene = fmt::format("{}/scenes/start/slab.toml", FLOTSAM_SOURCE_DIR);
    const std::string out = (folder.path / "it's here").string();
    const std::string stopped_check = fmt::format(
        "'{0}' check {1} --set liquid.fill.0.velocity=[0,0,0] --out \"{2}\" 2>&1 & "
        "until [ -e \"{2}/frames/surface_0002.ply\" ]; do sleep 0.01; done; kill -INT $!; wait $!",
        FLOTSAM_BINARY, scene, out);
    // bash: a plain sh starts what runs in the background with Ctrl-C ignored.
    std::ofstream(folder.path / "stopped_check") << "set -m\n" << stopped_check;
    std::FILE* pipe =
        ::popen(fmt::format("bash {}/stopped_check | tail -n 1", folder.path.string()).c_str(), "r");
    REQUIRE(pipe != nullptr);
    char line[4096] = {};
    CHECK(std::fgets(line, sizeof line, pipe) != nullptr);
    ::pclose(pipe);
    const std::string advice(line);
    REQUIRE(advice.starts_with("  flotsam run "));
    const Outcome resumed = flotsam_says(advice.substr(10, advice.size() - 11));
    CHECK(resumed.code == 0);
    CHECK(contains(resumed, "going on after frame"));
}

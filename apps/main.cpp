// The command line: the only file that knows CLI11. Texts come from command_table.cpp, work is done in
// *_command.cpp.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "apps/command_table.h"
#include "apps/commands.h"
#include "core/check.h"
#include "scene/suggest.h"
#include "sim/driver.h"

namespace flotsam {

namespace {

enum ExitCode { ok = 0, user_error = 2, run_failed = 3 };  // the commands themselves return the others

constexpr std::string_view exit_codes =
    "Exit codes:\n"
    "  0  done, and every claim or case holds\n"
    "  1  a claim of `check` or a case of `validate` does not hold,\n"
    "     or a known failure does\n"
    "  2  a mistake in the command line, the scene or the choice of the run folder\n"
    "  3  the run failed: the disk, the memory or a step that does not converge\n"
    "  128 + N  stopped by signal N, e.g. 130 by Ctrl-C; `run --resume` goes on\n";

// A command under construction: every option of its row in the table must be bound to a variable.
class Command {
  public:
    Command(CLI::App& app, std::string_view name) : text_(command_text(name)) {
        app_ = app.add_subcommand(std::string(name), std::string(text_.summary));
        app_->footer(fmt::format("Example:\n  {}\n\n{}", text_.example, exit_codes));
    }
    ~Command() { FLOTSAM_CHECK(bound_ == text_.options.size(), bound_, text_.options.size()); }
    Command(const Command&) = delete;
    Command& operator=(const Command&) = delete;

    template <class T>
    CLI::Option* argument(T& variable) {
        return app_
            ->add_option(std::string(text_.argument.name), variable, std::string(text_.argument.meaning))
            ->type_name("");
    }
    template <class T>
    void option(std::string_view name, T& variable) {
        const OptionText& text = bound(name);
        CLI::Option* added = app_->add_option(std::string(name), variable, std::string(text.meaning));
        added->option_text(std::string(text.value));
        if constexpr (std::is_same_v<T, int>)
            added->check(name == "--threads" ? CLI::Range(0, 4096) : CLI::Range(1, 1'000'000));
        // `--set a=1 scene.toml` must not swallow the scene.
        if constexpr (std::is_same_v<T, std::vector<std::string>>) added->allow_extra_args(false);
    }
    void flag(std::string_view name, bool& variable) {
        app_->add_flag(std::string(name), variable, std::string(bound(name).meaning));
    }
    void calls(std::function<void()> action) { app_->callback(std::move(action)); }

  private:
    const OptionText& bound(std::string_view name) {
        for (const OptionText& option : text_.options)
            if (option.name == name) {
                ++bound_;
                return option;
            }
        FLOTSAM_CHECK(!"an option is missing in the table of commands");
        return text_.options.front();
    }

    const CommandText& text_;
    CLI::App* app_ = nullptr;
    std::size_t bound_ = 0;
};

void bind(Command& command, RunOptions& run) {
    command.argument(run.scene.scene)->required();
    command.option("--set", run.scene.set);
    command.option("--scale", run.scene.scale);
    command.option("--method", run.scene.method);
    command.option("--threads", run.scene.threads);
    command.option("--out", run.out);
    command.flag("--overwrite", run.overwrite);
    command.flag("--quiet", run.quiet);
    command.option("--frames", run.frames);
    command.option("--until", run.until);
}

void bind(Command& command, RenderOptions& render) {
    command.argument(render.run)->required();
    command.option("--frame", render.frame);
    command.option("--size", render.picture.size);
    command.option("--quality", render.picture.quality);
    command.flag("--particles", render.picture.particles);
    command.option("--slice", render.picture.slice);
    command.option("--plane", render.picture.plane);
    command.option("--limit", render.picture.limit);
    command.option("--cut", render.picture.cut);
    command.option("--set", render.set);
    command.flag("--quiet", render.quiet);
    command.option("--threads", render.threads);
}

void bind(Command& command, CompareOptions& compare) {
    command.argument(compare.scene.scene)->required();
    command.option("--methods", compare.methods);
    command.option("--set", compare.scene.set);
    command.option("--scale", compare.scene.scale);
    command.option("--threads", compare.scene.threads);
    command.option("--out", compare.out);
    command.flag("--overwrite", compare.overwrite);
    command.flag("--resume", compare.resume);
    command.option("--size", compare.size);
    command.flag("--no-movie", compare.no_movie);
    command.flag("--quiet", compare.quiet);
}

void bind(Command& command, TableOptions& table) {
    command.argument(table.names);
    command.option("--csv", table.csv);
    command.option("--plot", table.plot);
    command.flag("--quick", table.quick);
    command.option("--threads", table.threads);
    command.flag("--record", table.record);
    command.option("--results", table.results);
}

int run_program(int argc, char** argv) {
    CLI::App app("Water and solid things that push on each other.", program_name());
    app.set_version_flag("--version", version_text());
    app.require_subcommand(1);
    app.footer(fmt::format("{}\n`{} COMMAND --help` says more. Start with: {} demo", exit_codes,
                           program_name(), program_name()));
    // The binary may be called by its path; a wrong command would only be called "not expected".
    if (argc > 1 && argv[1][0] != '-') {
        std::vector<std::string_view> names;
        for (const CommandText& command : command_table()) names.push_back(command.name);
        if (std::find(names.begin(), names.end(), argv[1]) == names.end())
            throw UserError(
                fmt::format("flotsam: there is no command '{}'\n  {}", argv[1], suggestion(argv[1], names)));
    }

    int code = ok;
    RunOptions demo, run;
    RenderOptions render;
    CheckOptions check;
    CompareOptions compare;
    NewOptions fresh;
    PlotOptions plot;
    TableOptions validate, bench;
    ScoreboardOptions scoreboard;
    std::string what, shell;
    std::filesystem::path reference = "-";
    {
        Command command(app, "demo");
        command.option("--out", demo.out);
        command.option("--scale", demo.scene.scale);
        command.option("--frames", demo.frames);
        command.flag("--quiet", demo.quiet);
        command.option("--threads", demo.scene.threads);
        command.calls([&] { code = demo_command(demo); });
    }
    {
        Command command(app, "run");
        bind(command, run);
        command.flag("--resume", run.resume);
        command.flag("--render", run.render);
        command.calls([&] { code = run_command(run); });
    }
    {
        Command command(app, "render");
        bind(command, render);
        command.calls([&] { code = render_command(render); });
    }
    {
        Command command(app, "check");
        bind(command, check.run);
        command.flag("--dry", check.dry);
        command.flag("--coarse", check.coarse);
        command.flag("--record", check.record);
        command.option("--results", check.results);
        command.calls([&] { code = check_command(check); });
    }
    {
        Command command(app, "compare");
        bind(command, compare);
        command.calls([&] { code = compare_command(compare); });
    }
    {
        Command command(app, "new");
        command.argument(fresh.file)->required();
        command.option("--kind", fresh.kind);
        command.calls([&] { code = new_command(fresh); });
    }
    {
        Command command(app, "list");
        command.argument(what);
        command.calls([&] { code = list_command(what); });
    }
    {
        Command command(app, "validate");
        bind(command, validate);
        command.calls([&] { code = validate_command(validate); });
    }
    {
        Command command(app, "bench");
        bind(command, bench);
        command.calls([&] { code = bench_command(bench); });
    }
    {
        Command command(app, "plot");
        command.argument(plot.run)->required();
        command.option("--out", plot.out);
        command.calls([&] { code = plot_command(plot); });
    }
    {
        Command command(app, "docs");
        command.argument(reference);
        command.calls([&] { code = docs_command(reference); });
    }
    {
        Command command(app, "scoreboard");
        command.option("--results", scoreboard.results);
        command.option("--docs", scoreboard.docs);
        command.calls([&] { code = scoreboard_command(scoreboard); });
    }
    {
        Command command(app, "completion");
        command.argument(shell)->required();
        command.calls([&] { code = completion_command(shell); });
    }
    if (argc < 2) {
        std::cerr << app.help();
        return user_error;
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? ok : user_error;
    }
    return code;
}

}  // namespace

}  // namespace flotsam

int main(int argc, char** argv) {
    using namespace flotsam;
    try {
        return run_program(argc, argv);
    } catch (const UserError& error) {
        std::cerr << error.what() << '\n';
        return user_error;
    } catch (const StepFailure& error) {
        std::cerr << "flotsam: the simulation failed: " << error.what() << '\n';
    } catch (const IoError& error) {
        std::cerr << "flotsam: " << error.what() << '\n';
    } catch (const std::bad_alloc&) {
        std::cerr << "flotsam: the machine has no memory left\n  lower domain.resolution, or run with "
                     "--scale 0.5\n";
    } catch (const std::exception& error) {
        std::cerr << "flotsam: " << error.what() << '\n';
    }
    return run_failed;
}

#include <fmt/format.h>

#include <iostream>

#include "apps/command_table.h"
#include "apps/commands.h"
#include "core/check.h"
#include "scene/suggest.h"

namespace flotsam {

namespace {

std::vector<std::string_view> command_names() {
    std::vector<std::string_view> names;
    for (const CommandText& command : command_table()) names.push_back(command.name);
    return names;
}

std::vector<std::string_view> option_names(const CommandText& command) {
    std::vector<std::string_view> names;
    for (const OptionText& option : command.options) names.push_back(option.name);
    names.push_back("--help");
    return names;
}

bool takes_file(const ArgumentText& argument) {
    return argument.kind == ArgumentText::Kind::scene_file || argument.kind == ArgumentText::Kind::any_file;
}

std::string bash_script() {
    std::string text =
        "_flotsam() {\n"
        "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words= files=\n"
        "    COMPREPLY=()\n"
        "    case $previous in --out|--csv|--plot) COMPREPLY=($(compgen -f -- \"$word\")); return;; esac\n"
        "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n";
    text +=
        fmt::format("        words=\"{} --help --version\"\n    else\n        case ${{COMP_WORDS[1]}} in\n",
                    joined(command_names(), " "));
    for (const CommandText& command : command_table())
        text +=
            fmt::format("            {}) words=\"{}{}{}\"{};;\n", command.name,
                        joined(option_names(command), " "), command.argument.words.empty() ? "" : " ",
                        joined(command.argument.words, " "), takes_file(command.argument) ? "; files=1" : "");
    text +=
        "        esac\n"
        "    fi\n"
        "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
        "    if [ -n \"$files\" ] && [[ $word != -* ]]; then COMPREPLY+=($(compgen -f -- \"$word\")); fi\n"
        "}\n"
        "complete -o filenames -F _flotsam flotsam ./flotsam\n";
    return text;
}

// Text inside single quotes of zsh and fish, where brackets and colons of descriptions must not act.
std::string plain(std::string_view text) {
    std::string result;
    for (const char c : text)
        if (c == '[' || c == ']' || c == ':' || c == '\'')
            result += ' ';
        else
            result += c;
    return result;
}

std::string zsh_script() {
    std::string text = "#compdef flotsam\n_flotsam() {\n    local -a commands\n    commands=(\n";
    for (const CommandText& command : command_table())
        text += fmt::format("        '{}:{}'\n", command.name, plain(command.summary));
    text +=
        "    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    "
        "fi\n    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $command in\n";
    for (const CommandText& command : command_table()) {
        text += fmt::format("        {}) _arguments '--help[show help]'", command.name);
        for (const OptionText& option : command.options)
            text += fmt::format(
                " '{}{}[{}]{}'", option.name == "--set" ? "*" : "", option.name, plain(option.meaning),
                option.value.empty()
                    ? ""
                    : fmt::format(":{}:{}", option.value,
                                  option.value == "DIR" || option.value == "FILE" ? "_files" : ""));
        if (takes_file(command.argument))
            text += fmt::format(" '*:{}:_files'", command.argument.name);
        else if (!command.argument.words.empty())
            text += fmt::format(" '*:{}:({})'", command.argument.name, joined(command.argument.words, " "));
        text += " ;;\n";
    }
    return text + "    esac\n}\ncompdef _flotsam flotsam\n";
}

std::string fish_script() {
    std::string text = fmt::format(
        "complete -c flotsam -f\ncomplete -c flotsam -n __fish_use_subcommand -l help -d 'show "
        "help'\ncomplete -c flotsam -n __fish_use_subcommand -l version -d 'show the version'\n");
    for (const CommandText& command : command_table()) {
        text += fmt::format("complete -c flotsam -n __fish_use_subcommand -a {} -d '{}'\n", command.name,
                            plain(command.summary));
        const std::string here =
            fmt::format("complete -c flotsam -n '__fish_seen_subcommand_from {}'", command.name);
        for (const OptionText& option : command.options)
            text += fmt::format("{} -l {}{} -d '{}'\n", here, option.name.substr(2),
                                option.value.empty()                              ? ""
                                : option.value == "DIR" || option.value == "FILE" ? " -r -F"
                                                                                  : " -x",
                                plain(option.meaning));
        if (takes_file(command.argument)) text += here + " -F\n";
        if (!command.argument.words.empty())
            text += fmt::format("{} -a '{}'\n", here, joined(command.argument.words, " "));
    }
    return text;
}

}  // namespace

int completion_command(const std::string& shell) {
    if (shell == "bash")
        std::cout << bash_script();
    else if (shell == "zsh")
        std::cout << zsh_script();
    else if (shell == "fish")
        std::cout << fish_script();
    else
        throw UserError(fmt::format("completion: unknown shell '{}'\n  {}", shell,
                                    suggestion(shell, {"bash", "zsh", "fish"})));
    return 0;
}

}  // namespace flotsam

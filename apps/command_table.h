// What can be typed: one table behind --help and behind the completion of every shell.
#pragma once

#include <string_view>
#include <vector>

namespace flotsam {

struct OptionText {
    std::string_view name;   // "--out"
    std::string_view value;  // "DIR"; empty for a flag
    std::string_view meaning;
};

struct ArgumentText {
    enum class Kind { none, scene_file, any_file, words };
    Kind kind = Kind::none;
    std::string_view name = {}, meaning = {};
    std::vector<std::string_view> words = {};  // that it can be, for Kind::words
};

struct CommandText {
    std::string_view name, summary, example;
    ArgumentText argument;
    std::vector<OptionText> options;
};

const std::vector<CommandText>& command_table();
const CommandText& command_text(std::string_view name);

}  // namespace flotsam

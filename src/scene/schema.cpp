#include "scene/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "coupling/scheme.h"
#include "scene/solid_scene.h"
#include "scene/suggest.h"
#include "sim/measure.h"

namespace flotsam {

namespace {

std::string types_text(const KeyRule& key) {
    std::vector<std::string> kinds;
    if (key.types & a_text)
        kinds.push_back(key.choices.empty() ? "text"
                                            : fmt::format("\"{}\"", joined(key.choices, "\" or \"")));
    if (key.types & a_boolean) kinds.emplace_back("true or false");
    if (key.types & an_integer) kinds.emplace_back("a whole number");
    if (key.types & a_number) kinds.emplace_back("a number");
    if (key.types & a_list)
        kinds.push_back(key.min_count == key.max_count
                            ? fmt::format("{} numbers", key.max_count)
                            : fmt::format("{} or {} numbers", key.min_count, key.max_count));
    if (key.types & words) kinds.push_back(fmt::format("a list of \"{}\"", joined(key.choices, "\", \"")));
    if (key.types & a_table) kinds.emplace_back("a table");
    if (key.types & tables) kinds.emplace_back("any number of tables");
    return joined(kinds, " or ");
}

std::string range_text(const KeyRule& key) {
    if (std::isinf(key.low) && std::isinf(key.high)) return "";
    if (std::isinf(key.high)) return fmt::format("{} {:g}", key.above_low ? "above" : "at least", key.low);
    return key.above_low ? fmt::format("above {:g}, at most {:g}", key.low, key.high)
                         : fmt::format("{:g} to {:g}", key.low, key.high);
}

std::string_view kind_text(TomlNode::Kind kind) {
    switch (kind) {
        case TomlNode::Kind::table:
            return "a table";
        case TomlNode::Kind::array:
            return "a list";
        case TomlNode::Kind::text:
            return "text";
        case TomlNode::Kind::integer:
            return "a whole number";
        case TomlNode::Kind::number:
            return "a number";
        case TomlNode::Kind::boolean:
            return "true or false";
        case TomlNode::Kind::date:
            break;
    }
    return "a date or time";
}

// An example of each type for the advice.
std::string example(const KeyRule& key) {
    if (key.types & tables) return fmt::format("write each of them below a line with [[...{}]]", key.name);
    if (key.types & words)
        return fmt::format("write for example {} = [\"{}\"]", key.name, key.choices.front());
    if (!key.choices.empty())
        return fmt::format("write for example {} = \"{}\"", key.name, key.choices.front());
    if (!key.fallback.empty() && key.fallback != "{}")
        return fmt::format("write for example {} = {}", key.name, key.fallback);
    if (key.types & a_text) return fmt::format("put it in quotes: {} = \"...\"", key.name);
    if (key.types & a_table)
        return fmt::format("write {} = {{ ... }}; its keys are in docs/scene_reference.md", key.name);
    if (key.types & a_list) {
        const std::vector<std::string_view> numbers(key.max_count, "0.5");
        return fmt::format("write for example {} = [{}]", key.name, joined(numbers, ", "));
    }
    return fmt::format("write for example {} = {}", key.name, key.types & an_integer ? "64" : "1.5");
}

class Validator {
  public:
    explicit Validator(Mistakes& mistakes) : mistakes_(mistakes) {}

    void check_table(const TomlNode& node, const TableRule& rule) {
        std::vector<std::string_view> known;
        for (const KeyRule& key : rule.keys) known.push_back(key.name);
        for (const auto& [name, place, value] : node.members) {
            const auto key = std::find_if(rule.keys.begin(), rule.keys.end(),
                                          [&name = name](const KeyRule& k) { return k.name == name; });
            if (key == rule.keys.end())
                mistakes_.add(place, fmt::format("unknown key '{}' in {}", name, rule.heading),
                              suggestion(name, known));
            else
                check_value(value, *key);
        }
        for (const KeyRule& key : rule.keys)
            if (key.required && !node.find(key.name))
                mistakes_.add(node.place,
                              fmt::format("{} needs '{}': {}", rule.heading, key.name, key.meaning),
                              rule.name == "file" ? fmt::format("add a table [{}]", key.name) : example(key));
        if (rule.exactly_one.empty()) return;
        const auto given = std::count_if(rule.exactly_one.begin(), rule.exactly_one.end(),
                                         [&](std::string_view k) { return node.find(k); });
        if (given != 1)
            mistakes_.add(node.place,
                          fmt::format("{} has {} of: {}", rule.heading, given == 0 ? "none" : "more than one",
                                      joined(rule.exactly_one, ", ")),
                          "give exactly one of them");
    }

  private:
    void check_value(const TomlNode& node, const KeyRule& key) {
        using Kind = TomlNode::Kind;
        if (node.is(Kind::text) && key.types & a_text) {
            check_choice(node, key);
        } else if (node.is(Kind::boolean) && key.types & a_boolean) {
            return;
        } else if ((node.is(Kind::integer) && key.types & (an_integer | a_number)) ||
                   (node.is(Kind::number) && key.types & a_number)) {
            check_number(node, key);
        } else if (node.is(Kind::array) && key.types & a_list) {
            check_list(node, key);
        } else if (node.is(Kind::table) && key.types & a_table) {
            check_table(node, scene_table(key.inner));
        } else if (node.is(Kind::array) && key.types & words) {
            for (const TomlNode& item : node.items) {
                if (item.is(Kind::text))
                    check_choice(item, key);
                else
                    wrong_type(item, key);
            }
        } else if (node.is(Kind::array) && key.types & tables) {
            for (const TomlNode& item : node.items) {
                if (item.is(Kind::table))
                    check_table(item, scene_table(key.inner));
                else
                    wrong_type(item, key);
            }
        } else {
            wrong_type(node, key);
        }
    }

    void wrong_type(const TomlNode& node, const KeyRule& key) {
        mistakes_.add(node.place,
                      fmt::format("'{}' must be {}, not {}", key.name, types_text(key), kind_text(node.kind)),
                      example(key));
    }

    void check_choice(const TomlNode& node, const KeyRule& key) {
        if (!key.choices.empty() &&
            std::find(key.choices.begin(), key.choices.end(), node.text) == key.choices.end())
            mistakes_.add(node.place, fmt::format("'{}' cannot be \"{}\"", key.name, node.text),
                          suggestion(node.text, key.choices));
    }

    void check_number(const TomlNode& node, const KeyRule& key) {
        const double value = node.number;
        if (!std::isfinite(value))
            mistakes_.add(node.place, fmt::format("'{}' must be a finite number, not {}", key.name, value),
                          example(key));
        else if (value < key.low || value > key.high || (key.above_low && value == key.low))
            mistakes_.add(
                node.place, fmt::format("'{}' is {}, out of range", key.name, value),
                fmt::format("allowed: {}{}{}", range_text(key), key.unit.empty() ? "" : " ", key.unit));
    }

    void check_list(const TomlNode& node, const KeyRule& key) {
        const auto count = static_cast<int>(node.items.size());
        if (count < key.min_count || count > key.max_count)
            mistakes_.add(node.place,
                          fmt::format("'{}' must be {}, not {}", key.name, types_text(key), count),
                          example(key));
        // A range beside a plain number is about that number: gravity's vector may point anywhere.
        const bool bounded = !(key.types & a_number);
        for (const TomlNode& item : node.items) {
            if (!item.is(TomlNode::Kind::integer) && !item.is(TomlNode::Kind::number))
                wrong_type(item, key);
            else if (bounded || !std::isfinite(item.number))
                check_number(item, key);
        }
    }

    Mistakes& mistakes_;
};

void fill_in(TomlNode& node, const TableRule& rule) {
    for (const KeyRule& key : rule.keys) {
        if (!node.find(key.name) && !key.fallback.empty()) {
            TomlNode value = parse_toml_value(std::string(key.fallback), node.place.source);
            value.place = node.place;
            node.set(key.name, node.place, std::move(value));
        }
        TomlNode* value = node.find(key.name);
        if (!value || key.inner.empty()) continue;
        if (value->is(TomlNode::Kind::table)) fill_in(*value, scene_table(key.inner));
        for (TomlNode& item : value->items) fill_in(item, scene_table(key.inner));
    }
}

// Motions as scenes call them.
std::string words_of(const std::vector<Motion>& motions) {
    std::vector<std::string_view> list;
    for (const auto& [word, motion] : motion_words)
        if (std::find(motions.begin(), motions.end(), motion) != motions.end()) list.push_back(word);
    return list.empty() ? "none" : joined(list, ", ");
}

std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
    return result;
}

}  // namespace

void validate(const TomlNode& root, Mistakes& mistakes) {
    Validator(mistakes).check_table(root, scene_tables().front());
}

void fill_in_defaults(TomlNode& root) { fill_in(root, scene_tables().front()); }

std::string scene_reference() {
    std::string text =
        "# Scene reference\n\n"
        "Every key of a scene file. This page is generated from the tables that the loader itself uses\n"
        "(`src/scene/schema.h`); write it anew with `./flotsam docs docs/scene_reference.md`.\n\n"
        "Scenes are [TOML](https://toml.io), in SI units, y up. A key without default may be left out unless "
        "it is\n"
        "required. In 2D (`scene.dimensions = 2`) points and vectors may have two numbers. On the command "
        "line\n"
        "`--set domain.resolution=50` overrides a key, `--set liquid.fill.0.level=0.3` one of an array of "
        "tables, and\n"
        "`--scale 0.5` multiplies the resolution.\n";
    for (const TableRule& table : scene_tables()) {
        text += fmt::format("\n## `{}`\n\n{}", table.heading, table.meaning);
        if (!table.exactly_one.empty())
            text += fmt::format(" Exactly one of `{}`.", joined(table.exactly_one, "`, `"));
        text += "\n\n| key | value | unit | default | meaning |\n| --- | --- | --- | --- | --- |\n";
        for (const KeyRule& key : table.keys) {
            const std::string range = range_text(key);
            text += fmt::format("| `{}` | {} | {} | {} | {} |\n", key.name,
                                escaped(types_text(key) + (range.empty() ? "" : ", " + range)), key.unit,
                                key.required ? "required"
                                : key.fallback.empty() || key.fallback == "{}"
                                    ? ""
                                    : fmt::format("`{}`", key.fallback),
                                escaped(key.meaning));
        }
    }
    text +=
        "\n## Quantities\n\nWhat a claim's `what` can name, beside `probe.NAME`.\n\n| quantity | unit | "
        "meaning |\n| --- | --- | --- |\n";
    for (const Quantity& quantity : quantities())
        text += fmt::format("| `{}` | {} | {} |\n", quantity.name, escaped(quantity.unit),
                            escaped(quantity.meaning));
    text +=
        "\n## Methods\n\nWhat `scene.method` and `--method` can name, and what each admits. A liquid of a "
        "method "
        "without viscosity is inviscid.\n\n"
        "| method | summary | viscosity | solids | `wetted_area` of | emitters, sinks | animated meshes | "
        "one-way coupling | separation | mirrors |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | "
        "--- |\n";
    const auto yes = [](bool can) { return can ? "yes" : "no"; };
    for (const SchemeEntry& scheme : schemes()) {
        const Capabilities can = scheme.make()->capabilities();
        text += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", scheme.name,
                            escaped(scheme.summary), yes(can.viscosity), words_of(can.motions),
                            words_of(can.wetted), yes(can.sources), yes(can.animated_meshes),
                            yes(can.one_way), yes(can.separation), yes(can.mirrors));
    }
    return text;
}

std::string key_list() {
    std::string text;
    for (const TableRule& table : scene_tables()) {
        text += fmt::format("{}{}\n", text.empty() ? "" : "\n", table.heading);
        for (const KeyRule& key : table.keys) {
            const std::string unit = key.unit.empty() ? "" : fmt::format(" [{}]", key.unit);
            const std::string fallback = key.fallback.empty() || key.fallback == "{}"
                                             ? ""
                                             : fmt::format(" (default {})", key.fallback);
            text += fmt::format("  {:<18} {}{}{}\n", key.name, key.meaning, unit, fallback);
        }
    }
    return text;
}

}  // namespace flotsam

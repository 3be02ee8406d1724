// The vocabulary of scene files, said once: it validates scenes, fills in defaults, and writes
// docs/scene_reference.md and `flotsam list keys`.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "scene/toml_tree.h"

namespace flotsam {

// What a value may be; several can be allowed at once.
enum ValueType : unsigned {
    a_text = 1,
    a_number = 2,
    an_integer = 4,
    a_boolean = 8,
    a_list = 16,   // of numbers
    a_table = 32,  // of further keys
    tables = 64,   // [[any number of them]]
    words = 128,   // a list of texts
};

struct KeyRule {
    std::string_view name;
    unsigned types;                  // of ValueType
    std::string_view unit = {};      // empty for text, counts and shares
    std::string_view fallback = {};  // as it would be written; empty when leaving it out means "none"
    std::string_view meaning = {};
    double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
    bool above_low = false;                      // low itself is not allowed
    int min_count = 3, max_count = 3;            // numbers in a list
    std::vector<std::string_view> choices = {};  // of a text or of words; empty allows any
    std::string_view inner = {};                 // TableRule of a table or tables
    bool required = false;
};

struct TableRule {
    std::string_view name;     // by which `inner` refers to it
    std::string_view heading;  // as the reference shows it: "[[liquid.fill]]"
    std::string_view meaning = {};
    std::vector<KeyRule> keys;
    std::vector<std::string_view> exactly_one = {};  // of these keys must be present
};

constexpr double most_cells = 8192;  // along a side of the domain

const std::vector<TableRule>& scene_tables();  // the first is the file itself
const TableRule& scene_table(std::string_view name);

// Adds what is wrong with `root` to `mistakes`: unknown keys, wrong types, numbers out of range, missing
// keys.
void validate(const TomlNode& root, Mistakes& mistakes);

// Writes the default of every absent key that has one into the tree.
void fill_in_defaults(TomlNode& root);

// The text of docs/scene_reference.md.
std::string scene_reference();

// One line per key, for a terminal.
std::string key_list();

}  // namespace flotsam

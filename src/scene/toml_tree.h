// A scene file as a plain tree that remembers where everything was written. toml++ stays behind this header.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flotsam {

// Where something was written: in the scene file (source 0) or in the n-th override (source n).
struct Place {
    int source = 0;
    int line = 1, column = 1;
};

struct TomlNode {
    enum class Kind { table, array, text, integer, number, boolean, date };

    struct Member;

    Kind kind = Kind::table;
    std::string text;
    std::int64_t integer = 0;
    double number = 0;  // also set for an integer
    bool boolean = false;
    std::vector<TomlNode> items;  // of an array
    std::vector<Member> members;  // of a table, in the order of the file
    Place place;

    bool is(Kind k) const { return kind == k; }
    const TomlNode* find(std::string_view key) const;
    TomlNode* find(std::string_view key);
    const TomlNode& at(std::string_view key) const;  // must be there
    double number_or(std::string_view key, double fallback) const;
    const std::vector<TomlNode>& entries(std::string_view key) const;  // of an array; none when it is absent
    TomlNode& set(std::string_view key, Place key_place, TomlNode value);  // adds or replaces a member

    static TomlNode make_text(std::string value, Place place);
    static TomlNode make_integer(std::int64_t value, Place place);
};

struct TomlNode::Member {
    std::string key;
    Place key_place;
    TomlNode value;
};

// Mistakes of the user, gathered so that all of them are told at once.
class Mistakes {
  public:
    // Returns the number under which places refer to this text. Source 0 must be the scene file.
    int add_source(std::string name, std::string text);

    void add(Place place, std::string message, std::string advice);
    bool empty() const { return found_.empty(); }
    // Throws a UserError with every mistake found so far, in the order of the file.
    void throw_if_any() const;

    // "file:line:column" or "--set a.b=c".
    std::string where(Place place) const;

  private:
    struct Source {
        std::string name, text;
    };
    struct Mistake {
        Place place;
        std::string message, advice;
    };
    std::vector<Source> sources_;
    std::vector<Mistake> found_;
};

// Parses a whole file whose text is source `source` of `mistakes`. Throws UserError at once for broken TOML,
// since nothing after the first such mistake can be trusted.
TomlNode parse_toml(const std::string& text, int source, Mistakes& mistakes);

// Parses the right-hand side of an override; a bare word is taken as text.
TomlNode parse_toml_value(const std::string& text, int source);

// Applies "a.b.0.c=value"; what is wrong with it is added to `mistakes`.
void apply_override(TomlNode& root, const std::string& assignment, Mistakes& mistakes);

// The tree as TOML text again.
std::string to_toml(const TomlNode& root);

}  // namespace flotsam

// The one file that knows toml++. It is compiled header-only and with NDEBUG (CMakeLists.txt): the packaged
// library may abort on strange keys such as a CJK letter, where it should report an error.
#include "scene/toml_tree.h"

#undef TOML_HEADER_ONLY
#undef TOML_SHARED_LIB
#define TOML_HEADER_ONLY 1
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <tuple>

#include "core/check.h"

namespace flotsam {

const TomlNode* TomlNode::find(std::string_view key) const {
    for (const Member& member : members)
        if (member.key == key) return &member.value;
    return nullptr;
}

TomlNode* TomlNode::find(std::string_view key) {
    return const_cast<TomlNode*>(std::as_const(*this).find(key));
}

const TomlNode& TomlNode::at(std::string_view key) const {
    const TomlNode* node = find(key);
    FLOTSAM_CHECK(node != nullptr);
    return *node;
}

double TomlNode::number_or(std::string_view key, double fallback) const {
    const TomlNode* node = find(key);
    return node ? node->number : fallback;
}

const std::vector<TomlNode>& TomlNode::entries(std::string_view key) const {
    static const std::vector<TomlNode> none;
    const TomlNode* node = find(key);
    return node ? node->items : none;
}

TomlNode& TomlNode::set(std::string_view key, Place key_place, TomlNode value) {
    for (Member& member : members)
        if (member.key == key) {
            member.key_place = key_place;
            return member.value = std::move(value);
        }
    members.push_back({std::string(key), key_place, std::move(value)});
    return members.back().value;
}

TomlNode TomlNode::make_text(std::string value, Place place) {
    TomlNode node;
    node.kind = Kind::text;
    node.text = std::move(value);
    node.place = place;
    return node;
}

TomlNode TomlNode::make_integer(std::int64_t value, Place place) {
    TomlNode node;
    node.kind = Kind::integer;
    node.integer = value;
    node.number = static_cast<double>(value);
    node.place = place;
    return node;
}

int Mistakes::add_source(std::string name, std::string text) {
    sources_.push_back({std::move(name), std::move(text)});
    return static_cast<int>(sources_.size()) - 1;
}

void Mistakes::add(Place place, std::string message, std::string advice) {
    found_.push_back({place, std::move(message), std::move(advice)});
}

std::string Mistakes::where(Place place) const {
    const std::string& name = sources_[place.source].name;
    return place.source == 0 ? fmt::format("{}:{}:{}", name, place.line, place.column) : name;
}

namespace {

// A line of the source as a terminal can show it.
std::string shown_line(const std::string& text, int line) {
    std::size_t begin = 0;
    for (int n = 1; n < line && begin != std::string::npos; ++n) {
        begin = text.find('\n', begin);
        if (begin != std::string::npos) ++begin;
    }
    if (begin == std::string::npos) return "";
    std::string shown = text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin);
    constexpr std::size_t longest = 160;
    if (shown.size() > longest) {
        std::size_t cut = longest;
        while (cut > 0 && (static_cast<unsigned char>(shown[cut]) & 0xc0) == 0x80)
            --cut;  // not inside a letter
        shown = shown.substr(0, cut) + " ...";
    }
    for (char& c : shown)
        if (static_cast<unsigned char>(c) < ' ' || c == 127) c = ' ';
    return shown;
}

}  // namespace

void Mistakes::throw_if_any() const {
    if (found_.empty()) return;
    std::vector<const Mistake*> sorted;
    for (const Mistake& mistake : found_) sorted.push_back(&mistake);
    std::stable_sort(sorted.begin(), sorted.end(), [](const Mistake* a, const Mistake* b) {
        return std::tie(a->place.source, a->place.line, a->place.column) <
               std::tie(b->place.source, b->place.line, b->place.column);
    });
    constexpr std::size_t most = 20;  // more would scroll the first ones away
    std::string text;
    for (std::size_t n = 0; n < std::min(most, sorted.size()); ++n) {
        const Mistake& mistake = *sorted[n];
        if (n > 0) text += '\n';
        text += fmt::format("{}: {}\n", where(mistake.place), mistake.message);
        if (mistake.place.source == 0)
            text += fmt::format("  | {}\n", shown_line(sources_[0].text, mistake.place.line));
        text += fmt::format("  {}", mistake.advice);
    }
    if (sorted.size() > most) text += fmt::format("\n... and {} more mistakes", sorted.size() - most);
    throw UserError(text);
}

namespace {

TomlNode converted(const toml::node& from, int source) {
    TomlNode node;
    const auto place_of = [&](const toml::source_region& region) {
        return Place{source, std::max(1, int(region.begin.line)), std::max(1, int(region.begin.column))};
    };
    node.place = place_of(from.source());
    if (const toml::table* table = from.as_table()) {
        for (const auto& [key, value] : *table)
            node.members.push_back(
                {std::string(key.str()), place_of(key.source()), converted(value, source)});
        // toml++ sorts by name; the order of the file is what a reader expects back.
        std::stable_sort(node.members.begin(), node.members.end(),
                         [](const TomlNode::Member& a, const TomlNode::Member& b) {
                             return std::tie(a.key_place.line, a.key_place.column) <
                                    std::tie(b.key_place.line, b.key_place.column);
                         });
    } else if (const toml::array* array = from.as_array()) {
        node.kind = TomlNode::Kind::array;
        for (const toml::node& item : *array) node.items.push_back(converted(item, source));
    } else if (const auto* text = from.as_string()) {
        node.kind = TomlNode::Kind::text;
        node.text = text->get();
    } else if (const auto* integer = from.as_integer()) {
        node.kind = TomlNode::Kind::integer;
        node.integer = integer->get();
        node.number = static_cast<double>(node.integer);
    } else if (const auto* number = from.as_floating_point()) {
        node.kind = TomlNode::Kind::number;
        node.number = number->get();
    } else if (const auto* boolean = from.as_boolean()) {
        node.kind = TomlNode::Kind::boolean;
        node.boolean = boolean->get();
    } else {
        node.kind = TomlNode::Kind::date;
    }
    return node;
}

// The first byte that is no part of valid UTF-8, or npos.
std::size_t invalid_utf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto byte = [&](std::size_t n) {
            return n < text.size() ? static_cast<unsigned char>(text[n]) : 0u;
        };
        const unsigned lead = byte(i);
        const int more = lead < 0x80       ? 0
                         : lead >> 5 == 6  ? 1
                         : lead >> 4 == 14 ? 2
                         : lead >> 3 == 30 ? 3
                                           : -1;
        if (more < 0) return i;
        unsigned letter = more == 0 ? lead : lead & (0x3fu >> more);
        for (int n = 1; n <= more; ++n) {
            if ((byte(i + n) & 0xc0) != 0x80) return i;
            letter = letter << 6 | (byte(i + n) & 0x3f);
        }
        constexpr unsigned least[] = {0, 0x80, 0x800, 0x10000};
        if (letter < least[more] || letter > 0x10ffff || (letter >= 0xd800 && letter < 0xe000)) return i;
        i += more + 1;
    }
    return std::string_view::npos;
}

// Tables are nested as deep as a dotted key is long, and taking such a tree apart costs stack for each level.
// The first byte of a key with more dots than any scene needs, or npos.
std::size_t endless_key(std::string_view text) {
    constexpr int most = 256;
    int dots = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '.') ++dots;
        if (dots > most) return begin;
        if (text[i] == '\n' || text[i] == ',' || text[i] == '=' || text[i] == '[' || text[i] == '{') {
            dots = 0;
            begin = i + 1;
        }
    }
    return std::string_view::npos;
}

}  // namespace

TomlNode parse_toml(const std::string& text, int source, Mistakes& mistakes) {
    const auto place_of = [&](std::size_t byte) {
        const std::size_t line_end = byte == 0 ? std::string::npos : text.rfind('\n', byte - 1);
        const std::size_t line_start = line_end == std::string::npos ? 0 : line_end + 1;
        const auto line =
            std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(line_start), '\n');
        return Place{source, 1 + static_cast<int>(line), 1 + static_cast<int>(byte - line_start)};
    };
    if (const std::size_t bad = invalid_utf8(text); bad != std::string::npos)
        throw UserError(fmt::format("{}: byte 0x{:02x} is not UTF-8 text\n  save the scene as UTF-8",
                                    mistakes.where(place_of(bad)), static_cast<unsigned char>(text[bad])));
    if (const std::size_t bad = endless_key(text); bad != std::string::npos) {
        mistakes.add(place_of(bad), "this key has hundreds of parts",
                     "the keys of a scene have at most four");
        mistakes.throw_if_any();
    }
    try {
        return converted(toml::parse(std::string_view(text)), source);
    } catch (const toml::parse_error& error) {
        const auto& begin = error.source().begin;
        mistakes.add({source, std::max(1, int(begin.line)), std::max(1, int(begin.column))},
                     std::string(error.description()),
                     "this is not TOML: see https://toml.io for how to write it");
        mistakes.throw_if_any();
        throw;
    }
}

TomlNode parse_toml_value(const std::string& text, int source) {
    if (invalid_utf8(text) == std::string::npos && endless_key(text) == std::string::npos &&
        text.find('\n') == std::string::npos) {
        try {
            const toml::table table = toml::parse("v = " + text);
            if (const toml::node* value = table.get("v"); value && table.size() == 1)
                return converted(*value, source);
        } catch (const toml::parse_error&) {
            // Not TOML: a bare word, as people type on a command line.
        }
    }
    return TomlNode::make_text(text, {source, 1, 1});
}

void apply_override(TomlNode& root, const std::string& assignment, Mistakes& mistakes) {
    const int source = mistakes.add_source("--set " + assignment, assignment);
    const Place place{source, 1, 1};
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0 || invalid_utf8(assignment) != std::string::npos) {
        mistakes.add(place, "this is not of the form key=value",
                     "write for example --set domain.resolution=50");
        return;
    }
    std::string path = assignment.substr(0, equals), value = assignment.substr(equals + 1);
    while (!path.empty() && path.back() == ' ') path.pop_back();
    std::vector<std::string> steps{""};
    for (const char c : path) {
        if (c == '.')
            steps.emplace_back();
        else
            steps.back() += c;
    }
    if (steps.size() > 16) {
        mistakes.add(place, "this key has too many parts", "the keys of a scene have at most five");
        return;
    }
    const auto same_source = [&](TomlNode node) {
        node.place = place;
        return node;
    };
    TomlNode* at = &root;
    for (std::size_t n = 0; n < steps.size(); ++n) {
        const std::string& step = steps[n];
        const bool last = n + 1 == steps.size();
        if (step.empty()) {
            mistakes.add(place, fmt::format("the key '{}' has an empty part", path),
                         "write for example --set domain.resolution=50");
            return;
        }
        TomlNode fresh = last ? parse_toml_value(value, source) : same_source({});
        // `liquid.fill.0.level` in a scene without fills begins the list.
        if (!last && steps[n + 1] == "0") fresh.kind = TomlNode::Kind::array;
        if (at->is(TomlNode::Kind::array)) {
            std::size_t index = 0;
            const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
            if (error != std::errc{} || end != step.data() + step.size() || index > at->items.size()) {
                mistakes.add(
                    place,
                    fmt::format("'{}' does not name one of the {} entries before it", step, at->items.size()),
                    fmt::format("count from 0; {} adds a new entry", at->items.size()));
                return;
            }
            if (index == at->items.size())
                at->items.push_back(fresh);
            else if (last)
                at->items[index] = fresh;
            at = &at->items[index];
        } else if (at->is(TomlNode::Kind::table)) {
            TomlNode* next = at->find(step);
            at = next && !last ? next : &at->set(step, place, fresh);
        } else {
            mistakes.add(place, fmt::format("there is nothing below '{}' that could be set", steps[n - 1]),
                         "see docs/scene_reference.md for the keys of a scene");
            return;
        }
    }
}

namespace {

bool bare_key(const std::string& key) {
    return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
               c == '-';
    });
}

std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        if (static_cast<unsigned char>(c) < ' ' || c == 127)
            result += fmt::format("\\u{:04x}", c);
        else
            result += c;
    }
    return result + "\"";
}

std::string key_text(const std::string& key) { return bare_key(key) ? key : quoted(key); }

std::string inline_text(const TomlNode& node) {
    switch (node.kind) {
        case TomlNode::Kind::text:
            return quoted(node.text);
        case TomlNode::Kind::integer:
            return fmt::format("{}", node.integer);
        case TomlNode::Kind::boolean:
            return node.boolean ? "true" : "false";
        case TomlNode::Kind::date:
            return "\"\"";
        case TomlNode::Kind::number: {
            const std::string text = fmt::format("{}", node.number);
            return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
        }
        case TomlNode::Kind::array: {
            std::string text = "[";
            for (const TomlNode& item : node.items) text += (text.size() > 1 ? ", " : "") + inline_text(item);
            return text + "]";
        }
        case TomlNode::Kind::table:
            break;
    }
    std::string text = "{";
    for (const auto& [key, place, value] : node.members)
        text += (text.size() > 1 ? ", " : " ") + key_text(key) + " = " + inline_text(value);
    return text + " }";
}

bool holds_tables(const TomlNode& node) {
    return node.is(TomlNode::Kind::array) && !node.items.empty() &&
           std::all_of(node.items.begin(), node.items.end(),
                       [](const TomlNode& item) { return item.is(TomlNode::Kind::table); });
}

// `depth` 0 is the file itself; the tables below it get headers, theirs are written inline.
void write_table(const TomlNode& table, const std::string& path, int depth, std::string& out) {
    const auto gets_header = [&](const TomlNode& value) {
        return holds_tables(value) || (depth == 0 && value.is(TomlNode::Kind::table));
    };
    for (const auto& [key, place, value] : table.members)
        if (!gets_header(value)) out += key_text(key) + " = " + inline_text(value) + "\n";
    for (const auto& [key, place, value] : table.members) {
        if (!gets_header(value)) continue;
        const std::string below = path.empty() ? key_text(key) : path + "." + key_text(key);
        if (value.is(TomlNode::Kind::table)) {
            out += fmt::format("\n[{}]\n", below);
            write_table(value, below, depth + 1, out);
        } else {
            for (const TomlNode& item : value.items) {
                out += fmt::format("\n[[{}]]\n", below);
                write_table(item, below, depth + 1, out);
            }
        }
    }
}

}  // namespace

std::string to_toml(const TomlNode& root) {
    std::string out;
    write_table(root, "", 0, out);
    return out.starts_with("\n") ? out.substr(1) : out;
}

}  // namespace flotsam

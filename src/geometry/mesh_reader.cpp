#include "geometry/mesh_reader.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>

#include "core/check.h"
#include "core/format.h"

namespace flotsam {

namespace {

constexpr std::string_view export_again = "export the mesh again from the program that made it";

[[noreturn]] void refuse(std::string_view name, const std::string& what,
                         std::string_view advice = export_again) {
    throw UserError(format_text("{}: {}\n  {}", name, what, advice));
}

constexpr bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return result;
}

// A word of the file for use in messages: short and printable.
std::string shown(std::string_view word) {
    std::string text;
    for (const char c : word.substr(0, 40)) text += c >= ' ' && c < 127 ? c : '?';
    return text + (word.size() > 40 ? "..." : "");
}

template <class Number>
std::optional<Number> to_number(std::string_view word) {
    if (!word.empty() && word.front() == '+') word.remove_prefix(1);
    Number value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
    return value;
}

// Walks through text by lines and words and counts the lines.
class TextCursor {
  public:
    TextCursor(std::string_view text, std::string_view name) : rest_(text), name_(name) {}

    // The next line, or nothing at the end.
    std::optional<std::string_view> next_line() {
        if (rest_.empty()) return std::nullopt;
        const std::size_t end = rest_.find('\n');
        const std::string_view result = rest_.substr(0, end);
        rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
        ++line_;
        return result;
    }
    // The next word of the whole text across lines; empty at the end.
    std::string_view next_word() {
        while (!rest_.empty() && is_space(rest_.front())) {
            line_ += rest_.front() == '\n';
            rest_.remove_prefix(1);
        }
        std::size_t end = 0;
        while (end < rest_.size() && !is_space(rest_[end])) ++end;
        const std::string_view word = rest_.substr(0, end);
        rest_.remove_prefix(end);
        return word;
    }
    template <class Number>
    Number next_number(std::string_view of_what) {
        const std::string_view word = next_word();
        if (word.empty()) fail(format_text("the file ends where {} should be", of_what));
        return number<Number>(word, of_what);
    }
    template <class Number>
    Number number(std::string_view word, std::string_view of_what) const {
        const std::optional<Number> value = to_number<Number>(word);
        if (!value) fail(format_text("'{}' should be {}", shown(word), of_what));
        return *value;
    }
    [[noreturn]] void fail(const std::string& what) const {
        refuse(format_text("{}:{}", name_, line_), what);
    }
    std::string_view rest() const { return rest_; }

  private:
    std::string_view rest_, name_;
    std::int64_t line_ = 0;
};

// Splits the first word off `text`; empty when there is none.
std::string_view take_word(std::string_view& text) {
    text = trimmed(text);
    std::size_t end = 0;
    while (end < text.size() && !is_space(text[end])) ++end;
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end);
    return word;
}

void add_fan(TriangleMesh& mesh, const std::vector<int>& polygon) {
    for (std::size_t i = 2; i < polygon.size(); ++i)
        mesh.triangles.push_back({polygon[0], polygon[i - 1], polygon[i]});
}

TriangleMesh parse_obj(std::string_view content, std::string_view name) {
    TriangleMesh mesh;
    TextCursor cursor(content, name);
    std::vector<int> polygon;
    while (const auto line = cursor.next_line()) {
        std::string_view rest = *line;
        const std::string_view keyword = take_word(rest);
        if (keyword == "v") {
            Vec3 v;
            for (int axis = 0; axis < 3; ++axis)
                v[axis] = cursor.number<double>(take_word(rest), "a coordinate of a vertex");
            mesh.vertices.push_back(v);
        } else if (keyword == "f") {
            polygon.clear();
            for (std::string_view corner = take_word(rest); !corner.empty() && corner.front() != '#';
                 corner = take_word(rest)) {
                // "7", "7/1", "7//3" and "7/1/3" all begin with the vertex; negative numbers count from the
                // newest.
                const auto given =
                    cursor.number<std::int64_t>(corner.substr(0, corner.find('/')), "a vertex number");
                const auto count = static_cast<std::int64_t>(mesh.vertices.size());
                const std::int64_t vertex = given < 0 ? count + given : given - 1;
                if (given == 0 || vertex < 0 || vertex >= count)
                    cursor.fail(format_text("a face names vertex {}, but there are {} so far", given, count));
                polygon.push_back(static_cast<int>(vertex));
            }
            if (polygon.size() < 3) cursor.fail("a face has fewer than 3 vertices");
            add_fan(mesh, polygon);
        }
    }
    return mesh;
}

// Reads numbers of any type from bytes in either order.
class ByteCursor {
  public:
    ByteCursor(std::string_view bytes, bool big_endian, std::string_view name)
        : bytes_(bytes), big_endian_(big_endian), name_(name) {}

    template <class T>
    T next() {
        if (bytes_.size() < sizeof(T))
            refuse(name_, "the file is cut short: it ends in the middle of its data");
        char raw[sizeof(T)];
        std::memcpy(raw, bytes_.data(), sizeof(T));
        bytes_.remove_prefix(sizeof(T));
        if (big_endian_ != (std::endian::native == std::endian::big)) std::reverse(raw, raw + sizeof(T));
        T value;
        std::memcpy(&value, raw, sizeof(T));
        return value;
    }
    std::size_t left() const { return bytes_.size(); }

  private:
    std::string_view bytes_;
    bool big_endian_;
    std::string_view name_;
};

enum class PlyType { int8, uint8, int16, uint16, int32, uint32, float32, float64 };

std::optional<PlyType> ply_type(std::string_view name) {
    if (name == "char" || name == "int8") return PlyType::int8;
    if (name == "uchar" || name == "uint8") return PlyType::uint8;
    if (name == "short" || name == "int16") return PlyType::int16;
    if (name == "ushort" || name == "uint16") return PlyType::uint16;
    if (name == "int" || name == "int32") return PlyType::int32;
    if (name == "uint" || name == "uint32") return PlyType::uint32;
    if (name == "float" || name == "float32") return PlyType::float32;
    if (name == "double" || name == "float64") return PlyType::float64;
    return std::nullopt;
}

struct PlyProperty {
    std::string name;
    PlyType type = PlyType::float32;
    std::optional<PlyType> list_count;  // present when it is a list
};

struct PlyElement {
    std::string name;
    std::int64_t count = 0;
    std::vector<PlyProperty> properties;
};

// A value from the body of a PLY file, text or binary alike; doubles hold every PLY type exactly.
class PlyValues {
  public:
    PlyValues(TextCursor text, std::optional<ByteCursor> bytes) : text_(text), bytes_(bytes) {}
    double next(PlyType type) {
        if (!bytes_) return text_.next_number<double>("a number");
        switch (type) {
            case PlyType::int8:
                return bytes_->next<std::int8_t>();
            case PlyType::uint8:
                return bytes_->next<std::uint8_t>();
            case PlyType::int16:
                return bytes_->next<std::int16_t>();
            case PlyType::uint16:
                return bytes_->next<std::uint16_t>();
            case PlyType::int32:
                return bytes_->next<std::int32_t>();
            case PlyType::uint32:
                return bytes_->next<std::uint32_t>();
            case PlyType::float32:
                return bytes_->next<float>();
            case PlyType::float64:
                break;
        }
        return bytes_->next<double>();
    }

  private:
    TextCursor text_;
    std::optional<ByteCursor> bytes_;
};

TriangleMesh parse_ply(std::string_view content, std::string_view name) {
    TextCursor header(content, name);
    const auto first = header.next_line();
    if (!first || trimmed(*first) != "ply")
        refuse(name, "not a PLY file: its first line is not 'ply'",
               "check that the file has the right ending");
    std::vector<PlyElement> elements;
    std::string format;
    for (bool done = false; !done;) {
        const auto line = header.next_line();
        if (!line) refuse(name, "the PLY header has no 'end_header' line");
        std::string_view rest = *line;
        const std::string_view keyword = take_word(rest);
        if (keyword == "format") {
            format = take_word(rest);
        } else if (keyword == "element") {
            PlyElement element;
            element.name = take_word(rest);
            element.count = header.number<std::int64_t>(take_word(rest), "a count of elements");
            if (element.count < 0 || element.count > std::numeric_limits<std::int32_t>::max())
                header.fail(format_text("impossible number of elements: {}", element.count));
            elements.push_back(element);
        } else if (keyword == "property") {
            if (elements.empty()) header.fail("a property before the first element");
            PlyProperty property;
            std::string_view type = take_word(rest);
            if (type == "list") {
                property.list_count = ply_type(take_word(rest));
                if (!property.list_count) header.fail("unknown type of a list's length");
                type = take_word(rest);
            }
            const auto known = ply_type(type);
            if (!known) header.fail(format_text("unknown property type '{}'", shown(type)));
            property.type = *known;
            property.name = take_word(rest);
            elements.back().properties.push_back(property);
        } else if (keyword == "end_header") {
            done = true;
        } else if (keyword != "comment" && keyword != "obj_info" && !keyword.empty()) {
            header.fail(format_text("unknown word '{}' in the PLY header", shown(keyword)));
        }
    }
    std::optional<ByteCursor> bytes;
    if (format == "binary_little_endian")
        bytes.emplace(header.rest(), false, name);
    else if (format == "binary_big_endian")
        bytes.emplace(header.rest(), true, name);
    else if (format != "ascii")
        refuse(name, format_text("unknown PLY format '{}'", shown(format)));

    TriangleMesh mesh;
    PlyValues values(header, bytes);
    std::vector<int> polygon;
    for (const PlyElement& element : elements) {
        // A header may promise a billion elements that hold nothing; reading those would only burn time.
        if (element.properties.empty() && element.count > 0)
            refuse(name, format_text("element '{}' has no properties", shown(element.name)));
        for (std::int64_t i = 0; i < element.count; ++i) {
            Vec3 vertex;
            polygon.clear();
            for (const PlyProperty& property : element.properties) {
                if (!property.list_count) {
                    const double value = values.next(property.type);
                    if (property.name == "x") vertex.x = value;
                    if (property.name == "y") vertex.y = value;
                    if (property.name == "z") vertex.z = value;
                    continue;
                }
                const double length = values.next(*property.list_count);
                if (!(length >= 0 && length <= 1e9)) refuse(name, "a list has an impossible length");
                const bool corners = property.name == "vertex_indices" || property.name == "vertex_index";
                for (std::int64_t n = 0; n < static_cast<std::int64_t>(length); ++n) {
                    const double value = values.next(property.type);
                    if (element.name != "face" || !corners) continue;
                    if (!(value >= 0 && value < static_cast<double>(mesh.vertices.size())))
                        refuse(name, format_text("face {} names vertex {}, but there are {}", i, value,
                                                 mesh.vertices.size()));
                    polygon.push_back(static_cast<int>(value));
                }
            }
            if (element.name == "vertex") mesh.vertices.push_back(vertex);
            add_fan(mesh, polygon);
        }
    }
    return mesh;
}

void add_stl_triangle(TriangleMesh& mesh, const std::array<Vec3, 3>& corners) {
    const int n = static_cast<int>(mesh.vertices.size());
    mesh.vertices.insert(mesh.vertices.end(), corners.begin(), corners.end());
    mesh.triangles.push_back({n, n + 1, n + 2});
}

TriangleMesh parse_binary_stl(std::string_view content, std::string_view name) {
    ByteCursor bytes(content.substr(80), false, name);
    const auto count = bytes.next<std::uint32_t>();
    if (bytes.left() < std::size_t{count} * 50)
        refuse(name, format_text("the file is cut short: it announces {} triangles and has room for {}",
                                 count, bytes.left() / 50));
    TriangleMesh mesh;
    for (std::uint32_t i = 0; i < count; ++i) {
        for (int k = 0; k < 3; ++k) bytes.next<float>();  // the normal, which follows from the corners
        std::array<Vec3, 3> corners;
        for (Vec3& corner : corners)
            for (int axis = 0; axis < 3; ++axis) corner[axis] = bytes.next<float>();
        bytes.next<std::uint16_t>();  // attributes
        add_stl_triangle(mesh, corners);
    }
    return mesh;
}

TriangleMesh parse_text_stl(std::string_view content, std::string_view name) {
    TriangleMesh mesh;
    TextCursor cursor(content, name);
    std::array<Vec3, 3> corners;
    int corner = 0;
    for (std::string_view word = cursor.next_word(); !word.empty(); word = cursor.next_word()) {
        if (word == "vertex") {
            if (corner == 3) cursor.fail("a facet has more than 3 vertices");
            for (int axis = 0; axis < 3; ++axis)
                corners[corner][axis] = cursor.next_number<double>("a coordinate of a vertex");
            ++corner;
        } else if (word == "endfacet") {
            if (corner != 3) cursor.fail(format_text("a facet has {} vertices instead of 3", corner));
            add_stl_triangle(mesh, corners);
            corner = 0;
        }
    }
    if (corner != 0) cursor.fail("the file is cut short: the last facet does not end");
    return mesh;
}

TriangleMesh parse_stl(std::string_view content, std::string_view name) {
    // Some binary files begin with "solid" too, so the size decides first: 84 bytes and 50 for each triangle.
    if (content.size() >= 84) {
        std::uint32_t count = 0;
        for (int byte = 3; byte >= 0; --byte)
            count = count << 8 | static_cast<unsigned char>(content[80 + byte]);
        if (content.size() == 84 + std::size_t{count} * 50) return parse_binary_stl(content, name);
    }
    if (trimmed(content.substr(0, 80)).starts_with("solid")) return parse_text_stl(content, name);
    if (content.size() < 84)
        refuse(name, "not an STL file: too short for a binary one, and a text one begins with 'solid'");
    return parse_binary_stl(content, name);
}

// Vertices and triangles as the file lists them, checked for values that later steps cannot handle.
TriangleMesh parse_unmerged(std::string_view content, std::string_view name) {
    // Vertices and corners are numbered with 32 bits; no file smaller than this can overflow them.
    if (content.size() > std::size_t{1} << 31)
        refuse(name, "the mesh file is larger than 2 GB",
               "simplify the mesh: the grid cannot show such detail");
    const std::string ending = lower(name.substr(std::min(name.size(), name.rfind('.'))));
    TriangleMesh mesh;
    if (ending == ".obj")
        mesh = parse_obj(content, name);
    else if (ending == ".ply")
        mesh = parse_ply(content, name);
    else if (ending == ".stl")
        mesh = parse_stl(content, name);
    else
        refuse(name, format_text("unknown kind of mesh file '{}'", shown(ending)),
               "use a .obj, .ply or .stl file");

    for (const Vec3& v : mesh.vertices)
        // The bound keeps later products finite; no length in metres comes near it.
        for (int axis = 0; axis < 3; ++axis)
            if (!(std::abs(v[axis]) < 1e15))
                refuse(name, format_text("a vertex has the coordinate {}", v[axis]));
    if (mesh.triangles.empty()) refuse(name, "the mesh has no triangles");
    return mesh;
}

std::string read_content(const std::filesystem::path& file) {
    std::error_code error;
    if (!std::filesystem::exists(file, error))
        refuse(file.string(), "there is no such mesh file", "paths are relative to the scene file");
    if (!std::filesystem::is_regular_file(file, error))
        refuse(file.string(), "not a file", "name a mesh file");
    std::ifstream stream(file, std::ios::binary);
    std::string content{std::istreambuf_iterator<char>(stream), {}};
    if (!stream) refuse(file.string(), "the mesh file cannot be read", "check its permissions");
    return content;
}

}  // namespace

TriangleMesh parse_mesh(std::string_view content, std::string_view name) {
    TriangleMesh mesh = parse_unmerged(content, name);
    mesh = weld(mesh, merging_distance(mesh));
    if (mesh.triangles.empty()) refuse(name, "every triangle of the mesh has shrunk to a point or a line");
    return mesh;
}

TriangleMesh read_mesh(const std::filesystem::path& file) {
    return parse_mesh(read_content(file), file.string());
}

TriangleMesh read_unmerged_mesh(const std::filesystem::path& file) {
    return parse_unmerged(read_content(file), file.string());
}

double merging_distance(const TriangleMesh& mesh) {
    const Box box = bounds(mesh);
    return 1e-6 * length(box.high - box.low);
}

}  // namespace flotsam

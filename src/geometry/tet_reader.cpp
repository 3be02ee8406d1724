#include "geometry/tet_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>
#include <unordered_map>

#include "core/check.h"
#include "core/format.h"

namespace flotsam {

namespace {

constexpr std::string_view export_again = "export the mesh again from the program that made it";
constexpr std::int64_t most = 50'000'000;  // nodes or elements; more mean that the file is damaged

[[noreturn]] void refuse(std::string_view name, const std::string& what,
                         std::string_view advice = export_again) {
    throw UserError(format_text("{}: {}\n  {}", name, what, advice));
}

std::string shown(std::string_view word) {
    std::string text;
    for (const char c : word.substr(0, 40)) text += c >= ' ' && c < 127 ? c : '?';
    return text;
}

// Walks through the words of a text and counts the lines.
class Words {
  public:
    Words(std::string_view text, std::string_view name, char comment = '\0')
        : rest_(text), name_(name), comment_(comment) {}

    std::string_view next() {
        while (!rest_.empty()) {
            if (comment_ && rest_.front() == comment_)
                rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
            else if (rest_.front() == ' ' || (rest_.front() >= '\t' && rest_.front() <= '\r')) {
                line_ += rest_.front() == '\n';
                rest_.remove_prefix(1);
            } else
                break;
        }
        std::size_t end = 0;
        while (end < rest_.size() && rest_[end] != ' ' && !(rest_[end] >= '\t' && rest_[end] <= '\r')) ++end;
        const std::string_view word = rest_.substr(0, end);
        rest_.remove_prefix(end);
        return word;
    }
    void skip_line() {
        const std::size_t end = rest_.find('\n');
        rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
        ++line_;
    }
    bool at_end() {
        const Words before = *this;
        const bool none = next().empty();
        *this = before;
        return none;
    }
    template <class Number>
    Number number(std::string_view what) {
        std::string_view word = next();
        if (word.empty()) refuse(name_, format_text("the file ends where {} should be", what));
        if (word.front() == '+') word.remove_prefix(1);
        Number value{};
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (error != std::errc{} || end != word.data() + word.size())
            refuse(name_, format_text("line {}: '{}' where {} should be", line_, shown(word), what));
        return value;
    }
    std::int64_t count(std::string_view what) {
        const std::int64_t n = number<std::int64_t>(what);
        if (n < 0 || n > most) refuse(name_, format_text("line {}: {} as {}", line_, n, what));
        return n;
    }
    Vec3 point() {
        const double x = number<double>("a coordinate"), y = number<double>("a coordinate"),
                     z = number<double>("a coordinate");
        if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(z))
            refuse(name_, format_text("line {}: a point that is nowhere", line_));
        return {x, y, z};
    }
    // Moves past the next occurrence of a word; returns false when there is none.
    bool find(std::string_view wanted) {
        for (std::string_view word = next(); !word.empty(); word = next())
            if (word == wanted) return true;
        return false;
    }
    int line() const { return line_; }

  private:
    std::string_view rest_, name_;
    char comment_;
    int line_ = 1;
};

// Maps node numbers of the file to those of the mesh, for the nodes that tetrahedra use.
class Gather {
  public:
    explicit Gather(std::string_view name) : name_(name) {}
    void node(std::int64_t number, Vec3 place) {
        if (!place_.emplace(number, place).second)
            refuse(name_, format_text("node {} appears twice", number));
    }
    void tet(std::array<std::int64_t, 4> numbers) { tets_.push_back(numbers); }

    TetMesh mesh() const {
        if (tets_.empty())
            refuse(name_, "there are no tetrahedra in it", "a surface alone is a `shape`: see 'spacing'");
        TetMesh result;
        std::unordered_map<std::int64_t, int> number;
        for (const std::array<std::int64_t, 4>& t : tets_) {
            Tet tet;
            for (int i = 0; i < 4; ++i) {
                const auto at = place_.find(t[i]);
                if (at == place_.end())
                    refuse(name_, format_text("tetrahedron {} names node {}, which is not there",
                                              result.tets.size(), t[i]));
                const auto [own, fresh] = number.emplace(t[i], int(result.nodes.size()));
                if (fresh) result.nodes.push_back(at->second);
                tet[i] = own->second;
            }
            result.tets.push_back(tet);
        }
        // Some programs use the opposite orientation.
        const auto negative = [&](const Tet& t) {
            return tet_volume(result.nodes[t[0]], result.nodes[t[1]], result.nodes[t[2]],
                              result.nodes[t[3]]) < 0;
        };
        if (std::all_of(result.tets.begin(), result.tets.end(), negative))
            for (Tet& t : result.tets) std::swap(t[2], t[3]);
        return result;
    }

  private:
    std::string name_;
    std::unordered_map<std::int64_t, Vec3> place_;
    std::vector<std::array<std::int64_t, 4>> tets_;
};

// Number of nodes of each kind of element in Gmsh's files; 0 for unknown kinds.
int nodes_of_kind(std::int64_t kind) {
    constexpr int nodes[] = {0, 2, 3, 4, 4, 8, 6, 5, 3, 6, 9, 10, 27, 18, 14, 1, 8, 20, 15, 13};
    return kind >= 1 && kind <= 19 ? nodes[kind] : 0;
}

void read_gmsh_element(Words& words, std::int64_t kind, std::string_view name, Gather& gather) {
    const int nodes = nodes_of_kind(kind);
    if (nodes == 0) refuse(name, format_text("line {}: elements of an unknown kind {}", words.line(), kind));
    std::array<std::int64_t, 27> numbers{};
    for (int n = 0; n < nodes; ++n) numbers[n] = words.number<std::int64_t>("the number of a node");
    if (kind == 4 || kind == 11) gather.tet({numbers[0], numbers[1], numbers[2], numbers[3]});
}

std::string content_of(const std::filesystem::path& file) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error))
        refuse(file.string(), "there is no such file", "paths are relative to the scene file");
    std::ifstream stream(file, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (!stream) refuse(file.string(), "cannot be read", "check its permissions");
    return text;
}

}  // namespace

TetMesh parse_msh(std::string_view content, std::string_view name) {
    Words words(content, name);
    if (words.next() != "$MeshFormat") refuse(name, "does not begin with $MeshFormat: this is no Gmsh file");
    const double version = words.number<double>("the format's version");
    const std::int64_t binary = words.number<std::int64_t>("0 for a text file");
    if (binary != 0) refuse(name, "is a binary file", "save it from Gmsh as text (Mesh.Binary = 0)");
    const bool fourth = version >= 4.1 && version < 5;
    if (!fourth && !(version >= 2 && version < 3))
        refuse(name, format_text("has format {}", version),
               "save it from Gmsh as format 2.2 or 4.1 (Mesh.MshFileVersion)");
    Gather gather(name);
    if (!words.find("$Nodes")) refuse(name, "has no $Nodes");
    if (fourth) {
        const std::int64_t blocks = words.count("the number of blocks");
        for (int i = 0; i < 3; ++i) words.number<std::int64_t>("a number");
        for (std::int64_t b = 0; b < blocks; ++b) {
            for (int i = 0; i < 2; ++i) words.number<std::int64_t>("a number");
            const std::int64_t parametric = words.number<std::int64_t>("0 or 1");
            if (parametric != 0)
                refuse(name, "has nodes with parameters", "save it without Mesh.SaveParametric");
            std::vector<std::int64_t> numbers(std::size_t(words.count("the number of nodes")));
            for (std::int64_t& n : numbers) n = words.number<std::int64_t>("the number of a node");
            for (const std::int64_t n : numbers) gather.node(n, words.point());
        }
    } else {
        const std::int64_t nodes = words.count("the number of nodes");
        for (std::int64_t n = 0; n < nodes; ++n) {
            const std::int64_t number = words.number<std::int64_t>("the number of a node");
            gather.node(number, words.point());
        }
    }
    if (words.next() != "$EndNodes") refuse(name, "has more nodes than it says");
    if (!words.find("$Elements")) refuse(name, "has no $Elements");
    if (fourth) {
        const std::int64_t blocks = words.count("the number of blocks");
        for (int i = 0; i < 3; ++i) words.number<std::int64_t>("a number");
        for (std::int64_t b = 0; b < blocks; ++b) {
            for (int i = 0; i < 2; ++i) words.number<std::int64_t>("a number");
            const std::int64_t kind = words.number<std::int64_t>("the kind of elements");
            const std::int64_t count = words.count("the number of elements");
            for (std::int64_t e = 0; e < count; ++e) {
                words.number<std::int64_t>("the number of an element");
                read_gmsh_element(words, kind, name, gather);
            }
        }
    } else {
        const std::int64_t count = words.count("the number of elements");
        for (std::int64_t e = 0; e < count; ++e) {
            words.number<std::int64_t>("the number of an element");
            const std::int64_t kind = words.number<std::int64_t>("the kind of an element");
            const std::int64_t tags = words.count("the number of tags");
            for (std::int64_t t = 0; t < tags; ++t) words.number<std::int64_t>("a tag");
            read_gmsh_element(words, kind, name, gather);
        }
    }
    return gather.mesh();
}

TetMesh parse_vtk(std::string_view content, std::string_view name) {
    Words words(content, name);
    if (!content.starts_with("# vtk"))
        refuse(name, "does not begin with '# vtk': this is no legacy VTK file");
    words.skip_line();
    words.skip_line();  // the title
    if (const std::string_view form = words.next(); form != "ASCII")
        refuse(name, format_text("is '{}', not ASCII", shown(form)), "save it as text");
    if (!words.find("UNSTRUCTURED_GRID")) refuse(name, "is no UNSTRUCTURED_GRID");
    Gather gather(name);
    if (!words.find("POINTS")) refuse(name, "has no POINTS");
    const std::int64_t points = words.count("the number of points");
    words.next();  // float or double
    for (std::int64_t p = 0; p < points; ++p) gather.node(p, words.point());
    if (!words.find("CELLS")) refuse(name, "has no CELLS");
    const std::int64_t cells = words.count("the number of cells");
    words.count("the number of numbers");
    std::vector<std::vector<std::int64_t>> lists;
    for (std::int64_t c = 0; c < cells; ++c) {
        const std::int64_t count = words.count("the number of a cell's points");
        if (count > 100'000) refuse(name, format_text("line {}: a cell of {} points", words.line(), count));
        lists.emplace_back();
        for (std::int64_t n = 0; n < count; ++n)
            lists.back().push_back(words.number<std::int64_t>("the number of a point"));
    }
    if (!words.find("CELL_TYPES")) refuse(name, "has no CELL_TYPES");
    if (words.count("the number of cells") != cells) refuse(name, "has not as many CELL_TYPES as CELLS");
    for (std::int64_t c = 0; c < cells; ++c) {
        const std::int64_t type = words.number<std::int64_t>("the type of a cell");
        if (type != 10 && type != 24) continue;  // a tetrahedron, of first or second order
        if (lists[c].size() < 4)
            refuse(name, format_text("cell {} is a tetrahedron of {} points", c, lists[c].size()));
        gather.tet({lists[c][0], lists[c][1], lists[c][2], lists[c][3]});
    }
    return gather.mesh();
}

TetMesh parse_tetgen(std::string_view node_text, std::string_view element_text, std::string_view name) {
    Gather gather(name);
    Words nodes(node_text, name, '#');
    const std::int64_t count = nodes.count("the number of nodes");
    const std::int64_t dimension = nodes.number<std::int64_t>("the dimension");
    if (dimension != 3) refuse(name, format_text("has {} dimensions", dimension));
    const std::int64_t attributes = nodes.count("the number of attributes"), markers = nodes.count("0 or 1");
    for (std::int64_t n = 0; n < count; ++n) {
        const std::int64_t number = nodes.number<std::int64_t>("the number of a node");
        gather.node(number, nodes.point());
        for (std::int64_t a = 0; a < attributes + markers; ++a) nodes.number<double>("an attribute");
    }
    Words elements(element_text, name, '#');
    const std::int64_t tets = elements.count("the number of tetrahedra");
    const std::int64_t corners = elements.number<std::int64_t>("nodes of a tetrahedron");
    if (corners != 4 && corners != 10) refuse(name, format_text("has tetrahedra of {} nodes", corners));
    const std::int64_t more = elements.count("the number of attributes") + corners - 4;
    for (std::int64_t t = 0; t < tets; ++t) {
        elements.number<std::int64_t>("the number of a tetrahedron");
        std::array<std::int64_t, 4> numbers{};
        for (std::int64_t& n : numbers) n = elements.number<std::int64_t>("the number of a node");
        for (std::int64_t a = 0; a < more; ++a) elements.number<double>("an attribute");
        gather.tet(numbers);
    }
    return gather.mesh();
}

TetMesh read_tet_mesh(const std::filesystem::path& file) {
    const std::string ending = file.extension().string(), name = file.string();
    if (ending == ".msh") return parse_msh(content_of(file), name);
    if (ending == ".vtk") return parse_vtk(content_of(file), name);
    if (ending == ".node" || ending == ".ele") {
        std::filesystem::path nodes = file, elements = file;
        return parse_tetgen(content_of(nodes.replace_extension(".node")),
                            content_of(elements.replace_extension(".ele")), name);
    }
    refuse(name, format_text("files ending in '{}' are not known", ending),
           "give a Gmsh .msh, a .vtk, or a TetGen .node file");
}

}  // namespace flotsam

#include "scene/scene_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace flotsam {

std::uint64_t hash_text(std::string_view text, std::uint64_t hash) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return hash;
}

bool overlap(const Box& a, const Box& b) {
    for (int axis = 0; axis < 3; ++axis)
        if (!(a.low[axis] <= b.high[axis] && b.low[axis] <= a.high[axis])) return false;
    return true;
}

Vec3 read_vector(const TomlNode& list, bool flat, Mistakes& mistakes) {
    if (!flat && list.items.size() < 3)
        mistakes.add(list.place, "two numbers are enough only in 2D",
                     "give x, y and z, or set scene.dimensions = 2");
    Vec3 v;
    for (std::size_t axis = 0; axis < std::min<std::size_t>(3, list.items.size()); ++axis)
        v[int(axis)] = list.items[axis].number;
    return v;
}

Vec3 three_numbers(const TomlNode& list) {
    // In 2D lists may have two.
    return {list.items[0].number, list.items[1].number, list.items.size() > 2 ? list.items[2].number : 0};
}

void SceneReader::warn(Place place, const std::string& message) {
    warnings.push_back(fmt::format("{}: {}", mistakes.where(place), message));
}

std::string SceneReader::make_it_3d() const {
    return fmt::format(
        "make the scene three-dimensional: remove 'dimensions = 2', give points and vectors a z, and the "
        "domain a depth of two cells ({:.3g} m) or more",
        2 * domain.h);
}

Vec3 SceneReader::vector(const TomlNode& list, double flat_z) {
    Vec3 v = read_vector(list, flat, mistakes);
    if (flat) v.z = flat_z;
    return v;
}

Vec3 SceneReader::velocity(const TomlNode& list) {
    if (flat && list.items.size() == 3 && list.items[2].number != 0)
        mistakes.add(list.items[2].place, "nothing moves along z in 2D",
                     "set the third number to 0 or leave it out");
    return vector(list, 0);
}

Vec3 SceneReader::turn(const TomlNode& list) {
    const Vec3 v = three_numbers(list);
    if (flat && (v.x != 0 || v.y != 0))
        mistakes.add(list.place, "in 2D solids turn about z only", "write [0, 0, ...]");
    return v;
}

void SceneReader::add_nested(Place place, std::string_view text) {
    const std::size_t end = text.find("\n  ");
    mistakes.add(place, std::string(text.substr(0, end)),
                 end == std::string_view::npos ? "choose another file" : std::string(text.substr(end + 3)));
}

std::filesystem::path SceneReader::mesh_file(const TomlNode& node) {
    if (node.text.empty() || node.text.find('\0') != std::string::npos) {
        mistakes.add(node.place, "'file' is no file name", "name a .obj, .ply or .stl file");
        return {};
    }
    std::filesystem::path file = folder / node.text;
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) {
        mistakes.add(node.place, fmt::format("there is no mesh file '{}'", file.string()),
                     "paths are relative to the scene file");
        return {};
    }
    return hashed_mesh_file(file);
}

std::filesystem::path SceneReader::hashed_mesh_file(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    mesh_hash = hash_text(bytes, mesh_hash);
    return file;
}

void SceneReader::check_name(const TomlNode& node, std::set<std::string>& taken, std::string_view what) {
    const bool plain =
        !node.text.empty() &&
        node.text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
            std::string::npos;
    if (!plain)
        mistakes.add(node.place, fmt::format("\"{}\" cannot name a {}", node.text, what),
                     "use letters, digits, - and _");
    else if (!taken.insert(node.text).second)
        mistakes.add(node.place, fmt::format("two {}s are called \"{}\"", what, node.text),
                     "give each its own name");
}

}  // namespace flotsam

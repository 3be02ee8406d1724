// What every part of a scene file is read with.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fluid/grid/domain.h"
#include "scene/toml_tree.h"

namespace flotsam {

// FNV-1a: the same everywhere, and enough to tell scenes apart.
constexpr std::uint64_t hash_of_nothing = 0xcbf29ce484222325ULL;
std::uint64_t hash_text(std::string_view text, std::uint64_t hash = hash_of_nothing);

bool overlap(const Box& a, const Box& b);

// A point or vector as it is written; two numbers are a mistake unless the scene is flat.
Vec3 read_vector(const TomlNode& list, bool flat, Mistakes& mistakes);
Vec3 three_numbers(const TomlNode& list);

// A validated tree with its defaults, and what the parts of a scene share while it becomes one. What the
// tables of keys cannot know is checked by whoever reads a part.
struct SceneReader {
    const TomlNode& root;
    std::filesystem::path folder;  // that mesh files are relative to
    Mistakes& mistakes;
    double scale = 1;   // that the resolution was multiplied by
    bool flat = false;  // two-dimensional
    Domain domain = {};
    Vec3 asked_size = {};  // of the domain, before rounding to whole cells [m]
    std::vector<std::string> warnings = {};
    std::uint64_t mesh_hash = hash_of_nothing;  // of all mesh files so far

    void warn(Place place, const std::string& message);

    // Advice for a 2D scene that asks for what only three dimensions have.
    std::string make_it_3d() const;

    // In 2D a third number is ignored.
    Vec3 vector(const TomlNode& list, double flat_z);
    // Positions in 2D lie in the middle of the slab.
    Vec3 position(const TomlNode& list) { return vector(list, domain.h / 2); }
    Vec3 velocity(const TomlNode& list);
    // An axis or a spin: in 2D along z.
    Vec3 turn(const TomlNode& list);

    // What a reader says about a file, placed where the scene names that file.
    void add_nested(Place place, std::string_view text);
    // Checks that the mesh file exists and takes it into the scene's hash; empty when it does not.
    std::filesystem::path mesh_file(const TomlNode& node);
    // Takes a mesh file into the scene's hash.
    std::filesystem::path hashed_mesh_file(const std::filesystem::path& file);

    // Refuses a name that is taken or no name.
    void check_name(const TomlNode& node, std::set<std::string>& taken, std::string_view what);
};

}  // namespace flotsam

#include "scene/elastic_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/check.h"
#include "geometry/isosurface_stuffing.h"
#include "geometry/mesh_reader.h"
#include "geometry/tet_reader.h"

namespace flotsam {

namespace {

constexpr double most_tets = 2e6;

const TomlNode* find_in(const TomlNode& entry, std::string_view key) {
    const TomlNode* table = entry.find("elastic");
    return table ? table->find(key) : nullptr;
}

ElasticMaterial read_material(const TomlNode& entry) {
    ElasticMaterial material;
    const TomlNode* table = entry.find("elastic");
    const auto number = [&](const char* key, double fallback) {
        return table ? table->number_or(key, fallback) : fallback;
    };
    material.young = entry.at("stiffness").number;
    material.density = entry.at("density").number;
    material.poisson = number("poisson", material.poisson);
    material.mass_damping = number("mass_damping", 0);
    material.stiffness_damping = number("stiffness_damping", 0);
    static constexpr std::pair<std::string_view, ElasticModel> models[] = {
        {"linear", ElasticModel::linear},
        {"corotational", ElasticModel::corotational},
        {"neo-hookean", ElasticModel::neo_hookean},
        {"st-venant-kirchhoff", ElasticModel::st_venant_kirchhoff}};
    if (const TomlNode* model = find_in(entry, "model"))
        for (const auto& [word, value] : models)
            if (word == model->text) material.model = value;
    return material;
}

// The tetrahedra, in body coordinates; none when a mistake was found.
TetMesh read_tets(SceneReader& reader, const TomlNode& entry, const Solid& solid) {
    Mistakes& mistakes = reader.mistakes;
    const TomlNode* file = find_in(entry, "tets");
    const TomlNode* cells = find_in(entry, "cells");
    const TomlNode* given = find_in(entry, "spacing");
    const TomlNode* box = entry.at("shape").find("box");
    if (int(file != nullptr) + int(cells != nullptr) + int(given != nullptr) > 1) {
        mistakes.add(entry.at("elastic").place, "'tets', 'cells' and 'spacing' exclude each other",
                     "keep one");
        return {};
    }
    if (file) {
        const std::filesystem::path path = reader.mesh_file(*file);
        if (path.empty()) return {};
        const TomlNode* scale = find_in(entry, "scale");
        try {
            TetMesh mesh = read_tet_mesh(path);
            for (Vec3& p : mesh.nodes) p *= scale ? scale->number : 1.0;
            return mesh;
        } catch (const UserError& error) {
            reader.add_nested(file->place, error.what());
            return {};
        }
    }
    Box bounds = flotsam::bounds(solid.shape.mesh);
    if (reader.flat) {
        if (!box) {
            mistakes.add(entry.at("shape").place, "in two dimensions only boxes can be elastic",
                         "write shape = { box = [...] }, or " + reader.make_it_3d());
            return {};
        }
        bounds.low.z = -0.5 * reader.domain.h, bounds.high.z = 0.5 * reader.domain.h;
    }
    const Vec3 size = bounds.high - bounds.low;
    if (cells) {
        if (!box) {
            mistakes.add(cells->place, "only a box can be divided into cells",
                         "write 'spacing' instead, and any shape is filled with tetrahedra of that size");
            return {};
        }
        Int3 count;
        const Vec3 wanted = reader.vector(*cells, 1);
        for (int a = 0; a < 3; ++a) count[a] = std::max(1, int(wanted[a]));
        if (6.0 * count.x * count.y * count.z > most_tets) {
            mistakes.add(cells->place,
                         fmt::format("these are {} tetrahedra", 6.0 * count.x * count.y * count.z),
                         fmt::format("{:g} is the most", most_tets));
            return {};
        }
        return tet_lattice(bounds.low, bounds.high, count);
    }
    const double thinnest = reader.flat ? std::min(size.x, size.y) : std::min({size.x, size.y, size.z});
    const double spacing = given ? given->number : std::min(reader.domain.h, thinnest / 3);
    const Place place = given ? given->place : entry.place;
    const double cubes = size.x * size.y * size.z / (spacing * spacing * spacing);
    if (12 * cubes > most_tets) {
        mistakes.add(place, fmt::format("this solid would have about {:.2g} tetrahedra", 12 * cubes),
                     fmt::format("raise 'spacing' in elastic = {{ ... }}; {:g} is the most", most_tets));
        return {};
    }
    if (box) {
        Int3 count;
        for (int a = 0; a < 3; ++a) count[a] = std::max(1, int(std::round(size[a] / spacing)));
        if (reader.flat) count.z = 1;
        return tet_lattice(bounds.low, bounds.high, count);
    }
    TetMesh mesh = stuff(*solid.shape.distance, spacing);
    if (mesh.tets.empty())
        mistakes.add(place, fmt::format("tetrahedra of {:.3g} m do not fit into this solid", spacing),
                     "lower 'spacing' in elastic = { ... }");
    return mesh;
}

std::vector<int> nodes_in(const ElasticMesh& mesh, const Solid& solid, const Box& region) {
    std::vector<int> nodes;
    for (std::size_t n = 0; n < mesh.rest.nodes.size(); ++n)
        if (region.contains(solid.start.to_world(mesh.rest.nodes[n]))) nodes.push_back(int(n));
    return nodes;
}

Box read_region(SceneReader& reader, const TomlNode& table) {
    Vec3 low = reader.position(table.at("min")), high = reader.position(table.at("max"));
    if (reader.flat) low.z = 0, high.z = reader.domain.h;
    // What lies on its boundary belongs to it, however it was rounded.
    const Vec3 slack = Vec3{1, 1, 1} * (1e-9 * length(reader.domain.size()));
    return {low - slack, high + slack};
}

Rotation read_turn(const TomlNode& table) {
    return Rotation::about(three_numbers(table.at("axis")),
                           table.at("degrees").number * std::numbers::pi / 180);
}

void read_pins(SceneReader& reader, const TomlNode& entry, const Solid& solid, ElasticProperties& elastic) {
    for (const TomlNode& table : entry.entries("pin")) {
        const Box region = read_region(reader, table.at("box"));
        Pin pin;
        pin.nodes = nodes_in(*elastic.mesh, solid, region);
        if (pin.nodes.empty())
            reader.mistakes.add(table.at("box").place,
                                fmt::format("no node of \"{}\" lies in this box", solid.name),
                                "its coordinates are the scene's, at the start");
        if (const TomlNode* axes = table.find("axes")) {
            pin.axes = {};
            for (const TomlNode& word : axes->items)
                pin.axes[word.text == "x" ? 0 : word.text == "y" ? 1 : 2] = true;
        }
        pin.release = table.number_or("release", pin.release);
        pin.frame.position = (region.low + region.high) * 0.5;
        if (const TomlNode* velocity = table.find("velocity")) pin.script.velocity = three_numbers(*velocity);
        if (const TomlNode* spin = table.find("spin")) pin.script.spin = three_numbers(*spin);
        pin.script.smooth = table.at("smooth").boolean;
        for (const TomlNode& key : table.entries("keyframe")) {
            Keyframe k{key.at("time").number, {pin.frame.position + three_numbers(key.at("move")), {}}};
            if (const TomlNode* turn = key.find("rotation")) k.pose.rotation = read_turn(*turn);
            if (!pin.script.keyframes.empty() && k.time <= pin.script.keyframes.back().time)
                reader.mistakes.add(key.at("time").place, "keyframes must follow each other in time",
                                    "sort them by 'time'");
            pin.script.keyframes.push_back(k);
        }
        if (!pin.script.keyframes.empty() && (table.find("velocity") || table.find("spin")))
            reader.mistakes.add(table.place, "a pin moves by keyframes or by velocity and spin",
                                "remove one of them");
        elastic.pins.push_back(std::move(pin));
    }
}

void read_loads(SceneReader& reader, const TomlNode& entry, const Solid& solid, ElasticProperties& elastic) {
    for (const TomlNode& table : entry.entries("load")) {
        const Box region = read_region(reader, table.at("box"));
        ElasticLoad load;
        const std::vector<int> inside = nodes_in(*elastic.mesh, solid, region);
        if (const TomlNode* force = table.find("force")) {
            load.nodes = inside;
            load.force = three_numbers(*force);
        }
        load.pressure = table.number_or("pressure", 0);
        std::vector<char> in(elastic.mesh->rest.nodes.size(), 0);
        for (const int n : inside) in[n] = 1;
        for (const Int3 t : elastic.mesh->triangles)
            if (table.find("pressure") && in[t.x] && in[t.y] && in[t.z]) load.triangles.push_back(t);
        if (load.nodes.empty() && load.triangles.empty())
            reader.mistakes.add(table.at("box").place,
                                fmt::format("nothing of \"{}\" lies in this box", solid.name),
                                "its coordinates are the scene's, at the start");
        elastic.loads.push_back(std::move(load));
    }
}

}  // namespace

std::vector<KeyRule> elastic_keys() {
    return {{.name = "elastic",
             .types = a_table,
             .meaning = "how an elastic solid is made and reckoned, where the defaults do not suit",
             .inner = "elastic"},
            {.name = "pin", .types = tables, .meaning = "where an elastic solid is held", .inner = "pin"},
            {.name = "load", .types = tables, .meaning = "forces on an elastic solid", .inner = "load"}};
}

std::vector<TableRule> elastic_tables() {
    return {
        {"elastic",
         "elastic = { ... }",
         "How a solid with `motion = \"elastic\"` is made. It needs only its `density` and `stiffness`.",
         {{.name = "model",
           .types = a_text,
           .fallback = "\"corotational\"",
           .meaning =
               "linear: small turns only, grows when it turns; corotational: any turn, moderate strain; "
               "neo-hookean: rubber under large strain; st-venant-kirchhoff: for comparisons",
           .choices = {"linear", "corotational", "neo-hookean", "st-venant-kirchhoff"}},
          {.name = "poisson",
           .types = a_number,
           .fallback = "0.3",
           .meaning = "Poisson's ratio: how much thinner it gets when pulled, 0.5 for what keeps its volume",
           .low = 0,
           .high = 0.495},
          {.name = "mass_damping",
           .types = a_number,
           .unit = "1/s",
           .fallback = "0.0",
           .meaning = "slows all motion",
           .low = 0},
          {.name = "stiffness_damping",
           .types = a_number,
           .unit = "s",
           .fallback = "0.0",
           .meaning = "slows deformation: a mode of period T loses 2 pi^2 / T of this in a period",
           .low = 0},
          {.name = "integrator",
           .types = a_text,
           .fallback = "\"backward-euler\"",
           .meaning =
               "backward-euler: calms down with large steps; midpoint: of second order, keeps momentum and "
               "nearly all energy",
           .choices = {"backward-euler", "midpoint"}},
          {.name = "newton_steps",
           .types = an_integer,
           .fallback = "10",
           .meaning = "at most, in a time step; 1 solves one linear system, as Zarifi 2017 does",
           .low = 1,
           .high = 1000},
          {.name = "newton_tolerance",
           .types = a_number,
           .fallback = "0.001",
           .meaning = "correction that ends them, as a share of a tetrahedron's edge",
           .low = 0,
           .above_low = true},
          {.name = "spacing",
           .types = a_number,
           .unit = "m",
           .meaning = "size of its tetrahedra; otherwise a cell, or a third of its thinnest side",
           .low = 0,
           .above_low = true},
          {.name = "cells",
           .types = a_list,
           .meaning = "of a box: cubes along its edges, of six tetrahedra each",
           .low = 1,
           .high = 1000,
           .min_count = 2},
          {.name = "tets",
           .types = a_text,
           .meaning =
               "a file with its tetrahedra: Gmsh .msh, .vtk, or TetGen .node beside .ele; `shape` is then "
               "what pictures show"},
          {.name = "scale",
           .types = a_number,
           .fallback = "1.0",
           .meaning = "metres per unit of that file",
           .low = 0,
           .above_low = true},
          {.name = "squeeze",
           .types = a_list,
           .meaning = "its size at the start along its own axes, as a share of that at rest",
           .low = -10,
           .high = 10},
          {.name = "skin",
           .types = a_text,
           .meaning = "the surface that pictures and files show: the shape's own, carried by the tetrahedra, "
                      "or that of the tetrahedra; otherwise the finer of the two",
           .choices = {"shape", "tetrahedra"}}}},
        {"pin",
         "[[solid.pin]]",
         "Nodes of an elastic solid that are held, or moved as told.",
         {{.name = "box",
           .types = a_table,
           .unit = "m",
           .meaning = "which ones: in the scene's coordinates, at the start",
           .inner = "box",
           .required = true},
          {.name = "axes",
           .types = words,
           .meaning = "along which they are held; otherwise all",
           .choices = {"x", "y", "z"}},
          {.name = "release",
           .types = a_number,
           .unit = "s",
           .meaning = "they are free from then on",
           .low = 0},
          {.name = "velocity", .types = a_list, .unit = "m/s", .meaning = "of the box, constant"},
          {.name = "spin",
           .types = a_list,
           .unit = "rad/s",
           .meaning = "about the middle of the box, constant"},
          {.name = "smooth",
           .types = a_boolean,
           .fallback = "false",
           .meaning = "ease in and out between keyframes"},
          {.name = "keyframe",
           .types = tables,
           .meaning = "where the box is, and when",
           .inner = "pin keyframe"}}},
        {"pin keyframe",
         "[[solid.pin.keyframe]]",
         "Where a pin's box is at a time.",
         {{.name = "time", .types = a_number, .unit = "s", .meaning = "when", .required = true},
          {.name = "move", .types = a_list, .unit = "m", .meaning = "from where it starts", .required = true},
          {.name = "rotation", .types = a_table, .meaning = "about its middle", .inner = "rotation"}}},
        {"load",
         "[[solid.load]]",
         "A force on an elastic solid.",
         {{.name = "box",
           .types = a_table,
           .unit = "m",
           .meaning = "where it acts: in the scene's coordinates, at the start",
           .inner = "box",
           .required = true},
          {.name = "force", .types = a_list, .unit = "N", .meaning = "in all, on the nodes in the box"},
          {.name = "pressure",
           .types = a_number,
           .unit = "Pa",
           .meaning = "on the surface in the box, against its normals as it deforms"}},
         {"force", "pressure"}}};
}

void read_elastic(SceneReader& reader, const TomlNode& entry, Solid& solid) {
    Mistakes& mistakes = reader.mistakes;
    if (solid.motion != Motion::elastic) {
        for (const std::string_view key : {"elastic", "pin", "load"})
            if (const TomlNode* node = entry.find(key))
                mistakes.add(node->place, fmt::format("only an elastic solid has '{}'", key),
                             "write motion = \"elastic\", or remove it");
        return;
    }
    for (const char* key : {"density", "stiffness"})
        if (!entry.find(key))
            mistakes.add(entry.place, fmt::format("an elastic solid needs its {}", key),
                         fmt::format("write for example {} = {}", key, key[0] == 'd' ? "1000" : "1e5"));
    if (!entry.find("density") || !entry.find("stiffness") || !solid.shape.distance) return;
    TetMesh tets = read_tets(reader, entry, solid);
    if (tets.tets.empty()) return;
    if (const std::string defect = tet_defect(tets); !defect.empty()) {
        const TomlNode* file = find_in(entry, "tets");
        mistakes.add(file ? file->place : entry.place,
                     fmt::format("the mesh of tetrahedra of \"{}\" {}", solid.name, defect),
                     file ? "repair it in the program that made it"
                          : "lower 'spacing' in elastic = { ... }: parts of the shape are thinner than it");
        return;
    }
    // A shape with larger triangles than the tetrahedra's could not show how these bend.
    const TomlNode* skin = find_in(entry, "skin");
    const bool own =
        skin ? skin->text == "shape" : solid.shape.mesh.triangles.size() > surface_of(tets).size();
    ElasticProperties& elastic = solid.elastic;
    elastic.mesh = std::make_shared<ElasticMesh>(
        make_elastic_mesh(std::move(tets), read_material(entry), own ? solid.shape.mesh : TriangleMesh{}));
    solid.shape.mesh = elastic.mesh->skin;  // the one that deforms
    if (const TomlNode* velocity = entry.find("velocity")) elastic.velocity = reader.velocity(*velocity);
    if (const TomlNode* spin = entry.find("spin")) elastic.spin = three_numbers(*spin);
    if (const TomlNode* squeeze = find_in(entry, "squeeze")) elastic.squeeze = three_numbers(*squeeze);
    if (const TomlNode* rule = find_in(entry, "integrator"); rule && rule->text == "midpoint")
        elastic.integrator = ElasticIntegrator::midpoint;
    if (const TomlNode* steps = find_in(entry, "newton_steps")) elastic.newton_steps = int(steps->integer);
    if (const TomlNode* tolerance = find_in(entry, "newton_tolerance"))
        elastic.newton_tolerance = tolerance->number;
    if (reader.flat) elastic.pins.push_back(hold_flat(*elastic.mesh));
    read_pins(reader, entry, solid, elastic);
    read_loads(reader, entry, solid, elastic);
}

}  // namespace flotsam

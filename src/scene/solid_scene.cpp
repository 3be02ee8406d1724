#include "scene/solid_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <span>

#include "core/check.h"
#include "geometry/mesh_sequence.h"
#include "scene/elastic_scene.h"
#include "scene/rigid_scene.h"
#include "scene/spring_scene.h"
#include "scene/suggest.h"
#include "world/mirrors.h"

namespace flotsam {

namespace {

// The files of an animated mesh, numbered without a gap; none when a mistake was found.
std::vector<std::filesystem::path> sequence_files(SceneReader& reader, const TomlNode& node,
                                                  std::int64_t first) {
    const std::size_t hash = node.text.find('#');
    const std::size_t end = node.text.find_first_not_of('#', std::min(hash, node.text.size()));
    if (hash == std::string::npos ||
        (end != std::string::npos && node.text.find('#', end) < std::string::npos) ||
        node.text.find('\0') != std::string::npos) {
        reader.mistakes.add(node.place, "'files' needs one row of # where the number stands",
                            "write for example files = \"fin_####.obj\"");
        return {};
    }
    const std::size_t digits = std::min(end, node.text.size()) - hash;
    const auto name = [&](std::int64_t number) {
        return fmt::format("{}{:0{}}{}", node.text.substr(0, hash), number, digits,
                           end == std::string::npos ? "" : node.text.substr(end));
    };
    const auto exists = [&](std::int64_t number) {
        std::error_code error;
        return std::filesystem::is_regular_file(reader.folder / name(number), error);
    };
    std::vector<std::filesystem::path> files;
    for (std::int64_t number = first; exists(number); ++number)
        files.push_back(reader.hashed_mesh_file(reader.folder / name(number)));
    const std::int64_t missing = first + static_cast<std::int64_t>(files.size());
    if (exists(missing + 1))
        reader.mistakes.add(node.place,
                            fmt::format("'{}' is missing, but '{}' exists", name(missing), name(missing + 1)),
                            "number the files without a gap, or begin with another 'first'");
    else if (files.size() < 2)
        reader.mistakes.add(
            node.place, fmt::format("an animation needs two files at least; there is no '{}'", name(missing)),
            "paths are relative to the scene file; 'first' is the number of the first file");
    else
        return files;
    return {};
}

// Makes an animated mesh the shape of a solid.
void read_sequence(SceneReader& reader, const TomlNode& table, Solid& solid) {
    const TomlNode& node = table.at("files");
    if (solid.motion != Motion::scripted)
        reader.mistakes.add(node.place, "only a scripted solid can have an animated mesh",
                            "write motion = \"scripted\"");
    const std::vector<std::filesystem::path> files = sequence_files(reader, node, table.at("first").integer);
    if (files.empty()) return;
    try {
        auto sequence = std::make_shared<MeshSequence>(read_mesh_sequence(files, table.at("scale").number));
        sequence->rate = table.at("rate").number;
        sequence->loop = table.at("loop").boolean;
        solid.sequence = sequence;
        solid.shape = {shape_at(solid, 0).shape, body_mesh_at(solid, 0)};
    } catch (const UserError& error) {
        reader.add_nested(node.place, error.what());
    }
}

// Of a body that goes right through a slab [m].
double slab_mesh_depth(const SceneReader& reader) { return 3 * reader.domain.h; }

std::optional<Slab> slab(const SceneReader& reader) {
    return reader.flat ? std::optional(Slab{reader.domain.h, slab_mesh_depth(reader)}) : std::nullopt;
}

// In two dimensions a solid is the section of its shape. An animated mesh has none: outlines come and go.
constexpr std::string_view flat_shapes[] = {"box",   "sphere", "capsule", "cylinder", "cone",
                                            "torus", "gear",   "duck",    "boat",     "mesh"};

// What a kind of solid adds to [[solid]]. A new one adds a line below.
struct SceneKind {
    Motion motion;
    std::vector<KeyRule> (*keys)();
    std::vector<TableRule> (*tables)();  // of what is in those
    void (*read)(SceneReader&, const TomlNode& entry, Solid&);
    // What is left to do when the whole scene has been read; may be null.
    void (*finish)(const TomlNode& entry, Scenario&, Solid&, SceneReader&);
    std::span<const std::string_view> flat_shapes;  // that it can have in two dimensions
};
constexpr SceneKind scene_kinds[] = {
    {Motion::spring, spring_keys, spring_tables, read_springs, fit_springs, {}},
    {Motion::elastic, elastic_keys, elastic_tables, read_elastic, nullptr, {flat_shapes, 1}}};

std::vector<std::string_view> words_of_motions() {
    std::vector<std::string_view> words;
    for (const auto& [word, motion] : motion_words) words.push_back(word);
    return words;
}

Motion motion_of(const TomlNode& entry) {
    Motion motion = Motion::fixed;
    for (const auto& [word, value] : motion_words)
        if (entry.at("motion").text == word) motion = value;
    return motion;
}

// The number of teeth of a gear, or 0.
int read_teeth(SceneReader& reader, const TomlNode& gear) {
    const double teeth = gear.items[2].number;
    if (teeth == std::round(teeth) && teeth >= 4 && teeth <= 1000) return int(teeth);
    reader.mistakes.add(gear.items[2].place, fmt::format("a gear cannot have {} teeth", teeth),
                        "choose a whole number from 4 to 1000");
    return 0;
}

// The shape of a solid in three dimensions, in body coordinates; nothing when a mistake was found.
std::optional<SolidShape> read_solid_shape(SceneReader& reader, const TomlNode& shape) {
    const double spacing = 0.5 * reader.domain.h;
    const auto pair = [](const TomlNode& list) {
        return std::pair{list.items[0].number, list.items[1].number};
    };
    if (const TomlNode* box = shape.find("box")) return solid_box(reader.vector(*box, 0));
    if (const TomlNode* sphere = shape.find("sphere")) return solid_sphere(sphere->number, spacing);
    if (const TomlNode* gear = shape.find("gear")) {
        const int teeth = read_teeth(reader, *gear);
        if (teeth == 0) return {};
        return solid_gear(gear->items[0].number, gear->items[1].number, teeth);
    }
    if (const TomlNode* capsule = shape.find("capsule")) {
        const auto [r, l] = pair(*capsule);
        return solid_capsule(r, l, spacing);
    }
    if (const TomlNode* cylinder = shape.find("cylinder")) {
        const auto [r, l] = pair(*cylinder);
        return solid_cylinder(r, l, spacing);
    }
    if (const TomlNode* cone = shape.find("cone")) {
        const auto [r, l] = pair(*cone);
        return solid_cone(r, l, spacing);
    }
    if (const TomlNode* torus = shape.find("torus")) {
        const auto [ring, tube] = pair(*torus);
        if (tube < ring) return solid_torus(ring, tube, spacing);
        reader.mistakes.add(torus->place, "the tube of the torus is thicker than its ring",
                            "the first radius must be the larger one");
        return {};
    }
    if (const TomlNode* duck = shape.find("duck")) return solid_duck(duck->number, spacing);
    if (const TomlNode* boat = shape.find("boat")) {
        const double length = boat->items[0].number, height = boat->items[1].number,
                     width = boat->items[2].number, wall = boat->items[3].number;
        if (wall < 0.4 * std::min({0.5 * length, height, 0.5 * width}))
            return solid_boat(length, height, width, wall, spacing);
        reader.mistakes.add(boat->items[3].place, "the shell fills the boat",
                            "make the fourth number smaller");
        return {};
    }
    const TomlNode& mesh = shape.at("mesh");
    const std::filesystem::path file = reader.mesh_file(mesh.at("file"));
    if (file.empty()) return {};
    try {
        return solid_mesh(file.string(), mesh.at("scale").number, spacing);
    } catch (const UserError& error) {
        reader.add_nested(mesh.at("file").place, error.what());
        return {};
    }
}

// The section of a shape with the plane of a slab.
std::optional<SolidShape> read_section(SceneReader& reader, const TomlNode& shape) {
    if (shape.find("mesh_sequence")) {
        reader.mistakes.add(shape.place, "an animated mesh has no section in two dimensions",
                            "take one 'mesh', or " + reader.make_it_3d());
        return {};
    }
    const std::optional<SolidShape> whole = read_solid_shape(reader, shape);
    if (!whole) return {};
    const TomlNode* const mesh = shape.find("mesh");
    const TomlNode* const given = mesh ? mesh->find("section") : nullptr;
    const double height = given ? given->number : 0;
    const Box box = bounds(whole->mesh);
    if (height <= box.low.z || height >= box.high.z) {
        reader.mistakes.add(
            given ? given->place : shape.place,
            fmt::format("the plane z = {:g} m of this mesh, which 2D is about, does not cut it", height),
            fmt::format("it reaches from z = {:g} to {:g} m: give a 'section' in between", box.low.z,
                        box.high.z));
        return {};
    }
    try {
        return solid_section(whole->mesh, height, slab_mesh_depth(reader));
    } catch (const UserError& error) {
        reader.mistakes.add(given ? given->place : shape.place, error.what(),
                            "give another 'section', or mend the mesh");
        return {};
    }
}

// The shape of a solid in body coordinates; nothing when a mistake was found.
std::optional<SolidShape> read_shape(SceneReader& reader, const TomlNode& shape) {
    if (!reader.flat) {
        if (const TomlNode* mesh = shape.find("mesh"); mesh && mesh->find("section"))
            reader.mistakes.add(mesh->at("section").place, "a mesh is cut in two dimensions only",
                                "remove 'section', or set scene.dimensions = 2");
        return read_solid_shape(reader, shape);
    }
    const double depth = slab_mesh_depth(reader);
    if (const TomlNode* box = shape.find("box")) {
        const Vec3 edges = reader.vector(*box, depth);
        return solid_rectangle(edges.x, edges.y, depth);
    }
    if (const TomlNode* sphere = shape.find("sphere"))
        return solid_disc(sphere->number, depth, 0.5 * reader.domain.h);
    if (const TomlNode* gear = shape.find("gear")) {  // it lies in the plane, as it turns there
        const int teeth = read_teeth(reader, *gear);
        return teeth > 0 ? std::optional(solid_flat_gear(gear->items[0].number, depth, teeth)) : std::nullopt;
    }
    return read_section(reader, shape);
}

Rotation read_rotation(SceneReader& reader, const TomlNode& table) {
    const TomlNode& axis = table.at("axis");
    const Vec3 direction = reader.turn(axis);
    if (direction == Vec3{}) {
        reader.mistakes.add(axis.place, "the axis of a rotation has no direction",
                            "write for example axis = [0, 0, 1]");
        return {};
    }
    return Rotation::about(direction, table.at("degrees").number * std::numbers::pi / 180);
}

Script read_script(SceneReader& reader, const TomlNode& entry, Motion motion) {
    Script script;
    const TomlNode* velocity = entry.find("velocity");
    const TomlNode* spin = entry.find("spin");
    const std::vector<TomlNode>& keyframes = entry.entries("keyframe");
    const Place place = entry.at("motion").place;
    if (motion != Motion::scripted) {
        const bool starts_moving = moves_by_itself(motion) && (velocity || spin);
        if (!keyframes.empty() || ((velocity || spin) && !starts_moving))
            reader.mistakes.add(place, fmt::format("a {} solid follows no script", entry.at("motion").text),
                                "write motion = \"scripted\", or remove velocity, spin and keyframes");
        return script;
    }
    if (velocity) script.velocity = reader.velocity(*velocity);
    if (spin) script.spin = reader.turn(*spin);
    script.smooth = entry.at("smooth").boolean;
    if (!keyframes.empty() && (velocity || spin))
        reader.mistakes.add(place, "a script is either keyframes or velocity and spin", "remove one of them");
    for (const TomlNode& key : keyframes) {
        Keyframe k{key.at("time").number, {reader.position(key.at("position")), {}}};
        if (const TomlNode* turn = key.find("rotation")) k.pose.rotation = read_rotation(reader, *turn);
        if (!script.keyframes.empty() && k.time <= script.keyframes.back().time)
            reader.mistakes.add(key.at("time").place, "keyframes must follow each other in time",
                                "sort them by 'time'");
        script.keyframes.push_back(k);
    }
    return script;
}

// The corners of a round shape's mesh stand out by less than this, so that it has the right volume [m].
double overhang(const Domain& domain) { return 0.05 * domain.h; }

// How far from a mirror its plane of symmetry may lie [m]. Places are often written with six digits.
double mirror_slack(const Domain& domain) { return 0.1 * domain.h; }

// A rigid solid that mirrors cut must be its own image in each, and move like it.
void check_mirrors(SceneReader& reader, const TomlNode& entry, Solid& solid) {
    const Domain& domain = reader.domain;
    solid.rigid.mirrored = mirrors_through(solid, domain, overhang(domain));
    for (int side = 0; side < 6; ++side) {
        if (!solid.rigid.mirrored[side]) continue;
        const int axis = side / 2;
        const double plane = side % 2 ? domain.size()[axis] : 0;
        const PlacedShape shape = shape_at(solid, 0);
        double off = std::abs(solid.start.to_world(solid.rigid.mass.center)[axis] - plane);
        for (Vec3 v : mesh_at(solid, 0).vertices) {
            const double here = shape.distance(v);
            v[axis] = 2 * plane - v[axis];
            off = std::max(off, std::abs(shape.distance(v) - here));
        }
        if (off > mirror_slack(domain))
            reader.mistakes.add(
                entry.at("position").place,
                fmt::format("the solid \"{}\" is cut by a mirror that is not its plane of symmetry",
                            solid.name),
                fmt::format("its plane of symmetry must lie at {} = {:g} m", "xyz"[axis], plane));
        Vec3 v = solid.rigid.velocity, spin = solid.rigid.spin;
        v[axis] = 0;
        for (int turn = 0; turn < 3; ++turn)
            if (turn != axis) spin[turn] = 0;
        if (v != solid.rigid.velocity || spin != solid.rigid.spin)
            reader.mistakes.add(
                entry.place,
                fmt::format("the solid \"{}\" starts across the mirror that cuts it", solid.name),
                fmt::format("it cannot move along {0}, and turns about {0} only", "xyz"[axis]));
    }
}

void check_solid_place(SceneReader& reader, const TomlNode& entry, const std::string& name, Motion motion,
                       const Box& box) {
    const Vec3 size = reader.domain.size();
    const Box inside{{}, size};
    const std::string advice =
        fmt::format("the domain reaches from the origin to [{:g}, {:g}, {:g}]", size.x, size.y, size.z);
    const Place place = entry.at("position").place;
    if (!overlap(box, inside)) {
        reader.mistakes.add(place, fmt::format("the solid \"{}\" lies outside the domain", name), advice);
        return;
    }
    // What is fixed may stick out, like a post set into the floor; what moves freely may not.
    if (motion == Motion::fixed || motion == Motion::scripted) return;
    const double slack = overhang(reader.domain);
    const bool rigid = motion == Motion::rigid;  // may be cut by mirrors
    for (int axis = 0; axis < (reader.flat ? 2 : 3); ++axis)
        if ((box.low[axis] < -slack && !(rigid && reader.domain.mirror(2 * axis))) ||
            (box.high[axis] > size[axis] + slack && !(rigid && reader.domain.mirror(2 * axis + 1)))) {
            reader.mistakes.add(place, fmt::format("the solid \"{}\" reaches out of the domain", name),
                                advice);
            return;
        }
}

// What pulls or drives in a mirror does so once for both halves of what the mirror cuts; anywhere else it has
// its image beyond the mirror.
void share_with_image(Joint& joint, const Scenario& scenario) {
    const Domain& domain = scenario.domain;
    for (int side = 0; side < 6; ++side) {
        const double plane = side % 2 ? domain.size()[side / 2] : 0;
        const auto in_mirror = [&](int solid, const Pose& frame) {
            const Pose pose = solid == the_world ? Pose{} : pose_at(scenario.solids[solid], 0);
            const bool cut = solid == the_world || scenario.solids[solid].motion != Motion::rigid ||
                             scenario.solids[solid].rigid.mirrored[side];
            const double off = std::abs(pose.to_world(frame.position)[side / 2] - plane);
            return cut && off <= mirror_slack(domain);
        };
        if (!domain.mirror(side) || !in_mirror(joint.a, joint.frame_a) || !in_mirror(joint.b, joint.frame_b))
            continue;
        joint.stiffness *= 0.5, joint.damping *= 0.5, joint.motor_torque *= 0.5;
    }
}

}  // namespace

std::vector<TableRule> solid_tables() {
    std::vector<TableRule> rules{
        {"solid",
         "[[solid]]",
         "A solid body. Cloth is admitted by no method yet.",
         {{.name = "name", .types = a_text, .meaning = "letters, digits, - and _", .required = true},
          {.name = "motion",
           .types = a_text,
           .fallback = "\"static\"",
           .meaning = "how it moves",
           .choices = words_of_motions()},
          {.name = "shape",
           .types = a_table,
           .unit = "m",
           .meaning = "its shape, centred on `position`",
           .inner = "shape",
           .required = true},
          {.name = "position",
           .types = a_list,
           .unit = "m",
           .meaning = "of its centre (a mesh: of its origin)",
           .min_count = 2,
           .required = true},
          {.name = "rotation", .types = a_table, .meaning = "turns it about its centre", .inner = "rotation"},
          {.name = "density",
           .types = a_number,
           .unit = "kg/m^3",
           .meaning = "mass per volume; what moves by itself needs this or `mass`",
           .low = 0,
           .high = 1e9,
           .above_low = true},
          {.name = "mass",
           .types = a_number,
           .unit = "kg",
           .meaning = "of a rigid solid, instead of `density`; in 2D of the part within the slab",
           .low = 0,
           .high = 1e15,
           .above_low = true},
          {.name = "hollow",
           .types = a_number,
           .unit = "m",
           .meaning = "a rigid solid is a wall of this thickness around nothing; closed, no liquid enters",
           .low = 0,
           .above_low = true},
          {.name = "inertia",
           .types = a_number | a_list,
           .unit = "kg m^2",
           .meaning =
               "of a rigid solid about its centre of mass, along its own axes, without its ballast: three "
               "principal moments, or xx, yy, zz, xy, xz, yz of the tensor; in 2D one number, about z, of "
               "the part within the slab; otherwise that of its shape",
           .min_count = 3,
           .max_count = 6},
          {.name = "ballast",
           .types = a_table | tables,
           .meaning =
               "a lump of mass inside a rigid solid, beside its `density` or `mass`; or any number of them",
           .inner = "ballast"},
          {.name = "release",
           .types = a_number,
           .unit = "s",
           .fallback = "0.0",
           .meaning = "a rigid solid is held where it is until this time",
           .low = 0},
          {.name = "coupling",
           .types = a_text,
           .fallback = "\"two-way\"",
           .meaning =
               "a rigid solid moves the liquid and is moved by it (two-way), or only moves it (one-way)",
           .choices = {"two-way", "one-way"}},
          {.name = "velocity",
           .types = a_list,
           .unit = "m/s",
           .meaning = "of a scripted solid: constant; of another's centre of mass: at the start",
           .min_count = 2},
          {.name = "spin",
           .types = a_list,
           .unit = "rad/s",
           .meaning = "of a scripted solid: constant angular velocity about its position; of another: at "
                      "the start",
           .min_count = 3,
           .max_count = 3},
          {.name = "friction",
           .types = a_number,
           .fallback = "0.5",
           .meaning = "Coulomb's coefficient where it touches solids; of two: the root of their product; a "
                      "wall has that of whatever touches it",
           .low = 0,
           .high = 100},
          {.name = "restitution",
           .types = a_number,
           .fallback = "0.2",
           .meaning = "rebound over approach speed; of two solids: the larger one",
           .low = 0,
           .high = 1},
          {.name = "lock",
           .types = words,
           .meaning = "motions that a rigid solid is denied, along and about the axes",
           .choices = {"x", "y", "z", "rotate_x", "rotate_y", "rotate_z"}},
          {.name = "smooth",
           .types = a_boolean,
           .fallback = "false",
           .meaning = "ease in and out between keyframes"},
          {.name = "keyframe",
           .types = tables,
           .meaning = "where a scripted solid is, and when",
           .inner = "keyframe"},
          {.name = "slip",
           .types = a_number,
           .fallback = "1.0",
           .meaning = "as for a wall",
           .low = 0,
           .high = 1},
          {.name = "liquid_restitution",
           .types = a_number,
           .fallback = "0.0",
           .meaning = "rebound over approach speed of liquid; only SPH knows it",
           .low = 0,
           .high = 1},
          {.name = "color",
           .types = a_list,
           .meaning = "in pictures: red, green and blue; otherwise one of a few in turn",
           .low = 0,
           .high = 1}}},
        {"ballast",
         "ballast = { ... }",
         "A lump of mass inside a rigid solid: it moves its centre of mass and counts in its inertia. "
         "Several "
         "are written as `[[solid.ballast]]`.",
         {{.name = "mass",
           .types = a_number,
           .unit = "kg",
           .meaning = "of the lump",
           .low = 0,
           .high = 1e15,
           .above_low = true,
           .required = true},
          {.name = "position",
           .types = a_list,
           .unit = "m",
           .meaning = "in the solid's own axes, from its `position`",
           .min_count = 2,
           .required = true},
          {.name = "shape",
           .types = a_table,
           .unit = "m",
           .meaning = "that it fills evenly, along the solid's axes; otherwise it is a point",
           .inner = "shape"}}},
        {"keyframe",
         "[[solid.keyframe]]",
         "Where a scripted solid is at a time. Before the first and after the last it stands still.",
         {{.name = "time", .types = a_number, .unit = "s", .meaning = "when", .required = true},
          {.name = "position",
           .types = a_list,
           .unit = "m",
           .meaning = "of its centre (a mesh: of its origin)",
           .min_count = 2,
           .required = true},
          {.name = "rotation", .types = a_table, .meaning = "from its own axes", .inner = "rotation"}}},
        {"shape",
         "shape = { ... }",
         "The shape of a solid. In 2D it is cut by the plane z = 0 of its own coordinates: a sphere is a "
         "disc, a "
         "cylinder a rectangle, a torus two discs; but a gear lies in the plane. Elastic solids are only "
         "`box` "
         "there, and `mesh_sequence` has no section.",
         {{.name = "box",
           .types = a_list,
           .unit = "m",
           .meaning = "edge lengths",
           .low = 0,
           .above_low = true,
           .min_count = 2},
          {.name = "sphere",
           .types = a_number,
           .unit = "m",
           .meaning = "radius",
           .low = 0,
           .above_low = true},
          {.name = "capsule",
           .types = a_list,
           .unit = "m",
           .meaning = "radius and length between the caps' centres, along y",
           .low = 0,
           .above_low = true,
           .min_count = 2,
           .max_count = 2},
          {.name = "cylinder",
           .types = a_list,
           .unit = "m",
           .meaning = "radius and length, along y",
           .low = 0,
           .above_low = true,
           .min_count = 2,
           .max_count = 2},
          {.name = "cone",
           .types = a_list,
           .unit = "m",
           .meaning = "radius and height, tip up",
           .low = 0,
           .above_low = true,
           .min_count = 2,
           .max_count = 2},
          {.name = "torus",
           .types = a_list,
           .unit = "m",
           .meaning = "radius of the ring and of its tube, about y",
           .low = 0,
           .above_low = true,
           .min_count = 2,
           .max_count = 2},
          {.name = "gear",
           .types = a_list,
           .meaning = "radius [m], thickness along y [m] and number of teeth (at least 4)",
           .low = 0,
           .above_low = true},
          {.name = "duck",
           .types = a_number,
           .unit = "m",
           .meaning = "length of a rubber duck that looks along x",
           .low = 0,
           .above_low = true},
          {.name = "boat",
           .types = a_list,
           .unit = "m",
           .meaning =
               "length, height and width of an open boat with its bow along x, and its shell's thickness",
           .low = 0,
           .above_low = true,
           .min_count = 4,
           .max_count = 4},
          {.name = "mesh",
           .types = a_table,
           .unit = "m",
           .meaning = "a triangle mesh",
           .inner = "solid mesh"},
          {.name = "mesh_sequence",
           .types = a_table,
           .unit = "m",
           .meaning = "an animated triangle mesh; the solid must be scripted",
           .inner = "mesh sequence"}},
         {"box", "sphere", "capsule", "cylinder", "cone", "torus", "gear", "duck", "boat", "mesh",
          "mesh_sequence"}},
        {"solid mesh",
         "shape.mesh = { ... }",
         "A triangle mesh as the shape of a solid.",
         {{.name = "file",
           .types = a_text,
           .meaning = ".obj, .ply or .stl; relative to the scene file",
           .required = true},
          {.name = "scale",
           .types = a_number,
           .fallback = "1.0",
           .meaning = "metres per unit of the file",
           .low = 0,
           .above_low = true},
          {.name = "section",
           .types = a_number,
           .unit = "m",
           .meaning = "in 2D: the z, from its origin, at which it is cut; otherwise 0"}}},
        {"mesh sequence",
         "shape.mesh_sequence = { ... }",
         "An animated mesh: files with the same vertices and triangles, of which only the places change. "
         "Vertices go straight from file to file, beside what the solid's script does.",
         {{.name = "files",
           .types = a_text,
           .meaning =
               "their name with # for each digit of their number: \"fin_####.obj\" is fin_0001.obj and "
               "all that follow without a gap; relative to the scene file",
           .required = true},
          {.name = "first",
           .types = an_integer,
           .fallback = "1",
           .meaning = "number of the file at time 0",
           .low = 0,
           .high = 1e9},
          {.name = "rate",
           .types = a_number,
           .unit = "1/s",
           .fallback = "24.0",
           .meaning = "files per second",
           .low = 0,
           .high = 1e6,
           .above_low = true},
          {.name = "loop",
           .types = a_boolean,
           .fallback = "false",
           .meaning = "go on from the last file to the first; otherwise the last one stays"},
          {.name = "scale",
           .types = a_number,
           .fallback = "1.0",
           .meaning = "metres per unit of the files",
           .low = 0,
           .above_low = true}}},
        {"rotation",
         "rotation = { ... }",
         "A turn.",
         {{.name = "axis",
           .types = a_list,
           .meaning = "direction of the axis; any length but zero",
           .required = true},
          {.name = "degrees",
           .types = a_number,
           .unit = "deg",
           .meaning = "counter-clockwise, seen against the axis",
           .required = true}}}};
    for (const SceneKind& kind : scene_kinds)
        for (const KeyRule& key : kind.keys()) rules.front().keys.push_back(key);
    for (const SceneKind& kind : scene_kinds)
        for (TableRule& rule : kind.tables()) rules.push_back(std::move(rule));
    return rules;
}

void read_solids(SceneReader& reader, Scenario& scenario) {
    std::set<std::string> names;
    for (const TomlNode& entry : reader.root.entries("solid")) {
        const TomlNode& name = entry.at("name");
        reader.check_name(name, names, "solid");
        Solid solid;
        solid.name = name.text;
        solid.motion = motion_of(entry);
        solid.slip = entry.at("slip").number;
        solid.liquid_restitution = entry.at("liquid_restitution").number;
        if (const TomlNode* color = entry.find("color")) solid.color = three_numbers(*color);
        solid.start.position = reader.position(entry.at("position"));
        if (const TomlNode* turn = entry.find("rotation"))
            solid.start.rotation = read_rotation(reader, *turn);
        solid.script = read_script(reader, entry, solid.motion);
        const TomlNode& shape = entry.at("shape");
        const TomlNode* sequence = shape.find("mesh_sequence");
        if (sequence && !reader.flat)
            read_sequence(reader, *sequence, solid);
        else
            solid.shape = read_shape(reader, shape).value_or(SolidShape{});
        if (solid.shape.distance)
            check_solid_place(reader, entry, name.text, solid.motion, bounds(mesh_at(solid, 0)));
        solid.rigid = read_rigid(
            entry, solid.motion, solid.shape.distance ? &solid.shape : nullptr, slab(reader),
            [&](const TomlNode& inner) { return read_shape(reader, inner); }, reader.mistakes);
        if (solid.motion == Motion::rigid && solid.shape.distance) check_mirrors(reader, entry, solid);
        for (const SceneKind& kind : scene_kinds) kind.read(reader, entry, solid);
        scenario.solids.push_back(solid);
    }
    const std::vector<TomlNode>& tables_of_solids = reader.root.entries("solid");
    for (std::size_t n = 0; n < tables_of_solids.size(); ++n)
        for (const SceneKind& kind : scene_kinds)
            if (kind.finish) kind.finish(tables_of_solids[n], scenario, scenario.solids[n], reader);
    scenario.joints = read_joints(reader.root, scenario.solids, slab(reader), reader.mistakes);
    for (Joint& joint : scenario.joints) share_with_image(joint, scenario);
}

bool fits_slab(const TomlNode& entry) {
    std::span<const std::string_view> shapes = flat_shapes;
    for (const SceneKind& kind : scene_kinds)
        if (kind.motion == motion_of(entry)) shapes = kind.flat_shapes;
    return std::any_of(shapes.begin(), shapes.end(),
                       [&](std::string_view shape) { return entry.at("shape").find(shape) != nullptr; });
}

std::optional<int> solid_named(const TomlNode& name, const std::vector<Solid>& solids, Mistakes& mistakes) {
    std::vector<std::string_view> known;
    known.reserve(solids.size());
    for (const Solid& solid : solids) known.push_back(solid.name);
    const auto at = std::find(known.begin(), known.end(), name.text);
    if (at != known.end()) return int(at - known.begin());
    mistakes.add(name.place, fmt::format("there is no solid called \"{}\"", name.text),
                 known.empty() ? "this scene has no solids: add a [[solid]]" : suggestion(name.text, known));
    return {};
}

}  // namespace flotsam

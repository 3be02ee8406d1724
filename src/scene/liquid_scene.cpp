#include "scene/liquid_scene.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/check.h"
#include "geometry/shape.h"
#include "scene/estimate.h"
#include "scene/solid_scene.h"
#include "solid/rigid/bullet.h"

namespace flotsam {

namespace {

void warn_if_clipped(SceneReader& reader, const Box& bounds, const TomlNode& table, std::string_view what) {
    if (what == "sink") return;                   // a drain set into the floor is no mistake
    const double slack = 0.55 * reader.domain.h;  // rounding to whole cells moves a wall by up to half a cell
    for (int axis = 0; axis < (reader.flat ? 2 : 3); ++axis)
        if (bounds.low[axis] < -slack || bounds.high[axis] > reader.domain.size()[axis] + slack) {
            reader.warn(table.place,
                        fmt::format("this {} reaches out of the domain; that part is ignored", what));
            return;
        }
}

// The shape that a fill, emitter or sink names. In 2D boxes reach through the slab, so that only x and y
// count.
ShapePtr read_region(SceneReader& reader, const TomlNode& table, std::string_view what) {
    const double far = 10 * length(reader.domain.size());
    if (const TomlNode* box = table.find("box")) {
        Vec3 low = reader.position(box->at("min")), high = reader.position(box->at("max"));
        if (reader.flat) low.z = -far, high.z = far;
        for (int axis = 0; axis < 3; ++axis)
            if (!(low[axis] < high[axis])) {
                reader.mistakes.add(box->place,
                                    fmt::format("the box is empty: its {} goes from {} to {}", "xyz"[axis],
                                                low[axis], high[axis]),
                                    "'min' must be below 'max' in every coordinate");
                return nullptr;
            }
        warn_if_clipped(reader, {low, high}, table, what);
        // Liquid against a wall has no surface there: let the box reach through. It also closes the gap
        // that appears where rounding to whole cells has moved the wall away.
        for (int axis = 0; axis < 3; ++axis) {
            const double slack = 1e-9 * reader.asked_size[axis];
            if (low[axis] <= slack) low[axis] = std::min(low[axis], -far);
            if (high[axis] >= reader.asked_size[axis] - slack) high[axis] = std::max(high[axis], far);
        }
        return make_box(low, high);
    }
    if (const TomlNode* level = table.find("level")) {
        const TomlNode* wave = table.find("wave");
        if (!wave) return make_level(level->number);
        return make_level(level->number, wave->at("amplitude").number, wave->at("wavelength").number,
                          wave->at("crest").number);
    }
    ShapePtr shape;
    if (const TomlNode* sphere = table.find("sphere")) {
        shape = make_sphere(reader.position(sphere->at("center")), sphere->at("radius").number);
    } else {
        const TomlNode& mesh = table.at("mesh");
        const std::filesystem::path file = reader.mesh_file(mesh.at("file"));
        if (file.empty()) return nullptr;
        try {
            shape = make_mesh_shape(file.string(), mesh.at("scale").number,
                                    reader.position(mesh.at("position")), reader.domain.h / 2);
        } catch (const UserError& error) {
            reader.add_nested(mesh.at("file").place, error.what());
            return nullptr;
        }
    }
    warn_if_clipped(reader, shape->bounds(), table, what);
    return shape;
}

// Refuses a region without any place for a particle inside the domain.
bool usable(SceneReader& reader, const ShapePtr& shape, const TomlNode& table, std::string_view what) {
    if (!shape) return false;
    const Box bounds = shape->bounds(), inside{{}, reader.domain.size()};
    if (!overlap(bounds, inside)) {
        const Vec3 size = reader.domain.size();
        reader.mistakes.add(
            table.place, fmt::format("this {} lies outside the domain", what),
            fmt::format("the domain reaches from the origin to [{:g}, {:g}, {:g}]", size.x, size.y, size.z));
        return false;
    }
    const double particle = reader.domain.cell_volume() / particles_per_cell(reader.domain);
    if (!(volume_inside(*shape, reader.domain) >= particle)) {
        reader.mistakes.add(
            table.place,
            fmt::format("this {} holds no liquid: it is empty, or smaller than a cell of {:.3g} m", what,
                        reader.domain.h),
            "make it larger or raise domain.resolution");
        return false;
    }
    return true;
}

// The convex hull of a solid as it is at the start: a vessel and all the room in it. In 2D it reaches through
// the slab.
ShapePtr hull_of(const Solid& solid, bool flat) {
    const TriangleMesh mesh = mesh_at(solid, 0);
    const HullFaces hull = convex_hull(mesh.vertices);
    std::vector<Plane> planes;
    for (const std::vector<int>& face : hull.faces) {
        Vec3 normal;
        for (std::size_t k = 2; k < face.size(); ++k)
            normal += cross(hull.corners[face[k - 1]] - hull.corners[face[0]],
                            hull.corners[face[k]] - hull.corners[face[0]]);
        const double size = length(normal);
        if (size == 0) continue;
        normal = normal / size;
        if (!flat || std::abs(normal.z) < 0.5) planes.push_back({normal, dot(normal, hull.corners[face[0]])});
    }
    return make_convex(std::move(planes), bounds(mesh));
}

template <class Timed>
void read_times_of(SceneReader& reader, const TomlNode& table, Timed& timed) {
    timed.from = table.at("from").number;
    timed.until = table.number_or("until", timed.until);
    if (!(timed.from < timed.until))
        reader.mistakes.add(table.place,
                            fmt::format("'until' ({} s) is not after 'from' ({} s)", timed.until, timed.from),
                            "raise 'until'");
}

}  // namespace

std::vector<TableRule> liquid_tables() {
    // Shared by fills, emitters and sinks.
    const KeyRule box{.name = "box",
                      .types = a_table,
                      .unit = "m",
                      .meaning = "a box with faces along the axes",
                      .inner = "box"};
    const KeyRule sphere{.name = "sphere",
                         .types = a_table,
                         .unit = "m",
                         .meaning = "a sphere; in 2D a disc",
                         .inner = "sphere"};
    const KeyRule mesh{.name = "mesh",
                       .types = a_table,
                       .unit = "m",
                       .meaning = "the inside of a closed triangle mesh",
                       .inner = "mesh"};
    const KeyRule from{.name = "from",
                       .types = a_number,
                       .unit = "s",
                       .fallback = "0.0",
                       .meaning = "works from this time on",
                       .low = 0};
    const KeyRule until{.name = "until",
                        .types = a_number,
                        .unit = "s",
                        .meaning = "works until this time; otherwise to the end",
                        .low = 0};

    return {
        {"liquid",
         "[liquid]",
         "The liquid.",
         {{.name = "density",
           .types = a_number,
           .unit = "kg/m^3",
           .fallback = "1000.0",
           .meaning = "mass per volume",
           .low = 0,
           .high = 1e9,
           .above_low = true},
          {.name = "viscosity",
           .types = a_number,
           .unit = "Pa s",
           .meaning = "dynamic; 0.001 for water; otherwise none. Which methods admit it: see Methods below",
           .low = 0,
           .high = 1e9},
          {.name = "carrier",
           .types = a_text,
           .meaning = "how velocity travels: apic (particles with gradients), flip (FLIP/PIC blend), markers "
                      "(massless, semi-Lagrangian), sph (particles without a grid); otherwise the method's "
                      "own, apic for "
                      "cut-cell",
           .choices = {"apic", "flip", "markers", "sph"}},
          {.name = "flip_share",
           .types = a_number,
           .fallback = "0.95",
           .meaning = "share of FLIP in the FLIP/PIC blend",
           .low = 0,
           .high = 1},
          {.name = "speed_of_sound",
           .types = a_number,
           .unit = "m/s",
           .meaning =
               "of SPH; otherwise ten times the speed that liquid and solids can reach in this scene "
               "by falling, from the start or from emitters. A warning tells where it is too low for that "
               "(above Mach 0.12)",
           .low = 0,
           .above_low = true},
          {.name = "artificial_viscosity",
           .types = a_number,
           .fallback = "0.1",
           .meaning = "of SPH: Monaghan's alpha, where `viscosity` is not given",
           .low = 0,
           .high = 100},
          {.name = "boundary_response",
           .types = a_text,
           .fallback = "\"global\"",
           .meaning =
               "of SPH: how bodies answer to liquid that touches them, all contacts together (global) or "
               "each as if it were alone (local)",
           .choices = {"global", "local"}},
          {.name = "torque_arm",
           .types = a_text,
           .fallback = "\"contact\"",
           .meaning = "of SPH: where a control force turns a body, at the contact point or at the particle, "
                      "which conserves angular momentum",
           .choices = {"contact", "particle"}},
          {.name = "cut_faces",
           .types = a_text,
           .fallback = "\"exact\"",
           .meaning =
               "which part of the grid's faces solids cover: exact, or from their distance at the faces' "
               "corners, the rule of Zarifi 2017, to compare with: what is thinner than a cell leaks",
           .choices = {"exact", "distance"}},
          {.name = "surface",
           .types = a_text,
           .fallback = "\"filling\"",
           .meaning =
               "the free surface: where cells are half full, or around spheres on the particles, the rule "
               "of Zarifi 2017, to compare with: it lies more than half a cell too far out",
           .choices = {"filling", "spheres"}},
          {.name = "separation",
           .types = a_boolean,
           .fallback = "false",
           .meaning = "whether liquid may let go of solids and walls: they push it, but do not pull at it. "
                      "Takes several solves a step where it does. Not every method admits it"},
          {.name = "slip_depth",
           .types = a_number,
           .unit = "m",
           .meaning =
               "thickness of the layer of liquid that rubs along walls and solids whose `slip` is below 1. "
               "Given, friction does not depend on the cells; otherwise only the cells at the surface rub, "
               "so "
               "that it slides ever more freely the finer they are. Only for liquid on a grid",
           .low = 0,
           .above_low = true},
          {.name = "reseed",
           .types = a_boolean,
           .fallback = "true",
           .meaning = "keep the number of particles per cell near its rest value"},
          {.name = "particles_per_edge",
           .types = an_integer,
           .fallback = "2",
           .meaning = "particles along the edge of a cell where liquid rests: 2 are 8 per cell, 4 in 2D",
           .low = 2,
           .high = Domain::most_particles_per_edge},
          {.name = "seed",
           .types = an_integer,
           .fallback = "1",
           .meaning = "of the particles' random places",
           .low = 0},
          {.name = "fill", .types = tables, .meaning = "where liquid is at the start", .inner = "fill"},
          {.name = "emitter", .types = tables, .meaning = "where liquid comes in", .inner = "emitter"},
          {.name = "sink", .types = tables, .meaning = "where liquid is taken away", .inner = "sink"}}},

        {"fill",
         "[[liquid.fill]]",
         "A region that is full of liquid at the start.",
         {box,
          sphere,
          {.name = "level", .types = a_number, .unit = "m", .meaning = "everything below this height"},
          {.name = "wave",
           .types = a_table,
           .unit = "m",
           .meaning = "a cosine along x added to `level`",
           .inner = "wave"},
          {.name = "inside",
           .types = a_text | a_table,
           .unit = "m",
           .meaning = "what a `level` is confined to: the name of a solid, of which the convex hull counts "
                      "(a vessel and the room in it), or a table with one region; otherwise the whole domain",
           .inner = "inside"},
          mesh,
          {.name = "velocity",
           .types = a_list,
           .unit = "m/s",
           .fallback = "[0.0, 0.0, 0.0]",
           .meaning = "of the liquid at the start",
           .low = -1e6,
           .high = 1e6,
           .min_count = 2}},
         {"box", "sphere", "level", "mesh"}},

        {"emitter",
         "[[liquid.emitter]]",
         "A region that is kept full of liquid moving at `velocity`.",
         {box,
          sphere,
          mesh,
          {.name = "velocity",
           .types = a_list,
           .unit = "m/s",
           .fallback = "[0.0, 0.0, 0.0]",
           .meaning = "of the liquid that comes out",
           .low = -1e6,
           .high = 1e6,
           .min_count = 2},
          from,
          until},
         {"box", "sphere", "mesh"}},

        {"sink",
         "[[liquid.sink]]",
         "A region in which liquid vanishes.",
         {box, sphere, mesh, from, until},
         {"box", "sphere", "mesh"}},

        {"box",
         "box = { ... }",
         "A box along the axes.",
         {{.name = "min",
           .types = a_list,
           .unit = "m",
           .meaning = "its low corner",
           .min_count = 2,
           .required = true},
          {.name = "max",
           .types = a_list,
           .unit = "m",
           .meaning = "its high corner",
           .min_count = 2,
           .required = true}}},
        {"sphere",
         "sphere = { ... }",
         "A sphere; in 2D a disc.",
         {{.name = "center",
           .types = a_list,
           .unit = "m",
           .meaning = "its centre",
           .min_count = 2,
           .required = true},
          {.name = "radius",
           .types = a_number,
           .unit = "m",
           .meaning = "its radius",
           .low = 0,
           .above_low = true,
           .required = true}}},
        {"inside",
         "inside = { ... }",
         "A region that a level is confined to.",
         {box, sphere, mesh},
         {"box", "sphere", "mesh"}},
        {"wave",
         "wave = { ... }",
         "The surface is at level + amplitude cos(2 pi (x - crest) / wavelength).",
         {{.name = "amplitude",
           .types = a_number,
           .unit = "m",
           .meaning = "highest rise above the level",
           .required = true},
          {.name = "wavelength",
           .types = a_number,
           .unit = "m",
           .meaning = "from crest to crest",
           .low = 0,
           .above_low = true,
           .required = true},
          {.name = "crest", .types = a_number, .unit = "m", .fallback = "0.0", .meaning = "x of a crest"}}},
        {"mesh",
         "mesh = { ... }",
         "The inside of a closed triangle mesh.",
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
          {.name = "position",
           .types = a_list,
           .unit = "m",
           .fallback = "[0.0, 0.0, 0.0]",
           .meaning = "where the file's origin goes",
           .min_count = 2}}}};
}

LiquidSettings read_liquid(SceneReader& reader) {
    const TomlNode& table = reader.root.at("liquid");
    LiquidSettings liquid;
    liquid.density = table.at("density").number;
    liquid.viscosity = table.number_or("viscosity", 0);
    for (const auto& [word, carrier] : carrier_words)
        if (table.at("carrier").text == word) liquid.carrier = carrier;
    liquid.flip_share = table.at("flip_share").number;
    liquid.faces_by_distance = table.at("cut_faces").text == "distance";
    liquid.spheres = table.at("surface").text == "spheres";
    liquid.separation = table.at("separation").boolean;
    liquid.slip_depth = table.number_or("slip_depth", 0);
    liquid.reseed = table.at("reseed").boolean;
    liquid.seed = static_cast<std::uint64_t>(table.at("seed").integer);
    for (const TomlNode& entry : table.entries("fill")) {
        if (entry.find("wave") && !entry.find("level"))
            reader.mistakes.add(entry.find("wave")->place, "'wave' needs 'level'",
                                "a wave is added to a level");
        if (const TomlNode* inside = entry.find("inside"); inside && !entry.find("level"))
            reader.mistakes.add(inside->place, "'inside' needs 'level'",
                                "other regions have an end of their own: remove it");
        Fill fill{read_region(reader, entry, "fill"), reader.velocity(entry.at("velocity"))};
        if (!usable(reader, fill.region, entry, "fill")) continue;
        liquid.fills.push_back(fill);
    }
    for (const TomlNode& entry : table.entries("emitter")) {
        Emitter emitter{read_region(reader, entry, "emitter"), reader.velocity(entry.at("velocity"))};
        read_times_of(reader, entry, emitter);
        if (!usable(reader, emitter.region, entry, "emitter")) continue;
        liquid.emitters.push_back(emitter);
    }
    for (const TomlNode& entry : table.entries("sink")) {
        Sink sink{read_region(reader, entry, "sink")};
        read_times_of(reader, entry, sink);
        if (!usable(reader, sink.region, entry, "sink")) continue;
        liquid.sinks.push_back(sink);
    }
    // Elastic solids are worth watching on their own.
    const std::vector<TomlNode>& solids = reader.root.entries("solid");
    const bool elastic = std::any_of(solids.begin(), solids.end(), [](const TomlNode& entry) {
        return entry.at("motion").text == "elastic";
    });
    if (table.entries("fill").empty() && table.entries("emitter").empty() && !elastic)
        reader.mistakes.add(table.place, "there is no liquid in this scene",
                            "add a [[liquid.fill]] or a [[liquid.emitter]]");
    return liquid;
}

void confine_fills(SceneReader& reader, Scenario& scenario) {
    const std::vector<TomlNode>& entries = reader.root.at("liquid").entries("fill");
    if (entries.size() != scenario.liquid.fills.size()) return;  // mistakes were found already
    for (std::size_t n = 0; n < entries.size(); ++n) {
        const TomlNode* const inside = entries[n].find("inside");
        if (!inside || !entries[n].find("level")) continue;
        ShapePtr region;
        if (inside->is(TomlNode::Kind::table))
            region = read_region(reader, *inside, "region");
        else if (const std::optional<int> solid = solid_named(*inside, scenario.solids, reader.mistakes))
            if (scenario.solids[*solid].shape.distance)
                region = hull_of(scenario.solids[*solid], reader.flat);
        if (!region) continue;
        Fill& fill = scenario.liquid.fills[n];
        fill.region = make_common(fill.region, region);
        (void)usable(reader, fill.region, entries[n], "fill");
    }
}

SphSettings read_sph(const SceneReader& reader) {
    const TomlNode& table = reader.root.at("liquid");
    return {
        table.number_or("speed_of_sound", 0), table.at("artificial_viscosity").number,
        table.at("boundary_response").text == "local" ? BoundaryResponse::local : BoundaryResponse::global,
        table.at("torque_arm").text == "particle" ? TorqueArm::particle : TorqueArm::contact};
}

}  // namespace flotsam

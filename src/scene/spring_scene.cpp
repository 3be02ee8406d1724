#include "scene/spring_scene.h"

#include <fmt/format.h>

#include <algorithm>

#include "world/expected.h"

namespace flotsam {

namespace {

const TomlNode* find_in(const TomlNode& entry, std::string_view key) {
    const TomlNode* table = entry.find("springs");
    return table ? table->find(key) : nullptr;
}

Vec3 vector_of(const TomlNode* list) {
    Vec3 v;
    for (std::size_t axis = 0; list && axis < std::min<std::size_t>(3, list->items.size()); ++axis)
        v[int(axis)] = list->items[axis].number;
    return v;
}

}  // namespace

std::vector<KeyRule> spring_keys() {
    return {{.name = "stiffness",
             .types = a_number,
             .unit = "Pa",
             .meaning = "of an elastic solid, or one made of springs: Young's modulus",
             .low = 0,
             .high = 1e12,
             .above_low = true},
            {.name = "springs",
             .types = a_table,
             .meaning = "how a solid is made of springs, where that shall not be found out",
             .inner = "springs"}};
}

std::vector<TableRule> spring_tables() {
    return {
        {"springs",
         "springs = { ... }",
         "How a solid with `motion = \"spring\"` is made. It needs only its `density` and `stiffness`; all "
         "of "
         "this is found out otherwise.",
         {{.name = "structure",
           .types = a_text,
           .fallback = "\"lattice\"",
           .meaning = "lattice: nodes throughout, joined along the edges and face diagonals of cubes; shell: "
                      "only the outermost of them, braced by struts; node: one for all, for a sphere",
           .choices = {"lattice", "shell", "node"}},
          {.name = "spacing",
           .types = a_number,
           .unit = "m",
           .meaning = "between nodes; otherwise a cell, or less where the solid is less than 3 cells thick",
           .low = 0,
           .above_low = true},
          {.name = "damping",
           .types = a_number,
           .fallback = "0.1",
           .meaning = "of the springs, as a share of the critical one for two nodes",
           .low = 0,
           .high = 10},
          {.name = "radius",
           .types = a_number,
           .unit = "m",
           .meaning = "within which a node repels markers; otherwise 0.4 of a cell more than 0.75 "
                      "`spacing`, or than that of the sphere",
           .low = 0,
           .above_low = true},
          {.name = "repulsion",
           .types = a_number,
           .unit = "N/m",
           .meaning =
               "for each marker; otherwise such that markers just reach the solid's surface under "
               "1.5 times the highest pressure: of what falls from the highest start or jet to the bottom",
           .low = 0},
          {.name = "repulsion_damping",
           .types = a_number,
           .unit = "N s/m",
           .meaning = "for each marker; otherwise the critical one for a marker's mass",
           .low = 0},
          {.name = "share",
           .types = an_integer,
           .fallback = "1",
           .meaning = "one marker in so many of a cell is repelled, and stands for the others",
           .low = 1,
           .high = 64}}}};
}

void read_springs(SceneReader& reader, const TomlNode& entry, Solid& solid) {
    const Domain& domain = reader.domain;
    Mistakes& mistakes = reader.mistakes;
    if (solid.motion != Motion::spring) {
        for (const std::string_view key : {"stiffness", "springs"})
            if (const TomlNode* node = entry.find(key);
                node && !(solid.motion == Motion::elastic && key == "stiffness"))
                mistakes.add(node->place, fmt::format("only a solid made of springs has '{}'", key),
                             "write motion = \"spring\", or remove it");
        return;
    }
    if (domain.flat()) {
        mistakes.add(entry.find("motion")->place, "there are no springs in two dimensions yet",
                     "choose another 'motion', or " + reader.make_it_3d());
        return;
    }
    const TomlNode* density = entry.find("density");
    const TomlNode* stiffness = entry.find("stiffness");
    const TomlNode* structure = find_in(entry, "structure");
    const bool one_node = structure && structure->text == "node";
    if (!density)
        mistakes.add(entry.place, "a solid made of springs needs its density",
                     "write for example density = 600");
    if (!one_node && !stiffness)
        mistakes.add(entry.place, "a solid made of springs needs its stiffness",
                     "write for example stiffness = 1e5; or springs = { structure = \"node\" } for a ball");
    if (!density || (!one_node && !stiffness) || !solid.shape.distance) return;

    SpringProperties& springs = solid.spring;
    springs.velocity = vector_of(entry.find("velocity"));
    springs.spin = vector_of(entry.find("spin"));
    const TomlNode* share = find_in(entry, "share");
    springs.share = share ? int(share->integer) : 1;
    if (one_node) {
        const TomlNode* sphere = entry.find("shape")->find("sphere");
        if (!sphere) {
            mistakes.add(structure->place, "only a sphere can be a single node",
                         "write structure = \"lattice\" or \"shell\"");
            return;
        }
        springs.net = std::make_shared<SpringNet>(single_node(solid.shape, sphere->number, density->number));
        return;
    }
    const Box box = bounds(solid.shape.mesh);
    const Vec3 edges = box.high - box.low;
    const double thinnest = std::min({edges.x, edges.y, edges.z});
    const TomlNode* given = find_in(entry, "spacing");
    const double spacing =
        given ? given->number
              : thinnest / std::max(3.0, std::round(thinnest / domain.h));  // whole numbers of cubes
    const double nodes = edges.x * edges.y * edges.z / (spacing * spacing * spacing);
    if (nodes > 200'000) {
        mistakes.add(given ? given->place : entry.place,
                     fmt::format("this solid would have about {:.0f} nodes", nodes),
                     "raise 'spacing' in springs = { ... }; 200000 is the most");
        return;
    }
    const TomlNode* damping = find_in(entry, "damping");
    const SpringMaterial material{density->number, stiffness->number, damping ? damping->number : 0.1};
    SpringNet net =
        spring_lattice(solid.shape, spacing, material,
                       structure && structure->text == "shell" ? NetKind::shell : NetKind::lattice);
    if (net.springs.empty()) {
        mistakes.add(
            given ? given->place : entry.place,
            fmt::format("nodes {:.3g} m apart do not fill this solid: some way there is only one", spacing),
            "lower 'spacing' in springs = { ... }");
        return;
    }
    springs.net = std::make_shared<SpringNet>(std::move(net));
    solid.shape.mesh = springs.net->mesh;  // the one that deforms
}

void fit_springs(const TomlNode& entry, Scenario& scenario, Solid& solid, SceneReader& reader) {
    if (!solid.spring.net) return;
    SpringProperties& springs = solid.spring;
    const MarkedLiquid liquid = marked_liquid(scenario);
    const double pressure = highest_pressure(scenario);
    fit_repulsion(springs, liquid, pressure);
    if (const TomlNode* radius = find_in(entry, "radius")) springs.radius = radius->number;
    const TomlNode* repulsion = find_in(entry, "repulsion");
    if (repulsion) {
        // The damping follows the stiffness.
        springs.repulsion_damping *= std::sqrt(repulsion->number / springs.repulsion);
        springs.repulsion = repulsion->number;
    }
    if (const TomlNode* damping = find_in(entry, "repulsion_damping"))
        springs.repulsion_damping = damping->number;

    const double surface =
        springs.net->spacing == 0 ? springs.net->contact_radius : 0.5 * springs.net->spacing;
    const double inside = penetration(springs, liquid, pressure) - (springs.radius - surface);
    if (inside > 0.25 * scenario.domain.h) {
        SpringProperties fitting = springs;
        fit_repulsion(fitting, liquid, pressure);
        reader.warn(
            repulsion ? repulsion->place : entry.place,
            fmt::format("water will come {:.2g} m into \"{}\": a repulsion of {:.3g} N/m with a radius of "
                        "{:.3g} m keeps it out",
                        inside, solid.name, fitting.repulsion, fitting.radius));
    }
    const double limit = repulsion_dt(springs, liquid);
    if (scenario.time.time_step > 0.9 * limit)
        reader.warn(entry.place,
                    fmt::format("a time_step of {:.3g} s is too long for the repulsion of \"{}\": "
                                "at most {:.3g} s; leave time_step out to have it chosen",
                                scenario.time.time_step, solid.name, 0.9 * limit));
}

}  // namespace flotsam

#include "scene/claim_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "scene/solid_scene.h"
#include "scene/suggest.h"

namespace flotsam {

namespace {

using Kind = TomlNode::Kind;

// A point of a solid that is followed: three probes; none when a mistake was found.
void read_point_probe(SceneReader& reader, const TomlNode& table, const std::string& name,
                      const Scenario& scenario, std::vector<Probe>& probes) {
    const auto solid = solid_named(table.at("solid"), scenario.solids, reader.mistakes);
    if (!solid || !reader.mistakes.empty()) return;  // of a solid with mistakes nothing is known
    if (scenario.solids[*solid].sequence) {
        reader.mistakes.add(table.place, "points of animated meshes cannot be followed",
                            "leave this probe out");
        return;
    }
    const World start = world_at_start(scenario);
    Probe probe{.name = name, .point = reader.position(table.at("at")), .solid = *solid};
    // A shape's tetrahedra end up to a cell beside its surface.
    if (const double outside = shape_of(start, scenario, std::size_t(*solid)).distance(probe.point);
        outside > reader.domain.h)
        reader.mistakes.add(
            table.at("at").place,
            fmt::format("this point lies {:.3g} m outside \"{}\"", outside, scenario.solids[*solid].name),
            "'at' is a place of the scene at the start, inside the solid or on its surface");
    tie_to_solid(probe, start);
    for (int axis = 0; axis < 3; ++axis) {
        probe.kind = Probe::Kind(int(Probe::Kind::point_x) + axis);
        probe.name = fmt::format("{}.{}", name, "xyz"[axis]);
        probes.push_back(probe);
    }
}

// The motions of solids that may deform, as scenes call them: "spring" or "elastic".
std::string words_that_deform() {
    std::string words;
    for (const auto& [word, motion] : motion_words)
        if (may_deform(motion)) words += fmt::format("{}\"{}\"", words.empty() ? "" : " or ", word);
    return words;
}

// A probe of a solid: what the liquid does to it, or where it is; false when the entry is none.
bool read_solid_probe(SceneReader& reader, const TomlNode& entry, const std::string& name,
                      const std::vector<Solid>& solids, std::vector<Probe>& probes) {
    static constexpr std::pair<std::string_view, Probe::Kind> kinds[] = {
        {"force", Probe::Kind::force_x},
        {"torque", Probe::Kind::torque_x},
        {"wetted_area", Probe::Kind::wetted_area},
        {"position", Probe::Kind::position_x},
        {"tilt", Probe::Kind::tilt},
        {"volume", Probe::Kind::volume},
        {"distortion", Probe::Kind::distortion}};
    for (const auto& [key, kind] : kinds) {
        const TomlNode* node = entry.find(key);
        if (!node) continue;
        const int solid = solid_named(*node, solids, reader.mistakes).value_or(0);
        if (kind == Probe::Kind::distortion && std::size_t(solid) < solids.size() &&
            !may_deform(solids[solid].motion))
            reader.mistakes.add(node->place,
                                fmt::format("\"{}\" keeps its shape: it has no distortion", node->text),
                                fmt::format("name a solid with motion = {}", words_that_deform()));
        if (kind == Probe::Kind::wetted_area || kind >= Probe::Kind::tilt) {
            probes.push_back({name, kind, {}, solid});
        } else {
            for (int axis = 0; axis < 3; ++axis)
                probes.push_back(
                    {fmt::format("{}.{}", name, "xyz"[axis]), Probe::Kind(int(kind) + axis), {}, solid});
        }
        return true;
    }
    return false;
}

// A probe of two solids, of the liquid in a box or of other probes; false when the entry is none.
bool read_composed_probe(SceneReader& reader, const TomlNode& entry, const std::string& name,
                         const std::vector<Solid>& solids, std::vector<Probe>& probes) {
    Probe probe{.name = name};
    const TomlNode* around = entry.find("around");
    if (around && !entry.find("filled"))
        reader.mistakes.add(around->place, "'around' belongs to 'filled'", "remove it");
    if (const TomlNode* pair = entry.find("distance")) {
        probe.kind = Probe::Kind::distance;
        if (pair->items.size() != 2) {
            reader.mistakes.add(pair->place, "a distance is between two solids", "name two");
        } else {
            probe.solid = solid_named(pair->items[0], solids, reader.mistakes).value_or(0);
            probe.other = solid_named(pair->items[1], solids, reader.mistakes).value_or(0);
        }
    } else if (const TomlNode* box = entry.find("filled")) {
        probe.kind = Probe::Kind::filled;
        probe.box = {reader.position(box->at("min")), reader.position(box->at("max"))};
        if (around) probe.other = solid_named(*around, solids, reader.mistakes).value_or(0);
        // All of a slab belongs to it.
        if (reader.flat) probe.box.low.z = -reader.domain.h, probe.box.high.z = reader.domain.h;
        for (int axis = 0; axis < 3; ++axis)
            if (probe.box.low[axis] >= probe.box.high[axis])
                reader.mistakes.add(box->place, "the box is empty",
                                    "'min' lies below 'max' along every axis");
    } else {
        static constexpr std::pair<std::string_view, Probe::Kind> kinds[] = {
            {"mean", Probe::Kind::mean},
            {"largest", Probe::Kind::largest},
            {"smallest", Probe::Kind::smallest},
            {"difference", Probe::Kind::difference}};
        const TomlNode* parts = nullptr;
        for (const auto& [key, kind] : kinds)
            if (const TomlNode* node = entry.find(key)) parts = node, probe.kind = kind;
        if (!parts) return false;
        if (parts->items.empty() || (probe.kind == Probe::Kind::difference && parts->items.size() != 2))
            reader.mistakes.add(
                parts->place,
                parts->items.empty() ? "no probe is named" : "a difference is that of two probes",
                "name probes that stand before this one");
        std::vector<std::string_view> known;
        known.reserve(probes.size());
        for (const Probe& other : probes) known.push_back(other.name);
        for (const TomlNode& part : parts->items) {
            const auto at = std::find(known.begin(), known.end(), part.text);
            if (at == known.end())
                reader.mistakes.add(part.place,
                                    fmt::format("no probe called \"{}\" stands before this one", part.text),
                                    suggestion(part.text, known));
            else
                probe.parts.push_back(probes[at - known.begin()]);
        }
    }
    probes.push_back(probe);
    return true;
}

}  // namespace

std::vector<TableRule> claim_tables() {
    const auto at_point = [](std::string_view name, std::string_view unit, std::string_view meaning) {
        return KeyRule{.name = name, .types = a_list, .unit = unit, .meaning = meaning, .min_count = 2};
    };
    const auto of_solid = [](std::string_view name, std::string_view unit, std::string_view meaning) {
        return KeyRule{.name = name, .types = a_text, .unit = unit, .meaning = meaning};
    };
    const auto of_several = [](std::string_view name, std::string_view unit, std::string_view meaning) {
        return KeyRule{.name = name, .types = words, .unit = unit, .meaning = meaning};
    };

    const KeyRule bent =
        of_solid("distortion", "m",
                 "of an elastic solid or one of springs: how far it is, in the root mean square over its "
                 "mass, from the nearest rigid placement of its shape at rest");
    const KeyRule around = of_solid("around", "",
                                    "the solid that the box of `filled` moves and turns with; its corners "
                                    "are then measured from the solid's position");
    const std::vector<std::string_view> measures = {
        "height",     "pressure", "speed",       "velocity", "velocity_x", "velocity_y", "velocity_z",
        "force",      "torque",   "wetted_area", "position", "point",      "tilt",       "volume",
        "distortion", "distance", "filled",      "mean",     "largest",    "smallest",   "difference"};
    return {{"probe",
             "[[probe]]",
             "A measurement at a point or of a solid, written to probes.csv every step. A claim can name it: "
             "`probe.NAME`.",
             {{.name = "name", .types = a_text, .meaning = "letters, digits, - and _", .required = true},
              {.name = "height",
               .types = a_number | a_list,
               .unit = "m",
               .meaning = "of the highest surface above [x, z] (2D: above x)",
               .min_count = 1,
               .max_count = 2},
              {.name = "width",
               .types = a_number,
               .unit = "m",
               .fallback = "0.0",
               .meaning = "a height is the mean over so much of x around its place",
               .low = 0},
              at_point("pressure", "Pa", "at a point"),
              at_point("speed", "m/s", "at a point"),
              at_point("velocity", "m/s", "at a point; its components are NAME.x, NAME.y and NAME.z"),
              at_point("velocity_x", "m/s", "at a point"),
              at_point("velocity_y", "m/s", "at a point"),
              at_point("velocity_z", "m/s", "at a point"),
              of_solid("force", "N", "of the liquid on the solid of this name: NAME.x, NAME.y and NAME.z"),
              of_solid("torque", "N m",
                       "of the liquid on a solid, about its position: NAME.x, NAME.y and NAME.z"),
              of_solid("wetted_area", "m^2", "of the solid of this name"),
              of_solid("position", "m", "of the solid of this name: NAME.x, NAME.y and NAME.z"),
              {.name = "point",
               .types = a_table,
               .unit = "m",
               .meaning = "of a solid, followed as it moves and deforms: NAME.x, NAME.y and NAME.z",
               .inner = "solid point"},
              of_solid("tilt", "deg", "angle between the y axis of the solid of this name and the vertical"),
              of_solid("volume", "m^3",
                       "inside the surface of the solid of this name; in 2D of the part within the slab"),
              bent,
              of_several("distance", "m", "between the positions of two solids"),
              {.name = "filled",
               .types = a_table,
               .meaning = "share of a box that particles fill: 0 where nothing may leak to",
               .inner = "box"},
              around,
              of_several("mean", "", "of probes that stand before this one"),
              of_several("largest", "", "of such probes"),
              of_several("smallest", "", "of such probes"),
              of_several("difference", "", "of two such probes: the first less the second")},
             measures},

            {"solid point",
             "point = { ... }",
             "A point of a solid.",
             {{.name = "solid", .types = a_text, .meaning = "its name", .required = true},
              {.name = "at",
               .types = a_list,
               .unit = "m",
               .meaning = "where it is at the start, in the scene's coordinates",
               .min_count = 2,
               .required = true}}},

            {"claim",
             "[[claim]]",
             "Something that must be seen; judged by `flotsam check`. Give `min` and/or `max`, or "
             "`relative_to_start`, or `near`.",
             {{.name = "what",
               .types = a_text,
               .meaning = "a quantity (see below) or `probe.NAME`",
               .required = true},
              {.name = "says", .types = a_text, .meaning = "the claim in words"},
              {.name = "min", .types = a_number, .meaning = "at least this, in the quantity's unit"},
              {.name = "max", .types = a_number, .meaning = "at most this, in the quantity's unit"},
              {.name = "relative_to_start",
               .types = a_table,
               .meaning = "bounds on the value divided by its value at the start",
               .inner = "bounds"},
              {.name = "near",
               .types = a_table,
               .meaning = "a value and how far from it is allowed",
               .inner = "near"},
              {.name = "at",
               .types = a_number | a_table,
               .unit = "s",
               .meaning = "only at this time or event",
               .low = 0,
               .inner = "event"},
              {.name = "from",
               .types = a_number | a_table,
               .unit = "s",
               .meaning = "from this time or event on; otherwise from the start",
               .low = 0,
               .inner = "event"},
              {.name = "until",
               .types = a_number | a_table,
               .unit = "s",
               .meaning = "until this time or event; otherwise to the end",
               .low = 0,
               .inner = "event"},
              {.name = "over",
               .types = a_text,
               .fallback = "\"every\"",
               .meaning = "every: at every step; or the mean, max, min, rms or final value of that time",
               .choices = {"every", "mean", "max", "min", "rms", "final"}},
              {.name = "fails",
               .types = a_table,
               .meaning =
                   "the claim is known to fail, and why: `check` accepts that, and complains once it holds",
               .inner = "fails"}}},
            {"event",
             "at = { ... }",
             "The first moment at which something passes a level, instead of a time: `at = { what = "
             "\"probe.ball.y\", below = 0.1 }`. A claim whose event never comes fails.",
             {{.name = "what",
               .types = a_text,
               .meaning = "a quantity (see below) or `probe.NAME`",
               .required = true},
              {.name = "below", .types = a_number, .meaning = "less than this, in the quantity's unit"},
              {.name = "above", .types = a_number, .meaning = "more than this"}},
             {"below", "above"}},
            {"bounds",
             "relative_to_start = { ... }",
             "Bounds on a ratio.",
             {{.name = "min", .types = a_number, .meaning = "at least this"},
              {.name = "max", .types = a_number, .meaning = "at most this"}}},
            {"near",
             "near = { ... }",
             "A value and how far from it is allowed.",
             {{.name = "value", .types = a_number, .meaning = "in the quantity's unit", .required = true},
              {.name = "tolerance",
               .types = a_number,
               .meaning = "in the quantity's unit",
               .low = 0,
               .required = true}}},
            {"fails",
             "fails = { ... }",
             "Why a claim is known to fail. It stays as strong as it should be, and stands on the list of "
             "what is "
             "to be mended.",
             {{.name = "why", .types = a_text, .meaning = "the reason, in words", .required = true},
              {.name = "from_scale",
               .types = a_number,
               .fallback = "0.0",
               .meaning = "only when run at this `--scale` or a larger one",
               .low = 0},
              {.name = "to_scale",
               .types = a_number,
               .meaning = "only when run at this `--scale` or a smaller one",
               .low = 0}}},
            {"check",
             "[check]",
             "How `./flotsam test --scenes` judges the claims: coarse enough to be done every day.",
             {{.name = "scale",
               .types = a_number,
               .meaning = "multiplies the resolution",
               .low = 0,
               .high = 1,
               .above_low = true,
               .required = true},
              {.name = "seconds",
               .types = a_number,
               .unit = "s",
               .meaning = "that takes about so long on one core",
               .low = 0,
               .required = true}}}};
}

std::vector<Probe> read_probes(SceneReader& reader, const Scenario& scenario) {
    std::vector<Probe> probes;
    std::set<std::string> names;
    static constexpr std::pair<std::string_view, Probe::Kind> kinds[] = {
        {"height", Probe::Kind::height},         {"pressure", Probe::Kind::pressure},
        {"speed", Probe::Kind::speed},           {"velocity", Probe::Kind::velocity_x},
        {"velocity_x", Probe::Kind::velocity_x}, {"velocity_y", Probe::Kind::velocity_y},
        {"velocity_z", Probe::Kind::velocity_z}};
    for (const TomlNode& entry : reader.root.entries("probe")) {
        reader.check_name(entry.at("name"), names, "probe");
        Probe probe;
        probe.name = entry.at("name").text;
        for (const auto& [key, kind] : kinds) {
            const TomlNode* node = entry.find(key);
            if (!node) continue;
            probe.kind = kind;
            if (kind == Probe::Kind::height) {
                const std::size_t given = node->is(Kind::array) ? node->items.size() : 1;
                if (!reader.flat && given != 2)
                    reader.mistakes.add(node->place, "'height' needs x and z",
                                        "write for example height = [0.5, 0.3]");
                const double x = node->is(Kind::array) ? node->items[0].number : node->number;
                probe.point = {x, 0, reader.flat || given < 2 ? reader.domain.h / 2 : node->items[1].number};
                probe.width = entry.at("width").number;
                if (x - 0.5 * probe.width < 0 || x + 0.5 * probe.width > reader.domain.size().x)
                    reader.mistakes.add(node->place, "the probe's width reaches beyond the domain",
                                        "make it narrower or move the probe");
            } else {
                probe.point = reader.position(*node);
            }
            if (!Box{{}, reader.domain.size()}.contains(probe.point))
                reader.mistakes.add(node->place,
                                    fmt::format("the probe \"{}\" lies outside the domain", probe.name),
                                    "move it inside");
        }
        if (const TomlNode* point = entry.find("point")) {
            read_point_probe(reader, *point, probe.name, scenario, probes);
            continue;
        }
        if (read_solid_probe(reader, entry, probe.name, scenario.solids, probes)) continue;
        if (read_composed_probe(reader, entry, probe.name, scenario.solids, probes)) continue;
        if (entry.find("velocity")) {
            for (const auto& [component, kind] : {std::pair{".x", Probe::Kind::velocity_x},
                                                  {".y", Probe::Kind::velocity_y},
                                                  {".z", Probe::Kind::velocity_z}})
                probes.push_back({probe.name + component, kind, probe.point});
            continue;
        }
        probes.push_back(probe);
    }
    return probes;
}

std::vector<Claim> read_claims(SceneReader& reader, const std::vector<Probe>& probes, double duration) {
    std::vector<Claim> claims;
    std::vector<std::string> probe_names;
    std::vector<std::string_view> known;
    probe_names.reserve(probes.size());
    for (const Probe& probe : probes) probe_names.push_back("probe." + probe.name);
    for (const Quantity& quantity : quantities()) known.push_back(quantity.name);
    known.insert(known.end(), probe_names.begin(), probe_names.end());
    const auto measurable = [&](const TomlNode& what) {
        if (std::find(known.begin(), known.end(), what.text) == known.end())
            reader.mistakes.add(what.place, fmt::format("nothing called \"{}\" can be measured", what.text),
                                suggestion(what.text, known));
        return what.text;
    };
    // A border of a claim's window: a time, which it returns, or an event.
    const auto border = [&](const TomlNode& node, double otherwise, std::optional<Event>& event) {
        if (!node.is(Kind::table)) return node.number;
        const bool above = node.find("above");
        event = {measurable(node.at("what")), node.number_or(above ? "above" : "below", 0), above};
        return otherwise;
    };
    for (const TomlNode& entry : reader.root.entries("claim")) {
        Claim claim;
        claim.what = measurable(entry.at("what"));
        if (const TomlNode* says = entry.find("says")) claim.says = says->text;

        const TomlNode* ratio = entry.find("relative_to_start");
        const TomlNode* near = entry.find("near");
        const bool absolute = entry.find("min") || entry.find("max");
        if (absolute + (ratio != nullptr) + (near != nullptr) != 1)
            reader.mistakes.add(entry.place, "a claim needs exactly one demand",
                                "give min and/or max, or relative_to_start, or near");
        const TomlNode& bounds = ratio ? *ratio : entry;
        claim.relative_to_start = ratio != nullptr;
        claim.min = bounds.number_or("min", claim.min);
        claim.max = bounds.number_or("max", claim.max);
        if (ratio && !ratio->find("min") && !ratio->find("max"))
            reader.mistakes.add(ratio->place, "'relative_to_start' is empty", "give min and/or max");
        if (near) {
            claim.min = near->at("value").number - near->at("tolerance").number;
            claim.max = near->at("value").number + near->at("tolerance").number;
        }
        if (claim.min > claim.max)
            reader.mistakes.add(entry.place,
                                fmt::format("nothing is at least {} and at most {}", claim.min, claim.max),
                                "swap min and max");

        const TomlNode* at = entry.find("at");
        if (at && (entry.find("from") || entry.find("until")))
            reader.mistakes.add(at->place, "'at' excludes 'from' and 'until'",
                                "give a moment or a window, not both");
        if (const TomlNode* from = at ? at : entry.find("from"))
            claim.from = border(*from, claim.from, claim.from_event);
        if (const TomlNode* until = at ? at : entry.find("until"))
            claim.until = border(*until, claim.until, claim.until_event);
        if (claim.from > claim.until)
            reader.mistakes.add(
                entry.place, fmt::format("'until' ({} s) is before 'from' ({} s)", claim.until, claim.from),
                "swap them");
        if (claim.from > duration)
            reader.mistakes.add(
                entry.place,
                fmt::format("the claim looks at {} s, but the scene ends at {} s", claim.from, duration),
                "raise scene.duration or look earlier");

        const std::string& over = entry.at("over").text;
        static constexpr std::pair<std::string_view, Claim::Over> overs[] = {
            {"every", Claim::Over::every}, {"mean", Claim::Over::mean}, {"max", Claim::Over::max},
            {"min", Claim::Over::min},     {"rms", Claim::Over::rms},   {"final", Claim::Over::final}};
        for (const auto& [word, value] : overs)
            if (word == over) claim.over = value;
        if (const TomlNode* fails = entry.find("fails");
            fails && reader.scale >= fails->at("from_scale").number &&
            reader.scale <= fails->number_or("to_scale", reader.scale))
            claim.fails = fails->at("why").text;
        claims.push_back(claim);
    }
    return claims;
}

}  // namespace flotsam

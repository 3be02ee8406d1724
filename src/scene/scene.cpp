#include "scene/scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "core/check.h"
#include "coupling/scheme.h"
#include "scene/adapt_scene.h"
#include "scene/claim_scene.h"
#include "scene/estimate.h"
#include "scene/liquid_scene.h"
#include "scene/scene_reader.h"
#include "scene/schema.h"
#include "scene/solid_scene.h"
#include "scene/suggest.h"
#include "world/expected.h"

namespace flotsam {

namespace {

using Kind = TomlNode::Kind;

std::string read_text(const std::filesystem::path& file) {
    std::error_code error;
    if (!std::filesystem::exists(file, error))
        throw UserError(
            fmt::format("{}: there is no such scene file\n  `flotsam list scenes` shows scenes to start from",
                        file.string()));
    if (!std::filesystem::is_regular_file(file, error))
        throw UserError(fmt::format("{}: not a file\n  name a scene file (.toml)", file.string()));
    if (std::filesystem::file_size(file, error) > 16'000'000)
        throw UserError(fmt::format("{}: larger than 16 MB\n  this is no scene file", file.string()));
    std::ifstream stream(file, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (!stream) throw UserError(fmt::format("{}: cannot be read\n  check its permissions", file.string()));
    return text;
}

void read_times(SceneReader& reader, Scenario& scenario) {
    const TomlNode& table = reader.root.at("scene");
    const TomlNode* title = table.find("title");
    scenario.title = title ? title->text : "";
    scenario.method = table.at("method").text;
    reader.flat = table.at("dimensions").integer == 2;
    TimeSettings& time = scenario.time;
    time.duration = table.at("duration").number;
    time.frames_per_second = table.at("frames_per_second").number;
    time.cfl = table.at("cfl").number;
    time.time_step = table.number_or("time_step", 0);
    time.retry = table.at("retry").boolean;
    const double frames = time.duration * time.frames_per_second;
    if (frames < 1 - 1e-9)
        reader.mistakes.add(table.at("duration").place,
                            fmt::format("'duration' {} s is shorter than one frame", time.duration),
                            "raise 'duration' or 'frames_per_second'");
    if (frames > 1e6)
        reader.mistakes.add(table.at("duration").place, fmt::format("this asks for {:g} frames", frames),
                            "lower 'duration' or 'frames_per_second': a million frames is the most");
    if (time.time_step > 0 && time.duration / time.time_step > 1e9)
        reader.mistakes.add(table.at("time_step").place,
                            fmt::format("this asks for {:g} steps", time.duration / time.time_step),
                            "raise 'time_step', or leave it out to let 'cfl' choose it");
    const TomlNode& gravity = table.at("gravity");
    scenario.gravity = gravity.is(Kind::array) ? reader.velocity(gravity) : Vec3{0, -gravity.number, 0};
}

void read_domain(SceneReader& reader, Vec3 gravity) {
    const TomlNode& table = reader.root.at("domain");
    const TomlNode& size_node = table.at("size");
    const Vec3 size = reader.asked_size = reader.vector(size_node, 0);
    const int axes = reader.flat ? 2 : 3;
    const TomlNode* cell = table.find("cell");
    const TomlNode& finer = cell ? *cell : table.at("resolution");
    Domain& box = reader.domain;
    const double longest = std::max({size.x, size.y, reader.flat ? 0 : size.z});
    box.h = cell ? cell->number : longest / static_cast<double>(finer.integer);
    if (longest > most_cells * box.h * (1 + 1e-9)) {
        reader.mistakes.add(finer.place,
                            fmt::format("this makes {:.0f} cells along the longest side", longest / box.h),
                            fmt::format("{:g} are the most: raise 'cell'", most_cells));
        return;
    }
    const std::vector<TomlNode>& solids = reader.root.entries("solid");
    const bool slab = std::all_of(solids.begin(), solids.end(), fits_slab);
    box.cells = {1, 1, 1};
    box.particles_per_edge = int(reader.root.at("liquid").at("particles_per_edge").integer);
    for (int axis = 0; axis < axes; ++axis) {
        const double cells = std::round(size[axis] / box.h);
        box.cells[axis] = static_cast<int>(cells);
        // A box one cell thick would be taken for a slab by everything that follows.
        if (cells < 2)
            reader.mistakes.add(
                finer.place, fmt::format("only {:g} cells along side {} ({} m)", cells, axis + 1, size[axis]),
                fmt::format(
                    "{}, or make this side {:.3g} m long or more{}",
                    cell ? "lower 'cell'" : "raise 'resolution'", 2 * box.h,
                    axis == 2 && slab ? "; or set scene.dimensions = 2 for a slab one cell thick" : ""));
        else if (std::abs(cells * box.h - size[axis]) > 1e-6 * size[axis])
            reader.warn(size_node.place,
                        fmt::format("side {} is {:.6g} m instead of {:.6g} m: whole cells of {:.6g} m",
                                    axis + 1, cells * box.h, size[axis], box.h));
    }
    if (reader.flat && size_node.items.size() == 3)
        reader.warn(
            size_node.place,
            fmt::format("the third side is ignored in 2D: the slab is one cell of {:.6g} m thick", box.h));

    const TomlNode& walls = table.at("walls");
    constexpr std::string_view names[] = {"left", "right", "bottom", "top", "back", "front"};
    for (int side = 0; side < 6; ++side) {
        const TomlNode& wall = walls.at(names[side]);
        const bool detailed = wall.is(Kind::table);
        const std::string& kind = detailed ? wall.at("kind").text : wall.text;
        box.walls[side].kind = kind == "open"     ? WallKind::open
                               : kind == "mirror" ? WallKind::mirror
                                                  : WallKind::closed;
        box.walls[side].slip =
            detailed ? wall.number_or("slip", walls.at("slip").number) : walls.at("slip").number;
        if (kind == "mirror") {
            if (detailed && wall.number_or("slip", 1) != 1)
                reader.mistakes.add(wall.at("slip").place, "liquid slides freely along a mirror",
                                    "remove 'slip', or make it a closed wall");
            box.walls[side].slip = 1;
            if (gravity[side / 2] != 0)
                reader.mistakes.add(
                    wall.place,
                    fmt::format("gravity pulls through the {} side: it is no mirror", names[side]),
                    "a plane of symmetry is parallel to gravity");
        }
        if (reader.flat && side >= z_low) {
            if (kind != "closed")
                reader.mistakes.add(wall.place,
                                    fmt::format("the {} of a 2D scene cannot be {}", names[side],
                                                kind == "open" ? "open" : "a mirror"),
                                    "leave it out");
            box.walls[side] = {};
        }
    }
}

OutputSettings read_output(const SceneReader& reader) {
    const TomlNode& table = reader.root.at("output");
    return {table.at("surface").boolean,
            table.at("volume").boolean,
            table.at("particles").boolean,
            static_cast<int>(table.at("surface_refinement").integer),
            static_cast<int>(table.at("checkpoint_every").integer),
            table.at("solids").boolean,
            table.at("stress").boolean};
}

SolverSettings read_solver(const SceneReader& reader) {
    const TomlNode& table = reader.root.at("solver");
    SolverSettings settings;
    settings.solver = solver_named(table.at("name").text);
    settings.tolerance.relative = table.at("tolerance").number;
    settings.tolerance.max_iterations = static_cast<int>(table.at("max_iterations").integer);
    settings.alpha = table.at("alpha").is(Kind::text) ? 0 : table.at("alpha").number;
    return settings;
}

ViewSettings read_view(SceneReader& reader, const std::vector<Solid>& solids) {
    const TomlNode& table = reader.root.at("view");
    ViewSettings view;
    if (const TomlNode* follow = table.find("follow"))
        view.follow = solid_named(*follow, solids, reader.mistakes);
    if (const TomlNode* camera = table.find("camera")) view.camera = three_numbers(*camera);
    if (const TomlNode* target = table.find("target")) view.target = three_numbers(*target);
    view.field_of_view = table.at("field_of_view").number;
    view.light = three_numbers(table.at("light"));
    view.liquid_color = three_numbers(table.at("liquid_color"));
    // A sun at the horizon would throw shadows without end.
    if (view.light.y < 0.1 * length(view.light) || length(view.light) == 0)
        reader.mistakes.add(table.at("light").place,
                            "the sun would stand below the horizon, or hardly above it",
                            "its second number, upwards, must be at least a tenth of the direction's length");
    if (view.camera && view.camera->y <= 0)
        reader.mistakes.add(table.find("camera")->place, "the camera would stand below the floor",
                            "its second number must be above 0");
    if (view.camera && view.target && length(*view.camera - *view.target) == 0)
        reader.mistakes.add(table.find("target")->place, "the camera would look at itself",
                            "move 'target' away from 'camera'");
    return view;
}

// Where a scene does not say how velocity travels, its method does.
void fill_in_carrier(TomlNode& root) {
    TomlNode& liquid = *root.find("liquid");
    if (liquid.find("carrier")) return;
    Carrier first = Carrier::apic;
    for (const SchemeEntry& entry : schemes())
        if (entry.name == root.at("scene").at("method").text)
            first = entry.make()->capabilities().carriers.front();
    for (const auto& [word, carrier] : carrier_words)
        if (carrier == first)
            liquid.set("carrier", liquid.place, TomlNode::make_text(std::string(word), liquid.place));
}

// The method must exist and admit what the scene contains.
void check_method(SceneReader& reader, const Scenario& scenario) {
    const std::vector<Solid>& solids = scenario.solids;
    const TomlNode& node = reader.root.at("scene").at("method");
    std::vector<std::string_view> known;
    const SchemeEntry* chosen = nullptr;
    for (const SchemeEntry& entry : schemes()) {
        known.push_back(entry.name);
        if (entry.name == node.text) chosen = &entry;
    }
    if (!chosen) {
        reader.mistakes.add(node.place, fmt::format("there is no method \"{}\"", node.text),
                            suggestion(node.text, known));
        return;
    }
    const Capabilities capabilities = chosen->make()->capabilities();
    const std::string advice = "choose another method (`flotsam list methods`) or leave this out";
    if (!capabilities.liquid)
        reader.mistakes.add(node.place, fmt::format("the method {} knows no liquid", node.text), advice);
    const TomlNode& liquid = reader.root.at("liquid");
    if (std::find(capabilities.carriers.begin(), capabilities.carriers.end(), scenario.liquid.carrier) ==
        capabilities.carriers.end())
        reader.mistakes.add(liquid.at("carrier").place,
                            fmt::format("the method {} does not admit the carrier \"{}\"", node.text,
                                        liquid.at("carrier").text),
                            "leave 'carrier' out to get the method's own");
    if (scenario.liquid.viscosity > 0 && !capabilities.viscosity)
        reader.mistakes.add(liquid.at("viscosity").place,
                            fmt::format("the method {} knows no viscosity", node.text), advice);
    if (scenario.liquid.slip_depth > 0 && capabilities.compressible)
        reader.mistakes.add(
            liquid.at("slip_depth").place,
            fmt::format("with the method {} only the particles at a surface rub on it", node.text),
            "remove 'slip_depth'");
    if (scenario.liquid.separation && !capabilities.separation)
        reader.mistakes.add(liquid.at("separation").place,
                            fmt::format("with the method {} liquid does not let go of solids", node.text),
                            advice);
    const auto refuse_choice = [&](bool asked, bool admitted, const char* key) {
        if (asked && !admitted)
            reader.mistakes.add(
                liquid.at(key).place,
                fmt::format("the method {} does not know this choice of '{}'", node.text, key), advice);
    };
    refuse_choice(scenario.liquid.faces_by_distance, capabilities.faces_by_distance, "cut_faces");
    refuse_choice(scenario.liquid.spheres, capabilities.spheres, "surface");
    for (const char* source : {"emitter", "sink"})
        if (!capabilities.sources && !liquid.entries(source).empty())
            reader.mistakes.add(liquid.entries(source).front().place,
                                fmt::format("the method {} knows no {}s", node.text, source), advice);
    const TomlNode& walls = reader.root.at("domain").at("walls");
    for (int side = 0; side < 6; ++side)
        if (reader.domain.open(side) && !capabilities.open_walls) {
            reader.mistakes.add(walls.place, fmt::format("the method {} knows no open walls", node.text),
                                advice);
            break;
        }
    for (int side = 0; side < 6; ++side)
        if (reader.domain.mirror(side) && !capabilities.mirrors) {
            reader.mistakes.add(walls.place, fmt::format("the method {} knows no mirrors", node.text),
                                advice);
            break;
        }
    const std::vector<TomlNode>& entries = reader.root.entries("solid");
    const bool wet = !scenario.liquid.fills.empty() || !scenario.liquid.emitters.empty();
    for (std::size_t n = 0; n < solids.size(); ++n) {
        if (solids[n].sequence && !capabilities.animated_meshes)
            reader.mistakes.add(
                entries[n].at("shape").place,
                fmt::format("the method {} knows no animated meshes (\"{}\")", node.text, solids[n].name),
                advice);
        if (solids[n].rigid.one_way && !capabilities.one_way)
            reader.mistakes.add(
                entries[n].at("coupling").place,
                fmt::format("the method {} knows no one-way coupling (\"{}\")", node.text, solids[n].name),
                advice);
        if (wet && solids[n].motion == Motion::elastic && solids[n].slip < 1)
            reader.mistakes.add(
                entries[n].at("slip").place,
                fmt::format("liquid cannot rub on elastic solids yet (\"{}\")", solids[n].name),
                "remove 'slip', or write motion = \"rigid\"");
        if (std::find(capabilities.motions.begin(), capabilities.motions.end(), solids[n].motion) !=
            capabilities.motions.end())
            continue;
        const TomlNode& motion_node = entries[n].at("motion");
        reader.mistakes.add(motion_node.place,
                            fmt::format("the method {} does not admit {} solids (\"{}\")", node.text,
                                        motion_node.text, solids[n].name),
                            advice);
    }
}

// A liquid whose pressure is sound is compressed by what moves nearly as fast.
void check_sound(SceneReader& reader, const Scenario& scenario) {
    constexpr double largest_mach = 0.12;  // what is chosen unasked is 0.1
    const double sound = scenario.sph.speed_of_sound, speed = expected_speed(scenario);
    if (sound == 0 || speed <= largest_mach * sound ||
        !make_scheme(scenario.method)->capabilities().compressible)
        return;
    reader.warn(
        reader.root.at("liquid").at("speed_of_sound").place,
        fmt::format("what moves here may reach {:.3g} m/s, Mach {:.2f} with this sound: the liquid is "
                    "compressed where it meets it; leave 'speed_of_sound' out to get Mach 0.1",
                    speed, speed / sound));
}

// A probe that a method does not measure would stand at 0.
void check_probes(SceneReader& reader, const Scenario& scenario) {
    const std::vector<Motion> measured = make_scheme(scenario.method)->capabilities().wetted;
    for (const TomlNode& entry : reader.root.entries("probe")) {
        const TomlNode* name = entry.find("wetted_area");
        if (!name) continue;
        const Solid& solid = scenario.solids[*solid_named(*name, scenario.solids, reader.mistakes)];
        if (std::find(measured.begin(), measured.end(), solid.motion) == measured.end())
            reader.mistakes.add(
                name->place,
                fmt::format("the method {} does not measure the wetted area of \"{}\"", scenario.method,
                            solid.name),
                "leave this probe out, or choose a method that does (docs/scene_reference.md, "
                "Methods)");
    }
}

// The forms to compare with know less than our own solver.
void check_solver(SceneReader& reader, const Scenario& scenario) {
    const TomlNode& name = reader.root.at("solver").at("name");
    const bool wet = !scenario.liquid.fills.empty() || !scenario.liquid.emitters.empty();
    const auto any = [&](const auto& is) {
        return std::any_of(scenario.solids.begin(), scenario.solids.end(), is);
    };
    if (name.text == "multigrid" || !wet ||
        !any([](const Solid& solid) { return solid.motion == Motion::elastic; }))
        return;
    if (any([](const Solid& solid) { return solid.motion == Motion::rigid; }))
        reader.mistakes.add(
            name.place,
            fmt::format("the solver {} knows no rigid solids beside elastic ones in liquid", name.text),
            "write name = \"multigrid\"");
    const auto curved = [](const Solid& solid) {
        if (solid.motion != Motion::elastic || !solid.elastic.mesh) return false;
        const ElasticModel model = solid.elastic.mesh->material.model;
        return model != ElasticModel::linear && model != ElasticModel::corotational;
    };
    if (name.text == "factored" && any(curved))
        reader.mistakes.add(name.place, "the solver factored knows linear and corotational material only",
                            "write name = \"spd\", or model = \"corotational\" in elastic = { ... }");
}

void check_cost(SceneReader& reader, const Scene& scene) {
    const Estimate cost = estimate(scene.scenario, scene.output);
    const TomlNode& table = reader.root.at("domain");
    if (cost.memory > machine_memory())
        reader.mistakes.add((table.find("cell") ? table.at("cell") : table.at("resolution")).place,
                            fmt::format("this scene needs about {} of memory; the machine has {}",
                                        byte_text(cost.memory), byte_text(machine_memory())),
                            "make its cells larger, for example with --scale 0.5");
    const bool closed = std::none_of(reader.domain.walls.begin(), reader.domain.walls.end(),
                                     [](const Wall& wall) { return wall.kind == WallKind::open; });
    const LiquidSettings& liquid = scene.scenario.liquid;
    if (closed && liquid.sinks.empty() && !liquid.emitters.empty() && cost.liquid_cells >= cost.cells)
        reader.warn(table.place,
                    "the emitters will fill this closed box; open a wall or add a [[liquid.sink]]");
}

// Turns a validated tree into a scene.
Scene build_scene(SceneReader& reader) {
    Scene scene;
    Scenario& scenario = scene.scenario;
    read_times(reader, scenario);
    read_domain(reader, scenario.gravity);
    reader.mistakes.throw_if_any();  // everything below measures lengths in cells of the domain
    scenario.domain = reader.domain;
    scenario.liquid = read_liquid(reader);
    scenario.sph = read_sph(reader);
    read_solids(reader, scenario);
    confine_fills(reader, scenario);
    scene.probes = read_probes(reader, scenario);
    scene.claims = read_claims(reader, scene.probes, scenario.time.duration);
    scene.output = read_output(reader);
    scenario.solver = read_solver(reader);
    scene.view = read_view(reader, scenario.solids);
    check_method(reader, scenario);
    check_solver(reader, scenario);
    reader.mistakes.throw_if_any();
    check_probes(reader, scenario);
    check_sound(reader, scenario);
    check_cost(reader, scene);
    reader.mistakes.throw_if_any();
    scene.warnings = reader.warnings;
    return scene;
}

void remove(TomlNode& table, std::string_view key) {
    std::erase_if(table.members, [&](const TomlNode::Member& member) { return member.key == key; });
}

// What only pictures show or only a judge asks may change while a run goes on.
TomlNode what_is_simulated(TomlNode root) {
    for (const char* table : {"view", "claim", "check"}) remove(root, table);
    if (TomlNode* solids = root.find("solid"))
        for (TomlNode& solid : solids->items) remove(solid, "color");
    return root;
}

// With `changes`, the scene is adapted to its method.
Scene read_scene(const std::string& text, const std::filesystem::path& file,
                 const std::vector<std::string>& overrides, double scale, const std::string& method,
                 const std::filesystem::path& meshes, std::vector<std::string>* changes) {
    if (!(scale > 0 && scale <= 1000))
        throw UserError(fmt::format("--scale {}: must be above 0\n  0.5 halves the resolution", scale));
    Mistakes mistakes;
    mistakes.add_source(file.string(), text);
    TomlNode root = parse_toml(text, 0, mistakes);
    for (const std::string& assignment : overrides) {
        apply_override(root, assignment, mistakes);
        // One of the two replaces the other.
        if (TomlNode* domain = root.find("domain")) {
            if (assignment.starts_with("domain.cell")) remove(*domain, "resolution");
            if (assignment.starts_with("domain.resolution")) remove(*domain, "cell");
        }
    }
    validate(root, mistakes);
    mistakes.throw_if_any();

    // `solver = "iccg"` is short for a table with that name.
    if (const TomlNode* solver = root.find("solver"); solver && solver->is(Kind::text)) {
        const Place place = solver->place;
        TomlNode table;
        table.place = place;
        table.set("name", place, *solver);
        root.set("solver", place, table);
    }
    fill_in_defaults(root);
    if (!method.empty()) {
        const int source = mistakes.add_source("--method " + method, method);
        root.find("scene")->set("method", {source, 1, 1}, TomlNode::make_text(method, {source, 1, 1}));
    }
    if (changes) *changes = adapt_to_method(root);
    fill_in_carrier(root);
    if (scale != 1) {
        if (TomlNode* cell = root.find("domain")->find("cell")) {
            cell->kind = Kind::number;
            cell->number /= scale;
        } else {
            TomlNode& resolution = *root.find("domain")->find("resolution");
            const double scaled = std::max(1.0, std::round(static_cast<double>(resolution.integer) * scale));
            resolution = TomlNode::make_integer(static_cast<std::int64_t>(scaled), resolution.place);
        }
    }
    SceneReader reader{root, meshes.empty() ? file.parent_path() : meshes, mistakes, scale};
    Scene scene = build_scene(reader);
    scene.file = file;
    if (scene.scenario.title.empty()) scene.scenario.title = file.stem().string();
    scene.effective_toml = to_toml(root);
    scene.hash = fmt::format("{:016x}", hash_text(to_toml(what_is_simulated(root)), reader.mesh_hash));
    return scene;
}

}  // namespace

Scene parse_scene(const std::string& text, const std::filesystem::path& file,
                  const std::vector<std::string>& overrides, double scale, const std::string& method,
                  const std::filesystem::path& meshes) {
    return read_scene(text, file, overrides, scale, method, meshes, nullptr);
}

Scene load_scene(const std::filesystem::path& file, const std::vector<std::string>& overrides, double scale,
                 const std::string& method) {
    return parse_scene(read_text(file), file, overrides, scale, method);
}

Scene load_scene_for(const std::string& method, const std::filesystem::path& file,
                     const std::vector<std::string>& overrides, double scale,
                     std::vector<std::string>& changes) {
    return read_scene(read_text(file), file, overrides, scale, method, {}, &changes);
}

SceneSummary summarize_scene(const std::filesystem::path& file) {
    SceneSummary summary;
    try {
        Mistakes mistakes;
        const std::string text = read_text(file);
        mistakes.add_source(file.string(), text);
        TomlNode root = parse_toml(text, 0, mistakes);
        validate(root, mistakes);
        mistakes.throw_if_any();
        fill_in_defaults(root);
        const TomlNode& scene = root.at("scene");
        if (const TomlNode* title = scene.find("title")) summary.title = title->text;
        summary.method = scene.at("method").text;
        if (const TomlNode* check = root.find("check"))
            summary.check = {check->at("scale").number, check->at("seconds").number};
        for (const TomlNode& claim : root.entries("claim"))
            if (const TomlNode* fails = claim.find("fails"))
                summary.failures.push_back(
                    {claim.find("says") ? claim.at("says").text : claim.at("what").text,
                     fails->at("why").text});
        summary.claims = int(root.entries("claim").size());
    } catch (const UserError&) {
        // Whoever runs the scene is told what is wrong with it.
    }
    return summary;
}

}  // namespace flotsam

#include "scene/scene.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <numbers>
#include <optional>
#include <set>

#include "core/check.h"
#include "coupling/scheme.h"
#include "geometry/mesh_reader.h"
#include "scene/estimate.h"
#include "scene/rigid_scene.h"
#include "scene/schema.h"
#include "scene/spring_scene.h"
#include "scene/suggest.h"
#include "scene/toml_tree.h"

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

// FNV-1a: the same everywhere, and enough to tell scenes apart.
std::uint64_t hash_text(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325ULL) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return hash;
}

bool overlap(const Box& a, const Box& b) {
    for (int axis = 0; axis < 3; ++axis)
        if (!(a.low[axis] <= b.high[axis] && b.low[axis] <= a.high[axis])) return false;
    return true;
}

constexpr std::pair<std::string_view, Carrier> carrier_words[] = {
    {"apic", Carrier::apic}, {"flip", Carrier::flip}, {"markers", Carrier::markers}};

// Where a scene does not say how velocity travels, its method does.
void fill_in_carrier(TomlNode& root) {
    TomlNode& liquid = *root.find("liquid");
    if (liquid.find("carrier")) return;
    Carrier first = Carrier::apic;
    for (const SchemeEntry& entry : schemes())
        if (entry.name == root.find("scene")->find("method")->text)
            first = entry.make()->capabilities().carriers.front();
    for (const auto& [word, carrier] : carrier_words)
        if (carrier == first)
            liquid.set("carrier", liquid.place, TomlNode::make_text(std::string(word), liquid.place));
}

// Turns a validated tree into a scene. What the table of keys cannot know is checked here.
class SceneBuilder {
  public:
    SceneBuilder(const TomlNode& root, std::filesystem::path folder, Mistakes& mistakes)
        : root_(root), folder_(std::move(folder)), mistakes_(mistakes) {}

    Scene build() {
        read_times();
        read_domain();
        mistakes_.throw_if_any();  // everything below measures lengths in cells of the domain
        read_liquid();
        read_solids();
        read_probes();
        read_claims();
        read_output();
        read_view();
        check_method();
        mistakes_.throw_if_any();
        check_cost();
        mistakes_.throw_if_any();
        return std::move(scene_);
    }
    std::uint64_t mesh_hash() const { return mesh_hash_; }

  private:
    // Present in a validated tree with defaults.
    const TomlNode& get(const TomlNode& table, std::string_view key) const {
        const TomlNode* node = table.find(key);
        FLOTSAM_CHECK(node != nullptr);
        return *node;
    }
    double number(const TomlNode& table, std::string_view key) const { return get(table, key).number; }
    double number_or(const TomlNode& table, std::string_view key, double fallback) const {
        const TomlNode* node = table.find(key);
        return node ? node->number : fallback;
    }
    const std::vector<TomlNode>& entries(const TomlNode& table, std::string_view key) const {
        static const std::vector<TomlNode> none;
        const TomlNode* node = table.find(key);
        return node ? node->items : none;
    }
    void warn(Place place, const std::string& message) {
        scene_.warnings.push_back(fmt::format("{}: {}", mistakes_.where(place), message));
    }
    const Domain& domain() const { return scene_.scenario.domain; }

    // A point or vector; in 2D a third number is ignored.
    Vec3 vector(const TomlNode& list, double flat_z) {
        if (!flat_ && list.items.size() < 3)
            mistakes_.add(list.place, "two numbers are enough only in 2D",
                          "give x, y and z, or set scene.dimensions = 2");
        Vec3 v;
        for (std::size_t axis = 0; axis < std::min<std::size_t>(3, list.items.size()); ++axis)
            v[axis] = list.items[axis].number;
        if (flat_) v.z = flat_z;
        return v;
    }
    // Positions in 2D lie in the middle of the slab.
    Vec3 position(const TomlNode& list) { return vector(list, domain().h / 2); }
    Vec3 velocity(const TomlNode& list) {
        if (flat_ && list.items.size() == 3 && list.items[2].number != 0)
            mistakes_.add(list.items[2].place, "nothing moves along z in 2D",
                          "set the third number to 0 or leave it out");
        return vector(list, 0);
    }

    void read_times() {
        const TomlNode& table = get(root_, "scene");
        Scenario& scenario = scene_.scenario;
        const TomlNode* title = table.find("title");
        scenario.title = title ? title->text : "";
        scenario.method = get(table, "method").text;
        flat_ = get(table, "dimensions").integer == 2;
        TimeSettings& time = scenario.time;
        time.duration = number(table, "duration");
        time.frames_per_second = number(table, "frames_per_second");
        time.cfl = number(table, "cfl");
        time.time_step = number_or(table, "time_step", 0);
        time.retry = get(table, "retry").boolean;
        const double frames = time.duration * time.frames_per_second;
        if (frames < 1 - 1e-9)
            mistakes_.add(get(table, "duration").place,
                          fmt::format("'duration' {} s is shorter than one frame", time.duration),
                          "raise 'duration' or 'frames_per_second'");
        if (frames > 1e6)
            mistakes_.add(get(table, "duration").place, fmt::format("this asks for {:g} frames", frames),
                          "lower 'duration' or 'frames_per_second': a million frames is the most");
        if (time.time_step > 0 && time.duration / time.time_step > 1e9)
            mistakes_.add(get(table, "time_step").place,
                          fmt::format("this asks for {:g} steps", time.duration / time.time_step),
                          "raise 'time_step', or leave it out to let 'cfl' choose it");
        const TomlNode& gravity = get(table, "gravity");
        scenario.gravity = gravity.is(Kind::array) ? velocity(gravity) : Vec3{0, -gravity.number, 0};
    }

    void read_domain() {
        const TomlNode& table = get(root_, "domain");
        const TomlNode& size_node = get(table, "size");
        const Vec3 size = asked_size_ = vector(size_node, 0);
        const int axes = flat_ ? 2 : 3;
        const TomlNode& resolution = get(table, "resolution");
        Domain& box = scene_.scenario.domain;
        const double longest = std::max({size.x, size.y, flat_ ? 0 : size.z});
        box.h = longest / static_cast<double>(resolution.integer);
        box.cells = {1, 1, 1};
        for (int axis = 0; axis < axes; ++axis) {
            const double cells = std::round(size[axis] / box.h);
            box.cells[axis] = static_cast<int>(cells);
            // A box one cell thick would be taken for a slab by everything that follows.
            if (cells < 2)
                mistakes_.add(
                    resolution.place,
                    fmt::format("only {:g} cells along side {} ({} m)", cells, axis + 1, size[axis]),
                    "raise 'resolution', or set scene.dimensions = 2 for a thin slab");
            else if (std::abs(cells * box.h - size[axis]) > 1e-6 * size[axis])
                warn(size_node.place,
                     fmt::format("side {} is {:.6g} m instead of {:.6g} m: whole cells of {:.6g} m", axis + 1,
                                 cells * box.h, size[axis], box.h));
        }
        if (flat_ && size_node.items.size() == 3)
            warn(size_node.place,
                 fmt::format("the third side is ignored in 2D: the slab is one cell of {:.6g} m thick",
                             box.h));

        const TomlNode& walls = get(table, "walls");
        constexpr std::string_view names[] = {"left", "right", "bottom", "top", "back", "front"};
        for (int side = 0; side < 6; ++side) {
            const TomlNode& wall = get(walls, names[side]);
            const bool detailed = wall.is(Kind::table);
            const std::string& kind = detailed ? get(wall, "kind").text : wall.text;
            box.walls[side].kind = kind == "open" ? WallKind::open : WallKind::closed;
            box.walls[side].slip =
                detailed ? number_or(wall, "slip", number(walls, "slip")) : number(walls, "slip");
            if (flat_ && side >= z_low) {
                if (kind == "open")
                    mistakes_.add(wall.place, fmt::format("the {} of a 2D scene cannot be open", names[side]),
                                  "leave it out");
                box.walls[side] = {};
            }
        }
    }

    // The shape that a fill, emitter or sink names. In 2D boxes reach through the slab, so that only x and y
    // count.
    ShapePtr region(const TomlNode& table, std::string_view what) {
        const double far = 10 * length(domain().size());
        if (const TomlNode* box = table.find("box")) {
            Vec3 low = position(get(*box, "min")), high = position(get(*box, "max"));
            if (flat_) low.z = -far, high.z = far;
            for (int axis = 0; axis < 3; ++axis)
                if (!(low[axis] < high[axis])) {
                    mistakes_.add(box->place,
                                  fmt::format("the box is empty: its {} goes from {} to {}", "xyz"[axis],
                                              low[axis], high[axis]),
                                  "'min' must be below 'max' in every coordinate");
                    return nullptr;
                }
            warn_if_clipped({low, high}, table, what);
            // Liquid against a wall has no surface there: let the box reach through. It also closes the gap
            // that appears where rounding to whole cells has moved the wall away.
            for (int axis = 0; axis < 3; ++axis) {
                const double slack = 1e-9 * asked_size_[axis];
                if (low[axis] <= slack) low[axis] = std::min(low[axis], -far);
                if (high[axis] >= asked_size_[axis] - slack) high[axis] = std::max(high[axis], far);
            }
            return make_box(low, high);
        }
        if (const TomlNode* level = table.find("level")) {
            const TomlNode* wave = table.find("wave");
            return wave ? make_level(level->number, number(*wave, "amplitude"), number(*wave, "wavelength"))
                        : make_level(level->number);
        }
        ShapePtr shape;
        if (const TomlNode* sphere = table.find("sphere")) {
            shape = make_sphere(position(get(*sphere, "center")), number(*sphere, "radius"));
        } else {
            const TomlNode& mesh = get(table, "mesh");
            const std::filesystem::path file = mesh_file(get(mesh, "file"));
            if (file.empty()) return nullptr;
            try {
                shape = make_mesh_shape(file.string(), number(mesh, "scale"), position(get(mesh, "position")),
                                        domain().h / 2);
            } catch (const UserError& error) {
                add_nested(get(mesh, "file").place, error.what());
                return nullptr;
            }
        }
        warn_if_clipped(shape->bounds(), table, what);
        return shape;
    }

    // What a reader says about a file, placed where the scene names that file.
    void add_nested(Place place, std::string_view text) {
        const std::size_t end = text.find("\n  ");
        mistakes_.add(
            place, std::string(text.substr(0, end)),
            end == std::string_view::npos ? "choose another file" : std::string(text.substr(end + 3)));
    }

    // Checks that the mesh file exists and takes it into the scene's hash; empty when it does not.
    std::filesystem::path mesh_file(const TomlNode& node) {
        if (node.text.empty() || node.text.find('\0') != std::string::npos) {
            mistakes_.add(node.place, "'file' is no file name", "name a .obj, .ply or .stl file");
            return {};
        }
        std::filesystem::path file = folder_ / node.text;
        std::error_code error;
        if (!std::filesystem::is_regular_file(file, error)) {
            mistakes_.add(node.place, fmt::format("there is no mesh file '{}'", file.string()),
                          "paths are relative to the scene file");
            return {};
        }
        return hashed_mesh_file(file);
    }
    // Takes a mesh file into the scene's hash.
    std::filesystem::path hashed_mesh_file(const std::filesystem::path& file) {
        std::ifstream stream(file, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
        mesh_hash_ = hash_text(bytes, mesh_hash_);
        return file;
    }

    // Refuses a region without any place for a particle inside the domain.
    bool usable(const ShapePtr& shape, const TomlNode& table, std::string_view what) {
        if (!shape) return false;
        const Box bounds = shape->bounds(), inside{{}, domain().size()};
        if (!overlap(bounds, inside)) {
            const Vec3 size = domain().size();
            mistakes_.add(table.place, fmt::format("this {} lies outside the domain", what),
                          fmt::format("the domain reaches from the origin to [{:g}, {:g}, {:g}]", size.x,
                                      size.y, size.z));
            return false;
        }
        if (!(volume_inside(*shape, domain()) >= scene_.scenario.particle_volume())) {
            mistakes_.add(
                table.place,
                fmt::format("this {} holds no liquid: it is empty, or smaller than a cell of {:.3g} m", what,
                            domain().h),
                "make it larger or raise domain.resolution");
            return false;
        }
        return true;
    }

    void warn_if_clipped(const Box& bounds, const TomlNode& table, std::string_view what) {
        if (what == "sink") return;              // a drain set into the floor is no mistake
        const double slack = 0.55 * domain().h;  // rounding to whole cells moves a wall by up to half a cell
        for (int axis = 0; axis < (flat_ ? 2 : 3); ++axis)
            if (bounds.low[axis] < -slack || bounds.high[axis] > domain().size()[axis] + slack) {
                warn(table.place,
                     fmt::format("this {} reaches out of the domain; that part is ignored", what));
                return;
            }
    }

    template <class Timed>
    void read_times_of(const TomlNode& table, Timed& timed) {
        timed.from = number(table, "from");
        timed.until = number_or(table, "until", timed.until);
        if (!(timed.from < timed.until))
            mistakes_.add(table.place,
                          fmt::format("'until' ({} s) is not after 'from' ({} s)", timed.until, timed.from),
                          "raise 'until'");
    }

    void read_liquid() {
        const TomlNode& table = get(root_, "liquid");
        LiquidSettings& liquid = scene_.scenario.liquid;
        liquid.density = number(table, "density");
        liquid.viscosity = number_or(table, "viscosity", 0);
        for (const auto& [word, carrier] : carrier_words)
            if (get(table, "carrier").text == word) liquid.carrier = carrier;
        liquid.flip_share = number(table, "flip_share");
        liquid.reseed = get(table, "reseed").boolean;
        liquid.seed = static_cast<std::uint64_t>(get(table, "seed").integer);
        for (const TomlNode& entry : entries(table, "fill")) {
            if (entry.find("wave") && !entry.find("level"))
                mistakes_.add(entry.find("wave")->place, "'wave' needs 'level'",
                              "a wave is added to a level");
            Fill fill{region(entry, "fill"), velocity(get(entry, "velocity"))};
            if (!usable(fill.region, entry, "fill")) continue;
            liquid.fills.push_back(fill);
        }
        for (const TomlNode& entry : entries(table, "emitter")) {
            Emitter emitter{region(entry, "emitter"), velocity(get(entry, "velocity"))};
            read_times_of(entry, emitter);
            if (!usable(emitter.region, entry, "emitter")) continue;
            liquid.emitters.push_back(emitter);
        }
        for (const TomlNode& entry : entries(table, "sink")) {
            Sink sink{region(entry, "sink")};
            read_times_of(entry, sink);
            if (!usable(sink.region, entry, "sink")) continue;
            liquid.sinks.push_back(sink);
        }
        if (entries(table, "fill").empty() && entries(table, "emitter").empty())
            mistakes_.add(table.place, "there is no liquid in this scene",
                          "add a [[liquid.fill]] or a [[liquid.emitter]]");
    }

    // The files of an animated mesh, numbered without a gap; none when a mistake was found.
    std::vector<std::filesystem::path> sequence_files(const TomlNode& node, std::int64_t first) {
        const std::size_t hash = node.text.find('#');
        const std::size_t end = node.text.find_first_not_of('#', std::min(hash, node.text.size()));
        if (hash == std::string::npos ||
            (end != std::string::npos && node.text.find('#', end) < std::string::npos) ||
            node.text.find('\0') != std::string::npos) {
            mistakes_.add(node.place, "'files' needs one row of # where the number stands",
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
            return std::filesystem::is_regular_file(folder_ / name(number), error);
        };
        std::vector<std::filesystem::path> files;
        for (std::int64_t number = first; exists(number); ++number)
            files.push_back(hashed_mesh_file(folder_ / name(number)));
        const std::int64_t missing = first + static_cast<std::int64_t>(files.size());
        if (exists(missing + 1))
            mistakes_.add(node.place,
                          fmt::format("'{}' is missing, but '{}' exists", name(missing), name(missing + 1)),
                          "number the files without a gap, or begin with another 'first'");
        else if (files.size() < 2)
            mistakes_.add(
                node.place,
                fmt::format("an animation needs two files at least; there is no '{}'", name(missing)),
                "paths are relative to the scene file; 'first' is the number of the first file");
        else
            return files;
        return {};
    }

    // Makes an animated mesh the shape of a solid.
    void read_sequence(const TomlNode& table, Solid& solid) {
        const TomlNode& node = get(table, "files");
        if (solid.motion != Motion::scripted)
            mistakes_.add(node.place, "only a scripted solid can have an animated mesh",
                          "write motion = \"scripted\"");
        const std::vector<std::filesystem::path> files = sequence_files(node, get(table, "first").integer);
        if (files.empty()) return;
        try {
            auto sequence = std::make_shared<MeshSequence>(read_mesh_sequence(files, number(table, "scale")));
            sequence->rate = number(table, "rate");
            sequence->loop = get(table, "loop").boolean;
            solid.sequence = sequence;
            solid.shape = {shape_at(solid, 0).shape, body_mesh_at(solid, 0)};
        } catch (const UserError& error) {
            add_nested(node.place, error.what());
        }
    }

    double slab_mesh_depth() const { return 3 * domain().h; }  // of a body that goes right through a slab
    std::optional<Slab> slab() const {
        return flat_ ? std::optional(Slab{domain().h, slab_mesh_depth()}) : std::nullopt;
    }

    // The shape of a solid in body coordinates; nothing when a mistake was found.
    std::optional<SolidShape> solid_shape(const TomlNode& shape) {
        const double spacing = 0.5 * domain().h;
        const auto pair = [](const TomlNode& list) {
            return std::pair{list.items[0].number, list.items[1].number};
        };
        const double depth = slab_mesh_depth();
        if (const TomlNode* box = shape.find("box")) {
            const Vec3 edges = vector(*box, depth);
            return flat_ ? solid_rectangle(edges.x, edges.y, depth) : solid_box(edges);
        }
        if (const TomlNode* sphere = shape.find("sphere"))
            return flat_ ? solid_disc(sphere->number, depth, spacing) : solid_sphere(sphere->number, spacing);
        if (const TomlNode* gear = shape.find("gear")) {
            const double radius = gear->items[0].number, thickness = gear->items[1].number,
                         teeth = gear->items[2].number;
            if (teeth != std::round(teeth) || teeth < 4 || teeth > 1000) {
                mistakes_.add(gear->items[2].place, fmt::format("a gear cannot have {} teeth", teeth),
                              "choose a whole number from 4 to 1000");
                return {};
            }
            return flat_ ? solid_flat_gear(radius, depth, int(teeth))
                         : solid_gear(radius, thickness, int(teeth));
        }
        if (flat_) {
            mistakes_.add(shape.place, "in two dimensions a solid is a box, a sphere or a gear",
                          "a sphere is a disc there; or remove 'dimensions = 2'");
            return {};
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
            mistakes_.add(torus->place, "the tube of the torus is thicker than its ring",
                          "the first radius must be the larger one");
            return {};
        }
        if (const TomlNode* duck = shape.find("duck")) return solid_duck(duck->number, spacing);
        if (const TomlNode* boat = shape.find("boat")) {
            const double length = boat->items[0].number, height = boat->items[1].number,
                         width = boat->items[2].number, wall = boat->items[3].number;
            if (wall < 0.4 * std::min({0.5 * length, height, 0.5 * width}))
                return solid_boat(length, height, width, wall, spacing);
            mistakes_.add(boat->items[3].place, "the shell fills the boat", "make the fourth number smaller");
            return {};
        }
        const TomlNode& mesh = get(shape, "mesh");
        const std::filesystem::path file = mesh_file(get(mesh, "file"));
        if (file.empty()) return {};
        try {
            return solid_mesh(file.string(), number(mesh, "scale"), spacing);
        } catch (const UserError& error) {
            add_nested(get(mesh, "file").place, error.what());
            return {};
        }
    }

    Rotation rotation(const TomlNode& table) {
        const TomlNode& axis = get(table, "axis");
        const Vec3 direction = vector(axis, 0);
        if (direction == Vec3{}) {
            mistakes_.add(axis.place, "the axis of a rotation has no direction",
                          "write for example axis = [0, 1, 0]");
            return {};
        }
        return Rotation::about(direction, number(table, "degrees") * std::numbers::pi / 180);
    }

    Script script(const TomlNode& entry, Motion motion) {
        Script script;
        const TomlNode* velocity = entry.find("velocity");
        const TomlNode* spin = entry.find("spin");
        const std::vector<TomlNode>& keyframes = entries(entry, "keyframe");
        const Place place = get(entry, "motion").place;
        if (motion != Motion::scripted) {
            const bool starts_moving =
                (motion == Motion::rigid || motion == Motion::spring) && (velocity || spin);
            if (!keyframes.empty() || ((velocity || spin) && !starts_moving))
                mistakes_.add(place, fmt::format("a {} solid follows no script", get(entry, "motion").text),
                              "write motion = \"scripted\", or remove velocity, spin and keyframes");
            return script;
        }
        if (velocity) script.velocity = vector(*velocity, 0);
        if (spin) script.spin = vector(*spin, 0);
        script.smooth = get(entry, "smooth").boolean;
        if (!keyframes.empty() && (velocity || spin))
            mistakes_.add(place, "a script is either keyframes or velocity and spin", "remove one of them");
        for (const TomlNode& key : keyframes) {
            Keyframe k{number(key, "time"), {position(get(key, "position")), {}}};
            if (const TomlNode* turn = key.find("rotation")) k.pose.rotation = rotation(*turn);
            if (!script.keyframes.empty() && k.time <= script.keyframes.back().time)
                mistakes_.add(get(key, "time").place, "keyframes must follow each other in time",
                              "sort them by 'time'");
            script.keyframes.push_back(k);
        }
        return script;
    }

    void check_name(const TomlNode& node, std::set<std::string>& taken, std::string_view what) {
        const bool plain =
            !node.text.empty() &&
            node.text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
                std::string::npos;
        if (!plain)
            mistakes_.add(node.place, fmt::format("\"{}\" cannot name a {}", node.text, what),
                          "use letters, digits, - and _");
        else if (!taken.insert(node.text).second)
            mistakes_.add(node.place, fmt::format("two {}s are called \"{}\"", what, node.text),
                          "give each its own name");
    }

    void read_solids() {
        std::set<std::string> names;
        for (const TomlNode& entry : entries(root_, "solid")) {
            const TomlNode& name = get(entry, "name");
            check_name(name, names, "solid");
            const std::string& motion = get(entry, "motion").text;
            Solid solid;
            solid.name = name.text;
            solid.motion = motion == "scripted"  ? Motion::scripted
                           : motion == "rigid"   ? Motion::rigid
                           : motion == "spring"  ? Motion::spring
                           : motion == "elastic" ? Motion::elastic
                           : motion == "cloth"   ? Motion::cloth
                                                 : Motion::fixed;
            solid.slip = number(entry, "slip");
            if (const TomlNode* color = entry.find("color")) solid.color = three_numbers(*color);
            solid.start.position = position(get(entry, "position"));
            if (const TomlNode* turn = entry.find("rotation")) solid.start.rotation = rotation(*turn);
            solid.script = script(entry, solid.motion);
            const TomlNode& shape = get(entry, "shape");
            if (const TomlNode* sequence = flat_ ? nullptr : shape.find("mesh_sequence"))
                read_sequence(*sequence, solid);
            else
                solid.shape = solid_shape(shape).value_or(SolidShape{});
            if (solid.shape.distance)
                check_solid_place(entry, name.text, solid.motion, bounds(mesh_at(solid, 0)));
            solid.rigid = read_rigid(entry, solid.motion, solid.shape.distance ? &solid.shape : nullptr,
                                     slab(), mistakes_);
            read_springs(entry, domain(), solid, mistakes_);
            scene_.scenario.solids.push_back(solid);
        }
        const std::vector<TomlNode>& tables = entries(root_, "solid");
        for (std::size_t n = 0; n < tables.size(); ++n)
            fit_springs(tables[n], scene_.scenario, scene_.scenario.solids[n],
                        [&](Place place, const std::string& message) { warn(place, message); });
        scene_.scenario.joints = read_joints(root_, scene_.scenario.solids, slab(), mistakes_);
    }

    void check_solid_place(const TomlNode& entry, const std::string& name, Motion motion, const Box& box) {
        const Vec3 size = domain().size();
        const Box inside{{}, size};
        const std::string advice =
            fmt::format("the domain reaches from the origin to [{:g}, {:g}, {:g}]", size.x, size.y, size.z);
        const Place place = get(entry, "position").place;
        if (!overlap(box, inside)) {
            mistakes_.add(place, fmt::format("the solid \"{}\" lies outside the domain", name), advice);
            return;
        }
        // What is fixed may stick out, like a post set into the floor; what moves freely may not.
        if (motion == Motion::fixed || motion == Motion::scripted) return;
        const double slack = 1e-9 * length(size);
        for (int axis = 0; axis < (flat_ ? 2 : 3); ++axis)
            if (box.low[axis] < -slack || box.high[axis] > size[axis] + slack) {
                mistakes_.add(place, fmt::format("the solid \"{}\" reaches out of the domain", name), advice);
                return;
            }
    }

    void read_probes() {
        std::set<std::string> names;
        static constexpr std::pair<std::string_view, Probe::Kind> kinds[] = {
            {"height", Probe::Kind::height},         {"pressure", Probe::Kind::pressure},
            {"speed", Probe::Kind::speed},           {"velocity", Probe::Kind::velocity_x},
            {"velocity_x", Probe::Kind::velocity_x}, {"velocity_y", Probe::Kind::velocity_y},
            {"velocity_z", Probe::Kind::velocity_z}};
        for (const TomlNode& entry : entries(root_, "probe")) {
            check_name(get(entry, "name"), names, "probe");
            Probe probe;
            probe.name = get(entry, "name").text;
            for (const auto& [key, kind] : kinds) {
                const TomlNode* node = entry.find(key);
                if (!node) continue;
                probe.kind = kind;
                if (kind == Probe::Kind::height) {
                    const std::size_t given = node->is(Kind::array) ? node->items.size() : 1;
                    if (!flat_ && given != 2)
                        mistakes_.add(node->place, "'height' needs x and z",
                                      "write for example height = [0.5, 0.3]");
                    const double x = node->is(Kind::array) ? node->items[0].number : node->number;
                    probe.point = {x, 0, flat_ || given < 2 ? domain().h / 2 : node->items[1].number};
                    probe.width = number(entry, "width");
                    if (x - 0.5 * probe.width < 0 || x + 0.5 * probe.width > domain().size().x)
                        mistakes_.add(node->place, "the probe's width reaches beyond the domain",
                                      "make it narrower or move the probe");
                } else {
                    probe.point = position(*node);
                }
                if (!Box{{}, domain().size()}.contains(probe.point))
                    mistakes_.add(node->place,
                                  fmt::format("the probe \"{}\" lies outside the domain", probe.name),
                                  "move it inside");
            }
            if (read_solid_probe(entry, probe.name)) continue;
            if (entry.find("velocity")) {
                for (const auto& [component, kind] : {std::pair{".x", Probe::Kind::velocity_x},
                                                      {".y", Probe::Kind::velocity_y},
                                                      {".z", Probe::Kind::velocity_z}})
                    scene_.probes.push_back({probe.name + component, kind, probe.point});
                continue;
            }
            scene_.probes.push_back(probe);
        }
    }

    // A probe of a solid: what the liquid does to it, or where it is; false when the entry is none.
    bool read_solid_probe(const TomlNode& entry, const std::string& name) {
        static constexpr std::pair<std::string_view, Probe::Kind> kinds[] = {
            {"force", Probe::Kind::force_x},
            {"torque", Probe::Kind::torque_x},
            {"wetted_area", Probe::Kind::wetted_area},
            {"position", Probe::Kind::position_x},
            {"tilt", Probe::Kind::tilt},
            {"volume", Probe::Kind::volume}};
        for (const auto& [key, kind] : kinds) {
            const TomlNode* node = entry.find(key);
            if (!node) continue;
            const std::vector<Solid>& solids = scene_.scenario.solids;
            std::vector<std::string_view> known;
            for (const Solid& solid : solids) known.push_back(solid.name);
            const auto at = std::find(known.begin(), known.end(), node->text);
            if (at == known.end())
                mistakes_.add(node->place, fmt::format("there is no solid called \"{}\"", node->text),
                              known.empty() ? "this scene has no solids: add a [[solid]]"
                                            : suggestion(node->text, known));
            const int solid = int(at - known.begin());
            if (kind == Probe::Kind::wetted_area || kind >= Probe::Kind::tilt) {
                scene_.probes.push_back({name, kind, {}, solid});
            } else {
                for (int axis = 0; axis < 3; ++axis)
                    scene_.probes.push_back(
                        {fmt::format("{}.{}", name, "xyz"[axis]), Probe::Kind(int(kind) + axis), {}, solid});
            }
            return true;
        }
        return false;
    }

    void read_claims() {
        std::vector<std::string> probe_names;
        std::vector<std::string_view> known;
        for (const Probe& probe : scene_.probes) probe_names.push_back("probe." + probe.name);
        for (const Quantity& quantity : quantities()) known.push_back(quantity.name);
        known.insert(known.end(), probe_names.begin(), probe_names.end());
        const double duration = scene_.scenario.time.duration;
        for (const TomlNode& entry : entries(root_, "claim")) {
            Claim claim;
            const TomlNode& what = get(entry, "what");
            claim.what = what.text;
            if (std::find(known.begin(), known.end(), claim.what) == known.end())
                mistakes_.add(what.place, fmt::format("nothing called \"{}\" can be measured", claim.what),
                              suggestion(claim.what, known));
            if (const TomlNode* says = entry.find("says")) claim.says = says->text;

            const TomlNode* ratio = entry.find("relative_to_start");
            const TomlNode* near = entry.find("near");
            const bool absolute = entry.find("min") || entry.find("max");
            if (absolute + (ratio != nullptr) + (near != nullptr) != 1)
                mistakes_.add(entry.place, "a claim needs exactly one demand",
                              "give min and/or max, or relative_to_start, or near");
            const TomlNode& bounds = ratio ? *ratio : entry;
            claim.relative_to_start = ratio != nullptr;
            claim.min = number_or(bounds, "min", claim.min);
            claim.max = number_or(bounds, "max", claim.max);
            if (ratio && !ratio->find("min") && !ratio->find("max"))
                mistakes_.add(ratio->place, "'relative_to_start' is empty", "give min and/or max");
            if (near) {
                claim.min = number(*near, "value") - number(*near, "tolerance");
                claim.max = number(*near, "value") + number(*near, "tolerance");
            }
            if (claim.min > claim.max)
                mistakes_.add(entry.place,
                              fmt::format("nothing is at least {} and at most {}", claim.min, claim.max),
                              "swap min and max");

            const TomlNode* at = entry.find("at");
            if (at && (entry.find("from") || entry.find("until")))
                mistakes_.add(at->place, "'at' excludes 'from' and 'until'",
                              "give a moment or a window, not both");
            claim.from = at ? at->number : number_or(entry, "from", claim.from);
            claim.until = at ? at->number : number_or(entry, "until", claim.until);
            if (claim.from > claim.until)
                mistakes_.add(entry.place,
                              fmt::format("'until' ({} s) is before 'from' ({} s)", claim.until, claim.from),
                              "swap them");
            if (claim.from > duration)
                mistakes_.add(
                    entry.place,
                    fmt::format("the claim looks at {} s, but the scene ends at {} s", claim.from, duration),
                    "raise scene.duration or look earlier");

            const std::string& over = get(entry, "over").text;
            static constexpr std::pair<std::string_view, Claim::Over> overs[] = {
                {"every", Claim::Over::every}, {"mean", Claim::Over::mean}, {"max", Claim::Over::max},
                {"min", Claim::Over::min},     {"rms", Claim::Over::rms},   {"final", Claim::Over::final}};
            for (const auto& [word, value] : overs)
                if (word == over) claim.over = value;
            scene_.claims.push_back(claim);
        }
    }

    void read_output() {
        const TomlNode& output = get(root_, "output");
        scene_.output = {get(output, "surface").boolean,
                         get(output, "volume").boolean,
                         get(output, "particles").boolean,
                         static_cast<int>(get(output, "surface_refinement").integer),
                         static_cast<int>(get(output, "checkpoint_every").integer),
                         get(output, "solids").boolean};
        const TomlNode& solver = get(root_, "solver");
        SolverSettings& settings = scene_.scenario.solver;
        settings.name = get(solver, "name").text;
        settings.tolerance.relative = number(solver, "tolerance");
        settings.tolerance.max_iterations = static_cast<int>(get(solver, "max_iterations").integer);
    }

    Vec3 three_numbers(const TomlNode& list) const {
        return {list.items[0].number, list.items[1].number, list.items[2].number};
    }

    void read_view() {
        const TomlNode& table = get(root_, "view");
        ViewSettings& view = scene_.view;
        if (const TomlNode* camera = table.find("camera")) view.camera = three_numbers(*camera);
        if (const TomlNode* target = table.find("target")) view.target = three_numbers(*target);
        view.field_of_view = number(table, "field_of_view");
        view.light = three_numbers(get(table, "light"));
        view.liquid_color = three_numbers(get(table, "liquid_color"));
        // A sun at the horizon would throw shadows without end.
        if (view.light.y < 0.1 * length(view.light) || length(view.light) == 0)
            mistakes_.add(get(table, "light").place,
                          "the sun would stand below the horizon, or hardly above it",
                          "its second number, upwards, must be at least a tenth of the direction's length");
        if (view.camera && view.camera->y <= 0)
            mistakes_.add(table.find("camera")->place, "the camera would stand below the floor",
                          "its second number must be above 0");
        if (view.camera && view.target && length(*view.camera - *view.target) == 0)
            mistakes_.add(table.find("target")->place, "the camera would look at itself",
                          "move 'target' away from 'camera'");
    }

    // The method must exist and admit what the scene contains.
    void check_method() {
        const TomlNode& node = get(get(root_, "scene"), "method");
        std::vector<std::string_view> known;
        const SchemeEntry* chosen = nullptr;
        for (const SchemeEntry& entry : schemes()) {
            known.push_back(entry.name);
            if (entry.name == node.text) chosen = &entry;
        }
        if (!chosen) {
            mistakes_.add(node.place, fmt::format("there is no method \"{}\"", node.text),
                          suggestion(node.text, known));
            return;
        }
        const Capabilities capabilities = chosen->make()->capabilities();
        const std::string advice = "choose another method (`flotsam list methods`) or leave this out";
        if (!capabilities.liquid)
            mistakes_.add(node.place, fmt::format("the method {} knows no liquid", node.text), advice);
        const TomlNode& liquid = get(root_, "liquid");
        if (std::find(capabilities.carriers.begin(), capabilities.carriers.end(),
                      scene_.scenario.liquid.carrier) == capabilities.carriers.end())
            mistakes_.add(get(liquid, "carrier").place,
                          fmt::format("the method {} does not admit the carrier \"{}\"", node.text,
                                      get(liquid, "carrier").text),
                          "leave 'carrier' out to get the method's own");
        if (scene_.scenario.liquid.viscosity > 0 && !capabilities.viscosity)
            mistakes_.add(get(liquid, "viscosity").place,
                          fmt::format("the method {} knows no viscosity", node.text), advice);
        const TomlNode& walls = get(get(root_, "domain"), "walls");
        for (int side = 0; side < 6; ++side)
            if (domain().open(side) && !capabilities.open_walls) {
                mistakes_.add(walls.place, fmt::format("the method {} knows no open walls", node.text),
                              advice);
                break;
            }
        const std::vector<TomlNode>& solids = entries(root_, "solid");
        for (std::size_t n = 0; n < solids.size(); ++n) {
            const Motion motion = scene_.scenario.solids[n].motion;
            if (std::find(capabilities.motions.begin(), capabilities.motions.end(), motion) !=
                capabilities.motions.end())
                continue;
            const TomlNode& motion_node = get(solids[n], "motion");
            mistakes_.add(motion_node.place,
                          fmt::format("the method {} does not admit {} solids (\"{}\")", node.text,
                                      motion_node.text, scene_.scenario.solids[n].name),
                          advice);
        }
    }

    void check_cost() {
        const Estimate cost = estimate(scene_.scenario, scene_.output);
        const TomlNode& table = get(root_, "domain");
        if (cost.memory > machine_memory())
            mistakes_.add(get(table, "resolution").place,
                          fmt::format("this scene needs about {} of memory; the machine has {}",
                                      byte_text(cost.memory), byte_text(machine_memory())),
                          "lower 'resolution', or run it with --scale 0.5");
        const bool closed = std::none_of(domain().walls.begin(), domain().walls.end(),
                                         [](const Wall& wall) { return wall.kind == WallKind::open; });
        if (closed && scene_.scenario.liquid.sinks.empty() && !scene_.scenario.liquid.emitters.empty() &&
            cost.liquid_cells >= cost.cells)
            warn(table.place, "the emitters will fill this closed box; open a wall or add a [[liquid.sink]]");
    }

    const TomlNode& root_;
    std::filesystem::path folder_;
    Mistakes& mistakes_;
    Scene scene_;
    bool flat_ = false;
    Vec3 asked_size_;  // of the domain, before rounding to whole cells [m]
    std::uint64_t mesh_hash_ = 0xcbf29ce484222325ULL;
};

// What only pictures show may change while a run goes on.
TomlNode without_looks(TomlNode root) {
    const auto remove = [](TomlNode& table, std::string_view key) {
        std::erase_if(table.members, [&](const TomlNode::Member& member) { return member.key == key; });
    };
    remove(root, "view");
    if (TomlNode* solids = root.find("solid"))
        for (TomlNode& solid : solids->items) remove(solid, "color");
    return root;
}

}  // namespace

Scene parse_scene(const std::string& text, const std::filesystem::path& file,
                  const std::vector<std::string>& overrides, double scale, const std::string& method,
                  const std::filesystem::path& meshes) {
    if (!(scale > 0 && scale <= 1000))
        throw UserError(fmt::format("--scale {}: must be above 0\n  0.5 halves the resolution", scale));
    Mistakes mistakes;
    mistakes.add_source(file.string(), text);
    TomlNode root = parse_toml(text, 0, mistakes);
    for (const std::string& assignment : overrides) apply_override(root, assignment, mistakes);
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
    fill_in_carrier(root);
    if (scale != 1) {
        TomlNode& resolution = *root.find("domain")->find("resolution");
        const double scaled = std::max(1.0, std::round(static_cast<double>(resolution.integer) * scale));
        resolution = TomlNode::make_integer(static_cast<std::int64_t>(scaled), resolution.place);
    }
    SceneBuilder builder(root, meshes.empty() ? file.parent_path() : meshes, mistakes);
    Scene scene = builder.build();
    scene.file = file;
    if (scene.scenario.title.empty()) scene.scenario.title = file.stem().string();
    scene.effective_toml = to_toml(root);
    scene.hash = fmt::format("{:016x}", hash_text(to_toml(without_looks(root)), builder.mesh_hash()));
    return scene;
}

Scene load_scene(const std::filesystem::path& file, const std::vector<std::string>& overrides, double scale,
                 const std::string& method) {
    return parse_scene(read_text(file), file, overrides, scale, method);
}

std::string scene_title(const std::filesystem::path& file) {
    try {
        Mistakes mistakes;
        const std::string text = read_text(file);
        mistakes.add_source(file.string(), text);
        const TomlNode root = parse_toml(text, 0, mistakes);
        const TomlNode* scene = root.find("scene");
        const TomlNode* title = scene ? scene->find("title") : nullptr;
        return title ? title->text : "";
    } catch (const UserError&) {
        return "";
    }
}

}  // namespace flotsam

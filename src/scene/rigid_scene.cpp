#include "scene/rigid_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <set>

#include "core/check.h"
#include "geometry/mesh_distance.h"
#include "geometry/mesh_surface.h"
#include "scene/scene_reader.h"
#include "scene/solid_scene.h"

namespace flotsam {

namespace {

// The exact distance to the outline of a slab's body, also deep inside, where that of its shape may be too
// small.
class OutlineDistance final : public Shape {
  public:
    explicit OutlineDistance(const TriangleMesh& mesh)
        : bounds_(flotsam::bounds(mesh)), surface_(stretched(mesh, bounds_)) {}
    double distance(Vec3 p) const override { return surface_.nearest({p.x, p.y, 0}).distance; }
    Box bounds() const override { return bounds_; }

  private:
    // Deep enough that front and back are never the nearest.
    static TriangleMesh stretched(TriangleMesh mesh, const Box& box) {
        const Vec3 size = box.high - box.low;
        for (Vec3& v : mesh.vertices) v.z *= 2 * (size.x + size.y) / size.z;
        return mesh;
    }

    Box bounds_;
    MeshSurface surface_;
};

// The part of a body that is deeper than `wall` under its surface.
VolumeMoments room_inside(const TomlNode& entry, const SolidShape& shape, bool flat, double wall) {
    if (flat) return moments_deeper_than(OutlineDistance(shape.mesh), wall);
    // Distances to meshes are sampled near their surface only: sample this one as deep as the wall.
    const TomlNode* given = entry.find("shape");
    const bool sampled = given && (given->find("mesh") || given->find("duck"));
    return moments_deeper_than(sampled ? *mesh_distance(shape.mesh, "its mesh", wall / 6) : *shape.distance,
                               wall);
}

// What the body is made of: all of its mesh, or a wall below its surface.
std::optional<VolumeMoments> material(const TomlNode& entry, const SolidShape& shape, bool flat,
                                      Mistakes& mistakes) {
    const VolumeMoments whole = enclosed_moments(shape.mesh);
    const TomlNode* hollow = entry.find("hollow");
    if (!hollow) return whole;
    const double wall = hollow->number;
    try {
        const VolumeMoments inside = room_inside(entry, shape, flat, wall);
        if (inside.volume > 0) return whole - inside;
        mistakes.add(hollow->place, fmt::format("a wall of {} m fills this solid", wall),
                     "make 'hollow' smaller, or leave it out");
    } catch (const UserError&) {
        mistakes.add(hollow->place, fmt::format("a wall of {} m is too thin for this mesh", wall),
                     "leave 'hollow' out and give its 'mass'");
    }
    return {};
}

Vec3 motion_vector(const TomlNode& entry, std::string_view key, const std::optional<Slab>& slab,
                   Mistakes& mistakes) {
    const TomlNode* node = entry.find(key);
    if (!node) return {};
    const bool turn = key == "spin";
    const Vec3 v = read_vector(*node, slab.has_value(), mistakes);
    if (slab && (turn ? v.x != 0 || v.y != 0 : v.z != 0))
        mistakes.add(node->place, turn ? "in 2D solids turn about z only" : "nothing moves along z in 2D",
                     turn ? "write spin = [0, 0, ...]" : "set the third number to 0 or leave it out");
    return v;
}

// Whether some distribution of mass has this inertia: the integrals of x x^T that it stands for,
// tr(I) / 2 - I, have no negative eigenvalue, and it resists turning about every axis.
bool possible(const Mat3& inertia) {
    const double half = 0.5 * inertia.trace(), slack = 1e-9 * half;
    const Mat3 spread = Mat3::diagonal({half, half, half}) - inertia;
    const auto minor = [&](int i, int j) {
        return spread.row[i][i] * spread.row[j][j] - spread.row[i][j] * spread.row[j][i];
    };
    const auto determinant = [](const Mat3& m) { return dot(m.row[0], cross(m.row[1], m.row[2])); };
    bool possible =
        half > 0 && determinant(inertia) > slack * half * half && determinant(spread) >= -slack * half * half;
    for (int i = 0; i < 3; ++i)
        possible &= spread.row[i][i] >= -slack && minor(i, (i + 1) % 3) >= -slack * half;
    return possible;
}

// `own` is what follows from the shape.
Mat3 read_inertia(const TomlNode& node, const Mat3& own, bool flat, Mistakes& mistakes) {
    if (flat == node.is(TomlNode::Kind::array)) {
        mistakes.add(node.place,
                     flat ? "in 2D a solid turns about z only: its inertia is one number"
                          : "inertia about one axis is not enough in 3D",
                     flat ? "write for example inertia = 0.02"
                          : "write three principal moments, or six numbers: xx, yy, zz, xy, xz, yz");
        return own;
    }
    Mat3 inertia = own;
    if (flat) {
        inertia.row[2].z = node.number;
        if (node.number > 0) return inertia;
        mistakes.add(node.place, "a solid cannot have this inertia", "choose a number above 0");
        return own;
    }
    const auto number = [&](std::size_t n) { return n < node.items.size() ? node.items[n].number : 0; };
    if (node.items.size() != 3 && node.items.size() != 6) {
        mistakes.add(node.place, "inertia has three numbers or six",
                     "write three principal moments along the solid's axes, or xx, yy, zz, xy, xz, yz");
        return own;
    }
    const double xy = number(3), xz = number(4), yz = number(5);
    inertia = {{Vec3{number(0), xy, xz}, Vec3{xy, number(1), yz}, Vec3{xz, yz, number(2)}}};
    if (possible(inertia)) return inertia;
    mistakes.add(node.place, "no solid can have this inertia",
                 "principal moments are above 0, and none is larger than the sum of the two others");
    return own;
}

// A point mass, or one that fills a shape evenly.
MassProperties read_ballast(const TomlNode& lump, const SolidShape& solid, const std::optional<Slab>& slab,
                            const ShapeReader& read_shape, Mistakes& mistakes) {
    const TomlNode& at = lump.at("position");
    const double mass = lump.at("mass").number;
    Vec3 place = read_vector(at, slab.has_value(), mistakes);
    if (slab) place.z = 0;
    if (solid.distance->distance(place) > 0)
        mistakes.add(at.place, "the ballast lies outside the solid",
                     "its position counts from that of the solid, along the solid's own axes");
    MassProperties ballast{mass, {}, {}};
    const TomlNode* given = lump.find("shape");
    if (given && given->find("mesh_sequence"))
        mistakes.add(given->place, "a ballast cannot be an animated mesh", "take one 'mesh'");
    else if (given)
        if (const std::optional<SolidShape> shape = read_shape(*given)) {
            const VolumeMoments moments = enclosed_moments(shape->mesh);
            ballast = mass_properties(moments, mass / moments.volume);
        }
    ballast.center += place;
    return ballast;
}

MassProperties mass_of(const TomlNode& entry, const SolidShape& shape, const std::optional<Slab>& slab,
                       const ShapeReader& read_shape, Mistakes& mistakes) {
    const TomlNode* density = entry.find("density");
    const TomlNode* mass = entry.find("mass");
    if ((density != nullptr) == (mass != nullptr)) {
        mistakes.add(entry.place,
                     density ? "a solid has a density or a mass, not both"
                             : "a rigid solid needs its density or its mass",
                     "write for example density = 600");
        return {};
    }
    std::optional<VolumeMoments> moments = material(entry, shape, slab.has_value(), mistakes);
    if (!moments) return {};
    // Meshes reach out of a slab on both sides; only what is inside it weighs.
    const double inside = slab ? slab->depth / slab->mesh_depth : 1;
    const double volume = moments->volume * inside;
    MassProperties body =
        mass_properties(*moments, inside * (density ? density->number : mass->number / volume));
    if (const TomlNode* inertia = entry.find("inertia"))
        body.inertia = read_inertia(*inertia, body.inertia, slab.has_value(), mistakes);
    if (const TomlNode* ballast = entry.find("ballast")) {
        const bool one = ballast->is(TomlNode::Kind::table);
        for (const TomlNode& lump : one ? std::vector{*ballast} : ballast->items)
            body = together(body, read_ballast(lump, shape, slab, read_shape, mistakes));
    }
    return body;
}

Locks locks_of(const TomlNode& entry, bool flat) {
    Locks locked{};
    constexpr std::string_view names[] = {"x", "y", "z", "rotate_x", "rotate_y", "rotate_z"};
    if (const TomlNode* lock = entry.find("lock"))
        for (const TomlNode& item : lock->items)
            locked[std::find(std::begin(names), std::end(names), item.text) - std::begin(names)] = true;
    if (flat) locked[lock_z] = locked[lock_rotate_x] = locked[lock_rotate_y] = true;
    return locked;
}

// Reads one [[joint]].
class JointReader {
  public:
    JointReader(const TomlNode& entry, const std::vector<Solid>& solids, const std::optional<Slab>& slab,
                Mistakes& mistakes)
        : entry_(entry), solids_(solids), slab_(slab), mistakes_(mistakes) {}

    Joint read() {
        joint_.name = entry_.find("name")->text;
        const TomlNode& kind = *entry_.find("kind");
        static constexpr std::pair<std::string_view, Joint::Kind> kinds[] = {{"fixed", Joint::Kind::fixed},
                                                                             {"hinge", Joint::Kind::hinge},
                                                                             {"slider", Joint::Kind::slider},
                                                                             {"ball", Joint::Kind::ball},
                                                                             {"spring", Joint::Kind::spring}};
        for (const auto& [word, value] : kinds)
            if (word == kind.text) joint_.kind = value;
        read_solids();
        read_frame();
        const bool hinge = joint_.kind == Joint::Kind::hinge, slider = joint_.kind == Joint::Kind::slider,
                   spring = joint_.kind == Joint::Kind::spring;
        only_for(hinge || slider, {"limits"});
        only_for(hinge, {"motor_speed", "motor_torque"});
        only_for(spring, {"to", "stiffness", "damping", "rest_length"});
        if (hinge || slider) read_limits(hinge);
        if (hinge) read_motor();
        if (spring) read_spring();
        return joint_;
    }

  private:
    void only_for(bool admitted, std::initializer_list<std::string_view> keys) {
        if (admitted) return;
        for (const std::string_view key : keys)
            if (const TomlNode* node = entry_.find(key))
                mistakes_.add(node->place,
                              fmt::format("a {} joint has no '{}'", entry_.find("kind")->text, key),
                              "remove it, or choose another kind");
    }

    void read_solids() {
        const auto index_of = [&](std::string_view key) {
            const TomlNode* node = entry_.find(key);
            return node ? solid_named(*node, solids_, mistakes_).value_or(the_world) : the_world;
        };
        joint_.a = index_of("a");
        joint_.b = index_of("b");
        const auto rigid = [&](int solid) {
            return solid != the_world && solids_[solid].motion == Motion::rigid;
        };
        if (joint_.a == joint_.b && joint_.a != the_world)
            mistakes_.add(entry_.place, "a joint needs two different solids", "change 'a' or 'b'");
        else if (joint_.a != the_world && !rigid(joint_.a) && !rigid(joint_.b))
            mistakes_.add(entry_.place, "neither side of this joint is rigid",
                          "a joint moves solids with motion = \"rigid\"");
    }

    Vec3 point(const TomlNode& list) {
        Vec3 p = read_vector(list, slab_.has_value(), mistakes_);
        if (slab_) p.z = 0.5 * slab_->depth;
        return p;
    }

    void read_frame() {
        const bool has_axis = joint_.kind == Joint::Kind::hinge || joint_.kind == Joint::Kind::slider;
        only_for(has_axis, {"axis"});
        Vec3 axis{1, 0, 0};
        if (const TomlNode* given = entry_.find("axis"); has_axis && given) {
            axis = three_numbers(*given);
            if (axis == Vec3{})
                mistakes_.add(given->place, "the axis has no direction",
                              "write for example axis = [0, 0, 1]");
        } else if (has_axis) {
            if (slab_ && joint_.kind == Joint::Kind::hinge)
                axis = {0, 0, 1};
            else
                mistakes_.add(entry_.place, fmt::format("a {} needs its 'axis'", entry_.find("kind")->text),
                              "write for example axis = [0, 0, 1]");
        }
        if (axis == Vec3{}) axis = {1, 0, 0};
        const Vec3 at = point(*entry_.find("at"));
        const TomlNode* to = entry_.find("to");
        const Rotation turn = from_x_to(axis / length(axis));
        joint_.frame_a = in_body(joint_.a, {at, turn});
        joint_.frame_b = in_body(joint_.b, {to ? point(*to) : at, turn});
        if (joint_.kind == Joint::Kind::spring) {
            if (!to)
                mistakes_.add(entry_.place, "a spring needs 'to': where its other end is",
                              "write for example to = [0.5, 1.0, 0.5]");
            else
                joint_.rest_length = entry_.number_or("rest_length", length(point(*to) - at));
        }
    }

    static Rotation from_x_to(Vec3 axis) {
        const Vec3 x{1, 0, 0}, turn = cross(x, axis);
        const double sine = length(turn);
        if (sine < 1e-12) return axis.x > 0 ? Rotation{} : Rotation::about({0, 1, 0}, std::numbers::pi);
        return Rotation::about(turn, std::atan2(sine, axis.x));
    }

    Pose in_body(int solid, const Pose& in_world) const {
        if (solid == the_world) return in_world;
        const Pose pose = pose_at(solids_[solid], 0);
        return {pose.to_body(in_world.position), pose.rotation.inverse() * in_world.rotation};
    }

    void read_limits(bool hinge) {
        const TomlNode* limits = entry_.find("limits");
        if (!limits) return;
        const double unit = hinge ? std::numbers::pi / 180 : 1;
        joint_.low = limits->items[0].number * unit;
        joint_.high = limits->items[1].number * unit;
        if (!(joint_.low <= 0 && joint_.high >= 0))
            mistakes_.add(limits->place, "the joint starts at 0, outside its limits",
                          "the first limit must not be above 0, the second not below");
        if (hinge && (joint_.low < -std::numbers::pi || joint_.high > std::numbers::pi))
            mistakes_.add(limits->place, "a hinge's limits lie between -180 and 180 degrees",
                          "leave 'limits' out to let it turn freely");
    }

    void read_motor() {
        joint_.motor_speed = entry_.number_or("motor_speed", 0);
        joint_.motor_torque = entry_.number_or("motor_torque", 0);
        if (entry_.find("motor_speed") && !entry_.find("motor_torque"))
            mistakes_.add(entry_.find("motor_speed")->place,
                          "a motor needs 'motor_torque': the most it can do",
                          "write for example motor_torque = 10");
    }

    void read_spring() {
        joint_.stiffness = entry_.number_or("stiffness", 0);
        joint_.damping = entry_.number_or("damping", 0);
        if (!entry_.find("stiffness"))
            mistakes_.add(entry_.place, "a spring needs its 'stiffness'",
                          "write for example stiffness = 100");
    }

    const TomlNode& entry_;
    const std::vector<Solid>& solids_;
    const std::optional<Slab>& slab_;
    Mistakes& mistakes_;
    Joint joint_;
};

}  // namespace

std::vector<TableRule> joint_tables() {
    return {
        {"joint",
         "[[joint]]",
         "Holds two solids together, of which one at least is rigid. It is given as it is at the start.",
         {{.name = "name", .types = a_text, .meaning = "letters, digits, - and _", .required = true},
          {.name = "kind",
           .types = a_text,
           .meaning = "fixed: no relative motion; hinge: turns about `axis`; slider: slides along `axis`; "
                      "ball: turns every way; spring: pulls two points together or apart",
           .choices = {"fixed", "hinge", "slider", "ball", "spring"},
           .required = true},
          {.name = "a", .types = a_text, .meaning = "name of a solid", .required = true},
          {.name = "b", .types = a_text, .meaning = "name of the other solid; otherwise the world"},
          {.name = "at",
           .types = a_list,
           .unit = "m",
           .meaning = "where it is; of a spring: its end on `a`",
           .min_count = 2,
           .required = true},
          {.name = "to",
           .types = a_list,
           .unit = "m",
           .meaning = "of a spring: its end on `b`",
           .min_count = 2},
          {.name = "axis",
           .types = a_list,
           .meaning = "of a hinge or slider; any length but zero; a 2D hinge turns about z"},
          {.name = "limits",
           .types = a_list,
           .unit = "deg or m",
           .meaning = "how far `a` may turn or slide against `b`, from the start; otherwise freely",
           .min_count = 2,
           .max_count = 2},
          {.name = "motor_speed",
           .types = a_number,
           .unit = "rad/s",
           .meaning = "that a hinge's motor wants: spin of `a` against `b` along `axis`"},
          {.name = "motor_torque",
           .types = a_number,
           .unit = "N m",
           .meaning = "the most a hinge's motor can do; with speed 0 it brakes",
           .low = 0},
          {.name = "stiffness", .types = a_number, .unit = "N/m", .meaning = "of a spring", .low = 0},
          {.name = "damping", .types = a_number, .unit = "N s/m", .meaning = "of a spring", .low = 0},
          {.name = "rest_length",
           .types = a_number,
           .unit = "m",
           .meaning = "of a spring; otherwise its length at the start",
           .low = 0}}}};
}

RigidProperties read_rigid(const TomlNode& entry, Motion motion, const SolidShape* shape,
                           const std::optional<Slab>& slab, const ShapeReader& read_shape,
                           Mistakes& mistakes) {
    RigidProperties properties;
    properties.friction = entry.number_or("friction", properties.friction);
    properties.restitution = entry.number_or("restitution", properties.restitution);
    const TomlNode* const coupling = entry.find("coupling");
    const bool one_way = coupling && coupling->text == "one-way";
    if (motion != Motion::rigid) {
        for (const std::string_view key : {"mass", "hollow", "inertia", "ballast", "lock"})
            if (const TomlNode* node = entry.find(key))
                mistakes.add(node->place, fmt::format("only a rigid solid has '{}'", key),
                             "write motion = \"rigid\", or remove it");
        if (entry.number_or("release", 0) > 0)
            mistakes.add(entry.at("release").place, "only a rigid solid has 'release'",
                         "write motion = \"rigid\", or remove it");
        if (one_way)
            mistakes.add(entry.at("coupling").place, "only a rigid solid can be coupled one-way",
                         "what is fixed or scripted never feels the liquid: remove it");
        return properties;
    }
    if (!entry.find("keyframe") && shape)
        properties.mass = mass_of(entry, *shape, slab, read_shape, mistakes);
    properties.velocity = motion_vector(entry, "velocity", slab, mistakes);
    properties.spin = motion_vector(entry, "spin", slab, mistakes);
    properties.locked = locks_of(entry, slab.has_value());
    properties.release = entry.number_or("release", 0);
    properties.one_way = one_way;
    if (const TomlNode* release = entry.find("release");
        release && properties.release > 0 && (entry.find("velocity") || entry.find("spin")))
        mistakes.add(release->place, "what is held until its release starts from rest",
                     "remove 'velocity' and 'spin', or 'release'");
    return properties;
}

std::vector<Joint> read_joints(const TomlNode& root, const std::vector<Solid>& solids,
                               const std::optional<Slab>& slab, Mistakes& mistakes) {
    std::vector<Joint> joints;
    const TomlNode* list = root.find("joint");
    if (!list) return joints;
    std::set<std::string> names;
    for (const TomlNode& entry : list->items) {
        joints.push_back(JointReader(entry, solids, slab, mistakes).read());
        if (!names.insert(joints.back().name).second)
            mistakes.add(entry.find("name")->place,
                         fmt::format("two joints are called \"{}\"", joints.back().name),
                         "give each its own name");
    }
    return joints;
}

}  // namespace flotsam

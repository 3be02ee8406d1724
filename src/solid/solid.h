// Solids: their description in a scene, prescribed motion, and the kinds of bodies that move by themselves. A
// new kind is registered here (docs/adding_a_solid.md).
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/rotation.h"
#include "geometry/mesh_sequence.h"
#include "geometry/solid_shape.h"
#include "solid/elastic/elastic_body.h"
#include "solid/rigid/rigid_body.h"
#include "solid/script.h"
#include "solid/spring/spring_body.h"

namespace flotsam {

// How a solid moves, and its name in scene files. A method's capabilities list the motions that it admits.
enum class Motion { fixed, scripted, rigid, spring, elastic, cloth };
constexpr std::pair<std::string_view, Motion> motion_words[] = {
    {"static", Motion::fixed},  {"scripted", Motion::scripted}, {"rigid", Motion::rigid},
    {"spring", Motion::spring}, {"elastic", Motion::elastic},   {"cloth", Motion::cloth}};

struct Solid {
    std::string name;
    Motion motion = Motion::fixed;
    SolidShape shape;
    Pose start;
    Script script;
    double slip = 1;                // slip coefficient, as for walls
    double liquid_restitution = 0;  // rebound over approach speed of liquid; only SPH uses it
    std::optional<Vec3> color{};    // in pictures: red, green and blue from 0 to 1, as a screen shows them
    // An animated mesh: replaces the shape's vertices, in body coordinates; null when the shape is rigid.
    std::shared_ptr<const MeshSequence> sequence = nullptr;
    RigidProperties rigid;      // of rigid solids; friction and restitution apply to all solids
    SpringProperties spring{};  // of solids made of springs
    ElasticProperties elastic{};
};

// Pose at a time. For a solid that moves by itself this is the initial pose; `pose_of(world, scenario, s)`
// gives the current one.
Pose pose_at(const Solid& solid, double time);

// Its surface in body and in world coordinates: the same triangles at all times.
TriangleMesh body_mesh_at(const Solid& solid, double time);
TriangleMesh mesh_at(const Solid& solid, double time);

// A solid's shape at its pose at a time, in world coordinates.
struct PlacedShape {
    ShapePtr shape;  // in body coordinates
    Pose pose;
    double distance(Vec3 p) const { return shape->distance(pose.to_body(p)); }
    Box bounds() const;
};
PlacedShape shape_at(const Solid& solid, double time);

// Upper bound of the speed of any of its points between two times [m/s].
double largest_speed(const Solid& solid, double from, double until);

// The solids of a scenario that move by themselves, kind by kind, each in the scenario's order.
struct Bodies {
    std::vector<RigidBody> bodies;      // rigid ones
    std::vector<SpringBody> springs;    // made of springs
    std::vector<ElasticBody> elastics;  // elastic ones
};
// A point of a body that deforms, followed from the start.
using BodyPoint = std::variant<std::monostate, SpringPoint, ElasticPoint>;

// Properties of a kind of body, besides its functions.
template <class Body, class Properties>
struct BodyKind {
    Motion motion;
    bool deforms;  // some of its bodies change their shape
    Properties Solid::*properties;
    Body (*make)(int solid, const Properties&, const Pose& start);
    const char* state;  // name of its part of a checkpoint
};

inline constexpr BodyKind<RigidBody, RigidProperties> rigid_kind{Motion::rigid, false, &Solid::rigid,
                                                                 make_rigid_body, "bodies"};
inline constexpr BodyKind<SpringBody, SpringProperties> spring_kind{Motion::spring, true, &Solid::spring,
                                                                    make_spring_body, "springs"};
inline constexpr BodyKind<ElasticBody, ElasticProperties> elastic_kind{Motion::elastic, true, &Solid::elastic,
                                                                       make_elastic_body, "elastic"};

// Calls visit(kind, bodies) for every kind. This is the only list of them.
template <class AnyBodies, class Visit>
void for_each_kind(AnyBodies& all, const Visit& visit) {
    visit(rigid_kind, all.bodies);
    visit(spring_kind, all.springs);
    visit(elastic_kind, all.elastics);
}

// Calls visit(body) for every body, kind after kind. Their common interface is described in rigid_body.h.
template <class AnyBodies, class Visit>
void for_each_body(AnyBodies& all, const Visit& visit) {
    for_each_kind(all, [&](const auto&, auto& bodies) {
        for (auto& body : bodies) visit(body);
    });
}

// The body of solid `s` among the bodies of one kind, or null.
template <class Body>
const Body* body_of(const std::vector<Body>& bodies, std::size_t s) {
    const auto at = std::lower_bound(bodies.begin(), bodies.end(), int(s),
                                     [](const Body& body, int solid) { return body.solid < solid; });
    return at != bodies.end() && at->solid == int(s) ? &*at : nullptr;
}

// Calls visit(body) with the body of solid `s`; returns false, without a call, when the solid does not move
// by itself.
template <class Visit>
bool with_body(const Bodies& all, std::size_t s, const Visit& visit) {
    bool found = false;
    for_each_kind(all, [&](const auto&, const auto& bodies) {
        if (const auto* body = body_of(bodies, s)) found = true, visit(*body);
    });
    return found;
}

// Calls visit(kind) with the kind that has this motion; returns false, without a call, when none has.
template <class Visit>
bool with_kind(Motion motion, const Visit& visit) {
    bool found = false;
    const Bodies none;
    for_each_kind(none, [&](const auto& kind, const auto&) {
        if (kind.motion == motion) found = true, visit(kind);
    });
    return found;
}

Bodies bodies_at_start(const std::vector<Solid>& solids);
std::size_t count_bodies(const Bodies& all);

bool moves_by_itself(Motion motion);
bool may_deform(Motion motion);              // some solids with this motion deform
bool deforms(const Solid& solid);            // this one deforms
Vec3 velocity_at_start(const Solid& solid);  // of solids that move by themselves; else zero [m/s]

}  // namespace flotsam

// Solids as the scene describes them, and how those move that are told to: at rest or by a script.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/rotation.h"
#include "geometry/mesh_sequence.h"
#include "geometry/solid_shape.h"
#include "solid/elastic/elastic_body.h"
#include "solid/rigid/rigid_body.h"
#include "solid/script.h"
#include "solid/spring/spring_body.h"

namespace flotsam {

// How a solid moves; a method's capabilities say which of these it admits.
enum class Motion { fixed, scripted, rigid, spring, elastic, cloth };

struct Solid {
    std::string name;
    Motion motion = Motion::fixed;
    SolidShape shape;
    Pose start;
    Script script;
    double slip = 1;                // as of a wall
    double liquid_restitution = 0;  // rebound over approach speed of liquid; only SPH knows it
    std::optional<Vec3> color{};    // in pictures: red, green and blue from 0 to 1, as a screen shows them
    // An animated mesh: replaces the shape's vertices, in body coordinates; null when the shape is rigid.
    std::shared_ptr<const MeshSequence> sequence = nullptr;
    RigidProperties rigid;      // of one that moves by itself; friction and restitution of all
    SpringProperties spring{};  // of one made of springs
    ElasticProperties elastic{};
};

// Of a solid that the liquid moves: where it starts. Where it is, `pose_of(world, scenario, s)` says.
Pose pose_at(const Solid& solid, double time);

// Its surface in body and in world coordinates: the same triangles at all times.
TriangleMesh body_mesh_at(const Solid& solid, double time);
TriangleMesh mesh_at(const Solid& solid, double time);

// A solid's shape where it is at a time, in world coordinates.
struct PlacedShape {
    ShapePtr shape;  // in body coordinates
    Pose pose;
    double distance(Vec3 p) const { return shape->distance(pose.to_body(p)); }
    Box bounds() const;
};
PlacedShape shape_at(const Solid& solid, double time);

// Upper bound of the speed of any of its points between two times [m/s].
double largest_speed(const Solid& solid, double from, double until);

}  // namespace flotsam

#include "solid/solid.h"

#include <algorithm>
#include <cmath>

#include "geometry/mesh_surface.h"

namespace flotsam {

Pose pose_at(const Solid& solid, double time) {
    return solid.motion == Motion::scripted ? pose_at(solid.script, solid.start, time) : solid.start;
}

TriangleMesh body_mesh_at(const Solid& solid, double time) {
    if (!solid.sequence) return solid.shape.mesh;
    return {vertices_at(*solid.sequence, time), solid.sequence->triangles};
}

TriangleMesh mesh_at(const Solid& solid, double time) {
    TriangleMesh mesh = body_mesh_at(solid, time);
    const Pose pose = pose_at(solid, time);
    for (Vec3& v : mesh.vertices) v = pose.to_world(v);
    return mesh;
}

PlacedShape shape_at(const Solid& solid, double time) {
    return {solid.sequence ? std::make_shared<MeshSurface>(body_mesh_at(solid, time)) : solid.shape.distance,
            pose_at(solid, time)};
}

Box PlacedShape::bounds() const {
    const Box body = shape->bounds();
    Box box{pose.to_world(body.low), pose.to_world(body.low)};
    for (int corner = 1; corner < 8; ++corner) {
        const Vec3 p =
            pose.to_world({corner & 1 ? body.high.x : body.low.x, corner & 2 ? body.high.y : body.low.y,
                           corner & 4 ? body.high.z : body.low.z});
        box = {min(box.low, p), max(box.high, p)};
    }
    return box;
}

double largest_speed(const Solid& solid, double from, double until) {
    if (solid.motion != Motion::scripted || until <= from) return 0;
    // The corners of its box move as fast as any point, up to a rotation within the interval.
    const Box box = solid.sequence ? bounds(*solid.sequence) : bounds(solid.shape.mesh);
    constexpr int samples = 8;
    double speed = 0;
    for (int i = 0; i < samples; ++i) {
        const double t0 = from + (until - from) * i / samples, t1 = from + (until - from) * (i + 1) / samples;
        const Pose a = pose_at(solid, t0), b = pose_at(solid, t1);
        for (int corner = 0; corner < 8; ++corner) {
            const Vec3 p{corner & 1 ? box.high.x : box.low.x, corner & 2 ? box.high.y : box.low.y,
                         corner & 4 ? box.high.z : box.low.z};
            speed = std::max(speed, length(b.to_world(p) - a.to_world(p)) / (t1 - t0));
        }
    }
    // An animated mesh moves within that box.
    return speed + (solid.sequence ? largest_speed(*solid.sequence, from, until) : 0);
}

Bodies bodies_at_start(const std::vector<Solid>& solids) {
    Bodies all;
    for_each_kind(all, [&](const auto& kind, auto& bodies) {
        for (std::size_t s = 0; s < solids.size(); ++s)
            if (const Solid& solid = solids[s]; solid.motion == kind.motion)
                bodies.push_back(kind.make(int(s), solid.*kind.properties, solid.start));
    });
    return all;
}

std::size_t count_bodies(const Bodies& all) {
    std::size_t count = 0;
    for_each_kind(all, [&](const auto&, const auto& bodies) { count += bodies.size(); });
    return count;
}

bool moves_by_itself(Motion motion) {
    return with_kind(motion, [](const auto&) {});
}

bool may_deform(Motion motion) {
    bool may = false;
    with_kind(motion, [&](const auto& kind) { may = kind.deforms; });
    return may;
}

bool deforms(const Solid& solid) {
    bool does = false;
    with_kind(solid.motion, [&](const auto& kind) { does = deforms(solid.*kind.properties); });
    return does;
}

Vec3 velocity_at_start(const Solid& solid) {
    Vec3 velocity;
    with_kind(solid.motion, [&](const auto& kind) { velocity = (solid.*kind.properties).velocity; });
    return velocity;
}

}  // namespace flotsam

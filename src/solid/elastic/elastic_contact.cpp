#include "solid/elastic/elastic_contact.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/parallel.h"
#include "geometry/mesh_surface.h"

namespace flotsam {

namespace {

// Two directions across a normal.
std::array<Vec3, 2> across(Vec3 n) {
    const Vec3 axis = std::abs(n.x) < 0.7 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
    const Vec3 first = cross(n, axis) / length(cross(n, axis));
    return {first, cross(n, first)};
}

// One side of a contact: a point whose velocity is a sum over unknown blocks, or is known.
struct Side {
    int count = 0;
    std::array<int, 3> node{};  // blocks of an elastic body
    std::array<double, 3> weight{};
    int partner_block = -1;  // of a rigid body: its velocity; the next one is its spin
    Vec3 arm;                // from its centre
    Vec3 velocity;           // of what moves as told

    static Side of_node(int block) {
        Side s;
        s.count = 1;
        s.node[0] = block;
        s.weight[0] = 1;
        return s;
    }
    // Adds sign * direction . velocity to a row; returns the known part.
    double add_to(BlockRow& row, Vec3 direction, double sign) const {
        for (int k = 0; k < count; ++k) row.add(node[k], direction * (sign * weight[k]));
        if (partner_block >= 0) {
            row.add(partner_block, direction * sign);
            row.add(partner_block + 1, cross(arm, direction) * sign);
        }
        return sign * dot(direction, velocity);
    }
};

ElasticContact make_contact(const Side& a, const Side& b, Vec3 normal, double gap, double stiffness,
                            double friction) {
    ElasticContact c;
    c.gap = gap;
    c.stiffness = stiffness;
    c.friction = friction;
    c.drift = a.add_to(c.normal, normal, 1);
    c.drift += b.add_to(c.normal, normal, -1);
    const std::array<Vec3, 2> tangents = across(normal);
    for (int t = 0; t < 2; ++t) {
        c.slide[t] = a.add_to(c.tangent[t], tangents[t], 1);
        c.slide[t] += b.add_to(c.tangent[t], tangents[t], -1);
    }
    return c;
}

// Where the straight way from p by `way` first meets a surface given by its distance; the share of the way.
template <class Distance>
std::optional<double> first_meeting(const Distance& distance, Vec3 p, Vec3 way, double least) {
    const double whole = length(way);
    double at = 0;
    for (int i = 0; i < 200 && at <= whole; ++i) {
        const double d = distance(p + way * (at / whole));
        if (d < least) return at / whole;
        at += std::max(d, least);
    }
    return {};
}

Vec3 velocity_of(const ContactObstacle& o, Vec3 p) { return o.motion.at(p - o.pose.position); }

Box grown(Box box, double by) { return {box.low - Vec3{by, by, by}, box.high + Vec3{by, by, by}}; }
bool meet(const Box& a, const Box& b) {
    for (int i = 0; i < 3; ++i)
        if (a.low[i] > b.high[i] || b.low[i] > a.high[i]) return false;
    return true;
}

// What is needed of an elastic body to meet others.
struct ReadyBody {
    const ElasticBody* body;
    int first;  // block of its first node
    Box box;
    double reach;                          // how far a node may come within the step
    double slack;                          // nearer than this is a contact to reckon with, whatever the speed
    std::unique_ptr<MeshSurface> surface;  // built when something comes near

    Vec3 way(int n, Vec3 gravity, double dt) const { return (body->velocity[n] + gravity * dt) * dt; }
    // Stiff against the body and against its inertia: pressed by its own stress or thrown at full speed, a
    // node comes in by a small share of an edge, or of its way in a step.
    double stiffness(int n, double dt) const {
        const ElasticMesh& m = *body->mesh;
        const double area = std::max(m.skin_area[n], 0.25 * m.edge * m.edge);
        return 20 * m.material.young * area / m.edge + 100 * m.mass[n] / (dt * dt);
    }
    Side on_surface(const MeshSurface::Nearest& near) const {
        Side s;
        s.count = 3;
        const Int3 t = body->mesh->triangles[near.triangle];
        for (int c = 0; c < 3; ++c) s.node[c] = first + t[c], s.weight[c] = near.weight[c];
        return s;
    }
    Vec3 velocity(const MeshSurface::Nearest& near) const {
        const Int3 t = body->mesh->triangles[near.triangle];
        Vec3 v;
        for (int c = 0; c < 3; ++c) v += near.weight[c] * body->velocity[t[c]];
        return v;
    }
};

Box box_of(const ContactObstacle& o) {
    const Box own = o.shape->bounds();
    Box box{o.pose.to_world(own.low), o.pose.to_world(own.low)};
    for (int c = 1; c < 8; ++c) {
        const Vec3 p = o.pose.to_world(
            {c & 1 ? own.high.x : own.low.x, c & 2 ? own.high.y : own.low.y, c & 4 ? own.high.z : own.low.z});
        box = {min(box.low, p), max(box.high, p)};
    }
    return box;
}

}  // namespace

std::vector<ElasticContact> find_contacts(const std::vector<ElasticBody>& bodies,
                                          const std::vector<RigidPartner>& partners,
                                          const ContactScene& scene, double dt) {
    std::vector<ReadyBody> ready;
    int blocks = 0;
    double fastest = 0;  // of obstacles
    for (const ContactObstacle& o : scene.obstacles)
        fastest = std::max(
            fastest, length(o.motion.velocity) +
                         length(o.motion.spin) * length(o.shape->bounds().high - o.shape->bounds().low));
    for (const ElasticBody& body : bodies) {
        ReadyBody r{&body, blocks, {body.position[0], body.position[0]}, 0, 0, nullptr};
        for (const Vec3 p : body.position) r.box = {min(r.box.low, p), max(r.box.high, p)};
        r.slack = 0.2 * body.mesh->edge + length(scene.gravity) * dt * dt;
        r.reach = r.slack + (largest_speed(body) + length(scene.gravity) * dt) * dt;
        blocks += int(body.position.size());
        ready.push_back(std::move(r));
    }
    const auto partner_side = [&](int partner, Vec3 p) {
        Side s;
        s.partner_block = blocks + 2 * partner;
        s.arm = p - partners[partner].center;
        return s;
    };
    const auto obstacle_side = [&](const ContactObstacle& o, Vec3 p) {
        if (o.partner >= 0) return partner_side(o.partner, p);
        Side s;
        s.velocity = velocity_of(o, p);
        return s;
    };
    // Surfaces of bodies that something else than a wall comes near to.
    std::vector<Box> obstacle_box;
    for (const ContactObstacle& o : scene.obstacles) obstacle_box.push_back(box_of(o));
    for (std::size_t b = 0; b < ready.size(); ++b) {
        bool near = false;
        const Box own = grown(ready[b].box, ready[b].reach + fastest * dt);
        for (const Box& box : obstacle_box) near |= meet(own, box);
        for (std::size_t c = 0; c < ready.size(); ++c)
            near |= c != b && meet(own, grown(ready[c].box, ready[c].reach));
        if (near) ready[b].surface = std::make_unique<MeshSurface>(node_surface(*ready[b].body), 8);
    }

    std::vector<ElasticContact> all;
    for (std::size_t b = 0; b < ready.size(); ++b) {
        const ReadyBody& own = ready[b];
        const ElasticBody& body = *own.body;
        // Inner nodes too: those of a body that is pressed flat could come out on the far side.
        std::vector<std::vector<ElasticContact>> found(body.position.size());
        parallel_for(std::ssize(found), 64, [&](std::int64_t i) {
            const int n = int(i);
            const Vec3 x = body.position[n];
            const Side self = Side::of_node(own.first + n);
            const double k = own.stiffness(n, dt);
            for (int side = 0; side < 6; ++side) {
                if (!scene.closed[side]) continue;
                const int axis = side / 2;
                const double gap =
                    side % 2 ? scene.sides.high[axis] - x[axis] : x[axis] - scene.sides.low[axis];
                if (gap < own.reach)
                    found[i].push_back(make_contact(self, {}, Vec3(unit(axis)) * (side % 2 ? -1.0 : 1.0), gap,
                                                    k, scene.friction[b]));
            }
            for (std::size_t s = 0; s < scene.obstacles.size(); ++s) {
                const ContactObstacle& o = scene.obstacles[s];
                if (!grown(obstacle_box[s], own.reach + fastest * dt).contains(x)) continue;
                // In the obstacle's frame.
                const Vec3 p = o.pose.to_body(x);
                const Vec3 way =
                    o.pose.rotation.inverse() * (own.way(n, scene.gravity, dt) - velocity_of(o, x) * dt);
                const double least = 1e-3 * body.mesh->edge;
                const double d = o.shape->distance(p);
                Vec3 place = p;
                if (d > own.slack) {
                    if (d > length(way)) continue;
                    const auto share =
                        first_meeting([&](Vec3 q) { return o.shape->distance(q); }, p, way, least);
                    if (!share) continue;
                    place = p + way * *share;
                }
                const Vec3 normal = o.shape->normal(place, least);
                const double gap = d > own.slack ? dot(normal, p - place) + o.shape->distance(place) : d;
                const double friction = std::sqrt(scene.friction[b] * o.friction);
                found[i].push_back(
                    make_contact(self, obstacle_side(o, x), o.pose.rotation * normal, gap, k, friction));
            }
            for (std::size_t c = 0; c < ready.size(); ++c) {
                const ReadyBody& other = ready[c];
                if (c == b || !other.surface || !grown(other.box, own.reach + other.reach).contains(x))
                    continue;
                MeshSurface::Nearest near = other.surface->nearest(x);
                const Vec3 way =
                    own.way(n, scene.gravity, dt) - (other.velocity(near) + scene.gravity * dt) * dt;
                const double slack = std::max(own.slack, other.slack), d = near.distance;
                double gap = d;
                if (d > slack) {
                    if (d > length(way)) continue;
                    const auto share =
                        first_meeting([&](Vec3 q) { return other.surface->nearest(q).distance; }, x, way,
                                      1e-3 * body.mesh->edge);
                    if (!share) continue;
                    near = other.surface->nearest(x + way * *share);
                    gap = dot(near.normal, x - near.point);
                }
                const Int3 t = other.body->mesh->triangles[near.triangle];
                const double softer = std::min({k, other.stiffness(t.x, dt), other.stiffness(t.y, dt)});
                found[i].push_back(make_contact(self, other.on_surface(near), near.normal, gap, softer,
                                                std::sqrt(scene.friction[b] * scene.friction[c])));
            }
        });
        for (std::vector<ElasticContact>& list : found) all.insert(all.end(), list.begin(), list.end());
        // A corner that pokes between the nodes.
        if (!own.surface) continue;
        for (std::size_t s = 0; s < scene.obstacles.size(); ++s) {
            const ContactObstacle& o = scene.obstacles[s];
            if (!o.mesh || !meet(grown(own.box, own.reach + fastest * dt), obstacle_box[s])) continue;
            for (const Vec3 corner : o.mesh->vertices) {
                const Vec3 p = o.pose.to_world(corner);
                if (!grown(own.box, own.reach + fastest * dt).contains(p)) continue;
                MeshSurface::Nearest near = own.surface->nearest(p);
                const Vec3 way = (velocity_of(o, p) - own.velocity(near) - scene.gravity * dt) * dt;
                double gap = near.distance;
                if (near.distance > own.slack) {
                    if (near.distance > length(way)) continue;
                    const auto share = first_meeting([&](Vec3 q) { return own.surface->nearest(q).distance; },
                                                     p, way, 1e-3 * body.mesh->edge);
                    if (!share) continue;
                    near = own.surface->nearest(p + way * *share);
                    gap = dot(near.normal, p - near.point);
                }
                const Int3 t = body.mesh->triangles[near.triangle];
                all.push_back(make_contact(obstacle_side(o, p), own.on_surface(near), near.normal, gap,
                                           own.stiffness(t.x, dt),
                                           std::sqrt(scene.friction[b] * o.friction)));
            }
        }
    }
    return all;
}

}  // namespace flotsam

#include "solid/elastic/elastic_contact.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/parallel.h"
#include "geometry/mesh_surface.h"
#include "solid/solid.h"

namespace flotsam {

namespace {

// Two directions perpendicular to a normal.
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
    Vec3 velocity;           // of a side with prescribed motion

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

// Sphere tracing: the share of the straight path from p to p + way at which it first meets a surface given by
// its distance.
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

// An elastic body prepared for the contact search.
struct ReadyBody {
    const ElasticBody* body;
    int first;  // block of its first node
    Box box;
    double reach;                          // how far a node may move within the step
    double slack;                          // closer than this is a possible contact, whatever the speed
    std::unique_ptr<MeshSurface> surface;  // built when something comes near

    Vec3 way(int n, Vec3 gravity, double dt) const { return (body->velocity[n] + gravity * dt) * dt; }
    // Stiff compared with the body and with its inertia: pressed by its own stress, a node penetrates by a
    // small share of an edge; thrown at full speed, by a small share of its path in a step.
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

// Where a point that moves by `way` meets the surface of a body; on entry `near` is the nearest place now.
// Returns false when the point does not reach the surface; else `near` is where it does and `gap` the
// distance along the normal there.
bool meet_surface(const MeshSurface& surface, Vec3 point, Vec3 way, double slack, double least,
                  MeshSurface::Nearest& near, double& gap) {
    gap = near.distance;
    if (near.distance <= slack) return true;
    if (near.distance > length(way)) return false;
    const auto share = first_meeting([&](Vec3 q) { return surface.nearest(q).distance; }, point, way, least);
    if (!share) return false;
    near = surface.nearest(point + way * *share);
    gap = dot(near.normal, point - near.point);
    return true;
}

// The bodies and obstacles of a step, prepared for finding contacts between them.
struct ContactSearch {
    const std::vector<RigidPartner>& partners;
    const ContactScene& scene;
    double dt;
    int blocks = 0;      // of all nodes; those of partners follow
    double fastest = 0;  // largest speed of an obstacle [m/s]
    std::vector<ReadyBody> ready{};
    std::vector<Box> obstacle_box{};

    void prepare(const std::vector<ElasticBody>& bodies);
    Box reached_by(const ReadyBody& body) const { return grown(body.box, body.reach + fastest * dt); }
    Side side_of(const ContactObstacle& o, Vec3 p) const;
    // Contacts of one node of body `b`, and of obstacles' corners with its surface.
    void meet_walls(std::size_t b, int node, std::vector<ElasticContact>& found) const;
    void meet_obstacles(std::size_t b, int node, std::vector<ElasticContact>& found) const;
    void meet_bodies(std::size_t b, int node, std::vector<ElasticContact>& found) const;
    void meet_corners(std::size_t b, std::vector<ElasticContact>& found) const;
};

void ContactSearch::prepare(const std::vector<ElasticBody>& bodies) {
    for (const ContactObstacle& o : scene.obstacles) {
        const Box own = o.shape->bounds();
        fastest =
            std::max(fastest, length(o.motion.velocity) + length(o.motion.spin) * length(own.high - own.low));
        obstacle_box.push_back(PlacedShape{o.shape, o.pose}.bounds());
    }
    for (const ElasticBody& body : bodies) {
        ReadyBody r{&body, blocks, {body.position[0], body.position[0]}, 0, 0, nullptr};
        for (const Vec3 p : body.position) r.box = {min(r.box.low, p), max(r.box.high, p)};
        r.slack = 0.2 * body.mesh->edge + length(scene.gravity) * dt * dt;
        r.reach = r.slack + (largest_speed(body) + length(scene.gravity) * dt) * dt;
        blocks += int(body.position.size());
        ready.push_back(std::move(r));
    }
    // Only bodies near an obstacle or another body need their surfaces.
    for (std::size_t b = 0; b < ready.size(); ++b) {
        bool near = false;
        const Box own = reached_by(ready[b]);
        for (const Box& box : obstacle_box) near |= meet(own, box);
        for (std::size_t c = 0; c < ready.size(); ++c)
            near |= c != b && meet(own, grown(ready[c].box, ready[c].reach));
        if (near) ready[b].surface = std::make_unique<MeshSurface>(node_surface(*ready[b].body), 8);
    }
}

Side ContactSearch::side_of(const ContactObstacle& o, Vec3 p) const {
    Side s;
    if (o.partner >= 0) {
        s.partner_block = blocks + 2 * o.partner;
        s.arm = p - partners[o.partner].center;
    } else {
        s.velocity = velocity_of(o, p);
    }
    return s;
}

void ContactSearch::meet_walls(std::size_t b, int node, std::vector<ElasticContact>& found) const {
    const ReadyBody& own = ready[b];
    const Vec3 x = own.body->position[node];
    for (int side = 0; side < 6; ++side) {
        if (!scene.closed[side]) continue;
        const int axis = side / 2;
        const double gap = side % 2 ? scene.sides.high[axis] - x[axis] : x[axis] - scene.sides.low[axis];
        if (gap < own.reach)
            found.push_back(
                make_contact(Side::of_node(own.first + node), {}, Vec3(unit(axis)) * (side % 2 ? -1.0 : 1.0),
                             gap, own.stiffness(node, dt), scene.mirrors[side] ? 0 : scene.friction[b]));
    }
}

void ContactSearch::meet_obstacles(std::size_t b, int node, std::vector<ElasticContact>& found) const {
    const ReadyBody& own = ready[b];
    const Vec3 x = own.body->position[node];
    for (std::size_t s = 0; s < scene.obstacles.size(); ++s) {
        const ContactObstacle& o = scene.obstacles[s];
        if (!grown(obstacle_box[s], own.reach + fastest * dt).contains(x)) continue;
        // In the obstacle's frame.
        const Vec3 p = o.pose.to_body(x);
        const Vec3 way =
            o.pose.rotation.inverse() * (own.way(node, scene.gravity, dt) - velocity_of(o, x) * dt);
        const double least = 1e-3 * own.body->mesh->edge;
        const double d = o.shape->distance(p);
        Vec3 place = p;
        if (d > own.slack) {
            if (d > length(way)) continue;
            const auto share = first_meeting([&](Vec3 q) { return o.shape->distance(q); }, p, way, least);
            if (!share) continue;
            place = p + way * *share;
        }
        const Vec3 normal = o.shape->normal(place, least);
        const double gap = d > own.slack ? dot(normal, p - place) + o.shape->distance(place) : d;
        found.push_back(make_contact(Side::of_node(own.first + node), side_of(o, x), o.pose.rotation * normal,
                                     gap, own.stiffness(node, dt),
                                     std::sqrt(scene.friction[b] * o.friction)));
    }
}

void ContactSearch::meet_bodies(std::size_t b, int node, std::vector<ElasticContact>& found) const {
    const ReadyBody& own = ready[b];
    const Vec3 x = own.body->position[node];
    for (std::size_t c = 0; c < ready.size(); ++c) {
        const ReadyBody& other = ready[c];
        if (c == b || !other.surface || !grown(other.box, own.reach + other.reach).contains(x)) continue;
        MeshSurface::Nearest near = other.surface->nearest(x);
        const Vec3 way = own.way(node, scene.gravity, dt) - (other.velocity(near) + scene.gravity * dt) * dt;
        double gap = 0;
        if (!meet_surface(*other.surface, x, way, std::max(own.slack, other.slack),
                          1e-3 * own.body->mesh->edge, near, gap))
            continue;
        const Int3 t = other.body->mesh->triangles[near.triangle];
        const double softer =
            std::min({own.stiffness(node, dt), other.stiffness(t.x, dt), other.stiffness(t.y, dt)});
        found.push_back(make_contact(Side::of_node(own.first + node), other.on_surface(near), near.normal,
                                     gap, softer, std::sqrt(scene.friction[b] * scene.friction[c])));
    }
}

void ContactSearch::meet_corners(std::size_t b, std::vector<ElasticContact>& found) const {
    const ReadyBody& own = ready[b];
    if (!own.surface) return;
    for (std::size_t s = 0; s < scene.obstacles.size(); ++s) {
        const ContactObstacle& o = scene.obstacles[s];
        if (!o.mesh || !meet(reached_by(own), obstacle_box[s])) continue;
        for (const Vec3 corner : o.mesh->vertices) {
            const Vec3 p = o.pose.to_world(corner);
            if (!reached_by(own).contains(p)) continue;
            MeshSurface::Nearest near = own.surface->nearest(p);
            const Vec3 way = (velocity_of(o, p) - own.velocity(near) - scene.gravity * dt) * dt;
            double gap = 0;
            if (!meet_surface(*own.surface, p, way, own.slack, 1e-3 * own.body->mesh->edge, near, gap))
                continue;
            const Int3 t = own.body->mesh->triangles[near.triangle];
            found.push_back(make_contact(side_of(o, p), own.on_surface(near), near.normal, gap,
                                         own.stiffness(t.x, dt), std::sqrt(scene.friction[b] * o.friction)));
        }
    }
}

}  // namespace

std::vector<ElasticContact> find_contacts(const std::vector<ElasticBody>& bodies,
                                          const std::vector<RigidPartner>& partners,
                                          const ContactScene& scene, double dt) {
    ContactSearch search{partners, scene, dt};
    search.prepare(bodies);
    std::vector<ElasticContact> all;
    for (std::size_t b = 0; b < bodies.size(); ++b) {
        // Inner nodes too: when a body is pressed flat, they could come out on the far side.
        std::vector<std::vector<ElasticContact>> found(bodies[b].position.size());
        parallel_for(std::ssize(found), 64, [&](std::int64_t i) {
            search.meet_walls(b, int(i), found[i]);
            search.meet_obstacles(b, int(i), found[i]);
            search.meet_bodies(b, int(i), found[i]);
        });
        for (std::vector<ElasticContact>& list : found) all.insert(all.end(), list.begin(), list.end());
        search.meet_corners(b, all);  // obstacles' corners may poke between the nodes
    }
    return all;
}

}  // namespace flotsam

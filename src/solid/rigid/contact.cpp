#include "solid/rigid/contact.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <set>

#include "core/hash.h"
#include "solid/rigid/bullet.h"
#include "solid/rigid/convex_decomposition.h"
#include "solid/rigid/support.h"

namespace flotsam {

namespace {

struct ReadyPiece {
    Support support;
    BulletPiece bullet;
};

struct ReadySolid {
    std::vector<ReadyPiece> pieces;
    double size = 0;    // half extent of its thinnest piece, the scale of small distances [m]
    double radius = 0;  // of a ball about the body's origin that holds it [m]
    bool rigid = false;
    double friction = 0, restitution = 0;
    std::array<bool, 6> mirrored{};  // sides that cut it
};

// Pieces of a mesh file, found once: they do not depend on anything but the mesh.
const std::vector<ConvexPiece>& decomposed(const TriangleMesh& mesh) {
    static std::mutex mutex;
    static std::map<std::uint64_t, std::vector<ConvexPiece>> known;
    Hasher hasher;
    hasher.add(mesh.vertices.data(), mesh.vertices.size() * sizeof(Vec3));
    hasher.add(mesh.triangles.data(), mesh.triangles.size() * sizeof(Int3));
    const std::lock_guard lock(mutex);
    const auto [entry, missing] = known.try_emplace(hasher.value());
    if (missing) entry->second = convex_decomposition(mesh);
    return entry->second;
}

// A piece in world coordinates.
struct PlacedPiece {
    const ReadyPiece& piece;
    const Pose& pose;
    Vec3 farthest(Vec3 direction) const {
        return pose.to_world(piece.support.farthest(pose.rotation.inverse() * direction));
    }
    std::vector<Vec3> face(Vec3 direction) const {
        std::vector<Vec3> points = piece.support.face(pose.rotation.inverse() * direction);
        for (Vec3& p : points) p = pose.to_world(p);
        return points;
    }
};

Vec3 polygon_normal(const std::vector<Vec3>& polygon) {
    Vec3 normal;
    for (std::size_t i = 2; i < polygon.size(); ++i)
        normal += cross(polygon[i - 1] - polygon[0], polygon[i] - polygon[0]);
    const double size = length(normal);
    return size > 0 ? normal / size : Vec3{};
}

// The part of a polygon or edge on the inner side of a plane.
std::vector<Vec3> clipped(const std::vector<Vec3>& points, Vec3 on_plane, Vec3 inward) {
    std::vector<Vec3> kept;
    const std::size_t count = points.size();
    for (std::size_t i = 0; i < count; ++i) {
        const Vec3 p = points[i], q = points[(i + 1) % count];
        const double height_p = dot(p - on_plane, inward), height_q = dot(q - on_plane, inward);
        if (height_p >= 0) kept.push_back(p);
        // An edge is not a polygon: it does not come back to its first point.
        const bool edge = count > 2 || (count == 2 && i == 0);
        if (edge && (height_p >= 0) != (height_q >= 0))
            kept.push_back(p + (q - p) * (height_p / (height_p - height_q)));
    }
    return kept;
}

// The points of one face that lie over the other one. Their distances along the normal are the true ones,
// because both faces are parts of the surfaces.
struct FacePoint {
    Vec3 point;
    double distance;
};
std::vector<FacePoint> face_points(const PlacedPiece& a, const PlacedPiece& b, Vec3 normal) {
    const std::vector<Vec3> face_a = a.face(-normal), face_b = b.face(normal);
    const Vec3 normal_a = polygon_normal(face_a), normal_b = polygon_normal(face_b);
    const double along_a = face_a.size() > 2 ? -dot(normal_a, normal) : 0,
                 along_b = face_b.size() > 2 ? dot(normal_b, normal) : 0;
    // A face seen from its edge says nothing about distances along the normal.
    if (std::max(along_a, along_b) < 0.1) return {};
    const bool on_a = along_a > along_b;  // measure from the face that is more perpendicular to the normal
    const std::vector<Vec3>& reference = on_a ? face_a : face_b;
    std::vector<Vec3> points = on_a ? face_b : face_a;
    const Vec3 up = on_a ? normal_a : normal_b;
    for (std::size_t i = 0; i < reference.size() && !points.empty(); ++i) {
        const Vec3 corner = reference[i], edge = reference[(i + 1) % reference.size()] - corner;
        points = clipped(points, corner, cross(on_a ? -normal : normal, edge));
    }
    std::vector<FacePoint> result;
    for (const Vec3& p : points) {
        const double distance = dot(p - reference[0], up) / std::max(along_a, along_b);
        const Vec3 middle = p - (on_a ? -normal : normal) * (0.5 * distance);
        const bool known = std::any_of(result.begin(), result.end(), [&](const FacePoint& other) {
            return length(other.point - middle) < 1e-9 * length(reference[1] - reference[0]);
        });
        if (!known) result.push_back({middle, distance});
    }
    return result;
}

// Contact points of two parallel edges: the ends of their common part.
std::vector<FacePoint> edge_points(const PlacedPiece& a, const PlacedPiece& b, Vec3 normal) {
    const std::vector<Vec3> edge_a = a.face(-normal), edge_b = b.face(normal);
    if (edge_a.size() != 2 || edge_b.size() != 2) return {};
    const Vec3 along = edge_b[1] - edge_b[0], other = edge_a[1] - edge_a[0];
    const double size = length(along);
    if (length(cross(along, other)) > 0.02 * size * length(other)) return {};  // they cross: one point
    std::vector<Vec3> points = clipped(edge_a, edge_b[0], along);
    if (points.size() == 2) points = clipped(points, edge_b[1], -along);
    if (points.size() != 2) return {};
    std::vector<FacePoint> result;
    for (const Vec3& p : points) {
        const Vec3 foot = edge_b[0] + along * (dot(p - edge_b[0], along) / (size * size));
        const double distance = dot(p - foot, normal);
        result.push_back({p - normal * (0.5 * distance), distance});
    }
    return result;
}

Box box_of(const PlacedPiece& piece) {
    Box box;
    for (int axis = 0; axis < 3; ++axis) {
        box.high[axis] = piece.farthest(Vec3(unit(axis)))[axis];
        box.low[axis] = piece.farthest(-Vec3(unit(axis)))[axis];
    }
    return box;
}

Box grown(const Box& box, double by) { return {box.low - Vec3{by, by, by}, box.high + Vec3{by, by, by}}; }

bool overlap(const Box& a, const Box& b) {
    return a.low.x <= b.high.x && b.low.x <= a.high.x && a.low.y <= b.high.y && b.low.y <= a.high.y &&
           a.low.z <= b.high.z && b.low.z <= a.high.z;
}

}  // namespace

struct ContactShapes::Parts {
    std::vector<ReadySolid> solids;
    std::set<std::pair<int, int>> jointed;

    struct Place {
        std::vector<Box> pieces;
        Box box;
        double reach = 0;  // how far its surface may move in the step, plus a margin [m]
    };

    void touch(int a, int b, const std::vector<PlacedSolid>& placed, const std::vector<Place>& places,
               std::vector<Contact>& contacts) const {
        const double reach = places[a].reach + places[b].reach;
        const ReadySolid &solid_a = solids[a], &solid_b = solids[b];
        for (std::size_t i = 0; i < solid_a.pieces.size(); ++i)
            for (std::size_t j = 0; j < solid_b.pieces.size(); ++j) {
                if (!overlap(grown(places[a].pieces[i], reach), places[b].pieces[j])) continue;
                const PlacedPiece piece_a{solid_a.pieces[i], placed[a].pose},
                    piece_b{solid_b.pieces[j], placed[b].pose};
                const std::optional<SeparatingPlane> apart =
                    separation(piece_a.piece.bullet, piece_a.pose, piece_b.piece.bullet, piece_b.pose, reach);
                if (!apart) continue;
                const Vec3 normal = apart->normal;
                const double gap = dot(piece_a.farthest(-normal) - piece_b.farthest(normal), normal);
                if (gap > reach) continue;
                std::vector<FacePoint> points = face_points(piece_a, piece_b, normal);
                if (points.empty()) points = edge_points(piece_a, piece_b, normal);
                // The nearest point of all must be among them; it is not for a corner beside a face, for
                // example.
                const bool complete = std::any_of(points.begin(), points.end(), [&](const FacePoint& p) {
                    return p.distance < gap + 0.01 * std::min(solid_a.size, solid_b.size);
                });
                if (!complete) points = {{apart->point + normal * (0.5 * gap), gap}};
                for (const FacePoint& p : points)
                    if (p.distance <= reach)
                        contacts.push_back(
                            {.a = a,
                             .b = b,
                             .point = p.point,
                             .normal = normal,
                             .distance = p.distance,
                             .friction = std::sqrt(solid_a.friction * solid_b.friction),
                             .restitution = std::max(solid_a.restitution, solid_b.restitution)});
            }
    }

    void touch_walls(int a, const PlacedSolid& placed, const Place& place, const ContactWalls& walls,
                     std::vector<Contact>& contacts) const {
        const ReadySolid& solid = solids[a];
        for (int side = 0; side < 6; ++side) {
            const int axis = side / 2;
            const bool high = side % 2 == 1;
            if (!walls.closed[side] || solid.mirrored[side]) continue;
            const double wall = high ? walls.box.high[axis] : walls.box.low[axis];
            const Vec3 inward = Vec3(unit(axis)) * (high ? -1.0 : 1.0);
            const auto height = [&](Vec3 p) { return high ? wall - p[axis] : p[axis] - wall; };
            for (std::size_t i = 0; i < solid.pieces.size(); ++i) {
                const Box& box = place.pieces[i];
                if (height(high ? box.high : box.low) > place.reach) continue;
                for (const Vec3& p : PlacedPiece{solid.pieces[i], placed.pose}.face(-inward))
                    if (height(p) <= place.reach)
                        contacts.push_back({.a = a,
                                            .b = the_world,
                                            .point = p - inward * (0.5 * height(p)),
                                            .normal = inward,
                                            .distance = height(p),
                                            .approach = 0,
                                            .friction = walls.mirrors[side] ? 0 : solid.friction,
                                            .restitution = solid.restitution});
            }
        }
    }
};

std::vector<PlacedSolid> place_solids(const std::vector<Solid>& solids, const std::vector<RigidBody>& bodies,
                                      double time, double dt) {
    std::vector<PlacedSolid> placed(solids.size());
    for (std::size_t s = 0; s < solids.size(); ++s) {
        if (solids[s].motion == Motion::rigid) continue;
        placed[s].pose = pose_at(solids[s], time);
        if (solids[s].motion == Motion::scripted)
            placed[s].motion = twist_between(placed[s].pose, pose_at(solids[s], time + dt), dt);
    }
    for (const RigidBody& body : bodies) {
        PlacedSolid& solid = placed[body.solid];
        const Twist about_center = twist_of(body);
        solid.pose = pose_of(body);
        solid.motion = {about_center.at(solid.pose.position - body.center), about_center.spin};
    }
    return placed;
}

ContactShapes::ContactShapes(const std::vector<Solid>& solids, const std::vector<Joint>& joints)
    : parts_(std::make_unique<Parts>()) {
    for (const Solid& solid : solids) {
        ReadySolid ready;
        ready.rigid = solid.motion == Motion::rigid;
        ready.friction = solid.rigid.friction;
        ready.restitution = solid.rigid.restitution;
        ready.mirrored = solid.rigid.mirrored;
        ready.size = 1e300;
        if (may_deform(solid.motion)) {  // it does not keep its shape, and finds its contacts itself
            ready.size = 0;
            parts_->solids.push_back(std::move(ready));
            continue;
        }
        for (const ConvexPiece& piece :
             solid.shape.pieces.empty() ? decomposed(solid.shape.mesh) : solid.shape.pieces) {
            ready.pieces.push_back({Support(piece), BulletPiece(piece)});
            ready.size = std::min(ready.size, ready.pieces.back().support.smallest_half_extent());
        }
        for (const Vec3& v : solid.shape.mesh.vertices) ready.radius = std::max(ready.radius, length(v));
        parts_->solids.push_back(std::move(ready));
    }
    for (const Joint& joint : joints)
        if (joint.kind != Joint::Kind::spring) parts_->jointed.insert(std::minmax(joint.a, joint.b));
}
ContactShapes::ContactShapes(ContactShapes&&) noexcept = default;
ContactShapes& ContactShapes::operator=(ContactShapes&&) noexcept = default;
ContactShapes::~ContactShapes() = default;

std::vector<Contact> ContactShapes::find(const std::vector<PlacedSolid>& placed, const ContactWalls& walls,
                                         double dt, double slack) const {
    const std::vector<ReadySolid>& solids = parts_->solids;
    std::vector<Parts::Place> places(solids.size());
    for (std::size_t s = 0; s < solids.size(); ++s) {
        Parts::Place& place = places[s];
        const Twist& motion = placed[s].motion;
        // A share of its size keeps a resting body in contact at all its corners.
        place.reach = (length(motion.velocity) + length(motion.spin) * solids[s].radius) * dt + slack +
                      0.02 * solids[s].size;
        for (const ReadyPiece& piece : solids[s].pieces) {
            const Box box = box_of({piece, placed[s].pose});
            place.box =
                place.pieces.empty() ? box : Box{min(place.box.low, box.low), max(place.box.high, box.high)};
            place.pieces.push_back(box);
        }
        place.box = grown(place.box, place.reach);
    }

    // Broad phase: sweep along x, then sort the pairs by the solids' order.
    std::vector<int> order;
    for (std::size_t s = 0; s < solids.size(); ++s)
        if (!places[s].pieces.empty()) order.push_back(int(s));
    std::sort(order.begin(), order.end(), [&](int a, int b) {
        return std::pair{places[a].box.low.x, a} < std::pair{places[b].box.low.x, b};
    });
    std::vector<std::pair<int, int>> pairs;
    for (std::size_t i = 0; i < order.size(); ++i)
        for (std::size_t j = i + 1; j < order.size(); ++j) {
            const int a = order[i], b = order[j];
            if (places[b].box.low.x > places[a].box.high.x) break;
            if (!(solids[a].rigid || solids[b].rigid) || !overlap(places[a].box, places[b].box)) continue;
            const auto [first, second] = std::minmax(a, b);
            if (!parts_->jointed.contains({first, second})) pairs.emplace_back(first, second);
        }
    std::sort(pairs.begin(), pairs.end());

    std::vector<Contact> contacts;
    for (std::size_t s = 0; s < solids.size(); ++s)
        if (solids[s].rigid) parts_->touch_walls(int(s), placed[s], places[s], walls, contacts);
    for (const auto& [a, b] : pairs) parts_->touch(a, b, placed, places, contacts);
    for (Contact& contact : contacts) {
        const auto velocity = [&](int solid) {
            return solid == the_world ? Vec3{}
                                      : placed[solid].motion.at(contact.point - placed[solid].pose.position);
        };
        contact.approach = dot(velocity(contact.b) - velocity(contact.a), contact.normal);
    }
    return contacts;
}

}  // namespace flotsam

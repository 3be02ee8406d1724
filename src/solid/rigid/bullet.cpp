#include "solid/rigid/bullet.h"

#include <BulletCollision/CollisionShapes/btBoxShape.h>
#include <BulletCollision/CollisionShapes/btCapsuleShape.h>
#include <BulletCollision/CollisionShapes/btConeShape.h>
#include <BulletCollision/CollisionShapes/btConvexHullShape.h>
#include <BulletCollision/CollisionShapes/btCylinderShape.h>
#include <BulletCollision/CollisionShapes/btSphereShape.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkEpaPenetrationDepthSolver.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkPairDetector.h>
#include <BulletCollision/NarrowPhaseCollision/btPointCollector.h>
#include <BulletCollision/NarrowPhaseCollision/btVoronoiSimplexSolver.h>
#include <LinearMath/btConvexHullComputer.h>

#include <algorithm>
#include <cmath>

static_assert(sizeof(btScalar) == 8, "the float build of Bullet was picked: use pkg-config bullet-float64");

namespace flotsam {

namespace {

btVector3 to_bullet(Vec3 v) { return {v.x, v.y, v.z}; }
Vec3 from_bullet(const btVector3& v) { return {v.x(), v.y(), v.z()}; }
btTransform to_bullet(const Pose& pose) {
    const auto& r = pose.rotation.row;
    return btTransform(btMatrix3x3(r[0].x, r[0].y, r[0].z, r[1].x, r[1].y, r[1].z, r[2].x, r[2].y, r[2].z),
                       to_bullet(pose.position));
}

// Bullet keeps a core and rounds it by a margin. The distance of two disjoint cores is found exactly and
// fast; only bodies that overlap by more than their margins need its slower and less accurate method.
constexpr double margin_share = 0.05;  // of the smallest half extent

}  // namespace

struct BulletPiece::Core {
    std::unique_ptr<btConvexInternalShape> shape;
    Pose pose;  // in body coordinates
};

BulletPiece::BulletPiece(const ConvexPiece& piece) : core_(std::make_unique<Core>()) {
    core_->pose = piece.pose;
    const auto [radius, half, depth] = piece.half;
    switch (piece.kind) {
        case ConvexPiece::Kind::sphere:
            core_->shape = std::make_unique<btSphereShape>(radius);
            break;
        case ConvexPiece::Kind::capsule:
            core_->shape = std::make_unique<btCapsuleShape>(radius, 2 * half);
            break;
        case ConvexPiece::Kind::box:
            core_->shape = std::make_unique<btBoxShape>(to_bullet(piece.half));
            core_->shape->setMargin(margin_share * std::min({radius, half, depth}));
            break;
        case ConvexPiece::Kind::cylinder:
            core_->shape = std::make_unique<btCylinderShape>(to_bullet(piece.half));
            core_->shape->setMargin(margin_share * std::min(radius, half));
            break;
        case ConvexPiece::Kind::cone: {
            // Bullet would add the margin outside: take a cone that is smaller by it on all sides.
            const double margin = margin_share * std::min(radius, half), height = 2 * half;
            const double tip_down = margin * std::hypot(radius, height) / radius;
            const double inner = height - margin - tip_down;
            core_->shape = std::make_unique<btConeShape>(radius * inner / height, inner);
            core_->shape->setMargin(margin);
            core_->pose.position = piece.pose.to_world({0, -half + margin + 0.5 * inner, 0});
            break;
        }
        case ConvexPiece::Kind::hull: {
            std::vector<btScalar> numbers;
            for (const Vec3& p : piece.points) numbers.insert(numbers.end(), {p.x, p.y, p.z});
            btConvexHullComputer inner;
            // The last argument: shrink by at most this share of the way to the middle.
            const double shrunk = inner.compute(numbers.data(), 3 * sizeof(btScalar),
                                                int(piece.points.size()), 1e30, margin_share);
            auto hull = std::make_unique<btConvexHullShape>();
            for (int i = 0; i < inner.vertices.size(); ++i) hull->addPoint(inner.vertices[i], false);
            hull->recalcLocalAabb();
            hull->setMargin(std::max(shrunk, 0.0));
            core_->shape = std::move(hull);
            break;
        }
    }
}
BulletPiece::BulletPiece(BulletPiece&&) noexcept = default;
BulletPiece& BulletPiece::operator=(BulletPiece&&) noexcept = default;
BulletPiece::~BulletPiece() = default;

std::optional<SeparatingPlane> separation(const BulletPiece& a, const Pose& pose_a, const BulletPiece& b,
                                          const Pose& pose_b, double reach) {
    const BulletPiece::Core &core_a = *a.core_, &core_b = *b.core_;
    const auto in_world = [](const Pose& body, const Pose& piece) {
        return Pose{body.to_world(piece.position), body.rotation * piece.rotation};
    };
    btVoronoiSimplexSolver simplex;
    btGjkEpaPenetrationDepthSolver deep;
    btGjkPairDetector detector(core_a.shape.get(), core_b.shape.get(), &simplex, &deep);
    btGjkPairDetector::ClosestPointInput input;
    input.m_transformA = to_bullet(in_world(pose_a, core_a.pose));
    input.m_transformB = to_bullet(in_world(pose_b, core_b.pose));
    const double limit = reach + core_a.shape->getMargin() + core_b.shape->getMargin();
    input.m_maximumDistanceSquared = limit * limit;
    btPointCollector nearest;
    detector.getClosestPoints(input, nearest, nullptr);
    if (!nearest.m_hasResult || nearest.m_distance > reach) return {};
    return SeparatingPlane{from_bullet(nearest.m_normalOnBInWorld), from_bullet(nearest.m_pointInWorld)};
}

HullFaces convex_hull(const std::vector<Vec3>& points) {
    std::vector<btScalar> numbers;
    for (const Vec3& p : points) numbers.insert(numbers.end(), {p.x, p.y, p.z});
    btConvexHullComputer hull;
    hull.compute(numbers.data(), 3 * sizeof(btScalar), int(points.size()), 0, 0);
    HullFaces result;
    for (int i = 0; i < hull.vertices.size(); ++i) result.corners.push_back(from_bullet(hull.vertices[i]));
    for (int f = 0; f < hull.faces.size(); ++f) {
        const btConvexHullComputer::Edge* first = &hull.edges[hull.faces[f]];
        std::vector<int> face;
        for (const auto* edge = first;;) {
            face.push_back(edge->getSourceVertex());
            edge = edge->getNextEdgeOfFace();
            if (edge == first) break;
        }
        result.faces.push_back(std::move(face));
    }
    return result;
}

}  // namespace flotsam

#include "solid/rigid/support.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace flotsam {

namespace {

// The outward direction in the x-z plane; x for a direction along y.
Vec3 sideways(Vec3 d) {
    const double size = std::hypot(d.x, d.z);
    return size > 1e-9 ? Vec3{d.x / size, 0, d.z / size} : Vec3{1, 0, 0};
}

}  // namespace

Support::Support(const ConvexPiece& piece) : piece_(piece) {
    if (piece.kind != ConvexPiece::Kind::hull) return;
    hull_ = convex_hull(piece.points);
    for (const std::vector<int>& face : hull_.faces) {
        Vec3 normal;
        for (std::size_t i = 2; i < face.size(); ++i)
            normal += cross(hull_.corners[face[i - 1]] - hull_.corners[face[0]],
                            hull_.corners[face[i]] - hull_.corners[face[0]]);
        const double size = length(normal);
        normals_.push_back(size > 0 ? normal / size : Vec3{});
    }
}

Vec3 Support::farthest(Vec3 direction) const {
    return piece_.pose.to_world(farthest_of_piece(piece_.pose.rotation.inverse() * direction));
}

std::vector<Vec3> Support::face(Vec3 direction) const {
    std::vector<Vec3> points = face_of_piece(piece_.pose.rotation.inverse() * direction);
    for (Vec3& p : points) p = piece_.pose.to_world(p);
    return points;
}

Vec3 Support::farthest_of_piece(Vec3 d) const {
    const auto [radius, half, depth] = piece_.half;
    switch (piece_.kind) {
        case ConvexPiece::Kind::sphere:
            return d * (radius / length(d));
        case ConvexPiece::Kind::capsule:
            return d * (radius / length(d)) + Vec3{0, d.y > 0 ? half : -half, 0};
        case ConvexPiece::Kind::box:
            return {std::copysign(radius, d.x), std::copysign(half, d.y), std::copysign(depth, d.z)};
        case ConvexPiece::Kind::cylinder:
            return radius * sideways(d) + Vec3{0, d.y > 0 ? half : -half, 0};
        case ConvexPiece::Kind::cone: {
            const Vec3 tip{0, half, 0}, base = radius * sideways(d) - tip;
            return dot(tip, d) > dot(base, d) ? tip : base;
        }
        case ConvexPiece::Kind::hull:
            break;
    }
    return *std::max_element(hull_.corners.begin(), hull_.corners.end(),
                             [&](Vec3 p, Vec3 q) { return dot(p, d) < dot(q, d); });
}

// Eight points of a circle, the first one in the direction.
std::vector<Vec3> Support::rim(double y, Vec3 d) const {
    const Vec3 first = sideways(d), second = cross(first, {0, 1, 0});
    std::vector<Vec3> points;
    for (int i = 0; i < 8; ++i) {
        const double turn = (y > 0 ? -1 : 1) * i * std::numbers::pi / 4;
        points.push_back(piece_.half.x * (std::cos(turn) * first + std::sin(turn) * second) + Vec3{0, y, 0});
    }
    return points;
}

std::vector<Vec3> Support::face_of_piece(Vec3 d) const {
    const auto [radius, half, depth] = piece_.half;
    const Vec3 side = sideways(d);
    switch (piece_.kind) {
        case ConvexPiece::Kind::sphere:
            return {farthest_of_piece(d)};
        case ConvexPiece::Kind::capsule: {
            const Vec3 off = d * (radius / length(d));
            return {off - Vec3{0, half, 0}, off + Vec3{0, half, 0}};
        }
        case ConvexPiece::Kind::box: {
            int axis = 0;
            for (int i = 1; i < 3; ++i)
                if (std::abs(d[i]) > std::abs(d[axis])) axis = i;
            const int b = (axis + 1) % 3, c = (axis + 2) % 3;
            const double sign = d[axis] > 0 ? 1 : -1;
            std::vector<Vec3> corners(4);
            for (int i = 0; i < 4; ++i) {
                corners[i][axis] = sign * piece_.half[axis];
                corners[i][b] = (i == 1 || i == 2 ? 1 : -1) * piece_.half[b];
                corners[i][c] = (i >= 2 ? 1 : -1) * sign * piece_.half[c];
            }
            return corners;
        }
        case ConvexPiece::Kind::cylinder:
            if (std::abs(d.y) > dot(side, d)) return rim(std::copysign(half, d.y), d);
            return {radius * side - Vec3{0, half, 0}, radius * side + Vec3{0, half, 0}};
        case ConvexPiece::Kind::cone: {
            const double slant = std::hypot(radius, 2 * half);
            const double facing_side = (2 * half * dot(side, d) + radius * d.y) / slant;
            if (-d.y > facing_side) return rim(-half, d);
            return {radius * side - Vec3{0, half, 0}, {0, half, 0}};
        }
        case ConvexPiece::Kind::hull:
            break;
    }
    const Vec3 support = farthest_of_piece(d);
    int best = -1;
    for (std::size_t f = 0; f < hull_.faces.size(); ++f) {
        const bool touches = std::any_of(hull_.faces[f].begin(), hull_.faces[f].end(),
                                         [&](int corner) { return hull_.corners[corner] == support; });
        if (touches && (best < 0 || dot(normals_[f], d) > dot(normals_[best], d))) best = int(f);
    }
    if (best < 0) return {support};
    std::vector<Vec3> corners;
    for (const int corner : hull_.faces[best]) corners.push_back(hull_.corners[corner]);
    return corners;
}

double Support::smallest_half_extent() const {
    switch (piece_.kind) {
        case ConvexPiece::Kind::sphere:
        case ConvexPiece::Kind::capsule:
            return piece_.half.x;
        case ConvexPiece::Kind::box:
            return std::min({piece_.half.x, piece_.half.y, piece_.half.z});
        case ConvexPiece::Kind::cylinder:
        case ConvexPiece::Kind::cone:
            return std::min(piece_.half.x, piece_.half.y);
        case ConvexPiece::Kind::hull:
            break;
    }
    double least = 1e300;
    for (const Vec3& n : normals_)
        least = std::min(least, 0.5 * (dot(farthest_of_piece(n), n) + dot(farthest_of_piece(-n), -n)));
    return least;
}

}  // namespace flotsam

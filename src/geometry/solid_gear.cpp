// A gear wheel: a disc with trapezoidal teeth.
#include <array>
#include <cmath>
#include <numbers>

#include "geometry/solid_shape.h"

namespace flotsam {

namespace {

constexpr double root_share = 0.78;  // of the radius: where the teeth begin
// Half the width of a tooth at its root and at its tip, as shares of the angle between two teeth.
constexpr double root_width = 0.32, tip_width = 0.16;

// The outline of one tooth with the gap after it: tip and root corners, counter-clockwise about z.
std::array<Vec3, 4> tooth_outline(double radius, int teeth, int tooth) {
    const double pitch = 2 * std::numbers::pi / teeth, middle = tooth * pitch;
    const auto at = [](double r, double angle) { return Vec3{r * std::cos(angle), r * std::sin(angle), 0}; };
    const double root = root_share * radius;
    return {at(root, middle - root_width * pitch), at(radius, middle - tip_width * pitch),
            at(radius, middle + tip_width * pitch), at(root, middle + root_width * pitch)};
}

class GearShape final : public Shape {
  public:
    GearShape(double radius, double thickness, int teeth)
        : radius_(radius), half_(0.5 * thickness), pitch_(2 * std::numbers::pi / teeth) {
        for (const int tooth : {-1, 0, 1})
            for (const Vec3& corner : tooth_outline(radius, teeth, tooth)) outline_.push_back(corner);
    }
    double distance(Vec3 p) const override {
        const double side = outline_distance(p), face = std::abs(p.z) - half_;
        return std::min(std::max(side, face), 0.0) + std::hypot(std::max(side, 0.0), std::max(face, 0.0));
    }
    Box bounds() const override { return {{-radius_, -radius_, -half_}, {radius_, radius_, half_}}; }

  private:
    // All teeth are alike: rotate the point to the first one, and test it and its neighbours.
    double outline_distance(Vec3 p) const {
        const double angle = std::atan2(p.y, p.x);
        const double near = angle - pitch_ * std::round(angle / pitch_), r = std::hypot(p.x, p.y);
        p = {r * std::cos(near), r * std::sin(near), 0};
        double square = 1e300;
        bool outside = false;
        for (std::size_t i = 0; i + 1 < outline_.size(); ++i) {
            const Vec3 a = outline_[i], edge = outline_[i + 1] - a, from = p - a;
            const double along = std::clamp(dot(from, edge) / dot(edge, edge), 0.0, 1.0);
            const Vec3 off = from - along * edge;
            square = std::min(square, dot(off, off));
            // Seen from the centre, p lies behind this edge.
            if (cross(a, p).z >= 0 && cross(p, outline_[i + 1]).z > 0 && cross(edge, from).z < 0)
                outside = true;
        }
        return outside ? std::sqrt(square) : -std::sqrt(square);
    }

    double radius_, half_, pitch_;
    std::vector<Vec3> outline_;
};

// A shape with its axis along z, rotated so that the axis is along y.
class Upright final : public Shape {
  public:
    explicit Upright(ShapePtr shape) : shape_(std::move(shape)) {}
    double distance(Vec3 p) const override { return shape_->distance({p.x, -p.z, p.y}); }
    Box bounds() const override {
        const Box b = shape_->bounds();
        return {{b.low.x, b.low.z, -b.high.y}, {b.high.x, b.high.z, -b.low.y}};
    }

  private:
    ShapePtr shape_;
};

// A gear with its axis along z.
SolidShape gear_about_z(double radius, double thickness, int teeth) {
    SolidShape shape{std::make_shared<GearShape>(radius, thickness, teeth), {}, {}};
    TriangleMesh& mesh = shape.mesh;
    std::vector<Vec3> outline;
    for (int tooth = 0; tooth < teeth; ++tooth)
        for (const Vec3& corner : tooth_outline(radius, teeth, tooth)) outline.push_back(corner);
    const int n = int(outline.size()), low_center = 2 * n, high_center = 2 * n + 1;
    const Vec3 up{0, 0, 0.5 * thickness};
    for (const Vec3& corner : outline) mesh.vertices.push_back(corner - up);
    for (const Vec3& corner : outline) mesh.vertices.push_back(corner + up);
    mesh.vertices.push_back(-up);
    mesh.vertices.push_back(up);
    for (int i = 0; i < n; ++i) {
        const int j = (i + 1) % n;
        mesh.triangles.insert(mesh.triangles.end(), {{i, j, n + j}, {i, n + j, n + i}});
        mesh.triangles.insert(mesh.triangles.end(), {{low_center, j, i}, {high_center, n + i, n + j}});
    }

    // A disc within the root's flats, and the teeth, each rooted deeper than that disc.
    const double flat = root_share * radius * std::cos((0.5 - root_width) * 2 * std::numbers::pi / teeth);
    shape.pieces.push_back({.kind = ConvexPiece::Kind::cylinder,
                            .pose = {{}, Rotation::about({1, 0, 0}, std::numbers::pi / 2)},
                            .half = {flat, 0.5 * thickness, flat},
                            .points = {}});
    for (int tooth = 0; tooth < teeth; ++tooth) {
        ConvexPiece piece;
        piece.kind = ConvexPiece::Kind::hull;
        const std::array<Vec3, 4> corner = tooth_outline(radius, teeth, tooth);
        for (const Vec3& c : {corner[0], corner[1], corner[2], corner[3], 0.8 * corner[0], 0.8 * corner[3]}) {
            piece.points.push_back(c - up);
            piece.points.push_back(c + up);
        }
        shape.pieces.push_back(piece);
    }
    return shape;
}

}  // namespace

SolidShape solid_gear(double radius, double thickness, int teeth) {
    SolidShape shape = gear_about_z(radius, thickness, teeth);
    shape.distance = std::make_shared<Upright>(shape.distance);
    const Rotation turn = Rotation::about({1, 0, 0}, -std::numbers::pi / 2);
    for (Vec3& v : shape.mesh.vertices) v = {v.x, v.z, -v.y};
    for (ConvexPiece& piece : shape.pieces) piece.pose.rotation = turn * piece.pose.rotation;
    return shape;
}

SolidShape solid_flat_gear(double radius, double depth, int teeth) {
    SolidShape shape = gear_about_z(radius, depth, teeth);
    shape.distance = through_slab(std::make_shared<GearShape>(radius, 1e3 * radius, teeth), depth);
    return shape;
}

}  // namespace flotsam

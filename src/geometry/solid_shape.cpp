#include "geometry/solid_shape.h"

#include <cmath>
#include <numbers>

#include "core/check.h"
#include "core/format.h"
#include "geometry/mesh_defect.h"
#include "geometry/mesh_distance.h"
#include "geometry/mesh_reader.h"
#include "geometry/mesh_surface.h"

namespace flotsam {

namespace {

// A point of an outline that is revolved about y: distance from the axis and height.
struct OutlinePoint {
    double r, y;
};

// A signed distance to a shape that is symmetric about y, given in the half-plane (r, y).
template <class Distance>
class Revolved final : public Shape {
  public:
    Revolved(double radius, double half_height, Distance distance)
        : radius_(radius), half_height_(half_height), distance_(distance) {}
    double distance(Vec3 p) const override { return distance_(std::hypot(p.x, p.z), p.y); }
    Box bounds() const override {
        const Vec3 half{radius_, half_height_, radius_};
        return {-half, half};
    }

  private:
    double radius_, half_height_;
    Distance distance_;
};
template <class Distance>
ShapePtr revolved(double radius, double half_height, Distance distance) {
    return std::make_shared<Revolved<Distance>>(radius, half_height, distance);
}

// Revolves an outline about y. It runs from top to bottom with the inside towards the axis; `closed` outlines
// do not touch the axis, others start and end on it.
TriangleMesh revolve(const std::vector<OutlinePoint>& outline, bool closed, int segments) {
    TriangleMesh mesh;
    const auto ring_size = [&](std::size_t i) { return outline[i].r > 0 ? segments : 1; };
    std::vector<int> first;
    for (std::size_t i = 0; i < outline.size(); ++i) {
        first.push_back(int(mesh.vertices.size()));
        for (int s = 0; s < ring_size(i); ++s) {
            const double angle = 2 * std::numbers::pi * s / segments;
            mesh.vertices.push_back(
                {outline[i].r * std::cos(angle), outline[i].y, -outline[i].r * std::sin(angle)});
        }
    }
    const std::size_t strips = closed ? outline.size() : outline.size() - 1;
    for (std::size_t i = 0; i < strips; ++i) {
        const std::size_t j = (i + 1) % outline.size();
        for (int s = 0; s < segments; ++s) {
            const auto at = [&](std::size_t ring, int turn) {
                return first[ring] + (ring_size(ring) == 1 ? 0 : turn % segments);
            };
            const int a = at(i, s), b = at(i, s + 1), c = at(j, s), d = at(j, s + 1);
            if (a != b) mesh.triangles.push_back({a, c, b});
            if (c != d) mesh.triangles.push_back({b, c, d});
        }
    }
    return mesh;
}

int segments_for(double radius, double spacing) {
    return std::clamp(int(std::ceil(2 * std::numbers::pi * radius / spacing)), 24, 512);
}

// Scales round directions so that the facets enclose the exact volume.
void match_volume(TriangleMesh& mesh, double volume, bool along_y) {
    const double ratio = volume / enclosed_volume(mesh);
    const double factor = along_y ? std::cbrt(ratio) : std::sqrt(ratio);
    for (Vec3& v : mesh.vertices) {
        v.x *= factor;
        v.z *= factor;
        if (along_y) v.y *= factor;
    }
}

// Points on a quarter or half circle about (center_r, center_y), from angle `from` to `to`, measured from +y
// towards +r.
void add_arc(std::vector<OutlinePoint>& outline, double center_r, double center_y, double radius, double from,
             double to, int pieces) {
    for (int i = 0; i <= pieces; ++i) {
        const double angle = from + (to - from) * i / pieces;
        OutlinePoint p{center_r + radius * std::sin(angle), center_y + radius * std::cos(angle)};
        if (std::abs(p.r) < 1e-12 * radius) p.r = 0;
        outline.push_back(p);
    }
}

constexpr double pi = std::numbers::pi;

ConvexPiece primitive(ConvexPiece::Kind kind, Vec3 half) {
    ConvexPiece piece;
    piece.kind = kind;
    piece.half = half;
    return piece;
}

}  // namespace

SolidShape solid_box(Vec3 edges) {
    SolidShape shape{
        make_box(-0.5 * edges, 0.5 * edges), {}, {primitive(ConvexPiece::Kind::box, 0.5 * edges)}};
    for (int corner = 0; corner < 8; ++corner)
        shape.mesh.vertices.push_back({(corner & 1 ? 0.5 : -0.5) * edges.x,
                                       (corner & 2 ? 0.5 : -0.5) * edges.y,
                                       (corner & 4 ? 0.5 : -0.5) * edges.z});
    for (int axis = 0; axis < 3; ++axis)
        for (const int high : {0, 1}) {
            const int bit = 1 << axis, b = 1 << (axis + 1) % 3, c = 1 << (axis + 2) % 3,
                      base = high ? bit : 0;
            const int q[4] = {base, base | b, base | b | c,
                              base | c};  // counter-clockwise seen from the high side
            if (high) {
                shape.mesh.triangles.push_back({q[0], q[1], q[2]});
                shape.mesh.triangles.push_back({q[0], q[2], q[3]});
            } else {
                shape.mesh.triangles.push_back({q[0], q[2], q[1]});
                shape.mesh.triangles.push_back({q[0], q[3], q[2]});
            }
        }
    return shape;
}

SolidShape solid_sphere(double radius, double spacing) {
    const int segments = segments_for(radius, spacing);
    std::vector<OutlinePoint> outline;
    add_arc(outline, 0, 0, radius, 0, pi, segments / 2);
    SolidShape shape{make_sphere({}, radius), revolve(outline, false, segments), {}};
    match_volume(shape.mesh, 4.0 / 3 * pi * radius * radius * radius, true);
    shape.pieces.push_back(primitive(ConvexPiece::Kind::sphere, {radius, radius, radius}));
    return shape;
}

SolidShape solid_capsule(double radius, double length, double spacing) {
    const int segments = segments_for(radius, spacing);
    std::vector<OutlinePoint> outline;
    add_arc(outline, 0, 0.5 * length, radius, 0, pi / 2, segments / 4);
    add_arc(outline, 0, -0.5 * length, radius, pi / 2, pi, segments / 4);
    SolidShape shape{revolved(radius, 0.5 * length + radius,
                              [=](double r, double y) {
                                  return std::hypot(r, std::max(std::abs(y) - 0.5 * length, 0.0)) - radius;
                              }),
                     revolve(outline, false, segments),
                     {}};
    match_volume(shape.mesh, pi * radius * radius * (length + 4.0 / 3 * radius), false);
    shape.pieces.push_back(primitive(ConvexPiece::Kind::capsule, {radius, 0.5 * length, radius}));
    return shape;
}

SolidShape solid_cylinder(double radius, double length, double spacing) {
    const double half = 0.5 * length;
    const std::vector<OutlinePoint> outline{{0, half}, {radius, half}, {radius, -half}, {0, -half}};
    SolidShape shape{revolved(radius, half,
                              [=](double r, double y) {
                                  const double a = r - radius, b = std::abs(y) - half;
                                  return std::min(std::max(a, b), 0.0) +
                                         std::hypot(std::max(a, 0.0), std::max(b, 0.0));
                              }),
                     revolve(outline, false, segments_for(radius, spacing)),
                     {}};
    match_volume(shape.mesh, pi * radius * radius * length, false);
    shape.pieces.push_back(primitive(ConvexPiece::Kind::cylinder, {radius, half, radius}));
    return shape;
}

SolidShape solid_cone(double radius, double height, double spacing) {
    const double half = 0.5 * height, slant = std::hypot(radius, height);
    const std::vector<OutlinePoint> outline{{0, half}, {radius, -half}, {0, -half}};
    SolidShape shape{revolved(radius, half,
                              [=](double r, double y) {
                                  // Nearest points on the slanted side and on the base.
                                  const double along = std::clamp(
                                      (r * radius + (half - y) * height) / (slant * slant), 0.0, 1.0);
                                  const double side =
                                      std::hypot(r - along * radius, y - (half - along * height));
                                  const double base = std::hypot(std::max(r - radius, 0.0), y + half);
                                  const bool inside = y > -half && r * height < (half - y) * radius;
                                  return inside ? -std::min(side, base) : std::min(side, base);
                              }),
                     revolve(outline, false, segments_for(radius, spacing)),
                     {}};
    match_volume(shape.mesh, pi * radius * radius * height / 3, false);
    shape.pieces.push_back(primitive(ConvexPiece::Kind::cone, {radius, half, radius}));
    return shape;
}

SolidShape solid_torus(double ring_radius, double tube_radius, double spacing) {
    std::vector<OutlinePoint> outline;
    const int pieces = segments_for(tube_radius, spacing);
    add_arc(outline, ring_radius, 0, tube_radius, 0, 2 * pi * (pieces - 1) / pieces, pieces - 1);
    SolidShape shape{
        revolved(ring_radius + tube_radius, tube_radius,
                 [=](double r, double y) { return std::hypot(r - ring_radius, y) - tube_radius; }),
        revolve(outline, true, segments_for(ring_radius + tube_radius, spacing)),
        {}};
    match_volume(shape.mesh, 2 * pi * pi * ring_radius * tube_radius * tube_radius, true);
    // For contact, a ring of short straight tubes, as thick as the true one at their ends.
    constexpr int tubes = 20, sides = 12;
    for (int t = 0; t < tubes; ++t) {
        ConvexPiece tube = primitive(ConvexPiece::Kind::hull, {});
        for (const int end : {t, t + 1})
            for (int side = 0; side < sides; ++side) {
                const double turn = 2 * pi * end / tubes, around = 2 * pi * side / sides;
                const double r = ring_radius + tube_radius * std::cos(around);
                tube.points.push_back(
                    {r * std::cos(turn), tube_radius * std::sin(around), r * std::sin(turn)});
            }
        shape.pieces.push_back(tube);
    }
    return shape;
}

ShapePtr through_slab(ShapePtr shape, double depth) {
    class Through final : public Shape {
      public:
        Through(ShapePtr shape, double depth) : shape_(std::move(shape)), half_(0.5 * depth) {}
        double distance(Vec3 p) const override { return shape_->distance({p.x, p.y, 0}); }
        Box bounds() const override {
            Box box = shape_->bounds();
            box.low.z = -half_;
            box.high.z = half_;
            return box;
        }

      private:
        ShapePtr shape_;
        double half_;
    };
    return std::make_shared<Through>(std::move(shape), depth);
}

SolidShape solid_disc(double radius, double depth, double spacing) {
    SolidShape shape = solid_cylinder(radius, depth, spacing);
    for (Vec3& v : shape.mesh.vertices) v = {v.x, -v.z, v.y};  // the axis of symmetry from y to z
    shape.pieces[0].pose.rotation = Rotation::about({1, 0, 0}, pi / 2);
    shape.distance = through_slab(make_sphere({}, radius), depth);
    return shape;
}

SolidShape solid_rectangle(double width, double height, double depth) {
    SolidShape shape = solid_box({width, height, depth});
    // Deep enough that front and back are never the nearest.
    const double far = width + height;
    shape.distance =
        through_slab(make_box({-0.5 * width, -0.5 * height, -far}, {0.5 * width, 0.5 * height, far}), depth);
    return shape;
}

SolidShape solid_mesh(const std::string& file, double scale, double spacing) {
    SolidShape shape;
    shape.mesh = read_mesh(file);
    for (Vec3& v : shape.mesh.vertices) v *= scale;
    check_closed(shape.mesh, file);
    if (std::abs(enclosed_volume(shape.mesh)) <= 1e-9 * std::pow(surface_area(shape.mesh), 1.5))
        throw UserError(
            format_text("{}: the mesh encloses nothing: it has no thickness\n"
                        "  give it some in a mesh editor (Blender: Solidify modifier)",
                        file));
    if (enclosed_volume(shape.mesh) < 0)
        for (Int3& t : shape.mesh.triangles) std::swap(t.y, t.z);  // facing inwards: turn it
    if (!mesh_defect(shape.mesh).empty()) shape.mesh = mesh_from_distance(shape.mesh, file, spacing);
    shape.distance = std::make_shared<MeshSurface>(shape.mesh, 48);
    return shape;
}

}  // namespace flotsam

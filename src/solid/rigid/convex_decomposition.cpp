#include "solid/rigid/convex_decomposition.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "solid/rigid/bullet.h"

namespace flotsam {

namespace {

constexpr int most_parts = 48;
constexpr double bulge_allowed = 0.03;  // excess volume of all hulls together, relative to the mesh's volume
constexpr int cuts_tried = 7;           // along each axis of a part
constexpr int longest_side = 40;        // of the lattice that volumes are counted on

using Polygon = std::vector<Vec3>;

double hull_volume(const std::vector<Vec3>& points) {
    if (points.size() < 4) return 0;
    const HullFaces hull = convex_hull(points);
    double volume = 0;
    for (const std::vector<int>& face : hull.faces)
        for (std::size_t i = 2; i < face.size(); ++i) {
            const Vec3 o = hull.corners[0], a = hull.corners[face[0]] - o, b = hull.corners[face[i - 1]] - o,
                       c = hull.corners[face[i]] - o;
            volume += dot(a, cross(b, c)) / 6;
        }
    return std::abs(volume);
}

// Which points of a lattice lie inside a mesh.
class Filling {
  public:
    explicit Filling(const TriangleMesh& mesh) : box_(bounds(mesh)) {
        const Vec3 size = box_.high - box_.low;
        h_ = std::max({size.x, size.y, size.z}) / longest_side;
        for (int axis = 0; axis < 3; ++axis) count_[axis] = std::max(1, int(std::ceil(size[axis] / h_)));
        inside_.assign(std::size_t(count_.x) * count_.y * count_.z, 0);
        std::vector<std::vector<double>> crossings(std::size_t(count_.x) * count_.y);
        for (const Int3& t : mesh.triangles) cross_columns(mesh, t, crossings);
        for (int j = 0; j < count_.y; ++j)
            for (int i = 0; i < count_.x; ++i) {
                std::vector<double>& z = crossings[i + count_.x * j];
                std::sort(z.begin(), z.end());
                for (int k = 0; k < count_.z; ++k) {
                    const auto below = std::lower_bound(z.begin(), z.end(), place({i, j, k}).z) - z.begin();
                    inside_[index({i, j, k})] = char(below % 2);
                }
            }
    }
    double volume(const Box& box) const {
        double volume = 0;
        for (int k = 0; k < count_.z; ++k)
            for (int j = 0; j < count_.y; ++j)
                for (int i = 0; i < count_.x; ++i)
                    if (inside_[index({i, j, k})] && box.contains(place({i, j, k}))) volume += h_ * h_ * h_;
        return volume;
    }
    // By the nearest lattice point.
    bool contains(Vec3 p) const {
        Int3 c;
        for (int axis = 0; axis < 3; ++axis) {
            c[axis] = int(std::floor((p[axis] - box_.low[axis]) / h_));
            if (c[axis] < 0 || c[axis] >= count_[axis]) return false;
        }
        return inside_[index(c)];
    }
    double spacing() const { return h_; }

  private:
    // A bit off the middle: no lattice line runs along an edge of the mesh then.
    Vec3 place(Int3 c) const { return box_.low + (Vec3(c) + Vec3{0.50013, 0.50027, 0.5}) * h_; }
    std::size_t index(Int3 c) const {
        return c.x + std::size_t(count_.x) * (c.y + std::size_t(count_.y) * c.z);
    }

    void cross_columns(const TriangleMesh& mesh, Int3 t, std::vector<std::vector<double>>& crossings) const {
        const Vec3 a = mesh.vertices[t.x], b = mesh.vertices[t.y], c = mesh.vertices[t.z];
        const double area = cross(b - a, c - a).z;
        if (area == 0) return;
        const Vec3 low = (min(min(a, b), c) - box_.low) / h_, high = (max(max(a, b), c) - box_.low) / h_;
        for (int j = std::max(0, int(low.y) - 1); j <= std::min(count_.y - 1, int(high.y)); ++j)
            for (int i = std::max(0, int(low.x) - 1); i <= std::min(count_.x - 1, int(high.x)); ++i) {
                const Vec3 p = place({i, j, 0});
                const double u = cross(b - p, c - p).z / area, v = cross(c - p, a - p).z / area,
                             w = 1 - u - v;
                if (u >= 0 && v >= 0 && w >= 0)
                    crossings[i + count_.x * j].push_back(u * a.z + v * b.z + w * c.z);
            }
    }

    Box box_;
    double h_ = 1;
    Int3 count_;
    std::vector<char> inside_;
};

// A part of the mesh: its surface within a box.
struct Part {
    Box box;
    std::vector<Polygon> surface;
    std::vector<Vec3> outermost;
    double bulge = 0;  // volume of its hull minus its own [m^3]
};

// The hull of a solid within a box is the hull of its surface there and of the box's corners inside the
// solid.
void measure(Part& part, const Filling& filling) {
    std::vector<Vec3> points;
    for (const Polygon& polygon : part.surface) points.insert(points.end(), polygon.begin(), polygon.end());
    if (points.empty()) return;
    for (int corner = 0; corner < 8; ++corner) {
        const Vec3 p{corner & 1 ? part.box.high.x : part.box.low.x,
                     corner & 2 ? part.box.high.y : part.box.low.y,
                     corner & 4 ? part.box.high.z : part.box.low.z};
        // A step inwards: corners lie on cuts, and a cut may run along the surface.
        const Vec3 middle = 0.5 * (part.box.low + part.box.high), way = middle - p;
        if (filling.contains(p + way * (0.5 * filling.spacing() / length(way)))) points.push_back(p);
    }
    part.outermost = outermost_points(points);
    part.bulge = std::max(0.0, hull_volume(part.outermost) - filling.volume(part.box));
}

Polygon below(const Polygon& polygon, int axis, double plane, double sign, double margin) {
    Polygon kept;
    double deepest = 0;
    for (std::size_t i = 0; i < polygon.size(); ++i) {
        const Vec3 p = polygon[i], q = polygon[(i + 1) % polygon.size()];
        const double depth_p = sign * (plane - p[axis]), depth_q = sign * (plane - q[axis]);
        deepest = std::max(deepest, depth_p);
        if (depth_p >= 0) kept.push_back(p);
        if ((depth_p >= 0) != (depth_q >= 0)) kept.push_back(p + (q - p) * (depth_p / (depth_p - depth_q)));
    }
    // A wall in the plane itself belongs to neither side: it would stretch the hull of the one that it does
    // not bound.
    return deepest > margin ? kept : Polygon{};
}

std::array<Part, 2> cut(const Part& part, int axis, double plane, const Filling& filling) {
    std::array<Part, 2> halves;
    for (const int side : {0, 1}) {
        Part& half = halves[side];
        half.box = part.box;
        (side == 0 ? half.box.high : half.box.low)[axis] = plane;
        for (const Polygon& polygon : part.surface)
            if (Polygon kept = below(polygon, axis, plane, side == 0 ? 1 : -1, 1e-6 * filling.spacing());
                kept.size() >= 3)
                half.surface.push_back(std::move(kept));
        measure(half, filling);
    }
    return halves;
}

// The best of a few cuts; both halves are empty when the part is too small to cut. The first cuts of a ring
// do not reduce its bulge yet: without progress the middle of the longest side is best.
std::array<Part, 2> best_cut(const Part& part, const Filling& filling) {
    std::array<Part, 2> best;
    double least = 1e300;
    const Box box = [&] {
        TriangleMesh points;
        points.vertices = part.outermost;
        return bounds(points);
    }();
    const Vec3 sides = box.high - box.low;
    const double longest = std::max({sides.x, sides.y, sides.z});
    for (int axis = 0; axis < 3; ++axis) {
        const double size = sides[axis];
        if (size < 4 * filling.spacing()) continue;
        for (int i = 1; i <= cuts_tried; ++i) {
            std::array<Part, 2> halves =
                cut(part, axis, box.low[axis] + size * i / (cuts_tried + 1), filling);
            const double off_middle = std::abs(2.0 * i / (cuts_tried + 1) - 1), shorter = 1 - size / longest;
            const double bulge =
                halves[0].bulge + halves[1].bulge + (0.05 * off_middle + 0.3 * shorter) * part.bulge;
            if (bulge < least) least = bulge, best = std::move(halves);
        }
    }
    return best;
}

}  // namespace

std::vector<ConvexPiece> convex_decomposition(const TriangleMesh& mesh) {
    // Fine triangles cost time and change no hull by more than this.
    TriangleMesh coarse = mesh;
    const Box box = bounds(mesh);
    for (double merge = length(box.high - box.low) / 400; coarse.triangles.size() > 4000; merge *= 1.5)
        coarse = weld(mesh, merge);
    const Filling filling(coarse);
    Part whole{box, {}, {}, 0};
    for (const Int3& t : coarse.triangles)
        whole.surface.push_back({coarse.vertices[t.x], coarse.vertices[t.y], coarse.vertices[t.z]});
    measure(whole, filling);

    std::vector<Part> parts{whole}, finished;
    const double allowed = bulge_allowed * std::abs(enclosed_volume(mesh));
    while (!parts.empty()) {
        double bulge = 0;
        for (const Part& part : parts) bulge += part.bulge;
        if (bulge <= allowed || int(parts.size() + finished.size()) >= most_parts) break;
        const auto worst = std::max_element(parts.begin(), parts.end(),
                                            [](const Part& a, const Part& b) { return a.bulge < b.bulge; });
        std::array<Part, 2> halves = best_cut(*worst, filling);
        if (halves[0].outermost.empty() && halves[1].outermost.empty()) {
            finished.push_back(std::move(*worst));
            parts.erase(worst);
            continue;
        }
        *worst = std::move(halves[0]);
        parts.push_back(std::move(halves[1]));
    }
    std::vector<ConvexPiece> pieces;
    for (const std::vector<Part>* list : {&parts, &finished})
        for (const Part& part : *list)
            if (hull_volume(part.outermost) > 0) {
                ConvexPiece piece;
                piece.kind = ConvexPiece::Kind::hull;
                piece.points = part.outermost;
                pieces.push_back(std::move(piece));
            }
    return pieces;
}

}  // namespace flotsam

// Cross-sections of meshes, extruded: solids of two-dimensional scenes.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "core/check.h"
#include "geometry/mesh_surface.h"
#include "geometry/solid_shape.h"

namespace flotsam {

namespace {

// A closed polygon, z = 0 everywhere; the inside is on its left.
using Outline = std::vector<Vec3>;

// Twice the signed area of a triangle.
double turn(Vec3 a, Vec3 b, Vec3 c) { return cross(b - a, c - a).z; }

double signed_area(const Outline& outline) {
    double sum = 0;
    for (std::size_t i = 0; i < outline.size(); ++i)
        sum += 0.5 * cross(outline[i], outline[(i + 1) % outline.size()]).z;
    return sum;
}

bool contains(const Outline& outline, Vec3 p) {
    bool inside = false;
    for (std::size_t i = 0; i < outline.size(); ++i) {
        const Vec3 a = outline[i], b = outline[(i + 1) % outline.size()];
        if ((a.y > p.y) != (b.y > p.y) && p.x < a.x + (p.y - a.y) / (b.y - a.y) * (b.x - a.x))
            inside = !inside;
    }
    return inside;
}

// Leaves out points that repeat others or lie on the line between their neighbours.
Outline simplified(const Outline& outline, double size) {
    Outline points = outline;
    for (bool again = true; again && points.size() > 2;) {
        again = false;
        for (std::size_t i = 0; i < points.size() && points.size() > 2; ++i) {
            const std::size_t count = points.size();
            const Vec3 before = points[(i + count - 1) % count], after = points[(i + 1) % count];
            const double way = length(points[i] - before) + length(after - points[i]);
            if (length(points[i] - before) > 1e-9 * size &&
                std::abs(turn(before, points[i], after)) > 1e-9 * size * way)
                continue;
            points.erase(points.begin() + std::ptrdiff_t(i));
            again = true;
            --i;
        }
    }
    return points;
}

// Where a plane cuts a mesh. A vertex on the plane counts as above it. Every triangle that the plane cuts
// leads from the edge along which its border goes down to the one along which it comes up.
std::vector<Outline> section(const TriangleMesh& mesh, double height) {
    using Edge = std::pair<int, int>;
    const auto edge = [](int a, int b) { return Edge(std::min(a, b), std::max(a, b)); };
    std::multimap<Edge, Edge> way;
    for (const Int3& t : mesh.triangles) {
        Edge down{-1, -1}, up{-1, -1};
        for (int k = 0; k < 3; ++k) {
            const int a = t[k], b = t[(k + 1) % 3];
            const bool a_above = mesh.vertices[a].z >= height, b_above = mesh.vertices[b].z >= height;
            if (a_above && !b_above) down = edge(a, b);
            if (!a_above && b_above) up = edge(a, b);
        }
        if (down.first >= 0) way.emplace(down, up);
    }
    const Box box = bounds(mesh);
    const double size = length(box.high - box.low);
    std::vector<Outline> outlines;
    while (!way.empty()) {
        Outline outline;
        const Edge start = way.begin()->first;
        for (Edge at = start;;) {
            const Vec3 a = mesh.vertices[at.first], b = mesh.vertices[at.second];
            const Vec3 p = a + (b - a) * ((height - a.z) / (b.z - a.z));
            outline.push_back({p.x, p.y, 0});
            const auto next = way.find(at);
            if (next == way.end()) throw UserError("the section is open: the mesh has a hole there");
            at = next->second;
            way.erase(next);
            if (at == start) break;
        }
        outline = simplified(outline, size);
        if (outline.size() > 2 && std::abs(signed_area(outline)) > 1e-9 * size * size)
            outlines.push_back(std::move(outline));
    }
    return outlines;
}

// Whether two segments have more than an end in common.
bool cross_each_other(Vec3 a, Vec3 b, Vec3 c, Vec3 d) {
    if (a == c || a == d || b == c || b == d) return false;
    return turn(a, b, c) * turn(a, b, d) <= 0 && turn(c, d, a) * turn(c, d, b) <= 0;
}

// Whether the line from corner `i` of an outline to p begins inside of it. Where bridges end, several corners
// share a place, and each sees another part of the inside.
bool begins_inside(const Outline& outline, std::size_t i, Vec3 p) {
    const std::size_t count = outline.size();
    const Vec3 before = outline[(i + count - 1) % count], at = outline[i], after = outline[(i + 1) % count];
    const bool past_next = turn(at, after, p) > 0, short_of_last = turn(at, p, before) > 0;
    return turn(before, at, after) >= 0 ? past_next && short_of_last : past_next || short_of_last;
}

// A way from a corner of an outline to one of a hole.
struct Bridge {
    std::size_t corner = 0, hole = 0, hole_corner = 0;
};

// The shortest bridge to any of the holes that crosses neither these nor the outline. A given hole may have
// none yet, where other holes are in the way.
Bridge shortest_bridge(const Outline& outline, const std::vector<Outline>& holes) {
    const auto crosses = [](const Outline& other, Vec3 a, Vec3 b) {
        for (std::size_t k = 0; k < other.size(); ++k)
            if (cross_each_other(a, b, other[k], other[(k + 1) % other.size()])) return true;
        return false;
    };
    double least = 1e300;
    Bridge best;
    for (std::size_t n = 0; n < holes.size(); ++n)
        for (std::size_t i = 0; i < outline.size(); ++i)
            for (std::size_t j = 0; j < holes[n].size(); ++j) {
                const Vec3 a = outline[i], b = holes[n][j];
                if (length(a - b) >= least || !begins_inside(outline, i, b) ||
                    !begins_inside(holes[n], j, a) || crosses(outline, a, b))
                    continue;
                if (std::none_of(holes.begin(), holes.end(),
                                 [&](const Outline& hole) { return crosses(hole, a, b); }))
                    least = length(a - b), best = {i, n, j};
            }
    FLOTSAM_CHECK(least < 1e300, outline.size(), holes.size());
    return best;
}

// An outline with its holes as one polygon: to each hole and back along a bridge.
Outline with_holes(Outline outline, std::vector<Outline> holes) {
    while (!holes.empty()) {
        const Bridge bridge = shortest_bridge(outline, holes);
        const Outline& hole = holes[bridge.hole];
        Outline way;
        for (std::size_t k = 0; k <= hole.size(); ++k)
            way.push_back(hole[(bridge.hole_corner + k) % hole.size()]);
        way.push_back(outline[bridge.corner]);
        outline.insert(outline.begin() + std::ptrdiff_t(bridge.corner) + 1, way.begin(), way.end());
        holes.erase(holes.begin() + std::ptrdiff_t(bridge.hole));
    }
    return outline;
}

// Cuts ears off a polygon until nothing is left: triangles of indices.
std::vector<std::array<int, 3>> triangulated(const Outline& polygon) {
    std::vector<int> rest(polygon.size());
    for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = int(i);
    std::vector<std::array<int, 3>> triangles;
    while (rest.size() > 2) {
        const std::size_t count = rest.size();
        std::size_t ear = count;
        double best = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const Vec3 a = polygon[rest[(i + count - 1) % count]], b = polygon[rest[i]],
                       c = polygon[rest[(i + 1) % count]];
            const double area = turn(a, b, c);
            if (area <= 0) continue;
            const bool empty = std::none_of(rest.begin(), rest.end(), [&](int n) {
                const Vec3 p = polygon[n];
                return p != a && p != b && p != c && turn(a, b, p) >= 0 && turn(b, c, p) >= 0 &&
                       turn(c, a, p) >= 0;
            });
            // The ear that is least of a sliver.
            const double quality = area / (dot(c - a, c - a) + dot(b - a, b - a) + dot(c - b, c - b));
            if (empty && quality > best) ear = i, best = quality;
        }
        // Rounding may leave a rest without area.
        if (ear < count)
            triangles.push_back({rest[(ear + count - 1) % count], rest[ear], rest[(ear + 1) % count]});
        else
            ear = 0;
        rest.erase(rest.begin() + std::ptrdiff_t(ear));
    }
    return triangles;
}

// Joins convex polygons that share an edge as long as the result is convex.
std::vector<Outline> convex_parts(std::vector<Outline> parts) {
    const auto joined = [](const Outline& a, const Outline& b) -> Outline {
        for (std::size_t i = 0; i < a.size(); ++i)
            for (std::size_t j = 0; j < b.size(); ++j) {
                if (a[i] != b[(j + 1) % b.size()] || a[(i + 1) % a.size()] != b[j]) continue;
                Outline sum;  // from the edge's end once around a, then around b
                for (std::size_t k = 1; k <= a.size(); ++k) sum.push_back(a[(i + k) % a.size()]);
                for (std::size_t k = 2; k < b.size(); ++k) sum.push_back(b[(j + k) % b.size()]);
                for (std::size_t k = 0; k < sum.size(); ++k)
                    if (turn(sum[k], sum[(k + 1) % sum.size()], sum[(k + 2) % sum.size()]) < 0) return {};
                return sum;
            }
        return {};
    };
    for (std::size_t a = 0; a < parts.size(); ++a)
        for (std::size_t b = a + 1; b < parts.size();) {
            const Outline sum = joined(parts[a], parts[b]);
            if (sum.empty()) {
                ++b;
                continue;
            }
            parts[a] = sum;
            parts.erase(parts.begin() + std::ptrdiff_t(b));
            b = a + 1;
        }
    return parts;
}

// The outlines of a figure, each with its holes, and the triangles that fill them.
struct Figure {
    std::vector<Outline> outlines;
    std::vector<Outline> triangles;
};

Figure filled(const std::vector<Outline>& outlines) {
    Figure figure{outlines, {}};
    for (const Outline& outer : outlines) {
        if (signed_area(outer) < 0) continue;
        std::vector<Outline> holes;
        for (const Outline& hole : outlines) {
            if (signed_area(hole) > 0 || !contains(outer, hole[0])) continue;
            // It belongs to the smallest outline around it.
            const bool own = std::none_of(outlines.begin(), outlines.end(), [&](const Outline& other) {
                return signed_area(other) > 0 && signed_area(other) < signed_area(outer) &&
                       contains(other, hole[0]);
            });
            if (own) holes.push_back(hole);
        }
        const Outline polygon = with_holes(outer, std::move(holes));
        for (const auto& [a, b, c] : triangulated(polygon))
            figure.triangles.push_back({polygon[a], polygon[b], polygon[c]});
    }
    return figure;
}

// Between z = -half and z = half.
TriangleMesh extruded(const Figure& figure, double half) {
    TriangleMesh mesh;
    std::map<std::pair<double, double>, int>
        known;  // the lower vertex of each point; the upper one follows it
    const auto at = [&](Vec3 p) {
        const auto [entry, missing] = known.try_emplace({p.x, p.y}, int(mesh.vertices.size()));
        if (missing) {
            mesh.vertices.push_back({p.x, p.y, -half});
            mesh.vertices.push_back({p.x, p.y, half});
        }
        return entry->second;
    };
    for (const Outline& outline : figure.outlines)
        for (std::size_t i = 0; i < outline.size(); ++i) {
            const int a = at(outline[i]), b = at(outline[(i + 1) % outline.size()]);
            mesh.triangles.push_back({a, b, b + 1});
            mesh.triangles.push_back({a, b + 1, a + 1});
        }
    for (const Outline& triangle : figure.triangles) {
        const int a = at(triangle[0]), b = at(triangle[1]), c = at(triangle[2]);
        mesh.triangles.push_back({a + 1, b + 1, c + 1});
        mesh.triangles.push_back({a, c, b});
    }
    return mesh;
}

}  // namespace

SolidShape solid_section(const TriangleMesh& mesh, double height, double depth) {
    const Figure figure = filled(section(mesh, height));
    if (figure.triangles.empty()) throw UserError("the plane cuts nothing of the mesh");
    SolidShape shape;
    shape.mesh = extruded(figure, 0.5 * depth);
    // Deep enough that front and back are never the nearest.
    const Box box = bounds(shape.mesh);
    const double far = box.high.x - box.low.x + box.high.y - box.low.y;
    shape.distance = through_slab(std::make_shared<MeshSurface>(extruded(figure, far), 48), depth);
    for (const Outline& part : convex_parts(figure.triangles)) {
        ConvexPiece piece;
        piece.kind = ConvexPiece::Kind::hull;
        for (const Vec3 p : part)
            for (const double z : {-0.5 * depth, 0.5 * depth}) piece.points.push_back({p.x, p.y, z});
        shape.pieces.push_back(std::move(piece));
    }
    return shape;
}

}  // namespace flotsam

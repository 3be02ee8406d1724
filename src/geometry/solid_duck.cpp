// A rubber duck of our own: a smooth union of ellipsoids, cut flat below so that it stands.
#include <array>
#include <cmath>

#include "geometry/mesh_distance.h"
#include "geometry/solid_shape.h"
#include "geometry/surface_nets.h"

namespace flotsam {

namespace {

// An ellipsoid, tilted about z. The duck swims along +x, is 1 long, and consists of this list alone.
struct Lump {
    Vec3 center, half;
    double degrees = 0;
    double blend = 0.06;  // how softly it joins the lumps before it
    int part = 0;         // convex parts, for contact
};
enum Part { trunk, tail, head, beak, part_count };
constexpr double floor_height = -0.225, floor_blend = 0.07;

const std::vector<Lump>& lumps() {
    static const std::vector<Lump> all{
        {{0.00, 0.00, 0.00}, {0.40, 0.27, 0.31}, 6, 0, trunk},
        {{0.17, 0.08, 0.00}, {0.21, 0.20, 0.21}, 0, 0.10, trunk},        // breast
        {{-0.37, 0.14, 0.00}, {0.17, 0.055, 0.12}, -38, 0.12, tail},     // turned up
        {{-0.05, 0.03, 0.275}, {0.22, 0.125, 0.055}, -12, 0.03, trunk},  // wings
        {{-0.05, 0.03, -0.275}, {0.22, 0.125, 0.055}, -12, 0.03, trunk},
        {{0.21, 0.42, 0.00}, {0.215, 0.205, 0.205}, 0, 0.09, head},
        {{0.435, 0.405, 0.00}, {0.105, 0.032, 0.095}, 12, 0.025, beak},
        {{0.415, 0.365, 0.00}, {0.085, 0.028, 0.075}, -10, 0.02, beak},
        {{0.345, 0.485, 0.115}, {0.035, 0.042, 0.035}, 0, 0.008, head},  // eyes
        {{0.345, 0.485, -0.115}, {0.035, 0.042, 0.035}, 0, 0.008, head}};
    return all;
}

// Roughly a distance: exact on the surface and of unit slope there.
double lump_distance(const Lump& lump, Vec3 p) {
    const double angle = lump.degrees * 3.14159265358979 / 180, c = std::cos(angle), s = std::sin(angle);
    const Vec3 d = p - lump.center, q{c * d.x + s * d.y, -s * d.x + c * d.y, d.z};
    const Vec3 once{q.x / lump.half.x, q.y / lump.half.y, q.z / lump.half.z};
    const Vec3 twice{once.x / lump.half.x, once.y / lump.half.y, once.z / lump.half.z};
    const double r = length(once), slope = length(twice);
    return slope > 0 ? r * (r - 1) / slope : -std::min({lump.half.x, lump.half.y, lump.half.z});
}

// The smaller of two distances with the crease between them filled over a width k.
double smooth_min(double a, double b, double k) {
    const double overlap = std::max(k - std::abs(a - b), 0.0);
    return std::min(a, b) - (k > 0 ? overlap * overlap / (4 * k) : 0);
}

double duck(Vec3 p) {
    double d = 1e30;
    for (const Lump& lump : lumps()) d = smooth_min(d, lump_distance(lump, p), lump.blend);
    return -smooth_min(-d, p.y - floor_height, floor_blend);
}

int nearest_part(Vec3 p) {
    int part = trunk;
    double least = 1e30;
    for (const Lump& lump : lumps())
        if (const double d = lump_distance(lump, p); d < least) least = d, part = lump.part;
    return part;
}

// The duck's surface in its own units, from cells of edge `h`.
TriangleMesh duck_surface(double h) {
    const Vec3 low{-0.62, -0.32, -0.42}, high{0.62, 0.72, 0.42};
    const Int3 cells{int((high.x - low.x) / h), int((high.y - low.y) / h), int((high.z - low.z) / h)};
    std::vector<Int3> tiles;
    for (int k = 0; k <= cells.z / Tiling::side; ++k)
        for (int j = 0; j <= cells.y / Tiling::side; ++j)
            for (int i = 0; i <= cells.x / Tiling::side; ++i) tiles.push_back({i, j, k});
    const auto tiling = std::make_shared<Tiling>(cells, std::move(tiles));
    Field<double> phi(tiling, 1.0);
    for_each_cell(*tiling, cells, [&](Int3 c, std::int64_t n) {
        phi[n] = duck(low + (Vec3(c) + Vec3{0.5, 0.5, 0.5}) * h);
    });
    const SurfaceMesh net = extract_surface(phi, h);
    TriangleMesh mesh;
    for (const Vec3f& v : net.vertices) {
        // The net cuts corners by a part of a cell: project its vertices onto the true surface.
        Vec3 p = Vec3(v) + low;
        for (int i = 0; i < 3; ++i) {
            const double e = 1e-5;
            const Vec3 slope = Vec3{duck({p.x + e, p.y, p.z}) - duck({p.x - e, p.y, p.z}),
                                    duck({p.x, p.y + e, p.z}) - duck({p.x, p.y - e, p.z}),
                                    duck({p.x, p.y, p.z + e}) - duck({p.x, p.y, p.z - e})} /
                               (2 * e);
            p -= slope * (duck(p) / std::max(dot(slope, slope), 0.1));
        }
        mesh.vertices.push_back(p);
    }
    for (const auto& t : net.triangles) mesh.triangles.push_back({t[0], t[1], t[2]});
    return mesh;
}

}  // namespace

SolidShape solid_duck(double length, double spacing) {
    SolidShape shape;
    // Fine enough for the eyes, at most a few hundred thousand triangles.
    shape.mesh = duck_surface(std::clamp(spacing / length, 1.0 / 200, 1.0 / 64));
    const Box box = bounds(shape.mesh);
    const Vec3 middle = 0.5 * (box.low + box.high);
    const double scale = length / (box.high.x - box.low.x);
    std::array<std::vector<Vec3>, part_count> parts;
    for (Vec3& v : shape.mesh.vertices) {
        const int part = nearest_part(v);
        v = (v - middle) * scale;
        parts[part].push_back(v);
    }
    for (const std::vector<Vec3>& points : parts) {
        ConvexPiece piece;
        piece.kind = ConvexPiece::Kind::hull;
        piece.points = outermost_points(points);
        shape.pieces.push_back(piece);
    }
    shape.distance = mesh_distance(shape.mesh, "duck", std::min(spacing, length / 40));
    return shape;
}

}  // namespace flotsam

// An open boat: a thin shell with a round stern, a sharper bow and nothing on top.
#include <cmath>
#include <numbers>

#include "geometry/mesh_surface.h"
#include "geometry/solid_shape.h"

namespace flotsam {

namespace {

constexpr double pi = std::numbers::pi;
// Outlines are superellipses |x/a|^p + |z/b|^p = 1: 2 is an ellipse, larger is boxier.
constexpr double stern_power = 3.0, bow_power = 1.7, side_power = 2.6;
constexpr int sectors = 24, bands = 4;  // of the convex pieces; the mesh has multiples of these

double power(double base, double exponent) { return std::pow(std::max(base, 0.0), exponent); }

// Half a hull with its deck in the plane y = 0; `turn` goes around, `down` from 0 at the rim to 1 at the
// keel.
struct Hull {
    double half_length, depth, half_width;
    Vec3 at(double turn, double down) const {
        const double c = std::cos(2 * pi * turn), s = std::sin(2 * pi * turn);
        const double exponent = 2 / (c > 0 ? bow_power : stern_power);
        const double wide = power(std::cos(0.5 * pi * down), 2 / side_power);
        const double deep = power(std::sin(0.5 * pi * down), 2 / side_power);
        return {std::copysign(power(std::abs(c), exponent), c) * wide * half_length, -deep * depth,
                -std::copysign(power(std::abs(s), exponent), s) * wide * half_width};
    }
};

}  // namespace

SolidShape solid_boat(double length, double height, double width, double wall, double spacing) {
    const Hull outer{0.5 * length, height, 0.5 * width};
    // The inner hull is smaller by the wall: nested for every wall, and the wall nowhere thinner than 0.9 of
    // it.
    const Hull inner{0.5 * length - wall, height - wall, 0.5 * width - wall};
    const Vec3 up{0, 0.5 * height, 0};

    SolidShape shape;
    TriangleMesh& mesh = shape.mesh;
    const int finer = std::clamp(int(std::ceil(pi * length / spacing / sectors)), 1, 8);
    const int around = finer * sectors, rings = finer * bands;
    for (const Hull* hull : {&outer, &inner}) {
        const int first = int(mesh.vertices.size());
        for (int r = 0; r < rings; ++r)
            for (int s = 0; s < around; ++s)
                mesh.vertices.push_back(hull->at(double(s) / around, double(r) / rings) + up);
        const int keel = int(mesh.vertices.size());
        mesh.vertices.push_back(hull->at(0, 1) + up);
        const auto add = [&](int a, int b, int c) {
            mesh.triangles.push_back(hull == &outer ? Int3{a, b, c} : Int3{a, c, b});
        };
        for (int r = 0; r < rings; ++r)
            for (int s = 0; s < around; ++s) {
                const int a = first + r * around + s, b = first + r * around + (s + 1) % around;
                if (r + 1 == rings) {
                    add(a, keel, b);
                } else {
                    add(a, a + around, b);
                    add(b, a + around, b + around);
                }
            }
    }
    const int inside = rings * around + 1;  // the inner rim's first vertex
    for (int s = 0; s < around; ++s) {
        const int next = (s + 1) % around;
        mesh.triangles.push_back({s, next, inside + s});
        mesh.triangles.push_back({next, inside + next, inside + s});
    }

    // Panels of the wall.
    for (int r = 0; r < bands; ++r)
        for (int s = 0; s < sectors; ++s) {
            ConvexPiece panel;
            panel.kind = ConvexPiece::Kind::hull;
            for (const Hull* hull : {&outer, &inner})
                for (const auto& [ds, dr] : {std::pair{0, 0}, {1, 0}, {1, 1}, {0, 1}}) {
                    if (r + dr == bands && ds == 1) continue;  // panels meet in one point at the keel
                    panel.points.push_back(hull->at(double(s + ds) / sectors, double(r + dr) / bands) + up);
                }
            shape.pieces.push_back(panel);
        }
    shape.distance = std::make_shared<MeshSurface>(mesh, 48);
    return shape;
}

}  // namespace flotsam

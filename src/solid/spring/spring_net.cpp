// Building nets of springs from shapes.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "geometry/mass_properties.h"
#include "solid/spring/spring_body.h"

namespace flotsam {

namespace {

// Splits every triangle in four until no edge is longer than `longest`: a surface bends only at its vertices.
TriangleMesh refined(TriangleMesh mesh, double longest) {
    constexpr std::size_t enough = 200'000;
    for (;;) {
        double edge = 0;
        for (const Int3 t : mesh.triangles)
            for (int i = 0; i < 3; ++i)
                edge = std::max(edge, length(mesh.vertices[t[i]] - mesh.vertices[t[(i + 1) % 3]]));
        if (edge <= longest || 4 * mesh.triangles.size() > enough) return mesh;
        std::map<std::pair<int, int>, int> middles;
        const auto middle = [&](int a, int b) {
            const auto [at, fresh] = middles.try_emplace(std::minmax(a, b), int(mesh.vertices.size()));
            if (fresh) mesh.vertices.push_back(0.5 * (mesh.vertices[a] + mesh.vertices[b]));
            return at->second;
        };
        std::vector<Int3> triangles;
        for (const Int3 t : mesh.triangles) {
            const int xy = middle(t.x, t.y), yz = middle(t.y, t.z), zx = middle(t.z, t.x);
            triangles.insert(triangles.end(), {{t.x, xy, zx}, {xy, t.y, yz}, {zx, yz, t.z}, {xy, yz, zx}});
        }
        mesh.triangles = std::move(triangles);
    }
}

// Ties every vertex to the nodes nearest to it, the nearer the stronger.
std::vector<SkinAnchor> anchors(const TriangleMesh& mesh, const std::vector<Vec3>& nodes, double spacing) {
    std::vector<SkinAnchor> skin;
    for (const Vec3 v : mesh.vertices) {
        std::vector<std::pair<double, int>> near;
        for (std::size_t i = 0; i < nodes.size(); ++i) near.emplace_back(length(v - nodes[i]), int(i));
        const auto count = std::min<std::size_t>(near.size(), SkinAnchor::most);
        std::partial_sort(near.begin(), near.begin() + std::ptrdiff_t(count), near.end());
        const double reach = near[0].first + spacing;  // at least the nearest one counts
        SkinAnchor anchor;
        double sum = 0;
        for (std::size_t n = 0; n < count; ++n) {
            const double closeness = spacing > 0 ? 1 - near[n].first / reach : 1;
            if (closeness <= 0) break;
            anchor.node[anchor.count] = near[n].second;
            sum += anchor.weight[anchor.count++] = closeness * closeness;
        }
        for (int n = 0; n < anchor.count; ++n) anchor.weight[n] /= sum;
        skin.push_back(anchor);
    }
    return skin;
}

}  // namespace

SpringNet single_node(SolidShape ball, double radius, double density) {
    SpringNet net;
    net.rest = {Vec3{}};
    net.mass = {density * enclosed_volume(ball.mesh)};
    net.contact_radius = radius;
    return with_skin(std::move(net), std::move(ball.mesh));
}

SpringNet with_skin(SpringNet net, TriangleMesh mesh) {
    net.skin = anchors(mesh, net.rest, net.spacing);
    net.mesh = std::move(mesh);
    return net;
}

SpringNet spring_lattice(const SolidShape& shape, double spacing, const SpringMaterial& material,
                         NetKind kind) {
    // The lattice is centred on the shape's box and fills it with whole cubes.
    const Box box = bounds(shape.mesh);
    const Vec3 middle = 0.5 * (box.low + box.high);
    Int3 count;
    for (int axis = 0; axis < 3; ++axis)
        count[axis] = std::max(1, int(std::round((box.high - box.low)[axis] / spacing)));
    std::map<std::array<int, 3>, int> number;  // of the node in a cube; an ordered map, for reproducibility
    SpringNet net;
    const auto place = [&](Int3 c) {
        return middle + (Vec3(c) - 0.5 * (Vec3(count) - Vec3{1, 1, 1})) * spacing;
    };
    const auto inside = [&](Int3 c) { return shape.distance->distance(place(c)) < 0; };
    Int3 c;
    for (c.z = 0; c.z < count.z; ++c.z)
        for (c.y = 0; c.y < count.y; ++c.y)
            for (c.x = 0; c.x < count.x; ++c.x) {
                if (!inside(c)) continue;
                bool outermost = false;
                for (int side = 0; side < 6; ++side)
                    outermost |= !inside(c + unit(side / 2) * (side % 2 ? 1 : -1));
                if (kind == NetKind::shell && !outermost) continue;
                number[{c.x, c.y, c.z}] = int(net.rest.size());
                net.rest.push_back(place(c));
            }
    const Box nodes = [&] {
        Box b{middle, middle};
        for (const Vec3 p : net.rest) b = {min(b.low, p), max(b.high, p)};
        return b;
    }();
    for (int axis = 0; axis < 3; ++axis)
        if (nodes.high[axis] - nodes.low[axis] < 0.5 * spacing) return {};

    const double volume = enclosed_volume(shape.mesh);
    net.mass.assign(net.rest.size(), material.density * volume / double(net.rest.size()));
    net.spacing = spacing;
    net.contact_radius = 0.5 * spacing;

    const double k = 0.4 * material.stiffness * spacing;
    const auto join = [&](int a, int b, double stiffness) {
        const double mass = 0.5 * net.mass[a];  // reduced
        net.springs.push_back({a, b, length(net.rest[a] - net.rest[b]), stiffness,
                               2 * material.damping * std::sqrt(stiffness * mass)});
    };
    // Half of the neighbours, so that every pair occurs once: along edges and diagonals of faces.
    constexpr Int3 ways[] = {{1, 0, 0}, {0, 1, 0},  {0, 0, 1}, {1, 1, 0}, {1, -1, 0},
                             {1, 0, 1}, {1, 0, -1}, {0, 1, 1}, {0, 1, -1}};
    for (const auto& [at, node] : number)
        for (const Int3 way : ways) {
            std::array<int, 3> next{at[0] + way.x, at[1] + way.y, at[2] + way.z};
            if (const auto other = number.find(next); other != number.end()) {
                join(node, other->second, k);
                continue;
            }
            // A strut through the hollow to the first node across, softer in proportion to its length.
            if (kind != NetKind::shell || !inside({next[0], next[1], next[2]})) continue;
            for (int steps = 2; inside({next[0], next[1], next[2]}); ++steps) {
                next = {next[0] + way.x, next[1] + way.y, next[2] + way.z};
                if (const auto other = number.find(next); other != number.end()) {
                    join(node, other->second, k / steps);
                    break;
                }
            }
        }
    return with_skin(std::move(net), refined(shape.mesh, 1.5 * spacing));
}

}  // namespace flotsam

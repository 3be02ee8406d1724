#include "geometry/surface_nets.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <tuple>

namespace flotsam {

namespace {

// Cubes of samples are named by the grid node at their centre: node (i, j, k) lies at (i, j, k) h and has the
// cells (i-1 .. i, j-1 .. j, k-1 .. k) around it. Nodes run from 0 to n like faces, so a Tiling can hold
// them.
std::shared_ptr<const Tiling> tiles_of_nodes(const Tiling& cells) {
    std::vector<Int3> tiles;
    const Int3 n = cells.cells();
    for (const Int3 t : cells.tiles())
        for (int c = 0; c < 8; ++c) {
            const Int3 near =
                t + Int3{c & 1, (c >> 1) & 1, c >> 2};  // a tile's last cells touch nodes of the next
            const Int3 first = near * Tiling::side;
            if (first.x <= n.x && first.y <= n.y && first.z <= n.z) tiles.push_back(near);
        }
    const auto order = [](Int3 a, Int3 b) { return std::tie(a.z, a.y, a.x) < std::tie(b.z, b.y, b.x); };
    std::sort(tiles.begin(), tiles.end(), order);
    tiles.erase(std::unique(tiles.begin(), tiles.end()), tiles.end());
    return std::make_shared<Tiling>(n, std::move(tiles));
}

// The samples around the nodes of one tile.
class Samples {
  public:
    Samples(const Field<double>& phi, Int3 first_node) : first_(first_node - Int3{1, 1, 1}) {
        const Int3 n = phi.tiling().cells();
        int inside_count = 0;
        for (int k = 0; k < side; ++k)
            for (int j = 0; j < side; ++j)
                for (int i = 0; i < side; ++i) {
                    const Int3 c = first_ + Int3{i, j, k};
                    const bool in_domain = min(c, n - Int3{1, 1, 1}) == c && max(c, Int3{0, 0, 0}) == c;
                    double& value = values_[i + side * (j + side * k)];
                    value = in_domain ? phi(c) : beyond_the_walls;
                    inside_count += value < 0;
                }
        mixed_ = inside_count > 0 && inside_count < side * side * side;
    }

    bool mixed() const { return mixed_; }  // is there any surface here?
    double operator()(Int3 c) const {
        c = c - first_;
        return values_[c.x + side * (c.y + side * c.z)];
    }
    bool inside(Int3 c) const { return (*this)(c) < 0; }  // false beyond the walls
    bool in_domain(Int3 c) const { return !std::isnan((*this)(c)); }

  private:
    static constexpr int side = Tiling::side + 1;
    static constexpr double beyond_the_walls = std::numeric_limits<double>::quiet_NaN();

    Int3 first_;
    std::array<double, side * side * side> values_;
    bool mixed_;
};

bool has_vertex(const Samples& phi, Int3 node) {
    int count = 0;
    for (int c = 0; c < 8; ++c) count += phi.inside(node - Int3{c & 1, (c >> 1) & 1, c >> 2});
    return count > 0 && count < 8;
}

// The mean of the crossings between neighbouring samples around the node, in cells; along an axis on whose
// wall the node lies, the wall itself.
Vec3 vertex_position(const Samples& phi, Int3 node, Int3 cells) {
    Vec3 sum;  // of the crossings, from the node
    int crossings = 0;
    for (int axis = 0; axis < 3; ++axis) {
        const Int3 u = unit((axis + 1) % 3), v = unit((axis + 2) % 3);
        for (int edge = 0; edge < 4; ++edge) {
            const Int3 high = node - u * (edge & 1) - v * (edge >> 1), low = high - unit(axis);
            if (phi.inside(low) == phi.inside(high) || !phi.in_domain(low) || !phi.in_domain(high)) continue;
            const double a = phi(low), b = phi(high);
            sum += Vec3(u) * (0.5 - (edge & 1)) + Vec3(v) * (0.5 - (edge >> 1)) +
                   Vec3(unit(axis)) * (a / (a - b) - 0.5);
            ++crossings;
        }
    }
    Vec3 position(node);
    if (crossings > 0)
        for (int axis = 0; axis < 3; ++axis)
            if (node[axis] > 0 && node[axis] < cells[axis]) position[axis] += sum[axis] / crossings;
    return position;
}

// A quad across the edge from cell - unit(axis) to `cell`.
struct Quad {
    Int3 cell;
    int axis;
    bool facing_up;  // along the axis
};

// The part of the mesh from one tile of nodes.
struct Piece {
    std::vector<Vec3f> vertices;
    std::vector<Quad> quads;
};

}  // namespace

SurfaceMesh extract_surface(const Field<double>& phi, double h) {
    if (phi.empty()) return {};
    const Int3 cells = phi.tiling().cells();
    Field<std::int32_t> vertex(tiles_of_nodes(phi.tiling()), -1);  // of each node
    const Tiling& nodes = vertex.tiling();
    const std::int64_t tiles = nodes.tile_count();

    std::vector<Piece> pieces(tiles);
    parallel_for(tiles, 1, [&](std::int64_t tile) {
        const Samples samples(phi, nodes.first_cell(tile));
        if (!samples.mixed()) return;
        Piece& piece = pieces[tile];
        for_each_cell_of_tile(nodes, tile, cells + Int3{1, 1, 1}, [&](Int3 node, std::int64_t n) {
            if (!has_vertex(samples, node)) return;
            vertex[n] = static_cast<std::int32_t>(piece.vertices.size());
            piece.vertices.push_back(Vec3f(vertex_position(samples, node, cells) * h));
            for (int axis = 0; axis < 3; ++axis) {
                const bool below = samples.inside(node - unit(axis)), above = samples.inside(node);
                if (below != above) piece.quads.push_back({node, axis, below});
            }
        });
    });

    // Number the pieces one after the other, so that the order does not depend on which thread finishes
    // first.
    std::vector<std::int64_t> first_vertex(tiles + 1, 0), first_quad(tiles + 1, 0);
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
        first_vertex[tile + 1] = first_vertex[tile] + std::int64_t(pieces[tile].vertices.size());
        first_quad[tile + 1] = first_quad[tile] + std::int64_t(pieces[tile].quads.size());
    }
    FLOTSAM_CHECK(first_vertex[tiles] <= std::numeric_limits<std::int32_t>::max(), first_vertex[tiles]);

    SurfaceMesh mesh;
    mesh.vertices.resize(first_vertex[tiles]);
    mesh.triangles.resize(2 * first_quad[tiles]);
    parallel_for(tiles, 1, [&](std::int64_t tile) {
        std::copy(pieces[tile].vertices.begin(), pieces[tile].vertices.end(),
                  mesh.vertices.begin() + first_vertex[tile]);
    });
    const auto index_of = [&](Int3 node) {
        const std::int64_t n = nodes.find(node);
        return static_cast<std::int32_t>(first_vertex[n / Tiling::cells_per_tile] + vertex[n]);
    };
    parallel_for(tiles, 1, [&](std::int64_t tile) {
        std::int64_t next = 2 * first_quad[tile];
        for (const Quad& quad : pieces[tile].quads) {
            const Int3 c = quad.cell, u = unit((quad.axis + 1) % 3), v = unit((quad.axis + 2) % 3);
            std::array<std::int32_t, 4> q{index_of(c), index_of(c + u), index_of(c + u + v), index_of(c + v)};
            if (!quad.facing_up) std::swap(q[1], q[3]);
            const auto diagonal = [&](int a, int b) {
                const Vec3f d = mesh.vertices[q[a]] - mesh.vertices[q[b]];
                return dot(d, d);
            };
            // Split along the shorter diagonal: the longer one folds thin sheets and the crests of waves.
            if (diagonal(0, 2) <= diagonal(1, 3)) {
                mesh.triangles[next++] = {q[0], q[1], q[2]};
                mesh.triangles[next++] = {q[0], q[2], q[3]};
            } else {
                mesh.triangles[next++] = {q[0], q[1], q[3]};
                mesh.triangles[next++] = {q[1], q[2], q[3]};
            }
        }
    });
    return mesh;
}

double enclosed_volume(const SurfaceMesh& mesh) {
    return fixed_sum<double>(static_cast<std::int64_t>(mesh.triangles.size()), 4096, [&](std::int64_t n) {
        const auto& t = mesh.triangles[n];
        const Vec3 a(mesh.vertices[t[0]]), b(mesh.vertices[t[1]]), c(mesh.vertices[t[2]]);
        return dot(a, cross(b, c)) / 6;
    });
}

}  // namespace flotsam

#include "geometry/triangle_mesh.h"

#include <array>
#include <unordered_map>
#include <utility>

#include "core/random.h"

namespace flotsam {

Box bounds(const TriangleMesh& mesh) {
    if (mesh.vertices.empty()) return {};
    Box box{mesh.vertices.front(), mesh.vertices.front()};
    for (const Vec3& v : mesh.vertices) box = {min(box.low, v), max(box.high, v)};
    return box;
}

namespace {
using Lattice = Vec<std::int64_t>;
struct LatticeHash {
    std::size_t operator()(const Lattice& c) const {
        return combine(std::uint64_t(c.x), combine(std::uint64_t(c.y), std::uint64_t(c.z)));
    }
};
}  // namespace

std::vector<int> merged_numbers(const std::vector<Vec3>& vertices, double tolerance) {
    if (vertices.empty()) return {};
    // Cells of a lattice wider than twice the tolerance: all neighbours of a point lie in at most 8 of them.
    const double width = tolerance > 0 ? 4 * tolerance : 1;
    const Vec3 origin = vertices.front();
    std::unordered_map<Lattice, std::vector<int>, LatticeHash> kept;
    std::vector<Vec3> merged;
    std::vector<int> number;
    const auto cell_of = [&](Vec3 p) {
        p = (p - origin) / width;
        return Lattice{std::int64_t(std::floor(p.x)), std::int64_t(std::floor(p.y)),
                       std::int64_t(std::floor(p.z))};
    };
    const Vec3 reach{tolerance, tolerance, tolerance};
    for (const Vec3 v : vertices) {
        const Lattice low = cell_of(v - reach), high = cell_of(v + reach);
        int found = -1;
        for (std::int64_t z = low.z; z <= high.z && found < 0; ++z)
            for (std::int64_t y = low.y; y <= high.y && found < 0; ++y)
                for (std::int64_t x = low.x; x <= high.x && found < 0; ++x) {
                    const auto cell = kept.find({x, y, z});
                    if (cell == kept.end()) continue;
                    for (const int candidate : cell->second)
                        if (length(merged[candidate] - v) <= tolerance) {
                            found = candidate;
                            break;
                        }
                }
        if (found < 0) {
            found = static_cast<int>(merged.size());
            merged.push_back(v);
            kept[cell_of(v)].push_back(found);
        }
        number.push_back(found);
    }
    return number;
}

TriangleMesh merged(const TriangleMesh& mesh, const std::vector<int>& number) {
    TriangleMesh result;
    for (std::size_t i = 0; i < number.size(); ++i)
        if (number[i] == int(result.vertices.size())) result.vertices.push_back(mesh.vertices[i]);
    for (const Int3& t : mesh.triangles) {
        const Int3 w{number[t.x], number[t.y], number[t.z]};
        if (w.x != w.y && w.y != w.z && w.z != w.x) result.triangles.push_back(w);
    }
    return result;
}

TriangleMesh weld(const TriangleMesh& mesh, double tolerance) {
    return merged(mesh, merged_numbers(mesh.vertices, tolerance));
}

std::int64_t boundary_edge_count(const TriangleMesh& mesh) {
    std::vector<std::pair<int, int>> edges;
    edges.reserve(mesh.triangles.size() * 3);
    for (const Int3& t : mesh.triangles)
        for (const auto& [a, b] : {std::pair{t.x, t.y}, std::pair{t.y, t.z}, std::pair{t.z, t.x}})
            edges.emplace_back(std::min(a, b), std::max(a, b));
    std::sort(edges.begin(), edges.end());
    std::int64_t odd = 0;
    for (std::size_t i = 0; i < edges.size();) {
        std::size_t end = i;
        while (end < edges.size() && edges[end] == edges[i]) ++end;
        odd += (end - i) % 2;
        i = end;
    }
    return odd;
}

double surface_area(const TriangleMesh& mesh) {
    double area = 0;
    for (const Int3& t : mesh.triangles) {
        const Vec3 a = mesh.vertices[t.x];
        area += length(cross(mesh.vertices[t.y] - a, mesh.vertices[t.z] - a)) / 2;
    }
    return area;
}

double enclosed_volume(const TriangleMesh& mesh) {
    // Tetrahedra from a point near the mesh, not from the origin: a small mesh far away would be lost in
    // rounding.
    const Vec3 apex = bounds(mesh).low;
    double volume = 0;
    for (const Int3& t : mesh.triangles)
        volume +=
            dot(mesh.vertices[t.x] - apex, cross(mesh.vertices[t.y] - apex, mesh.vertices[t.z] - apex)) / 6;
    return volume;
}

}  // namespace flotsam

#include "render/smooth_mesh.h"

#include <cmath>
#include <numbers>

#include "core/parallel.h"

namespace flotsam {

Vec3f SmoothMesh::normal_at(const RayHit& hit) const {
    const auto& n = normals[hit.part];
    const Vec3f between = n[0] * (1 - hit.u - hit.v) + n[1] * hit.u + n[2] * hit.v;
    const float size = length(between);
    return size > 1e-6f ? between / size : hit.face_normal;  // opposite normals on a fold cancel
}

SmoothMesh smooth(std::vector<Vec3f> vertices, Triangles triangles, double crease,
                  const std::vector<std::uint8_t>& group) {
    SmoothMesh mesh{std::move(vertices), std::move(triangles), {}};
    const auto count = std::int64_t(mesh.triangles.size());
    std::vector<Vec3f> area_normal(count);  // of length twice the area
    parallel_for(count, 4096, [&](std::int64_t t) {
        const auto& [a, b, c] = mesh.triangles[t];
        area_normal[t] = cross(mesh.vertices[b] - mesh.vertices[a], mesh.vertices[c] - mesh.vertices[a]);
    });

    // The triangles around each vertex, one list after the other.
    std::vector<std::int32_t> begin(mesh.vertices.size() + 1, 0), around(3 * count);
    for (const auto& triangle : mesh.triangles)
        for (const std::int32_t v : triangle) ++begin[v + 1];
    for (std::size_t v = 1; v < begin.size(); ++v) begin[v] += begin[v - 1];
    std::vector<std::int32_t> next = begin;
    for (std::int64_t t = 0; t < count; ++t)
        for (const std::int32_t v : mesh.triangles[t]) around[next[v]++] = std::int32_t(t);

    mesh.normals.resize(count);
    const float least_cosine = float(std::cos(crease * std::numbers::pi / 180));
    parallel_for(count, 1024, [&](std::int64_t t) {
        const float own_size = length(area_normal[t]);
        const Vec3f own = own_size > 0 ? area_normal[t] / own_size : Vec3f{0, 1, 0};
        for (int corner = 0; corner < 3; ++corner) {
            const std::int32_t v = mesh.triangles[t][corner];
            Vec3f sum;
            for (std::int32_t i = begin[v]; i < begin[v + 1]; ++i) {
                const std::int32_t other = around[i];
                if (!group.empty() && group[other] != group[t]) continue;
                if (dot(area_normal[other], own) >= least_cosine * length(area_normal[other]))
                    sum += area_normal[other];
            }
            const float size = length(sum);
            mesh.normals[t][corner] = size > 0 ? sum / size : own;
        }
    });
    return mesh;
}

}  // namespace flotsam

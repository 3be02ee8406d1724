#include "geometry/mesh_defect.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/format.h"
#include "geometry/cut_cells.h"

namespace flotsam {

std::string mesh_defect(const TriangleMesh& mesh) {
    std::vector<std::pair<int, int>> edges;  // in the direction in which their triangles go around
    for (const Int3& t : mesh.triangles)
        for (const auto& edge : {std::pair{t.x, t.y}, std::pair{t.y, t.z}, std::pair{t.z, t.x}})
            edges.push_back(edge);
    std::sort(edges.begin(), edges.end());
    const auto times = [&](std::pair<int, int> edge) {
        const auto [first, last] = std::equal_range(edges.begin(), edges.end(), edge);
        return last - first;
    };
    for (const auto& [from, to] : edges) {
        const auto there = times({from, to}), back = times({to, from});
        if (there + back > 2) return "has edges that more than two triangles share";
        if (there != back) return there + back == 1 ? "has holes" : "has triangles that face the wrong way";
    }
    // On a coarse grid: no cell may be covered by a negative share, or more than once.
    const Box box = bounds(mesh);
    const Vec3 size = box.high - box.low;
    const double cell = std::max({size.x, size.y, size.z}) / 64;
    if (!(cell > 0)) return "encloses no volume";
    TriangleMesh moved = mesh;
    for (Vec3& v : moved.vertices) v = v - box.low + Vec3{1, 1, 1} * cell;
    const CutSolid cut = cut_solid(moved, {66, 66, 66}, cell);
    if (enclosed_volume(mesh) <= 0) return "is turned inside out";
    if (cut.least_volume < -1e-6) return "is partly turned inside out";
    if (cut.most_volume > 1 + 1e-6) return "overlaps itself";
    return "";
}

void check_closed(const TriangleMesh& mesh, const std::string& name) {
    if (const std::int64_t open = boundary_edge_count(mesh); open > 0)
        throw UserError(
            format_text("{}: the mesh is not closed: {} of its edges border a hole\n"
                        "  close it in a mesh editor (Blender: Mesh > Clean Up > Fill Holes)",
                        name, open));
}

}  // namespace flotsam

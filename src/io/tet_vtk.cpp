#include "io/tet_vtk.h"

#include <fmt/format.h>

#include <iterator>

#include "io/atomic_file.h"

namespace flotsam {

void write_tet_vtk(const std::filesystem::path& file, const World& world) {
    std::string text = "# vtk DataFile Version 3.0\nelastic solids\nASCII\nDATASET UNSTRUCTURED_GRID\n";
    const auto out = std::back_inserter(text);
    std::size_t nodes = 0, tets = 0;
    for (const ElasticBody& body : world.elastics)
        nodes += body.position.size(), tets += body.mesh->rest.tets.size();
    const auto vector = [&](Vec3 v) { fmt::format_to(out, "{:.9g} {:.9g} {:.9g}\n", v.x, v.y, v.z); };

    fmt::format_to(out, "POINTS {} double\n", nodes);
    for (const ElasticBody& body : world.elastics)
        for (const Vec3 p : body.position) vector(p);
    fmt::format_to(out, "CELLS {} {}\n", tets, 5 * tets);
    std::size_t first = 0;
    for (const ElasticBody& body : world.elastics) {
        for (const Tet& t : body.mesh->rest.tets)
            fmt::format_to(out, "4 {} {} {} {}\n", first + t[0], first + t[1], first + t[2], first + t[3]);
        first += body.position.size();
    }
    fmt::format_to(out, "CELL_TYPES {}\n", tets);
    for (std::size_t t = 0; t < tets; ++t) text += "10\n";

    fmt::format_to(out, "POINT_DATA {}\nVECTORS velocity double\n", nodes);
    for (const ElasticBody& body : world.elastics)
        for (const Vec3 v : body.velocity) vector(v);
    fmt::format_to(out, "CELL_DATA {}\nTENSORS stress double\n", tets);
    std::string von, determinants, numbers;
    for (const ElasticBody& body : world.elastics) {
        const std::vector<Mat3> all = stresses(body);
        for (std::size_t t = 0; t < all.size(); ++t) {
            for (const Vec3& row : all[t].row) vector(row);
            const Tet& n = body.mesh->rest.tets[t];
            const double volume = tet_volume(body.position[n[0]], body.position[n[1]], body.position[n[2]],
                                             body.position[n[3]]);
            fmt::format_to(std::back_inserter(von), "{:.9g}\n", von_mises(all[t]));
            fmt::format_to(
                std::back_inserter(determinants), "{:.9g}\n",
                volume / body.mesh->batches[t / ElementBatch::lanes].volume[t % ElementBatch::lanes]);
            fmt::format_to(std::back_inserter(numbers), "{}\n", body.solid);
        }
    }
    fmt::format_to(out, "SCALARS von_mises double 1\nLOOKUP_TABLE default\n{}", von);
    fmt::format_to(out, "SCALARS determinant double 1\nLOOKUP_TABLE default\n{}", determinants);
    fmt::format_to(out, "SCALARS solid int 1\nLOOKUP_TABLE default\n{}", numbers);
    write_file(file, text);
}

}  // namespace flotsam

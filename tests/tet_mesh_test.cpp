// Tetrahedral meshes: lattices, defects, filling shapes, and files.
#include "geometry/tet_mesh.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <numbers>

#include "core/check.h"
#include "elastic_bodies.h"
#include "geometry/isosurface_stuffing.h"
#include "geometry/mesh_defect.h"
#include "geometry/solid_shape.h"
#include "geometry/tet_reader.h"
#include "near.h"
#include "scratch_folder.h"

using namespace flotsam;

namespace {

// The mesh's surface, only with the vertices that it needs.
TriangleMesh outer_mesh(const TetMesh& mesh) {
    const ElasticMesh elastic = make_elastic_mesh(mesh, {});
    return elastic.skin;
}

bool told(const std::string& text, std::initializer_list<const char*> parts) {
    for (const char* part : parts)
        if (text.find(part) == std::string::npos) return false;
    return true;
}

std::string gmsh2(const TetMesh& mesh) {
    std::string text = fmt::format("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}\n", mesh.nodes.size());
    const auto out = std::back_inserter(text);
    for (std::size_t n = 0; n < mesh.nodes.size(); ++n)
        fmt::format_to(out, "{} {} {} {}\n", 10 + 2 * n, mesh.nodes[n].x, mesh.nodes[n].y, mesh.nodes[n].z);
    fmt::format_to(out, "$EndNodes\n$Elements\n{}\n1 2 2 0 1 10 12 14\n", mesh.tets.size() + 1);
    for (std::size_t t = 0; t < mesh.tets.size(); ++t)
        fmt::format_to(out, "{} 4 2 0 1 {} {} {} {}\n", t + 2, 10 + 2 * mesh.tets[t][0],
                       10 + 2 * mesh.tets[t][1], 10 + 2 * mesh.tets[t][2], 10 + 2 * mesh.tets[t][3]);
    return text + "$EndElements\n";
}

std::string gmsh4(const TetMesh& mesh) {
    const std::size_t nodes = mesh.nodes.size(), tets = mesh.tets.size();
    std::string text = fmt::format(
        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 1\n1 0 0 0 1 1 1 0 "
        "0\n$EndEntities\n$Nodes\n1 {} 1 "
        "{}\n3 1 0 {}\n",
        nodes, nodes, nodes);
    const auto out = std::back_inserter(text);
    for (std::size_t n = 0; n < nodes; ++n) fmt::format_to(out, "{}\n", n + 1);
    for (const Vec3 p : mesh.nodes) fmt::format_to(out, "{} {} {}\n", p.x, p.y, p.z);
    fmt::format_to(out, "$EndNodes\n$Elements\n1 {} 1 {}\n3 1 4 {}\n", tets, tets, tets);
    for (std::size_t t = 0; t < tets; ++t)
        fmt::format_to(out, "{} {} {} {} {}\n", t + 1, mesh.tets[t][0] + 1, mesh.tets[t][1] + 1,
                       mesh.tets[t][2] + 1, mesh.tets[t][3] + 1);
    return text + "$EndElements\n";
}

std::string vtk(const TetMesh& mesh) {
    std::string text = fmt::format(
        "# vtk DataFile Version 2.0\nany title\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {} float\n",
        mesh.nodes.size());
    const auto out = std::back_inserter(text);
    for (const Vec3 p : mesh.nodes) fmt::format_to(out, "{} {} {}\n", p.x, p.y, p.z);
    fmt::format_to(out, "CELLS {} {}\n3 0 1 2\n", mesh.tets.size() + 1, 5 * mesh.tets.size() + 4);
    for (const Tet& t : mesh.tets) fmt::format_to(out, "4 {} {} {} {}\n", t[0], t[1], t[2], t[3]);
    fmt::format_to(out, "CELL_TYPES {}\n5\n", mesh.tets.size() + 1);
    for (std::size_t t = 0; t < mesh.tets.size(); ++t) text += "10\n";
    return text;
}

std::pair<std::string, std::string> tetgen(const TetMesh& mesh) {
    std::string nodes = fmt::format("# a comment\n{} 3 1 1\n", mesh.nodes.size());
    for (std::size_t n = 0; n < mesh.nodes.size(); ++n)
        fmt::format_to(std::back_inserter(nodes), "{} {} {} {} 0.5 1 # more\n", n, mesh.nodes[n].x,
                       mesh.nodes[n].y, mesh.nodes[n].z);
    std::string elements = fmt::format("{} 4 0\n", mesh.tets.size());
    for (std::size_t t = 0; t < mesh.tets.size(); ++t)
        fmt::format_to(std::back_inserter(elements), "{} {} {} {} {}\n", t, mesh.tets[t][0], mesh.tets[t][1],
                       mesh.tets[t][2], mesh.tets[t][3]);
    return {nodes, elements};
}

void check_same(const TetMesh& a, const TetMesh& b) {
    REQUIRE(a.tets.size() == b.tets.size());
    for (std::size_t t = 0; t < a.tets.size(); ++t)
        for (int c = 0; c < 4; ++c) CHECK(length(a.nodes[a.tets[t][c]] - b.nodes[b.tets[t][c]]) < 1e-6);
}

// What reading a text comes to: nothing, or what it says of it.
std::string refusal(const std::function<TetMesh()>& read) {
    try {
        read();
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("lattices have the nodes of the thesis's meshes and fill their box") {
    CHECK(tet_lattice({}, {1, 1, 7}, {4, 4, 28}).nodes.size() == 725);
    CHECK(tet_lattice({}, {1, 1, 1}, {6, 6, 6}).nodes.size() == 343);
    CHECK(tet_lattice({}, {1, 1, 0.05}, {20, 20, 1}).nodes.size() == 21 * 21 * 2);
    const TetMesh mesh = tet_lattice({1, 2, 3}, {2, 2.5, 5}, {3, 2, 5});
    CHECK(mesh.tets.size() == 6 * 30);
    CHECK(volume(mesh) == near(1).relative(1e-12));
    CHECK(tet_defect(mesh) == "");
    const TriangleMesh outer = outer_mesh(mesh);
    CHECK(mesh_defect(outer) == "");
    CHECK(enclosed_volume(outer) == near(1).relative(1e-12));
    CHECK(surface_area(outer) == near(2 * (0.5 + 1 + 2)).relative(1e-12));
    const TetQuality cube = quality(tet_lattice({}, {1, 1, 1}, {1, 1, 1}));
    CHECK(cube.smallest_angle == near(45).relative(1e-12));
    CHECK(cube.largest_angle == near(90).relative(1e-12));
}

TEST_CASE("unfit meshes are refused, with their indices") {
    const TetMesh good = tet_lattice({}, {1, 1, 1}, {2, 1, 1});
    const auto defect = [&](const std::function<void(TetMesh&)>& spoil) {
        TetMesh mesh = good;
        spoil(mesh);
        return tet_defect(mesh);
    };
    CHECK(told(defect([](TetMesh& m) { std::swap(m.tets[7][0], m.tets[7][1]); }), {"inverted", "7"}));
    CHECK(told(defect([](TetMesh& m) { m.nodes[m.tets[3][0]] = m.nodes[m.tets[3][1]]; }), {"flat", "3"}));
    CHECK(told(defect([](TetMesh& m) { m.tets[5][2] = 99; }), {"99", "5"}));
    CHECK(told(defect([](TetMesh& m) { m.tets[5][2] = -1; }), {"-1", "5"}));
    CHECK(told(defect([](TetMesh& m) { m.tets.push_back(m.tets[4]); }), {"in each other", "4", "12"}) !=
          told(defect([](TetMesh& m) { m.tets.push_back(m.tets[4]); }), {"more than two", "4", "12"}));
    CHECK(told(defect([](TetMesh& m) { m.nodes.push_back({5, 5, 5}); }), {"no tetrahedron", "12"}));
    CHECK(told(defect([](TetMesh& m) { m.nodes[2].y = NAN; }), {"nowhere", "2"}));
    CHECK(told(defect([](TetMesh& m) {
                   // A second piece, beside the first.
                   const TetMesh other = tet_lattice({3, 0, 0}, {4, 1, 1}, {1, 1, 1});
                   const int first = int(m.nodes.size());
                   m.nodes.insert(m.nodes.end(), other.nodes.begin(), other.nodes.end());
                   for (Tet t : other.tets) {
                       for (int& n : t) n += first;
                       m.tets.push_back(t);
                   }
               }),
               {"one piece", "12"}));
    CHECK(told(tet_defect({}), {"no tetrahedra"}));
}

TEST_CASE("points find the tetrahedron that holds them") {
    const TetMesh mesh = tet_lattice({}, {1, 1, 1}, {3, 3, 3});
    std::vector<Vec3> points(200);
    for (int i = 0; i < 200; ++i) points[i] = {uniform(3 * i), uniform(3 * i + 1), uniform(3 * i + 2)};
    points.push_back({1.1, 0.5, 0.5});  // outside
    const std::vector<TetPlace> places = places_in(mesh, points);
    for (std::size_t p = 0; p < points.size(); ++p) {
        Vec3 back;
        for (int a = 0; a < 4; ++a) back += places[p].weight[a] * mesh.nodes[mesh.tets[places[p].tet][a]];
        CHECK(length(back - points[p]) < 1e-12);
        if (p < 200) CHECK(*std::min_element(places[p].weight.begin(), places[p].weight.end()) > -1e-9);
    }
}

TEST_CASE("shapes are filled with good tetrahedra, and their volume is met better when these are smaller") {
    const std::pair<const char*, SolidShape> shapes[] = {
        {"sphere", solid_sphere(0.5, 0.02)}, {"torus", solid_torus(0.5, 0.2, 0.02)},
        {"box", solid_box({1, 0.7, 0.4})},   {"cylinder", solid_cylinder(0.3, 1, 0.02)},
        {"duck", solid_duck(1, 0.02)},       {"cone", solid_cone(0.4, 1, 0.02)},
        {"gear", solid_gear(0.5, 0.3, 8)}};
    for (const auto& [name, shape] : shapes) {
        const std::string shape_name = name;
        CAPTURE(shape_name);
        const double exact = enclosed_volume(shape.mesh);
        double last = 1;
        for (const double spacing : {0.12, 0.06}) {
            CAPTURE(spacing);
            const TetMesh mesh = stuff(*shape.distance, spacing);
            CHECK(tet_defect(mesh) == "");
            // What the method's authors prove for these choices.
            CHECK(quality(mesh).smallest_angle > 10.78);
            CHECK(quality(mesh).largest_angle < 164.74);
            CHECK(mesh_defect(outer_mesh(mesh)) == "");
            const double error = std::abs(volume(mesh) / exact - 1);
            CHECK(error < last);
            last = error;
        }
        CHECK(last < 0.03);
    }
    CHECK(stuff(*solid_box({1, 0.001, 1}).distance, 0.2).tets.empty());
}

TEST_CASE("tetrahedra come from Gmsh, VTK and TetGen files") {
    TetMesh mesh = tet_lattice({-1, 0, 0}, {1, 1, 0.5}, {2, 3, 1});
    mesh.nodes = shaken(mesh.nodes, 0.02);
    check_same(parse_msh(gmsh2(mesh), "a.msh"), mesh);
    check_same(parse_msh(gmsh4(mesh), "a.msh"), mesh);
    check_same(parse_vtk(vtk(mesh), "a.vtk"), mesh);
    const auto [nodes, elements] = tetgen(mesh);
    check_same(parse_tetgen(nodes, elements, "a.node"), mesh);

    const ScratchFolder folder;
    std::ofstream(folder / "a.msh") << gmsh2(mesh);
    std::ofstream(folder / "b.node") << nodes;
    std::ofstream(folder / "b.ele") << elements;
    check_same(read_tet_mesh(folder / "a.msh"), mesh);
    check_same(read_tet_mesh(folder / "b.ele"), mesh);
    CHECK(told(refusal([&] { return read_tet_mesh(folder / "c.vtk"); }), {"c.vtk", "no such file"}));
    CHECK(told(refusal([&] { return read_tet_mesh(folder / "c.stl"); }), {".stl"}));

    // Turned the other way throughout.
    TetMesh mirrored = mesh;
    for (Tet& t : mirrored.tets) std::swap(t[0], t[1]);
    CHECK(tet_defect(parse_vtk(vtk(mirrored), "a.vtk")) == "");
    // One that is not.
    mirrored = mesh;
    std::swap(mirrored.tets[3][0], mirrored.tets[3][1]);
    CHECK(told(tet_defect(parse_vtk(vtk(mirrored), "a.vtk")), {"inverted", "3"}));
}

TEST_CASE("broken files are refused in words, wherever they break") {
    const TetMesh mesh = tet_lattice({}, {1, 1, 1}, {1, 1, 1});
    const auto files = tetgen(mesh);
    const std::string &nodes = files.first, &elements = files.second;
    const std::string gmsh = gmsh2(mesh), newer = gmsh4(mesh), text = vtk(mesh);
    const auto parsers = {
        std::pair{&gmsh, std::function([](std::string_view t) { return parse_msh(t, "x.msh"); })},
        {&newer, std::function([](std::string_view t) { return parse_msh(t, "x.msh"); })},
        {&text, std::function([](std::string_view t) { return parse_vtk(t, "x.vtk"); })},
        {&nodes, std::function([&](std::string_view t) { return parse_tetgen(t, elements, "x.node"); })},
        {&elements, std::function([&](std::string_view t) { return parse_tetgen(nodes, t, "x.ele"); })}};
    for (const auto& [whole, parse] : parsers) {
        int refused = 0;
        for (std::size_t end = 0; end + 30 < whole->size(); ++end)
            refused += !refusal([&, &p = parse, &w = whole] {
                            return p(std::string_view(*w).substr(0, end));
                        }).empty();
        CHECK(refused + 40 > int(whole->size()) - 30);  // all but those that only lack their end
        // Any one character replaced: read or refused, but never more.
        for (std::size_t at = 0; at < whole->size(); at += 3)
            for (const char other : {'-', '9', 'x', '\0', ' '}) {
                std::string spoiled = *whole;
                spoiled[at] = other;
                refusal([&, &p = parse] { return p(spoiled); });
            }
    }
    CHECK(told(refusal([] { return parse_msh("$MeshFormat\n3.0 0 8\n", "x.msh"); }), {"x.msh", "format 3"}));
    CHECK(told(refusal([] { return parse_msh("$MeshFormat\n2.2 1 8\n", "x.msh"); }), {"binary"}));
    CHECK(told(refusal([] { return parse_vtk("solid", "x.vtk"); }), {"no legacy VTK"}));
    CHECK(
        told(refusal([&] { return parse_tetgen(nodes, "1 4 0\n0 0 1 2 77\n", "x"); }), {"77", "not there"}));
    CHECK(told(refusal([&] { return parse_tetgen(nodes, "0 4 0\n", "x"); }), {"no tetrahedra"}));
}

TEST_CASE("twenty dirty surface meshes: a valid mesh or a clear refusal") {
    struct Dirty {
        const char* name;
        std::function<void(TriangleMesh&)> spoil;
        bool soup = false;  // write every triangle with vertices of its own
    };
    const auto add = [](TriangleMesh& to, const TriangleMesh& more, Vec3 by) {
        const int first = int(to.vertices.size());
        for (const Vec3 v : more.vertices) to.vertices.push_back(v + by);
        for (const Int3 t : more.triangles) to.triangles.push_back({first + t.x, first + t.y, first + t.z});
    };
    const TriangleMesh ball = solid_sphere(0.5, 0.15).mesh, block = solid_box({0.6, 0.6, 0.6}).mesh;
    const auto flip = [](Int3& t) { std::swap(t.y, t.z); };
    const std::vector<Dirty> all{
        {"clean", [](TriangleMesh&) {}},
        {"one hole", [](TriangleMesh& m) { m.triangles.pop_back(); }},
        {"many holes", [](TriangleMesh& m) { m.triangles.resize(m.triangles.size() / 2); }},
        {"one triangle flipped", [&](TriangleMesh& m) { flip(m.triangles[5]); }},
        {"half of them flipped",
         [&](TriangleMesh& m) {
             for (std::size_t t = 0; t < m.triangles.size(); t += 2) flip(m.triangles[t]);
         }},
        {"all flipped",
         [&](TriangleMesh& m) {
             for (Int3& t : m.triangles) flip(t);
         }},
        {"one twice", [](TriangleMesh& m) { m.triangles.push_back(m.triangles[3]); }},
        {"all twice",
         [](TriangleMesh& m) {
             const auto copy = m.triangles;
             m.triangles.insert(m.triangles.end(), copy.begin(), copy.end());
         }},
        {"one twice, flipped",
         [&](TriangleMesh& m) {
             Int3 t = m.triangles[3];
             flip(t);
             m.triangles.push_back(t);
         }},
        {"soup", [](TriangleMesh&) {}, true},
        {"soup with a hole", [](TriangleMesh& m) { m.triangles.pop_back(); }, true},
        {"soup, half flipped",
         [&](TriangleMesh& m) {
             for (std::size_t t = 0; t < m.triangles.size(); t += 2) flip(m.triangles[t]);
         },
         true},
        {"two balls that overlap",
         [&](TriangleMesh& m) {
             add(m, ball, {0.6, 0.1, 0});
         }},
        {"two balls apart",
         [&](TriangleMesh& m) {
             add(m, ball, {3, 0, 0});
         }},
        {"a block inside, facing out", [&](TriangleMesh& m) { add(m, block, {}); }},
        {"shaken through itself", [](TriangleMesh& m) { m.vertices = shaken(m.vertices, 0.25); }},
        {"flat triangles",
         [](TriangleMesh& m) {
             m.triangles.push_back({m.triangles[0].x, m.triangles[0].y, m.triangles[0].y});
         }},
        {"a loose triangle",
         [](TriangleMesh& m) {
             const int n = int(m.vertices.size());
             m.vertices.insert(m.vertices.end(), {{2, 0, 0}, {2, 1, 0}, {2, 0, 1}});
             m.triangles.push_back({n, n + 1, n + 2});
         }},
        {"a wall across",
         [](TriangleMesh& m) {
             const int n = int(m.vertices.size());
             m.vertices.insert(m.vertices.end(), {{0, -1, -1}, {0, 1, -1}, {0, 1, 1}, {0, -1, 1}});
             m.triangles.push_back({n, n + 1, n + 2});
             m.triangles.push_back({n, n + 2, n + 3});
         }},
        {"a sheet without thickness",
         [](TriangleMesh& m) {
             m.vertices = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
             m.triangles = {{0, 1, 2}, {0, 2, 3}, {0, 2, 1}, {0, 3, 2}};
         }},
        {"vertices nearly the same, as soup", [](TriangleMesh& m) { m.vertices = shaken(m.vertices, 1e-9); },
         true},
        {"not a number", [](TriangleMesh& m) { m.vertices[4].x = NAN; }},
        {"no triangles", [](TriangleMesh& m) { m.triangles.clear(); }},
    };
    CHECK(all.size() >= 20);
    const ScratchFolder folder;
    int valid = 0;
    for (const Dirty& dirty : all) {
        CAPTURE(std::string(dirty.name));
        TriangleMesh mesh = ball;
        dirty.spoil(mesh);
        std::string text;
        const auto out = std::back_inserter(text);
        if (dirty.soup) {
            for (const Int3 t : mesh.triangles)
                for (int c = 0; c < 3; ++c)
                    fmt::format_to(out, "v {} {} {}\n", mesh.vertices[t[c]].x, mesh.vertices[t[c]].y,
                                   mesh.vertices[t[c]].z);
            for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
                fmt::format_to(out, "f {} {} {}\n", 3 * t + 1, 3 * t + 2, 3 * t + 3);
        } else {
            for (const Vec3 v : mesh.vertices) fmt::format_to(out, "v {} {} {}\n", v.x, v.y, v.z);
            for (const Int3 t : mesh.triangles)
                fmt::format_to(out, "f {} {} {}\n", t.x + 1, t.y + 1, t.z + 1);
        }
        const std::filesystem::path file = folder / "dirty.obj";
        std::ofstream(file) << text;
        // As a scene does it.
        try {
            const SolidShape shape = solid_mesh(file.string(), 1, 0.05);
            const TetMesh tets = stuff(*shape.distance, 0.15);
            const std::string defect = tet_defect(tets);
            if (defect.empty()) {
                ++valid;
                CHECK(quality(tets).smallest_angle > 10);
                CHECK(volume(tets) > 0.1);
            } else {
                CHECK(defect.size() > 10);
            }
        } catch (const UserError& error) {
            CHECK(std::string(error.what()).find("dirty.obj") != std::string::npos);
        }
    }
    // Most are only untidy: what they enclose is known.
    CHECK(valid >= 12);
}

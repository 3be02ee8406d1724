// Cross-sections of meshes: outlines, holes, distances, and what scene files make of them.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <utility>

#include "core/check.h"
#include "geometry/mass_properties.h"
#include "geometry/mesh_defect.h"
#include "geometry/solid_shape.h"
#include "near.h"
#include "scene/scene.h"

using namespace flotsam;

namespace {

constexpr double pi = std::numbers::pi, depth = 0.3;

// A mesh as a Wavefront file in a folder of its own.
std::filesystem::path written(const TriangleMesh& mesh, const std::string& name) {
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "flotsam_section_test";
    std::filesystem::create_directories(folder);
    std::ofstream file(folder / name);
    file.precision(17);
    for (const Vec3 v : mesh.vertices) file << "v " << v.x << ' ' << v.y << ' ' << v.z << '\n';
    for (const Int3 t : mesh.triangles) file << "f " << t.x + 1 << ' ' << t.y + 1 << ' ' << t.z + 1 << '\n';
    return folder / name;
}

TriangleMesh moved(TriangleMesh mesh, Vec3 by) {
    for (Vec3& v : mesh.vertices) v += by;
    return mesh;
}

std::string flat_scene(const std::string& shape) {
    return "[scene]\nduration = 1\ndimensions = 2\n[domain]\nsize = [2.0, 1.0]\nresolution = 40\n"
           "[[liquid.fill]]\nlevel = 0.1\n[[solid]]\nname = \"a\"\nmotion = \"rigid\"\ndensity = 500\nshape "
           "= { " +
           shape + " }\nposition = [1.0, 0.5]\n";
}

std::string told(const std::string& text) {
    try {
        (void)parse_scene(text, "test.toml", {});
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

void check_tells(const std::string& text, const std::string& phrase) {
    CAPTURE(text);
    CHECK(text.find(phrase) != std::string::npos);
}

}  // namespace

TEST_CASE("section: shapes of revolution give the figures that they are swept from") {
    const double spacing = 0.01;
    struct Case {
        SolidShape shape;
        double area;
        std::size_t pieces;
    };
    const double r = 0.2, l = 0.5;
    const Case cases[] = {{solid_cylinder(r, l, spacing), 2 * r * l, 1},
                          {solid_cone(r, l, spacing), r * l, 1},
                          {solid_capsule(r, l, spacing), 2 * r * l + pi * r * r, 1},
                          {solid_torus(0.3, 0.1, spacing), 2 * pi * 0.01, 2},
                          {solid_sphere(r, spacing), pi * r * r, 1}};
    for (const Case& c : cases) {
        const SolidShape section = solid_section(c.shape.mesh, 0, depth);
        CHECK(mesh_defect(section.mesh).empty());
        CHECK(enclosed_volume(section.mesh) == near(depth * c.area).relative(2e-3));
        CHECK(section.pieces.size() == c.pieces);
        // In the plane the distance is that of the shape, and at other z the same.
        for (const Vec3 p : {Vec3{0.11, 0.07, 0}, {0.5, 0.1, 0}, {-0.3, -0.4, 0}, {0.25, 0.02, 0}}) {
            // Further away it is somewhat too small, as that of any mesh is.
            const double exact = c.shape.distance->distance(p), found = section.distance->distance(p);
            if (std::abs(exact) < 0.06) CHECK(found == near(exact).absolute(4e-3));
            CHECK((found < 0) == (exact < 0));
            CHECK(std::abs(found) < std::abs(exact) + 4e-3);
            CHECK(std::abs(found) > 0.7 * std::abs(exact) - 4e-3);
            CHECK(section.distance->distance(p + Vec3{0, 0, 5}) == section.distance->distance(p));
        }
    }
}

TEST_CASE("section: what is hollow has a hole, and islands within it stay") {
    // A bowl of torus and ball, cut across the torus's axis: a ring around a disc.
    TriangleMesh mesh = solid_torus(0.3, 0.1, 0.01).mesh;
    for (Vec3& v : mesh.vertices) v = {v.x, -v.z, v.y};
    const TriangleMesh ball = solid_sphere(0.1, 0.01).mesh;
    const int first = int(mesh.vertices.size());
    mesh.vertices.insert(mesh.vertices.end(), ball.vertices.begin(), ball.vertices.end());
    for (const Int3 t : ball.triangles) mesh.triangles.push_back({t.x + first, t.y + first, t.z + first});
    const SolidShape section = solid_section(mesh, 0, depth);
    CHECK(mesh_defect(section.mesh).empty());
    CHECK(enclosed_volume(section.mesh) == near(depth * pi * (0.16 - 0.04 + 0.01)).relative(3e-3));
    CHECK(section.distance->distance({0, 0, 0}) == near(-0.1).absolute(2e-3));
    CHECK(section.distance->distance({0.15, 0, 0}) == near(0.05).absolute(2e-3));
    CHECK(section.distance->distance({0, -0.3, 0}) == near(-0.1).absolute(2e-3));
    double pieces = 0;  // convex ones fill the figure without overlapping
    for (const ConvexPiece& piece : section.pieces)
        for (std::size_t n = 2; n + 2 < piece.points.size(); n += 2)
            pieces += 0.5 * cross(piece.points[n] - piece.points[0], piece.points[n + 2] - piece.points[0]).z;
    CHECK(depth * pieces == near(enclosed_volume(section.mesh)).relative(1e-12));
}

TEST_CASE("section: holes of which one is behind others, in any order, and many of them") {
    struct Hole {
        Vec3 center;
        double radius;
    };
    // What a plate's section is made from: the walls of a square and of its holes, without floor and lid.
    const auto area = [](const std::vector<Hole>& holes, int corners) {
        TriangleMesh mesh;
        double exact = 4;
        const auto add = [&](const std::vector<Vec3>& outline) {
            const int first = int(mesh.vertices.size()), count = int(outline.size());
            for (int n = 0; n < count; ++n) {
                mesh.vertices.push_back(outline[n] - Vec3{0, 0, 1});
                mesh.vertices.push_back(outline[n] + Vec3{0, 0, 1});
                const int a = first + 2 * n, b = first + 2 * ((n + 1) % count);
                mesh.triangles.push_back({a, b, b + 1});
                mesh.triangles.push_back({a, b + 1, a + 1});
            }
        };
        add({{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}});
        for (const Hole& hole : holes) {
            std::vector<Vec3> outline;
            for (int n = 0; n < corners; ++n) {
                const double angle = -2 * pi * n / corners;
                outline.push_back(hole.center + hole.radius * Vec3{std::cos(angle), std::sin(angle), 0});
            }
            add(outline);
            exact -= 0.5 * corners * std::sin(2 * pi / corners) * hole.radius * hole.radius;
        }
        const SolidShape section = solid_section(mesh, 0, depth);
        CHECK(mesh_defect(section.mesh).empty());
        return std::pair{enclosed_volume(section.mesh) / depth, exact};
    };
    const std::vector<Hole> around{
        {{-0.5, -0.5, 0}, 0.2}, {{0.5, -0.5, 0}, 0.2}, {{0.5, 0.5, 0}, 0.2}, {{-0.5, 0.5, 0}, 0.2}};
    std::vector<Hole> first{{{0, 0, 0}, 0.2}}, last = around, grid;
    first.insert(first.end(), around.begin(), around.end());
    last.push_back(first[0]);
    for (int i = 0; i < 5; ++i)
        for (int j = 0; j < 5; ++j) grid.push_back({{-0.8 + 0.4 * i, -0.8 + 0.4 * j, 0}, 0.15});
    for (const auto& [found, exact] : {area(first, 24), area(last, 24), area(grid, 8)})
        CHECK(found == near(exact).relative(1e-9));
}

TEST_CASE("section: a mesh with a hole is refused, and so is a plane beside it") {
    TriangleMesh open = solid_box({1, 1, 1}).mesh;
    open.triangles.pop_back();
    open.triangles.erase(open.triangles.begin());
    bool refused = false;
    for (const double height : {-0.3, 0.0, 0.3}) try {
            (void)solid_section(open, height, depth);
        } catch (const UserError& error) {
            refused = true;
            check_tells(error.what(), "the section is open");
        }
    CHECK(refused);
    CHECK_THROWS_AS((void)solid_section(solid_box({1, 1, 1}).mesh, 2, depth), UserError);
}

TEST_CASE("section: a rigid solid in 2D weighs what its section does") {
    const double h = 0.05;
    const Scene cone = parse_scene(flat_scene("cone = [0.2, 0.6]"), "test.toml", {});
    const Solid& solid = cone.scenario.solids[0];
    CHECK(solid.rigid.mass.mass == near(500 * h * 0.2 * 0.6).relative(1e-3));
    CHECK(solid.rigid.mass.center.y == near(-0.1).absolute(1e-3));
    CHECK(solid.rigid.mass.center.z == near(0).absolute(1e-12));
    // A triangle about its centre of mass: m (a^2 + b^2 + c^2) / 36.
    const double squares = 0.16 + 2 * (0.04 + 0.36);
    CHECK(solid.rigid.mass.inertia.row[2].z == near(solid.rigid.mass.mass * squares / 36).relative(2e-3));

    // A frame whose wall is as thick as a third of it.
    const Scene frame = parse_scene(flat_scene("cylinder = [0.4, 0.8]") + "hollow = 0.25\n", "test.toml", {});
    CHECK(frame.scenario.solids[0].rigid.mass.mass == near(500 * h * (0.64 - 0.09)).relative(5e-3));

    const std::string file = written(moved(solid_box({0.4, 0.2, 0.5}).mesh, {0, 0, 1}), "box.obj").string();
    const Scene mesh =
        parse_scene(flat_scene("mesh = { file = \"" + file + "\", section = 0.9 }"), "test.toml", {});
    CHECK(mesh.scenario.solids[0].rigid.mass.mass == near(500 * h * 0.08).relative(1e-12));
}

TEST_CASE("section: planes that miss a mesh, animated meshes and sections in 3D are mistakes") {
    const std::string file = written(moved(solid_box({0.4, 0.2, 0.5}).mesh, {0, 0, 1}), "away.obj").string();
    const std::string missed = told(flat_scene("mesh = { file = \"" + file + "\" }"));
    check_tells(missed, "does not cut it");
    check_tells(missed, "from z = 0.75 to 1.25 m: give a 'section' in between");
    check_tells(missed, "test.toml:13");
    TriangleMesh open = solid_box({0.4, 0.2, 0.5}).mesh;
    open.triangles.pop_back();
    check_tells(told(flat_scene("mesh = { file = \"" + written(open, "open.obj").string() + "\" }")),
                "open.obj");
    check_tells(told(flat_scene("mesh_sequence = { files = \"fin_####.obj\" }")),
                "an animated mesh has no section");
    std::string solid = flat_scene("mesh = { file = \"" + file + "\", section = 0.9 }");
    solid.replace(solid.find("dimensions = 2\n"), 15, "");
    solid.replace(solid.find("[2.0, 1.0]"), 10, "[2.0, 1.0, 4.0]");
    solid.replace(solid.find("[1.0, 0.5]"), 10, "[1.0, 0.5, 2.0]");
    check_tells(told(solid), "a mesh is cut in two dimensions only");
}

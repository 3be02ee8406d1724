#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <numbers>
#include <random>

#include "core/check.h"
#include "geometry/mesh_defect.h"
#include "geometry/mesh_reader.h"
#include "geometry/shape.h"
#include "geometry/solid_shape.h"
#include "geometry/triangle_mesh.h"
#include "near.h"

using namespace flotsam;

namespace {

TriangleMesh cube() {
    TriangleMesh mesh;
    for (int n = 0; n < 8; ++n) mesh.vertices.push_back({double(n & 1), double(n >> 1 & 1), double(n >> 2)});
    mesh.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                      {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    return mesh;
}

// A sphere of radius 1 made of latitude rings.
TriangleMesh ball(int rings) { return solid_sphere(1, std::numbers::pi / rings).mesh; }

std::string as_obj(const TriangleMesh& mesh) {
    std::string text = "# a comment\nmtllib x.mtl\no thing\n";
    for (const Vec3& v : mesh.vertices) text += fmt::format("v {} {} {}\n", v.x, v.y, v.z);
    text += "vn 0 0 1\ns off\n";
    for (const Int3& t : mesh.triangles)
        text += fmt::format("f {}//1 {}//1 {}//1\n", t.x + 1, t.y + 1, t.z + 1);
    return text;
}

template <class T>
void put(std::string& bytes, T value, bool big) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    if (big) std::reverse(raw, raw + sizeof(T));
    bytes.append(raw, sizeof(T));
}

std::string as_ply(const TriangleMesh& mesh, const std::string& format) {
    std::string text = fmt::format(
        "ply\nformat {} 1.0\ncomment hello\nelement vertex {}\nproperty float x\nproperty float y\nproperty "
        "double z\n"
        "property uchar red\nelement face {}\nproperty list uchar int vertex_indices\nend_header\n",
        format, mesh.vertices.size(), mesh.triangles.size());
    const bool big = format == "binary_big_endian";
    for (const Vec3& v : mesh.vertices) {
        if (format == "ascii") {
            text += fmt::format("{} {} {} 7\n", v.x, v.y, v.z);
            continue;
        }
        put(text, float(v.x), big);
        put(text, float(v.y), big);
        put(text, v.z, big);
        put(text, std::uint8_t{7}, big);
    }
    for (const Int3& t : mesh.triangles) {
        if (format == "ascii") {
            text += fmt::format("3 {} {} {}\n", t.x, t.y, t.z);
            continue;
        }
        put(text, std::uint8_t{3}, big);
        for (int n = 0; n < 3; ++n) put(text, std::int32_t{t[n]}, big);
    }
    return text;
}

std::string as_text_stl(const TriangleMesh& mesh) {
    std::string text = "solid thing\n";
    for (const Int3& t : mesh.triangles) {
        text += "facet normal 0 0 0\nouter loop\n";
        for (int n = 0; n < 3; ++n) {
            const Vec3 v = mesh.vertices[t[n]];
            text += fmt::format("vertex {} {} {}\n", v.x, v.y, v.z);
        }
        text += "endloop\nendfacet\n";
    }
    return text + "endsolid thing\n";
}

std::string as_binary_stl(const TriangleMesh& mesh) {
    std::string text = "solid but binary";  // as some programs write it
    text.resize(80, ' ');
    put(text, static_cast<std::uint32_t>(mesh.triangles.size()), false);
    for (const Int3& t : mesh.triangles) {
        for (int n = 0; n < 3; ++n) put(text, 0.f, false);
        for (int n = 0; n < 3; ++n)
            for (int axis = 0; axis < 3; ++axis) put(text, float(mesh.vertices[t[n]][axis]), false);
        put(text, std::uint16_t{0}, false);
    }
    return text;
}

std::map<std::string, std::string> every_format(const TriangleMesh& mesh) {
    return {{"a.obj", as_obj(mesh)},
            {"ascii.ply", as_ply(mesh, "ascii")},
            {"little.ply", as_ply(mesh, "binary_little_endian")},
            {"big.PLY", as_ply(mesh, "binary_big_endian")},
            {"text.stl", as_text_stl(mesh)},
            {"binary.stl", as_binary_stl(mesh)}};
}

std::string error_of(const std::string& content, const std::string& name) {
    try {
        parse_mesh(content, name);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

// A file that is gone when the test ends.
struct TemporaryFile {
    std::filesystem::path path;
    TemporaryFile(const std::string& name, const std::string& content)
        : path(std::filesystem::temp_directory_path() /
               ("flotsam_mesh_test_" + std::to_string(::getpid()) + name)) {
        std::ofstream(path, std::ios::binary) << content;
    }
    ~TemporaryFile() { std::filesystem::remove(path); }
};

}  // namespace

TEST_CASE("primitive shapes know their distance") {
    const ShapePtr sphere = make_sphere({1, 2, 3}, 0.5);
    CHECK(sphere->distance({1, 2, 5}) == near(1.5).relative(1e-12));
    CHECK(sphere->distance({1, 2, 3}) == near(-0.5).relative(1e-12));
    const ShapePtr box = make_box({0, 0, 0}, {1, 2, 3});
    CHECK(box->distance({0.25, 1, 1}) == near(-0.25).relative(1e-12));
    CHECK(box->distance({4, 6, 1}) == near(5).relative(1e-12));
    CHECK(box->distance({0.5, 1, 3.5}) == near(0.5).relative(1e-12));
    const ShapePtr level = make_level(0.5);
    CHECK(level->distance({7, 0.75, -3}) == near(0.25).relative(1e-12));
    const ShapePtr wave = make_level(0.5, 0.1, 2);
    CHECK(wave->distance({0, 0.6, 0}) == near(0).absolute(1e-12));
    CHECK(wave->distance({1, 0.4, 0}) == near(0).absolute(1e-12));
    CHECK(wave->contains({0, 0.55, 0}));
    CHECK_FALSE(wave->contains({1, 0.55, 0}));
    CHECK(wave->bounds().high.y == near(0.6).relative(1e-12));
}

TEST_CASE("a wave's distance is measured across it, not upwards") {
    const double amplitude = 0.1, wavelength = 2, k = 2 * std::numbers::pi / wavelength;
    const ShapePtr wave = make_level(0.5, amplitude, wavelength);
    for (const double x : {0.0, 0.2, 0.5, 1.3, 1.5})
        for (const double d : {-1e-3, 1e-3, 1e-2}) {
            CAPTURE(x);
            const double slope = -amplitude * k * std::sin(k * x);
            const Vec3 off = Vec3{-slope, 1, 0} * (d / std::sqrt(1 + slope * slope));
            const double most =
                amplitude * k * k * d * d;  // the largest curvature times the distance squared
            CHECK(wave->distance(Vec3{x, 0.5 + amplitude * std::cos(k * x), 0} + off) ==
                  near(d).absolute(most));
        }
}

TEST_CASE("every format gives the same closed mesh") {
    const TriangleMesh mesh = cube();
    CHECK(boundary_edge_count(mesh) == 0);
    CHECK(enclosed_volume(mesh) == near(1).relative(1e-12));
    CHECK(surface_area(mesh) == near(6).relative(1e-12));
    for (const auto& [name, content] : every_format(mesh)) {
        const std::string& file = name;  // CAPTURE takes no structured binding under clang-tidy
        CAPTURE(file);
        const TriangleMesh read = parse_mesh(content, file);
        CHECK(read.vertices.size() == 8);
        CHECK(read.triangles.size() == 12);
        CHECK(boundary_edge_count(read) == 0);
        CHECK(enclosed_volume(read) == near(1).relative(1e-12));
    }
}

TEST_CASE("OBJ polygons become fans and negative numbers count back") {
    const TriangleMesh square =
        parse_mesh("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf -4/1 -3/2 -2/3 -1/4 # comment\n", "a.obj");
    CHECK(square.triangles.size() == 2);
    CHECK(boundary_edge_count(square) == 4);
    CHECK(surface_area(square) == near(1).relative(1e-12));
}

TEST_CASE("welding drops triangles that become lines, whichever two corners meet") {
    const double tolerance = 1e-6, near_by = 1e-7;
    const TriangleMesh mesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, near_by}},
                            {{0, 1, 2}, {0, 3, 1}, {1, 0, 3}, {0, 1, 3}}};
    const TriangleMesh welded = weld(mesh, tolerance);
    CHECK(welded.vertices.size() == 3);
    REQUIRE(welded.triangles.size() == 1);
    CHECK(welded.triangles[0] == Int3{0, 1, 2});
}

TEST_CASE("broken mesh files are refused with a reason") {
    const auto contains = [](const std::string& text, const std::string& part) {
        CAPTURE(text);
        CHECK(text.find(part) != std::string::npos);
    };
    const TriangleMesh mesh = cube();
    contains(error_of("v 0 0 0\nv 1 0\n", "a.obj"), "a.obj:2: '' should be a coordinate");
    contains(error_of("v 0 0 0\nf 1 2 3\n", "a.obj"), "a.obj:2: a face names vertex 2, but there are 1");
    contains(error_of("v 0 0 0\nf 1 1\n", "a.obj"), "fewer than 3 vertices");
    contains(error_of("v 0 0 0\nf 1 x 1\n", "a.obj"), "'x' should be a vertex number");
    contains(error_of("v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "a.obj"), "a vertex has the coordinate nan");
    contains(error_of("", "a.obj"), "no triangles");
    contains(error_of("v 0 0 0\nv 0 0 0\nv 0 0 0\nf 1 2 3\n", "a.obj"), "shrunk to a point");
    contains(error_of("hello", "a.xyz"), "unknown kind of mesh file '.xyz'");
    contains(error_of("hello", "noending"), "unknown kind of mesh file");
    contains(error_of("plyy\n", "a.ply"), "its first line is not 'ply'");
    contains(error_of("ply\nformat ascii 1.0\n", "a.ply"), "no 'end_header'");
    contains(error_of("ply\nformat ascii 1.0\nelement vertex -3\nend_header\n", "a.ply"),
             "impossible number");
    contains(error_of("ply\nformat ascii 1.0\nelement vertex 2000000000\nend_header\n", "a.ply"),
             "no properties");
    contains(error_of("ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nend_header\n1\n", "a.ply"),
             "the file ends where");
    contains(error_of("ply\nformat strange 1.0\nend_header\n", "a.ply"), "unknown PLY format 'strange'");
    const std::string ply = as_ply(mesh, "binary_little_endian");
    contains(error_of(ply.substr(0, ply.size() - 5), "a.ply"), "cut short");
    const std::string stl = as_binary_stl(mesh);
    contains(error_of(std::string(80, 'x') + stl.substr(80, 300), "a.stl"),
             "it announces 12 triangles and has room for 5");
    contains(error_of("xyz", "a.stl"), "not an STL file");
    contains(error_of("solid a\nfacet\nvertex 1 2 3\n", "a.stl"), "cut short");
    contains(error_of("solid a\nfacet\nvertex 1 2 3\nendfacet\n", "a.stl"), "has 1 vertices instead of 3");
    CHECK_THROWS_WITH_AS(read_mesh("/nowhere/a.obj"), doctest::Contains("no such mesh file"), UserError);
    CHECK_THROWS_WITH_AS(read_mesh("/tmp"), doctest::Contains("not a file"), UserError);
}

TEST_CASE("mutated mesh files give a mesh or a UserError, never a crash") {
    std::mt19937 random(11);
    const auto pick = [&](std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
    };
    int meshes = 0, refused = 0;
    for (const auto& [name, content] : every_format(cube()))
        for (int n = 0; n < 1500; ++n) {
            std::string mutated = content;
            for (std::size_t changes = 1 + pick(3); changes > 0 && !mutated.empty(); --changes) {
                const std::size_t at = pick(mutated.size());
                switch (pick(4)) {
                    case 0:
                        mutated[at] = static_cast<char>(pick(256));
                        break;
                    case 1:
                        mutated.erase(at, 1 + pick(20));
                        break;
                    case 2:
                        mutated.insert(at, mutated.substr(pick(mutated.size()), pick(60)));
                        break;
                    default:
                        mutated.resize(at);
                        break;
                }
            }
            try {
                const TriangleMesh mesh = parse_mesh(mutated, name);
                for (const Int3& t : mesh.triangles)
                    for (int k = 0; k < 3; ++k)
                        REQUIRE((t[k] >= 0 && t[k] < static_cast<int>(mesh.vertices.size())));
                ++meshes;
            } catch (const UserError&) {
                ++refused;
            }
        }
    CHECK(meshes > 100);
    CHECK(refused > 100);
}

TEST_CASE("a mesh shape has the right distance near its surface and the right sign everywhere") {
    const TemporaryFile file("ball.obj", as_obj(ball(40)));
    const Vec3 center{0.5, 0.4, 0.3};
    const double spacing = 0.01;
    const ShapePtr shape = make_mesh_shape(file.path.string(), 0.25, center, spacing);
    std::mt19937 random(3);
    std::uniform_real_distribution<double> coordinate(-1, 1);
    for (int n = 0; n < 4000; ++n) {
        const Vec3 p = center + Vec3{coordinate(random), coordinate(random), coordinate(random)};
        const double exact = length(p - center) - 0.25;
        const double found = shape->distance(p);
        CAPTURE(exact);
        if (std::abs(exact) < 6 * spacing)
            CHECK(found == near(exact).absolute(0.001));
        else
            CHECK((found > 0) == (exact > 0));
    }
    CHECK(shape->distance(center) < -0.05);
    CHECK(shape->distance(center + Vec3{1e6, 0, 0}) == near(1e6 - 0.25).relative(1e-9));
    CHECK(shape->bounds().low.x == near(0.25).absolute(0.001));
    // Triangles that face inwards make no difference.
    TriangleMesh flipped = ball(40);
    for (Int3& t : flipped.triangles) std::swap(t.y, t.z);
    const TemporaryFile flipped_file("flipped.ply", as_ply(flipped, "ascii"));
    CHECK(make_mesh_shape(flipped_file.path.string(), 0.25, center, spacing)->distance(center) < -0.05);
}

TEST_CASE("meshes that cannot be filled are refused with a reason") {
    TriangleMesh open = cube();
    open.triangles.pop_back();
    const TemporaryFile open_file("open.obj", as_obj(open));
    CHECK_THROWS_WITH_AS(make_mesh_shape(open_file.path.string(), 1, {}, 0.1),
                         doctest::Contains("not closed: 3 of its edges"), UserError);
    const TemporaryFile file("cube.obj", as_obj(cube()));
    CHECK_THROWS_WITH_AS(make_mesh_shape(file.path.string(), 1e-4, {0.04, 0.04, 0.04}, 0.1),
                         doctest::Contains("encloses nothing"), UserError);
    CHECK_THROWS_WITH_AS(make_mesh_shape(file.path.string(), 1e9, {}, 0.1),
                         doctest::Contains("another 'scale'"), UserError);
    CHECK_THROWS_WITH_AS(make_mesh_shape(file.path.string(), 5e4, {}, 0.1),
                         doctest::Contains("another 'scale'"), UserError);
}

TEST_CASE("a dirty mesh of a solid is meshed anew from its distance field, or refused with a reason") {
    const double spacing = 0.02;
    // What is left must be clean, and its distance and its mesh must agree on what is inside.
    const auto check = [&](const char* name, const TriangleMesh& mesh, double volume, double tolerance) {
        CAPTURE(name);
        const TemporaryFile file(std::string(name) + ".obj", as_obj(mesh));
        const SolidShape shape = solid_mesh(file.path.string(), 0.5, spacing);
        CHECK(mesh_defect(shape.mesh) == "");
        CHECK(std::abs(enclosed_volume(shape.mesh) - volume) <= tolerance * volume);
        CHECK(shape.distance->distance({0.25, 0.25, 0.25}) < -0.1);
        CHECK(shape.distance->distance({0.25, 0.25, 0.9}) > 0.1);
    };
    check("clean", cube(), 0.125, 1e-12);
    TriangleMesh inwards = cube();
    for (Int3& t : inwards.triangles) std::swap(t.y, t.z);
    check("inwards", inwards, 0.125, 1e-12);

    TriangleMesh flipped = cube();
    std::swap(flipped.triangles[3].y, flipped.triangles[3].z);
    CHECK(mesh_defect(flipped) == "has triangles that face the wrong way");
    check("flipped", flipped, 0.125, 0.03);

    TriangleMesh overlapping = cube();
    for (const Vec3& v : cube().vertices) overlapping.vertices.push_back(v + Vec3{0.4, 0.3, -0.2});
    for (const Int3& t : cube().triangles) overlapping.triangles.push_back(t + Int3{8, 8, 8});
    CHECK(mesh_defect(overlapping) == "overlaps itself");
    check("overlapping", overlapping, 0.125 * (2 - 0.6 * 0.7 * 0.8), 0.03);

    TriangleMesh touching = cube();  // along an edge, which four triangles then share
    for (const Vec3& v : cube().vertices) touching.vertices.push_back(v + Vec3{1, 1, 0});
    for (const Int3& t : cube().triangles) touching.triangles.push_back(t + Int3{8, 8, 8});
    CHECK(mesh_defect(weld(touching, 1e-6)) == "has edges that more than two triangles share");
    check("touching", touching, 0.25, 0.03);

    TriangleMesh open = cube();
    open.triangles.pop_back();
    CHECK(mesh_defect(open) == "has holes");
    const TemporaryFile open_file("open.obj", as_obj(open));
    CHECK_THROWS_WITH_AS(solid_mesh(open_file.path.string(), 1, spacing),
                         doctest::Contains("not closed: 3 of its edges"), UserError);
    TriangleMesh sheet;  // closed, but both sides are the same triangle
    sheet.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    sheet.triangles = {{0, 1, 2}, {0, 2, 1}};
    const TemporaryFile sheet_file("sheet.obj", as_obj(sheet));
    CHECK_THROWS_WITH_AS(solid_mesh(sheet_file.path.string(), 1, spacing),
                         doctest::Contains("encloses nothing"), UserError);
}

TEST_CASE("a hollow mesh keeps its cavity, and a thin one its inside") {
    TriangleMesh hollow = ball(24);
    const int outer = int(hollow.vertices.size());
    for (const Vec3& v : ball(24).vertices) hollow.vertices.push_back(v * 0.8);
    for (const Int3& t : ball(24).triangles)
        hollow.triangles.push_back(Int3{t.x, t.z, t.y} + Int3{1, 1, 1} * outer);
    const TemporaryFile file("hollow.obj", as_obj(hollow));
    const SolidShape tank = solid_mesh(file.path.string(), 0.4, 0.05);
    CHECK(tank.distance->distance({}) > 0.2);
    CHECK(tank.distance->distance({0, 0.36, 0}) < -0.03);
    TriangleMesh plate = cube();
    for (Vec3& v : plate.vertices) v.y *= 0.01;
    const TemporaryFile plate_file("plate.obj", as_obj(plate));
    const SolidShape thin = solid_mesh(plate_file.path.string(), 1, 0.05);  // a fifth of the spacing
    CHECK(thin.distance->distance({0.5, 0.005, 0.5}) == near(-0.005).relative(1e-12));
    CHECK(thin.distance->distance({0.5, 0.011, 0.5}) == near(0.001).relative(1e-12));
}

// Solids whose mesh changes from file to file: the liquid meets their surface where it is, as fast as it
// moves.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <numbers>

#include "core/check.h"
#include "fluid/grid/confines.h"
#include "fluid/grid/pressure_solver.h"
#include "fluid/grid/surface.h"
#include "geometry/mesh_surface.h"
#include "io/atomic_file.h"
#include "scene/scene.h"
#include "sim/measure.h"
#include "tests/near.h"
#include "tests/scratch_folder.h"
#include "validate/case_tools.h"
#include "worlds.h"

using namespace flotsam;

namespace {

// An animated mesh made of several shapes of one mesh.
Solid animated(std::vector<TriangleMesh> meshes, double rate, bool loop, Vec3 position) {
    auto sequence = std::make_shared<MeshSequence>();
    sequence->triangles = meshes.front().triangles;
    for (TriangleMesh& mesh : meshes) sequence->vertices.push_back(std::move(mesh.vertices));
    sequence->rate = rate;
    sequence->loop = loop;
    Solid solid;
    solid.name = "animated";
    solid.motion = Motion::scripted;
    solid.start.position = position;
    solid.sequence = sequence;
    solid.shape = {shape_at(solid, 0).shape, body_mesh_at(solid, 0)};
    return solid;
}

TriangleMesh scaled(TriangleMesh mesh, double factor) {
    for (Vec3& v : mesh.vertices) v *= factor;
    return mesh;
}

// A plate across x-z with an odd number of strips along x, bent by a wave of this phase.
TriangleMesh bent_plate(double thickness, double amplitude, double phase) {
    constexpr int strips = 16;
    TriangleMesh mesh;
    for (int i = 0; i <= strips; ++i) {
        const double x = double(i) / strips - 0.5;
        const double y = amplitude * std::sin(2 * std::numbers::pi * x + phase);
        for (const double side : {-0.5, 0.5})
            for (const double z : {-0.5, 0.5}) mesh.vertices.push_back({x, y + side * thickness, z});
    }
    const auto quad = [&](int a, int b, int c, int d) {
        mesh.triangles.push_back({a, b, c});
        mesh.triangles.push_back({a, c, d});
    };
    quad(0, 1, 3, 2);
    for (int i = 0; i < strips; ++i) {
        const int at = 4 * i, next = at + 4;  // low back, low front, high back, high front
        quad(at, next, next + 1, at + 1);
        quad(at + 2, at + 3, next + 3, next + 2);
        quad(at, at + 2, next + 2, next);
        quad(at + 1, next + 1, next + 3, at + 3);
    }
    quad(4 * strips, 4 * strips + 2, 4 * strips + 3, 4 * strips + 1);
    return mesh;
}

double particles_inside(const World& world, const Scenario& s) {
    for (const Quantity& q : quantities())
        if (q.name == "liquid.particles_inside_solids") return q.value(world, s, StepReport{});
    FAIL("no such quantity");
    return 0;
}

double mean_level(const World& world, const Domain& domain) {
    double sum = 0;
    for (int i = 0; i < domain.cells.x; ++i)
        for (int k = 0; k < domain.cells.z; ++k)
            sum += surface_height(world.liquid.phi, domain, (i + 0.5) * domain.h, (k + 0.5) * domain.h);
    return sum / (domain.cells.x * domain.cells.z);
}

}  // namespace

TEST_CASE("the distance to a mesh is exact near it, also to a plate that no voxel sees, and safe far away") {
    const MeshSurface ball(solid_sphere(0.3, 0.01).mesh);
    const SolidShape box = solid_box({0.5, 0.004, 0.7});
    const MeshSurface plate(box.mesh);
    int near = 0;
    for (int i = 0; i < 4000; ++i) {
        const Vec3 p = Vec3{test::noise(i), test::noise(i + 5000), test::noise(i + 9000)} * 0.5;
        for (const auto& [mesh, exact, tolerance] :
             {std::tuple{&ball, length(p) - 0.3, 3e-4}, {&plate, box.distance->distance(p), 1e-12}}) {
            const double found = mesh->distance(p);
            if (std::abs(exact) < 0.07) {
                CHECK(std::abs(found - exact) < tolerance);
                ++near;
            } else {
                CHECK(found * exact > 0);
                CHECK(std::abs(found) < std::abs(exact) + tolerance);
            }
            CHECK(std::abs(mesh->nearest(p).distance - exact) < tolerance);
        }
        const Vec3 close{p.x, 0.02 * p.y, p.z};
        CHECK(std::abs(plate.distance(close) - box.distance->distance(close)) < 1e-12);
        if (std::abs(length(p) - 0.3) < 0.07) CHECK(dot(ball.normal(p, 1e-3), p) > 0.99 * length(p));
    }
    CHECK(near > 500);
}

TEST_CASE("vertices go straight from file to file, stop at the last one or go around") {
    const TriangleMesh box = solid_box({1, 1, 1}).mesh;
    const auto corner = [](const MeshSequence& s, double time) { return vertices_at(s, time)[7].x; };
    const Solid once = animated({box, scaled(box, 3), scaled(box, 2)}, 10, false, {});
    CHECK(corner(*once.sequence, -1) == 0.5);
    CHECK(corner(*once.sequence, 0.05) == near(1.0).relative(1e-12));
    CHECK(corner(*once.sequence, 0.15) == near(1.25).relative(1e-12));
    CHECK(corner(*once.sequence, 7) == 1.0);
    CHECK(largest_speed(*once.sequence, 0.01, 0.05) == near(10 * std::sqrt(3.0)).relative(1e-12));
    CHECK(largest_speed(*once.sequence, 0.12, 0.5) == near(5 * std::sqrt(3.0)).relative(1e-12));
    CHECK(largest_speed(*once.sequence, 0.3, 0.5) == 0);
    const Solid loop = animated({box, scaled(box, 3), scaled(box, 2)}, 10, true, {});
    CHECK(corner(*loop.sequence, 0.25) == near(0.75).relative(1e-12));
    CHECK(corner(*loop.sequence, 0.35) == near(1.0).relative(1e-12));
    CHECK(largest_speed(loop, 0.2, 0.3) == near(5 * std::sqrt(3.0)).relative(1e-12));
}

TEST_CASE("what a deforming, turning mesh sweeps in all cells together is the change of its volume") {
    const Int3 cells{20, 20, 20};
    const double h = 0.05;
    const Pose before{{0.5, 0.5, 0.5}, {}}, after{{0.53, 0.48, 0.5}, Rotation::about({1, 2, 3}, 0.3)};
    for (const auto& [was, is] :
         {std::pair{solid_torus(0.2, 0.06, 0.02).mesh, 1.2}, {solid_box({0.3, 0.02, 0.4}).mesh, 1.0}}) {
        TriangleMesh mesh = was, then = scaled(was, is);
        SurfaceMotion motion{{}, 0.02};
        for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
            mesh.vertices[v] = before.to_world(mesh.vertices[v]);
            then.vertices[v] = after.to_world(then.vertices[v]);
            motion.velocity.push_back((then.vertices[v] - mesh.vertices[v]) / motion.time);
        }
        const CutSolid cut = cut_solid(mesh, cells, h, motion);
        double swept = 0;
        for (const Patch& patch : cut.patches) swept += patch.swept * motion.time;
        CHECK(std::abs(swept - (enclosed_volume(then) - enclosed_volume(mesh))) < 1e-14);
    }
}

TEST_CASE("a swelling sphere presses its growth out of a brim-full tank") {
    const double dt = 0.01;
    const SolidShape ball = solid_sphere(0.2, 0.02);
    const Pose pose{{0.52, 0.43, 0.49}, {}};
    TriangleMesh mesh = ball.mesh;
    SurfaceMotion motion{{}, dt};
    for (Vec3& v : mesh.vertices) {
        motion.velocity.push_back(v * (0.05 / dt));
        v = pose.to_world(v);
    }
    const auto surface = std::make_shared<MeshSurface>(ball.mesh);
    const auto deformation = std::make_shared<Deformation>(Deformation{surface, surface, motion.velocity});
    Domain domain;
    domain.cells = {20, 20, 20};
    domain.h = 0.05;
    domain.walls[y_high].kind = WallKind::open;
    const auto tiling = whole_tiling(domain.cells);
    const auto cut = std::make_shared<CutSolid>(cut_solid(mesh, domain.cells, domain.h, motion));
    const Obstacles obstacles =
        place_obstacles({{surface, pose, pose, 1.0, {}, cut, deformation}}, domain, tiling);
    Field<double> phi(tiling, -1), potential(tiling, 0), source(tiling, 0);
    MacGrid u;
    for (auto& component : u) component = Field<double>(tiling, 0);
    const PressureUpdate report =
        solve_pressure(pressure_system(domain, phi, {}, 1000, obstacles), source, dt, {}, u, potential);
    CHECK(report.solve.converged);
    double out = 0;
    for (int i = 0; i < 20; ++i)
        for (int k = 0; k < 20; ++k) out += u[1](i, 20, k) * domain.h * domain.h;
    const double growth = enclosed_volume(mesh) * (std::pow(1.05, 3) - 1);
    // Closing slivers of cells shifts the surface there by up to a hundredth of a cell.
    CHECK(out * dt == near(growth).relative(1e-3));
}

TEST_CASE("a pulsating sphere displaces its volume, and no particle enters it") {
    Scenario s = test::tank({24, 24, 24}, 0.6);
    const TriangleMesh ball = solid_sphere(0.15, 0.03).mesh;
    // Swells to 4.6 times its volume in a second.
    s.solids.push_back(animated({ball, scaled(ball, 1.2), scaled(ball, 5.0 / 3)}, 2, false, {0.5, 0.3, 0.5}));
    s.time.duration = 1;
    Driver driver(s, make_scheme("cut-cell"));
    driver.start();
    const double level = mean_level(driver.world(), s.domain);
    double inside = 0;
    while (driver.frame() < driver.last_frame()) {
        (void)driver.advance();
        inside = std::max(inside, particles_inside(driver.world(), s));
    }
    CHECK(inside == 0);
    const double displaced = enclosed_volume(mesh_at(s.solids[0], 1)) - enclosed_volume(ball);
    const double rise = mean_level(driver.world(), s.domain) - level;  // of a surface of 1 m^2
    CAPTURE(rise);
    CHECK(std::abs(rise - displaced) < 0.01 * displaced);
}

TEST_CASE("an animated mesh that only moves along gives the flow of a rigid mesh that moves so") {
    const TriangleMesh ball = solid_sphere(0.2, 0.03).mesh;
    const Vec3 velocity{0.5, 0.1, -0.2};
    std::vector<World> worlds;
    for (const bool rigid : {false, true}) {
        Scenario s = test::tank({20, 20, 20}, 0.8);
        s.liquid.reseed = false;  // it draws lots that rounding decides
        std::vector<TriangleMesh> meshes(6, ball);
        for (int i = 1; i < 6; ++i)
            for (Vec3& v : meshes[i].vertices) v += velocity * (i / 30.0);
        Solid solid = animated(meshes, 30, false, {0.4, 0.4, 0.5});
        if (rigid) {
            solid.sequence = nullptr;
            solid.script.velocity = velocity;
        }
        s.solids.push_back(solid);
        s.time.duration = 2.0 / 24;
        Driver driver(s, make_scheme("cut-cell"));
        driver.start();
        while (driver.frame() < driver.last_frame()) (void)driver.advance();
        CHECK(particles_inside(driver.world(), s) == 0);
        worlds.push_back(driver.world());
    }
    REQUIRE(worlds[0].step == worlds[1].step);
    CHECK(worlds[0].step >= 4);  // later the rounding of positions to floats tells them apart
    double difference = 0, fastest = 0;
    for (int axis = 0; axis < 3; ++axis)
        for (std::int64_t n = 0; n < worlds[0].liquid.tiling->value_count(); ++n) {
            const double u = worlds[0].liquid.velocity[axis][n];
            fastest = std::max(fastest, std::abs(u));
            difference = std::max(difference, std::abs(u - worlds[1].liquid.velocity[axis][n]));
        }
    CHECK(fastest > 0.3);
    CHECK(difference < 1e-9 * fastest);
    CHECK(length(worlds[0].loads[0].force - worlds[1].loads[0].force) <
          1e-9 * length(worlds[0].loads[0].force));
}

TEST_CASE("no particle passes through a bending plate thinner than a cell, whichever way both move") {
    Domain domain;  // everything is open: only the plate holds the particles
    domain.cells = {20, 20, 20};
    domain.h = 0.05;
    for (Wall& wall : domain.walls) wall.kind = WallKind::open;
    const Pose pose{{0.5, 0.5, 0.5}, {}};
    int tried = 0;
    for (int moment = 0; moment < 8; ++moment) {
        const double phase = 0.8 * moment;
        const auto deformation = std::make_shared<Deformation>(
            Deformation{std::make_shared<MeshSurface>(bent_plate(0.01, 0.1, phase)),
                        std::make_shared<MeshSurface>(bent_plate(0.01, 0.1, phase + 0.5)),
                        {}});
        const std::vector<Obstacle> obstacles{
            {deformation->after, pose, pose, 1.0, {}, nullptr, deformation}};
        const auto above = [&](Vec3 p, double at) {
            p = pose.to_body(p);
            return p.y > 0.1 * std::sin(2 * std::numbers::pi * p.x + at);
        };
        for (int i = 0; i < 2000; ++i) {
            const Vec3 from{0.5 + 0.3 * test::noise(i), 0.5 + 0.25 * test::noise(i + 7000),
                            0.5 + 0.3 * test::noise(i + 14000)};
            const Vec3 way = Vec3{test::noise(i + 1), test::noise(i + 2), test::noise(i + 3)} * 0.1;
            if (deformation->before->distance(pose.to_body(from)) < 1e-3) continue;
            const Vec3 to = Confines(domain, obstacles).stop(from, from + way);
            CHECK(obstacles[0].distance(to) > 0);
            CHECK(above(from, phase) == above(to, phase + 0.5));
            ++tried;
        }
    }
    CHECK(tried > 10000);
}

TEST_CASE("files that are not one animation are refused, naming the first that differs and how") {
    const ScratchFolder folder;
    const auto as_obj = [](const TriangleMesh& mesh) {
        std::string text;
        for (const Vec3& v : mesh.vertices) text += fmt::format("v {} {} {}\n", v.x, v.y, v.z);
        for (const Int3& t : mesh.triangles) text += fmt::format("f {} {} {}\n", t.x + 1, t.y + 1, t.z + 1);
        return text;
    };
    const TriangleMesh box = solid_box({0.3, 0.2, 0.25}).mesh;
    const auto message = [&](const TriangleMesh& third, const std::string& motion = "scripted",
                             const std::string& files = "box_##.obj") {
        write_file(folder / "box_01.obj", as_obj(box));
        write_file(folder / "box_02.obj", as_obj(scaled(box, 1.1)));
        write_file(folder / "box_03.obj", as_obj(third));
        try {
            const Scene scene = parse_scene(
                fmt::format("[scene]\nduration = 1.0\n[domain]\nsize = [1, 1, 1]\nresolution = 10\n"
                            "[[liquid.fill]]\nlevel = 0.2\n[[solid]]\nname = \"a\"\nmotion = \"{}\"\n"
                            "shape = {{ mesh_sequence = {{ files = \"{}\", scale = 0.5 }} }}\n"
                            "position = [0.5, 0.5, 0.5]\n",
                            motion, files),
                folder / "scene.toml");
            return fmt::format("{} files", scene.scenario.solids[0].sequence->vertices.size());
        } catch (const UserError& error) {
            return std::string(error.what());
        }
    };
    const auto contains = [](const std::string& text, const std::string& part) {
        CAPTURE(text);
        CHECK(text.find(part) != std::string::npos);
    };
    CHECK(message(box) == "3 files");
    TriangleMesh other = box;
    other.vertices.push_back({});
    contains(message(other), "box_03.obj: it has 9 vertices, but box_01.obj has 8");
    other = box;
    other.triangles.pop_back();
    contains(message(other), "box_03.obj: it has 11 triangles, but box_01.obj has 12");
    other = box;
    std::swap(other.triangles[4], other.triangles[5]);
    contains(message(other), "box_03.obj: its triangle 5 joins vertices");
    other = box;
    for (Vec3& v : other.vertices) v.x = -v.x;
    contains(message(other), "box_03.obj: the mesh is turned inside out");
    contains(message(box, "static"), "only a scripted solid can have an animated mesh");
    contains(message(box, "scripted", "box.obj"), "one row of #");
    contains(message(box, "scripted", "box_####.obj"), "there is no 'box_0001.obj'");
    write_file(folder / "box_05.obj", as_obj(box));
    contains(message(box), "'box_04.obj' is missing, but 'box_05.obj' exists");
}

TEST_CASE("what is exported of an animated mesh is the mesh of that moment, where it is then") {
    const TriangleMesh small = solid_box({1, 1, 1}).mesh;
    Scenario s = test::tank({8, 8, 8}, 0.5);
    s.solids.push_back(animated({small, scaled(small, 3)}, 2, false, {0.5, 0.5, 0.5}));
    s.solids[0].script.velocity = {0, 2, 0};
    World world;
    for (const double time : {0.0, 0.25, 0.5}) {
        world.time = time;
        const TriangleMesh mesh = mesh_of(world, s, 0), expected = mesh_at(s.solids[0], time);
        CHECK(mesh.vertices == expected.vertices);
        const double edge = 1 + 2 * time / 0.5;
        CHECK(std::abs(enclosed_volume(mesh) - edge * edge * edge) < 1e-9);
        CHECK(std::abs(bounds(mesh).low.y - (0.5 + 2 * time - 0.5 * edge)) < 1e-9);
    }
}

// Scene files: rigid solids and joints; and the shapes that came with them.
#include "scene/rigid_scene.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "core/check.h"
#include "geometry/mesh_defect.h"
#include "geometry/solid_shape.h"
#include "near.h"

using namespace flotsam;

namespace {

constexpr double pi = std::numbers::pi;

struct Reading {
    TomlNode root;
    Mistakes mistakes;
    explicit Reading(const std::string& text) {
        mistakes.add_source("test.toml", text);
        root = parse_toml(text, 0, mistakes);
        // The rest of a scene, which is not what is tested.
        const std::string rest = "[scene]\nduration = 1\n[domain]\nsize = [1, 1, 1]\nresolution = 10\n";
        Mistakes none;
        none.add_source("rest", rest);
        for (const auto& [key, place, value] : parse_toml(rest, 0, none).members) root.set(key, place, value);
        validate(root, mistakes);
    }
    const TomlNode& solid(int n = 0) const { return root.find("solid")->items[n]; }
    std::string told() const {
        try {
            mistakes.throw_if_any();
        } catch (const UserError& error) {
            return error.what();
        }
        return "";
    }
};

const std::string head =
    "[[solid]]\nname = \"a\"\nmotion = \"rigid\"\nshape = { box = [1, 1, 1] }\nposition = [0, 0, 0]\n";

RigidProperties read(Reading& reading, const SolidShape& shape, std::optional<Slab> slab = {}) {
    const ShapeReader ball = [](const TomlNode& node) {
        return solid_sphere(node.at("sphere").number, 0.002);
    };
    return read_rigid(reading.solid(), Motion::rigid, &shape, slab, ball, reading.mistakes);
}

std::string mistake(const std::string& more) {
    Reading reading(head + more);
    if (reading.mistakes.empty()) read(reading, solid_box({1, 1, 1}));
    return reading.told();
}

std::string joint_mistake(const std::string& joint) {
    Reading reading(head + "[[joint]]\nname = \"j\"\nat = [0, 0, 0]\n" + joint);
    Solid a, post;
    a.name = "a";
    a.motion = Motion::rigid;
    post.name = "post";
    if (reading.mistakes.empty()) read_joints(reading.root, {a, post}, {}, reading.mistakes);
    return reading.told();
}

void check_tells(const std::string& text, const std::string& phrase) {
    CAPTURE(text);
    CHECK(text.find(phrase) != std::string::npos);
}

}  // namespace

TEST_CASE("a rigid solid's mass comes from its density or is given") {
    const SolidShape box = solid_box({1, 2, 3});
    Reading dense(head +
                  "density = 500\nfriction = 0.3\nlock = [\"x\", \"rotate_z\"]\nvelocity = [1, 2, 3]\n");
    const RigidProperties p = read(dense, box);
    CHECK(dense.told().empty());
    CHECK(p.mass.mass == near(3000).relative(1e-12));
    CHECK(p.friction == 0.3);
    CHECK(p.velocity == Vec3{1, 2, 3});
    CHECK(p.locked == Locks{true, false, false, false, false, true});

    Reading heavy(head + "mass = 12\nhollow = 0.1\n");
    const RigidProperties shell = read(heavy, box);
    CHECK(heavy.told().empty());
    CHECK(shell.mass.mass == near(12).relative(1e-12));
    const double inner = 0.8 * 1.8 * 2.8, wall = 6 - inner;
    CHECK(shell.mass.inertia.row[0].x ==
          near((6 * 13 - inner * (1.8 * 1.8 + 2.8 * 2.8)) / 12 * 12 / wall).relative(2e-3));
}

TEST_CASE("ballast moves the centre of mass and counts in the inertia") {
    // A bar and a lump at its end are two points on a stick, but for the bar's own inertia.
    Reading bar(head + "mass = 3\nballast = { mass = 1, position = [0, -0.5, 0] }\n");
    const MassProperties p = read(bar, solid_box({0.1, 1, 0.1})).mass;
    CHECK(bar.told().empty());
    CHECK(p.mass == near(4).relative(1e-12));
    CHECK(length(p.center - Vec3{0, -0.125, 0}) < 1e-12);
    CHECK(p.inertia.row[0].x == near(3 * 1.01 / 12 + 3 * 0.125 * 0.125 + 0.375 * 0.375).relative(1e-12));
    CHECK(p.inertia.row[1].y == near(3 * 0.02 / 12).relative(1e-12));
}

TEST_CASE("any number of ballasts, points and shapes, add up") {
    Reading bar(head +
                "mass = 3\n[[solid.ballast]]\nmass = 1\nposition = [0, -0.5, 0]\n"
                "[[solid.ballast]]\nmass = 2\nposition = [0, 0.4, 0]\nshape = { sphere = 0.05 }\n");
    const MassProperties p = read(bar, solid_box({0.1, 1, 0.1})).mass;
    CHECK(bar.told().empty());
    CHECK(p.mass == near(6).relative(1e-12));
    const double y = (0.8 - 0.5) / 6, ball = 2 * 0.4 * 0.05 * 0.05;
    CHECK(p.center.y == near(y).relative(1e-12));
    CHECK(p.inertia.row[0].x ==
          near(3 * 1.01 / 12 + 3 * y * y + (0.5 + y) * (0.5 + y) + 2 * (0.4 - y) * (0.4 - y) + ball)
              .relative(1e-5));
    CHECK(p.inertia.row[1].y == near(3 * 0.02 / 12 + ball).relative(1e-3));
}

TEST_CASE("a given inertia replaces that of the shape, and ballast is added to it") {
    Reading principal(head +
                      "mass = 3\ninertia = [2, 3, 4]\nballast = { mass = 1, position = [0, -0.5, 0] }\n");
    const MassProperties p = read(principal, solid_box({0.1, 1, 0.1})).mass;
    CHECK(principal.told().empty());
    CHECK(p.inertia.row[0].x == near(2 + 0.75 * 0.25).relative(1e-12));
    CHECK(p.inertia.row[1].y == near(3).relative(1e-12));
    Reading tensor(head + "mass = 3\ninertia = [2, 3, 4, 0.1, 0.2, 0.3]\n");
    const Mat3 inertia = read(tensor, solid_box({1, 1, 1})).mass.inertia;
    CHECK(inertia.row[0] == Vec3{2, 0.1, 0.2});
    CHECK(inertia.row[1] == Vec3{0.1, 3, 0.3});
    CHECK(inertia.row[2] == Vec3{0.2, 0.3, 4});
    Reading flat(head + "density = 500\ninertia = 0.25\n");
    CHECK(read(flat, solid_rectangle(2, 1, 0.3), Slab{0.1, 0.3}).mass.inertia.row[2].z == 0.25);
}

TEST_CASE("a body that is held starts at its release") {
    Reading held(head + "density = 1\nrelease = 2\nlock = [\"x\"]\n");
    const RigidProperties p = read(held, solid_box({1, 1, 1}));
    RigidBody body = make_rigid_body(0, p, {});
    hold_until_release(body, p, 1.9);
    apply_impulse(body, {{1, 1, 1}, {1, 1, 1}});
    CHECK(body.velocity == Vec3{});
    CHECK(spin_of(body) == Vec3{});
    hold_until_release(body, p, 2);
    apply_impulse(body, {{1, 1, 1}, {1, 1, 1}});
    CHECK(body.velocity == Vec3{0, 1, 1});
    CHECK(spin_of(body).x > 0);
}

TEST_CASE("in a slab only what lies in it weighs, and bodies stay in the plane") {
    const double h = 0.1;
    Reading disc(head + "density = 500\n");
    const RigidProperties p = read(disc, solid_disc(0.5, 3 * h, 0.01), Slab{h, 3 * h});
    CHECK(p.mass.mass == near(500 * pi / 4 * h).relative(1e-12));
    CHECK(p.mass.inertia.row[2].z == near(p.mass.mass / 8).relative(5e-9));
    CHECK(p.locked == Locks{false, false, true, true, true, false});

    // A wall thicker than the slab is still a frame and not a lid.
    Reading frame(head + "density = 500\nhollow = 0.2\n");
    CHECK(read(frame, solid_rectangle(2, 1, 3 * h), Slab{h, 3 * h}).mass.mass ==
          near(500 * h * (2 - 1.6 * 0.6)).relative(1e-9));
    // A figure thinner than meshes are deep: the room before and behind these does not count.
    Reading post(head + "density = 500\nhollow = 0.05\n");
    CHECK(read(post, solid_rectangle(2 * h, 20 * h, 3 * h), Slab{h, 3 * h}).mass.mass ==
          near(500 * h * h * h * (40 - 19)).relative(1e-3));
}

TEST_CASE("mistakes about rigid solids are told") {
    check_tells(mistake(""), "needs its density or its mass");
    check_tells(mistake("density = 1\nmass = 1\n"), "not both");
    check_tells(mistake("density = 1\nhollow = 0.6\n"), "fills this solid");
    check_tells(mistake("density = 1\nlock = [\"rotate_w\"]\n"), "'lock' cannot be \"rotate_w\"");
    check_tells(mistake("density = 1\nlock = \"x\"\n"), "'lock' must be a list of");
    check_tells(mistake("density = 1\nrestitution = 2\n"), "out of range");
    check_tells(mistake("density = 1\nballast = { mass = 1, position = [0, 2, 0] }\n"), "outside the solid");
    check_tells(mistake("density = 1\nballast = { mass = 1, position = [0, 0] }\n"), "only in 2D");
    check_tells(mistake("density = 1\nballast = { mass = 1 }\n"), "position");
    check_tells(
        mistake("density = 1\nballast = { mass = 1, position = [0, 0, 0], shape = { mesh_sequence = { "
                "files = \"fin_####.obj\" } } }\n"),
        "a ballast cannot be an animated mesh");
    check_tells(mistake("density = 1\n[[solid.ballast]]\nmass = 1\nposition = [0, 0, 0]\n"
                        "[[solid.ballast]]\nmass = 1\nposition = [0, 2, 0]\n"),
                "outside the solid");
    check_tells(mistake("density = 1\ninertia = 3\n"), "not enough in 3D");
    check_tells(mistake("density = 1\ninertia = [1, 2, 3, 4]\n"), "three numbers or six");
    check_tells(mistake("density = 1\ninertia = [1, 2, 3.1]\n"), "no solid can have this inertia");
    check_tells(mistake("density = 1\ninertia = [1, 1, 0]\n"), "no solid can have this inertia");
    check_tells(mistake("density = 1\ninertia = [2, 2, 2, 0, 0, 1.5]\n"), "no solid can have this inertia");
    check_tells(mistake("density = 1\ninertia = \"big\"\n"), "'inertia' must be");
    check_tells(mistake("density = 1\nrelease = 1\nvelocity = [1, 0, 0]\n"), "starts from rest");
    Reading scripted(head + "release = 1\n");
    read_rigid(scripted.solid(), Motion::scripted, nullptr, {}, {}, scripted.mistakes);
    check_tells(scripted.told(), "only a rigid solid has 'release'");
    Reading fixed(head + "mass = 1\n");
    read_rigid(fixed.solid(), Motion::fixed, nullptr, {}, {}, fixed.mistakes);
    check_tells(fixed.told(), "only a rigid solid has 'mass'");
}

TEST_CASE("joints are read as they stand at the start") {
    Reading reading(head +
                    "[[joint]]\nname = \"axle\"\nkind = \"hinge\"\na = \"a\"\nb = \"post\"\nat = [1, 2, "
                    "3]\naxis = [0, 2, 0]\n"
                    "limits = [-30, 45]\nmotor_speed = 3\nmotor_torque = 7\n"
                    "[[joint]]\nname = \"rope\"\nkind = \"spring\"\na = \"a\"\nat = [0, 0, 0]\nto = [0, 3, "
                    "4]\nstiffness = 9\n");
    Solid a, post;
    a.name = "a";
    a.motion = Motion::rigid;
    a.start = {{1, 1, 1}, Rotation::about({0, 0, 1}, 0.5)};
    post.name = "post";
    post.start = {{5, 0, 0}, Rotation::about({1, 0, 0}, 2)};
    const std::vector<Joint> joints = read_joints(reading.root, {a, post}, {}, reading.mistakes);
    CHECK(reading.told() == "");
    REQUIRE(joints.size() == 2);
    const Joint& axle = joints[0];
    CHECK(axle.b == 1);
    for (const auto& [solid, frame] : {std::pair{a, axle.frame_a}, {post, axle.frame_b}}) {
        CHECK(length(solid.start.to_world(frame.position) - Vec3{1, 2, 3}) < 1e-14);
        CHECK(length(solid.start.rotation * (frame.rotation * Vec3{1, 0, 0}) - Vec3{0, 1, 0}) < 1e-14);
    }
    CHECK(axle.low == near(-pi / 6).relative(1e-12));
    CHECK(axle.motor_torque == 7);
    CHECK(joints[1].b == the_world);
    CHECK(joints[1].rest_length == 5);
}

TEST_CASE("mistakes about joints are told") {
    check_tells(joint_mistake("kind = \"hinge\"\na = \"a\"\n"), "a hinge needs its 'axis'");
    check_tells(joint_mistake("kind = \"ball\"\na = \"b\"\n"), "there is no solid called \"b\"");
    check_tells(joint_mistake("kind = \"ball\"\na = \"a\"\nb = \"a\"\n"), "two different solids");
    check_tells(joint_mistake("kind = \"ball\"\na = \"post\"\n"), "neither side of this joint is rigid");
    check_tells(joint_mistake("kind = \"ball\"\na = \"a\"\nstiffness = 3\n"),
                "a ball joint has no 'stiffness'");
    check_tells(joint_mistake("kind = \"slider\"\na = \"a\"\naxis = [0, 0, 0]\n"), "no direction");
    check_tells(joint_mistake("kind = \"slider\"\na = \"a\"\naxis = [0, 1, 0]\nlimits = [1, 2]\n"),
                "starts at 0");
    check_tells(joint_mistake("kind = \"hinge\"\na = \"a\"\naxis = [0, 1, 0]\nmotor_speed = 2\n"),
                "motor_torque");
    check_tells(joint_mistake("kind = \"spring\"\na = \"a\"\nstiffness = 2\n"), "a spring needs 'to'");
}

TEST_CASE("the duck's mesh, its distance and its own voxels agree") {
    const SolidShape duck = solid_duck(2, 0.02);
    CHECK(boundary_edge_count(duck.mesh) == 0);
    const Box box = bounds(duck.mesh);
    CHECK(box.high.x - box.low.x == near(2).relative(1e-12));
    const VolumeMoments exact = enclosed_moments(duck.mesh);
    const double h = 0.02;
    double volume = 0;
    Vec3 sum;
    const Vec3 extent = box.high - box.low;
    for (int i = 0; i * h < extent.x; ++i)
        for (int j = 0; j * h < extent.y; ++j)
            for (int k = 0; k * h < extent.z; ++k) {
                const Vec3 middle = box.low + h * Vec3{i + 0.5, j + 0.5, k + 0.5};
                if (duck.distance->distance(middle) < 0) volume += h * h * h, sum += middle * (h * h * h);
            }
    CHECK(volume == near(exact.volume).relative(1e-3));
    CHECK(length(sum / volume - exact.center) < 0.002);
    CHECK(std::abs(exact.center.z) < 1e-6);  // the same left and right
    CHECK(duck.pieces.size() == 4);
}

TEST_CASE("the boat is a closed shell, open above, and its panels fill it") {
    const double wall = 0.02;
    const SolidShape boat = solid_boat(1, 0.3, 0.5, wall, 0.02);
    CHECK(boundary_edge_count(boat.mesh) == 0);
    CHECK(mesh_defect(boat.mesh).empty());
    const Box box = bounds(boat.mesh);
    CHECK(length(box.low - Vec3{-0.5, -0.15, -0.25}) < 1e-9);
    CHECK(length(box.high - Vec3{0.5, 0.15, 0.25}) < 1e-9);
    const double volume = enclosed_volume(boat.mesh);
    CHECK(volume == near(0.5 * wall * surface_area(boat.mesh)).relative(0.02));
    CHECK(boat.distance->distance({0, 0.1, 0}) > 0.1);  // nothing is inside
    CHECK(boat.distance->distance({0, -0.15 + wall / 2, 0}) == near(-wall / 2).relative(4e-4));
    // Contact: every panel's corners lie on the shell.
    for (const ConvexPiece& piece : boat.pieces)
        for (const Vec3& corner : piece.points) CHECK(std::abs(boat.distance->distance(corner)) < 1e-3);
}

TEST_CASE("a gear's distance fits its mesh") {
    for (const bool flat : {false, true}) {
        const SolidShape gear = flat ? solid_flat_gear(0.5, 0.3, 9) : solid_gear(0.5, 0.3, 9);
        CHECK(boundary_edge_count(gear.mesh) == 0);
        const double volume = enclosed_volume(gear.mesh);
        CHECK(volume > 0.6 * pi / 4 * 0.3);
        CHECK(volume < pi / 4 * 0.3);
        for (const Vec3& v : gear.mesh.vertices) {
            const Vec3 in_plane = flat ? Vec3{v.x, v.y, 0} : Vec3{v.x, 0, v.z};
            if (length(in_plane) > 0) CHECK(std::abs(gear.distance->distance(v)) < 1e-12);
        }
        const Vec3 axis = flat ? Vec3{0, 0, 1} : Vec3{0, 1, 0};
        CHECK(gear.distance->distance(0.01 * axis) < -0.1);
        CHECK(gear.distance->distance(Vec3{0.6, 0, 0}) ==
              near(0.6 - 0.5 * std::cos(2 * pi / 9 * 0.16)).relative(1e-12));
        if (!flat) CHECK(gear.distance->distance(axis) == near(0.85).relative(1e-12));
        // What is deeper than a thousandth: a skin of that thickness is missing.
        const double skin =
            1e-3 * (flat ? surface_area(gear.mesh) - 2 * volume / 0.3 : surface_area(gear.mesh));
        const VolumeMoments moments = moments_deeper_than(*gear.distance, 1e-3);
        CHECK(moments.volume == near(volume - skin).relative(2e-4));
        CHECK(gear.pieces.size() == 10);
    }
}

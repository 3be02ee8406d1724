// Pictures: what they look like, compared with stored ones, and that they do not depend on threads.
//
// After a deliberate change of the look: FLOTSAM_WRITE_REFERENCES=1 ./flotsam test -R render_test, then look
// at every picture in tests/reference/ before committing it.
#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>

#include "core/parallel.h"
#include "io/atomic_file.h"
#include "render/camera.h"
#include "render/color_map.h"
#include "render/plane_view.h"
#include "render/png.h"
#include "render/stage.h"
#include "render/tracer.h"
#include "scene/scene.h"
#include "tests/near.h"
#include "tests/places.h"

using namespace flotsam;

namespace {

const std::atomic<bool> never{false};
constexpr int width = 192, height = 108;

constexpr const char* pool_text = R"([scene]
title = "Pool"
duration = 1.0
[domain]
size = [1.0, 0.5, 0.6]
resolution = 40
walls = { top = "open" }
[[liquid.fill]]
level = 0.2
[[solid]]
name = "ball"
shape = { sphere = 0.12 }
position = [0.35, 0.22, 0.3]
color = [0.9, 0.35, 0.2]
)";

enum class Liquid { none, calm, wavy };

// A level with, if wavy, waves and a drop above it, as the exporter would write it.
SurfaceMesh surface(const Domain& domain, Liquid kind) {
    if (kind == Liquid::none) return {};
    std::vector<Int3> tiles;
    for (int k = 0; k <= domain.cells.z / 8; ++k)
        for (int j = 0; j <= domain.cells.y / 8; ++j)
            for (int i = 0; i <= domain.cells.x / 8; ++i) tiles.push_back({i, j, k});
    Field<double> phi(std::make_shared<Tiling>(domain.cells, tiles), 1.0);
    const double wave = kind == Liquid::wavy ? 0.02 : 0;
    for_each_cell(phi.tiling(), domain.cells, [&](Int3 c, std::int64_t n) {
        const Vec3 p = domain.cell_center(c);
        const double level = p.y - 0.2 - wave * std::cos(12 * p.x + 5 * p.z);
        const double drop = length(p - Vec3{0.75, 0.36, 0.3}) - 0.06;
        phi[n] = kind == Liquid::wavy ? std::min(level, drop) : level;
    });
    return extract_surface(phi, domain.h);
}

struct Mutation {
    bool solids = true;
    Vec3 light{-0.45, 1.0, 0.35};
    Vec3 liquid_color{0.25, 0.66, 0.80};
};
Picture pool(Liquid kind, const Mutation& mutation = {}) {
    Scene scene = parse_scene(pool_text, "pool.toml");
    scene.view.light = mutation.light;
    scene.view.liquid_color = mutation.liquid_color;
    if (!mutation.solids) scene.scenario.solids.clear();
    const Camera camera(scene.view, {{}, scene.scenario.domain.size()}, width, height);
    Stage stage;
    set_stage(stage, scene, 0);
    add_liquid(stage, scene, surface(scene.scenario.domain, kind), {{0.2f, 0.4f, 0.3f}});
    raise_curtain(stage);
    Image image = photograph(stage, camera, width, height, draft_quality, never);
    expose(image);
    return develop(image);
}

// What two runs of the same picture may differ by: rounding on another processor moves single rays.
constexpr double mean_tolerance = 0.004, worst_tolerance = 0.02;

bool looks_like(const Picture& picture, const Picture& reference) {
    const PictureDifference d = difference(picture, reference);
    CAPTURE(d.mean);
    CAPTURE(d.worst);
    return d.mean < mean_tolerance && d.worst < worst_tolerance;
}

Picture reference(const std::string& name, const Picture& picture) {
    const std::string file = source_folder() + "/tests/reference/" + name + ".png";
    if (std::getenv("FLOTSAM_WRITE_REFERENCES")) write_file(file, encode_png(picture));
    return decode_png(read_file(file), file);
}

}  // namespace

TEST_CASE("rendered pools look as they did, and not when something is missing") {
    const Picture calm = pool(Liquid::calm), wavy = pool(Liquid::wavy);
    const Picture calm_reference = reference("pool_calm", calm),
                  wavy_reference = reference("pool_wavy", wavy);
    CHECK(looks_like(calm, calm_reference));
    CHECK(looks_like(wavy, wavy_reference));

    // The comparison must see each of these.
    CHECK_FALSE(looks_like(pool(Liquid::none), calm_reference));
    CHECK_FALSE(looks_like(wavy, calm_reference));
    CHECK_FALSE(looks_like(calm, wavy_reference));
    CHECK_FALSE(looks_like(pool(Liquid::calm, {.solids = false}), calm_reference));
    CHECK_FALSE(looks_like(pool(Liquid::calm, {.light = {0.6, 0.4, 0.1}}), calm_reference));
    CHECK_FALSE(looks_like(pool(Liquid::calm, {.liquid_color = {1, 1, 1}}), calm_reference));
}

TEST_CASE("the same picture on any number of threads") {
    set_thread_count(1);
    const Picture one = pool(Liquid::wavy);
    for (const int threads : {2, 7}) {
        set_thread_count(threads);
        CHECK(pool(Liquid::wavy).bytes == one.bytes);
    }
    set_thread_count(0);
}

TEST_CASE("the horizon is level and the tank fills the picture") {
    const ViewSettings view;
    for (const Box box : {Box{{}, {1, 0.6, 0.6}}, Box{{}, {0.2, 3, 0.2}}, Box{{}, {10, 1, 40}}}) {
        const Camera camera(view, box, 640, 360);
        // Rays along a row of the picture have the same slope against the camera's middle column.
        const Ray left = camera.ray(0, 180), right = camera.ray(640, 180);
        CHECK(left.direction.y == near(right.direction.y).relative(1e-6));
        // Every corner is inside the picture, and some corner is near its edge.
        double nearest = 1;
        for (int n = 0; n < 8; ++n) {
            const Vec3 corner{n & 1 ? box.high.x : 0, n & 2 ? box.high.y : 0, n & 4 ? box.high.z : 0};
            const Vec3f way = Vec3f(corner - camera.position());
            double best = 10;
            for (int x = 0; x <= 640; x += 2)
                for (int y = 0; y <= 360; y += 2)
                    best = std::min(best, double(length(way / length(way) - camera.ray(x, y).direction)));
            CHECK(best < 2 * camera.pixel_angle());
            for (int x = 0; x <= 640; ++x)
                for (const int y : {15, 345})
                    nearest =
                        std::min(nearest, double(length(way / length(way) - camera.ray(x, y).direction)));
            for (int y = 0; y <= 360; ++y)
                for (const int x : {25, 615})
                    nearest =
                        std::min(nearest, double(length(way / length(way) - camera.ray(x, y).direction)));
        }
        CHECK(nearest < 6 * camera.pixel_angle());
    }
}

TEST_CASE("a stop leaves the picture unfinished at once") {
    const std::atomic<bool> stop{true};
    Scene scene = parse_scene(pool_text, "pool.toml");
    Stage stage;
    set_stage(stage, scene, 0);
    raise_curtain(stage);
    const Camera camera(scene.view, {{}, scene.scenario.domain.size()}, 64, 64);
    const Image image = photograph(stage, camera, 64, 64, draft_quality, stop);
    CHECK(brightness(image.at(32, 32)) == 0);
}

TEST_CASE("light: none is made at a surface, and all of it is mirrored beyond the critical angle") {
    CHECK(fresnel(1, 1 / 1.333f) == near(std::pow(0.333 / 2.333, 2)).relative(1e-5));
    CHECK(fresnel(1, 1.333f) == near(std::pow(0.333 / 2.333, 2)).relative(1e-5));
    CHECK(fresnel(0.5f, 1.333f) == 1);
    CHECK(fresnel(0.001f, 1 / 1.333f) > 0.98f);
}

TEST_CASE("a box keeps its edges, a ball loses its facets") {
    const auto smoothed = [](const SolidShape& shape) {
        std::vector<Vec3f> vertices(shape.mesh.vertices.begin(), shape.mesh.vertices.end());
        Triangles triangles;
        for (const Int3& t : shape.mesh.triangles) triangles.push_back({t.x, t.y, t.z});
        return smooth(std::move(vertices), std::move(triangles), 35);
    };
    const SmoothMesh box = smoothed(solid_box({1, 2, 3})), ball = smoothed(solid_sphere(1, 0.2));
    for (const auto& corners : box.normals)
        for (const Vec3f& n : corners)
            CHECK(std::max({std::abs(n.x), std::abs(n.y), std::abs(n.z)}) > 0.9999f);
    for (std::size_t t = 0; t < ball.triangles.size(); ++t)
        for (int corner = 0; corner < 3; ++corner) {
            const Vec3f v = ball.vertices[ball.triangles[t][corner]];
            CHECK(dot(ball.normals[t][corner], v / length(v)) > 0.99f);
        }
}

TEST_CASE("PNG: what is written reads back; damage is told") {
    Picture picture{7, 5, {}};
    for (int n = 0; n < 7 * 5 * 3; ++n) picture.bytes.push_back(std::uint8_t(n * n * 31));
    const std::string file = encode_png(picture, "a note");
    const Picture again = decode_png(file, "a.png");
    CHECK(again.width == 7);
    CHECK(again.bytes == picture.bytes);
    CHECK(note_in_png(file) == "a note");
    CHECK(note_in_png(encode_png(picture)).empty());
    for (std::size_t cut = 0; cut < file.size(); cut += 7) {
        CHECK_THROWS_AS(decode_png(file.substr(0, cut), "a.png"), IoError);
        CHECK(note_in_png(file.substr(0, cut)).empty());
    }
    for (std::size_t at = 0; at < file.size(); ++at) {
        std::string altered = file;
        altered[at] = char(altered[at] ^ 0x10);
        CHECK_THROWS_AS(decode_png(altered, "a.png"), IoError);
    }
}

TEST_CASE("legends: round limits, readable letters, colours in order") {
    CHECK(round_up(0.93) == near(1).relative(1e-12));
    CHECK(round_up(1.2) == near(1.5).relative(1e-12));
    CHECK(round_up(2600) == near(3000).relative(1e-12));
    CHECK(round_up(0) == 1);
    Image image(320, 180, {1, 1, 1});
    draw_text(image, 10, 10, "speed [m/s] 0.5", {0, 0, 0}, 2);
    int dark = 0;
    for (const Color& c : image.pixels) dark += c.x == 0;
    CHECK(dark > 300);
    CHECK(text_width("speed", 2) == 2 * text_width("speed", 1));
    double before = -1;
    for (int tenths = 0; tenths <= 10; ++tenths) {
        const double now = brightness(color_at(ColorMap::rising, 0.1 * tenths));
        CHECK(now > before);
        before = now;
    }
    CHECK(color_at(ColorMap::diverging, 0).z > color_at(ColorMap::diverging, 0).x);
    CHECK(color_at(ColorMap::diverging, 1).x > color_at(ColorMap::diverging, 1).z);
}

TEST_CASE("PNG: what another program wrote, with every kind of filter, is read as it was meant") {
    // 4 x 5 pixels, one row for each filter, from Python's zlib and the text of the standard.
    const std::string_view hex =
        "89504e470d0a1a0a0000000d4948445200000004000000050802000000edcfda8c000000464944415478da6360483c64"
        "3bef7fd56d9bed12958caa6dcfbdbcbc525252eaeaea985455558d8c8c22232367cd9ac5ec55aded7dda9badadedacef"
        "591688cccd486e4747470027e517246ca9dee00000000049454e44ae426082";
    std::string file;
    for (std::size_t n = 0; n < hex.size(); n += 2)
        file += char(std::stoi(std::string(hex.substr(n, 2)), nullptr, 16));
    const Picture picture = decode_png(file, "other.png");
    REQUIRE(picture.width == 4);
    REQUIRE(picture.height == 5);
    for (int y = 0; y < 5; ++y)
        for (int x = 0; x < 4; ++x)
            for (int c = 0; c < 3; ++c)
                CHECK(picture.bytes[3 * (4 * y + x) + c] ==
                      (61 * x + 37 * y + 97 * c + 13 * x * x * y) % 256);
}

TEST_CASE("a slice shows the vorticity: twice the spin of what turns, nothing of what is only stretched") {
    const Scene scene = parse_scene(
        "[scene]\nduration = 1.0\n[domain]\nsize = [1.0, 1.0, 1.0]\nresolution = 16\n"
        "[[liquid.fill]]\nlevel = 0.5\n",
        "test.toml");
    const Domain& domain = scene.scenario.domain;
    std::vector<Int3> tiles(27);
    for (int t = 0; t < 27; ++t) tiles[t] = {t % 3, t / 3 % 3, t / 9};
    const auto tiling = std::make_shared<Tiling>(domain.cells, tiles);
    const auto middle_of = [&](auto velocity) {
        VolumeFrame volume{Field<double>(tiling, -1), {}, {}};
        for_each_cell(*tiling, domain.cells, [&](Int3, std::int64_t n) { volume.distance[n] = -1; });
        for (int axis = 0; axis < 3; ++axis) {
            volume.velocity[axis] = Field<double>(tiling, 0);
            for_each_cell(*tiling, domain.cells + unit(axis), [&](Int3 c, std::int64_t n) {
                volume.velocity[axis][n] = velocity(domain.face_center(c, axis))[axis];
            });
        }
        const Image image = draw_plane(scene, volume, 0, {SliceField::vorticity, 2, 0.5, 10.0}, 96, 96);
        return image.at(48, 28);  // above the legend
    };
    const auto color_of = [](double vorticity) {
        return color_at(ColorMap::diverging, 0.5 + vorticity / 20);
    };
    CHECK(length(middle_of([](Vec3 p) { return Vec3{-3 * p.y, 3 * p.x, 0}; }) - color_of(6)) < 1e-3f);
    CHECK(length(middle_of([](Vec3 p) { return Vec3{-4 * p.y, 0, 0}; }) - color_of(4)) < 1e-3f);
    CHECK(length(middle_of([](Vec3 p) { return Vec3{3 * p.y, 3 * p.x, 0}; }) - color_of(0)) < 1e-3f);
}

TEST_CASE("pixels are square, whatever the picture's shape") {
    for (const auto& size : {std::pair{640, 360}, {200, 600}, {300, 300}}) {
        const int w = size.first, h = size.second;
        const Camera camera(ViewSettings{}, {{}, {1, 0.6, 0.6}}, w, h);
        const auto ray = [&](double x, double y) {
            return Vec3(camera.ray(w / 2.0 + x, h / 2.0 + y).direction);
        };
        const double across = length(ray(5, 0) - ray(-5, 0)), down = length(ray(0, 5) - ray(0, -5));
        CHECK(std::abs(across / down - 1) < 1e-3);
        CHECK(std::abs(down / (10 * camera.pixel_angle()) - 1) < 1e-2);
        // The field of view is that of the picture's height.
        const Vec3 top = ray(0, -h / 2.0), bottom = ray(0, h / 2.0);
        CHECK(std::abs(std::acos(dot(top, bottom)) * 180 / 3.14159265 - ViewSettings{}.field_of_view) < 0.1);
    }
}

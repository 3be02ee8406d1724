#include "geometry/surface_nets.h"
#include "near.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <set>

using namespace flotsam;

namespace {

// Samples distance(p) in every tile that comes within `band` of the inside.
template <class Distance>
Field<double> sample(Int3 cells, double h, const Distance& distance, double band) {
    std::vector<Int3> tiles;
    for (int k = 0; k * 8 < cells.z; ++k)
        for (int j = 0; j * 8 < cells.y; ++j)
            for (int i = 0; i * 8 < cells.x; ++i) {
                const Vec3 center = Vec3(Int3{i, j, k} * 8 + Int3{4, 4, 4}) * h;
                if (distance(center) < band + 4 * std::sqrt(3.0) * h) tiles.push_back({i, j, k});
            }
    Field<double> phi(std::make_shared<Tiling>(cells, tiles), 3 * h);
    for_each_cell(phi.tiling(), cells, [&](Int3 c, std::int64_t n) {
        phi[n] = distance((Vec3(c) + Vec3{0.5, 0.5, 0.5}) * h);
    });
    return phi;
}

auto sphere(Vec3 center, double radius) {
    return [=](Vec3 p) { return length(p - center) - radius; };
}

// How many edges are not shared by exactly two triangles that run through it in opposite directions.
int open_edges(const SurfaceMesh& mesh) {
    std::map<std::pair<int, int>, int> balance, uses;
    for (const auto& t : mesh.triangles)
        for (int e = 0; e < 3; ++e) {
            const int a = t[e], b = t[(e + 1) % 3];
            const auto key = std::minmax(a, b);
            balance[key] += a < b ? 1 : -1;
            ++uses[key];
        }
    int open = 0;
    for (const auto& [edge, count] : uses) open += count != 2 || balance[edge] != 0;
    return open;
}

int euler_characteristic(const SurfaceMesh& mesh) {
    std::set<std::pair<int, int>> edges;
    for (const auto& t : mesh.triangles)
        for (int e = 0; e < 3; ++e) edges.insert(std::minmax(t[e], t[(e + 1) % 3]));
    return int(mesh.vertices.size()) - int(edges.size()) + int(mesh.triangles.size());
}

Box bounds(const SurfaceMesh& mesh) {
    Box box{Vec3(mesh.vertices.front()), Vec3(mesh.vertices.front())};
    for (const Vec3f v : mesh.vertices) box = {min(box.low, Vec3(v)), max(box.high, Vec3(v))};
    return box;
}

}  // namespace

TEST_CASE("a sphere is closed, of one piece, and its volume converges at second order") {
    const double radius = 0.31;
    const double exact = 4.0 / 3 * std::numbers::pi * radius * radius * radius;
    double previous = 0;
    for (const int n : {16, 32, 64}) {
        const double h = 1.0 / n;
        const SurfaceMesh mesh =
            extract_surface(sample({n, n, n}, h, sphere({0.5, 0.48, 0.51}, radius), 2 * h), h);
        CHECK(open_edges(mesh) == 0);
        CHECK(euler_characteristic(mesh) == 2);
        const double error = std::abs(enclosed_volume(mesh) / exact - 1);
        CAPTURE(n);
        CAPTURE(error);
        CHECK(error < 2.0 * h * h / (radius * radius));
        if (previous > 0) CHECK(previous / error > 3.5);
        previous = error;
    }
}

TEST_CASE("a torus has one hole") {
    const auto torus = [](Vec3 p) {
        const double ring = std::hypot(p.x - 0.5, p.z - 0.5) - 0.3;
        return std::hypot(ring, p.y - 0.5) - 0.1;
    };
    double previous = 0;
    for (const int n : {40, 80}) {
        const double h = 1.0 / n;
        const SurfaceMesh mesh = extract_surface(sample({n, n, n}, h, torus, 2 * h), h);
        CHECK(open_edges(mesh) == 0);
        CHECK(euler_characteristic(mesh) == 0);
        const double error =
            std::abs(enclosed_volume(mesh) / (2 * std::numbers::pi * std::numbers::pi * 0.3 * 0.01) - 1);
        CAPTURE(n);
        CAPTURE(error);
        CHECK(error < 0.5 * h * h / 0.01);
        if (previous > 0) CHECK(previous / error > 3.5);
        previous = error;
    }
}

TEST_CASE("still liquid in a box closes exactly on the walls, at every height against the grid") {
    const double h = 0.05;
    for (const double level : {0.2, 0.3374, 0.374999, 0.4}) {
        const Int3 cells{13, 16, 8};  // x ends inside a tile, y and z at the end of one
        const SurfaceMesh mesh = extract_surface(sample(
                                                     cells, h, [=](Vec3 p) { return p.y - level; }, 2 * h),
                                                 h);
        CAPTURE(level);
        CHECK(open_edges(mesh) == 0);
        CHECK(euler_characteristic(mesh) == 2);
        const Box box = bounds(mesh);
        CHECK(box.low == Vec3{0, 0, 0});
        CHECK(box.high.x == double(float(13 * h)));
        CHECK(box.high.z == double(float(8 * h)));
        CHECK(box.high.y == near(level).relative(1e-6));
        CHECK(enclosed_volume(mesh) == near(13 * 8 * h * h * level).relative(1e-6));
    }
}

TEST_CASE("a full domain is its own box") {
    const SurfaceMesh mesh = extract_surface(sample(
                                                 {8, 9, 7}, 0.5, [](Vec3) { return -1.0; }, 1),
                                             0.5);
    CHECK(open_edges(mesh) == 0);
    CHECK(enclosed_volume(mesh) == near(8 * 9 * 7 / 8.0).relative(1e-12));
}

TEST_CASE("a slab one cell thick gives a thin closed slab") {
    const double h = 1.0 / 50;
    const auto disc = [](Vec3 p) {
        return std::hypot(p.x - 0.2, p.y - 0.45) - 0.3;
    };  // cut by the wall x = 0
    const SurfaceMesh mesh = extract_surface(sample({50, 50, 1}, h, disc, 2 * h), h);
    CHECK(open_edges(mesh) == 0);
    CHECK(euler_characteristic(mesh) == 2);
    const Box box = bounds(mesh);
    CHECK(box.low.x == 0);
    CHECK(box.low.z == 0);
    CHECK(box.high.z == double(float(h)));
    const double angle = std::acos(0.2 / 0.3);
    const double area = 0.09 * (std::numbers::pi - angle) + 0.2 * 0.3 * std::sin(angle);
    CHECK(enclosed_volume(mesh) == near(area * h).relative(2e-3));
}

TEST_CASE("no liquid, no surface; a single cell of it is a closed box") {
    const Int3 cells{20, 20, 20};
    Field<double> phi(std::make_shared<Tiling>(cells, std::vector<Int3>{{0, 0, 0}, {1, 0, 0}}), 1.0);
    CHECK(extract_surface(phi, 1).triangles.empty());
    CHECK(extract_surface(Field<double>{}, 1).triangles.empty());
    phi.at({15, 7, 7}) = -1;  // at the corner of three tiles that do not exist
    const SurfaceMesh mesh = extract_surface(phi, 1);
    CHECK(mesh.vertices.size() == 8);
    CHECK(mesh.triangles.size() == 12);
    CHECK(open_edges(mesh) == 0);
    CHECK(enclosed_volume(mesh) > 0);
}

TEST_CASE("two cells that touch along an edge stay closed") {
    Field<double> phi(std::make_shared<Tiling>(Int3{8, 8, 8}, std::vector<Int3>{{0, 0, 0}}), 1.0);
    phi.at({3, 3, 3}) = phi.at({4, 4, 3}) = -1;
    const SurfaceMesh mesh = extract_surface(phi, 1);
    std::map<std::pair<int, int>, int> balance;
    for (const auto& t : mesh.triangles)
        for (int e = 0; e < 3; ++e)
            balance[std::minmax(t[e], t[(e + 1) % 3])] += t[e] < t[(e + 1) % 3] ? 1 : -1;
    for (const auto& [edge, sum] : balance) CHECK(sum == 0);
}

TEST_CASE("the same bits in the same order on 1, 2 and 7 threads") {
    const double h = 1.0 / 48;
    const auto wavy = [](Vec3 p) { return p.y - 0.5 - 0.1 * std::sin(9 * p.x) * std::cos(7 * p.z); };
    const Field<double> phi = sample({48, 48, 48}, h, wavy, 2 * h);
    set_thread_count(1);
    const SurfaceMesh one = extract_surface(phi, h);
    for (const int threads : {2, 7}) {
        set_thread_count(threads);
        const SurfaceMesh other = extract_surface(phi, h);
        CHECK(other.vertices == one.vertices);
        CHECK(other.triangles == one.triangles);
        CHECK(enclosed_volume(other) == enclosed_volume(one));
    }
    set_thread_count(0);
    CHECK(open_edges(one) == 0);
}

#include "geometry/cut_cells.h"

#include <doctest/doctest.h>

#include <numbers>
#include <string>

#include "core/rotation.h"
#include "geometry/mass_properties.h"
#include "geometry/solid_shape.h"
#include "near.h"

using namespace flotsam;

namespace {

TriangleMesh placed(TriangleMesh mesh, const Pose& pose) {
    for (Vec3& v : mesh.vertices) v = pose.to_world(v);
    return mesh;
}

constexpr double h = 0.05;
const Int3 grid{20, 20, 20};

std::vector<std::pair<const char*, SolidShape>> shapes() {
    return {{"box", solid_box({0.31, 0.22, 0.43})},     {"sphere", solid_sphere(0.23, 0.02)},
            {"capsule", solid_capsule(0.1, 0.3, 0.02)}, {"cylinder", solid_cylinder(0.17, 0.4, 0.02)},
            {"cone", solid_cone(0.2, 0.4, 0.02)},       {"torus", solid_torus(0.2, 0.07, 0.02)},
            {"plate", solid_box({0.5, 0.3 * h, 0.5})}};
}

}  // namespace

TEST_CASE(
    "meshes of shapes are closed, face outwards and have the exact volume; their vertices lie on the "
    "surface") {
    for (const auto& [word, shape] : shapes()) {
        const std::string name = word;
        CAPTURE(name);
        CHECK(boundary_edge_count(shape.mesh) == 0);
        CHECK(enclosed_volume(shape.mesh) > 0);
        for (const Vec3 v : shape.mesh.vertices) CHECK(std::abs(shape.distance->distance(v)) < 0.003);
    }
    CHECK(enclosed_volume(solid_sphere(0.23, 0.02).mesh) ==
          near(4.0 / 3 * std::numbers::pi * std::pow(0.23, 3)).relative(1e-12));
    CHECK(enclosed_volume(solid_cone(0.2, 0.4, 0.02).mesh) ==
          near(std::numbers::pi * 0.04 * 0.4 / 3).relative(1e-12));
}

TEST_CASE("cut volumes add up to the solid's volume, patches close every cell, whatever the pose") {
    for (const auto& [word, shape] : shapes())
        for (int pose_number = 0; pose_number < 6; ++pose_number) {
            const std::string name = word;
            CAPTURE(name);
            CAPTURE(pose_number);
            Pose pose{{0.5, 0.5, 0.5}, {}};  // the first one puts corners and faces exactly on grid planes
            if (pose_number > 0) {
                pose.position = {0.5 + 0.013 * pose_number, 0.49, 0.51 - 0.007 * pose_number};
                pose.rotation = Rotation::about({1.0, 0.3 * pose_number, -0.5}, 0.7 * pose_number);
            }
            const TriangleMesh mesh = placed(shape.mesh, pose);
            const CutSolid cut = cut_solid(mesh, grid, h);
            double volume = 0;
            for (int k = 0; k < grid.z; ++k)
                for (int j = 0; j < grid.y; ++j)
                    for (int i = 0; i < grid.x; ++i) volume += cut.cell_cover({i, j, k}) * h * h * h;
            CHECK(volume == near(enclosed_volume(mesh)).relative(1e-12));
            // In every cell the covered faces and the patch form a closed surface around the solid's part.
            double worst = 0, moment = 0;
            for (const Patch& patch : cut.patches)
                for (int axis = 0; axis < 3; ++axis) {
                    const double faces =
                        cut.face_cover(axis, patch.cell + unit(axis)) - cut.face_cover(axis, patch.cell);
                    worst = std::max(worst, std::abs(faces + patch.area[axis] / (h * h)));
                }
            for (const Patch& patch : cut.patches) moment += patch.moment[0][1].y + patch.moment[1][1].y;
            // A vertex on a plane counts as above it: parts of zero thickness may be missing, never more.
            CHECK(worst < (pose_number == 0 ? 1 + 1e-9 : 1e-10));
            CHECK(moment == near(enclosed_volume(mesh)).relative(1e-12));  // Gauss: the integral of y n_y
            // Gauss again: the integral of x_d (x cross n) is volume x (centre cross the d-th axis).
            const VolumeMoments exact = enclosed_moments(mesh);
            for (int d = 0; d < 3; ++d) {
                Vec3 turning = cross(exact.center, Vec3(unit(d))) * -exact.volume;
                for (const Patch& patch : cut.patches) turning += patch.turning[d];
                CHECK(length(turning) < 1e-12);
            }
        }
}

TEST_CASE("a solid that sticks out of the grid is cut off at its sides") {
    const TriangleMesh mesh = placed(solid_box({0.4, 3.0, 0.4}).mesh, {{0.513, 0.5, 1.0}, {}});
    const CutSolid cut = cut_solid(mesh, grid, h);
    double volume = 0;
    for (int k = 0; k < grid.z; ++k)
        for (int j = 0; j < grid.y; ++j)
            for (int i = 0; i < grid.x; ++i) volume += cut.cell_cover({i, j, k}) * h * h * h;
    CHECK(volume == near(0.4 * 1.0 * 0.2).relative(1e-12));
    CHECK(cut.face_cover(1, {10, 0, 19}) == near(1).relative(1e-12));
    CHECK(cut.face_cover(1, {10, 20, 19}) == near(1).relative(1e-12));
    CHECK(cut_solid(placed(mesh, {{5, 5, 5}, {}}), grid, h).cell_cover({10, 10, 10}) == 0);
}

TEST_CASE(
    "faces covered by the distance at their corners: exact beside planes, second order beside a sphere") {
    const SolidShape box = solid_box({3, 0.8, 3});
    const Pose tilted{{0.5, 0.2, 0.5}, Rotation::about({1, 0.4, 2}, 0.35)};
    const TriangleMesh mesh = placed(box.mesh, tilted);
    const CutSolid exact = cut_solid(mesh, grid, h);
    CutSolid rough = exact;
    cover_by_distance(rough, h, [&](Vec3 p) { return box.distance->distance(tilted.to_body(p)); });
    int cut = 0;
    for (int axis = 0; axis < 3; ++axis)
        for (int k = 4; k < grid.z - 4; ++k)
            for (int j = 0; j < grid.y; ++j)
                for (int i = 4; i < grid.x - 4; ++i) {
                    // Near its upper face alone; the lower one is far below.
                    const double cover = exact.face_cover(axis, {i, j, k});
                    const double rounded = cover < 0.01 ? 0 : cover > 0.99 ? 1 : cover;
                    CHECK(rough.face_cover(axis, {i, j, k}) == near(rounded).absolute(1e-12));
                    cut += rounded > 0 && rounded < 1;
                }
    CHECK(cut > 100);

    double before = 0;
    for (const int n : {10, 20, 40}) {
        const SolidShape ball = solid_sphere(0.3, 0.001);
        const Pose pose{{0.51, 0.48, 0.503}, {}};
        CutSolid fine = cut_solid(placed(ball.mesh, pose), {n, n, n}, 1.0 / n);
        const CutSolid true_faces = fine;
        cover_by_distance(fine, 1.0 / n, [&](Vec3 p) { return ball.distance->distance(pose.to_body(p)); });
        double worst = 0;
        for (int k = 0; k < n; ++k)
            for (int j = 0; j < n; ++j)
                for (int i = 0; i < n; ++i)
                    worst += std::abs(fine.face_cover(0, {i, j, k}) - true_faces.face_cover(0, {i, j, k}));
        worst /= n * n;  // as a share of the cross-section; faces that are cut grow with n^2
        if (before > 0) CHECK(worst < 0.6 * before);  // a face's error falls with n
        before = worst;
    }
}

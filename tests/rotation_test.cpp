// Rotations: their axis and angle, whatever the angle, and the motion between two poses.
#include "core/rotation.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

using namespace flotsam;

namespace {

constexpr double pi = std::numbers::pi;
const Vec3 axes[] = {{1, 0, 0}, {0, -1, 0}, {0, 0, 1}, {0.6, 0, -0.8}, {-0.48, 0.6, 0.64}, {0.1, -0.2, 0.3}};

}  // namespace

TEST_CASE("a turn by any angle up to half a turn has its axis and angle back") {
    for (const Vec3 axis : axes)
        for (const double angle :
             {1e-9, 1e-3, 0.5, 2.0, 3.0, pi - 1.1e-3, pi - 0.9e-3, pi - 1e-4, pi - 1e-6, pi - 1e-9}) {
            CAPTURE(angle);
            const Vec3 turn = axis * (angle / length(axis));
            CHECK(length(rotation_vector(rotation_by(turn)) - turn) < 1e-9 * std::max(angle, 1e-6));
        }
    // Of half a turn itself both directions are right.
    for (const Vec3 axis : axes) {
        const Vec3 found = rotation_vector(Rotation::about(axis, pi));
        CHECK(std::abs(length(found) - pi) < 1e-9);
        CHECK(length(cross(found, axis)) < 1e-9);
    }
}

TEST_CASE("a quaternion turns as its rotation does") {
    for (const Vec3 axis : axes)
        for (const double angle : {0.3, 2.0, pi - 1e-4}) {
            const Rotation r = Rotation::about(axis, angle);
            const auto [x, y, z, w] = quaternion(r);
            CHECK(w >= 0);
            CHECK(std::abs(x * x + y * y + z * z + w * w - 1) < 1e-12);
            const Vec3 v{0.3, -1.2, 0.7}, q{x, y, z};
            const Vec3 turned = v + 2.0 * cross(q, cross(q, v) + w * v);
            CHECK(length(turned - r * v) < 1e-9);
        }
}

TEST_CASE("the motion between two poses is seen from the world, however the body lies") {
    const Pose from{{1, 2, 3}, Rotation::about({1, 2, -1}, 1.1)};
    const Vec3 spin{0.4, -3, 1};
    const double time = 0.2;
    const Pose to{{1.5, 2, 2.9}, rotation_by(spin * time) * from.rotation};
    const Twist twist = twist_between(from, to, time);
    CHECK(length(twist.velocity - Vec3{2.5, 0, -0.5}) < 1e-12);
    CHECK(length(twist.spin - spin) < 1e-12);
    CHECK(length(rotation_vector(orthonormal(to.rotation) * to.rotation.inverse())) < 1e-12);
}

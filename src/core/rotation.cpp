#include "core/rotation.h"

#include <algorithm>
#include <numbers>

namespace flotsam {

Rotation rotation_by(Vec3 turn) {
    const double angle = length(turn);
    return angle > 0 ? Rotation::about(turn, angle) : Rotation{};
}

Rotation orthonormal(const Rotation& r) {
    // One Newton step towards the polar factor, R (3 - R^T R) / 2: it squares the error and prefers no axis.
    Rotation better;
    for (int i = 0; i < 3; ++i) {
        better.row[i] = 1.5 * r.row[i];
        for (int j = 0; j < 3; ++j) better.row[i] -= 0.5 * dot(r.row[i], r.row[j]) * r.row[j];
    }
    return better;
}

std::array<double, 4> quaternion(const Rotation& r) {
    const Vec3 turn = rotation_vector(r);
    const double angle = length(turn), share = angle > 0 ? std::sin(0.5 * angle) / angle : 0;
    return {turn.x * share, turn.y * share, turn.z * share, std::cos(0.5 * angle)};
}

Vec3 rotation_vector(const Rotation& r) {
    const double cosine = std::clamp(0.5 * (r.row[0].x + r.row[1].y + r.row[2].z - 1), -1.0, 1.0);
    // Twice the sine of the angle, along the axis.
    Vec3 axis{r.row[2].y - r.row[1].z, r.row[0].z - r.row[2].x, r.row[1].x - r.row[0].y};
    const double angle = std::atan2(0.5 * length(axis), cosine);
    if (angle > std::numbers::pi - 1e-3) {
        // Near a half turn this vector vanishes. The symmetric part, cos + (1 - cos) a a^T, holds the axis up
        // to its sign; its largest column is the safest.
        const Vec3 direction = axis;
        int largest = 0;
        for (int i = 1; i < 3; ++i)
            if (r.row[i][i] > r.row[largest][largest]) largest = i;
        for (int i = 0; i < 3; ++i)
            axis[i] = 0.5 * (r.row[i][largest] + r.row[largest][i]) - (i == largest ? cosine : 0);
        if (dot(axis, direction) < 0) axis = -axis;
    }
    const double size = length(axis);
    return size > 0 ? axis * (angle / size) : Vec3{};
}

Twist twist_between(const Pose& from, const Pose& to, double time) {
    return {(to.position - from.position) / time,
            rotation_vector(to.rotation * from.rotation.inverse()) / time};
}

}  // namespace flotsam

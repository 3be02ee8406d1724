// Rotations as orthonormal matrices.
#pragma once

#include <array>

#include "core/vec.h"

namespace flotsam {

struct Rotation {
    std::array<Vec3, 3> row{Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}};

    // Counter-clockwise about `axis` (any length but zero), seen against it (Rodrigues).
    static Rotation about(Vec3 axis, double radians) {
        axis = axis / length(axis);
        const double c = std::cos(radians), s = std::sin(radians);
        Rotation r;
        for (int i = 0; i < 3; ++i) {
            const Vec3 e(unit(i));
            const Vec3 turned = c * e + s * cross(axis, e) + (1 - c) * dot(axis, e) * axis;  // column i
            for (int j = 0; j < 3; ++j) r.row[j][i] = turned[j];
        }
        return r;
    }
    Rotation inverse() const {
        Rotation r;
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) r.row[i][j] = row[j][i];
        return r;
    }
    friend Vec3 operator*(const Rotation& r, Vec3 v) {
        return {dot(r.row[0], v), dot(r.row[1], v), dot(r.row[2], v)};
    }
    friend Rotation operator*(const Rotation& a, const Rotation& b) {
        const Rotation columns = b.inverse();
        Rotation r;
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) r.row[i][j] = dot(a.row[i], columns.row[j]);
        return r;
    }
};

// Rotation about a vector by its length, in radians; the identity for the zero vector.
Rotation rotation_by(Vec3 turn);

// The nearest rotation to one with rounding errors: without this, many products in a row would stretch a
// body.
Rotation orthonormal(const Rotation& rotation);

// The rotation as a unit quaternion x, y, z, w with w >= 0, as animation formats need it.
std::array<double, 4> quaternion(const Rotation& rotation);

// The axis of a rotation times its angle, which is at most pi.
Vec3 rotation_vector(const Rotation& rotation);

// A rigid transformation from body coordinates to world coordinates.
struct Pose {
    Vec3 position;
    Rotation rotation;
    Vec3 to_world(Vec3 p) const { return rotation * p + position; }
    Vec3 to_body(Vec3 p) const { return rotation.inverse() * (p - position); }
};

// The velocity of a rigid body at one time.
struct Twist {
    Vec3 velocity;  // of the body's position [m/s]
    Vec3 spin;      // about it [rad/s]
    Vec3 at(Vec3 arm) const { return velocity + cross(spin, arm); }
};

// The steady motion that carries a body from one pose to the other in `time` [s].
Twist twist_between(const Pose& from, const Pose& to, double time);

}  // namespace flotsam

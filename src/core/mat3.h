// Three by three matrices, for inertia and the like.
#pragma once

#include <array>

#include "core/rotation.h"
#include "core/vec.h"

namespace flotsam {

struct Mat3 {
    std::array<Vec3, 3> row{};

    static Mat3 diagonal(Vec3 d) { return {{Vec3{d.x, 0, 0}, Vec3{0, d.y, 0}, Vec3{0, 0, d.z}}}; }
    static Mat3 outer(Vec3 a, Vec3 b) { return {{a.x * b, a.y * b, a.z * b}}; }

    double trace() const { return row[0].x + row[1].y + row[2].z; }
    Mat3 transposed() const {
        Mat3 t;
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) t.row[i][j] = row[j][i];
        return t;
    }
    // Zero for a matrix without an inverse.
    Mat3 inverse() const {
        // The columns of the inverse are cross products of the rows.
        const Vec3 a = cross(row[1], row[2]), b = cross(row[2], row[0]), c = cross(row[0], row[1]);
        const double determinant = dot(row[0], a);
        if (determinant == 0) return {};
        return Mat3{{a / determinant, b / determinant, c / determinant}}.transposed();
    }

    friend Vec3 operator*(const Mat3& m, Vec3 v) {
        return {dot(m.row[0], v), dot(m.row[1], v), dot(m.row[2], v)};
    }
    friend Mat3 operator*(const Mat3& m, double s) { return {{m.row[0] * s, m.row[1] * s, m.row[2] * s}}; }
    friend Mat3 operator+(const Mat3& a, const Mat3& b) {
        return {{a.row[0] + b.row[0], a.row[1] + b.row[1], a.row[2] + b.row[2]}};
    }
    friend Mat3 operator-(const Mat3& a, const Mat3& b) { return a + b * -1.0; }
    friend Mat3 operator*(const Mat3& a, const Mat3& b) {
        const Mat3 columns = b.transposed();
        Mat3 product;
        for (int i = 0; i < 3; ++i) product.row[i] = columns * a.row[i];
        return product;
    }
};

// Transforms a tensor from a body's axes to world axes.
inline Mat3 turned(const Mat3& tensor, const Rotation& r) {
    const Mat3 turn{r.row};
    return turn * tensor * turn.transposed();
}

}  // namespace flotsam

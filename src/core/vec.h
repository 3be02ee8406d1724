// Vectors of three numbers: the only vector type of the project's interfaces.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace flotsam {

template <class T>
struct Vec {
    T x{}, y{}, z{};

    Vec() = default;
    constexpr Vec(T x_, T y_, T z_) : x(x_), y(y_), z(z_) {}
    template <class S>
    explicit constexpr Vec(const Vec<S>& o)
        : x(static_cast<T>(o.x)), y(static_cast<T>(o.y)), z(static_cast<T>(o.z)) {}

    T& operator[](int axis) { return axis == 0 ? x : axis == 1 ? y : z; }
    const T& operator[](int axis) const { return axis == 0 ? x : axis == 1 ? y : z; }

    friend constexpr Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
    friend constexpr Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
    friend constexpr Vec operator-(Vec a) { return {-a.x, -a.y, -a.z}; }
    friend constexpr Vec operator*(Vec a, T s) { return {a.x * s, a.y * s, a.z * s}; }
    friend constexpr Vec operator*(T s, Vec a) { return a * s; }
    friend constexpr Vec operator/(Vec a, T s) { return {a.x / s, a.y / s, a.z / s}; }
    Vec& operator+=(Vec b) { return *this = *this + b; }
    Vec& operator-=(Vec b) { return *this = *this - b; }
    Vec& operator*=(T s) { return *this = *this * s; }
    friend constexpr bool operator==(const Vec&, const Vec&) = default;
};

using Vec3 = Vec<double>;
using Vec3f = Vec<float>;
using Int3 = Vec<int>;

template <class T>
constexpr T dot(Vec<T> a, Vec<T> b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class T>
constexpr Vec<T> cross(Vec<T> a, Vec<T> b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class T>
T length(Vec<T> a) {
    return std::sqrt(dot(a, a));
}
template <class T>
constexpr Vec<T> min(Vec<T> a, Vec<T> b) {
    return {std::min(a.x, b.x), std::min(a.y, b.y), std::min(a.z, b.z)};
}
template <class T>
constexpr Vec<T> max(Vec<T> a, Vec<T> b) {
    return {std::max(a.x, b.x), std::max(a.y, b.y), std::max(a.z, b.z)};
}

// The unit step along an axis (0 = x, 1 = y, 2 = z).
constexpr Int3 unit(int axis) { return {axis == 0, axis == 1, axis == 2}; }

// An axis-aligned box [low, high].
struct Box {
    Vec3 low, high;
    bool contains(Vec3 p) const {
        return p.x >= low.x && p.x <= high.x && p.y >= low.y && p.y <= high.y && p.z >= low.z &&
               p.z <= high.z;
    }
};

}  // namespace flotsam

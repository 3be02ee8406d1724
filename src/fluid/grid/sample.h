// Trilinear interpolation of fields, clamped at the domain's sides (free slip for tangential components).
#pragma once

#include "fluid/grid/liquid.h"

namespace flotsam {

// The eight samples around a point and their weights along each axis.
struct Stencil {
    Int3 base;                    // lowest sample
    std::array<double, 3> share;  // weight of the upper sample, per axis
    Int3 last;                    // highest valid index per axis

    // `offset` is where sample (0,0,0) sits, in cells.
    Stencil(const Domain& domain, Vec3 p, Vec3 offset, Int3 last_index) : last(last_index) {
        for (int a = 0; a < 3; ++a) {
            const double g = p[a] / domain.h - offset[a];
            const double low = std::floor(g);
            base[a] = static_cast<int>(low);
            share[a] = g - low;
        }
    }
    double weight(int di, int dj, int dk) const {
        return (di ? share[0] : 1 - share[0]) * (dj ? share[1] : 1 - share[1]) *
               (dk ? share[2] : 1 - share[2]);
    }
    Int3 sample(int di, int dj, int dk) const {
        return {std::clamp(base.x + di, 0, last.x), std::clamp(base.y + dj, 0, last.y),
                std::clamp(base.z + dk, 0, last.z)};
    }

    // The eight values, x fastest. One look-up when all lie in one tile.
    template <class T>
    std::array<T, 8> gather(const Field<T>& f) const {
        std::array<T, 8> v;
        if ((base.x & 7) < 7 && (base.y & 7) < 7 && (base.z & 7) < 7 && base.x >= 0 && base.y >= 0 &&
            base.z >= 0 && base.x < last.x && base.y < last.y && base.z < last.z) {
            const std::int64_t n = f.tiling().find(base);
            if (n < 0) {
                v.fill(f.background());
                return v;
            }
            const T* p = f.values().data() + n;
            v = {p[0], p[1], p[8], p[9], p[64], p[65], p[72], p[73]};
        } else {
            for (int c = 0; c < 8; ++c) v[c] = f(sample(c & 1, c >> 1 & 1, c >> 2));
        }
        return v;
    }
    template <class T>
    T mix(const std::array<T, 8>& v) const {
        const T fx = T(share[0]), fy = T(share[1]), fz = T(share[2]);
        const T a = v[0] + fx * (v[1] - v[0]), b = v[2] + fx * (v[3] - v[2]);
        const T c = v[4] + fx * (v[5] - v[4]), d = v[6] + fx * (v[7] - v[6]);
        const T e = a + fy * (b - a), f = c + fy * (d - c);
        return e + fz * (f - e);
    }
    // Derivative of mix() with respect to the position, times h.
    template <class T>
    Vec<T> slope(const std::array<T, 8>& v) const {
        const T fx = T(share[0]), fy = T(share[1]), fz = T(share[2]);
        const T x00 = v[1] - v[0], x10 = v[3] - v[2], x01 = v[5] - v[4], x11 = v[7] - v[6];
        const T a = v[0] + fx * x00, b = v[2] + fx * x10, c = v[4] + fx * x01, d = v[6] + fx * x11;
        const T x0 = x00 + fy * (x10 - x00), x1 = x01 + fy * (x11 - x01);
        return {x0 + fz * (x1 - x0), (b - a) + fz * ((d - c) - (b - a)),
                (c + fy * (d - c)) - (a + fy * (b - a))};
    }
};

// A copy of a field around one tile, `Halo` samples beyond it on every side, for repeated reads. Samples
// beyond the domain repeat the last one, as Stencil::sample does.
template <class T, int Halo>
class FieldWindow {
  public:
    static constexpr int side = Tiling::side + 2 * Halo;

    // `last`: the highest valid index per axis.
    template <class U>
    void load(const Field<U>& field, Int3 tile, Int3 last) {
        corner_ = tile * Tiling::side - Int3{Halo, Halo, Halo};
        const Tiling& tiling = field.tiling();
        T* to = values_.data();
        for (int z = 0; z < side; ++z)
            for (int y = 0; y < side; ++y) {
                const int k = std::clamp(corner_.z + z, 0, last.z), j = std::clamp(corner_.y + y, 0, last.y);
                // Along x the samples lie in at most three tiles.
                for (int x = 0; x < side;) {
                    const int i = std::clamp(corner_.x + x, 0, last.x);
                    const std::int64_t n = tiling.find(i, j, k);
                    const int run = std::min({Tiling::side - (i & 7), last.x - i + 1, side - x});
                    const bool clamped = corner_.x + x < 0 || corner_.x + x > last.x;
                    for (int step = 0; step < (clamped ? 1 : run); ++step, ++x)
                        *to++ = T(n < 0 ? field.background() : field.values()[n + step]);
                }
            }
    }
    bool holds(Int3 base) const {
        base = base - corner_;
        return unsigned(base.x) < unsigned(side - 1) && unsigned(base.y) < unsigned(side - 1) &&
               unsigned(base.z) < unsigned(side - 1);
    }
    // The eight values of a stencil that the window holds, x fastest.
    std::array<T, 8> gather(Int3 base) const {
        base = base - corner_;
        const T* p = values_.data() + base.x + side * (base.y + side * base.z);
        constexpr int y = side, z = side * side;
        return {p[0], p[1], p[y], p[y + 1], p[z], p[z + 1], p[z + y], p[z + y + 1]};
    }

    Int3 corner() const { return corner_; }
    const T* data() const { return values_.data(); }  // x fastest, then y

  private:
    Int3 corner_;
    std::array<T, side * side * side> values_;
};

inline Int3 last_face(const Domain& domain, int axis) { return domain.cells - Int3{1, 1, 1} + unit(axis); }

// The three velocity components around a tile.
template <int Halo>
class VelocityWindow {
  public:
    void load(const MacGrid& u, const Domain& domain, Int3 tile) {
        for (int axis = 0; axis < 3; ++axis) component[axis].load(u[axis], tile, last_face(domain, axis));
    }
    std::array<FieldWindow<double, Halo>, 3> component;
};

inline Stencil face_stencil(const Domain& domain, Vec3 p, int axis) {
    return {domain, p, Vec3{0.5, 0.5, 0.5} - 0.5 * Vec3(unit(axis)),
            domain.cells - Int3{1, 1, 1} + unit(axis)};
}
inline Stencil cell_stencil(const Domain& domain, Vec3 p) {
    return {domain, p, {0.5, 0.5, 0.5}, domain.cells - Int3{1, 1, 1}};
}

inline double sample_component(const MacGrid& u, const Domain& domain, Vec3 p, int axis) {
    const Stencil s = face_stencil(domain, p, axis);
    return s.mix(s.gather(u[axis]));
}
inline Vec3 sample_velocity(const MacGrid& u, const Domain& domain, Vec3 p) {
    return {sample_component(u, domain, p, 0), sample_component(u, domain, p, 1),
            sample_component(u, domain, p, 2)};
}
inline double sample_cells(const Field<double>& f, const Domain& domain, Vec3 p) {
    const Stencil s = cell_stencil(domain, p);
    return s.mix(s.gather(f));
}

}  // namespace flotsam

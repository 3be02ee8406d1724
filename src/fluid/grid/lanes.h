// Particles sixteen at a time: one vector of floats on the widest machines.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "fluid/grid/domain.h"

namespace flotsam {

constexpr int lanes = 16;
typedef float Floats __attribute__((vector_size(lanes * sizeof(float))));
typedef double Doubles __attribute__((vector_size(lanes * sizeof(double))));
typedef std::int32_t Ints
    __attribute__((vector_size(lanes * sizeof(std::int32_t))));  // as a mask, -1 is true
using Lanes = std::array<Floats, 3>;                             // x, y and z of sixteen particles

inline Floats absolute(Floats x) {
    Ints bits;
    std::memcpy(&bits, &x, sizeof x);
    bits &= 0x7fffffff;  // clears the sign; compare and select would take twice as long
    std::memcpy(&x, &bits, sizeof x);
    return x;
}
inline Floats smaller(Floats a, Floats b) { return a < b ? a : b; }
inline Floats larger(Floats a, Floats b) { return a < b ? b : a; }

inline Ints first_lanes(int count) {
    Ints lane;
    for (int l = 0; l < lanes; ++l) lane[l] = l;
    return lane < count;
}

namespace detail {
// Lane l of the result is lane choose(l) of a and b concatenated; -1 allows any value.
template <class Choose, std::size_t... l>
Floats shuffled(Floats a, Floats b, Choose, std::index_sequence<l...>) {
    return __builtin_shufflevector(a, b, Choose{}(int(l))...);
}
template <class Choose>
Floats shuffled(Floats a, Floats b, Choose choose) {
    return shuffled(a, b, choose, std::make_index_sequence<lanes>{});
}
// In memory the particles are 48 numbers, three vectors: number 3 l + axis belongs to particle l.
template <int axis>
Floats unwoven(const std::array<Floats, 3>& memory) {
    const Floats most =
        shuffled(memory[0], memory[1], [](int l) { return 3 * l + axis < 32 ? 3 * l + axis : -1; });
    return shuffled(most, memory[2], [](int l) { return 3 * l + axis < 32 ? l : 3 * l + axis - 16; });
}
template <int part>
Floats woven(const Lanes& x) {
    const Floats most = shuffled(x[0], x[1], [](int l) {
        const int number = lanes * part + l;
        return number % 3 == 0 ? number / 3 : number % 3 == 1 ? lanes + number / 3 : -1;
    });
    return shuffled(most, x[2], [](int l) {
        const int number = lanes * part + l;
        return number % 3 < 2 ? l : lanes + number / 3;
    });
}
}  // namespace detail

// The first `count` particles from `from` on. Lanes that are left over repeat the last one.
inline Lanes load_lanes(const Vec3f* from, int count) {
    std::array<Vec3f, lanes> last;
    if (count < lanes) {
        for (int l = 0; l < lanes; ++l) last[l] = from[std::min(l, count - 1)];
        from = last.data();
    }
    std::array<Floats, 3> memory;
    static_assert(sizeof memory == sizeof last);
    std::memcpy(memory.data(), from, sizeof memory);
    return {detail::unwoven<0>(memory), detail::unwoven<1>(memory), detail::unwoven<2>(memory)};
}

inline void store_lanes(const Lanes& x, Vec3f* to, int count) {
    const std::array<Floats, 3> memory{detail::woven<0>(x), detail::woven<1>(x), detail::woven<2>(x)};
    std::memcpy(static_cast<void*>(to), memory.data(), count * sizeof(Vec3f));
}

// Domain::cell_of for each particle, axis by axis.
inline std::array<Ints, 3> cells_of(const Domain& domain, const Lanes& x) {
    std::array<Ints, 3> cell;
    for (int a = 0; a < 3; ++a) {
        const Doubles place = __builtin_convertvector(x[a], Doubles) / domain.h;
        const Ints cut = __builtin_convertvector(place, Ints);  // truncates: one too high below zero
        const Doubles rest = place - __builtin_convertvector(cut, Doubles);
        cell[a] = cut + (__builtin_convertvector(rest, Floats) < 0);
    }
    return cell;
}

}  // namespace flotsam

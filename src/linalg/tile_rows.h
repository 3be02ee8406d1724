// Networks row by row: the kernels behind matrix-vector products, smoothers and transfers.
#pragma once

#include <array>
#include <cstring>

#include "linalg/network.h"

namespace flotsam::rows {

constexpr int block = Tiling::cells_per_tile;
constexpr std::int64_t tile_grain = 4;

// A row of eight values along x is one vector register; a tile is 64 of them.
template <class T>
struct RowOf {
    typedef T type __attribute__((vector_size(8 * sizeof(T))));
};
template <class T>
using Row = typename RowOf<T>::type;

template <class T>
Row<T> load(const T* p) {
    Row<T> v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
template <class T>
void store(T* p, Row<T> v) {
    std::memcpy(p, &v, sizeof v);
}
// The values one place lower along x, `first` coming in; and one place higher, `last` coming in.
template <class R, class T>
R from_left(R v, T first) {
    R moved = __builtin_shufflevector(v, v, 0, 0, 1, 2, 3, 4, 5, 6);
    moved[0] = first;
    return moved;
}
template <class R, class T>
R from_right(R v, T last) {
    R moved = __builtin_shufflevector(v, v, 1, 2, 3, 4, 5, 6, 7, 7);
    moved[7] = last;
    return moved;
}

// A tile's block of a vector and the six blocks beside it.
template <class T>
struct Around {
    const T* own;
    std::array<const T*, 6> beside;
    Around(const T* values, const Network<T>& network, std::int64_t slot) : own(values + slot * block) {
        for (int side = 0; side < 6; ++side) {
            const std::int32_t n = network.neighbour(slot, side / 2, side % 2);
            beside[side] = values + (n < 0 ? network.slot_count() : std::int64_t{n}) * block;
        }
    }
    // The six neighbours of row (j, k): left, right, below, above, behind, before.
    struct Rows {
        Row<T> center;
        Row<T> next[6];
    };
    Rows rows(int j, int k) const {
        const int r = 8 * (j + 8 * k);
        Rows out;
        out.center = load(own + r);
        out.next[0] = from_left(out.center, beside[0][r + 7]);
        out.next[1] = from_right(out.center, beside[1][r]);
        out.next[2] = load(j > 0 ? own + r - 8 : beside[2] + r + 56);
        out.next[3] = load(j < 7 ? own + r + 8 : beside[3] + r - 56);
        out.next[4] = load(k > 0 ? own + r - 64 : beside[4] + r + 448);
        out.next[5] = load(k < 7 ? own + r + 64 : beside[5] + r - 448);
        return out;
    }
};

// The links of a tile's rows, and its diagonal.
template <class T>
struct MixedLinks {
    const TileCoefficients<T>& own;
    std::array<const TileCoefficients<T>*, 3> high;
    const T* smoothing;
    MixedLinks(const Network<T>& network, std::int64_t slot)
        : own(network.coefficients(slot)), smoothing(network.smoothing(slot)) {
        for (int axis = 0; axis < 3; ++axis)
            high[axis] = &network.coefficients(network.neighbour(slot, axis, 1));
    }
    // Sum of link times neighbour over the six neighbours of row (j, k).
    Row<T> gather(const typename Around<T>::Rows& v, int j, int k) const {
        const int r = 8 * (j + 8 * k);
        const Row<T> x = load(own.link[0].data() + r), y = load(own.link[1].data() + r),
                     z = load(own.link[2].data() + r);
        return x * v.next[0] + from_right(x, high[0]->link[0][r]) * v.next[1] + y * v.next[2] +
               load(j < 7 ? own.link[1].data() + r + 8 : high[1]->link[1].data() + r - 56) * v.next[3] +
               z * v.next[4] +
               load(k < 7 ? own.link[2].data() + r + 64 : high[2]->link[2].data() + r - 448) * v.next[5];
    }
    Row<T> diagonal(int j, int k) const { return load(own.diagonal.data() + 8 * (j + 8 * k)); }
    // The diagonal that a smoother divides by.
    Row<T> divisor(int j, int k) const { return diagonal(j, k) + load(smoothing + 8 * (j + 8 * k)); }
    // 1 / divisor, and 0 where there is no unknown.
    Row<T> inverse(int j, int k) const {
        const Row<T> d = divisor(j, k), none{};
        return d > none ? T(1) / d : none;
    }
};
template <class T>
struct PlainLinks {
    Row<T> gather(const typename Around<T>::Rows& v, int, int) const {
        return ((v.next[0] + v.next[1]) + (v.next[2] + v.next[3])) + (v.next[4] + v.next[5]);
    }
    Row<T> diagonal(int, int) const { return Row<T>{} + T(6); }
    Row<T> divisor(int, int) const { return Row<T>{} + T(6); }
    Row<T> inverse(int, int) const { return Row<T>{} + T(1.0 / 6); }
};

// Calls body(slot, links) with the links of each tile and block of listed nodes, in parallel; links of listed
// nodes are not included (for_each_listed_link).
template <class T, class Body>
void for_each_tile(const Network<T>& network, const Body& body) {
    parallel_for(network.slot_count(), tile_grain, [&](std::int64_t slot) {
        if (network.plain(slot))
            body(slot, PlainLinks<T>{});
        else
            body(slot, MixedLinks<T>(network, slot));
    });
}
template <class T, class Term>
double sum_over_tiles(const Network<T>& network, const Term& term) {
    return fixed_sum<double>(network.slot_count(), tile_grain, [&](std::int64_t slot) {
        return network.plain(slot) ? term(slot, PlainLinks<T>{}) : term(slot, MixedLinks<T>(network, slot));
    });
}

// Calls body(a, b, conductance) for each link of a listed node, both ways round.
template <class T, class Body>
void for_each_listed_link(const Network<T>& network, const Body& body) {
    for (const auto& link : network.listed().links) {
        const std::int64_t node = network.first_listed() + link.node;
        body(node, link.other, link.conductance);
        body(link.other, node, link.conductance);
    }
}
// 1 / the diagonal that a smoother divides by.
template <class T>
T inverse_of_divisor(const Network<T>& network, std::int64_t n) {
    const std::int64_t slot = n / block, local = n % block;
    const T d = network.coefficients(slot).diagonal[local] + network.smoothing(slot)[local];
    return d > 0 ? 1 / d : 0;
}

template <class Body>
void for_each_row(const Body& body) {
    for (int k = 0; k < 8; ++k)
        for (int j = 0; j < 8; ++j) body(j, k, 8 * (j + 8 * k));
}

inline double total(Row<double> v) {
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

}  // namespace flotsam::rows

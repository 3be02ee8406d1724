// Vectors of a network in Krylov methods.
#pragma once

#include <span>
#include <vector>

#include "linalg/tile_rows.h"

namespace flotsam {

// Values of all slots of a network, 512 each, and as many zeros at the end for absent neighbours.
template <class T>
using TileVector = std::vector<T>;

// Tile by tile, in rows of eight, sums in a fixed order. Every update of the residual is also stored in
// `single`, for the preconditioner.
struct TileSpace {
    using Vector = TileVector<double>;
    std::int64_t slots;  // of the network
    TileVector<float>& single;

    Vector zero() const { return Vector((slots + 1) * rows::block, 0.0); }
    // Sum of term(first index of a row) over all rows.
    template <class Term>
    double sum(const Term& term) const {
        return fixed_sum<double>(slots, rows::tile_grain, [&](std::int64_t slot) {
            rows::Row<double> sum{};
            for (std::int64_t n = slot * rows::block; n < (slot + 1) * rows::block; n += 8) sum += term(n);
            return rows::total(sum);
        });
    }
    double dot(std::span<const double> a, std::span<const double> b) const {
        return sum([&](std::int64_t n) { return rows::load(a.data() + n) * rows::load(b.data() + n); });
    }
    void add_to_scaled(Vector& p, double s, const TileVector<float>& z) const {
        (void)sum([&](std::int64_t n) {
            rows::store(p.data() + n, __builtin_convertvector(rows::load(z.data() + n), rows::Row<double>) +
                                          s * rows::load(p.data() + n));
            return rows::Row<double>{};
        });
    }
    double descend(std::span<double> x, Vector& r, double s, const Vector& p, const Vector& q) {
        return sum([&](std::int64_t n) {
            rows::store(x.data() + n, rows::load(x.data() + n) + s * rows::load(p.data() + n));
            return set(r, n, rows::load(r.data() + n) - s * rows::load(q.data() + n));
        });
    }
    // r = b - y; returns r . r.
    double residual(Vector& r, std::span<const double> b, const Vector& y) {
        return sum(
            [&](std::int64_t n) { return set(r, n, rows::load(b.data() + n) - rows::load(y.data() + n)); });
    }

  private:
    rows::Row<double> set(Vector& r, std::int64_t n, rows::Row<double> value) {
        rows::store(r.data() + n, value);
        rows::store(single.data() + n, __builtin_convertvector(value, rows::Row<float>));
        return value * value;
    }
};

}  // namespace flotsam

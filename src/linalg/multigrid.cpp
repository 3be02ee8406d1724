#include "linalg/multigrid.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstring>

#include "linalg/coarsen.h"
#include "linalg/krylov.h"

namespace flotsam {

namespace {

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
    Around(const T* values, const Tiling& tiling, std::int64_t slot) : own(values + slot * block) {
        for (int side = 0; side < 6; ++side) {
            const std::int32_t n = tiling.neighbour(slot, side / 2, side % 2);
            beside[side] = values + (n < 0 ? tiling.tile_count() : std::int64_t{n}) * block;
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
            high[axis] = &network.coefficients(network.tiling().neighbour(slot, axis, 1));
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
    // What a smoother divides by.
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

// Calls body(slot, links) with the links of each tile, tiles side by side.
template <class T, class Body>
void for_each_tile(const Network<T>& network, const Body& body) {
    parallel_for(network.tiling().tile_count(), tile_grain, [&](std::int64_t slot) {
        if (network.plain(slot))
            body(slot, PlainLinks<T>{});
        else
            body(slot, MixedLinks<T>(network, slot));
    });
}
template <class T, class Term>
double sum_over_tiles(const Network<T>& network, const Term& term) {
    return fixed_sum<double>(network.tiling().tile_count(), tile_grain, [&](std::int64_t slot) {
        return network.plain(slot) ? term(slot, PlainLinks<T>{}) : term(slot, MixedLinks<T>(network, slot));
    });
}

template <class Body>
void for_each_row(const Body& body) {
    for (int k = 0; k < 8; ++k)
        for (int j = 0; j < 8; ++j) body(j, k, 8 * (j + 8 * k));
}

double total(Row<double> v) { return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7])); }

// Chebyshev of the fourth kind, degree 2, for eigenvalues of D^-1 A up to 2, with the weights that minimise
// the two-grid bound (Lottes 2023): z1 = 2/3 D^-1 r0, z2 = 1/5 z1 + 6/5 D^-1 r1, x += beta1 z1 +
// beta2 z2.
constexpr float first_share = 2.0f / 3, carry = 0.2f, second_share = 1.2f;
constexpr float beta1 = 1.02387287570313f, beta2 = 1.26408905371085f;

// 1 / divisor of the cell of each entry.
std::vector<float> inverse_diagonal(const Network<float>& network, const LowRank<float>& modes) {
    std::vector<float> inverse;
    inverse.reserve(modes.entries().size());
    for (const ModeEntry<float>& entry : modes.entries()) {
        const float d = network.coefficients(entry.cell / block).diagonal[entry.cell % block] +
                        network.smoothing(entry.cell / block)[entry.cell % block];
        inverse.push_back(d > 0 ? 1 / d : 0);
    }
    return inverse;
}

// a + s b
std::vector<Six<float>> sum(std::vector<Six<float>> a, float s, const std::vector<Six<float>>& b) {
    for (std::size_t g = 0; g < a.size(); ++g)
        for (int k = 0; k < 6; ++k) a[g][k] += s * b[g][k];
    return a;
}

// Coarse b = sum over children of the residual b - A x.
void restrict_residual(const Network<float>& network, Int3 coarsens, const Tiling& coarse,
                       const TileVector<float>& b, const TileVector<float>& x, TileVector<float>& coarse_b) {
    const Children children(network.tiling(), coarse, coarsens);
    const Parent parent{coarsens};
    parallel_for(coarse.tile_count(), 1, [&](std::int64_t coarse_slot) {
        float* to = coarse_b.data() + coarse_slot * block;
        std::memset(to, 0, block * sizeof(float));
        for (const std::int32_t slot : children.of(coarse_slot)) {
            const Int3 corner = parent.corner(network.tiling().tiles()[slot]);
            const Around<float> around(x.data(), network.tiling(), slot);
            const auto add = [&](const auto& links) {
                for_each_row([&](int j, int k, int r) {
                    const auto rows = around.rows(j, k);
                    const Row<float> residual = load(b.data() + std::int64_t{slot} * block + r) -
                                                links.diagonal(j, k) * rows.center + links.gather(rows, j, k);
                    float* row = to + parent.row(corner, j, k) + corner.x;
                    if (coarsens.x)
                        for (int i = 0; i < 4; ++i) row[i] += residual[2 * i] + residual[2 * i + 1];
                    else
                        for (int i = 0; i < 8; ++i) row[i] += residual[i];
                });
            };
            if (network.plain(slot))
                add(PlainLinks<float>{});
            else
                add(MixedLinks<float>(network, slot));
        }
    });
}

// x += the parent's value, where there is an unknown.
void add_correction(const Network<float>& network, Int3 coarsens, const Tiling& coarse,
                    const TileVector<float>& coarse_x, TileVector<float>& x) {
    const Parent parent{coarsens};
    parallel_for(network.tiling().tile_count(), tile_grain, [&](std::int64_t slot) {
        const Int3 t = network.tiling().tiles()[slot];
        const std::int64_t coarse_slot = coarse.find(parent.tile(t) * Tiling::side) / block;
        const Int3 corner = parent.corner(t);
        const TileCoefficients<float>& c = network.coefficients(slot);
        for_each_row([&](int j, int k, int r) {
            const Row<float> row = load(coarse_x.data() + coarse_slot * block + parent.row(corner, j, k));
            Row<float> value = row;
            if (coarsens.x)
                value = corner.x ? __builtin_shufflevector(row, row, 4, 4, 5, 5, 6, 6, 7, 7)
                                 : __builtin_shufflevector(row, row, 0, 0, 1, 1, 2, 2, 3, 3);
            if (!network.plain(slot)) {
                const Row<float> none{};
                value = load(c.diagonal.data() + r) > none ? value : none;
            }
            store(x.data() + slot * block + r, load(x.data() + slot * block + r) + value);
        });
    });
}

// The modes of the solve and those that stand for what is added.
LowRank<double> with_guess(const LowRank<double>& modes, const AddedGuess& guess, std::int64_t tiles) {
    std::vector<ModeEntry<double>> entries = modes.entries();
    std::vector<SixBySix<double>> compliance = modes.compliance();
    for (ModeEntry<double> entry : guess.entries) {
        entry.group += std::int32_t(modes.groups());
        entries.push_back(entry);
    }
    compliance.insert(compliance.end(), guess.compliance.begin(), guess.compliance.end());
    return {tiles, std::move(entries), std::move(compliance)};
}

// Vectors of a network in Krylov methods: tile by tile, in rows of eight. Whatever becomes of the residual is
// also put into `single`, for the preconditioner.
struct TileSpace {
    using Vector = TileVector<double>;
    const Tiling& tiling;
    TileVector<float>& single;

    Vector zero() const { return Vector(tiling.value_count() + block, 0.0); }
    // Sum over all values of what term(first index of a row) gives.
    template <class Term>
    double sum(const Term& term) const {
        return fixed_sum<double>(tiling.tile_count(), tile_grain, [&](std::int64_t slot) {
            Row<double> sum{};
            for (std::int64_t n = slot * block; n < (slot + 1) * block; n += 8) sum += term(n);
            return total(sum);
        });
    }
    double dot(std::span<const double> a, std::span<const double> b) const {
        return sum([&](std::int64_t n) { return load(a.data() + n) * load(b.data() + n); });
    }
    void add_to_scaled(Vector& p, double s, const TileVector<float>& z) const {
        (void)sum([&](std::int64_t n) {
            store(p.data() + n,
                  __builtin_convertvector(load(z.data() + n), Row<double>) + s * load(p.data() + n));
            return Row<double>{};
        });
    }
    double descend(std::span<double> x, Vector& r, double s, const Vector& p, const Vector& q) {
        return sum([&](std::int64_t n) {
            store(x.data() + n, load(x.data() + n) + s * load(p.data() + n));
            return set(r, n, load(r.data() + n) - s * load(q.data() + n));
        });
    }
    // r = b - y; returns r . r.
    double residual(Vector& r, std::span<const double> b, const Vector& y) {
        return sum([&](std::int64_t n) { return set(r, n, load(b.data() + n) - load(y.data() + n)); });
    }

  private:
    Row<double> set(Vector& r, std::int64_t n, Row<double> value) {
        store(r.data() + n, value);
        store(single.data() + n, __builtin_convertvector(value, Row<float>));
        return value * value;
    }
};

}  // namespace

Multigrid::Multigrid(const Network<double>& network, const LowRank<double>& modes, const AddedTerm* added,
                     const AddedGuess& guess)
    : network_(network), modes_(modes), added_(added) {
    const auto add_level = [&](Network<float> level, LowRank<float> level_modes) {
        const std::size_t values = level.tiling().value_count() + block;
        levels_.push_back({std::move(level),
                           std::move(level_modes),
                           {},
                           {},
                           {},
                           {},
                           TileVector<float>(values, 0.0f),
                           TileVector<float>(values, 0.0f),
                           TileVector<float>(values, 0.0f),
                           {}});
    };
    const auto prepare_smoothing = [](Level& level) {
        level.smoothing = level.modes.smoothing(inverse_diagonal(level.network, level.modes));
        for (const auto& [cell, value] : level.smoothing.extra) level.network.add_to_smoothing(cell, value);
        level.inverse = inverse_diagonal(level.network, level.modes);
        level.own_inverse =
            level.smoothing.own ? inverse_diagonal(level.network, *level.smoothing.own) : level.inverse;
    };
    Network<float> single = in_single_precision(network);
    for (const AddedGuess::Ground& ground : guess.grounds) {
        const std::int64_t slot = ground.cell / block, local = ground.cell % block;
        single.ground(slot)[ground.axis][local] += float(ground.conductance);
        single.mixed(slot).diagonal[local] += float(ground.conductance);
    }
    const std::int64_t tiles = network.tiling().tile_count();
    const LowRank<double> all =
        guess.compliance.empty() ? LowRank<double>() : with_guess(modes, guess, tiles);
    const LowRank<double>& all_modes = guess.compliance.empty() ? modes : all;
    add_level(std::move(single), in_single_precision(all_modes, tiles));
    const std::vector<Int3> width = widths(all_modes, network.tiling());
    Int3 size{1, 1, 1};
    while (levels_.back().network.tiling().tile_count() > 0) {
        Level& fine = levels_.back();
        const Int3 cells = fine.network.tiling().cells();
        const Int3 coarsens{cells.x > 2, cells.y > 2, cells.z > 2};
        if (coarsens == Int3{0, 0, 0}) break;
        // With more modes than cells everything shares cells with everything, and a direct solution is
        // cheaper than smoothing.
        if (fine.network.tiling().tile_count() == 1 && 6 * all_modes.groups() >= block) break;
        fine.coarsens = coarsens;
        prepare_smoothing(fine);
        Network<float> next = coarsen(fine.network, size, coarsens);
        fine.network.forget_grounds();
        LowRank<float> next_modes =
            coarsen(fine.modes, fine.network.tiling(), next.tiling(), coarsens, size, width);
        add_level(std::move(next), std::move(next_modes));
        for (int axis = 0; axis < 3; ++axis) size[axis] <<= coarsens[axis];
    }
    levels_.back().network.forget_grounds();

    const Level& last = levels_.back();
    const Tiling& tiling = last.network.tiling();
    std::vector<std::int64_t> row(tiling.value_count(), -1);
    for (std::int64_t n = 0; n < tiling.value_count(); ++n)
        if (last.network.coefficients(n / block).diagonal[n % block] != 0) {
            row[n] = static_cast<std::int64_t>(coarsest_cell_.size());
            coarsest_cell_.push_back(n);
        }
    const auto count = Eigen::Index(coarsest_cell_.size());
    Eigen::MatrixXd coarsest = Eigen::MatrixXd::Zero(count, count);
    for (std::size_t i = 0; i < coarsest_cell_.size(); ++i) {
        const std::int64_t n = coarsest_cell_[i];
        const auto local = static_cast<int>(n % block);
        const Int3 cell = tiling.first_cell(n / block) + Int3{local & 7, local >> 3 & 7, local >> 6};
        const TileCoefficients<float>& c = last.network.coefficients(n / block);
        // A pocket without ground has no inverse; slightly larger than the rounding of its links, its
        // diagonal has one, and the constant that it may add there is nobody's pressure.
        coarsest(i, i) += (1 + 1e-5) * c.diagonal[local];
        for (int axis = 0; axis < 3; ++axis)
            if (const double link = c.link[axis][local]; link != 0) {
                const std::int64_t j = row[tiling.find(cell - unit(axis))];
                coarsest(i, j) -= link;
                coarsest(j, i) -= link;
            }
    }
    // J C J^T, body by body.
    std::vector<std::vector<const ModeEntry<float>*>> entries(last.modes.groups());
    for (const ModeEntry<float>& entry : last.modes.entries()) entries[entry.group].push_back(&entry);
    for (std::size_t g = 0; g < entries.size(); ++g)
        for (const ModeEntry<float>* a : entries[g])
            for (const ModeEntry<float>* b : entries[g])
                for (int k = 0; k < 6; ++k)
                    for (int l = 0; l < 6; ++l)
                        coarsest(row[a->cell], row[b->cell]) +=
                            double(a->flux[k]) * last.modes.compliance()[g][k][l] * b->flux[l];
    const Eigen::MatrixXd factor = coarsest.llt().matrixL();
    coarsest_.assign(factor.data(), factor.data() + factor.size());
}

double Multigrid::cycle() {
    Level& fine = levels_.front();
    if (levels_.size() == 1) {
        solve_coarsest();
        return sum_over_tiles(fine.network, [&](std::int64_t slot, const auto&) {
            double sum = 0;
            for (std::int64_t n = slot * block; n < (slot + 1) * block; ++n)
                sum += double(fine.b[n]) * fine.x[n];
            return sum;
        });
    }
    smooth_from_zero(fine);
    cycle_below(0);
    return smooth_again(fine);
}

// Corrects the smoothed x of a level by the levels below it.
void Multigrid::cycle_below(std::size_t level) {
    Level& fine = levels_[level];
    Level& coarse = levels_[level + 1];
    restrict_residual(fine.network, fine.coarsens, coarse.network.tiling(), fine.b, fine.x, coarse.b);
    if (!fine.modes.empty())
        coarse.modes.scatter(fine.along_x, std::span(coarse.b), [](std::int64_t) { return -1.0f; });
    if (level + 2 == levels_.size()) {
        solve_coarsest();
    } else {
        smooth_from_zero(coarse);
        cycle_below(level + 1);
        (void)smooth_again(coarse);
    }
    add_correction(fine.network, fine.coarsens, coarse.network.tiling(), coarse.x, fine.x);
}

// The smoother divides by D' + K R R^T K^T (Smoothing, in low_rank.h). If z = D'^-1 r and v = R^T K^T z, then
// z - D'^-1 K R s with s = G^-1 v is what it makes of r. Two identities save most of the sweeps over K: of
// that result R^T K^T is s, and R^T K^T D'^-1 K R s is v - s.
std::vector<Six<float>> Multigrid::felt(const Level& level, std::span<const float> v) {
    const LowRank<float>& own = level.smoothing.own ? *level.smoothing.own : level.modes;
    return level.smoothing.times_transposed_root(own.gather(v));
}
double Multigrid::push(const Level& level, std::vector<Six<float>> s, std::span<float> v,
                       std::span<const float> with) {
    const LowRank<float>& own = level.smoothing.own ? *level.smoothing.own : level.modes;
    const auto scale = [&](std::int64_t e) { return -level.own_inverse[e]; };
    return own.scatter(level.smoothing.times_root(std::move(s)), v, scale, with);
}
double Multigrid::push_all(const Level& level, float scale, const std::vector<Six<float>>& y,
                           std::span<float> v, std::span<const float> with) {
    return level.modes.scatter(
        y, v, [&](std::int64_t e) { return -scale * level.inverse[e]; }, with);
}

// x = smoother applied to b from a zero guess.
void Multigrid::smooth_from_zero(Level& level) {
    const Network<float>& network = level.network;
    const TileVector<float>& b = level.b;
    TileVector<float>&x = level.x, &z = level.z;
    for_each_tile(network, [&](std::int64_t slot, const auto& links) {
        for_each_row([&](int j, int k, int r) {
            store(z.data() + slot * block + r,
                  first_share * links.inverse(j, k) * load(b.data() + slot * block + r));
        });
    });
    const bool modes = !level.modes.empty();
    std::vector<Six<float>> v, s;
    if (modes) {
        v = felt(level, z), s = level.smoothing.joint->solved(v);
        push(level, s, z);
    }
    constexpr float share = beta1 + beta2 * carry, step = beta2 * second_share;
    for_each_tile(network, [&](std::int64_t slot, const auto& links) {
        const Around<float> around(z.data(), network.tiling(), slot);
        for_each_row([&](int j, int k, int r) {
            const auto rows = around.rows(j, k);
            const Row<float> residual = load(b.data() + slot * block + r) -
                                        links.diagonal(j, k) * rows.center + links.gather(rows, j, k);
            store(x.data() + slot * block + r, share * rows.center + step * links.inverse(j, k) * residual);
        });
    });
    if (!modes) return;
    // The residual lacks -J C J^T z, which is -K R s where K = J.
    const bool split = level.smoothing.own.has_value();
    if (split) push_all(level, step, level.modes.times_compliance(level.modes.gather(z)), x);
    std::vector<Six<float>> change = sum(felt(level, x), -share, s);
    if (!split) change = sum(sum(change, -step, v), step, s);
    change = level.smoothing.joint->solved(change);
    push(level, split ? change : sum(change, step, s), x);
    level.along_x = split ? level.modes.times_compliance(level.modes.gather(x))
                          : level.smoothing.times_root(sum(change, share, s));
}

// x improved by the smoother.
double Multigrid::smooth_again(Level& level) {
    const Network<float>& network = level.network;
    const TileVector<float>& b = level.b;
    TileVector<float>&x = level.x, &z = level.z;
    for_each_tile(network, [&](std::int64_t slot, const auto& links) {
        const Around<float> around(x.data(), network.tiling(), slot);
        for_each_row([&](int j, int k, int r) {
            const auto rows = around.rows(j, k);
            const Row<float> residual = load(b.data() + slot * block + r) -
                                        links.diagonal(j, k) * rows.center + links.gather(rows, j, k);
            store(z.data() + slot * block + r, first_share * links.inverse(j, k) * residual);
        });
    });
    const bool modes = !level.modes.empty(), split = level.smoothing.own.has_value();
    std::vector<Six<float>> before, v, s;
    if (modes) {
        before = felt(level, x);
        push_all(
            level, first_share,
            split ? level.modes.times_compliance(level.modes.gather(x)) : level.smoothing.times_root(before),
            z);
        v = felt(level, z), s = level.smoothing.joint->solved(v);
        push(level, s, z);
    }
    constexpr float share = beta1 + beta2 * carry, step = beta2 * second_share;
    double product = sum_over_tiles(network, [&](std::int64_t slot, const auto& links) {
        const Around<float> around(z.data(), network.tiling(), slot);
        Row<double> sum{};
        for_each_row([&](int j, int k, int r) {
            const auto rows = around.rows(j, k);
            // r0 = z1 D' / (2/3); r1 = r0 - A z1.
            const Row<float> residual =
                (1 / first_share * links.divisor(j, k) - links.diagonal(j, k)) * rows.center +
                links.gather(rows, j, k);
            const Row<float> improved = load(x.data() + slot * block + r) + share * rows.center +
                                        step * links.inverse(j, k) * residual;
            store(x.data() + slot * block + r, improved);
            sum += __builtin_convertvector(improved * load(b.data() + slot * block + r), Row<double>);
        });
        return total(sum);
    });
    if (!modes) return product;
    // r0 is z1 D' / (2/3) and what the modes took from z1, K R s / (2/3); and r1 as in smooth_from_zero.
    const std::span<const float> with(b);
    if (split) product += push_all(level, step, level.modes.times_compliance(level.modes.gather(z)), x, with);
    const float lacking = step / first_share - (split ? 0 : step);
    std::vector<Six<float>> change = sum(sum(felt(level, x), -1, before), -share, s);
    change = level.smoothing.joint->solved(sum(sum(change, lacking, v), -lacking, s));
    return product + push(level, sum(change, -lacking, s), x, with);
}

void Multigrid::solve_coarsest() {
    Level& level = levels_.back();
    Eigen::VectorXd x(coarsest_cell_.size());
    for (std::size_t i = 0; i < coarsest_cell_.size(); ++i) x[i] = level.b[coarsest_cell_[i]];
    const Eigen::Map<const Eigen::MatrixXd> factor(coarsest_.data(), x.size(), x.size());
    factor.triangularView<Eigen::Lower>().solveInPlace(x);
    factor.transpose().triangularView<Eigen::Upper>().solveInPlace(x);
    std::fill(level.x.begin(), level.x.end(), 0.0f);
    for (std::size_t i = 0; i < coarsest_cell_.size(); ++i) level.x[coarsest_cell_[i]] = float(x[i]);
}

std::vector<float> Multigrid::precondition(std::span<const double> residual) {
    Level& fine = levels_.front();
    parallel_for(std::ssize(residual), 4 * block, [&](std::int64_t n) { fine.b[n] = float(residual[n]); });
    (void)cycle();
    return {fine.x.begin(), fine.x.begin() + std::ssize(residual)};
}

double Multigrid::apply(const TileVector<double>& x, std::span<double> y) const {
    const Tiling& tiling = network_.tiling();
    double product = sum_over_tiles(network_, [&](std::int64_t slot, const auto& links) {
        const Around<double> around(x.data(), tiling, slot);
        Row<double> sum{};
        for_each_row([&](int j, int k, int row) {
            const auto rows = around.rows(j, k);
            const Row<double> a = links.diagonal(j, k) * rows.center - links.gather(rows, j, k);
            store(y.data() + slot * block + row, a);
            sum += rows.center * a;
        });
        return total(sum);
    });
    if (modes_.empty()) return product;
    const auto w = modes_.gather(x);
    const auto z = modes_.times_compliance(w);
    modes_.scatter(z, y, [](std::int64_t) { return 1.0; });
    for (std::size_t g = 0; g < w.size(); ++g)
        for (int k = 0; k < 6; ++k) product += w[g][k] * z[g][k];
    return product;
}

double Multigrid::unknowns() const {
    return fixed_sum<double>(network_.tiling().tile_count(), tile_grain, [&](std::int64_t slot) {
        Row<double> sum{};
        const Row<double> none{};
        for (int n = 0; n < block; n += 8)
            sum += load(network_.coefficients(slot).diagonal.data() + n) > none ? none + 1.0 : none;
        return total(sum);
    });
}

SolveReport Multigrid::solve(std::span<const double> b, std::span<double> x, const SolveTolerance& tolerance,
                             const Pause& pause) {
    TileSpace space{network_.tiling(), levels_.front().b};
    const double norm = std::sqrt(space.dot(b, b));
    if (!std::isfinite(norm)) return {false, 0, norm};
    const krylov::Goal goal(norm, unknowns(), tolerance);
    if (goal.nothing_to_solve()) {
        std::fill(x.begin(), x.end(), 0.0);
        return {.converged = true};
    }
    const auto apply_all = [&](const TileVector<double>& v, TileVector<double>& y) {
        const double product = apply(v, y);
        if (!added_) return product;
        added_->add(v, y);
        return space.dot(v, y);
    };
    TileVector<double> r = space.zero();
    const auto true_residual = [&] {
        TileVector<double> at = space.zero(), y = space.zero();
        std::copy(x.begin(), x.end(), at.begin());
        (void)apply_all(at, y);
        return std::sqrt(space.residual(r, b, y));
    };
    bool paused = !pause.stop;
    const auto stop = [&](double residual) {
        if (paused || residual > pause.relative * norm) return false;
        paused = true;
        return pause.stop();
    };
    // The preconditioner finds r in single precision where the space has put it.
    const auto cycle_on_r = [&](const TileVector<double>&, TileVector<float>&) { return cycle(); };
    const krylov::Outcome outcome = krylov::conjugate_gradients(
        space, apply_all, cycle_on_r, x, r, true_residual(), levels_.front().x, goal, stop);
    if (outcome.stopped)
        return {.iterations = outcome.iterations, .residual = outcome.residual / norm, .stopped = true};
    return goal.report(true_residual(), outcome.iterations);
}

std::int64_t Multigrid::memory() const {
    std::int64_t bytes = network_.mixed_count() * std::int64_t(sizeof(TileCoefficients<double>)) +
                         network_.tiling().value_count() * 5 * std::int64_t(sizeof(double));  // b, x, r, p, q
    bytes += modes_.memory() + bytes_of(coarsest_) + bytes_of(coarsest_cell_);
    for (const Level& level : levels_)
        bytes += level.modes.memory() + level.smoothing.memory() + bytes_of(level.inverse) +
                 bytes_of(level.own_inverse) + bytes_of(level.along_x) +
                 level.network.mixed_count() * std::int64_t(sizeof(TileCoefficients<float>)) +
                 std::int64_t(level.b.size()) * 3 * std::int64_t(sizeof(float));
    return bytes;
}

}  // namespace flotsam

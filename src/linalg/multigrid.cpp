#include "linalg/multigrid.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstring>

#include "linalg/coarsen.h"
#include "linalg/tile_rows.h"

namespace flotsam {

using namespace rows;

namespace {

// Chebyshev of the fourth kind, degree 2, for eigenvalues of D^-1 A up to 2, with the weights that minimise
// the two-grid bound (Lottes 2023): z1 = 2/3 D^-1 r0, z2 = 1/5 z1 + 6/5 D^-1 r1, x += beta1 z1 +
// beta2 z2.
constexpr float first_share = 2.0f / 3, carry = 0.2f, second_share = 1.2f;
constexpr float beta1 = 1.02387287570313f, beta2 = 1.26408905371085f;

// 1 / divisor of the cell of each entry.
std::vector<float> inverse_diagonal(const Network<float>& network, const LowRank<float>& modes) {
    std::vector<float> inverse;
    inverse.reserve(modes.entries().size());
    for (const ModeEntry<float>& entry : modes.entries())
        inverse.push_back(inverse_of_divisor(network, entry.cell));
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
    for_each_tile(coarse, 1, [&](std::int64_t coarse_slot) {
        float* to = coarse_b.data() + coarse_slot * block;
        std::memset(to, 0, block * sizeof(float));
        for (const std::int32_t slot : children.of(coarse_slot)) {
            const Int3 corner = parent.corner(network.tiling().tiles()[slot]);
            const Around<float> around(x.data(), network, slot);
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

// The same for listed nodes, and for their links' contributions to the residuals of cells.
void restrict_listed(const Network<float>& network, const Network<float>& coarse, Int3 coarsens,
                     const std::vector<std::int64_t>& joined, const TileVector<float>& b,
                     const TileVector<float>& x, TileVector<float>& coarse_b) {
    if (network.listed().count() == 0) return;
    std::fill(coarse_b.begin() + coarse.first_listed(), coarse_b.begin() + coarse.value_count(), 0.0f);
    for (std::int64_t i = 0; i < network.listed().count(); ++i) {
        const std::int64_t n = network.first_listed() + i;
        coarse_b[coarse.first_listed() + joined[i]] +=
            b[n] - network.coefficients(n / block).diagonal[n % block] * x[n];
    }
    for_each_listed_link(network, [&](std::int64_t n, std::int64_t other, float conductance) {
        coarse_b[parent_of(n, network, coarse, coarsens, joined)] += conductance * x[other];
    });
}

// to += share D'^-1 L from, where L are the links of listed nodes. Returns the product of `with` and the
// change.
double add_listed(const Network<float>& network, float share, const TileVector<float>& from,
                  TileVector<float>& to, std::span<const float> with = {}) {
    double product = 0;
    for_each_listed_link(network, [&](std::int64_t n, std::int64_t other, float conductance) {
        const float change = share * inverse_of_divisor(network, n) * conductance * from[other];
        to[n] += change;
        if (!with.empty()) product += double(with[n]) * change;
    });
    return product;
}

// x += the parent's value, where there is an unknown.
void add_correction(const Network<float>& network, Int3 coarsens, const Tiling& coarse,
                    const TileVector<float>& coarse_x, TileVector<float>& x) {
    const Parent parent{coarsens};
    for_each_tile(network.tiling(), tile_grain, [&](std::int64_t slot) {
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

}  // namespace

Multigrid::Multigrid(const Network<double>& network, const LowRank<double>& modes,
                     const std::vector<GroundLink>& grounds) {
    Network<float> single = in_single_precision(network);
    for (const GroundLink& ground : grounds) {
        const std::int64_t slot = ground.cell / block, local = ground.cell % block;
        single.ground(slot)[ground.axis][local] += float(ground.conductance);
        single.mixed(slot).diagonal[local] += float(ground.conductance);
    }
    add_level(std::move(single), in_single_precision(modes, network.slot_count()));
    const std::vector<Int3> width = widths(modes, network);
    Int3 size{1, 1, 1};
    while (levels_.back().network.tiling().tile_count() > 0) {
        Level& fine = levels_.back();
        const Int3 cells = fine.network.tiling().cells();
        const Int3 coarsens{cells.x > 2, cells.y > 2, cells.z > 2};
        if (coarsens == Int3{0, 0, 0}) break;
        // With more modes than cells all groups share cells, and a direct solution is cheaper than smoothing.
        if (fine.network.tiling().tile_count() == 1 && 6 * modes.groups() >= block) break;
        fine.coarsens = coarsens;
        prepare_smoothing(fine);
        fine.joined = join_listed(fine.network.listed(), fine.network.first_listed(), coarsens);
        Network<float> next = coarsen(fine.network, size, coarsens, fine.joined);
        fine.network.forget_grounds();
        LowRank<float> next_modes =
            coarsen(fine.modes, fine.network, next, coarsens, fine.joined, size, width);
        add_level(std::move(next), std::move(next_modes));
        for (int axis = 0; axis < 3; ++axis) size[axis] <<= coarsens[axis];
    }
    levels_.back().network.forget_grounds();
    factor_coarsest();
}

void Multigrid::add_level(Network<float> network, LowRank<float> modes) {
    const std::size_t values = network.value_count() + block;
    Level& level = levels_.emplace_back();
    level.network = std::move(network);
    level.modes = std::move(modes);
    for (TileVector<float>* v : {&level.b, &level.x, &level.z}) v->assign(values, 0.0f);
}

void Multigrid::prepare_smoothing(Level& level) {
    level.smoothing = level.modes.smoothing(inverse_diagonal(level.network, level.modes));
    for (const auto& [cell, value] : level.smoothing.extra) level.network.add_to_smoothing(cell, value);
    level.inverse = inverse_diagonal(level.network, level.modes);
    level.own_inverse =
        level.smoothing.own ? inverse_diagonal(level.network, *level.smoothing.own) : level.inverse;
}

void Multigrid::factor_coarsest() {
    const Level& last = levels_.back();
    const Tiling& tiling = last.network.tiling();
    std::vector<std::int64_t> row(last.network.value_count(), -1);
    for (std::int64_t n = 0; n < last.network.value_count(); ++n)
        if (last.network.coefficients(n / block).diagonal[n % block] != 0) {
            row[n] = static_cast<std::int64_t>(coarsest_cell_.size());
            coarsest_cell_.push_back(n);
        }
    const auto count = Eigen::Index(coarsest_cell_.size());
    Eigen::MatrixXd coarsest = Eigen::MatrixXd::Zero(count, count);
    for (std::size_t i = 0; i < coarsest_cell_.size(); ++i) {
        const std::int64_t n = coarsest_cell_[i];
        const auto local = static_cast<int>(n % block);
        const Int3 cell = last.network.place(n);
        const TileCoefficients<float>& c = last.network.coefficients(n / block);
        // A pocket without ground makes the matrix singular. A diagonal enlarged by slightly more than the
        // rounding of its links makes it invertible; the constant that this may add in the pocket is
        // arbitrary.
        coarsest(i, i) += (1 + 1e-5) * c.diagonal[local];
        for (int axis = 0; axis < 3; ++axis)
            if (const double link = c.link[axis][local]; link != 0) {
                const std::int64_t j = row[tiling.find(cell - unit(axis))];
                coarsest(i, j) -= link;
                coarsest(j, i) -= link;
            }
    }
    for_each_listed_link(last.network, [&](std::int64_t a, std::int64_t b, float conductance) {
        coarsest(row[a], row[b]) -= conductance;
    });
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
    restrict_listed(fine.network, coarse.network, fine.coarsens, fine.joined, fine.b, fine.x, coarse.b);
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
    for (std::size_t i = 0; i < fine.joined.size(); ++i)
        fine.x[fine.network.first_listed() + i] += coarse.x[coarse.network.first_listed() + fine.joined[i]];
}

// The smoother divides by D' + K R R^T K^T (Smoothing, in low_rank.h). With z = D'^-1 r, v = R^T K^T z and s
// = G^-1 v, its result for r is z - D'^-1 K R s. Two identities save most of the sweeps over K: R^T K^T of
// that result is s, and R^T K^T D'^-1 K R s is v - s.
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
        const Around<float> around(z.data(), network, slot);
        for_each_row([&](int j, int k, int r) {
            const auto rows = around.rows(j, k);
            const Row<float> residual = load(b.data() + slot * block + r) -
                                        links.diagonal(j, k) * rows.center + links.gather(rows, j, k);
            store(x.data() + slot * block + r, share * rows.center + step * links.inverse(j, k) * residual);
        });
    });
    add_listed(network, step, z, x);
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
        const Around<float> around(x.data(), network, slot);
        for_each_row([&](int j, int k, int r) {
            const auto rows = around.rows(j, k);
            const Row<float> residual = load(b.data() + slot * block + r) -
                                        links.diagonal(j, k) * rows.center + links.gather(rows, j, k);
            store(z.data() + slot * block + r, first_share * links.inverse(j, k) * residual);
        });
    });
    add_listed(network, first_share, x, z);
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
        const Around<float> around(z.data(), network, slot);
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
    product += add_listed(network, step, z, x, b);
    if (!modes) return product;
    // r0 = (D' z1 + K R s) / (2/3), since the modes subtracted D'^-1 K R s from z1; r1 as in
    // smooth_from_zero.
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

std::int64_t Multigrid::memory() const {
    std::int64_t bytes = bytes_of(coarsest_) + bytes_of(coarsest_cell_);
    for (const Level& level : levels_)
        bytes += level.modes.memory() + level.smoothing.memory() + bytes_of(level.inverse) +
                 bytes_of(level.own_inverse) + bytes_of(level.along_x) +
                 level.network.mixed_count() * std::int64_t(sizeof(TileCoefficients<float>)) +
                 std::int64_t(level.b.size()) * 3 * std::int64_t(sizeof(float));
    return bytes;
}

}  // namespace flotsam

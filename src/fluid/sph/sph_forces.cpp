#include "fluid/sph/sph_forces.h"

#include <array>
#include <cmath>
#include <experimental/simd>

#include "core/parallel.h"

namespace flotsam {

namespace {

namespace simd = std::experimental;
// Eight lanes: a run of neighbours is about thirty long, and more lanes would leave more of them idle.
using Lanes = simd::simd<float, simd::simd_abi::deduce_t<float, 8>>;
using Ints = simd::rebind_simd_t<int, Lanes>;
constexpr std::int32_t width = std::int32_t(Lanes::size());

double unit_of(const SphModel& model) { return std::exp2(std::floor(std::log2(model.spacing)) - 19); }

// Consecutive places of the order, [begin, end).
struct Run {
    std::int32_t begin, end;
};

// Calls body(i, runs, count) for each particle i and runs of others; every pair within reach occurs exactly
// once. The order does not depend on the threads, and no two threads handle the same particle at the same
// time.
template <class Body>
void for_each_run(const SphCells& cells, const Body& body) {
    for (const std::vector<std::int32_t>& group : cells.groups())
        parallel_blocks(std::int64_t(group.size()), 1, [&](std::int64_t begin, std::int64_t) {
            const std::int32_t row = group[begin];
            for (int cell = 0; cell < cells.row_length(); ++cell) {
                const Run own{cells.begin(row, cell), cells.begin(row, cell + 1)};
                if (own.begin == own.end) continue;
                const int low = std::max(cell - SphCells::cells_per_reach, 0);
                const int high = std::min(cell + SphCells::cells_per_reach + 1, cells.row_length());
                std::array<Run, SphCells::most_after + 1> runs;
                int count = 0;
                runs[count++] = {0, cells.begin(row, high)};
                for (const std::int32_t after : cells.rows_after(row))
                    if (after >= 0) runs[count++] = {cells.begin(after, low), cells.begin(after, high)};
                for (std::int32_t i = own.begin; i < own.end; ++i) {
                    runs[0].begin = i + 1;
                    body(i, runs.data(), count);
                }
            }
        });
}

// Adds lanes to numbers in memory; with the mask `rest`, only the first ones, because the others may belong
// to another thread.
void add(std::vector<float>& column, std::int32_t at, Lanes value) {
    (Lanes(&column[at], simd::element_aligned) + value).copy_to(&column[at], simd::element_aligned);
}
void add(std::vector<float>& column, std::int32_t at, Lanes value, Lanes::mask_type rest) {
    Lanes sum(0.f);
    where(rest, sum).copy_from(&column[at], simd::element_aligned);
    sum += value;
    where(rest, sum).copy_to(&column[at], simd::element_aligned);
}

Lanes load(const std::vector<float>& column, std::int32_t at) {
    return Lanes(&column[at], simd::element_aligned);
}

// Differences of position, of particle i less others.
class PairDistances {
  public:
    PairDistances(const SphColumns& columns, const SphModel& model)
        : columns_(columns), unit_(float(unit_of(model))) {}
    struct Apart {
        Lanes x, y, z, squared;
    };
    Apart operator()(std::int32_t i, std::int32_t at) const {
        const Lanes x = apart(columns_.x, i, at), y = apart(columns_.y, i, at), z = apart(columns_.z, i, at);
        return {x, y, z, x * x + y * y + z * z};
    }

  private:
    Lanes apart(const std::vector<std::int32_t>& column, std::int32_t i, std::int32_t at) const {
        return simd::static_simd_cast<Lanes>(column[i] - Ints(&column[at], simd::element_aligned)) * unit_;
    }
    const SphColumns& columns_;
    float unit_;
};

// Calls body(at, apart, add) for the lanes of a run. Lanes after its end get a large distance, and add skips
// them.
template <class Body>
void for_each_lanes(const PairDistances& distances, std::int32_t i, Run run, const Body& body) {
    std::int32_t at = run.begin;
    for (; at + width <= run.end; at += width)
        body(at, distances(i, at), [at](std::vector<float>& column, Lanes value) { add(column, at, value); });
    if (at < run.end) {
        const Lanes lane([](int n) { return float(n); });
        const auto rest = lane < float(run.end - at);
        PairDistances::Apart apart = distances(i, at);
        where(!rest, apart.squared) = 1e15f;
        body(at, apart,
             [at, rest](std::vector<float>& column, Lanes value) { add(column, at, value, rest); });
    }
}

}  // namespace

void sort_by_cell(const SphLiquid& liquid, SphCells& cells, SphLiquid& sorted) {
    cells.sort(liquid.position);
    const std::vector<std::int32_t>& order = cells.order();
    sorted.position.resize(order.size());
    sorted.velocity.resize(order.size());
    sorted.density.resize(order.size());
    parallel_for(std::int64_t(order.size()), 4096, [&](std::int64_t n) {
        sorted.position[n] = liquid.position[order[n]];
        sorted.velocity[n] = liquid.velocity[order[n]];
        sorted.density[n] = liquid.density[order[n]];
    });
}

void fill_columns(const SphLiquid& liquid, const SphModel& model, SphColumns& columns) {
    // The last lanes of the last run reach beyond the last particle.
    const auto size = std::size_t(liquid.count()) + width;
    for (auto* column : {&columns.x, &columns.y, &columns.z}) column->resize(size);
    for (auto* column : {&columns.vx, &columns.vy, &columns.vz, &columns.density, &columns.term, &columns.ax,
                         &columns.ay, &columns.az})
        column->resize(size);
    const double per_unit = 1 / unit_of(model);
    parallel_for(liquid.count(), 4096, [&](std::int64_t i) {
        const Vec3 p = liquid.position[i] * per_unit;
        const Vec3f v = liquid.velocity[i];
        columns.x[i] = std::int32_t(p.x), columns.y[i] = std::int32_t(p.y), columns.z[i] = std::int32_t(p.z);
        columns.vx[i] = v.x, columns.vy[i] = v.y, columns.vz[i] = v.z;
    });
}

void sum_kernel(SphColumns& columns, const SphCells& cells, const SphModel& model) {
    const PairDistances distances(columns, model);
    const float inverse_h = float(1 / model.kernel.h), k = float(model.kernel_volume() * model.kernel.k);
    std::vector<float>& sum = columns.sum();
    std::fill(sum.begin(), sum.end(), float(model.kernel_volume() * model.kernel.value(0)));
    for_each_run(cells, [&](std::int32_t i, const Run* runs, int count) {
        Lanes own(0.f);
        for (int r = 0; r < count; ++r)
            for_each_lanes(distances, i, runs[r], [&](std::int32_t, const auto& apart, const auto& add) {
                const Lanes q = simd::sqrt(apart.squared) * inverse_h;
                const Lanes a = simd::max(2 - q, Lanes(0.f)), b = simd::max(1 - q, Lanes(0.f));
                const Lanes value = k * (a * a * a - 4 * b * b * b);
                own += value;
                add(sum, value);
            });
        sum[i] += simd::reduce(own);
    });
}

void find_density(SphLiquid& liquid, SphColumns& columns, const SphCells& cells, const SphModel& model,
                  const std::vector<float>& open) {
    sum_kernel(columns, cells, model);
    // On the rest lattice the sum is not quite one; dividing by it makes the density there exactly the rest
    // density.
    const double full = model.lattice_sum();
    parallel_for(liquid.count(), 4096, [&](std::int64_t i) {
        liquid.density[i] = float(model.rest_density * columns.sum()[i] / (full * open[i]));  //      [Eq. 2]
    });
}

void pair_accelerations(const SphLiquid& liquid, SphColumns& columns, const SphCells& cells,
                        const SphModel& model, const std::vector<float>& open) {
    parallel_for(liquid.count(), 4096, [&](std::int64_t i) {
        const double rho = liquid.density[i];
        columns.density[i] = float(rho);
        columns.term[i] = float(liquid_pressure(model, rho) / (rho * rho * open[i]));  //  [Eq. 6]
    });
    for (std::vector<float>* column : {&columns.ax, &columns.ay, &columns.az})
        std::fill(column->begin(), column->end(), 0.f);

    const PairDistances distances(columns, model);
    const double h = model.kernel.h;
    const float inverse_h = float(1 / h), slope = float(3 * model.kernel_mass() * model.kernel.k / h);
    const float viscous = float(2 * model.alpha * h * model.sound_speed);
    const float soft = float(0.01 * h * h);  // delta h^2: keeps pairs that meet from dividing by zero
    // Avoids 0 / 0 where two particles are in the same place.
    const float nearest = 1e-20f;
    for_each_run(cells, [&](std::int32_t i, const Run* runs, int count) {
        const float vx = columns.vx[i], vy = columns.vy[i], vz = columns.vz[i];
        const float rho = columns.density[i], term = columns.term[i];
        Lanes ax(0.f), ay(0.f), az(0.f);
        for (int r = 0; r < count; ++r)
            for_each_lanes(distances, i, runs[r], [&](std::int32_t at, const auto& apart, const auto& add) {
                const Lanes distance = simd::sqrt(simd::max(apart.squared, Lanes(nearest)));
                const Lanes q = distance * inverse_h;
                const Lanes a = simd::max(2 - q, Lanes(0.f)), b = simd::max(1 - q, Lanes(0.f));
                // Eq. 4 and 5 over a common denominator: a division takes as long as the rest.
                const Lanes approach = (vx - load(columns.vx, at)) * apart.x +
                                       (vy - load(columns.vy, at)) * apart.y +
                                       (vz - load(columns.vz, at)) * apart.z;
                const Lanes below = (apart.squared + soft) * (rho + load(columns.density, at));
                const Lanes force = ((term + load(columns.term, at)) * below - viscous * approach) *
                                    (slope * (a * a - 4 * b * b)) / (below * distance);
                const Lanes fx = force * apart.x, fy = force * apart.y, fz = force * apart.z;
                ax += fx, ay += fy, az += fz;
                add(columns.ax, -fx), add(columns.ay, -fy), add(columns.az, -fz);
            });
        columns.ax[i] += simd::reduce(ax);
        columns.ay[i] += simd::reduce(ay);
        columns.az[i] += simd::reduce(az);
    });
}

double pressure_at(const SphLiquid& liquid, const SphModel& model, Vec3 p) {
    double sum = 0, weight = 0;
    for (std::int64_t i = 0; i < liquid.count(); ++i) {
        const double w = model.kernel.value(length(liquid.position[i] - p));
        sum += w * liquid_pressure(model, liquid.density[i]);
        weight += w;
    }
    return sum / weight;
}

double sound_dt(const SphModel& model) {
    return 0.4 * model.kernel.h / (model.sound_speed * (1 + 0.6 * model.alpha));
}

}  // namespace flotsam

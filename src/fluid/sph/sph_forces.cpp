#include "fluid/sph/sph_forces.h"

#include <array>
#include <cmath>
#include <experimental/simd>

#include "core/parallel.h"

namespace flotsam {

namespace {

namespace simd = std::experimental;
using Lanes = simd::native_simd<float>;
constexpr std::size_t width = Lanes::size();

// Positions as pairs see them: on a lattice of a millionth of the spacing. Seen from any particle nearby they
// are exact in single precision, and so are their differences, wherever in the domain the pair is.
class PairPositions {
  public:
    explicit PairPositions(const SphModel& model)
        : unit_(std::exp2(std::floor(std::log2(model.spacing)) - 20)), per_unit_(1 / unit_) {}
    Vec3f operator()(Vec3 p, Vec3 origin) const {
        return {float((snapped(p.x) - snapped(origin.x)) * unit_),
                float((snapped(p.y) - snapped(origin.y)) * unit_),
                float((snapped(p.z) - snapped(origin.z)) * unit_)};
    }

  private:
    // Adding and taking away a large number rounds to a whole one, faster than a call would.
    double snapped(double x) const { return (x * per_unit_ + 0x1.8p52) - 0x1.8p52; }
    double unit_, per_unit_;
};

// The particles in the cells around one, copied side by side, seen from the first particle of that cell.
class Neighbourhood {
  public:
    enum Column { x, y, z, vx, vy, vz, density, pressure_term, columns };

    explicit Neighbourhood(const SphModel& model) : relative_(model) {}

    // `terms`: P / rho^2 of every particle, or null where it is not needed.
    void gather(const SphLiquid& liquid, const std::vector<float>* terms, const SphCells& cells,
                std::int64_t cell) {
        origin_ = liquid.position[cells.begin(cell)];
        std::size_t n = 0;
        for (int s = 0; s < cells.around_count(); ++s)
            if (const std::int32_t c = cells.around(cell)[s]; c >= 0)
                n += cells.begin(c + 1) - cells.begin(c);
        count_ = (n + width - 1) / width * width;
        for (auto& column : value_) column.resize(count_);
        n = 0;
        for (int s = 0; s < cells.around_count(); ++s) {
            const std::int32_t c = cells.around(cell)[s];
            if (c < 0) continue;
            for (std::int32_t i = cells.begin(c); i < cells.begin(c + 1); ++i, ++n) {
                const Vec3f p = place(liquid.position[i]), v = liquid.velocity[i];
                value_[x][n] = p.x, value_[y][n] = p.y, value_[z][n] = p.z;
                value_[vx][n] = v.x, value_[vy][n] = v.y, value_[vz][n] = v.z;
                value_[density][n] = liquid.density[i];
                value_[pressure_term][n] = terms ? (*terms)[i] : 0;
            }
        }
        // What fills the last lanes is too far away to be felt.
        for (; n < count_; ++n) {
            for (auto& column : value_) column[n] = 0;
            value_[x][n] = 1e15f;
            value_[density][n] = 1;
        }
    }
    Vec3f place(Vec3 p) const { return relative_(p, origin_); }
    std::size_t count() const { return count_; }
    Lanes operator()(Column column, std::size_t n) const {
        return Lanes(value_[column].data() + n, simd::element_aligned);
    }

  private:
    PairPositions relative_;
    Vec3 origin_;
    std::array<std::vector<float>, columns> value_;
    std::size_t count_ = 0;
};

// The kernel in single precision, many distances at a time.
struct LaneKernel {
    float inverse_h, k, slope_k;
    explicit LaneKernel(const CubicSpline& kernel)
        : inverse_h(float(1 / kernel.h)), k(float(kernel.k)), slope_k(float(-3 * kernel.k / kernel.h)) {}
    struct Both {
        Lanes value, gradient_factor;
    };
    Both operator()(Lanes r_squared) const {
        // Without a least distance, a particle's own entry would divide by zero.
        const Lanes r = simd::sqrt(simd::max(r_squared, Lanes(1e-20f)));
        const Lanes q = r * inverse_h;
        const Lanes a = simd::max(2 - q, Lanes(0.f)), b = simd::max(1 - q, Lanes(0.f));
        return {k * (a * a * a - 4 * b * b * b), slope_k * (a * a - 4 * b * b) / r};
    }
};

// Calls body(neighbourhood, i) for every particle i, cell by cell along the curve.
template <class Body>
void for_each_particle(const SphLiquid& liquid, const std::vector<float>* terms, const SphCells& cells,
                       const SphModel& model, const Body& body) {
    parallel_blocks(cells.cell_count(), 16, [&](std::int64_t begin, std::int64_t end) {
        Neighbourhood near(model);
        for (std::int64_t cell = begin; cell < end; ++cell) {
            if (cells.begin(cell) == cells.begin(cell + 1)) continue;
            near.gather(liquid, terms, cells, cell);
            for (std::int32_t i = cells.begin(cell); i < cells.begin(cell + 1); ++i) body(near, i);
        }
    });
}

double sum(Lanes lanes) {
    double total = 0;
    for (std::size_t l = 0; l < width; ++l) total += lanes[l];
    return total;
}

double kernel_sum(const Neighbourhood& near, const SphLiquid& liquid, const LaneKernel& kernel,
                  std::int32_t i) {
    using N = Neighbourhood;
    const Vec3f p = near.place(liquid.position[i]);
    Lanes total(0.f);
    for (std::size_t n = 0; n < near.count(); n += width) {
        const Lanes dx = p.x - near(N::x, n), dy = p.y - near(N::y, n), dz = p.z - near(N::z, n);
        total += kernel(dx * dx + dy * dy + dz * dz).value;
    }
    return sum(total);
}

// The kernel's sum of volumes at a particle of the lattice that liquid rests on.
double lattice_sum(const SphModel& model) {
    const int reach = int(model.kernel.support() / model.spacing) + 1;
    double total = 0;
    for (int k = model.flat ? 0 : -reach; k <= (model.flat ? 0 : reach); ++k)
        for (int j = -reach; j <= reach; ++j)
            for (int i = -reach; i <= reach; ++i)
                total +=
                    model.kernel_volume() * model.kernel.value(model.spacing * length(Vec3(Int3{i, j, k})));
    return total;
}

}  // namespace

void sort_by_cell(SphLiquid& liquid, SphCells& cells) {
    cells.sort(liquid.position);
    const std::vector<std::int32_t>& order = cells.order();
    const auto rearrange = [&](auto& values) {
        auto sorted = values;
        parallel_for(std::int64_t(order.size()), 4096, [&](std::int64_t n) { sorted[n] = values[order[n]]; });
        values.swap(sorted);
    };
    rearrange(liquid.position);
    rearrange(liquid.velocity);
    rearrange(liquid.density);
}

std::vector<float> kernel_sums(const SphLiquid& liquid, const SphCells& cells, const SphModel& model) {
    std::vector<float> sums(liquid.count());
    const LaneKernel kernel(model.kernel);
    for_each_particle(liquid, nullptr, cells, model, [&](const Neighbourhood& near, std::int32_t i) {
        sums[i] = float(model.kernel_volume() * kernel_sum(near, liquid, kernel, i));
    });
    return sums;
}

void find_density(SphLiquid& liquid, const SphCells& cells, const SphModel& model,
                  const std::vector<float>& open) {
    const LaneKernel kernel(model.kernel);
    // On the lattice of rest the sum is not quite one; there the density shall be exactly that of rest.
    const double full = lattice_sum(model);
    std::vector<float> density(liquid.count());
    for_each_particle(liquid, nullptr, cells, model, [&](const Neighbourhood& near, std::int32_t i) {
        const double sum = model.kernel_volume() * kernel_sum(near, liquid, kernel, i);
        density[i] = float(model.rest_density * sum / (full * open[i]));  //             [Becker09 Eq. 2]
    });
    liquid.density.swap(density);
}

void pair_accelerations(const SphLiquid& liquid, const SphCells& cells, const SphModel& model,
                        std::vector<Vec3f>& acceleration) {
    using N = Neighbourhood;
    std::vector<float> terms(liquid.count());  // P / rho^2                                [Becker09 Eq. 6]
    parallel_for(liquid.count(), 4096, [&](std::int64_t i) {
        const double rho = liquid.density[i];
        terms[i] = float(liquid_pressure(model, rho) / (rho * rho));
    });
    acceleration.resize(liquid.count());
    const LaneKernel kernel(model.kernel);
    const double h = model.kernel.h;
    const float viscous = float(2 * model.alpha * h * model.sound_speed);
    const float soft = float(0.01 * h * h);  // delta h^2: keeps pairs that meet from dividing by zero
    for_each_particle(liquid, &terms, cells, model, [&](const Neighbourhood& near, std::int32_t i) {
        const Vec3f p = near.place(liquid.position[i]), v = liquid.velocity[i];
        const float own = terms[i], rho = liquid.density[i];
        Lanes ax(0.f), ay(0.f), az(0.f);
        for (std::size_t n = 0; n < near.count(); n += width) {
            const Lanes dx = p.x - near(N::x, n), dy = p.y - near(N::y, n), dz = p.z - near(N::z, n);
            const Lanes r_squared = dx * dx + dy * dy + dz * dz;
            const Lanes apart =
                (v.x - near(N::vx, n)) * dx + (v.y - near(N::vy, n)) * dy + (v.z - near(N::vz, n)) * dz;
            const Lanes pi =
                -viscous * apart / ((r_squared + soft) * (rho + near(N::density, n)));  // [Eq. 5]
            const Lanes force = (own + near(N::pressure_term, n) + pi) * kernel(r_squared).gradient_factor;
            ax += force * dx, ay += force * dy, az += force * dz;  // [Eq. 4]
        }
        acceleration[i] = Vec3f(Vec3{sum(ax), sum(ay), sum(az)} * -model.kernel_mass());
    });
}

double sound_dt(const SphModel& model) {
    return 0.4 * model.kernel.h / (model.sound_speed * (1 + 0.6 * model.alpha));
}

}  // namespace flotsam

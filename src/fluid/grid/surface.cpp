#include "fluid/grid/surface.h"

#include <cmath>
#include <cstring>

#include "fluid/grid/extrapolate.h"
#include "fluid/grid/lanes.h"
#include "fluid/grid/sample.h"
#include "fluid/grid/scatter.h"

namespace flotsam {

namespace {

// The kernel of the filling along one axis: a quadratic B-spline, which reaches 1.5 cells to each side.
// Narrower ones show single particles, wider ones swallow sheets and drops.
constexpr double kernel_reach = 1.5;

double kernel(double t) {  // t in cells
    const double a = std::abs(t);
    return a < 0.5 ? 0.75 - a * a : a < 1.5 ? 0.5 * (1.5 - a) * (1.5 - a) : 0;
}
double kernel_integral(double t) {  // from -infinity to t
    if (t <= -1.5) return 0;
    if (t >= 1.5) return 1;
    if (t < -0.5) return (t + 1.5) * (t + 1.5) * (t + 1.5) / 6;
    if (t > 0.5) return 1 - (1.5 - t) * (1.5 - t) * (1.5 - t) / 6;
    return 0.5 + 0.75 * t - t * t * t / 3;
}
// Filling of a cell whose centre lies `d` cells above a flat surface: G.
double filling_above_surface(double d) { return kernel_integral(-d); }

// Distance in cells at which a flat surface gives this filling: G^-1.
class DistanceOfFilling {
  public:
    DistanceOfFilling() {
        for (int i = 0; i < size; ++i) {
            double low = -kernel_reach, high = kernel_reach;  // filling falls with distance
            for (int halving = 0; halving < 50; ++halving) {
                const double middle = 0.5 * (low + high);
                (filling_above_surface(middle) > double(i) / (size - 1) ? low : high) = middle;
            }
            table_[i] = 0.5 * (low + high);
        }
    }
    double operator()(double filling) const {
        const double g = std::clamp(filling, 0.0, 1.0) * (size - 1);
        const int i = std::min(size - 2, int(g));
        return table_[i] + (g - i) * (table_[i + 1] - table_[i]);
    }

  private:
    static constexpr int size = 2049;
    std::array<double, size> table_;
};

// Filling of each cell along one axis when the whole domain is full: less than 1 beside a side.
std::vector<double> full_filling(int cells) {
    if (cells == 1) return {1.0};  // no spreading across a slab
    std::vector<double> filling(cells);
    for (int i = 0; i < cells; ++i)
        filling[i] = kernel_integral(cells - (i + 0.5)) - kernel_integral(-(i + 0.5));
    return filling;
}

// spread_volume for cells with many particles: sums the contributions of a cell's particles to each of the 27
// cells around it, sixteen particles at a time.
Field<float> spread_dense_volume(const Particles& particles, const CellRanges& cells, const Domain& domain,
                                 const std::shared_ptr<const Tiling>& tiling) {
    Field<float> filling(tiling, 0);
    const float share = 1.0f / static_cast<float>(particles_per_cell(domain)), per_h = float(1 / domain.h);
    const auto spread = [&](Int3 own, std::int32_t begin, std::int32_t end, auto at) {
        Floats given[27] = {};
        for (std::int32_t first = begin; first < end; first += lanes) {
            const int count = std::min(lanes, end - first);
            const Lanes x = load_lanes(particles.position.data() + first, count);
            const Floats one = first_lanes(count) ? Floats{} + 1.f : Floats{};  // zero in unused lanes
            Floats weight[3][3];
            for (int a = 0; a < 3; ++a) {
                const Floats s = x[a] * per_h - (float(own[a]) + 0.5f);  // from the cell's centre, in cells
                const bool flat = domain.cells[a] == 1;
                weight[a][0] = flat ? Floats{} : 0.5f * (0.5f - s) * (0.5f - s);  // kernel(s + 1)
                weight[a][1] = flat ? Floats{} + 1.f : 0.75f - s * s;
                weight[a][2] = flat ? Floats{} : 0.5f * (0.5f + s) * (0.5f + s);
            }
            for (Floats& w : weight[2]) w *= one;
            for (int k = 0; k < 3; ++k)
                for (int j = 0; j < 3; ++j) {
                    const Floats across = weight[1][j] * weight[2][k];
                    for (int i = 0; i < 3; ++i) given[i + 3 * (j + 3 * k)] += weight[0][i] * across;
                }
        }
        for (int n = 0; n < 27; ++n) {
            const Int3 to = own + Int3{n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
            if (!domain.has_cell(to)) continue;  // full_filling makes up for the part beyond a side
            float sum = 0;
            for (int l = 0; l < lanes; ++l) sum += given[n][l];
            *at(to) += share * sum;
        }
    };
    scatter_cells(filling, cells, domain.cells - Int3{1, 1, 1}, spread);
    return filling;
}

// Particle volumes, as shares of a cell, spread over the cells around them.
Field<float> spread_volume(const Particles& particles, const CellRanges& cells, const Domain& domain,
                           const std::shared_ptr<const Tiling>& tiling) {
    if (domain.particles_per_edge > 2) return spread_dense_volume(particles, cells, domain, tiling);
    Field<float> filling(tiling, 0);
    const float share = 1.0f / static_cast<float>(particles_per_cell(domain));
    // A row of three cells and an unused fourth is one vector.
    typedef float CellRow __attribute__((vector_size(4 * sizeof(float))));
    scatter_particles(filling, cells, domain.cells - Int3{1, 1, 1}, [&](std::int64_t i, auto at) {
        const Vec3 x = Vec3(particles.position[i]) / domain.h;
        const Int3 own{int(x.x), int(x.y), int(x.z)};
        std::array<std::array<float, 3>, 3> weight;  // of the cells before, at and after the particle's own
        for (int a = 0; a < 3; ++a)
            for (int d = 0; d < 3; ++d) {
                const int c = own[a] + d - 1;
                // full_filling makes up for the part beyond a side.
                const bool inside = c >= 0 && c < domain.cells[a];
                weight[a][d] = !inside                ? 0
                               : domain.cells[a] == 1 ? 1
                                                      : static_cast<float>(kernel(x[a] - (c + 0.5)));
            }
        const CellRow along_x = {share * weight[0][0], share * weight[0][1], share * weight[0][2], 0};
        for (int dk = 0; dk < 3; ++dk)
            for (int dj = 0; dj < 3; ++dj) {
                float* to = at(own + Int3{-1, dj - 1, dk - 1});
                CellRow row;
                std::memcpy(&row, to, sizeof row);
                row += along_x * (weight[1][dj] * weight[2][dk]);
                std::memcpy(to, &row, sizeof row);
            }
    });
    return filling;
}

// full_filling for walls and solids together: the filling of each cell when all open space is full.
Field<double> spread_openness(const Field<double>& open_volume, const Domain& domain) {
    Field<double> full = open_volume;
    for (int axis = 0; axis < 3; ++axis) {
        if (domain.cells[axis] == 1) continue;
        const Field<double> before = full;
        // The kernel's integral over a cell and over the cells beside it.
        for_each_cell(full.tiling(), domain.cells, [&](Int3 c, std::int64_t n) {
            const double low = c[axis] > 0 ? before(c - unit(axis)) : 0;
            const double high = c[axis] + 1 < domain.cells[axis] ? before(c + unit(axis)) : 0;
            full[n] = 2.0 / 3 * before[n] + (low + high) / 6;
        });
    }
    return full;
}

// Continues values into open cells that have none, layer by layer and only through open faces: cells that a
// thin solid divides, which hold particles of both sides, and films, which are too thin for particles. They
// are as full as what is beside them on their own side.
void continue_along_openings(Field<double>& values, Field<char>& known, const Obstacles& obstacles,
                             const Domain& domain) {
    const Tiling& tiling = values.tiling();
    std::vector<Int3> missing;
    for (std::int64_t slot = 0; slot < tiling.owned_count(); ++slot)
        if (obstacles.touches[slot])
            for_each_cell_of_tile(tiling, slot, domain.cells, [&](Int3 c, std::int64_t n) {
                if (!known[n] && obstacles.open_volume[n] > 0) missing.push_back(c);
            });
    std::vector<std::pair<Int3, double>> layer;
    do {
        layer.clear();
        std::erase_if(missing, [&](Int3 c) {
            double sum = 0;
            int count = 0;
            for (int axis = 0; axis < 3; ++axis)
                for (const int direction : {0, 1}) {
                    const Int3 beside = direction ? c + unit(axis) : c - unit(axis);
                    if (!domain.has_cell(beside) || !known(beside)) continue;
                    if (obstacles.open_face[axis](direction ? beside : c) == 0) continue;
                    sum += values(beside);
                    ++count;
                }
            if (count > 0) layer.emplace_back(c, sum / count);
            return count > 0;
        });
        for (const auto& [c, value] : layer) {
            values.at(c) = value;
            known.at(c) = 1;
        }
    } while (!layer.empty());
}

// Divides the filling by that of full open space; where hardly anything is open, extrapolates it. Returns the
// cells that it is measured in.
Field<char> fill_up_beside_solids(Field<float>& filling, const Obstacles& obstacles, const Domain& domain) {
    constexpr double least_openness = 0.25;  // below it single particles dominate
    const Field<double> full = spread_openness(obstacles.open_volume, domain);
    Field<double> values(filling.shared_tiling(), 0);
    Field<char> known(filling.shared_tiling(), 0);
    for_each_cell(filling.tiling(), domain.cells, [&](Int3, std::int64_t n) {
        if (full[n] < least_openness || obstacles.split[n]) return;
        values[n] = filling[n] / full[n];
        known[n] = 1;
    });
    Field<char> measured = known;
    continue_along_openings(values, known, obstacles, domain);
    extrapolate(values, known, domain.cells, 3);
    for_each_cell(filling.tiling(), domain.cells,
                  [&](Int3, std::int64_t n) { filling[n] = static_cast<float>(values[n]); });
    return measured;
}

// Signed distances beyond the kernel's reach, from the nearer ones: a few Jacobi sweeps of the upwind Eikonal
// equation.
void extend_distance(Field<double>& phi, const Field<char>& trusted, const Domain& domain, int sweeps) {
    Field<double> next = phi;
    const Tiling& tiling = phi.tiling();
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        for_each_tile(tiling, 1, [&](std::int64_t slot) {
            const TileView<double> view(phi, slot);
            for_each_cell_of_tile(tiling, slot, domain.cells, [&](Int3 c, std::int64_t n) {
                if (trusted[n]) return;
                const int local = static_cast<int>(n - slot * Tiling::cells_per_tile);
                const double here = view[local], sign = here < 0 ? -1 : 1;
                std::array<double, 3> nearest;  // smallest neighbour per axis, as a positive distance
                for (int a = 0; a < 3; ++a) {
                    nearest[a] = std::abs(here);
                    if (c[a] > 0) nearest[a] = std::min(nearest[a], sign * view.lower(local, a));
                    if (c[a] + 1 < domain.cells[a])
                        nearest[a] = std::min(nearest[a], sign * view.higher(local, a));
                    nearest[a] = std::max(nearest[a], 0.0);
                }
                std::sort(nearest.begin(), nearest.end());
                double d = nearest[0] + domain.h;
                if (d > nearest[1]) {
                    const double sum = nearest[0] + nearest[1], gap = nearest[0] - nearest[1];
                    d = 0.5 * (sum + std::sqrt(std::max(0.0, 2 * domain.h * domain.h - gap * gap)));
                    if (d > nearest[2]) {
                        const double s3 = sum + nearest[2];
                        const double q3 =
                            nearest[0] * nearest[0] + nearest[1] * nearest[1] + nearest[2] * nearest[2];
                        d = (s3 + std::sqrt(std::max(0.0, s3 * s3 - 3 * (q3 - domain.h * domain.h)))) / 3;
                    }
                }
                next[n] = sign * std::min(d, std::abs(here));
            });
        });
        std::swap(phi, next);
    }
}

// Replaces the distance by that to the nearest sphere, in cells whose centre no solid covers. Half a cell's
// diagonal is the least radius that leaves no hole where each cell has a particle; the thesis does not say.
void take_spheres(Field<double>& phi, const Particles& particles, const CellRanges& cells,
                  const Domain& domain, const Obstacles& obstacles) {
    const double radius = 0.505 * std::sqrt(domain.flat() ? 2.0 : 3.0) * domain.h;
    const Tiling& tiling = phi.tiling();
    for_each_cell(tiling, domain.cells, [&](Int3 c, std::int64_t n) {
        const Vec3 center = domain.cell_center(c);
        if (obstacles.any() && obstacles.touches[n / Tiling::cells_per_tile] &&
            obstacles.open_volume[n] < 1 && obstacles.list[obstacles.nearest(c, center)].distance(center) < 0)
            return;
        double nearest = outside_distance(domain);
        Int3 d;
        for (d.z = -1; d.z <= 1; ++d.z)
            for (d.y = -1; d.y <= 1; ++d.y)
                for (d.x = -1; d.x <= 1; ++d.x) {
                    const std::int64_t m = domain.has_cell(c + d) ? tiling.find(c + d) : -1;
                    for (std::int32_t i = m < 0 ? 0 : cells.begin[m]; m >= 0 && i < cells.begin[m + 1]; ++i) {
                        Vec3 way = Vec3(particles.position[i]) - center;
                        if (domain.flat()) way.z = 0;
                        nearest = std::min(nearest, length(way) - radius);
                    }
                }
        phi[n] = nearest;
    });
}

}  // namespace

Surface surface_from_particles(const Particles& particles, const CellRanges& cells, const Domain& domain,
                               std::shared_ptr<const Tiling> tiling, const Obstacles& obstacles,
                               bool spheres) {
    static const DistanceOfFilling distance_of_filling;
    Surface surface;
    surface.filling = spread_volume(particles, cells, domain, tiling);

    const double far = outside_distance(domain);
    surface.phi = Field<double>(tiling, far);
    Field<char> trusted(tiling, 0), measured;
    if (!obstacles.any()) {
        const std::array<std::vector<double>, 3> full{
            full_filling(domain.cells.x), full_filling(domain.cells.y), full_filling(domain.cells.z)};
        for_each_cell(*tiling, domain.cells, [&](Int3 c, std::int64_t n) {
            surface.filling[n] =
                static_cast<float>(surface.filling[n] / (full[0][c.x] * full[1][c.y] * full[2][c.z]));
        });
    } else {
        measured = fill_up_beside_solids(surface.filling, obstacles, domain);
    }
    for_each_cell(*tiling, domain.cells, [&](Int3, std::int64_t n) {
        surface.phi[n] = distance_of_filling(surface.filling[n]) * domain.h;
        // The crowd beside a film is not in the film: what one should let out would press on its solids.
        if (!measured.empty() && !measured[n]) surface.filling[n] = 1;
    });
    if (spheres) take_spheres(surface.phi, particles, cells, domain, obstacles);
    // Only next to the surface does a filling below 1 mean a distance; deep inside it is the noise of single
    // particles.
    for_each_tile(*tiling, 1, [&](std::int64_t slot) {
        const TileView<double> view(surface.phi, slot);
        for_each_cell_of_tile(*tiling, slot, domain.cells, [&](Int3 c, std::int64_t n) {
            const int local = static_cast<int>(n - slot * Tiling::cells_per_tile);
            const bool wet = view[local] < 0;
            for (int a = 0; a < 3; ++a) {
                if (c[a] > 0 && (view.lower(local, a) < 0) != wet) trusted[n] = 1;
                if (c[a] + 1 < domain.cells[a] && (view.higher(local, a) < 0) != wet) trusted[n] = 1;
            }
        });
    });
    for_each_cell(*tiling, domain.cells, [&](Int3, std::int64_t n) {
        if (!trusted[n]) surface.phi[n] = surface.phi[n] < 0 ? -far : far;
    });
    extend_distance(surface.phi, trusted, domain, 4);
    return surface;
}

void include_thin_liquid(Field<double>& phi, const CellRanges& cells, const Domain& domain, Vec3 gravity,
                         const Field<double>& open_volume) {
    int down = 1;  // the axis closest to gravity
    for (int a = 0; a < 3; ++a)
        if (std::abs(gravity[a]) > std::abs(gravity[down])) down = a;
    const Int3 below = unit(down) * (gravity[down] > 0 ? 1 : -1);
    // Decided for all cells before any changes, so that the order of cells does not matter.
    Field<char> thin(phi.shared_tiling(), 0);
    for_each_cell(phi.tiling(), domain.cells, [&](Int3 c, std::int64_t n) {
        const auto is_liquid = [&](Int3 at) {
            return domain.has_cell(at) && phi(at) < 0 && (open_volume.empty() || open_volume(at) > 0.5);
        };
        thin[n] = cells.count(n) > 0 && phi[n] >= 0 && !is_liquid(c + below);
    });
    for_each_cell(phi.tiling(), domain.cells, [&](Int3, std::int64_t n) {
        if (thin[n]) phi[n] = -0.05 * domain.h;
    });
}

void close_voids(Field<double>& phi, const Obstacles& obstacles, const Domain& domain, double liquid_volume) {
    if (!obstacles.any()) return;
    // A closed box that is full has no room for air at all.
    const double room = double(domain.cells.x) * domain.cells.y * domain.cells.z -
                        sum_over_cells<double>(phi.tiling(), domain.cells, [&](Int3, std::int64_t n) {
                            return 1 - obstacles.open_volume[n];
                        });
    if (!domain.any_open() && liquid_volume > 0.999 * room * domain.cell_volume()) {
        for_each_cell(phi.tiling(), domain.cells,
                      [&](Int3, std::int64_t n) { phi[n] = std::min(phi[n], -domain.h); });
        return;
    }
    // The largest bubble, in cells. A step far beyond any stable one leaves larger ones behind a light body;
    // filling them with water that is not there raised the energy by 2 %.
    constexpr double largest = 4;
    enum : char { unseen, here, outside };
    Field<char> seen(phi.shared_tiling(), unseen);
    const auto air = [&](Int3 c) { return phi(c) >= 0 && obstacles.open_volume(c) > 0; };
    for (const ObstaclePatch& patch : obstacles.patches) {
        if (seen[patch.cell] != unseen || !air(patch.at)) continue;
        std::vector<Int3> pocket{patch.at};
        seen[patch.cell] = here;
        bool enclosed = true;
        double volume = obstacles.open_volume[patch.cell];
        for (std::size_t i = 0; i < pocket.size() && enclosed; ++i)
            for (int side = 0; side < 6; ++side) {
                const int axis = side / 2;
                const Int3 beside = pocket[i] + unit(axis) * (side % 2 ? 1 : -1);
                // A bubble that reaches an open side of the domain or a missing tile counts as connected to
                // the air outside.
                if (!domain.has_cell(beside) && !domain.open(side)) continue;
                const std::int64_t n = domain.has_cell(beside) ? phi.tiling().find(beside) : -1;
                enclosed &= n >= 0 && seen[n] != outside;
                if (n < 0 || seen[n] != unseen || !air(beside)) continue;
                if (obstacles.open_face[axis](side % 2 ? beside : pocket[i]) == 0) continue;
                seen[n] = here;
                pocket.push_back(beside);
                volume += obstacles.open_volume[n];
                enclosed &= volume <= largest;
            }
        for (const Int3 c : pocket) {
            seen.at(c) = outside;
            if (enclosed) phi.at(c) = -0.05 * domain.h;
        }
    }
}

std::int64_t count_droplets(const Field<double>& phi, const CellRanges& cells, const Domain& domain) {
    return sum_over_cells<std::int64_t>(phi.tiling(), domain.cells, [&](Int3, std::int64_t n) {
        return phi[n] > 0.5 * domain.h ? std::int64_t{cells.count(n)} : 0;
    });
}

Field<double> crowding_source(const Surface& surface, const Domain& domain, double relaxation_time) {
    // The filling is one particle uncertain in either direction; more than this is never corrected at once.
    constexpr double largest_deviation = 0.5;
    // Near the surface a low filling is the surface itself; only clear crowding counts there, or noise would
    // swell it.
    constexpr double crowded = 0.2;
    // Beyond the deviation that particles at random places would show, crowding is real, and spreads faster:
    // a ball that crosses a tank of 32 cells ten times lowers the level by 1.8 % without this, by 1.1 % with
    // it (`flotsam validate moving-sphere`).
    const double kernel_squared = 0.55;  // integral of the kernel's square along one axis
    const double noise =
        std::sqrt(std::pow(kernel_squared, domain.flat() ? 2 : 3) / particles_per_cell(domain));
    constexpr double haste = 20, fastest = 5;
    Field<double> source(surface.phi.shared_tiling(), 0);
    for_each_cell(source.tiling(), domain.cells, [&](Int3, std::int64_t n) {
        const double deviation = surface.filling[n] - 1.0;
        const bool deep =
            surface.phi[n] < -kernel_reach * domain.h;  // beyond the kernel's reach from the surface
        if (deep || deviation > crowded)
            source[n] = (std::clamp(deviation, -largest_deviation, largest_deviation) +
                         std::clamp(haste * (deviation - noise), 0.0, fastest)) /
                        relaxation_time;
    });
    return source;
}

double cube_fraction_below(double d, Vec3 normal) {
    double m[3] = {std::abs(normal.x), std::abs(normal.y), std::abs(normal.z)};
    const double size = std::sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);
    if (size == 0) return d < 0 ? 1 : 0;
    for (double& component : m) component = std::max(component / size, 1e-4);  // the formula divides by each
    // The cube's corner furthest inside is at -(m0+m1+m2)/2; alpha is the plane's distance from it.
    const double alpha = 0.5 * (m[0] + m[1] + m[2]) - d;
    const auto cube = [](double t) { return t > 0 ? t * t * t : 0; };
    const double volume = cube(alpha) - cube(alpha - m[0]) - cube(alpha - m[1]) - cube(alpha - m[2]) +
                          cube(alpha - m[0] - m[1]) + cube(alpha - m[0] - m[2]) + cube(alpha - m[1] - m[2]) -
                          cube(alpha - m[0] - m[1] - m[2]);
    return std::clamp(volume / (6 * m[0] * m[1] * m[2]), 0.0, 1.0);
}

double liquid_fraction(const Field<double>& phi, const Domain& domain, Int3 c) {
    const double here = phi(c);
    if (std::abs(here) > domain.h) return here < 0 ? 1 : 0;
    Vec3 slope;
    for (int a = 0; a < 3; ++a) {
        const Int3 low = c - unit(a), high = c + unit(a);
        const double before = domain.has_cell(low) ? phi(low) : here,
                     after = domain.has_cell(high) ? phi(high) : here;
        slope[a] = after - before;
    }
    return cube_fraction_below(here / domain.h, slope);
}

double liquid_volume(const Field<double>& phi, const Domain& domain, const Field<double>& open_volume) {
    return domain.cell_volume() *
           sum_over_cells<double>(phi.tiling(), domain.cells, [&](Int3 c, std::int64_t n) {
               return liquid_fraction(phi, domain, c) * (open_volume.empty() ? 1 : open_volume[n]);
           });
}

double surface_height(const Field<double>& phi, const Domain& domain, double x, double z) {
    double above = outside_distance(domain);
    for (int j = domain.cells.y - 1; j >= 0; --j) {
        const double y = (j + 0.5) * domain.h;
        const double here = sample_cells(phi, domain, {x, y, z});
        if (here < 0) {
            if (j == domain.cells.y - 1) return domain.cells.y * domain.h;
            return y + domain.h * here / (here - above);
        }
        above = here;
    }
    return 0;
}

}  // namespace flotsam

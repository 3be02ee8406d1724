#include "fluid/grid/markers.h"

#include <cmath>
#include <cstring>

#include "core/parallel.h"
#include "fluid/grid/confines.h"
#include "fluid/grid/sample.h"

namespace flotsam {

namespace {

constexpr int lanes = 16;  // markers that are handled at a time: one vector of floats on the widest machines
constexpr std::int64_t grain = 4096;
static_assert(grain % lanes == 0);  // which markers go together does not depend on the number of threads

using Lane = std::array<float, lanes>;
using Lanes = std::array<Lane, 3>;  // a vector for each marker
typedef float Floats __attribute__((vector_size(lanes * sizeof(float))));

Floats floats(const Lane& lane) {
    Floats f;
    std::memcpy(&f, lane.data(), sizeof f);
    return f;
}

// Reads the velocity for markers that mostly follow each other through the same tile: keeps a copy of what is
// around the tile of the last ones.
class LaneSampler {
  public:
    LaneSampler(const MacGrid& u, const Domain& domain) : u_(u), domain_(domain) {}

    // At places given in cells from the origin [m/s].
    void velocity(const Lanes& place, Lanes& u) {
        if (!held(tile_, place)) {
            const int middle = lanes / 2;
            const Int3 tile{int(place[0][middle]) >> 3, int(place[1][middle]) >> 3,
                            int(place[2][middle]) >> 3};
            if (!held(tile, place)) {
                far_apart(place, u);
                return;
            }
            tile_ = tile;
            for (int axis = 0; axis < 3; ++axis) window_[axis].load(u_[axis], tile, last_face(domain_, axis));
        }
        if (Int3 cell; together(place, cell)) {
            component_around<0>(cell, place, u[0]);
            component_around<1>(cell, place, u[1]);
            component_around<2>(cell, place, u[2]);
        } else {
            component<0>(place, u[0]);
            component<1>(place, u[1]);
            component<2>(place, u[2]);
        }
    }

  private:
    static bool held(Int3 tile, const Lanes& place) {
        int outside = tile.x < 0;
        for (int a = 0; a < 3; ++a) {
            const float low = float(tile[a] * Tiling::side) - 1.4f, high = low + 10.3f;  // has all samples
            for (int l = 0; l < lanes; ++l) outside |= int(place[a][l] < low) | int(place[a][l] >= high);
        }
        return outside == 0;
    }
    // Are all of them in one cell, or less than half a cell around it?
    static bool together(const Lanes& place, Int3& cell) {
        int outside = 0;
        for (int a = 0; a < 3; ++a) {
            cell[a] = int(std::floor(place[a][lanes / 2]));
            const float low = float(cell[a]) - 0.499f, high = low + 1.998f;
            for (int l = 0; l < lanes; ++l) outside |= int(place[a][l] < low) | int(place[a][l] >= high);
        }
        return outside == 0;
    }
    // Trilinear, for markers that are together: all of them see the same few samples, each with a weight that
    // is zero where the sample is more than a cell away. Two times as fast as to look for the right eight.
    template <int axis>
    void component_around(Int3 cell, const Lanes& place, Lane& u) const {
        constexpr int side = FieldWindow<float, 2>::side;
        constexpr Int3 count{axis == 0 ? 4 : 3, axis == 1 ? 4 : 3, axis == 2 ? 4 : 3};
        const Int3 first = cell - Int3{1, 1, 1} - window_[axis].corner();
        const float* values = window_[axis].data() + first.x + side * (first.y + side * first.z);
        Floats weight[3][4];
        for (int a = 0; a < 3; ++a)
            for (int i = 0; i < count[a]; ++i) {
                const float sample = float(cell[a] - 1 + i) + (a == axis ? 0.f : 0.5f);
                const Floats apart = floats(place[a]) - sample;
                const Floats share = 1 - (apart < 0 ? -apart : apart);
                weight[a][i] = share > 0 ? share : Floats{};
            }
        Floats sum{};
        for (int k = 0; k < count.z; ++k)
            for (int j = 0; j < count.y; ++j) {
                const float* row = values + side * (j + side * k);
                Floats along_x = weight[0][0] * row[0];
                for (int i = 1; i < count.x; ++i) along_x += weight[0][i] * row[i];
                sum += weight[1][j] * weight[2][k] * along_x;
            }
        std::memcpy(u.data(), &sum, sizeof sum);
    }
    template <int axis>
    void component(const Lanes& place, Lane& u) const {
        constexpr int y = FieldWindow<float, 2>::side, z = y * y;
        const float* values = window_[axis].data();
        Vec3f origin(Vec3(window_[axis].corner()) + Vec3{0.5, 0.5, 0.5});
        origin[axis] -= 0.5f;
        for (int l = 0; l < lanes; ++l) {
            const float gx = place[0][l] - origin.x, gy = place[1][l] - origin.y, gz = place[2][l] - origin.z;
            const int i = int(gx), j = int(gy), k = int(gz);  // positive: cut off is rounded down
            const float fx = gx - float(i), fy = gy - float(j), fz = gz - float(k);
            const float* v = values + (i + y * j + z * k);
            // As Stencil::mix.
            const float a = v[0] + fx * (v[1] - v[0]), b = v[y] + fx * (v[y + 1] - v[y]);
            const float c = v[z] + fx * (v[z + 1] - v[z]), d = v[z + y] + fx * (v[z + y + 1] - v[z + y]);
            const float e = a + fy * (b - a), f = c + fy * (d - c);
            u[l] = e + fz * (f - e);
        }
    }
    void far_apart(const Lanes& place, Lanes& u) const {
        for (int l = 0; l < lanes; ++l) {
            const Vec3 x = Vec3{double(place[0][l]), double(place[1][l]), double(place[2][l])} * domain_.h;
            for (int axis = 0; axis < 3; ++axis) u[axis][l] = float(sample_component(u_, domain_, x, axis));
        }
    }

    const MacGrid& u_;
    const Domain& domain_;
    std::array<FieldWindow<float, 2>, 3> window_;
    Int3 tile_{-1, -1, -1};
};

// Calls body(first, count, place, velocity) for markers begin to end, `count` <= lanes at a time. Lanes that
// are left over repeat the last marker.
template <class Body>
void for_each_lanes(const Particles& markers, const Domain& domain, std::int64_t begin, std::int64_t end,
                    LaneSampler& sampler, const Body& body) {
    const float per_h = float(1 / domain.h);
    for (std::int64_t first = begin; first < end; first += lanes) {
        const int count = int(std::min<std::int64_t>(lanes, end - first));
        alignas(64) Lanes place;  // in cells
        alignas(64) Lanes velocity;
        for (int l = 0; l < lanes; ++l) {
            const Vec3f x = markers.position[first + std::min(l, count - 1)];
            for (int a = 0; a < 3; ++a) place[a][l] = x[a] * per_h;
        }
        sampler.velocity(place, velocity);
        body(first, count, place, velocity);
    }
}

using LaneSums = std::array<std::array<double, lanes>, 3>;

void add(LaneSums& sums, const Lanes& velocity, int count) {
    for (int a = 0; a < 3; ++a)
        for (int l = 0; l < lanes; ++l) sums[a][l] += l < count ? double(velocity[a][l]) : 0.0;
}

Vec3 total(const LaneSums& sums) {
    Vec3 sum;
    for (int a = 0; a < 3; ++a)
        for (const double lane : sums[a]) sum[a] += lane;
    return sum;
}

}  // namespace

Vec3 advance_markers(Particles& markers, const MacGrid& u, const Domain& domain, double dt,
                     const std::vector<Obstacle>& obstacles) {
    const Confines confines(domain, obstacles);
    const Vec3f low(confines.sides().low), high(confines.sides().high);
    const float step = float(dt), half_way = float(0.5 * dt / domain.h);
    std::vector<Vec3> partial((markers.count() + grain - 1) / grain);
    parallel_blocks(markers.count(), grain, [&](std::int64_t begin, std::int64_t end) {
        LaneSampler sampler(u, domain);
        LaneSums sums{};
        const auto move = [&](std::int64_t first, int count, const Lanes& place, const Lanes& velocity) {
            add(sums, velocity, count);
            alignas(64) Lanes middle, there;
            for (int a = 0; a < 3; ++a)
                for (int l = 0; l < lanes; ++l) middle[a][l] = place[a][l] + half_way * velocity[a][l];
            sampler.velocity(middle, there);
            for (int l = 0; l < count; ++l) {
                Vec3f& x = markers.position[first + l];
                const Vec3f to = x + step * Vec3f{there[0][l], there[1][l], there[2][l]};
                x = obstacles.empty() ? min(max(to, low), high) : Vec3f(confines.stop(Vec3(x), Vec3(to)));
            }
        };
        for_each_lanes(markers, domain, begin, end, sampler, move);
        partial[begin / grain] = total(sums);
    });
    Vec3 sum;
    for (const Vec3 block : partial) sum += block;
    return sum;
}

MarkerVelocities velocities_of(const Particles& markers, const MacGrid& u, const Domain& domain) {
    std::vector<MarkerVelocities> partial((markers.count() + grain - 1) / grain);
    parallel_blocks(markers.count(), grain, [&](std::int64_t begin, std::int64_t end) {
        LaneSampler sampler(u, domain);
        LaneSums sums{};
        std::array<double, lanes> squares{}, fastest{};  // the latter squared
        const auto count_in = [&](std::int64_t, int count, const Lanes&, const Lanes& v) {
            add(sums, v, count);
            for (int l = 0; l < lanes; ++l) {
                const double square =
                    l < count ? double(v[0][l] * v[0][l] + v[1][l] * v[1][l] + v[2][l] * v[2][l]) : 0.0;
                squares[l] += square;
                fastest[l] = std::max(fastest[l], square);
            }
        };
        for_each_lanes(markers, domain, begin, end, sampler, count_in);
        MarkerVelocities& block = partial[begin / grain];
        block.sum = total(sums);
        for (int l = 0; l < lanes; ++l) {
            block.squares += squares[l];
            block.fastest = std::max(block.fastest, std::sqrt(fastest[l]));
        }
    });
    MarkerVelocities all;
    for (const MarkerVelocities& block : partial) {
        all.sum += block.sum;
        all.squares += block.squares;
        all.fastest = std::max(all.fastest, block.fastest);
    }
    return all;
}

}  // namespace flotsam

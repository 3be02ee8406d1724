#include "fluid/grid/markers.h"

#include <cmath>

#include "core/parallel.h"
#include "fluid/grid/confines.h"
#include "fluid/grid/lanes.h"
#include "fluid/grid/sample.h"

namespace flotsam {

namespace {

constexpr std::int64_t grain = 4096;
static_assert(grain % lanes == 0);  // the same markers share lanes on any number of threads

bool any(Ints flags) {
    std::array<std::uint64_t, sizeof flags / sizeof(std::uint64_t)> words;
    std::memcpy(words.data(), &flags, sizeof flags);
    std::uint64_t all = 0;
    for (const std::uint64_t word : words) all |= word;
    return all != 0;
}
// The lowest lane that is set; there must be one.
int first_of(Ints flags) {
    int lane = 0;
    while (!flags[lane]) ++lane;
    return lane;
}
int count_of(Ints flags) {
    int count = 0;
    for (int l = 0; l < lanes; ++l) count -= flags[l];
    return count;
}
// Samples the velocity for markers in their order, in which most share a cell with the one before: keeps a
// copy of the velocity around the last tile.
class LaneSampler {
  public:
    LaneSampler(const MacGrid& u, const Domain& domain) : u_(u), domain_(domain) {}

    // The velocity of the first `count` lanes, whose places are in cells from the origin [m/s]; zero in the
    // others.
    Lanes velocity(const Lanes& place, int count) {
        Lanes u{};
        Ints left = first_lanes(count);
        while (any(left)) {
            const int lane = first_of(left);
            Int3 cell;
            if (!find_cell(place, lane, cell)) {
                // A few that left the tile are not worth another copy.
                const Int3 tile{int(place[0][lane]) >> 3, int(place[1][lane]) >> 3, int(place[2][lane]) >> 3};
                if (count_of(left) < lanes / 2 || !load(tile) || !find_cell(place, lane, cell)) {
                    sample_alone(place, lane, u);
                    left[lane] = 0;
                    continue;
                }
            }
            const Ints here = left & around(cell, place);
            const Weights at(cell, place);
            const Lanes v{component<0>(cell, at), component<1>(cell, at), component<2>(cell, at)};
            for (int a = 0; a < 3; ++a) u[a] = here ? v[a] : u[a];
            left &= ~here;
        }
        return u;
    }

  private:
    static constexpr float reach = 0.999f;  // from a cell's centre, in cells: half a cell beyond the cell

    // Mask of the markers in a cell or less than half a cell around it.
    static Ints around(Int3 cell, const Lanes& place) {
        Floats apart{};
        for (int a = 0; a < 3; ++a) apart = larger(apart, absolute(place[a] - (float(cell[a]) + 0.5f)));
        return apart < reach;
    }
    // Finds a cell with this marker in or around it and with all of its samples in the window.
    bool find_cell(const Lanes& place, int lane, Int3& cell) const {
        if (tile_.x < 0) return false;
        for (int a = 0; a < 3; ++a) {
            const float x = place[a][lane];
            const int low = tile_[a] * Tiling::side - 1, high = low + Tiling::side;
            cell[a] = std::clamp(int(std::floor(x)), low, high);
            if (!(std::abs(x - (float(cell[a]) + 0.5f)) < reach)) return false;
        }
        return true;
    }
    bool load(Int3 tile) {
        if (tile.x < 0) return false;
        tile_ = tile;
        for (int axis = 0; axis < 3; ++axis) window_[axis].load(u_[axis], tile, last_face(domain_, axis));
        return true;
    }
    // Trilinear weights for markers around one cell: all of them use the same few samples, with weight zero
    // for samples more than a cell away. Faster than selecting the right eight.
    struct Weights {
        Weights(Int3 cell, const Lanes& place) {
            for (int a = 0; a < 3; ++a) {
                const Floats x = place[a] - float(cell[a] - 1);
                for (int i = 0; i < 4; ++i) face[a][i] = larger(1 - absolute(x - float(i)), Floats{});
                for (int i = 0; i < 3; ++i)
                    center[a][i] = larger(1 - absolute(x - (float(i) + 0.5f)), Floats{});
            }
        }
        // Along each axis: for the cell's two faces and the next ones beyond them; for its centre and those
        // beside.
        std::array<std::array<Floats, 4>, 3> face;
        std::array<std::array<Floats, 3>, 3> center;
        template <int axis>
        Floats of(int a, int i) const {
            return a == axis ? face[a][i] : center[a][i];
        }
    };
    template <int axis>
    Floats component(Int3 cell, const Weights& weight) const {
        constexpr int side = FieldWindow<float, 2>::side;
        constexpr Int3 count{axis == 0 ? 4 : 3, axis == 1 ? 4 : 3, axis == 2 ? 4 : 3};
        const Int3 first = cell - Int3{1, 1, 1} - window_[axis].corner();
        const float* values = window_[axis].data() + first.x + side * (first.y + side * first.z);
        Floats sum{};
        for (int k = 0; k < count.z; ++k) {
            Floats layer{};
            for (int j = 0; j < count.y; ++j) {
                const float* row = values + side * (j + side * k);
                Floats along_x = weight.of<axis>(0, 0) * row[0];
                for (int i = 1; i < count.x; ++i) along_x += weight.of<axis>(0, i) * row[i];
                layer += weight.of<axis>(1, j) * along_x;
            }
            sum += weight.of<axis>(2, k) * layer;
        }
        return sum;
    }
    void sample_alone(const Lanes& place, int lane, Lanes& u) const {
        const Vec3 x = Vec3{place[0][lane], place[1][lane], place[2][lane]} * domain_.h;
        for (int axis = 0; axis < 3; ++axis) u[axis][lane] = float(sample_component(u_, domain_, x, axis));
    }

    const MacGrid& u_;
    const Domain& domain_;
    std::array<FieldWindow<float, 2>, 3> window_;
    Int3 tile_{-1, -1, -1};
};

// Sums in double precision, lane by lane.
class LaneSums {
  public:
    void add(const Lanes& values) {
        for (int a = 0; a < 3; ++a) sums_[a] += __builtin_convertvector(values[a], Doubles);
    }
    Vec3 total() const {
        Vec3 sum;
        for (int a = 0; a < 3; ++a)
            for (int l = 0; l < lanes; ++l) sum[a] += sums_[a][l];
        return sum;
    }

  private:
    std::array<Doubles, 3> sums_{};
};

}  // namespace

MarkerAdvance advance_markers(const Particles& before, Particles& markers, const MacGrid& u,
                              const Domain& domain, double dt, const std::vector<Obstacle>& obstacles) {
    const Confines confines(domain, obstacles);
    const Vec3f low(confines.sides().low), high(confines.sides().high);
    const float per_h = float(1 / domain.h), step = float(dt), half_way = float(0.5 * dt / domain.h);
    markers.position.resize(before.position.size());
    std::vector<MarkerAdvance> partial((before.count() + grain - 1) / grain);
    const auto least = float(confines.gap());
    parallel_blocks(before.count(), grain, [&](std::int64_t begin, std::int64_t end) {
        LaneSampler sampler(u, domain);
        LaneSums sums;
        Displaced& displaced = partial[begin / grain].displaced;
        for (std::int64_t first = begin; first < end; first += lanes) {
            const int count = int(std::min<std::int64_t>(lanes, end - first));
            const Vec3f* from = before.position.data() + first;
            Vec3f* to = markers.position.data() + first;
            const Lanes x = load_lanes(from, count);
            Lanes place, middle, target;
            for (int a = 0; a < 3; ++a) place[a] = x[a] * per_h;
            const Lanes velocity = sampler.velocity(place, count);
            sums.add(velocity);
            for (int a = 0; a < 3; ++a) middle[a] = place[a] + half_way * velocity[a];
            const Lanes there = sampler.velocity(middle, count);
            for (int a = 0; a < 3; ++a) target[a] = x[a] + step * there[a];
            if (obstacles.empty()) {
                const Lanes wanted = target;
                Ints aside{};
                for (int a = 0; a < 3; ++a) {
                    target[a] = smaller(larger(target[a], Floats{} + low[a]), Floats{} + high[a]);
                    aside |= absolute(target[a] - wanted[a]) > least;
                }
                for (int l = 0; l < count; ++l)
                    if (aside[l])
                        displaced.add({target[0][l] - wanted[0][l], target[1][l] - wanted[1][l],
                                       target[2][l] - wanted[2][l]});
                store_lanes(target, to, count);
            } else {
                for (int l = 0; l < count; ++l)
                    to[l] = confines.move(Vec3(from[l]), Vec3{target[0][l], target[1][l], target[2][l]},
                                          displaced);
            }
        }
        partial[begin / grain].velocity_sum = sums.total();
    });
    MarkerAdvance all;
    for (const MarkerAdvance& block : partial) all += block;
    return all;
}

MarkerVelocities velocities_of(const Particles& markers, const MacGrid& u, const Domain& domain) {
    const float per_h = float(1 / domain.h);
    std::vector<MarkerVelocities> partial((markers.count() + grain - 1) / grain);
    parallel_blocks(markers.count(), grain, [&](std::int64_t begin, std::int64_t end) {
        LaneSampler sampler(u, domain);
        LaneSums sums, squares;
        Floats fastest{};  // squared
        for (std::int64_t first = begin; first < end; first += lanes) {
            const int count = int(std::min<std::int64_t>(lanes, end - first));
            Lanes place = load_lanes(markers.position.data() + first, count);
            for (int a = 0; a < 3; ++a) place[a] *= per_h;
            const Lanes v = sampler.velocity(place, count);
            sums.add(v);
            squares.add({v[0] * v[0], v[1] * v[1], v[2] * v[2]});
            fastest = larger(fastest, v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        }
        MarkerVelocities& block = partial[begin / grain];
        block.sum = sums.total();
        block.squares = dot(squares.total(), Vec3{1, 1, 1});
        for (int l = 0; l < lanes; ++l)
            block.fastest = std::max(block.fastest, std::sqrt(double(fastest[l])));
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

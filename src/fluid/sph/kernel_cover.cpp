#include "fluid/sph/kernel_cover.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/parallel.h"

namespace flotsam {

LayerSum layer_sum(const SphModel& model, double z) {
    LayerSum sum{0, 0};
    const int reach = int(model.kernel.support() / model.spacing) + 1;
    for (int j = -reach; j <= reach; ++j)
        for (int k = model.flat ? 0 : -reach; k <= (model.flat ? 0 : reach); ++k) {
            const double r = std::hypot(z, j * model.spacing, k * model.spacing);
            sum.value += model.kernel_volume() * model.kernel.value(r);
            sum.slope += model.kernel_volume() * model.kernel.gradient_factor(r) * z;
        }
    return sum;
}

PlaneCover::PlaneCover(const SphModel& model)
    // Within this distance particles interact with the first layer, whose kernels are covered.
    : reach_(model.kernel.support() + 0.5 * model.spacing), spacing_(model.spacing) {
    // Distances of the lattice layers behind a plane at this distance, within reach.
    const auto behind = [&](double distance) {
        std::vector<double> layers;
        double z = distance + 0.5 * spacing_;
        while (z < reach_) layers.push_back(z), z += spacing_;
        return layers;
    };
    share_.assign(entries + 1, 0);
    slope_.assign(entries + 1, 0);
    const double full = model.lattice_sum();
    for (int n = 0; n <= entries; ++n)
        for (const double z : behind(distance_at(n))) {
            const auto [value, slope] = layer_sum(model, z);
            share_[n] += value / full;
            slope_[n] += slope / full;
        }
    press_.assign(entries + 1, 0);
    for (int n = 0; n <= entries; ++n) {
        const double d = distance_at(n), held = std::clamp(d / spacing_ - 0.5, 0.0, 1.0);
        if (held == 0 || n == entries) continue;  // beyond the reach only the second layer is felt: 1e-3
        double pairs = 0, wanted = 0;  // with layers in front of the surface only, with layers everywhere
        for (int k = -4; k < int(2 * reach_ / spacing_) + 1; ++k) {
            const double y = (k + 0.5) * spacing_, z = d - y;
            const double slope = (z < 0 ? -1 : 1) * layer_sum(model, std::abs(z)).slope;
            wanted += 2 * slope;
            if (k >= 0) pairs += (1 / (1 - share(d)) + 1 / (1 - share(y))) * slope;
        }
        press_[n] = held * (pairs - wanted);
    }
    // Lines of the lattice behind both planes.
    const int lines = model.flat ? 0 : int(reach_ / spacing_) + 1;
    for (int i = 0; i <= overlap_entries; ++i)
        for (int j = 0; j <= overlap_entries; ++j) {
            double sum = 0;
            for (const double x : behind(reach_ * i / overlap_entries))
                for (const double y : behind(reach_ * j / overlap_entries))
                    for (int k = -lines; k <= lines; ++k)
                        sum += model.kernel_volume() * model.kernel.value(std::hypot(x, y, k * spacing_));
            overlap_.push_back(sum / full);
        }
}

double PlaneCover::overlap(double distance, double other) const {
    const auto place = [&](double d) { return std::clamp(d / reach_, 0.0, 1.0) * overlap_entries; };
    const double x = place(distance), y = place(other);
    const int i = std::min(int(x), overlap_entries - 1), j = std::min(int(y), overlap_entries - 1);
    const auto at = [&](int a, int b) { return overlap_[a * (overlap_entries + 1) + b]; };
    const double u = x - i, v = y - j;
    return (1 - u) * ((1 - v) * at(i, j) + v * at(i, j + 1)) +
           u * ((1 - v) * at(i + 1, j) + v * at(i + 1, j + 1));
}

double PlaneCover::at(const std::vector<double>& table, double distance) const {
    const double place = std::clamp(0.5 * (distance / reach_ + 1), 0.0, 1.0) * entries;
    const int n = std::min(int(place), entries - 1);
    return table[n] + (place - n) * (table[n + 1] - table[n]);
}

namespace {

// Filling of a point of a lattice of width 1, at a distance from a plane: the share of a hat function around
// it that is behind the plane. With a box function, the sum over a lattice would depend on the lattice's
// offset.
double filling(double distance) {
    if (distance <= -1) return 1;
    if (distance >= 1) return 0;
    return distance < 0 ? 1 - 0.5 * (1 + distance) * (1 + distance) : 0.5 * (1 - distance) * (1 - distance);
}

// The share that a plane covers, summed over a lattice around a particle, and its inverse: the distance for a
// share.
class CoveredPlane {
  public:
    // weights[n]: of the layer of the lattice at (n - middle) widths.
    CoveredPlane(const std::vector<double>& weights, double width) : width_(width) {
        const int middle = int(weights.size()) / 2;
        most_ = middle + 1;
        for (int n = 0; n <= 2 * most_ * steps; ++n) {
            double sum = 0;
            for (int layer = -middle; layer <= middle; ++layer)
                sum += weights[layer + middle] * filling(layer + double(n) / steps - most_);
            covered_.push_back(sum);
        }
    }
    double distance(double covered) const {
        // The share falls with distance: find the first that is not larger.
        const auto found = std::lower_bound(covered_.begin(), covered_.end(), covered, std::greater<>());
        const auto n = int(found - covered_.begin());
        if (n == 0) return -width_ * most_;
        if (found == covered_.end()) return width_ * most_;
        const double part = (covered_[n - 1] - covered) / (covered_[n - 1] - covered_[n]);
        return width_ * ((n - 1 + part) / steps - most_);
    }

  private:
    static constexpr int steps = 32;  // table entries per width
    double width_;
    int most_ = 0;
    std::vector<double> covered_;
};

}  // namespace

SolidCover::SolidCover(const Shape& shape, const Box& bounds, const SphModel& model)
    : spacing_(0.5 * model.spacing), reach_(model.kernel.support() + 0.5 * model.spacing), flat_(model.flat) {
    // The solid as the filling of a fine lattice, two of its cells per node spacing.
    const int room = int(std::ceil(reach_ / spacing_)) + 1;
    const double fine = 0.5 * spacing_;
    for (int axis = 0; axis < 3; ++axis) {
        if (flat_ && axis == 2) {
            nodes_[axis] = 1;
            continue;
        }
        low_[axis] = bounds.low[axis] - room * spacing_;
        nodes_[axis] = int(std::ceil((bounds.high[axis] - bounds.low[axis]) / spacing_)) + 2 * room + 1;
        high_[axis] = low_[axis] + (nodes_[axis] - 1) * spacing_;
    }
    Int3 cells;
    for (int axis = 0; axis < 3; ++axis) cells[axis] = 2 * nodes_[axis] - 1;
    const auto place = [&](Int3 c) {
        return c.x + std::int64_t{cells.x} * (c.y + std::int64_t{cells.y} * c.z);
    };
    const double depth = flat_ ? 1 : fine;
    std::vector<float> full(place({0, 0, cells.z}));
    parallel_for(std::int64_t{cells.y} * cells.z, 1, [&](std::int64_t row) {
        for (Int3 c{0, int(row % cells.y), int(row / cells.y)}; c.x < cells.x; ++c.x)
            full[place(c)] = float(filling(shape.distance(low_ + Vec3(c) * fine) / fine));
    });

    // Rows of kernel weights along x, around the row's middle.
    struct Row {
        int y, z;
        std::vector<float> weight;
        int half() const { return int(weight.size()) / 2; }
    };
    std::vector<Row> rows;
    const int reach = int(model.kernel.support() / fine);
    std::vector<double> layers(2 * reach + 1);
    for (int k = flat_ ? 0 : -reach; k <= (flat_ ? 0 : reach); ++k)
        for (int j = -reach; j <= reach; ++j) {
            Row row{j, k, {}};
            for (int i = -reach; i <= reach; ++i) {
                const double weight =
                    model.kernel.value(fine * length(Vec3(Int3{i, j, k}))) * fine * fine * depth;
                if (weight > 0) row.weight.push_back(float(weight));
                layers[i + reach] += weight;
            }
            if (!row.weight.empty()) rows.push_back(std::move(row));
        }
    const CoveredPlane plane(layers, fine);
    distance_.assign(std::int64_t{nodes_.x} * nodes_.y * nodes_.z, float(reach_));
    parallel_for(std::int64_t{nodes_.y} * nodes_.z, 1, [&](std::int64_t row) {
        for (Int3 n{0, int(row % nodes_.y), int(row / nodes_.y)}; n.x < nodes_.x; ++n.x) {
            const double off = shape.distance(low_ + Vec3(n) * spacing_);
            float& distance = distance_[n.x + nodes_.x * row];
            if (std::abs(off) >= model.kernel.support() + fine) {
                distance = float(std::clamp(off, -reach_, reach_));
                continue;
            }
            double covered = 0;
            for (const Row& line : rows) {
                const Int3 c = n * 2 + Int3{0, line.y, line.z};
                if (c.y < 0 || c.y >= cells.y || c.z < 0 || c.z >= cells.z) continue;
                const int begin = std::max(c.x - line.half(), 0);
                const int end = std::min(c.x + line.half() + 1, cells.x);
                const float* filled = &full[place({0, c.y, c.z})];
                const float* weight = line.weight.data() + line.half() - c.x;
                for (int x = begin; x < end; ++x) covered += weight[x] * filled[x];
            }
            distance = float(covered > 0 ? plane.distance(covered) : off);
        }
    });
}

SolidCover::Cover SolidCover::at(Vec3 p) const {
    const Cover nothing{reach_, {}};
    Int3 n;
    Vec3 t;
    for (int axis = 0; axis < (flat_ ? 2 : 3); ++axis) {
        if (!(p[axis] > low_[axis] && p[axis] < high_[axis])) return nothing;
        t[axis] = (p[axis] - low_[axis]) / spacing_;
        n[axis] = std::min(int(t[axis]), nodes_[axis] - 2);
        t[axis] -= n[axis];
    }
    Cover cover{0, {}};
    for (int corner = 0; corner < (flat_ ? 4 : 8); ++corner) {
        const Int3 c{corner & 1, corner >> 1 & 1, corner >> 2};
        const double value = node(n + c);
        const Vec3 w{c.x ? t.x : 1 - t.x, c.y ? t.y : 1 - t.y, flat_ ? 1 : c.z ? t.z : 1 - t.z};
        cover.distance += value * w.x * w.y * w.z;
        cover.gradient.x += (c.x ? value : -value) * w.y * w.z / spacing_;
        cover.gradient.y += (c.y ? value : -value) * w.x * w.z / spacing_;
        if (!flat_) cover.gradient.z += (c.z ? value : -value) * w.x * w.y / spacing_;
    }
    return cover;
}

}  // namespace flotsam

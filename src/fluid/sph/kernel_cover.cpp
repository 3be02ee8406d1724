#include "fluid/sph/kernel_cover.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/parallel.h"

namespace flotsam {

PlaneCover::PlaneCover(const SphModel& model) : reach_(model.kernel.support()) {
    const CubicSpline& kernel = model.kernel;
    const double s = model.spacing;
    // A layer of the lattice at a distance z from a particle, straight above one of its own: value and slope.
    const auto layer = [&](double z) {
        double value = 0, slope = 0;
        const int reach = int(reach_ / s) + 1;
        for (int j = -reach; j <= reach; ++j)
            for (int k = model.flat ? 0 : -reach; k <= (model.flat ? 0 : reach); ++k) {
                const double r = std::hypot(z, j * s, k * s);
                value += model.kernel_volume() * kernel.value(r);
                slope += model.kernel_volume() * kernel.gradient_factor(r) * z;
            }
        return std::pair{value, slope};
    };
    // The integral over a plane at a distance z.
    const auto plane = [&](double z) {
        constexpr int pieces = 400;
        const double most = std::sqrt(std::max(0.0, reach_ * reach_ - z * z)), dr = most / pieces;
        double sum = 0;
        for (int i = 0; i < pieces; ++i) {
            const double r = (i + 0.5) * dr;
            sum += kernel.value(std::hypot(z, r)) * dr * (model.flat ? 2 : 2 * std::numbers::pi * r);
        }
        return sum;
    };
    share_.assign(entries + 1, 0);
    slope_.assign(entries + 1, 0);
    integral_.assign(entries + 1, 0);
    const double full = model.lattice_sum();
    for (int n = 0; n <= entries; ++n)
        for (double z = distance_at(n) + 0.5 * s; z < reach_; z += s) {
            const auto [value, slope] = layer(z);
            share_[n] += value / full;
            slope_[n] += slope / full;
        }
    for (int n = entries - 1; n >= 0; --n) {
        const double step = 2 * reach_ / entries;
        integral_[n] = integral_[n + 1] + step * plane(distance_at(n) + 0.5 * step);
    }
}

double PlaneCover::at(const std::vector<double>& table, double distance) const {
    const double place = std::clamp(0.5 * (distance / reach_ + 1), 0.0, 1.0) * entries;
    const int n = std::min(int(place), entries - 1);
    return table[n] + (place - n) * (table[n + 1] - table[n]);
}

double PlaneCover::distance_of_integral(double share) const {
    // Shares fall with distance: the first that is not larger.
    const auto found = std::lower_bound(integral_.begin(), integral_.end(), share, std::greater<>());
    if (found == integral_.begin()) return -reach_;
    if (found == integral_.end()) return reach_;
    const auto n = int(found - integral_.begin());
    const double part = (integral_[n - 1] - share) / (integral_[n - 1] - integral_[n]);
    return distance_at(n - 1) + part * (distance_at(n) - distance_at(n - 1));
}

SolidCover::SolidCover(const Shape& shape, const Box& bounds, const PlaneCover& plane, const SphModel& model)
    : spacing_(0.5 * model.spacing), reach_(plane.reach()), flat_(model.flat) {
    // The solid as how full the cells of a fine lattice are, two along each step of the nodes.
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
            full[place(c)] = float(std::clamp(0.5 - shape.distance(low_ + Vec3(c) * fine) / fine, 0.0, 1.0));
    });

    struct Weight {
        Int3 offset;
        float weight;
    };
    std::vector<Weight> weights;
    const int reach = int(reach_ / fine);
    double total = 0;
    for (int k = flat_ ? 0 : -reach; k <= (flat_ ? 0 : reach); ++k)
        for (int j = -reach; j <= reach; ++j)
            for (int i = -reach; i <= reach; ++i) {
                const double weight =
                    model.kernel.value(fine * length(Vec3(Int3{i, j, k}))) * fine * fine * depth;
                if (weight > 0) weights.push_back({{i, j, k}, float(weight)});
                total += weight;
            }
    distance_.assign(std::int64_t{nodes_.x} * nodes_.y * nodes_.z, float(reach_));
    parallel_for(std::int64_t{nodes_.y} * nodes_.z, 1, [&](std::int64_t row) {
        for (Int3 n{0, int(row % nodes_.y), int(row / nodes_.y)}; n.x < nodes_.x; ++n.x) {
            const double off = shape.distance(low_ + Vec3(n) * spacing_);
            float& distance = distance_[n.x + nodes_.x * row];
            if (off >= reach_) continue;
            if (off <= -reach_) {
                distance = float(-reach_);
                continue;
            }
            double covered = 0;
            for (const Weight& w : weights) {
                const Int3 c = n * 2 + w.offset;
                if (min(c, Int3{0, 0, 0}) == Int3{0, 0, 0} &&
                    max(c, cells - Int3{1, 1, 1}) == cells - Int3{1, 1, 1})
                    covered += w.weight * full[place(c)];
            }
            distance = float(plane.distance_of_integral(covered / total));
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

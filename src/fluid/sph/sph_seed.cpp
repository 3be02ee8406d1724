#include "fluid/sph/sph_seed.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

namespace flotsam {

std::vector<double> resting_column(int layers, const SphModel& model, const PlaneCover& floor,
                                   double gravity) {
    // Integrates the method's own equations in one dimension, with damping, from the lattice to equilibrium.
    // The sums over layers take long and are tabulated.
    const double s = model.spacing, reach = model.kernel.support(), full = model.lattice_sum();
    constexpr int entries = 1024;
    std::vector<LayerSum> table;
    for (int n = 0; n <= entries; ++n) table.push_back(layer_sum(model, reach * n / entries));
    const auto layer = [&](double z) {
        const double place = std::min(z / reach, 1.0) * entries;
        const int n = std::min(int(place), entries - 1);
        const double t = place - n;
        return LayerSum{table[n].value + t * (table[n + 1].value - table[n].value),
                        table[n].slope + t * (table[n + 1].slope - table[n].slope)};
    };
    std::vector<double> y(layers), v(layers), term(layers), open(layers);  // term: P / rho^2 over open
    for (int n = 0; n < layers; ++n) y[n] = (n + 0.5) * s;
    const double dt = 0.2 * model.kernel.h / model.sound_speed;
    // Damping that stops the slowest mode, with a wave four columns long, in one period.
    const double slowest = 0.5 * std::numbers::pi * model.sound_speed / (layers * s);
    const double kept = std::exp(-2 * slowest * dt);
    for (int step = 0; step < 100 * layers; ++step) {
        for (int n = 0; n < layers; ++n) {
            double sum = 0;
            for (int m = std::max(0, n - 4); m < std::min(layers, n + 5); ++m)
                sum += layer(std::abs(y[n] - y[m])).value;
            open[n] = 1 - floor.share(y[n]);
            const double rho = model.rest_density * sum / (full * open[n]);
            term[n] = liquid_pressure(model, rho) / (rho * rho * open[n]);
        }
        for (int n = 0; n < layers; ++n) {
            double a = term[n] * open[n] * floor.press(y[n]);
            for (int m = std::max(0, n - 4); m < std::min(layers, n + 5); ++m) {
                const double slope = layer(std::abs(y[n] - y[m])).slope;
                a -= (term[n] + term[m]) * (n > m ? slope : -slope);
            }
            v[n] = kept * (v[n] + dt * (model.rest_density * a - gravity));
        }
        for (int n = 0; n < layers; ++n) y[n] = std::max(y[n] + dt * v[n], model.radius());
    }
    return y;
}

namespace {

// The axis that gravity is parallel to, if any.
std::optional<int> axis_of(Vec3 gravity, bool flat) {
    for (int axis = 0; axis < (flat ? 2 : 3); ++axis)
        if (gravity[axis] != 0 && std::abs(gravity[axis]) == length(gravity)) return axis;
    return {};
}

// Heights of the layers of a fill that stands on a closed side of the domain; empty for other fills.
std::vector<double> standing_layers(const Fill& fill, const Domain& domain, const SphModel& model,
                                    const PlaneCover& floor, Vec3 gravity) {
    const std::optional<int> axis = axis_of(gravity, domain.flat());
    if (!axis) return {};
    const bool down = gravity[*axis] < 0;
    const double size = domain.size()[*axis];
    const Box box = fill.region->bounds();
    const double bottom = down ? box.low[*axis] : size - box.high[*axis];
    const double top = std::min(down ? box.high[*axis] : size - box.low[*axis], size);
    if (bottom > 0 || domain.open(2 * *axis + !down)) return {};
    return resting_column(int(std::lround(top / model.spacing)), model, floor, length(gravity));
}

}  // namespace

SphLiquid seed_sph(const Domain& domain, const LiquidSettings& settings, const SphModel& model,
                   const PlaneCover& floor, Vec3 gravity) {
    SphLiquid liquid;
    const Vec3 size = domain.size();
    Int3 count;
    for (int axis = 0; axis < 3; ++axis) count[axis] = int(std::lround(size[axis] / model.spacing));
    if (domain.flat()) count.z = 1;
    std::vector<std::vector<double>> layers;
    for (const Fill& fill : settings.fills)
        layers.push_back(standing_layers(fill, domain, model, floor, gravity));
    const std::optional<int> axis = axis_of(gravity, domain.flat());
    for (int k = 0; k < count.z; ++k)
        for (int j = 0; j < count.y; ++j)
            for (int i = 0; i < count.x; ++i) {
                Vec3 p = Vec3{i + 0.5, j + 0.5, k + 0.5} * model.spacing;
                if (domain.flat()) p.z = 0.5 * size.z;
                for (std::size_t f = 0; f < settings.fills.size(); ++f) {
                    const Fill& fill = settings.fills[f];
                    if (!fill.region->contains(p)) continue;
                    if (axis && !layers[f].empty()) {
                        const bool down = gravity[*axis] < 0;
                        const int n = Int3{i, j, k}[*axis];
                        const double height = layers[f][std::clamp(down ? n : count[*axis] - 1 - n, 0,
                                                                   int(layers[f].size()) - 1)];
                        p[*axis] = down ? height : size[*axis] - height;
                    }
                    liquid.position.push_back(p);
                    liquid.velocity.emplace_back(fill.velocity);
                    liquid.density.push_back(float(model.rest_density));
                    break;
                }
            }
    return liquid;
}

SphExchange emit_sph(SphLiquid& liquid, const LiquidSettings& settings, const Domain& domain,
                     const SphModel& model, double time, double dt) {
    SphExchange exchange;
    const double s = model.spacing;
    for (const Emitter& emitter : settings.emitters) {
        if (time + dt < emitter.from || time >= emitter.until) continue;
        const Shape& region = *emitter.region;
        Box box = region.bounds();
        box = {max(box.low, Vec3{0, 0, 0}), min(box.high, domain.size())};
        std::vector<Vec3> near;  // particles that new ones might come too close to
        for (std::int64_t i = 0; i < liquid.count(); ++i) {
            const Vec3 p = liquid.position[i];
            if (min(p, box.low - Vec3{s, s, s}) != box.low - Vec3{s, s, s} ||
                max(p, box.high + Vec3{s, s, s}) != box.high + Vec3{s, s, s})
                continue;
            near.push_back(p);
            if (!region.contains(p)) continue;
            exchange.velocity_sum += emitter.velocity - Vec3(liquid.velocity[i]);
            liquid.velocity[i] = Vec3f(emitter.velocity);
        }
        const bool opens = time <= emitter.from;
        const Vec3 shift = emitter.velocity * (time + dt - emitter.from);
        Int3 low, high;
        for (int axis = 0; axis < 3; ++axis) {
            low[axis] = int(std::floor((box.low[axis] - shift[axis]) / s)) - 1;
            high[axis] = int(std::ceil((box.high[axis] - shift[axis]) / s));
        }
        if (domain.flat()) low.z = high.z = 0;
        for (int k = low.z; k <= high.z; ++k)
            for (int j = low.y; j <= high.y; ++j)
                for (int i = low.x; i <= high.x; ++i) {
                    Vec3 p = Vec3{i + 0.5, j + 0.5, k + 0.5} * s + shift;
                    if (domain.flat()) p.z = 0.5 * domain.size().z;
                    const Vec3 before = p - emitter.velocity * dt;
                    if (!box.contains(p) || !region.contains(p)) continue;
                    if (!opens && box.contains(before) && region.contains(before)) continue;
                    if (std::any_of(near.begin(), near.end(),
                                    [&](Vec3 other) { return length(other - p) < 0.7 * s; }))
                        continue;
                    liquid.position.push_back(p);
                    liquid.velocity.emplace_back(emitter.velocity);
                    liquid.density.push_back(float(model.rest_density));
                    ++exchange.count;
                    exchange.velocity_sum += emitter.velocity;
                }
    }
    return exchange;
}

SphExchange drain_sph(SphLiquid& liquid, const LiquidSettings& settings, const Domain& domain, double time) {
    SphExchange exchange;
    if (settings.sinks.empty() && !domain.any_open()) return exchange;
    std::vector<char> dead(liquid.count(), 0);
    for (std::int64_t i = 0; i < liquid.count(); ++i) {
        const Vec3 p = liquid.position[i];
        for (int side = 0; side < (domain.flat() ? 4 : 6); ++side) {
            const int axis = side / 2;
            if (domain.open(side)) dead[i] |= side % 2 ? p[axis] >= domain.size()[axis] : p[axis] <= 0;
        }
        for (const Sink& sink : settings.sinks)
            dead[i] |= time >= sink.from && time < sink.until && sink.region->contains(p);
        if (!dead[i]) continue;
        ++exchange.count;
        exchange.velocity_sum += Vec3(liquid.velocity[i]);
    }
    if (exchange.count > 0) remove_particles(liquid, dead);
    return exchange;
}

void remove_particles(SphLiquid& liquid, const std::vector<char>& dead) {
    const auto keep = [&](auto& values) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < values.size(); ++i)
            if (!dead[i]) values[kept++] = values[i];
        values.resize(kept);
    };
    keep(liquid.position);
    keep(liquid.velocity);
    keep(liquid.density);
}

}  // namespace flotsam

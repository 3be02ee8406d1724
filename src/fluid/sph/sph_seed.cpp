#include "fluid/sph/sph_seed.h"

#include <algorithm>
#include <cmath>

namespace flotsam {

namespace {

// How much higher the potential of gravity is at the top of a fill than at p; zero when nothing holds it.
double head_above(const Fill& fill, const Domain& domain, Vec3 gravity, Vec3 p) {
    const Box box = fill.region->bounds();
    double head = 0;
    for (int axis = 0; axis < 3; ++axis) {
        if (gravity[axis] == 0 || (domain.flat() && axis == 2)) continue;
        const bool down = gravity[axis] < 0;
        const double floor = down ? 0 : domain.size()[axis], bottom = down ? box.low[axis] : box.high[axis];
        const bool stands = !domain.open(2 * axis + !down) && (down ? bottom <= floor : bottom >= floor);
        if (!stands) return 0;
        const double top = std::clamp(down ? box.high[axis] : box.low[axis], 0.0, domain.size()[axis]);
        head += gravity[axis] * (p[axis] - top);
    }
    return std::max(head, 0.0);
}

// How far the weight of standing liquid has moved p: with the density rising by rho g / c^2 per length, the
// part below p, of height y out of H, is shorter by g (H y - y^2 / 2) / c^2.
Vec3 settled(const Fill& fill, const Domain& domain, Vec3 gravity, const SphModel& model, Vec3 p) {
    const double above = head_above(fill, domain, gravity, p);
    if (above == 0) return {};
    const double g = length(gravity), c2 = model.sound_speed * model.sound_speed;
    double below = 0;  // potential of p over that of the floor
    for (int axis = 0; axis < 3; ++axis)
        below += std::abs(gravity[axis]) * (gravity[axis] < 0 ? p[axis] : domain.size()[axis] - p[axis]);
    const double height = (above + below) / g, y = below / g;
    return gravity * ((height * y - 0.5 * y * y) / c2);
}

}  // namespace

SphLiquid seed_sph(const Domain& domain, const LiquidSettings& settings, const SphModel& model,
                   Vec3 gravity) {
    SphLiquid liquid;
    const Vec3 size = domain.size();
    Int3 count;
    for (int axis = 0; axis < 3; ++axis) count[axis] = int(std::lround(size[axis] / model.spacing));
    if (domain.flat()) count.z = 1;
    for (int k = 0; k < count.z; ++k)
        for (int j = 0; j < count.y; ++j)
            for (int i = 0; i < count.x; ++i) {
                Vec3 p = Vec3{i + 0.5, j + 0.5, k + 0.5} * model.spacing;
                if (domain.flat()) p.z = 0.5 * size.z;
                for (const Fill& fill : settings.fills) {
                    if (!fill.region->contains(p)) continue;
                    const double pressure = model.rest_density * head_above(fill, domain, gravity, p);
                    liquid.position.push_back(p + settled(fill, domain, gravity, model, p));
                    liquid.velocity.emplace_back(fill.velocity);
                    liquid.density.push_back(float(tait_density(model, pressure)));
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

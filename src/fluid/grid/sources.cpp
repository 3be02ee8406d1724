#include "fluid/grid/sources.h"

#include "core/random.h"
#include "fluid/grid/sample.h"

namespace flotsam {

namespace {
bool is_open(const Emitter& emitter, double time, double dt) {
    return time + dt > emitter.from && time < emitter.until;
}
}  // namespace

Exchange emit(Particles& particles, const Domain& domain, const LiquidSettings& settings, double time,
              double dt, double now) {
    const bool carries_velocity = settings.carrier != Carrier::markers;
    Exchange exchange;
    for (std::size_t e = 0; e < settings.emitters.size(); ++e) {
        const Emitter& emitter = settings.emitters[e];
        if (!is_open(emitter, time, dt)) continue;
        const bool first = time <= emitter.from;
        const double age = time + dt - emitter.from;

        if (carries_velocity)
            parallel_for(particles.count(), 4096, [&](std::int64_t i) {
                if (!emitter.region->contains(Vec3(particles.position[i]))) return;
                particles.velocity[i] = Vec3f(emitter.velocity);
                for (auto& row : particles.affine)
                    if (!row.empty()) row[i] = {};
            });

        // The lattice has travelled `shift` since the emitter opened.
        const Vec3 shift = emitter.velocity * age;
        Box box = emitter.region->bounds();
        box.low = max(box.low, Vec3{0, 0, 0});
        box.high = min(box.high, domain.size());
        const Int3 low = domain.cell_of(box.low - shift) - Int3{1, 1, 1},
                   high = domain.cell_of(box.high - shift) + Int3{1, 1, 1};
        const std::uint64_t seed = combine(settings.seed, 1000 + e);
        const Vec3 way_left = emitter.velocity * (time + dt - now);
        const Vec3 lowest = Vec3{1, 1, 1} * (1e-3 * domain.h), highest = domain.size() - lowest;
        for (int k = domain.flat() ? 0 : low.z; k <= (domain.flat() ? 0 : high.z); ++k)
            for (int j = low.y; j <= high.y; ++j)
                for (int i = low.x; i <= high.x; ++i) {
                    const SeedPoints points = seed_points(domain, {i, j, k}, seed, shift);
                    for (int p = 0; p < points.count; ++p) {
                        const Vec3 x = points.point[p];
                        if (!box.contains(x) || !emitter.region->contains(x)) continue;
                        if (!domain.has_cell(domain.cell_of(x))) continue;
                        const Vec3 before = x - emitter.velocity * dt;
                        if (!first && box.contains(before) && emitter.region->contains(before)) continue;
                        particles.position.push_back(Vec3f(min(max(x - way_left, lowest), highest)));
                        if (carries_velocity) particles.velocity.push_back(Vec3f(emitter.velocity));
                        ++exchange.count;
                        exchange.velocity_sum += emitter.velocity;
                    }
                }
    }
    resize_like_positions(particles, settings.carrier);
    return exchange;
}

void impose_emitters(MacGrid& u, const Domain& domain, const LiquidSettings& settings, double time,
                     double dt) {
    for (const Emitter& emitter : settings.emitters) {
        if (!is_open(emitter, time, dt)) continue;
        for (int axis = 0; axis < 3; ++axis)
            for_each_cell(u[axis].tiling(), domain.cells + unit(axis), [&](Int3 c, std::int64_t n) {
                // Half a cell further than the region: a nozzle thinner than a cell may hold no face at all.
                if (emitter.region->distance(domain.face_center(c, axis)) <= 0.5 * domain.h)
                    u[axis][n] = emitter.velocity[axis];
            });
    }
}

Exchange drain(Particles& particles, const MacGrid& u, const Domain& domain, const LiquidSettings& settings,
               double time) {
    std::vector<char> dead(particles.count(), 0);
    parallel_for(particles.count(), 4096, [&](std::int64_t i) {
        const Vec3 x(particles.position[i]);
        dead[i] = !domain.has_cell(domain.cell_of(x));
        for (const Sink& sink : settings.sinks)
            if (time >= sink.from && time < sink.until && sink.region->contains(x)) dead[i] = 1;
    });
    Exchange exchange;
    for (std::int64_t i = 0; i < particles.count(); ++i)
        if (dead[i]) {
            ++exchange.count;
            exchange.velocity_sum += particles.velocity.empty()
                                         ? sample_velocity(u, domain, Vec3(particles.position[i]))
                                         : Vec3(particles.velocity[i]);
        }
    if (exchange.count > 0) remove_particles(particles, dead);
    return exchange;
}

std::int64_t reseed(Particles& particles, const CellRanges& cells, const Domain& domain,
                    const LiquidSettings& settings, const Field<double>& phi,
                    const Field<double>& open_volume, const MacGrid& u, std::int64_t step) {
    const int rest = particles_per_cell(domain);
    std::vector<std::int32_t> spare;  // particles that crowded cells can do without
    std::vector<Int3> sparse;         // cells that lack one, once per missing particle
    const Tiling& tiling = phi.tiling();
    for (std::int64_t slot = 0; slot < tiling.tile_count(); ++slot)
        for_each_cell_of_tile(tiling, slot, domain.cells, [&](Int3 c, std::int64_t n) {
            if (!open_volume.empty() && open_volume[n] < 1) return;
            if (phi[n] > -1.5 * domain.h) return;  // near the surface, particles are where the liquid is
            const int count = cells.count(n);
            for (int extra = 0; extra < count - rest * 3 / 2; ++extra)
                spare.push_back(cells.begin[n] + extra);
            for (int missing = 0; missing < rest / 2 - count; ++missing) sparse.push_back(c);
        });
    const std::size_t moves = std::min(spare.size(), sparse.size());
    for (std::size_t m = 0; m < moves; ++m) {
        // Take them from all over the liquid rather than from its first cells.
        const std::int32_t i = spare[m * spare.size() / moves];
        const Int3 c = sparse[m * sparse.size() / moves];
        const std::uint64_t key = combine(combine(settings.seed, std::uint64_t(step)), m);
        Vec3 x;
        for (int a = 0; a < 3; ++a) x[a] = (c[a] + uniform(combine(key, std::uint64_t(a)))) * domain.h;
        if (domain.flat()) x.z = 0.5 * domain.h;
        particles.position[i] = Vec3f(x);
        if (particles.velocity.empty()) continue;
        for (int axis = 0; axis < 3; ++axis) {
            const Stencil s = face_stencil(domain, x, axis);
            const auto v = s.gather(u[axis]);
            particles.velocity[i][axis] = static_cast<float>(s.mix(v));
            if (!particles.affine[axis].empty()) particles.affine[axis][i] = Vec3f(s.slope(v) / domain.h);
        }
    }
    return static_cast<std::int64_t>(moves);
}

}  // namespace flotsam

#include "fluid/grid/advect.h"

#include "fluid/grid/confines.h"
#include "fluid/grid/sample.h"

namespace flotsam {

namespace {

constexpr std::int64_t grain = 4096;

// Samples the velocity for particles in their order, in which most share a tile with the one before: keeps a
// copy of the velocity around that tile.
class TileWalk {
  public:
    TileWalk(const MacGrid& u, const Domain& domain) : u_(u), domain_(domain) {}

    // The next particle stands at x.
    void enter(Vec3 x) {
        const Int3 c = domain_.cell_of(x);
        const Int3 tile{c.x >> 3, c.y >> 3, c.z >> 3};
        // A single particle in another tile is not worth a copy; two in a row are.
        if (tile != loaded_ && tile == last_) stay_at(tile);
        last_ = tile;
    }
    // Loads the copy, for samples that are mostly in or around this tile.
    void stay_at(Int3 tile) {
        window_.load(u_, domain_, tile);
        loaded_ = tile;
    }
    double component(Vec3 x, int axis) const {
        const Stencil s = face_stencil(domain_, x, axis);
        const auto& window = window_.component[axis];
        return s.mix(loaded_.x >= 0 && window.holds(s.base) ? window.gather(s.base) : s.gather(u_[axis]));
    }
    Vec3 velocity(Vec3 x) const { return {component(x, 0), component(x, 1), component(x, 2)}; }

  private:
    const MacGrid& u_;
    const Domain& domain_;
    Int3 last_{-1, -1, -1}, loaded_{-1, -1, -1};
    VelocityWindow<2> window_;
};

}  // namespace

Displaced advance_particles(Particles& particles, const MacGrid& u, const Domain& domain, double dt,
                            const std::vector<Obstacle>& obstacles) {
    const Confines confines(domain, obstacles);
    std::vector<Displaced> blocks((particles.count() + grain - 1) / grain);
    parallel_blocks(particles.count(), grain, [&](std::int64_t begin, std::int64_t end) {
        TileWalk walk(u, domain);
        for (std::int64_t i = begin; i < end; ++i) {
            const Vec3 x(particles.position[i]);
            walk.enter(x);
            const Vec3 middle = x + 0.5 * dt * walk.velocity(x);
            particles.position[i] = confines.move(x, x + dt * walk.velocity(middle), blocks[begin / grain]);
        }
    });
    Displaced all;
    for (const Displaced& block : blocks) all += block;
    return all;
}

Displaced advance_by_own_velocity(Particles& particles, const Domain& domain, double dt,
                                  const std::vector<Obstacle>& obstacles) {
    const Confines confines(domain, obstacles);
    return fixed_sum<Displaced>(particles.count(), grain, [&](std::int64_t i) {
        const Vec3 x(particles.position[i]), v(particles.velocity[i]);
        Vec3 halfway;  // velocity at the midpoint x + 0.5 dt v
        for (int a = 0; a < 3; ++a) halfway[a] = v[a] + 0.5 * dt * dot(Vec3(particles.affine[a][i]), v);
        Displaced displaced;
        particles.position[i] = confines.move(x, x + dt * halfway, displaced);
        return displaced;
    });
}

MacGrid advect_velocity(const MacGrid& u, const Domain& domain, const std::shared_ptr<const Tiling>& tiling,
                        double dt) {
    MacGrid advected;
    for (Field<double>& component : advected) component = Field<double>(tiling, 0);
    for_each_tile(*tiling, 1, [&](std::int64_t slot) {
        TileWalk walk(u, domain);
        walk.stay_at(tiling->tiles()[slot]);
        for (int axis = 0; axis < 3; ++axis)
            for_each_cell_of_tile(*tiling, slot, domain.cells + unit(axis), [&](Int3 c, std::int64_t n) {
                const Vec3 x = domain.face_center(c, axis);
                const Vec3 middle = x - 0.5 * dt * walk.velocity(x);  // Eq. 4.29
                const Vec3 origin = x - dt * walk.velocity(middle);   // Eq. 4.30
                advected[axis][n] = walk.component(origin, axis);     // Eq. 4.27
            });
    });
    for (Field<double>& component : advected) exchange(component);
    return advected;
}

}  // namespace flotsam

#include "fluid/grid/advect.h"

#include "fluid/grid/sample.h"

namespace flotsam {

void advance_particles(Particles& particles, const MacGrid& u, const Domain& domain, double dt,
                       const std::vector<Obstacle>& obstacles) {
    // Particles stop this far from a closed side: in single precision a particle on the side itself could
    // round into a cell that does not exist.
    const double gap = 1e-3 * domain.h;
    const Vec3 size = domain.size();
    parallel_for(particles.count(), 4096, [&](std::int64_t i) {
        const Vec3 x0(particles.position[i]);
        const Vec3 middle = x0 + 0.5 * dt * sample_velocity(u, domain, x0);
        Vec3 x = x0 + dt * sample_velocity(u, domain, middle);
        if (!obstacles.empty()) x = slide_around(obstacles, x0, x, domain.h);
        for (int a = 0; a < 3; ++a) {
            if (!domain.open(2 * a)) x[a] = std::max(x[a], gap);
            if (!domain.open(2 * a + 1)) x[a] = std::min(x[a], size[a] - gap);
        }
        particles.position[i] = Vec3f(x);
    });
}

MacGrid advect_velocity(const MacGrid& u, const Domain& domain, const std::shared_ptr<const Tiling>& tiling,
                        double dt) {
    MacGrid carried;
    for (int axis = 0; axis < 3; ++axis) {
        carried[axis] = Field<double>(tiling, 0);
        for_each_cell(*tiling, domain.cells + unit(axis), [&](Int3 c, std::int64_t n) {
            const Vec3 x = domain.face_center(c, axis);
            const Vec3 middle = x - 0.5 * dt * sample_velocity(u, domain, x);  // Eq. 4.29
            const Vec3 origin = x - dt * sample_velocity(u, domain, middle);   // Eq. 4.30
            carried[axis][n] = sample_component(u, domain, origin, axis);      // Eq. 4.27
        });
    }
    return carried;
}

}  // namespace flotsam

#include "fluid/grid/transfer.h"

#include "fluid/grid/extrapolate.h"
#include "fluid/grid/sample.h"
#include "fluid/grid/scatter.h"

namespace flotsam {

namespace {

// Velocity times weight, and weight, of what particles bring to a face.
struct FaceSum {
    double momentum = 0, weight = 0;
    FaceSum& operator+=(FaceSum o) {
        momentum += o.momentum;
        weight += o.weight;
        return *this;
    }
};

}  // namespace

MacGrid particles_to_grid(const Particles& particles, const CellRanges& cells, const Domain& domain,
                          std::shared_ptr<const Tiling> tiling) {
    const bool affine = !particles.affine[0].empty();
    MacGrid u;
    for (int axis = 0; axis < 3; ++axis) {
        Field<FaceSum> sums(tiling, {});
        const Int3 last = domain.cells - Int3{1, 1, 1} + unit(axis);
        scatter_particles(sums, cells, last, [&](std::int64_t i, auto add) {
            const Vec3 x(particles.position[i]);
            const Stencil s = face_stencil(domain, x, axis);
            const double v = particles.velocity[i][axis];
            const Vec3 gradient = affine ? Vec3(particles.affine[axis][i]) * domain.h : Vec3{};
            for (int c = 0; c < 8; ++c) {
                const int di = c & 1, dj = c >> 1 & 1, dk = c >> 2;
                const double w = s.weight(di, dj, dk);
                const Vec3 reach{di - s.share[0], dj - s.share[1], dk - s.share[2]};  // to the face, in cells
                add(s.base + Int3{di, dj, dk}, {w * (v + dot(gradient, reach)), w});
            }
        });

        u[axis] = Field<double>(tiling, 0);
        Field<char> known(tiling, 0);
        for_each_cell(*tiling, domain.cells + unit(axis), [&](Int3, std::int64_t n) {
            // A face at the very edge of a particle's reach has a weight that is nothing but rounding.
            constexpr double least_weight = 1e-6;
            if (sums[n].weight < least_weight) return;
            u[axis][n] = sums[n].momentum / sums[n].weight;
            known[n] = 1;
        });
        // The liquid's surface may reach one face further than the particles' weights.
        extrapolate(u[axis], known, domain.cells + unit(axis), 2);
    }
    return u;
}

void grid_to_particles_apic(Particles& particles, const MacGrid& u, const Domain& domain) {
    const double per_h = 1 / domain.h;
    parallel_for(particles.count(), 4096, [&](std::int64_t i) {
        const Vec3 x(particles.position[i]);
        for (int axis = 0; axis < 3; ++axis) {
            const Stencil s = face_stencil(domain, x, axis);
            const auto v = s.gather(u[axis]);
            particles.velocity[i][axis] = static_cast<float>(s.mix(v));
            particles.affine[axis][i] = Vec3f(s.slope(v) * per_h);
        }
    });
}

void grid_to_particles_flip(Particles& particles, const MacGrid& u, const MacGrid& change,
                            const Domain& domain, double flip_share) {
    parallel_for(particles.count(), 4096, [&](std::int64_t i) {
        const Vec3 x(particles.position[i]);
        const Vec3 pic = sample_velocity(u, domain, x);
        const Vec3 flip = Vec3(particles.velocity[i]) + sample_velocity(change, domain, x);
        particles.velocity[i] = Vec3f(flip_share * flip + (1 - flip_share) * pic);
    });
}

Vec3 momentum(const Particles& particles, const MacGrid& u, const Domain& domain, double mass) {
    return mass * fixed_sum<Vec3>(particles.count(), 4096, [&](std::int64_t i) {
               return particles.velocity.empty() ? sample_velocity(u, domain, Vec3(particles.position[i]))
                                                 : Vec3(particles.velocity[i]);
           });
}

}  // namespace flotsam

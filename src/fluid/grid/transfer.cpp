#include "fluid/grid/transfer.h"

#include <cstring>

#include "fluid/grid/extrapolate.h"
#include "fluid/grid/markers.h"
#include "fluid/grid/sample.h"
#include "fluid/grid/scatter.h"

namespace flotsam {

namespace {

// Sums over the particles around a face: velocity times weight, and weight.
struct FaceSum {
    double momentum = 0, weight = 0;
    FaceSum& operator+=(FaceSum o) {
        momentum += o.momentum;
        weight += o.weight;
        return *this;
    }
};

// Two faces beside each other along x: their sums are one vector.
typedef double FacePair __attribute__((vector_size(4 * sizeof(double))));

}  // namespace

MacGrid particles_to_grid(const Particles& particles, const CellRanges& cells, const Domain& domain,
                          const std::shared_ptr<const Tiling>& tiling) {
    const bool affine = !particles.affine[0].empty();
    MacGrid u;
    for (int axis = 0; axis < 3; ++axis) {
        Field<FaceSum> sums(tiling, {});
        scatter_particles(sums, cells, last_face(domain, axis), [&](std::int64_t i, auto at) {
            const Stencil s = face_stencil(domain, Vec3(particles.position[i]), axis);
            // The velocity that the particle gives to the lowest face, and its change from face to face.
            const Vec3 step = affine ? Vec3(particles.affine[axis][i]) * domain.h : Vec3{};
            const double lowest = particles.velocity[i][axis] -
                                  (step.x * s.share[0] + step.y * s.share[1] + step.z * s.share[2]);
            for (int dk = 0; dk < 2; ++dk)
                for (int dj = 0; dj < 2; ++dj) {
                    const double weight =
                        (dj ? s.share[1] : 1 - s.share[1]) * (dk ? s.share[2] : 1 - s.share[2]);
                    const double left = weight * (1 - s.share[0]), right = weight * s.share[0];
                    const double v = lowest + dj * step.y + dk * step.z;
                    FaceSum* row = at(s.base + Int3{0, dj, dk});
                    FacePair pair;
                    std::memcpy(&pair, row, sizeof pair);
                    pair += FacePair{left * v, left, right * (v + step.x), right};
                    std::memcpy(static_cast<void*>(row), &pair, sizeof pair);
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

// Calls body(i, window) for all particles, tile by tile, with the velocity around their tile.
template <class Body>
void for_each_particle(const MacGrid& u, const CellRanges& cells, const Domain& domain, const Body& body) {
    const Tiling& tiling = u[0].tiling();
    for_each_tile(tiling, 1, [&](std::int64_t slot) {
        const std::int32_t begin = cells.begin[slot * Tiling::cells_per_tile];
        const std::int32_t end = cells.begin[(slot + 1) * Tiling::cells_per_tile];
        if (begin == end) return;
        VelocityWindow<1> window;
        window.load(u, domain, tiling.tiles()[slot]);
        for (std::int32_t i = begin; i < end; ++i) body(i, window);
    });
}

void grid_to_particles_apic(Particles& particles, const CellRanges& cells, const MacGrid& u,
                            const Domain& domain) {
    const double per_h = 1 / domain.h;
    for_each_particle(u, cells, domain, [&](std::int32_t i, const VelocityWindow<1>& window) {
        const Vec3 x(particles.position[i]);
        for (int axis = 0; axis < 3; ++axis) {
            const Stencil s = face_stencil(domain, x, axis);
            const auto v = window.component[axis].gather(s.base);
            particles.velocity[i][axis] = static_cast<float>(s.mix(v));
            particles.affine[axis][i] = Vec3f(s.slope(v) * per_h);
        }
    });
}

void grid_to_particles_flip(Particles& particles, const CellRanges& cells, const MacGrid& u,
                            const MacGrid& change, const Domain& domain, double flip_share) {
    for_each_particle(u, cells, domain, [&](std::int32_t i, const VelocityWindow<1>& window) {
        const Vec3 x(particles.position[i]);
        const Vec3 flip = Vec3(particles.velocity[i]) + sample_velocity(change, domain, x);
        for (int axis = 0; axis < 3; ++axis) {
            const Stencil s = face_stencil(domain, x, axis);
            const double pic = s.mix(window.component[axis].gather(s.base));
            particles.velocity[i][axis] =
                static_cast<float>(flip_share * flip[axis] + (1 - flip_share) * pic);
        }
    });
}

Vec3 momentum(const Particles& particles, const MacGrid& u, const Domain& domain, double mass) {
    if (particles.velocity.empty()) return mass * velocities_of(particles, u, domain).sum;
    return mass * fixed_sum<Vec3>(particles.count(), 4096,
                                  [&](std::int64_t i) { return Vec3(particles.velocity[i]); });
}

}  // namespace flotsam

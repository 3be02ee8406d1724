#include "fluid/sph/sph_liquid.h"

#include <algorithm>
#include <cmath>

namespace flotsam {

void SphLiquid::visit_state(StateVisitor& visit) {
    visit.array("sph/position", position);
    visit.array("sph/velocity", velocity);
    visit.array("sph/density", density);
}

SphModel make_sph_model(bool flat, double spacing, double depth, double rest_density, double sound_speed,
                        double alpha) {
    SphModel model;
    model.flat = flat;
    model.spacing = spacing;
    model.rest_density = rest_density;
    model.depth = flat ? depth : 1;
    model.particle_mass = rest_density * spacing * spacing * (flat ? depth : spacing);
    model.sound_speed = sound_speed;
    model.alpha = alpha;
    // 18 neighbours in the plane and 58 in space: with fewer the sums are noisy, with more they cost time.
    model.kernel = CubicSpline(1.2 * spacing, flat);
    return model;
}

double SphModel::lattice_sum() const {
    const int reach = int(kernel.support() / spacing) + 1;
    double total = 0;
    for (int k = flat ? 0 : -reach; k <= (flat ? 0 : reach); ++k)
        for (int j = -reach; j <= reach; ++j)
            for (int i = -reach; i <= reach; ++i)
                total += kernel_volume() * kernel.value(spacing * length(Vec3(Int3{i, j, k})));
    return total;
}

double alpha_of_viscosity(const SphModel& model, bool flat, double kinematic) {
    return kinematic * (flat ? 8 : 10) / (model.kernel.h * model.sound_speed);
}

double liquid_pressure(const SphModel& model, double density) {
    return std::max(0.0, tait_pressure(model, density));
}

double tait_pressure(const SphModel& model, double density) {
    const double s = density / model.rest_density, s2 = s * s;
    return model.rest_density * model.sound_speed * model.sound_speed / 7 * (s2 * s2 * s2 * s - 1);
}

double tait_density(const SphModel& model, double pressure) {
    const double stiffness = model.rest_density * model.sound_speed * model.sound_speed / 7;
    return model.rest_density * std::pow(1 + pressure / stiffness, 1.0 / 7);
}

}  // namespace flotsam

// Cases for a liquid that is particles alone: what only such a liquid can get wrong.
#include <algorithm>
#include <cmath>

#include "coupling/sph_boundary.h"
#include "validate/body_tools.h"
#include "validate/cases.h"

namespace flotsam {

namespace {

double densest(const SphLiquid& liquid, const SphModel& model) {
    double most = 0;
    for (const float rho : liquid.density) most = larger(most, rho);
    return most / model.rest_density;
}

}  // namespace

void validate_sph_column(const ValidationRun& run) {
    constexpr double depth = 0.5, bottom = 1000 * g * depth;
    for (const int n : run.quick ? std::vector{24} : std::vector{24, 48}) {
        Scenario s = box_of_water({n, n, 1}, 2 * depth, make_level(depth));
        const SphModel model = sph_model(s);
        double worst = 0, dense = 0;
        simulate(s, run.method, 0.5, [&](const World& world, double) {
            if (world.step % 20 != 0) return;
            dense = larger(dense, densest(world.sph, model));
            for (const double y : {2 * model.spacing, 0.1, 0.2, 0.3, 0.4})
                for (const double x : {2 * model.spacing, 0.3, 0.5})
                    if (world.step > 0)
                        worst =
                            larger(worst, std::abs(pressure_at(world.sph, model, {x, y, 0.5 * s.domain.h}) -
                                                   1000 * g * (depth - y)));
        });
        run.report(
            {"", "", "", n, "largest error of the pressure, of that at the bottom", worst / bottom, 0, 2});
        run.report({"", "", "", n, "largest density / at rest - 1", dense - 1, 0, 5});
    }
}

void validate_sph_draft(const ValidationRun& run) {
    constexpr double edge = 0.3, share = 0.5;
    // A box that floats half immersed in a tank, in the plane or in space.
    const auto floats = [&](Scenario s, const char* variant) {
        const Vec3 size = s.domain.size();
        const bool flat = s.domain.flat();
        s.solids.push_back(body_in_water(
            s.domain,
            flat ? solid_rectangle(edge, edge, figure_depth(s.domain)) : solid_box({edge, edge, edge}),
            {0.5 * size.x, s.liquid.fills[0].region->bounds().high.y, 0.5 * size.z}, share));
        s.solids[0].rigid.locked = only_heave;
        const SphModel model = sph_model(s);
        double height = 0, time = 0, level = 0;
        constexpr double duration = 3;
        simulate(s, run.method, duration, [&](const World& world, double dt) {
            // Where the surface is when the box floats as Archimedes says.
            const double volume = model.particle_mass * double(world.sph.count()) / water;
            level = (volume + share * edge * edge * (flat ? size.z : edge)) / (size.x * size.z);
            if (world.time < 0.5 * duration) return;
            height += dt * world.bodies[0].center.y;
            time += dt;
        });
        const double draft = level - (height / time - 0.5 * edge);
        run.report({"", variant, "", s.domain.cells.x, "draft, off by / height", draft / edge - share, 0, 2});
    };
    for (const int n : run.quick ? std::vector{24} : std::vector{24, 48})
        floats(box_of_water({n, n, 1}, 1, make_level(0.5)), "box, s = 0.5");
    if (run.quick) return;
    // 12 and 18 particles along an edge.
    for (const int n : {12, 18}) floats(box_of_water({n, n, n}, 0.6, make_level(0.35)), "cube, s = 0.5");
}

}  // namespace flotsam

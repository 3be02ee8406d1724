// A ball in a dam break, made and stepped by the numerical core alone: no scene file, no library but Eigen
// and TBB. Prints what came of it; exits with 1 when that is not physics.
#include <cmath>
#include <cstdio>

#include "fluid/grid/surface.h"
#include "geometry/mass_properties.h"
#include "sim/driver.h"

using namespace flotsam;

namespace {

Scenario dam_break_with_ball() {
    Scenario s;
    s.domain.cells = {16, 16, 16};
    s.domain.h = 1.0 / 16;
    s.liquid.fills = {{make_box({0, 0, 0}, {0.4, 0.8, 1}), {}}, {make_level(0.2), {}}};
    Solid ball;
    ball.name = "ball";
    ball.motion = Motion::rigid;
    ball.start.position = {0.7, 0.2, 0.5};
    ball.shape = solid_sphere(0.15, s.domain.h);
    ball.rigid.mass = mass_properties(enclosed_moments(ball.shape.mesh), 500);
    s.solids.push_back(ball);
    return s;
}

// Says what failed; returns whether it held.
bool holds(bool fact, const char* what) {
    if (!fact) std::printf("FAILED: %s\n", what);
    return fact;
}

}  // namespace

int main() {
    const Scenario scenario = dam_break_with_ball();
    Driver driver(scenario, make_scheme("cut-cell"));
    driver.start();
    const auto volume = [&] {
        const LiquidState& liquid = driver.world().liquid;
        return liquid_volume(liquid.phi, scenario.domain, liquid.open_volume);
    };
    const double volume_at_start = volume();
    const double weight = driver.world().bodies[0].mass * 9.81;
    double lost = 0, most_push = 0;  // of the ball: momentum that nothing explains, the liquid's force [N]
    while (driver.world().time < 0.4) {
        const auto [report, dt] = driver.advance(0.4);
        lost = std::max(lost, length(report.ledger.bodies.unaccounted));
        most_push = std::max(most_push, report.ledger.bodies.liquid.x / dt);
    }
    const RigidBody& ball = driver.world().bodies[0];
    std::printf("t = %.3f s after %d steps: ball at %.3f %.3f %.3f m, %.3f m/s; liquid %.4f m^3, was %.4f\n",
                driver.world().time, int(driver.world().step), ball.center.x, ball.center.y, ball.center.z,
                length(ball.velocity), volume(), volume_at_start);
    bool good = holds(std::abs(volume() / volume_at_start - 1) < 0.03, "the liquid keeps its volume");
    good &= holds(lost < 1e-9 * weight, "every change of the ball's momentum has a cause");
    good &= holds(most_push > weight, "the wave pushes the ball along");
    good &= holds(ball.center.y > 0.15, "the ball floats");
    return good ? 0 : 1;
}

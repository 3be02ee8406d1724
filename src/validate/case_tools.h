// What the validation cases share: small worlds, runs and fits.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fluid/grid/sample.h"
#include "fluid/grid/surface.h"
#include "sim/driver.h"
#include "validate/validation.h"

namespace flotsam {

inline constexpr double g = 9.81;

inline Scenario box_of_water(Int3 cells, double length, ShapePtr fill) {
    Scenario s;
    s.domain.cells = cells;
    s.domain.h = length / cells.x;
    s.liquid.fills.push_back({std::move(fill), {}});
    return s;
}

// Steps to `duration`, showing every state to `watch(world, dt)`; `prepare(world)` may change the first one.
template <class Prepare, class Watch>
void simulate(Scenario& scenario, const std::string& method, double duration, const Prepare& prepare,
              const Watch& watch) {
    scenario.method = method;
    scenario.time.duration = duration;
    const std::vector<Carrier> carriers = make_scheme(method)->capabilities().carriers;
    if (std::find(carriers.begin(), carriers.end(), scenario.liquid.carrier) == carriers.end())
        scenario.liquid.carrier = carriers.front();
    Driver driver(scenario, make_scheme(method));
    driver.start();
    prepare(driver.world());
    watch(driver.world(), 0.0);
    while (driver.frame() < driver.last_frame()) {
        const auto [report, dt] = driver.advance();
        watch(driver.world(), dt);
    }
}
template <class Watch>
void simulate(Scenario& scenario, const std::string& method, double duration, const Watch& watch) {
    simulate(
        scenario, method, duration, [](World&) {}, watch);
}

// Of the particles; markers move with the grid.
inline std::vector<Vec3f> particle_velocities(const World& world, const Domain& domain) {
    const LiquidState& liquid = world.liquid;
    if (!liquid.particles.velocity.empty()) return liquid.particles.velocity;
    std::vector<Vec3f> velocity;
    for (const Vec3f& place : liquid.particles.position)
        velocity.push_back(Vec3f(sample_velocity(liquid.velocity, domain, Vec3(place))));
    return velocity;
}
// The larger of two numbers; not a number when one of them is not, which std::max would forget.
inline double larger(double a, double b) { return a > b || std::isnan(a) ? a : b; }

// Of speeds in two spans of time one after the other; 1 when neither can be told from rest.
inline double growth(double before, double last, double h) {
    const double still = 1e-3 * std::sqrt(g * h);
    return std::max(last, still) / std::max(before, still);
}

inline double mean_level(const World& world, const Scenario& s) {
    double sum = 0;
    for (int i = 0; i < s.domain.cells.x; ++i)
        for (int k = 0; k < s.domain.cells.z; ++k)
            sum += surface_height(world.liquid.phi, s.domain, (i + 0.5) * s.domain.h, (k + 0.5) * s.domain.h);
    return sum / (s.domain.cells.x * s.domain.cells.z);
}

// Reports a row at one resolution after another, and how fast its error shrinks.
class ObservedOrder {
  public:
    // `why_low`: why less than first order is right, where it is.
    explicit ObservedOrder(const ValidationRun& run, std::string quantity, std::string why_low = {})
        : run_(run), quantity_(std::move(quantity)), why_low_(std::move(why_low)) {}
    void add(const ValidationRow& row) {
        run_.report(row);
        if (last_ && last_->error_percent() > 0)
            run_.report(observed_order(quantity_, *last_, row, why_low_));
        last_ = row;
    }

  private:
    const ValidationRun& run_;
    std::string quantity_, why_low_;
    std::optional<ValidationRow> last_;
};

// Every tile of a domain.
inline std::shared_ptr<const Tiling> whole_tiling(Int3 cells) {
    std::vector<Int3> tiles;
    for (int z = 0; z <= cells.z / 8; ++z)
        for (int y = 0; y <= cells.y / 8; ++y)
            for (int x = 0; x <= cells.x / 8; ++x) tiles.push_back({x, y, z});
    return std::make_shared<Tiling>(cells, tiles);
}

}  // namespace flotsam

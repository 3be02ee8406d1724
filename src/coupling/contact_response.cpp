#include "coupling/contact_response.h"

#include <algorithm>
#include <cmath>

namespace flotsam {

namespace {

ContactWalls contact_walls(const Domain& domain) {
    ContactWalls walls{{{}, domain.size()}, {}};
    for (int side = 0; side < 6; ++side)
        walls.closed[side] = !domain.open(side) && !(domain.flat() && side / 2 == 2);
    return walls;
}

}  // namespace

std::vector<double> carried_mass(const std::vector<RigidBody>& bodies, const Obstacles& obstacles,
                                 const Field<double>& phi, const Domain& domain, double density) {
    std::vector<double> wet(obstacles.list.size(), 0.0), all(obstacles.list.size(), 0.0);
    for (const ObstaclePatch& patch : obstacles.patches) {
        const double area = length(patch.area);
        all[patch.obstacle] += area;
        if (phi[patch.cell] < 0) wet[patch.obstacle] += area;
    }
    std::vector<double> mass;
    for (const RigidBody& body : bodies) {
        double volume = 0;
        for (const double covered : obstacles.list[body.solid].cut->volume) volume += covered;
        const double share = all[body.solid] > 0 ? wet[body.solid] / all[body.solid] : 0;
        mass.push_back(0.5 * density * share * volume * domain.cell_volume());
    }
    return mass;
}

ContactResponse::ContactResponse(const ContactShapes& shapes, const Scenario& scenario,
                                 const std::vector<RigidBody>& before, const std::vector<RigidBody>& bodies,
                                 const std::vector<double>& carried, double time, double dt)
    : bodies_(bodies),
      joints_(scenario.joints),
      dt_(dt),
      // Of what gravity gives a body in a step; or of 1 m/s^2, where there is none.
      tolerance_(1e-4 * std::max(length(scenario.gravity), 1.0) * dt),
      placed_(place_solids(scenario.solids, before, time, dt)),
      // A light body may be thrown much further than its present speed tells.
      contacts_(shapes.find(placed_, contact_walls(scenario.domain), dt, scenario.domain.h)),
      heavy_(bodies),
      given_(bodies.size()) {
    // Not the inertia: a ball turns without the water.
    for (std::size_t b = 0; b < heavy_.size(); ++b) heavy_[b].mass += carried[b];
}

bool ContactResponse::operator()(std::vector<MovableBody>& movable) {
    if (contacts_.empty() && joints_.empty()) return false;
    std::vector<RigidBody> now = heavy_;
    for (std::size_t b = 0; b < now.size(); ++b) {
        now[b].velocity = movable[b].motion.velocity;
        set_spin(now[b], movable[b].motion.spin);
        apply_impulse(now[b], {-given_[b].linear, -given_[b].angular});
    }
    const ContactImpulses impulses = solve_contacts(now, placed_, contacts_, joints_, dt_);
    apply_impulses(now, impulses);
    double change = 0;
    for (std::size_t b = 0; b < now.size(); ++b) {
        const double size = std::sqrt(heavy_[b].inertia.trace() / heavy_[b].mass);
        change = std::max({change, length(now[b].velocity - movable[b].motion.velocity),
                           size * length(spin_of(now[b]) - movable[b].motion.spin)});
    }
    if (change < tolerance_) return false;
    // Where the estimate of the water is too large the rounds would swing ever further: a float tied to an
    // anchor reached 9000 m/s. Smaller changes then.
    if (change > 0.5 * last_change_) relaxation_ *= 0.5;
    last_change_ = change;
    for (std::size_t b = 0; b < now.size(); ++b) {
        const Impulse more{relaxation_ * (impulses.on_body[b].linear - given_[b].linear),
                           relaxation_ * (impulses.on_body[b].angular - given_[b].angular)};
        RigidBody body = bodies_[b];
        body.velocity = movable[b].free.velocity;
        set_spin(body, movable[b].free.spin);
        apply_impulse(body, more);
        movable[b].free = twist_of(body);
        given_[b] += more;
    }
    return true;
}

void ContactResponse::repair(std::vector<RigidBody>& bodies) const {
    repair_positions(bodies, placed_, contacts_, joints_);
}

}  // namespace flotsam

#include "coupling/contact_response.h"

#include <algorithm>
#include <cmath>

namespace flotsam {

namespace {

std::vector<double> as_numbers(const std::vector<Impulse>& impulses) {
    std::vector<double> numbers;
    for (const Impulse& i : impulses)
        numbers.insert(numbers.end(),
                       {i.linear.x, i.linear.y, i.linear.z, i.angular.x, i.angular.y, i.angular.z});
    return numbers;
}
std::vector<Impulse> as_impulses(const std::vector<double>& n) {
    std::vector<Impulse> impulses;
    for (std::size_t i = 0; i < n.size(); i += 6)
        impulses.push_back({{n[i], n[i + 1], n[i + 2]}, {n[i + 3], n[i + 4], n[i + 5]}});
    return impulses;
}
// Weights that make linear and angular impulses comparable, by their effect on a body.
std::vector<double> impulse_weights(const std::vector<RigidBody>& bodies) {
    std::vector<double> weight;
    for (const RigidBody& body : bodies) {
        weight.insert(weight.end(), 3, 1 / std::sqrt(body.mass));
        weight.insert(weight.end(), 3, std::sqrt(3 / body.inertia.trace()));
    }
    return weight;
}

}  // namespace

std::vector<double> added_mass(const std::vector<RigidBody>& bodies, const Obstacles& obstacles,
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
                                 const std::vector<double>& added_mass, double time, double dt)
    : joints_(&scenario.joints),
      dt_(dt),
      // Relative to the velocity that gravity, or at least 1 m/s^2, gives a body in a step.
      tolerance_(1e-4 * std::max(length(scenario.gravity), 1.0) * dt),
      placed_(place_solids(scenario.solids, before, time, dt)),
      // With a margin of a cell: a light body may move much further than its present speed suggests.
      contacts_(shapes.find(
          placed_, {{{}, scenario.domain.size()}, scenario.domain.closed_sides(), scenario.domain.mirrors()},
          dt, scenario.domain.h)),
      heavy_(bodies),
      held_rows_(flotsam::held_rows(before, placed_, scenario.joints, dt)),
      given_(bodies.size()),
      rounds_(impulse_weights(bodies)) {
    // Inertia gets no added part: a ball turns without moving the water.
    for (std::size_t b = 0; b < heavy_.size(); ++b) heavy_[b].mass += added_mass[b];
    for (const Row& row : held_rows_) held_targets_.push_back(row.target);
}

std::vector<ConstraintRow> ContactResponse::held_rows() const {
    std::vector<ConstraintRow> rows;
    for (const Row& row : held_rows_) {
        const Vec3 &way = row.linear, &a = row.angular_a, &b = row.angular_b;
        rows.push_back({row.a,
                        row.b,
                        {way.x, way.y, way.z, a.x, a.y, a.z},
                        {-way.x, -way.y, -way.z, -b.x, -b.y, -b.z},
                        row.target});
    }
    return rows;
}

ContactResponse::Answer ContactResponse::ask(const std::vector<Twist>& motion) const {
    std::vector<RigidBody> now = heavy_;
    for (std::size_t b = 0; b < now.size(); ++b) {
        now[b].velocity = motion[b].velocity;
        set_spin(now[b], motion[b].spin);
        apply_impulse(now[b], {-given_[b].linear, -given_[b].angular});
    }
    // From the second round on a few sweeps are enough.
    const ContactEffort effort = found_ ? ContactEffort{50, &*found_} : ContactEffort{};
    Answer answer{solve_contacts(now, placed_, contacts_, *joints_, dt_, effort), 0};
    apply_impulses(now, answer.impulses);
    for (std::size_t b = 0; b < now.size(); ++b) {
        const double size = std::sqrt(heavy_[b].inertia.trace() / heavy_[b].mass);
        answer.change = std::max({answer.change, length(now[b].velocity - motion[b].velocity),
                                  size * length(spin_of(now[b]) - motion[b].spin)});
    }
    return answer;
}

double ContactResponse::disagreement(const std::vector<Twist>& motion) const {
    const double change = ask(motion).change;
    return change < tolerance_ ? 0 : change;
}

bool ContactResponse::revise(const std::vector<Twist>& motion) {
    Answer answer = ask(motion);
    found_ = std::move(answer.impulses);
    if (answer.change < tolerance_) return false;
    held_targets_ = found_->held_targets;
    given_ = as_impulses(rounds_.next(as_numbers(given_), as_numbers(found_->but_held)));
    return true;
}

void ContactResponse::repair(std::vector<RigidBody>& bodies) const {
    repair_positions(bodies, placed_, contacts_, *joints_);
}

}  // namespace flotsam

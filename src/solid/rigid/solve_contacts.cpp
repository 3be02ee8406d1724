#include "solid/rigid/solve_contacts.h"

#include <algorithm>
#include <cmath>

#include "solid/rigid/constraint_rows.h"

namespace flotsam {

namespace {

constexpr int most_sweeps = 400;
// Speeds below this do not matter: a stack of crates drifts 0.1 mm in a day.
constexpr double speed_tolerance = 1e-9;  // [m/s or rad/s]

// A row with what it does to its bodies.
struct SolverRow {
    Row row;
    Vec3 linear_a, linear_b, turn_a, turn_b;  // change of velocity and spin per impulse
    double stiffness = 0;                     // change of the row's own velocity per impulse [1/kg]
    double impulse = 0;
    double before = 0, direction = 0;  // impulse before the sweep; conjugate direction
    // Of a pair of friction rows: the row whose impulse bounds both together. They stand one after the other.
    int normal = -1;
    double friction = 0;
};

struct Velocity {
    Vec3 linear, spin;
};

class GaussSeidel {
  public:
    explicit GaussSeidel(const std::vector<RigidBody>& bodies) {
        for (const RigidBody& body : bodies) {
            inverse_mass_.push_back(inverse_mass(body));
            inverse_inertia_.push_back(inverse_inertia_in_world(body));
            velocity_.push_back({body.velocity, spin_of(body)});
        }
    }
    // Positions are repaired with the same rows, starting from rest.
    void start_at_rest() { std::fill(velocity_.begin(), velocity_.end(), Velocity{}); }

    int add(const Row& row) {
        SolverRow r;
        r.row = row;
        const auto respond = [&](int body, Vec3 angular, Vec3& linear_change, Vec3& turn) {
            if (body < 0) return;
            for (int i = 0; i < 3; ++i) linear_change[i] = inverse_mass_[body][i] * row.linear[i];
            turn = inverse_inertia_[body] * angular;
            r.stiffness += dot(row.linear, linear_change) + dot(angular, turn);
        };
        respond(row.a, row.angular_a, r.linear_a, r.turn_a);
        respond(row.b, row.angular_b, r.linear_b, r.turn_b);
        rows_.push_back(r);
        return int(rows_.size()) - 1;
    }
    void add_friction(const Row (&across)[2], int normal, double friction) {
        for (const Row& row : across) {
            SolverRow& r = rows_[add(row)];
            r.normal = normal;
            r.friction = friction;
        }
    }

    double speed(int n) const {
        const Row& row = rows_[n].row;
        double sum = 0;
        if (row.a >= 0)
            sum += dot(row.linear, velocity_[row.a].linear) + dot(row.angular_a, velocity_[row.a].spin);
        if (row.b >= 0)
            sum -= dot(row.linear, velocity_[row.b].linear) + dot(row.angular_b, velocity_[row.b].spin);
        return sum;
    }
    void set_target(int n, double target) { rows_[n].row.target = target; }
    double target(int n) const { return rows_[n].row.target; }
    double impulse(int n) const { return rows_[n].impulse; }
    const Velocity& velocity(std::size_t body) const { return velocity_[body]; }

    // Sweeps until nothing changes any more. Between sweeps, impulses go on along the direction of the last
    // changes, as conjugate gradients do; where that grows the error it starts anew.
    void solve(int& sweeps, double& change) {
        double last_size = 0;
        for (int i = 0; i < most_sweeps; ++i) {
            for (SolverRow& r : rows_) r.before = r.impulse;
            change = sweep();
            ++sweeps;
            double size = 0;
            for (const SolverRow& r : rows_)
                size += (r.impulse - r.before) * (r.impulse - r.before) * r.stiffness;
            if (change < speed_tolerance) return;
            const double ratio = i > 0 && last_size > 0 ? size / last_size : 2;
            last_size = size;
            const bool go_on = ratio <= 1 && i + 1 < most_sweeps;
            for (std::size_t n = 0; n < rows_.size(); ++n) {
                SolverRow& r = rows_[n];
                const double gradient = r.impulse - r.before;
                if (go_on) {
                    add_impulse(int(n), ratio * r.direction);
                    r.direction = ratio * r.direction + gradient;
                } else {
                    r.direction = i > 0 ? 0 : gradient;
                }
            }
        }
    }

    // What all impulses together did to a body.
    std::vector<Impulse> impulses_on_bodies() const {
        std::vector<Impulse> sum(velocity_.size());
        for (const SolverRow& r : rows_) {
            if (r.row.a >= 0) sum[r.row.a] += {r.row.linear * r.impulse, r.row.angular_a * r.impulse};
            if (r.row.b >= 0) sum[r.row.b] += {r.row.linear * -r.impulse, r.row.angular_b * -r.impulse};
        }
        return sum;
    }

  private:
    void add_impulse(int n, double impulse) {
        SolverRow& r = rows_[n];
        r.impulse += impulse;
        if (r.row.a >= 0) {
            velocity_[r.row.a].linear += r.linear_a * impulse;
            velocity_[r.row.a].spin += r.turn_a * impulse;
        }
        if (r.row.b >= 0) {
            velocity_[r.row.b].linear -= r.linear_b * impulse;
            velocity_[r.row.b].spin -= r.turn_b * impulse;
        }
    }

    // Returns the largest change of a row's velocity.
    double sweep() {
        double largest = 0;
        for (int n = 0; n < int(rows_.size()); ++n) {
            SolverRow& r = rows_[n];
            if (r.normal >= 0) {
                largest = std::max(largest, solve_friction(n));
                ++n;  // the second of the pair
                continue;
            }
            const double diagonal = r.stiffness + r.row.softness;
            if (diagonal <= 0) continue;  // both sides are locked in this direction
            const double wanted = (r.row.target - speed(n) - r.row.softness * r.impulse) / diagonal;
            const double change = std::clamp(r.impulse + wanted, r.row.low, r.row.high) - r.impulse;
            add_impulse(n, change);
            largest = std::max(largest, std::abs(change) * diagonal);
        }
        return largest;
    }

    // Both directions at once, so that friction opposes sliding and knows no axes. One common step length
    // keeps the direction true.
    double solve_friction(int n) {
        SolverRow &u = rows_[n], &v = rows_[n + 1];
        const double diagonal = std::max(u.stiffness, v.stiffness);
        if (diagonal <= 0) return 0;
        double first = u.impulse + (u.row.target - speed(n)) / diagonal;
        double second = v.impulse + (v.row.target - speed(n + 1)) / diagonal;
        const double bound = u.friction * std::max(rows_[u.normal].impulse, 0.0),
                     size = std::hypot(first, second);
        if (size > bound) first *= bound / size, second *= bound / size;
        const double change_u = first - u.impulse, change_v = second - v.impulse;
        add_impulse(n, change_u);
        add_impulse(n + 1, change_v);
        return std::hypot(change_u, change_v) * diagonal;
    }

    std::vector<Vec3> inverse_mass_;
    std::vector<Mat3> inverse_inertia_;
    std::vector<Velocity> velocity_;
    std::vector<SolverRow> rows_;
};

// Where everything is after a time of free motion at given impulses.
struct Prediction {
    std::vector<RigidBody> bodies;
    std::vector<PlacedSolid> placed;
};
Prediction predict(std::vector<RigidBody> bodies, std::vector<PlacedSolid> placed,
                   const std::vector<Impulse>& impulses, double dt) {
    for (std::size_t n = 0; n < bodies.size(); ++n) {
        apply_impulse(bodies[n], impulses[n]);
        advance(bodies[n], dt);
    }
    for (PlacedSolid& solid : placed) {
        solid.pose.position += solid.motion.velocity * dt;
        solid.pose.rotation = rotation_by(solid.motion.spin * dt) * solid.pose.rotation;
    }
    return {std::move(bodies), std::move(placed)};
}

}  // namespace

ContactImpulses solve_contacts(const std::vector<RigidBody>& bodies, const std::vector<PlacedSolid>& placed,
                               const std::vector<Contact>& contacts, const std::vector<Joint>& joints,
                               double dt) {
    const RigidSystem system{bodies, placed};
    GaussSeidel solver(bodies);
    std::vector<int> first_row;  // of each joint
    std::vector<std::vector<double>> error_now;
    for (const Joint& joint : joints) {
        JointRows rows = joint_rows(system, joint, dt);
        error_now.push_back(std::move(rows.error));
        first_row.push_back(-1);
        for (const Row& row : rows.rows) {
            const int n = solver.add(row);
            if (first_row.back() < 0) first_row.back() = n;
        }
    }
    std::vector<int> normal_row;
    for (const Contact& contact : contacts) {
        ContactRows rows = contact_rows(system, contact);
        const int n = solver.add(rows.normal);
        const double speed = solver.speed(n) - rows.normal.target;  // relative to what no impulse moves
        double target = -std::max(contact.distance, 0.0) / dt;
        // It rebounds in the step in which it would arrive: at most the way of one step too early.
        if (speed < target && contact.approach > 0) target = contact.restitution * contact.approach;
        solver.set_target(n, rows.normal.target + target);
        if (contact.friction > 0) solver.add_friction(rows.across, n, contact.friction);
        normal_row.push_back(n);
    }

    ContactImpulses result;
    solver.solve(result.sweeps, result.last_change);
    result.on_body = solver.impulses_on_bodies();
    // Joints move on arcs, rows on their tangents: without this a pendulum would lose the energy that goes
    // into its joint's opening. Each round squares what is left. (The idea of SHAKE.)
    constexpr int rounds = 3;
    for (int round = 0; round < rounds && !joints.empty(); ++round) {
        const Prediction then = predict(bodies, placed, result.on_body, dt);
        const RigidSystem later{then.bodies, then.placed};
        for (std::size_t j = 0; j < joints.size(); ++j) {
            const std::vector<double> error = joint_rows(later, joints[j], dt).error;
            for (std::size_t e = 0; e < error.size(); ++e) {
                const int n = first_row[j] + int(e);
                solver.set_target(n, solver.target(n) - (error[e] - error_now[j][e]) / dt);
            }
        }
        solver.solve(result.sweeps, result.last_change);
        result.on_body = solver.impulses_on_bodies();
    }

    for (std::size_t c = 0; c < contacts.size(); ++c) {
        const ContactRows rows = contact_rows(system, contacts[c]);
        const int n = normal_row[c];
        Vec3 impulse = rows.normal.linear * solver.impulse(n);
        if (contacts[c].friction > 0)
            impulse +=
                rows.across[0].linear * solver.impulse(n + 1) + rows.across[1].linear * solver.impulse(n + 2);
        result.on_a.push_back(impulse);
    }
    return result;
}

void apply_impulses(std::vector<RigidBody>& bodies, const ContactImpulses& impulses) {
    for (std::size_t n = 0; n < bodies.size(); ++n) apply_impulse(bodies[n], impulses.on_body[n]);
}

void repair_positions(std::vector<RigidBody>& bodies, const std::vector<PlacedSolid>& placed,
                      const std::vector<Contact>& contacts, const std::vector<Joint>& joints) {
    // All at once would make stacks that overlap jump.
    constexpr double share = 0.2;
    const bool needed = !joints.empty() || std::any_of(contacts.begin(), contacts.end(),
                                                       [](const Contact& c) { return c.distance < 0; });
    if (!needed) return;
    // Here velocities are ways, and what no impulse moves stands still.
    std::vector<PlacedSolid> still = placed;
    for (PlacedSolid& solid : still) solid.motion = {};
    const RigidSystem system{bodies, still};
    GaussSeidel solver(bodies);
    solver.start_at_rest();
    for (const Joint& joint : joints) {
        JointRows rows = joint_rows(system, joint, 1);
        for (std::size_t e = 0; e < rows.error.size(); ++e) {
            rows.rows[e].target = -share * rows.error[e];
            solver.add(rows.rows[e]);
        }
    }
    for (const Contact& contact : contacts) {
        Row row = contact_rows(system, contact).normal;
        row.target = contact.distance > 0 ? -contact.distance : -share * contact.distance;
        solver.add(row);
    }
    int sweeps = 0;
    double change = 0;
    solver.solve(sweeps, change);
    for (std::size_t n = 0; n < bodies.size(); ++n) {
        bodies[n].center += solver.velocity(n).linear;
        bodies[n].rotation = orthonormal(rotation_by(solver.velocity(n).spin) * bodies[n].rotation);
    }
}

}  // namespace flotsam

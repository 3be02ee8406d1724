#include "solid/rigid/solve_contacts.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <set>

namespace flotsam {

namespace {

// Speeds below this do not matter: a resting body drifts by a millimetre in three hours.
constexpr double speed_tolerance = 1e-7;  // [m/s or rad/s]

// A row and its effect on its bodies.
struct SolverRow {
    Row row;
    Vec3 linear_a, linear_b, turn_a, turn_b;  // change of velocity and spin per impulse
    double stiffness = 0;                     // change of the row's own velocity per impulse [1/kg]
    double impulse = 0;
    double begin = 0, last = 0;  // impulse at the start of this sweep; after the previous one
    // For a pair of friction rows, which are consecutive: the normal row, whose impulse bounds both together.
    int normal = -1;
    double friction = 0;
    bool in_block = false;

    bool unbounded() const { return normal < 0 && std::isinf(row.low) && std::isinf(row.high); }
};

// Connected rows without bounds, solved together: solved row by row, a chain of joints would open by its own
// length.
struct Block {
    std::vector<int> rows;
    Eigen::LLT<Eigen::MatrixXd> factor;
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
        double most = 0;  // stiffness of a row in another direction
        const auto respond = [&](int body, Vec3 angular, Vec3& linear_change, Vec3& turn) {
            if (body < 0) return;
            const Vec3 mass = inverse_mass_[body];
            for (int i = 0; i < 3; ++i) linear_change[i] = mass[i] * row.linear[i];
            turn = inverse_inertia_[body] * angular;
            r.stiffness += dot(row.linear, linear_change) + dot(angular, turn);
            most += dot(row.linear, row.linear) * std::max({mass.x, mass.y, mass.z}) +
                    dot(angular, angular) * inverse_inertia_[body].trace();
        };
        respond(row.a, row.angular_a, r.linear_a, r.turn_a);
        respond(row.b, row.angular_b, r.linear_b, r.turn_b);
        // A row along locked axes that has a free part by rounding alone would hold that, too: the hinge of a
        // 2D scene its own turning.
        if (r.stiffness <= 1e-20 * most)
            r.stiffness = 0, r.linear_a = r.linear_b = r.turn_a = r.turn_b = Vec3{};
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

    // To be called after the last row was added.
    void make_blocks() {
        // Each connected group of bodies is named by its first body.
        std::vector<int> group(velocity_.size());
        for (std::size_t n = 0; n < group.size(); ++n) group[n] = int(n);
        const auto name = [&](int body) {
            while (group[body] != body) body = group[body];
            return body;
        };
        for (const SolverRow& r : rows_)
            if (r.unbounded() && r.row.a >= 0 && r.row.b >= 0) {
                const auto [low, high] =
                    std::minmax({name(r.row.a), name(r.row.b)});  // copies: a pair of references would dangle
                group[high] = low;
            }
        std::vector<int> block_of(group.size(), -1);
        for (std::size_t n = 0; n < rows_.size(); ++n) {
            SolverRow& r = rows_[n];
            if (!r.unbounded() || (r.row.a < 0 && r.row.b < 0)) continue;
            int& block = block_of[name(std::max(r.row.a, r.row.b))];
            if (block < 0) {
                block = int(blocks_.size());
                blocks_.emplace_back();
            }
            blocks_[block].rows.push_back(int(n));
            r.in_block = true;
        }
        for (Block& block : blocks_) factorise(block);
    }

    // Sweeps until nothing changes any more. After each sweep all impulses are extrapolated, the further the
    // longer this goes well; when a sweep turns back, the extrapolation restarts (Nesterov's acceleration
    // with restarts).
    void solve(int most_sweeps, int& sweeps, double& change) {
        double momentum = 1;
        for (SolverRow& r : rows_) r.last = r.impulse;
        for (int i = 0; i < most_sweeps; ++i) {
            for (SolverRow& r : rows_) r.begin = r.impulse;
            change = sweep();
            ++sweeps;
            if (change < speed_tolerance) return;
            double turned_back = 0;
            for (const SolverRow& r : rows_)
                turned_back += (r.begin - r.impulse) * (r.impulse - r.last) * r.stiffness;
            if (turned_back > 0) momentum = 1;
            const double next = 0.5 * (1 + std::sqrt(1 + 4 * momentum * momentum));
            const double ratio = i + 1 < most_sweeps ? (momentum - 1) / next : 0;  // ends within all bounds
            momentum = next;
            for (std::size_t n = 0; n < rows_.size(); ++n) {
                const double step = rows_[n].impulse - rows_[n].last;
                rows_[n].last = rows_[n].impulse;
                add_impulse(int(n), ratio * step);
            }
        }
    }

    std::vector<double> impulses() const {
        std::vector<double> all;
        for (const SolverRow& r : rows_) all.push_back(r.impulse);
        return all;
    }
    void start_from(const std::vector<double>& impulses) {
        for (std::size_t n = 0; n < impulses.size(); ++n) add_impulse(int(n), impulses[n]);
    }

    // The sum of all impulses on each body; or of all but those of some rows.
    std::vector<Impulse> impulses_on_bodies(const std::set<int>& but = {}) const {
        std::vector<Impulse> sum(velocity_.size());
        for (std::size_t n = 0; n < rows_.size(); ++n) {
            const SolverRow& r = rows_[n];
            if (but.contains(int(n))) continue;
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

    // Change of the velocity of row n per impulse of row m.
    double response(int n, int m) const {
        const Row &row = rows_[n].row, &other = rows_[m].row;
        const SolverRow& r = rows_[m];
        double sum = 0;
        const auto add_side = [&](int body, Vec3 angular, double sign) {
            if (body < 0) return;
            if (body == other.a) sum += sign * (dot(row.linear, r.linear_a) + dot(angular, r.turn_a));
            if (body == other.b) sum -= sign * (dot(row.linear, r.linear_b) + dot(angular, r.turn_b));
        };
        add_side(row.a, row.angular_a, 1);
        add_side(row.b, row.angular_b, -1);
        return sum;
    }

    void factorise(Block& block) const {
        const auto size = Eigen::Index(block.rows.size());
        Eigen::MatrixXd matrix(size, size);
        for (Eigen::Index i = 0; i < size; ++i)
            for (Eigen::Index j = 0; j <= i; ++j) matrix(i, j) = response(block.rows[i], block.rows[j]);
        for (Eigen::Index i = 0; i < size; ++i) {
            // Redundant joints, or joints that hold a locked axis, would make it singular.
            const double own = matrix(i, i);
            matrix(i, i) += rows_[block.rows[i]].row.softness + (own > 0 ? 1e-9 * own : 1);
        }
        block.factor.compute(matrix);
    }

    double solve_block(const Block& block) {
        const auto size = Eigen::Index(block.rows.size());
        Eigen::VectorXd residual(size);
        for (Eigen::Index i = 0; i < size; ++i) {
            const int n = block.rows[i];
            const SolverRow& r = rows_[n];
            residual(i) = r.stiffness > 0 ? r.row.target - speed(n) - r.row.softness * r.impulse : 0;
        }
        const Eigen::VectorXd change = block.factor.solve(residual);
        for (Eigen::Index i = 0; i < size; ++i) add_impulse(block.rows[i], change(i));
        return size > 0 ? residual.cwiseAbs().maxCoeff() : 0;
    }

    // Forward and backward, so that changes propagate through a stack both ways. Returns the largest change
    // of a row's velocity on the way back.
    double sweep() {
        const int count = int(rows_.size());
        for (const Block& block : blocks_) solve_block(block);
        for (int n = 0; n < count; n += rows_[n].normal >= 0 ? 2 : 1) solve_row(n);
        double largest = 0;
        for (int n = count - 1; n >= 0; --n) {
            if (rows_[n].normal >= 0) --n;
            largest = std::max(largest, solve_row(n));
        }
        for (const Block& block : blocks_) largest = std::max(largest, solve_block(block));
        return largest;
    }

    // Solves a row, or a pair of friction rows, as if it were alone; returns the change of its velocity.
    double solve_row(int n) {
        const SolverRow& r = rows_[n];
        if (r.in_block) return 0;
        if (r.normal >= 0) return solve_friction(n);
        const double diagonal = r.stiffness + r.row.softness;
        if (diagonal <= 0) return 0;  // both sides are locked in this direction
        const double wanted = (r.row.target - speed(n) - r.row.softness * r.impulse) / diagonal;
        const double change = std::clamp(r.impulse + wanted, r.row.low, r.row.high) - r.impulse;
        add_impulse(n, change);
        return std::abs(change) * diagonal;
    }

    // Both directions at once, so that friction opposes sliding and is isotropic. One common step length
    // preserves the direction.
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
    std::vector<Block> blocks_;
};

// The separation speed of a contact that would close within this step. It rebounds where it is, up to one
// step before it closes, with the energy that it would have there after rebounding at the surface; `speed` is
// its relative speed after the step's forces.
double rebound_speed(const Contact& contact, double speed, double dt) {
    const double e = contact.restitution, way = std::max(contact.distance, 0.0);
    // The force that accelerated it towards the surface slows it down on its way back. Velocities are those
    // between two steps, half a step from here.
    const double pull = std::max(-(speed + contact.approach) / dt, 0.0);
    const double arrives = contact.approach + 0.5 * pull * dt;
    if (arrives <= 0) return 0;
    return std::sqrt(std::max(e * e * arrives * arrives - 2 * pull * way * (1 - e * e), 0.0)) -
           0.5 * pull * dt;
}

// Bodies and solids after free motion for a time with given impulses.
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
                               double dt, const ContactEffort& effort) {
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
        const double speed = solver.speed(n) - rows.normal.target;  // relative to sides that no impulse moves
        double target = -std::max(contact.distance, 0.0) / dt;
        if (speed < target) target = std::max(target, rebound_speed(contact, speed, dt));
        solver.set_target(n, rows.normal.target + target);
        if (contact.friction > 0) solver.add_friction(rows.across, n, contact.friction);
        normal_row.push_back(n);
    }

    ContactImpulses result;
    solver.make_blocks();
    if (effort.start) solver.start_from(effort.start->on_row);
    solver.solve(effort.most_sweeps, result.sweeps, result.last_change);
    result.on_body = solver.impulses_on_bodies();
    // Joints move on arcs, but rows constrain velocities along their tangents: without this a pendulum would
    // lose energy to the opening of its joint. Each round squares the remaining error. (The idea of SHAKE.)
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
        solver.solve(effort.most_sweeps, result.sweeps, result.last_change);
        result.on_body = solver.impulses_on_bodies();
    }

    result.on_row = solver.impulses();
    std::set<int> held;
    for (std::size_t j = 0; j < joints.size(); ++j)
        for (std::size_t e = 0; e < error_now[j].size(); ++e) {
            held.insert(first_row[j] + int(e));
            result.held_targets.push_back(solver.target(first_row[j] + int(e)));
        }
    result.but_held = solver.impulses_on_bodies(held);
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

std::vector<Row> held_rows(const std::vector<RigidBody>& bodies, const std::vector<PlacedSolid>& placed,
                           const std::vector<Joint>& joints, double dt) {
    const Prediction then = predict(bodies, placed, std::vector<Impulse>(bodies.size()), dt);
    const RigidSystem now{bodies, placed}, later{then.bodies, then.placed};
    GaussSeidel speeds(bodies);
    std::vector<Row> held;
    for (const Joint& joint : joints) {
        const JointRows rows = joint_rows(now, joint, dt);
        const std::vector<double> error = joint_rows(later, joint, dt).error;
        for (std::size_t e = 0; e < error.size(); ++e) {
            held.push_back(rows.rows[e]);
            held.back().target = speeds.speed(speeds.add(held.back())) - (error[e] - rows.error[e]) / dt;
        }
    }
    return held;
}

void apply_impulses(std::vector<RigidBody>& bodies, const ContactImpulses& impulses) {
    for (std::size_t n = 0; n < bodies.size(); ++n) apply_impulse(bodies[n], impulses.on_body[n]);
}

void repair_positions(std::vector<RigidBody>& bodies, const std::vector<PlacedSolid>& placed,
                      const std::vector<Contact>& contacts, const std::vector<Joint>& joints) {
    // Repairing everything at once would make overlapping stacks jump.
    constexpr double share = 0.2;
    const bool needed = !joints.empty() || std::any_of(contacts.begin(), contacts.end(),
                                                       [](const Contact& c) { return c.distance < 0; });
    if (!needed) return;
    // Here velocities are displacements, and solids that no impulse moves stand still.
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
    solver.make_blocks();
    solver.solve(ContactEffort{}.most_sweeps, sweeps, change);
    for (std::size_t n = 0; n < bodies.size(); ++n) {
        bodies[n].center += solver.velocity(n).linear;
        bodies[n].rotation = orthonormal(rotation_by(solver.velocity(n).spin) * bodies[n].rotation);
    }
}

}  // namespace flotsam

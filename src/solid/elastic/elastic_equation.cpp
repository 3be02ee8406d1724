#include "solid/elastic/elastic_equation.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "linalg/coupled_forms.h"

namespace flotsam {

namespace {

constexpr std::int64_t grain = 512;
// Rounds beyond Newton's in which contacts may still open and close.
constexpr int contact_rounds = 4;
// Largest number of step halvings in a round's line search.
constexpr int most_halvings = 12;
// A round that moves a node by more than this must not be the last one, in edges.
constexpr double most_jump = 0.1;

// The rigid part of a body's motion, with the rotations that no pin prevents.
struct WholeMotion {
    Vec3 center, velocity, momentum, spin;  // angular momentum about the centre
    Mat3 inverse_inertia;                   // zero for rotations that pins prevent
};

bool turns_about(unsigned held, int axis) { return !(held & ~(1u << axis)); }

WholeMotion whole_motion(const ElasticMesh& mesh, std::span<const Vec3> x, std::span<const Vec3> v,
                         unsigned held) {
    WholeMotion whole;
    double mass = 0;
    for (std::size_t n = 0; n < x.size(); ++n) {
        mass += mesh.mass[n];
        whole.center += mesh.mass[n] * x[n];
        whole.velocity += mesh.mass[n] * v[n];
    }
    whole.center = whole.center / mass;
    whole.velocity = whole.velocity / mass;
    for (std::size_t n = 0; n < x.size(); ++n)
        whole.momentum += mesh.mass[n] * cross(x[n] - whole.center, v[n] - whole.velocity);
    const Mat3 inertia = inertia_about(mesh, x, whole.center);
    if (held == 0)
        whole.inverse_inertia = inertia.inverse();
    else
        for (int a = 0; a < 3; ++a)
            if (turns_about(held, a)) whole.inverse_inertia.row[a][a] = 1 / inertia.row[a][a];
    whole.spin = whole.inverse_inertia * whole.momentum;
    return whole;
}

unsigned held_at_all(std::span<const unsigned char> held) {
    unsigned sum = 0;
    for (const unsigned char h : held) sum |= h;
    return sum;
}

}  // namespace

void drift(std::vector<ElasticBody>& bodies, const std::vector<const ElasticProperties*>& properties,
           double time, double dt) {
    for (std::size_t b = 0; b < bodies.size(); ++b) {
        ElasticBody& body = bodies[b];
        std::vector<Vec3>&x = body.position, &v = body.velocity;
        std::vector<Vec3> imposed = v;
        impose_pins(*properties[b], x, time, dt, imposed);
        const unsigned held = held_at_all(held_axes(body, *properties[b], time));
        const WholeMotion whole = whole_motion(*body.mesh, x, imposed, held);
        if (whole.spin == Vec3{}) {
            parallel_for(std::ssize(x), grain, [&](std::int64_t n) { x[n] += dt * imposed[n]; });
            continue;
        }
        // Rotate positions and velocities: along straight lines a light body that spins fast would grow
        // without bounds.
        const Rotation turn = rotation_by(whole.spin * dt);
        const Vec3 center = whole.center + dt * whole.velocity;
        parallel_for(std::ssize(x), grain, [&](std::int64_t n) {
            const Vec3 arm = x[n] - whole.center, own = imposed[n] - whole.velocity;
            x[n] = center + turn * (arm + dt * (own - cross(whole.spin, arm)));
            v[n] = whole.velocity + turn * (v[n] - whole.velocity);
        });
        // Restore the angular momentum, which need not be parallel to the axis of rotation.
        const WholeMotion turned = whole_motion(*body.mesh, x, v, held);
        const Vec3 faster = turned.inverse_inertia * (whole.momentum - turned.momentum);
        parallel_for(std::ssize(x), grain, [&](std::int64_t n) { v[n] += cross(faster, x[n] - center); });
    }
}

void ElasticEquation::begin(const std::vector<ElasticBody>& bodies,
                            const std::vector<const ElasticProperties*>& properties, Vec3 gravity,
                            double time, double dt, std::vector<ElasticContact> contacts,
                            std::vector<RigidPartner> partners, bool turned_back) {
    bodies_.resize(bodies.size());
    dt_ = dt, rounds_ = 0, most_ = 1, edge_ = tolerance_ = 1e300, failed_ = false, disagreement_ = 0;
    nodes_ = 0;
    v_.clear();
    before_.clear();
    for (std::size_t b = 0; b < bodies.size(); ++b) {
        Body& own = bodies_[b];
        const ElasticMesh* const mesh = bodies[b].mesh.get();
        if (own.mesh != mesh) {
            own = {};
            own.mesh = mesh;
            own.preconditioner = choose_preconditioner(mesh->pattern, mesh->rest.nodes);
        }
        own.properties = properties[b];
        own.start = bodies[b].position;
        own.velocity = bodies[b].velocity;
        own.force = outer_forces(bodies[b], *properties[b], gravity);
        own.held = held_axes(bodies[b], *properties[b], time);
        own.midpoint = properties[b]->integrator == ElasticIntegrator::midpoint;
        own.reach = own.midpoint ? 0.25 * dt : dt, own.late = own.midpoint ? 0.5 : 1;
        own.stiffness.clear();
        own.turning = {};
        if (turned_back) find_turning(own);
        own.first = nodes_;
        nodes_ += own.start.size();
        edge_ = std::min(edge_, mesh->edge);
        tolerance_ = std::min(tolerance_, properties[b]->newton_tolerance);
        most_ = std::max(most_, properties[b]->newton_steps);
        before_.insert(before_.end(), own.velocity.begin(), own.velocity.end());
        // The trapezoidal rule linearizes forces about the previous velocity.
        v_.resize(nodes_);
        if (own.midpoint)
            std::copy(own.velocity.begin(), own.velocity.end(), v_.begin() + std::ptrdiff_t(own.first));
        impose_pins(*properties[b], own.start, time, dt, std::span(v_).subspan(own.first));
    }
    partners_ = std::move(partners);
    for (const RigidPartner& partner : partners_)
        for (std::vector<Vec3>* all : {&v_, &before_}) {
            all->push_back(partner.free.velocity);
            all->push_back(partner.free.spin);
        }
    contacts_ = std::move(contacts);
    friction_ = friction_at_start(contacts_, dt);
    // Newton's method begins with the contacts that unchanged velocities would cause.
    impulse_.clear();
    descent_.resize(v_.size());
}

void ElasticEquation::find_turning(Body& s) const {
    const unsigned held = held_at_all(s.held);
    const Vec3 center = whole_motion(*s.mesh, s.start, s.velocity, held).center;
    const auto product = [&](const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
        double sum = 0;
        for (std::size_t n = 0; n < a.size(); ++n) sum += dot(a[n], b[n]);
        return sum;
    };
    for (int axis = 0; axis < 3; ++axis) {
        if (!turns_about(held, axis)) continue;  // this rotation would move held nodes
        const Vec3 rate(unit(axis));
        std::vector<Vec3> mode(s.start.size());
        for (std::size_t n = 0; n < mode.size(); ++n) mode[n] = cross(rate, s.start[n] - center);
        for (std::size_t k = 0; k < s.turning.mode.size(); ++k) {
            const double share = product(s.turning.momentum[k], mode);
            for (std::size_t n = 0; n < mode.size(); ++n) mode[n] -= share * s.turning.mode[k][n];
        }
        // Mass damping slows rotations, too.
        const double slowed = 1 + s.late * dt_ * s.mesh->material.mass_damping;
        std::vector<Vec3> momentum = mode;
        for (std::size_t n = 0; n < mode.size(); ++n) momentum[n] *= s.mesh->mass[n] * slowed;
        const double size = std::sqrt(product(momentum, mode));
        for (std::size_t n = 0; n < mode.size(); ++n)
            mode[n] = mode[n] / size, momentum[n] = momentum[n] / size;
        s.turning.mode.push_back(std::move(mode));
        s.turning.momentum.push_back(std::move(momentum));
    }
}

// Forces are evaluated at the predicted positions, rotated back by the step's own rotation (drift).
void ElasticEquation::place(Body& s, std::span<const Vec3> v) const {
    const double reach = s.reach, late = s.late;
    const bool damps = s.mesh->material.stiffness_damping > 0;
    const std::int64_t count = std::ssize(s.start);
    s.at.resize(count);
    s.damps.resize(damps ? count : 0);
    parallel_for(count, grain, [&](std::int64_t n) {
        s.at[n] = s.start[n] + reach * (s.midpoint ? v[n] - s.velocity[n] : v[n]);
        if (damps) s.damps[n] = late * v[n] + (1 - late) * s.velocity[n];
    });
    for (std::size_t k = 0; k < s.turning.mode.size(); ++k) {
        double way = 0, turn = 0;
        for (std::int64_t n = 0; n < count; ++n) {
            way += dot(s.turning.momentum[k][n], s.at[n] - s.start[n]);
            if (damps) turn += dot(s.turning.momentum[k][n], s.damps[n]);
        }
        for (std::int64_t n = 0; n < count; ++n) {
            s.at[n] -= way * s.turning.mode[k][n];
            if (damps) s.damps[n] -= turn * s.turning.mode[k][n];
        }
    }
}

// K at the start of the step times the velocity that it damps.
std::vector<Vec3> ElasticEquation::damped(Body& s) const {
    std::vector<Vec3> result(s.damps.size());
    if (result.empty()) return result;
    std::swap(s.matrix.value, s.stiffness);
    s.matrix.multiply(s.damps, result);
    std::swap(s.matrix.value, s.stiffness);
    return result;
}

void ElasticEquation::linearize(Body& s, bool elasticity) {
    const ElasticMaterial& material = s.mesh->material;
    const std::size_t count = s.start.size();
    const Vec3* const v = v_.data() + s.first;
    const double reach = s.reach, late = s.late;
    place(s, std::span(v_).subspan(s.first, count));
    evaluate_elements(s.mesh->batches, material, s.at,
                      {.forces = &s.element_forces, .stiffness = &s.element_stiffness});
    gather_forces(*s.mesh, s.element_forces, s.forces);
    if (s.matrix.column.size() != s.mesh->pattern.column.size()) {
        s.matrix = s.mesh->pattern;
        s.matrix.value.resize(s.matrix.column.size());
    }
    gather_stiffness(*s.mesh, s.element_stiffness, s.matrix);
    const double rate = material.stiffness_damping, slow = material.mass_damping;
    if (s.stiffness.empty() && rate > 0) s.stiffness = s.matrix.value;
    const std::vector<Vec3> slowed = damped(s);
    for (std::size_t n = 0; n < slowed.size(); ++n) s.forces[n] -= rate * slowed[n];
    for (std::size_t k = 0; k < s.turning.mode.size(); ++k) {
        double torque = 0;
        for (std::size_t n = 0; n < count; ++n) torque += dot(s.turning.mode[k][n], s.forces[n]);
        for (std::size_t n = 0; n < count; ++n) s.forces[n] -= torque * s.turning.momentum[k][n];
    }
    parallel_for(std::ssize(s.at), grain, [&](std::int64_t n) {
        const double mass = s.mesh->mass[n];
        const Vec3 damps = late * v[n] + (1 - late) * s.velocity[n];
        Vec3 down = mass * (s.velocity[n] - v[n] - dt_ * slow * damps) + dt_ * (s.forces[n] + s.force[n]);
        for (int k = s.matrix.row_begin[n]; k < s.matrix.row_begin[n + 1]; ++k) {
            Mat3& block = s.matrix.value[k];
            const int other = s.matrix.column[k];
            block = block * (elasticity ? dt_ * reach : 0);
            if (rate > 0) block = block + s.stiffness[k] * (late * dt_ * rate);
            if (other == n)
                for (int i = 0; i < 3; ++i) block.row[i][i] += mass * (1 + late * dt_ * slow);
            leave_out(s.held, int(n), other, block);
        }
        descent_[s.first + n] = down;
    });
}

bool ElasticEquation::linearize(bool elasticity) {
    ++rounds_;
    elasticity_ = elasticity;
    for (Body& body : bodies_) linearize(body, elasticity);
    system_ = {};
    for (std::size_t p = 0; p < partners_.size(); ++p) {
        const RigidPartner& partner = partners_[p];
        system_.singles.push_back(partner.mass);
        system_.singles.push_back(partner.inertia);
        descent_[nodes_ + 2 * p] = partner.mass * (partner.free.velocity - v_[nodes_ + 2 * p]);
        descent_[nodes_ + 2 * p + 1] = partner.inertia * (partner.free.spin - v_[nodes_ + 2 * p + 1]);
    }
    // In the first round v is only an initial guess: contacts follow from the previous velocity.
    const std::vector<Vec3>& towards = rounds_ == 1 ? before_ : v_;
    last_push_ = std::move(contact_push_);
    contact_push_.assign(descent_.size(), {});
    std::vector<BlockRow> rows =
        linearize_contacts(contacts_, towards, towards, dt_, friction_, contact_push_);
    // The springs are linear: their forces at v follow from those at `towards`.
    for (const BlockRow& row : rows) {
        double change = 0;
        for (int k = 0; k < row.count; ++k)
            change += dot(row.coefficient[k], v_[row.block[k]] - towards[row.block[k]]);
        for (int k = 0; k < row.count; ++k)
            contact_push_[row.block[k]] -= row.stiffness * change * row.coefficient[k];
    }
    for (std::size_t n = 0; n < descent_.size(); ++n) descent_[n] += contact_push_[n];
    contact_rows_ = rows;
    for (const Body& s : bodies_) {
        leave_out(s.held, std::span(descent_).subspan(s.first));
        leave_out(s.held, int(s.first), rows);
    }
    std::erase_if(rows, [](const BlockRow& row) { return row.stiffness == 0; });
    for (Body& s : bodies_) {
        const bool turns = !s.turning.mode.empty();
        // Contacts may turn a body, so their rows cannot join a matrix whose rotations are replaced by pure
        // inertia.
        if (!turns) rows = absorb(std::move(rows), int(s.first), s.matrix);
        system_.parts.push_back({&s.matrix, s.preconditioner.get(), s.at, turns ? &s.turning : nullptr});
    }
    system_.rows = std::move(rows);
    solver_ = std::make_unique<BlockSolver>(system_, true);
    return solver_->definite();
}

void ElasticEquation::hold(std::span<Vec3> w) const {
    for (const Body& s : bodies_) leave_out(s.held, w.subspan(s.first));
}

void ElasticEquation::invert(std::span<const Vec3> w, std::span<Vec3> d, double accuracy) const {
    failed_ |=
        !solver_->solve(w, d, {.relative = accuracy, .absolute = 1e-300, .max_iterations = 5000}).converged;
}

std::vector<Vec3> ElasticEquation::velocity_with(std::span<const Vec3> impulse) const {
    std::vector<Vec3> b = descent_, x(b.size());
    for (std::size_t n = 0; n < impulse.size(); ++n) b[n] += impulse[n];
    hold(b);
    invert(b, x, 1e-10);
    for (std::size_t n = 0; n < x.size(); ++n) x[n] += v_[n];
    return x;
}

double ElasticEquation::energy(std::span<const Vec3> v) {
    double sum = contact_energy(contacts_, friction_, v, dt_);
    for (std::size_t p = 0; p < partners_.size(); ++p) {
        const Vec3 gain = v[nodes_ + 2 * p] - partners_[p].free.velocity;
        const Vec3 turn = v[nodes_ + 2 * p + 1] - partners_[p].free.spin;
        sum += 0.5 * dot(gain, partners_[p].mass * gain) + 0.5 * dot(turn, partners_[p].inertia * turn);
    }
    for (Body& s : bodies_) {
        const ElasticMaterial& material = s.mesh->material;
        const std::span<const Vec3> own = v.subspan(s.first, s.start.size());
        place(s, own);
        evaluate_elements(s.mesh->batches, material, s.at, {.energy = &s.energies});
        const std::vector<Vec3> slowed = damped(s);
        const double slow = dt_ * material.mass_damping / s.late;
        const double rate = dt_ * material.stiffness_damping / s.late;
        sum += dt_ / s.reach * fixed_sum<double>(std::ssize(s.energies), grain, [&](std::int64_t e) {
                   return s.energies[e];
               });
        sum += fixed_sum<double>(std::ssize(own), grain, [&](std::int64_t n) {
            const Vec3 gain = own[n] - s.velocity[n], late = s.late * own[n] + (1 - s.late) * s.velocity[n];
            const double stiff = slowed.empty() ? 0 : 0.5 * rate * dot(s.damps[n], slowed[n]);
            return 0.5 * s.mesh->mass[n] * (dot(gain, gain) + slow * dot(late, late)) + stiff -
                   dt_ * dot(s.force[n], own[n]);
        });
    }
    return sum;
}

ElasticEquation::Round ElasticEquation::take(std::vector<Vec3> v, std::span<const Vec3> impulse) {
    std::vector<Vec3> way(v.size());
    for (std::size_t n = 0; n < v.size(); ++n) way[n] = v[n] - v_[n];
    for (const BlockRow& row : contact_rows_) {
        double change = 0;
        for (int k = 0; k < row.count; ++k) change += dot(row.coefficient[k], way[row.block[k]]);
        for (int k = 0; k < row.count; ++k)
            contact_push_[row.block[k]] -= row.stiffness * change * row.coefficient[k];
    }
    double share = 1;
    if (!impulse_.empty()) {
        // Along the step the impulses change linearly, so their work is quadratic.
        double at_start = 0, change = 0, slope = 0;
        for (std::size_t n = 0; n < nodes_; ++n) {
            at_start += dot(impulse_[n], way[n]);
            change += dot(impulse[n] - impulse_[n], way[n]);
        }
        for (std::size_t n = 0; n < way.size(); ++n) slope += dot(descent_[n], way[n]);
        slope += at_start;
        const double before = energy(v_);
        std::vector<Vec3> trial = v;
        for (int halving = 0; halving < most_halvings; ++halving) {
            const double given = share * (at_start + 0.5 * share * change);
            // The last term ignores rounding errors in the difference of two large numbers.
            if (energy(trial) - given <= before - 1e-4 * share * slope + 1e-12 * std::abs(before)) break;
            share *= 0.5;
            for (std::size_t n = 0; n < v.size(); ++n) trial[n] = v_[n] + share * way[n];
        }
        v = std::move(trial);
        for (std::size_t n = 0; n < nodes_; ++n) impulse_[n] += share * (impulse[n] - impulse_[n]);
        for (std::size_t n = 0; n < v.size(); ++n)
            contact_push_[n] = last_push_[n] + share * (contact_push_[n] - last_push_[n]);
    } else {
        impulse_.assign(impulse.begin(), impulse.end());
    }
    const double correction = dt_ / edge_ * parallel_max(std::int64_t(nodes_), grain, 0, [&](std::int64_t n) {
                                  return length(way[n]);
                              });
    v_ = std::move(v);
    // The first round starts from rest, so its length says nothing about convergence; a single round counts
    // as settled.
    settled_ = correction < most_jump || (rounds_ == 1 && most_ == 1);
    // Normal forces found while nodes still jump must not enter friction.
    bool again = share < 1 || (settled_ && update_friction(contacts_, v_, dt_, friction_));
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
        const bool closed = gap_at_end(contacts_[i], v_, dt_) < 0;
        again |= closed != friction_[i].active || (closed && !settled_);
    }
    if (!std::isfinite(correction)) failed_ = true;
    disagreement_ = again || (most_ > 1 && correction > tolerance_) ? correction * edge_ / dt_ : 0;
    return {may_go_on() && (again || (rounds_ < most_ && correction > tolerance_)), share};
}

bool ElasticEquation::may_go_on() const { return !failed_ && rounds_ < most_ + contact_rounds; }

void ElasticEquation::add_factors(const Body& s, std::vector<BlockRow>& factors) const {
    const ElasticMaterial& material = s.mesh->material;
    const double weight = dt_ * (elasticity_ ? s.reach : 0) + dt_ * s.late * material.stiffness_damping;
    if (weight == 0) return;
    // The six components of the strain, and L with L^T L = A_Psi [Eq. 3.43, 5.38].
    constexpr std::pair<int, int> places[] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    Eigen::Matrix<double, 6, 6> psi = 4 * material.mu() * Eigen::Matrix<double, 6, 6>::Identity();
    psi.topLeftCorner<3, 3>().setConstant(material.lambda());
    for (int i = 0; i < 3; ++i) psi(i, i) += 2 * material.mu();
    const Eigen::Matrix<double, 6, 6> l = psi.llt().matrixU();
    for (const ElementBatch& batch : s.mesh->batches)
        for (int lane = 0; lane < batch.count; ++lane) {
            Mat3 turn = Mat3::diagonal({1, 1, 1});
            if (material.model != ElasticModel::linear)
                turn = nearest_rotation(deformation_gradient(batch, lane, s.at));
            const Mat3 axis = turn.transposed();
            std::array<Vec3, 4> gradient;  // of the shape functions
            for (int a = 0; a < 3; ++a)
                for (int j = 0; j < 3; ++j) gradient[a + 1][j] = batch.gradient[3 * a + j][lane];
            gradient[0] = -(gradient[1] + gradient[2] + gradient[3]);
            for (int r = 0; r < 6; ++r) {
                BlockRow row;
                row.stiffness = weight * batch.volume[lane];
                for (int a = 0; a < 4; ++a) {
                    Vec3 sum;
                    for (int q = r; q < 6; ++q) {
                        const auto [i, j] = places[q];
                        sum += 0.5 * l(r, q) * (gradient[a][j] * axis.row[i] + gradient[a][i] * axis.row[j]);
                    }
                    row.add(int(s.first) + batch.node[a][lane], sum);
                }
                factors.push_back(row);
            }
        }
}

SolidEquation ElasticEquation::equation(bool factors) const {
    SolidEquation equation;
    for (const Body& s : bodies_) {
        equation.parts.push_back({std::int64_t(s.first), &s.matrix});
        const double slow = s.late * dt_ * s.mesh->material.mass_damping;
        for (const double mass : s.mesh->mass) equation.lumped.push_back(mass * (1 + slow));
        equation.held.insert(equation.held.end(), s.held.begin(), s.held.end());
        if (factors) add_factors(s, equation.factors);
    }
    equation.rows = system_.rows;
    for (const BlockRow& row : contact_rows_)
        if (factors && row.stiffness > 0) equation.factors.push_back(row);
    equation.before.assign(before_.begin(), before_.begin() + std::ptrdiff_t(nodes_));
    return equation;
}

ElasticReceived ElasticEquation::received(std::size_t body) const {
    const Body& s = bodies_[body];
    const double slow = s.mesh->material.mass_damping;
    ElasticReceived sum;
    for (std::size_t n = 0; n < s.start.size(); ++n) {
        sum.outside += dt_ * s.force[n];
        sum.damping -=
            dt_ * slow * s.mesh->mass[n] * (s.late * v_[s.first + n] + (1 - s.late) * s.velocity[n]);
        sum.contacts += contact_push_[s.first + n];
    }
    return sum;
}

std::vector<Mat3> ElasticEquation::own_blocks() const {
    std::vector<Mat3> inverse(nodes_);
    for (const Body& s : bodies_)
        parallel_for(s.matrix.rows(), grain, [&](std::int64_t n) {
            inverse[s.first + n] = s.matrix.value[s.matrix.diagonal[n]].inverse();
            for (int a = 0; a < 3; ++a)
                if (s.held[n] >> a & 1) inverse[s.first + n].row[a][a] = 0;
        });
    return inverse;
}

// The inverse of S on the body's rigid motions about `center`.
SixBySix<double> ElasticEquation::rigid_compliance(const Body& s, Vec3 center) const {
    using Matrix = Eigen::Matrix<double, 6, 6>;
    const auto mode = [&](int n) {  // columns: a node's velocity in each rigid motion
        Eigen::Matrix<double, 3, 6> m = Eigen::Matrix<double, 3, 6>::Zero();
        const Vec3 r = s.at[n] - center;
        m << 1, 0, 0, 0, r.z, -r.y, 0, 1, 0, -r.z, 0, r.x, 0, 0, 1, r.y, -r.x, 0;
        for (int a = 0; a < 3; ++a)
            if (s.held[n] >> a & 1) m.row(a).setZero();
        return m;
    };
    const bool turns_freely = s.turning.mode.size() == 3;
    Matrix sum = Matrix::Zero();
    for (int r = 0; r < s.matrix.rows(); ++r) {
        if (turns_freely) {
            sum += mode(r).transpose() * mode(r) * s.mesh->mass[r];
            continue;
        }
        for (int k = s.matrix.row_begin[r]; k < s.matrix.row_begin[r + 1]; ++k) {
            Eigen::Matrix3d block;
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j) block(i, j) = s.matrix.value[k].row[i][j];
            sum += mode(r).transpose() * block * mode(s.matrix.column[k]);
        }
    }
    const Matrix inverse = sum.ldlt().solve(Matrix::Identity());
    SixBySix<double> compliance;
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) compliance[i][j] = 0.5 * (inverse(i, j) + inverse(j, i));
    return compliance;
}

LumpedMomentum ElasticEquation::lumped() const {
    LumpedMomentum lumped{own_blocks(), std::vector<int>(nodes_), std::vector<Vec3>(nodes_), {}};
    for (std::size_t b = 0; b < bodies_.size(); ++b) {
        const Body& s = bodies_[b];
        Vec3 center;
        for (const Vec3 p : s.at) center += p / double(s.at.size());
        for (std::size_t n = 0; n < s.at.size(); ++n) {
            lumped.lump[s.first + n] = int(b);
            lumped.arm[s.first + n] = s.at[n] - center;
        }
        lumped.compliance.push_back(rigid_compliance(s, center));
    }
    return lumped;
}

}  // namespace flotsam

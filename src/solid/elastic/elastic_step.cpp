#include "solid/elastic/elastic_step.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/parallel.h"
#include "solid/elastic/contact_terms.h"

namespace flotsam {

namespace {

constexpr std::int64_t grain = 512;

// A body's share of a step: the unknown is the velocity v that moves nodes from x to x + h v.
struct Share {
    const ElasticMesh* mesh;
    const ElasticProperties* properties;
    std::vector<Vec3> start, velocity;  // x and v at the start of the step
    std::vector<Vec3> force;            // from outside
    std::vector<unsigned char> held;
    double h = 0;           // [s]
    double weight = 1;      // of this body's energy in the sum over bodies
    double inertia = 1;     // 0: no masses
    bool definite = true;   // leave out directions of negative stiffness
    std::size_t first = 0;  // its first block among the unknowns

    std::vector<Vec3> at;  // x + h v where the energy was last evaluated
    std::vector<double> energies;
    std::vector<ElementForces> element_forces;
    std::vector<ElementStiffness> element_stiffness;
    std::vector<Vec3> forces;
    BlockMatrix matrix;
    std::vector<Mat3> damping;  // K at the start of the step
    std::vector<Vec3> damped;   // K v
};

// Prepares a share for a step. Its old content does not matter, but its arrays are reused.
void prepare(Share& s, const ElasticBody& body, const ElasticProperties& properties, Vec3 gravity,
             double time, double dt) {
    s.mesh = body.mesh.get();
    s.properties = &properties;
    s.start = body.position;
    s.velocity = body.velocity;
    s.force = outer_forces(body, properties, gravity);
    s.held = held_axes(body, properties, time);
    // The midpoint rule is implicit Euler to the middle of the step, extrapolated as far again. Doubling its
    // energy makes a contact's impulse the same for both sides, whichever rule each uses.
    const bool midpoint = properties.integrator == ElasticIntegrator::midpoint;
    s.h = midpoint ? 0.5 * dt : dt;
    s.weight = dt / s.h;
    s.inertia = 1;
    s.definite = true;
    s.damping.clear();
    if (s.matrix.column.size() != s.mesh->pattern.column.size()) {
        s.matrix = s.mesh->pattern;
        s.matrix.value.resize(s.matrix.column.size());
    }
}

void place(Share& s, std::span<const Vec3> v) {
    s.at.resize(s.start.size());
    parallel_for(std::ssize(s.at), grain, [&](std::int64_t n) { s.at[n] = s.start[n] + s.h * v[n]; });
}

// The body's part of the energy that the step minimises [Zarifi17 Eq. 3.19], when `energies` has been
// evaluated at `at` and `damped` at v.
double sum_energy(const Share& s, std::span<const Vec3> v) {
    const ElasticMaterial& material = s.mesh->material;
    const double elastic =
        fixed_sum<double>(std::ssize(s.energies), grain, [&](std::int64_t e) { return s.energies[e]; });
    return s.weight * (elastic + fixed_sum<double>(std::ssize(v), grain, [&](std::int64_t n) {
                           const Vec3 gain = v[n] - s.velocity[n];
                           double sum = 0.5 * s.inertia * s.mesh->mass[n] *
                                        (dot(gain, gain) + s.h * material.mass_damping * dot(v[n], v[n]));
                           sum -= s.h * dot(s.force[n], v[n]);
                           if (!s.damping.empty())
                               sum += 0.5 * s.h * material.stiffness_damping * dot(v[n], s.damped[n]);
                           return sum;
                       }));
}

void damp(Share& s, std::span<const Vec3> v) {
    if (s.damping.empty()) return;
    std::swap(s.matrix.value, s.damping);
    s.matrix.multiply(v, s.damped);
    std::swap(s.matrix.value, s.damping);
}

double energy(Share& s, std::span<const Vec3> v) {
    place(s, v);
    evaluate_elements(s.mesh->batches, s.mesh->material, s.at, {.energy = &s.energies});
    damp(s, v);
    return sum_energy(s, v);
}

// Minus the gradient of that energy, and its second derivative [Zarifi17 Eq. 3.55 times dt].
void linearize_share(Share& s, std::span<const Vec3> v, std::span<Vec3> descent) {
    const ElasticMaterial& material = s.mesh->material;
    evaluate_elements(s.mesh->batches, material, s.at,
                      {.energy = &s.energies,
                       .forces = &s.element_forces,
                       .stiffness = &s.element_stiffness,
                       .definite = s.definite});
    gather_forces(*s.mesh, s.element_forces, s.forces);
    gather_stiffness(*s.mesh, s.element_stiffness, s.matrix);
    const double rate = s.inertia * material.stiffness_damping;
    if (rate > 0) {
        if (s.damping.empty()) s.damping = s.matrix.value, s.damped.resize(v.size());
        damp(s, v);
    }
    parallel_for(std::ssize(v), grain, [&](std::int64_t n) {
        const double mass = s.inertia * s.mesh->mass[n], slow = 1 + s.h * material.mass_damping;
        Vec3 down = mass * (s.velocity[n] - slow * v[n]) + s.h * (s.forces[n] + s.force[n]);
        if (rate > 0) down -= s.h * rate * s.damped[n];
        for (int k = s.matrix.row_begin[n]; k < s.matrix.row_begin[n + 1]; ++k) {
            Mat3& block = s.matrix.value[k];
            const int other = s.matrix.column[k];
            block = block * (s.h * s.h);
            if (rate > 0) block = block + s.damping[k] * (s.h * rate);
            if (other == n)
                for (int i = 0; i < 3; ++i) block.row[i][i] += mass * slow;
            block = block * s.weight;
            leave_out(s.held, int(n), other, block);
        }
        descent[n] = s.weight * down;
    });
}

// The partners' part of that energy: their unknowns begin at block `first`.
double partner_energy(const std::vector<RigidPartner>& partners, std::size_t first, std::span<const Vec3> u) {
    double sum = 0;
    for (std::size_t p = 0; p < partners.size(); ++p) {
        const Vec3 gain = u[first + 2 * p] - partners[p].free.velocity;
        const Vec3 turn = u[first + 2 * p + 1] - partners[p].free.spin;
        sum += 0.5 * dot(gain, partners[p].mass * gain) + 0.5 * dot(turn, partners[p].inertia * turn);
    }
    return sum;
}

}  // namespace

struct ElasticStepper::Parts {
    std::vector<Share> shares;
    std::vector<const ElasticMesh*> meshes;
    std::vector<std::unique_ptr<BlockPreconditioner>> preconditioners;
    std::vector<Vec3> contact_push;  // contact impulses on the unknowns, from the last linear equation

    // One share for each body, and its preconditioner.
    void prepare(const std::vector<ElasticBody>& bodies,
                 const std::vector<const ElasticProperties*>& properties, Vec3 gravity, double time,
                 double dt) {
        shares.resize(bodies.size());
        meshes.resize(bodies.size());
        preconditioners.resize(bodies.size());
        for (std::size_t b = 0; b < bodies.size(); ++b) {
            const ElasticMesh* mesh = bodies[b].mesh.get();
            if (meshes[b] != mesh) {
                meshes[b] = mesh;
                shares[b] = {};
                preconditioners[b] = choose_preconditioner(mesh->pattern, mesh->rest.nodes);
            }
            flotsam::prepare(shares[b], bodies[b], *properties[b], gravity, time, dt);
        }
    }
    ElasticReport minimise(double time, double dt, std::vector<ElasticContact>& contacts,
                           std::vector<RigidPartner>& partners, std::vector<Vec3>& v);

  private:
    // Unknowns: the nodes' velocities, body after body, then velocity and spin of each partner.
    struct Newton {
        std::size_t nodes = 0, blocks = 0;
        double edge = 1e300, tolerance = 1e300;  // the smallest of all bodies
        int most = 1;                            // steps
        std::vector<Vec3> descent{}, step{}, trial{};
        std::vector<BlockRow> contact_rows{};
    };
    // A body's part of a vector of unknowns.
    static std::span<Vec3> part(const Share& s, std::vector<Vec3>& all) {
        return std::span(all).subspan(s.first, s.start.size());
    }
    Newton number_unknowns(std::size_t partners);
    void start(const Newton& newton, const std::vector<RigidPartner>& partners, double time, double dt,
               std::vector<Vec3>& v);
    // The linear equation of a Newton step from v; friction is linearized about the velocities `sliding`.
    BlockSystem linearize(Newton& newton, const std::vector<ElasticContact>& contacts,
                          std::vector<FrictionState>& states, const std::vector<RigidPartner>& partners,
                          std::vector<Vec3>& v, const std::vector<Vec3>& sliding, double dt);
    // Line search: halves the step until the energy decreases in proportion to its slope. Returns the share
    // of the step that is taken, 0 < share <= 1, and whether the energy still did not decrease.
    std::pair<double, bool> search_line(Newton& newton, const std::vector<ElasticContact>& contacts,
                                        const std::vector<FrictionState>& states,
                                        const std::vector<RigidPartner>& partners, std::vector<Vec3>& v,
                                        double dt);
    // Updates the contact impulses after a share of the step.
    void update_contact_push(const Newton& newton, double share);
};

ElasticStepper::ElasticStepper() : parts_(std::make_unique<Parts>()) {}
ElasticStepper::ElasticStepper(ElasticStepper&&) noexcept = default;
ElasticStepper& ElasticStepper::operator=(ElasticStepper&&) noexcept = default;
ElasticStepper::~ElasticStepper() = default;

ElasticStepper::Parts::Newton ElasticStepper::Parts::number_unknowns(std::size_t partners) {
    Newton newton;
    for (Share& s : shares) {
        s.first = newton.nodes;
        newton.nodes += s.start.size();
        newton.edge = std::min(newton.edge, s.mesh->edge);
        newton.tolerance = std::min(newton.tolerance, s.properties->newton_tolerance);
        newton.most = std::max(newton.most, s.properties->newton_steps);
    }
    newton.blocks = newton.nodes + 2 * partners;
    for (std::vector<Vec3>* unknowns : {&newton.descent, &newton.step, &newton.trial})
        unknowns->resize(newton.blocks);
    return newton;
}

void ElasticStepper::Parts::start(const Newton& newton, const std::vector<RigidPartner>& partners,
                                  double time, double dt, std::vector<Vec3>& v) {
    v.assign(newton.blocks, {});
    contact_push.assign(newton.blocks, {});
    for (Share& s : shares) impose_pins(*s.properties, s.start, time, dt, part(s, v));
    for (std::size_t p = 0; p < partners.size(); ++p) {
        v[newton.nodes + 2 * p] = partners[p].free.velocity;
        v[newton.nodes + 2 * p + 1] = partners[p].free.spin;
    }
    for (Share& s : shares) place(s, part(s, v));
}

BlockSystem ElasticStepper::Parts::linearize(Newton& newton, const std::vector<ElasticContact>& contacts,
                                             std::vector<FrictionState>& states,
                                             const std::vector<RigidPartner>& partners, std::vector<Vec3>& v,
                                             const std::vector<Vec3>& sliding, double dt) {
    BlockSystem system;
    std::vector<Vec3>& descent = newton.descent;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        Share& s = shares[i];
        linearize_share(s, part(s, v), part(s, descent));
        system.parts.push_back({&s.matrix, preconditioners[i].get(), s.at});
    }
    for (std::size_t p = 0; p < partners.size(); ++p) {
        const std::size_t own = newton.nodes + 2 * p;
        system.singles.push_back(partners[p].mass);
        system.singles.push_back(partners[p].inertia);
        descent[own] = partners[p].mass * (partners[p].free.velocity - v[own]);
        descent[own + 1] = partners[p].inertia * (partners[p].free.spin - v[own + 1]);
    }
    const std::vector<Vec3> without_contacts = contacts.empty() ? std::vector<Vec3>{} : descent;
    system.rows = linearize_contacts(contacts, v, sliding, dt, states, descent);
    for (std::size_t n = 0; n < without_contacts.size(); ++n)
        contact_push[n] = descent[n] - without_contacts[n];
    newton.contact_rows = system.rows;
    // Held nodes feel contacts but do not give way.
    for (const Share& s : shares) {
        leave_out(s.held, part(s, descent));
        leave_out(s.held, int(s.first), system.rows);
    }
    return system;
}

std::pair<double, bool> ElasticStepper::Parts::search_line(Newton& newton,
                                                           const std::vector<ElasticContact>& contacts,
                                                           const std::vector<FrictionState>& states,
                                                           const std::vector<RigidPartner>& partners,
                                                           std::vector<Vec3>& v, double dt) {
    const auto count = std::int64_t(newton.blocks);
    const std::vector<Vec3>&descent = newton.descent, &step = newton.step;
    std::vector<Vec3>& trial = newton.trial;
    // No line search without masses, because thin bodies must first increase their energy: a straight beam
    // that has to bend by its own length gets longer in the first step and returns to its length only in the
    // second.
    const bool search = newton.most > 1 && !shares.empty() && shares.front().inertia > 0;
    const double slope =
        fixed_sum<double>(count, grain, [&](std::int64_t n) { return dot(descent[n], step[n]); });
    double before = partner_energy(partners, newton.nodes, v) + contact_energy(contacts, states, v, dt);
    for (const Share& s : shares) before += sum_energy(s, part(s, v));
    const auto total = [&](std::vector<Vec3>& u) {
        double sum = partner_energy(partners, newton.nodes, u) + contact_energy(contacts, states, u, dt);
        for (Share& s : shares) sum += energy(s, part(s, u));
        return sum;
    };
    double share = 1;
    for (int halving = 0;; ++halving, share *= 0.5) {
        parallel_for(count, grain, [&](std::int64_t n) { trial[n] = v[n] + share * step[n]; });
        const bool cut_short = search && halving == 12;  // the energy still does not decrease
        if (!search || cut_short) return {share, cut_short};
        // The last term ignores rounding errors in the difference of two large numbers.
        if (total(trial) <= before - 1e-4 * share * slope + 1e-12 * std::abs(before)) return {share, false};
    }
}

void ElasticStepper::Parts::update_contact_push(const Newton& newton, double share) {
    for (const BlockRow& row : newton.contact_rows) {
        double change = 0;
        for (int k = 0; k < row.count; ++k)
            change += share * dot(row.coefficient[k], newton.step[row.block[k]]);
        for (int k = 0; k < row.count; ++k)
            contact_push[row.block[k]] -= row.stiffness * change * row.coefficient[k];
    }
}

ElasticReport ElasticStepper::Parts::minimise(double time, double dt, std::vector<ElasticContact>& contacts,
                                              std::vector<RigidPartner>& partners, std::vector<Vec3>& v) {
    Newton newton = number_unknowns(partners.size());
    start(newton, partners, time, dt, v);
    std::vector<FrictionState> states = friction_at_start(contacts, dt);
    // v = 0 is only an initial guess: friction follows from the sliding before the step.
    std::vector<Vec3> before_step = v;
    for (const Share& s : shares)
        std::copy(s.velocity.begin(), s.velocity.end(), part(s, before_step).begin());

    ElasticReport report;
    report.solved = true;
    for (; report.newton_steps < newton.most; ++report.newton_steps) {
        const BlockSystem system =
            linearize(newton, contacts, states, partners, v, report.newton_steps == 0 ? before_step : v, dt);
        std::fill(newton.step.begin(), newton.step.end(), Vec3{});
        const SolveReport solve =
            flotsam::solve(system, newton.descent, newton.step,
                           {.relative = 1e-6, .absolute = 1e-300, .max_iterations = 2000});
        report.solver_iterations += solve.iterations;
        report.converged = false;
        if (!solve.converged) {
            // The true stiffness may be indefinite; then the next step leaves out its negative directions.
            bool all_definite = true;
            for (Share& s : shares) all_definite &= std::exchange(s.definite, true);
            if (!all_definite) continue;
            report.solved = false;
            return report;
        }
        for (Share& s : shares) s.definite = s.inertia > 0;
        const auto [share, cut_short] = search_line(newton, contacts, states, partners, v, dt);
        v.swap(newton.trial);
        update_contact_push(newton, share);
        for (Share& s : shares) place(s, part(s, v));

        const double jump = parallel_max(std::int64_t(newton.nodes), grain, 0,
                                         [&](std::int64_t n) { return length(newton.step[n]); });
        report.correction = share * dt / newton.edge * jump;
        if (!std::isfinite(report.correction)) {
            report.solved = false;
            return report;
        }
        const bool changed = update_friction(contacts, v, dt, states);
        const bool settled = report.correction < newton.tolerance && !changed && !cut_short;
        report.converged = newton.most == 1 || settled;
        report.disagreement = report.converged ? 0 : jump;
        if (settled) {
            ++report.newton_steps;
            break;
        }
    }
    for (std::size_t p = 0; p < partners.size(); ++p)
        partners[p].motion = {v[newton.nodes + 2 * p], v[newton.nodes + 2 * p + 1]};
    return report;
}

ElasticReport ElasticStepper::step(std::vector<ElasticBody>& bodies,
                                   const std::vector<const ElasticProperties*>& properties, Vec3 gravity,
                                   double time, double dt, std::vector<ElasticContact> contacts,
                                   std::vector<RigidPartner>* partners) {
    parts_->prepare(bodies, properties, gravity, time, dt);
    std::vector<RigidPartner> none;
    std::vector<Vec3> v;
    ElasticReport report = parts_->minimise(time, dt, contacts, partners ? *partners : none, v);
    report.received.resize(bodies.size());
    for (std::size_t b = 0; b < bodies.size(); ++b) {
        const Share& s = parts_->shares[b];
        if (!report.solved) continue;
        const bool midpoint = s.h < dt;
        ElasticReceived& received = report.received[b];
        for (std::size_t n = 0; n < s.start.size(); ++n) {
            received.outside += dt * s.force[n];
            received.damping -= dt * s.mesh->material.mass_damping * s.mesh->mass[n] * v[s.first + n];
            received.contacts += parts_->contact_push[s.first + n];
        }
        for (std::size_t n = 0; n < s.start.size(); ++n) {
            const Vec3 now = v[s.first + n];
            bodies[b].position[n] = s.start[n] + dt * now;
            bodies[b].velocity[n] = midpoint ? 2 * now - s.velocity[n] : now;
            // Held components keep their prescribed velocity, also at the end of the step.
            for (int a = 0; a < 3; ++a)
                if (s.held[n] >> a & 1) bodies[b].velocity[n][a] = now[a];
        }
    }
    return report;
}

ElasticReport advance_with_contacts(ElasticStepper& stepper, std::vector<ElasticBody>& bodies,
                                    const std::vector<const ElasticProperties*>& properties,
                                    ContactScene scene, std::vector<RigidPartner>& partners, double time,
                                    double dt) {
    ElasticReport whole;
    whole.solved = whole.converged = true;
    whole.received.resize(bodies.size());
    double left = dt;
    while (left > 0) {
        // Where contacts are possible, no node moves further than two edges at once: a body pressed flat
        // within a single step would pass through before its contacts are found.
        double piece = left;
        std::vector<ElasticContact> contacts = find_contacts(bodies, partners, scene, piece);
        if (!contacts.empty()) {
            double fastest = 0, edge = 1e300;
            for (const ElasticBody& body : bodies) {
                fastest = std::max(fastest, largest_speed(body) + length(scene.gravity) * left);
                edge = std::min(edge, body.mesh->edge);
            }
            for (const ContactObstacle& o : scene.obstacles)
                fastest = std::max(fastest, length(o.motion.velocity));
            const double pieces = std::ceil(std::min(left * fastest / (2 * edge), 32.0));
            if (pieces > 1) {
                piece = left / pieces;
                contacts = find_contacts(bodies, partners, scene, piece);
            }
        }
        const ElasticReport report = stepper.step(bodies, properties, scene.gravity, time + dt - left, piece,
                                                  std::move(contacts), &partners);
        whole.newton_steps += report.newton_steps;
        whole.solver_iterations += report.solver_iterations;
        whole.correction = std::max(whole.correction, report.correction);
        whole.disagreement = std::max(whole.disagreement, report.disagreement);
        whole.converged &= report.converged;
        whole.solved = report.solved;
        if (!report.solved) return whole;
        for (std::size_t b = 0; b < bodies.size(); ++b) {
            whole.received[b].outside += report.received[b].outside;
            whole.received[b].damping += report.received[b].damping;
            whole.received[b].contacts += report.received[b].contacts;
        }
        for (RigidPartner& partner : partners) {
            partner.free = partner.motion;
            partner.center += partner.motion.velocity * piece;
        }
        for (ContactObstacle& o : scene.obstacles) {
            if (o.partner >= 0) {
                const RigidPartner& partner = partners[o.partner];
                const Vec3 center = partner.center - partner.motion.velocity * piece;
                o.motion = {partner.motion.at(o.pose.position - center), partner.motion.spin};
            }
            o.pose = {o.pose.position + o.motion.velocity * piece,
                      rotation_by(o.motion.spin * piece) * o.pose.rotation};
        }
        left = piece < left ? left - piece : 0;
    }
    return whole;
}

ElasticReport ElasticStepper::rest(std::vector<ElasticBody>& bodies,
                                   const std::vector<const ElasticProperties*>& properties, Vec3 gravity) {
    parts_->prepare(bodies, properties, gravity, 0, 1);
    for (Share& s : parts_->shares) {
        s.h = s.weight = 1;
        s.inertia = 0;
        // Without masses, bent thin bodies need the true stiffness: half of a beam is compressed, and the
        // negative stiffness of that half decides how the beam bends.
        s.definite = false;
    }
    std::vector<RigidPartner> none;
    std::vector<ElasticContact> nothing;
    std::vector<Vec3> v;
    ElasticReport report = parts_->minimise(0, 1, nothing, none, v);
    for (std::size_t b = 0; b < bodies.size(); ++b) {
        const std::size_t first = parts_->shares[b].first;
        for (std::size_t n = 0; report.solved && n < bodies[b].position.size(); ++n) {
            bodies[b].position[n] += v[first + n];
            bodies[b].velocity[n] = {};
        }
    }
    return report;
}

std::vector<unsigned char> held_axes(const ElasticBody& body, const ElasticProperties& properties,
                                     double time) {
    std::vector<unsigned char> held(body.position.size(), 0);
    for (const Pin& pin : properties.pins)
        for (const int n : pin.nodes)
            for (int a = 0; time < pin.release && a < 3; ++a)
                if (pin.axes[a]) held[n] = static_cast<unsigned char>(held[n] | (1 << a));
    return held;
}

void impose_pins(const ElasticProperties& properties, std::span<const Vec3> position, double time, double dt,
                 std::span<Vec3> v) {
    for (const Pin& pin : properties.pins) {
        if (time >= pin.release) continue;
        const Pose before = pose_at(pin.script, pin.frame, time);
        const Pose after = pose_at(pin.script, pin.frame, time + dt);
        for (const int n : pin.nodes) {
            const Vec3 to = after.to_world(before.to_body(position[n]));
            for (int a = 0; a < 3; ++a)
                if (pin.axes[a]) v[n][a] = (to[a] - position[n][a]) / dt;
        }
    }
}

void leave_out(std::span<const unsigned char> held, std::span<Vec3> values) {
    for (std::size_t n = 0; n < held.size(); ++n)
        for (int a = 0; held[n] && a < 3; ++a)
            if (held[n] >> a & 1) values[n][a] = 0;
}

void leave_out(std::span<const unsigned char> held, int row, int column, Mat3& block) {
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            if ((row != column || i != j) && ((held[row] >> i & 1) || (held[column] >> j & 1)))
                block.row[i][j] = 0;
}

void leave_out(std::span<const unsigned char> held, int first, std::span<BlockRow> rows) {
    for (BlockRow& row : rows)
        for (int k = 0; k < row.count; ++k)
            if (const int n = row.block[k] - first; n >= 0 && n < int(held.size()))
                for (int a = 0; a < 3; ++a)
                    if (held[n] >> a & 1) row.coefficient[k][a] = 0;
}

std::vector<Vec3> outer_forces(const ElasticBody& body, const ElasticProperties& properties, Vec3 gravity) {
    std::vector<Vec3> force(body.position.size());
    for (std::size_t n = 0; n < force.size(); ++n) force[n] = body.mesh->mass[n] * gravity;
    const std::vector<Vec3>& x = body.position;
    for (const ElasticLoad& load : properties.loads) {
        for (const int n : load.nodes) force[n] += load.force / double(load.nodes.size());
        for (const Int3 t : load.triangles) {
            const Vec3 area = 0.5 * cross(x[t.y] - x[t.x], x[t.z] - x[t.x]);
            for (int c = 0; c < 3; ++c) force[t[c]] -= area * (load.pressure / 3);
        }
    }
    return force;
}

void gather_forces(const ElasticMesh& mesh, const std::vector<ElementForces>& forces,
                   std::vector<Vec3>& sum) {
    sum.resize(mesh.rest.nodes.size());
    parallel_for(std::ssize(sum), grain, [&](std::int64_t n) {
        Vec3 total;
        for (std::int64_t k = mesh.node_begin[n]; k < mesh.node_begin[n + 1]; ++k)
            total += forces[mesh.node_source[k] / 4].force[mesh.node_source[k] % 4];
        sum[n] = total;
    });
}

void gather_stiffness(const ElasticMesh& mesh, const std::vector<ElementStiffness>& blocks,
                      BlockMatrix& sum) {
    parallel_for(sum.rows(), 64, [&](std::int64_t row) {
        for (int k = sum.row_begin[row]; k < sum.row_begin[row + 1]; ++k) {
            Mat3 total;
            for (std::int64_t s = mesh.block_begin[k]; s < mesh.block_begin[k + 1]; ++s) {
                const std::int64_t source = mesh.block_source[s];
                const int a = int(source / 4 % 4), b = int(source % 4);
                const ElementStiffness& element = blocks[source / 16];
                // Below the diagonal the block is the transpose of the one above.
                total =
                    total + (a <= b ? element[pair_number(a, b)] : element[pair_number(b, a)].transposed());
            }
            sum.value[k] = total;
        }
    });
}

}  // namespace flotsam

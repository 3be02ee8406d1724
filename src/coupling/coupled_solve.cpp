#include "coupling/coupled_solve.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/stopwatch.h"
#include "fluid/grid/pressure_solver.h"
#include "fluid/grid/separation.h"

namespace flotsam {

namespace {

// Solves beyond the first one in which cells may separate from solids or attach again.
constexpr int most_separations = 8;
// Relative residual of the solutions that contacts are first revised for; it is enough to find the active
// set.
constexpr double rough = 1e-3;

// How often contacts may ask for another solve: after a rough solution, and after an exact one.
struct ContactRounds {
    int rough, exact;
};

// The pressure system: separated cells are air, slits between bodies are left out.
PressureSystem liquid_system(const CoupledProblem& problem, const Separation* separation) {
    const Scenario& scenario = problem.scenario;
    Field<double> phi = problem.phi;
    if (separation) separation->release(phi);
    const auto made = [&](Field<double> distance) {
        return pressure_system(scenario.domain, std::move(distance), scenario.gravity,
                               scenario.liquid.density, problem.obstacles);
    };
    PressureSystem system = made(std::move(phi));
    if (!problem.bodies.empty() && leave_out_slits(system, problem.obstacles.open_volume))
        system = made(std::move(system.phi));
    return system;
}

std::vector<Twist> motion_of(const SolidVelocities& velocity) {
    std::vector<Twist> motion;
    motion.reserve(velocity.rigid.size());
    for (const Six<double>& v : velocity.rigid) motion.push_back(as_twist(v));
    return motion;
}

// The outer iteration for one set of separated cells. Each of its unknowns has one writer: contacts revise
// their impulses, the elastic equation its node blocks and pushes; free_motion sums up the bodies' motion
// without pressure; the solver finds x and the solids' velocity.
class Rounds {
  public:
    Rounds(const CoupledProblem& problem, const PressureSystem& system, WetElastic* elastic)
        : problem_(problem), system_(system), elastic_(elastic) {
        if (!problem.bodies.empty())
            // Bodies before gravity: the velocity that a body at rest gains in a step is not an approach to
            // rebound from.
            contacts_.emplace(*problem.shapes, problem.scenario, problem.before, problem.bodies,
                              added_mass(problem.bodies, problem.obstacles, problem.phi,
                                         problem.scenario.domain, problem.scenario.liquid.density),
                              problem.time, problem.dt);
    }

    // Linearises the solids, solves, revises contacts and elastic bodies, and repeats until both agree or the
    // limit is reached. False where the elastic equation has no solution.
    bool run(const MacGrid& u, const Field<double>& potential);

    SolveReport solve;
    std::vector<double> x;
    SolidSystem solids;
    SolidVelocities velocity;
    std::vector<Pocket> sealed;
    std::vector<Impulse> supported;  // of contacts and joints on each body
    double removed_flux = 0;
    bool contacts_agreed = true;
    std::optional<ContactResponse> take_contacts() { return std::move(contacts_); }
    double contact_disagreement() const {
        return contacts_agreed ? 0 : contacts_->disagreement(motion_of(velocity));
    }

  private:
    void free_motion();
    std::vector<Impulse> support() const;
    bool solve_with_contacts(PressureSolver& solver, const std::vector<double>& b, ContactRounds rounds);
    bool elastic_goes_on(const std::vector<double>& last_x, const std::vector<Vec3>& last_nodes);

    const CoupledProblem& problem_;
    const PressureSystem& system_;
    WetElastic* elastic_;
    std::optional<ContactResponse> contacts_;
};

// The bodies' motion without pressure: by forces, contacts and elastic bodies.
void Rounds::free_motion() {
    for (std::size_t b = 0; b < problem_.bodies.size(); ++b) {
        RigidBody body = problem_.bodies[b];
        apply_impulse(body, contacts_->given()[b]);
        if (elastic_) apply_impulse(body, elastic_->pushed()[b]);
        solids.rigid.from[b] = as_six(twist_of(body));
    }
}

// Impulses of contacts and joints on each body, at the present x.
std::vector<Impulse> Rounds::support() const {
    if (!contacts_) return {};
    std::vector<Impulse> impulses = contacts_->given();
    const std::vector<Six<double>> joints = solids.joint_impulses(x);
    for (std::size_t b = 0; b < impulses.size(); ++b) {
        const Twist six = as_twist(joints[b]);
        impulses[b] += {six.velocity, six.spin};
    }
    return impulses;
}

// Repeats the linear solve, each time from the last result, until contacts no longer change the resulting
// motion. Returns whether they converged.
bool Rounds::solve_with_contacts(PressureSolver& solver, const std::vector<double>& b, ContactRounds rounds) {
    const bool asks = contacts_ && contacts_->any();
    for (;;) {
        free_motion();
        if (asks) solids.rigid.joints.set_targets(contacts_->held_targets());
        solver.begin(solids, b, x);
        if (asks && solver.can_pause() && rounds.rough-- > 0) {
            solver.improve(std::max(problem_.scenario.solver.tolerance.relative, rough));
            if (contacts_->revise(motion_of(solver.velocity()))) continue;
        }
        solve = solver.finish();
        velocity = solver.velocity();
        if (!asks) return true;
        if (!solve.converged || rounds.exact-- == 0) return false;
        if (!contacts_->revise(motion_of(velocity))) return true;
        rounds.rough = 0;
    }
}

// Elastic bodies take the result of a solve, or part of the step to it from the result before. Returns
// whether that changed their equation: their contacts, rotations, or pushes on rigid bodies.
bool Rounds::elastic_goes_on(const std::vector<double>& last_x, const std::vector<Vec3>& last_nodes) {
    const auto [again, share] = elastic_->take(solids.node_impulse(x), velocity.nodes);
    if (share < 1) {
        for (std::size_t n = 0; n < x.size(); ++n) x[n] = last_x[n] + share * (x[n] - last_x[n]);
        for (std::size_t n = 0; n < velocity.nodes.size(); ++n)
            velocity.nodes[n] = last_nodes[n] + share * (velocity.nodes[n] - last_nodes[n]);
        velocity.rigid = solids.rigid_velocity(x);
    }
    return elastic_->push_bodies(motion_of(velocity)) || again;
}

bool Rounds::run(const MacGrid& u, const Field<double>& potential) {
    const SolverSettings& settings = problem_.scenario.solver;
    Stopwatch watch;
    sealed = system_.sealed;
    solids.to_impulse = impulse_scale(system_);
    solids.rigid =
        rigid_blocks(system_, body_inertias(problem_.bodies),
                     contacts_ ? contacts_->held_rows() : std::vector<ConstraintRow>{}, problem_.dt, sealed);
    if (elastic_) {  //                                                                  [Zarifi17 Eq. 5.14]
        elastic_->begin(problem_.scenario, problem_.now, problem_.elastics, problem_.before, problem_.time,
                        problem_.dt);
        if (!add_elastic_blocks(*elastic_, system_, settings, problem_.dt, solids, sealed)) return false;
        FLOTSAM_CHECK(!solids.nodes.equation || problem_.bodies.empty());  // the loader refuses them
    }
    const std::vector<double> b = right_hand_side(system_, problem_.source, u, problem_.dt);
    x = first_guess(system_, potential, problem_.dt);
    PressureSolver solver(system_, sealed, solids, settings, problem_.dt);

    const bool may_pause = settings.solver == Solver::multigrid && !solids.nodes.kept();
    const int most = problem_.most_contact_rounds, exact = may_pause ? std::min(2, most) : most;
    ContactRounds rounds{most - exact, exact};
    std::vector<double> last_x;
    std::vector<Vec3> last_nodes;
    for (;;) {
        contacts_agreed = solve_with_contacts(solver, b, rounds);
        if (!solve.converged || !elastic_ || !elastic_goes_on(last_x, last_nodes)) break;
        last_x = x;
        last_nodes = velocity.nodes;
        rounds = {0, std::min(2, most)};
        if (!elastic_->linearize(settings, solids.nodes)) return false;
    }
    // Includes pushes of elastic bodies on rigid ones that were found after the last solve.
    free_motion();
    velocity.rigid = solids.rigid_velocity(x);
    supported = support();
    removed_flux = solver.removed_flux();
    solve.milliseconds = watch.lap();
    return true;
}

// Why a solution cannot be used; empty if it can.
std::string trouble_with(const CoupledProblem& problem, const Rounds& rounds, const WetElastic* elastic) {
    if (elastic && elastic->equation().failed()) return "the elastic solve did not converge";
    if (elastic && problem.scenario.time.retry && !elastic->equation().settled())
        return "the elastic solve did not settle";
    if (!rounds.solve.converged) return "the pressure solve did not converge";
    return {};
}

std::string crushed_by(const std::string& solid) {
    return "'" + solid +
           "' closes on liquid that has no way out: all around it is full, and liquid does "
           "not give way.\n  Leave room for air, open a side of the domain, or let the "
           "solid stop earlier.";
}

}  // namespace

std::vector<BodyInertia> body_inertias(const std::vector<RigidBody>& bodies) {
    std::vector<BodyInertia> inertias;
    inertias.reserve(bodies.size());
    for (const RigidBody& body : bodies)
        inertias.push_back({body.solid, body.center, inverse_mass(body), inverse_inertia_in_world(body)});
    return inertias;
}

CoupledSolution solve_coupled(const CoupledProblem& problem, WetElastic* elastic, MacGrid u,
                              Field<double> potential) {
    const double dt = problem.dt;
    const bool may_separate = problem.scenario.liquid.separation;
    stop_at_closed_sides(u, problem.scenario.domain);
    const MacGrid unsolved = may_separate ? u : MacGrid{};
    std::optional<Separation> separation;
    CoupledSolution found;
    for (int round = 0;; ++round) {
        const PressureSystem system = liquid_system(problem, separation ? &*separation : nullptr);
        Rounds rounds(problem, system, elastic);
        if (!rounds.run(u, potential)) {
            found.trouble = "the elastic solve did not converge";
            return found;
        }
        rounds.solve.iterations += found.solve.iterations;
        found.solve = rounds.solve;
        if (elastic) found.newton_steps = elastic->equation().newton_steps();
        found.trouble = trouble_with(problem, rounds, elastic);
        if (!found.trouble.empty()) return found;
        if (const int crusher = find_crusher(system, rounds.sealed, dt); crusher >= 0) {
            found.trouble = crushed_by(problem.scenario.solids[crusher].name);
            found.hopeless = true;
            return found;
        }
        const std::vector<double> beside = outflow_of(rounds.solids, rounds.velocity, rounds.x.size());
        LiquidUpdate liquid =
            apply_pressure(system, problem.source, rounds.sealed, beside, dt, std::move(rounds.x), u);
        if (may_separate) {
            if (!separation) separation.emplace(system);
            const std::int64_t changes = separation->judge(system, liquid.potential, dt, u, liquid.changed,
                                                           body_inertias(problem.bodies), rounds.velocity);
            if (changes > 0 && round < most_separations) {
                u = unsolved;
                potential = std::move(liquid.potential);
                continue;
            }
            found.disagreement.separation = changes;
            found.released = separation->free();
        }
        found.disagreement.contacts = rounds.contact_disagreement();
        if (elastic) found.disagreement.newton = elastic->disagreement();
        found.u = std::move(u);
        found.potential = std::move(liquid.potential);
        found.changed = std::move(liquid.changed);
        found.loads = std::move(liquid.loads);
        found.largest_divergence = liquid.largest_divergence;
        found.removed_flux = rounds.removed_flux;
        found.motion = motion_of(rounds.velocity);
        found.pushed = elastic ? elastic->pushed() : std::vector<Impulse>(problem.bodies.size());
        found.supported = std::move(rounds.supported);
        found.contacts = rounds.take_contacts();
        return found;
    }
}

}  // namespace flotsam

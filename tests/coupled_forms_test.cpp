#include "linalg/coupled_forms.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <Eigen/Dense>

#include "coupling/cut_cell.h"
#include "near.h"
#include "scene/scene.h"

using namespace flotsam;

namespace {

const char* const forms[] = {"spd", "indefinite-bicgstab", "indefinite-minres"};

const char* const askew = "position = [0.52, 0.4, 0.47]\nrotation = { axis = [1, 2, 3], degrees = 35 }";
// A pool with an elastic block in it, turned against the grid; `more` holds it, or not.
Scenario pool(double density, const std::string& more = "", const char* place = askew,
              const char* cells = "[2, 3, 2]") {
    return parse_scene(
               fmt::format(R"(
[scene]
duration = 1
[domain]
size = [1, 1, 1]
resolution = 10
[[liquid.fill]]
level = 0.62
[solver]
tolerance = 1e-13
max_iterations = 50000
[[solid]]
name = "block"
motion = "elastic"
shape = {{ box = [0.33, 0.4, 0.3] }}
{}
velocity = {}
density = {}
stiffness = 2e5
elastic = {{ cells = {}, newton_steps = 1, mass_damping = 0.7, stiffness_damping = 0.002 }}
{}
)",
                           place, more.empty() ? "[0.4, -0.7, 0.2]" : "[0, 0, 0]", density, cells, more),
               "pool.toml")
        .scenario;
}
const std::string pin = "[[solid.pin]]\nbox = { min = [0, 0.55, 0], max = [1, 1, 1] }\n";

World start(CutCell& scheme, const Scenario& scenario) {
    World world = world_at_start(scenario);
    scheme.start(world, scenario);
    return world;
}

World step(const World& now, Scenario scenario, const std::string& solver,
           ElasticCoupling coupling = ElasticCoupling::strong, double dt = 0.01) {
    scenario.solver.solver = solver_named(solver);
    CutCell scheme(coupling);
    World next = now;
    const StepReport report = scheme.step(now, next, {scenario, now.time, dt, now.step});
    CAPTURE(solver);
    CHECK(report.accepted);
    CHECK(report.solve.converged);
    CHECK(report.solve.iterations > 0);
    return next;
}

// Of pressures, of the liquid's velocities and of the nodes'; as shares of the largest.
double difference(const World& a, const World& b) {
    double worst = 0;
    const auto compare = [&](const std::vector<double>& x, const std::vector<double>& y) {
        REQUIRE(x.size() == y.size());
        double largest = 0, apart = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            largest = std::max(largest, std::abs(x[i]));
            apart = std::max(apart, std::abs(x[i] - y[i]));
        }
        worst = std::max(worst, apart / largest);
    };
    compare(a.liquid.potential.values(), b.liquid.potential.values());
    for (int axis = 0; axis < 3; ++axis)
        compare(a.liquid.velocity[axis].values(), b.liquid.velocity[axis].values());
    const auto numbers = [](const World& w) {
        std::vector<double> all;
        for (const Vec3 v : w.elastics[0].velocity) all.insert(all.end(), {v.x, v.y, v.z});
        return all;
    };
    compare(numbers(a), numbers(b));
    return worst;
}

Eigen::MatrixXd dense(const SymmetricMatrix& m) {
    Eigen::MatrixXd d = Eigen::MatrixXd::Zero(m.rows(), m.rows());
    for (std::int32_t r = 0; r < m.rows(); ++r)
        for (std::int32_t k = m.row_begin[r]; k < m.row_begin[r + 1]; ++k)
            d(r, m.column[k]) = d(m.column[k], r) = m.value[k];
    return d;
}

// The system of a step, shown to `look` while what it refers to is there.
void inspect(const World& now, Scenario scenario, const std::function<void(const CoupledSystem&)>& look) {
    int seen = 0;
    scenario.solver.inspect = [&](const CoupledSystem& system) {
        if (seen++ == 0) look(system);
    };
    step(now, scenario, "spd");
    CHECK(seen > 0);
}

}  // namespace

TEST_CASE("all forms give what eliminating the solids gives, pinned or free, light or heavy") {
    for (const std::string& held : {std::string(), pin})
        for (const double density : {20.0, 1000.0, 20000.0}) {
            CAPTURE(held);
            CAPTURE(density);
            const Scenario scenario = pool(density, held);
            CutCell scheme;
            World world = start(scheme, scenario);
            // What is inside a free body can turn it in the forms, and cannot by default.
            const char* reference = held.empty() ? "spd" : "multigrid";
            // In the first step the block is as at rest, but turned: there the factored form has the same K.
            const World first = step(world, scenario, reference);
            CHECK(difference(step(world, scenario, "multigrid"), first) < 1e-2);
            for (const char* solver :
                 {"spd", "indefinite-bicgstab", "indefinite-minres", "factored", "iccg"}) {
                CAPTURE(solver);
                CHECK(difference(step(world, scenario, solver), first) < 1e-7);
            }
            // Then it deforms.
            world = step(first, scenario, reference);
            const World default_step = step(world, scenario, reference);
            for (const char* solver : forms) {
                CAPTURE(solver);
                CHECK(difference(step(world, scenario, solver), default_step) < 1e-7);
            }
            // The factored form's K lacks how rotations change: near, but not the same.
            CHECK(difference(step(world, scenario, "factored"), default_step) < 0.1);
        }
}

TEST_CASE("a mesh too large for factors gives what the forms give, held or beside rigid bodies") {
    const Scenario scenario = pool(1000, pin, askew, "[15, 17, 15]");
    const ElasticMesh& mesh = *scenario.solids[0].elastic.mesh;
    REQUIRE(!choose_preconditioner(mesh.pattern, mesh.rest.nodes)->exact());
    CutCell scheme;
    World world = start(scheme, scenario);
    for (int n = 0; n < 2; ++n) {
        const World form = step(world, scenario, "spd");
        CHECK(difference(step(world, scenario, "multigrid"), form) < 1e-6);
        CHECK(difference(step(world, scenario, "multigrid", ElasticCoupling::damping),
                         step(world, scenario, "spd", ElasticCoupling::damping)) < 1e-6);
        world = form;
    }

    // A rigid crate that lies on the block takes part in S.
    const std::string crate = R"([[solid]]
name = "crate"
motion = "rigid"
shape = { box = [0.2, 0.1, 0.2] }
position = [0.52, 0.6495, 0.47]
density = 600
)";
    const Scenario loaded = pool(1000, pin + crate, "position = [0.52, 0.4, 0.47]", "[15, 17, 15]");
    CutCell own;
    world = start(own, loaded);
    for (int n = 0; n < 3; ++n) {
        World next;
        const StepReport report = own.step(world, next, {loaded, world.time, 0.01, n});
        REQUIRE(report.accepted);
        const BodyLedger& ledger = report.ledger.bodies;
        if (n == 0)
            CHECK(length(ledger.contact[0].linear) >
                  0.01 * length(ledger.gravity));  // crate and block do touch
        CHECK(length(ledger.unaccounted) < 1e-10 * length(ledger.gravity));
        std::swap(world, next);
    }
}

TEST_CASE("forms agree where the solids touch the floor, and where only damping answers") {
    const Scenario lying = pool(3000, "", "position = [0.52, 0.205, 0.47]");
    CutCell scheme;
    World world = start(scheme, lying);
    for (int k = 0; k < 3; ++k) world = step(world, lying, "multigrid");
    inspect(world, lying, [](const CoupledSystem& system) {
        CHECK(system.solid.factors.size() > 6u * 6 * 2 * 3 * 2);  // more than the tetrahedra's
    });
    const World default_step = step(world, lying, "indefinite-bicgstab");
    for (const char* solver : forms) {
        CAPTURE(solver);
        CHECK(difference(step(world, lying, solver), default_step) < 1e-7);
    }
    const Scenario swimming = pool(500);
    world = step(start(scheme, swimming), swimming, "multigrid");
    const World damped = step(world, swimming, "indefinite-bicgstab", ElasticCoupling::damping);
    for (const char* solver : forms) {
        CAPTURE(solver);
        CHECK(difference(step(world, swimming, solver, ElasticCoupling::damping), damped) < 1e-7);
    }
}

TEST_CASE(
    "the SPD and the factored form are positive definite; the indefinite one has a sign for each side") {
    const Scenario scenario = pool(300, pin);
    CutCell scheme;
    const World world = step(start(scheme, scenario), scenario, "multigrid");
    inspect(world, scenario, [](const CoupledSystem& system) {
        const auto eigenvalues = [&](CoupledForm form) {
            return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(dense(assemble(system, form, 0.001).matrix),
                                                                  Eigen::EigenvaluesOnly)
                .eigenvalues()
                .eval();
        };
        CHECK(eigenvalues(CoupledForm::spd).minCoeff() > 0);
        CHECK(eigenvalues(CoupledForm::factored).minCoeff() > 0);
        const AssembledForm indefinite = assemble(system, CoupledForm::indefinite, 0.001);
        const Eigen::VectorXd values = eigenvalues(CoupledForm::indefinite);
        CHECK((values.array() > 0).count() == indefinite.pressures);
        CHECK((values.array() < 0).count() == indefinite.matrix.rows() - indefinite.pressures);
        // Held nodes are no unknowns.
        std::int64_t directions = 0;
        for (const unsigned char held : system.solid.held)
            for (int a = 0; a < 3; ++a) directions += !(held >> a & 1);
        CHECK(indefinite.matrix.rows() - indefinite.pressures == directions);
        CHECK(directions < std::ssize(system.solid.held) * 3);
        // Both describe the same equations: the condition estimates are near the true ones.
        for (const CoupledForm form : {CoupledForm::indefinite, CoupledForm::spd})
            for (const double alpha : {1.0, 0.001}) {
                const Eigen::MatrixXd a = dense(assemble(system, form, alpha).matrix);
                const double norm = a.cwiseAbs().colwise().sum().maxCoeff();
                const double inverse_norm = a.inverse().eval().cwiseAbs().colwise().sum().maxCoeff();
                CHECK(log_condition(system, form, alpha) ==
                      near(std::log10(norm * inverse_norm)).relative(1e-9));
            }
    });
}

TEST_CASE("alpha does not change the answer, and the automatic one balances the right-hand side") {
    const Scenario scenario = pool(1000);
    CutCell scheme;
    const World world = step(start(scheme, scenario), scenario, "multigrid");
    const World default_step = step(world, scenario, "indefinite-bicgstab");
    for (const double alpha : {0.0, 1e-4, 0.1, 3.0}) {
        Scenario scaled = scenario;
        scaled.solver.alpha = alpha;
        CHECK(difference(step(world, scaled, "spd"), default_step) < 1e-7);
    }
    inspect(world, scenario, [](const CoupledSystem& system) {
        const AssembledForm form = assemble(system, CoupledForm::spd, 0);
        const Eigen::Map<const Eigen::VectorXd> rhs(form.rhs.data(), Eigen::Index(form.rhs.size()));
        CHECK(rhs.head(form.pressures).norm() ==
              near(rhs.tail(rhs.size() - form.pressures).norm()).relative(1e-12));
    });
}

TEST_CASE("the factored form solves the system that its factors make") {
    const Scenario scenario = pool(700, pin);
    CutCell scheme;
    World world = start(scheme, scenario);
    for (int k = 0; k < 3; ++k) world = step(world, scenario, "multigrid");
    inspect(world, scenario, [](const CoupledSystem& system) {
        CoupledSystem squares = system;
        squares.solid.parts.clear();
        squares.solid.rows = system.solid.factors;
        for (std::size_t n = 0; n < system.solid.lumped.size(); ++n)
            for (const Vec3 axis : {Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}}) {
                BlockRow row;
                row.add(int(n), axis);
                row.stiffness = system.solid.lumped[n];
                squares.solid.rows.push_back(row);
            }
        SolverSettings settings{Solver::factored, {1e-13, 0, 50000}};
        std::vector<double> p(system.rhs.size()), q = p;
        std::vector<Vec3> v(system.solid.held.size()), w = v;
        CHECK(solve(system, settings, p, v).converged);
        settings.solver = Solver::spd;
        CHECK(solve(squares, settings, q, w).converged);
        double apart = 0, largest = 0;
        for (std::size_t i = 0; i < p.size(); ++i)
            apart = std::max(apart, std::abs(p[i] - q[i])), largest = std::max(largest, std::abs(p[i]));
        CHECK(apart < 1e-8 * largest);
        apart = largest = 0;
        for (std::size_t n = 0; n < v.size(); ++n)
            apart = std::max(apart, length(v[n] - w[n])), largest = std::max(largest, length(v[n]));
        CHECK(apart < 1e-8 * largest);
    });
}

TEST_CASE("scenes choose a form and alpha, and hear what the forms cannot do") {
    const auto text = [](const std::string& solver, const std::string& model, const std::string& motion) {
        return fmt::format(R"(
[scene]
duration = 1
[domain]
size = [1, 1, 1]
resolution = 10
[[liquid.fill]]
level = 0.5
[solver]
{}
[[solid]]
name = "block"
motion = "elastic"
shape = {{ box = [0.3, 0.3, 0.3] }}
position = [0.3, 0.4, 0.5]
density = 500
stiffness = 1e5
elastic = {{ cells = [2, 2, 2], model = "{}" }}
[[solid]]
name = "other"
motion = "{}"
shape = {{ sphere = 0.1 }}
position = [0.8, 0.4, 0.5]
{}
)",
                           solver, model, motion, motion == "rigid" ? "density = 300" : "");
    };
    const auto refusal = [&](const auto&... words) -> std::string {
        try {
            (void)parse_scene(text(words...), "forms.toml");
            return "";
        } catch (const UserError& error) {
            return error.what();
        }
    };
    const Scenario s =
        parse_scene(text("name = \"spd\"\nalpha = \"auto\"", "corotational", "static"), "a.toml").scenario;
    CHECK(s.solver.solver == Solver::spd);
    CHECK(s.solver.alpha == 0);
    CHECK(parse_scene(text("alpha = 0.5", "corotational", "rigid"), "a.toml").scenario.solver.alpha == 0.5);
    CHECK(refusal("name = \"factored\"", "corotational", "static") == "");
    CHECK(refusal("name = \"spd\"", "neo-hookean", "static") == "");
    for (const char* name : {"iccg", "spd", "factored", "indefinite-bicgstab", "indefinite-minres"})
        CHECK(refusal(fmt::format("name = \"{}\"", name), "corotational", "rigid").find("knows no rigid") !=
              std::string::npos);
    CHECK(refusal("name = \"factored\"", "neo-hookean", "static").find("corotational material only") !=
          std::string::npos);
    CHECK(refusal("alpha = 0", "linear", "static").find("out of range") != std::string::npos);
    CHECK(refusal("alpha = \"best\"", "linear", "static").find("cannot be") != std::string::npos);
}

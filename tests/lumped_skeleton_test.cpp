// One step of [RobinsonMosher08 Section 7] written as calls of the stages that exist: F1 S1 F2 F3 S2 F4,
// three solves. It is no method of its own yet; it shows that the stages can be called with other data, in
// another order, and that parts of an answer can be thrown away.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "coupling/coupled_solve.h"
#include "elastic_bodies.h"
#include "fluid/grid/advect.h"
#include "fluid/grid/extrapolate.h"
#include "fluid/grid/pressure_solver.h"
#include "fluid/grid/solid_interface.h"
#include "geometry/solid_shape.h"
#include "near.h"
#include "validate/case_tools.h"
#include "worlds.h"

using namespace flotsam;

namespace {

constexpr double level = 0.6, dt = 0.02;

// A tank with a rigid ball and an elastic block under water, at one time.
struct Tank {
    Scenario scenario = test::tank({20, 20, 20}, level);
    World world;
    std::shared_ptr<const Tiling> tiling;
    Field<double> phi, source, potential;
    MacGrid u;

    Tank(double ball_density, double block_density) {
        Solid ball;
        ball.name = "ball";
        ball.motion = Motion::rigid;
        ball.start.position = {0.3, 0.3, 0.5};
        ball.shape = solid_sphere(0.12, 0.02);
        ball.rigid.mass = mass_properties(enclosed_moments(ball.shape.mesh), ball_density);
        Solid block;
        block.name = "block";
        block.motion = Motion::elastic;
        block.start.position = {0.7, 0.31, 0.5};
        block.elastic =
            lattice_properties({0.2, 0.2, 0.2}, {2, 2, 2}, {.young = 1e6, .density = block_density});
        scenario.solids = {ball, block};
        static_cast<Bodies&>(world) = bodies_at_start(scenario.solids);
        world.support.assign(1, {});
        tiling = whole_tiling(scenario.domain.cells);
        phi = source = potential = Field<double>(tiling, 0);
        for_each_cell(*tiling, scenario.domain.cells,
                      [&](Int3 c, std::int64_t n) { phi[n] = scenario.domain.cell_center(c).y - level; });
        for (auto& component : u) component = Field<double>(tiling, 0);
    }

    RigidBody& ball() { return world.bodies[0]; }
    ElasticBody& block() { return world.elastics[0]; }

    // Both solids where they are, for a solve that finds out how they move.
    Obstacles answering() {
        const Domain& domain = scenario.domain;
        const Pose pose = pose_of(ball());
        TriangleMesh mesh = scenario.solids[0].shape.mesh;
        for (Vec3& v : mesh.vertices) v = pose.to_world(v);
        const auto cut = std::make_shared<CutSolid>(cut_solid(mesh, domain.cells, domain.h));
        return place_obstacles({{scenario.solids[0].shape.distance, pose, pose, 1.0, {}, cut},
                                still_elastic_obstacle(block(), domain)},
                               domain, tiling);
    }
    // The same with an effective velocity that they are told to have: nothing answers.
    Obstacles told(const Twist& ball_motion, const std::vector<Vec3>& nodes) {
        const Domain& domain = scenario.domain;
        Obstacles all = answering();
        Obstacle rigid = all.list[0], elastic = all.list[1];
        rigid.motion = ball_motion;
        ElasticBody moving = block();
        moving.velocity = nodes;
        const SurfaceMotion swept{skin_velocity(moving), dt};
        Deformation deformation = *elastic.deformation;
        deformation.velocity = swept.velocity;
        elastic.deformation = std::make_shared<Deformation>(deformation);
        elastic.nodes = nullptr;
        elastic.cut =
            std::make_shared<CutSolid>(cut_solid(deformation.after->mesh(), domain.cells, domain.h, swept));
        return place_obstacles({rigid, elastic}, domain, tiling);
    }

    ShapePtr distance() const { return scenario.solids[0].shape.distance; }
    std::int64_t inside_ball(const Particles& particles) {
        std::int64_t count = 0;
        for (std::int64_t i = 0; i < particles.count(); ++i)
            count += distance()->distance(pose_of(ball()).to_body(Vec3(particles.position[i]))) < -1e-6;
        return count;
    }
    // Positions alone: velocities stay as they are.
    void move_on(const Twist& ball_motion, const std::vector<Vec3>& nodes) {
        RigidBody moved = ball();
        moved.velocity = ball_motion.velocity;
        set_spin(moved, ball_motion.spin);
        advance(moved, dt);
        moved.velocity = ball().velocity;
        moved.angular_momentum = ball().angular_momentum;
        ball() = moved;
        for (std::size_t n = 0; n < nodes.size(); ++n) block().position[n] += dt * nodes[n];
    }

    struct Coupled {
        PressureSystem system;
        SolidSystem solids;
        std::vector<Pocket> sealed;
        std::vector<double> x;
        SolidVelocities velocity;
        Twist ball;
        std::vector<Vec3> block;
    };
    // [Eq. 16] for a time `step` from velocities `from`: liquid and solids solved together, nothing applied.
    Coupled solve(const Obstacles& obstacles, WetElastic& elastic, const MacGrid& from, double step) {
        const SolverSettings settings{Solver::multigrid, {1e-11, 1e-15, 500}};
        Coupled c{
            pressure_system(scenario.domain, phi, scenario.gravity, 1000, obstacles), {}, {}, {}, {}, {}, {}};
        c.sealed = c.system.sealed;
        c.solids.rigid = rigid_blocks(c.system, body_inertias(world.bodies), {}, step, c.sealed);
        elastic.begin(scenario, world, world.elastics, world.bodies, world.time, step);
        REQUIRE(add_elastic_blocks(elastic, c.system, settings, step, c.solids, c.sealed));
        Twist falling = twist_of(ball());
        falling.velocity += scenario.gravity * step;
        c.solids.rigid.from[0] = as_six(falling);
        MacGrid stopped = from;
        stop_at_closed_sides(stopped, scenario.domain);
        const std::vector<double> b = right_hand_side(c.system, source, stopped, step);
        c.x = first_guess(c.system, potential, step);
        PressureSolver solver(c.system, c.sealed, c.solids, settings, step);
        solver.begin(c.solids, b, c.x);
        CHECK(solver.finish().converged);
        c.velocity = solver.velocity();
        c.ball = as_twist(c.velocity.rigid[0]);
        c.block.assign(c.velocity.nodes.begin(), c.velocity.nodes.begin() + elastic.nodes());
        return c;
    }
};

// What the pressure gave the block, less what gravity did.
Vec3 momentum_gained(const ElasticBody& body, const std::vector<Vec3>& velocity, Vec3 gravity, double step) {
    Vec3 sum;
    for (std::size_t n = 0; n < velocity.size(); ++n)
        sum += body.mesh->mass[n] * (velocity[n] - body.velocity[n] - step * gravity);
    return sum;
}

}  // namespace

TEST_CASE("three solves a step: the first for the solids alone, the second with their effective velocity") {
    Tank tank(200, 3000);
    const Domain& domain = tank.scenario.domain;
    Particles particles = seed_fills(domain, tank.scenario.liquid);
    std::vector<char> dead(particles.count(), 0);
    for (std::int64_t i = 0; i < particles.count(); ++i)
        dead[i] = tank.distance()->distance(pose_of(tank.ball()).to_body(Vec3(particles.position[i]))) <= 0;
    remove_particles(particles, dead);
    WetElastic elastic(ElasticCoupling::strong);
    for (int step = 0; step < 3; ++step) {
        CAPTURE(step);
        const MacGrid u_n = tank.u;

        // F1: forces but pressure and advection. Gravity is in the potential, and there is no viscosity.
        // S1: half a step with positions as they are; of its answer only the solids' velocities are kept.
        const Obstacles at_start = tank.answering();
        const Tank::Coupled half = tank.solve(at_start, elastic, u_n, 0.5 * dt);
        for (int axis = 0; axis < 3; ++axis) CHECK(tank.u[axis].values() == u_n[axis].values());

        // F2: a solve with Neumann conditions, the solids' effective velocity, makes a velocity that no
        // liquid leaks by.
        const Obstacles moving = tank.told({half.ball.velocity, half.ball.spin}, half.block);
        MacGrid u_adv = u_n;
        const PressureSystem alone = pressure_system(domain, tank.phi, tank.scenario.gravity, 1000, moving);
        const PressureUpdate leak_proof = solve_pressure(
            alone, tank.source, dt, {Solver::multigrid, {1e-11, 1e-15, 500}}, u_adv, tank.potential);
        CHECK(leak_proof.solve.converged);
        CHECK(leak_proof.largest_divergence < 1e-6);
        // What goes through the surface is what the block, pressed together by the water, loses.
        double through_surface = 0;
        for (int i = 0; i < domain.cells.x; ++i)
            for (int k = 0; k < domain.cells.z; ++k)
                through_surface += u_adv[1](i, int(std::lround(level / domain.h)), k) * domain.h * domain.h;
        ElasticBody pressed = tank.block();
        for (std::size_t n = 0; n < half.block.size(); ++n) pressed.position[n] += dt * half.block[n];
        const double gained = enclosed_volume(skin_of(pressed)) - enclosed_volume(skin_of(tank.block()));
        // Closing slivers of cells shifts surfaces by up to a hundredth of a cell: a thousandth of what is
        // swept.
        const double swept =
            (3.14 * 0.12 * 0.12 * length(half.ball.velocity) + 0.2 * 0.2 * length(half.block[0])) * dt;
        CHECK(std::abs(gained) > 0.02 * swept);
        CHECK(through_surface * dt == near(gained).absolute(1e-3 * swept));

        // F3: the liquid goes along u_adv. Particles stay out of solids that move by what it conforms to.
        std::array<Field<char>, 3> changed = leak_proof.changed;
        for (int axis = 0; axis < 3; ++axis)
            extrapolate(u_adv[axis], changed[axis], domain.cells + unit(axis), 3);
        constrain_velocity(u_adv, moving, domain, VelocityInSolids::constant);
        const Pose from = pose_of(tank.ball());
        tank.move_on(half.ball, half.block);
        advance_particles(particles, u_adv, domain, dt,
                          {{tank.distance(), from, pose_of(tank.ball()), 1.0, half.ball, nullptr}});
        CHECK(tank.inside_ball(particles) == 0);
        MacGrid u_star = advect_velocity(u_n, domain, tank.tiling, dt);

        // S2: a whole step at the new positions; this time the pressure is kept.
        const Obstacles at_end = tank.answering();
        Tank::Coupled whole = tank.solve(at_end, elastic, u_star, dt);
        // F4: and acts on the liquid.
        stop_at_closed_sides(u_star, domain);
        const std::vector<double> beside = outflow_of(whole.solids, whole.velocity, whole.x.size());
        LiquidUpdate liquid =
            apply_pressure(whole.system, tank.source, whole.sealed, beside, dt, whole.x, u_star);
        CHECK(liquid.largest_divergence < 1e-5);

        // Equal and opposite: the loads are what the solids gained.
        const Vec3 ball_gain =
            tank.ball().mass * (whole.ball.velocity - tank.ball().velocity - dt * tank.scenario.gravity);
        CHECK(length(ball_gain - dt * liquid.loads.solids[0].force) < 1e-8 * length(ball_gain));
        const Vec3 block_gain = momentum_gained(tank.block(), whole.block, tank.scenario.gravity, dt);
        CHECK(length(block_gain - dt * liquid.loads.solids[1].force) < 1e-6 * length(block_gain));

        for (int axis = 0; axis < 3; ++axis)
            extrapolate(u_star[axis], liquid.changed[axis], domain.cells + unit(axis), 3);
        constrain_velocity(u_star, at_end, domain, VelocityInSolids::constant);
        tank.u = std::move(u_star);
        tank.potential = std::move(liquid.potential);
        tank.ball().velocity = whole.ball.velocity;
        set_spin(tank.ball(), whole.ball.spin);
        tank.block().velocity = whole.block;
        tank.world.time += dt;
    }
    // Light things rise and heavy ones sink: (1 - s) / (s + Cm) g t with added mass Cm = 1/2 of a ball.
    CHECK(tank.ball().velocity.y == near(0.8 / 0.7 * 9.81 * 3 * dt).relative(0.25));
    CHECK(tank.block().velocity[0].y < -0.3 * 2.0 / 3.0 * 9.81 * 3 * dt);
}

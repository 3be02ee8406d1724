// Cases of a liquid around solids that stand still or follow a script.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "fluid/grid/extrapolate.h"
#include "fluid/grid/obstacles.h"
#include "fluid/grid/particles.h"
#include "fluid/grid/pressure_solver.h"
#include "fluid/grid/sample.h"
#include "sim/measure.h"
#include "validate/case_tools.h"
#include "validate/cases.h"

namespace flotsam {

namespace {

Solid fixed_solid(const char* name, SolidShape shape, Pose pose) {
    Solid solid;
    solid.name = name;
    solid.shape = std::move(shape);
    solid.start = pose;
    return solid;
}

// One projection of a velocity around solids at rest, with the liquid where a function says.
struct Projected {
    Domain domain;
    std::vector<std::shared_ptr<const CutSolid>> cuts;
    Obstacles obstacles;
    MacGrid u;
    PressureUpdate report;

    template <class Distance>
    Projected(const Domain& box, const std::vector<Solid>& solids, Vec3 gravity, Vec3 velocity,
              const Distance& distance)
        : domain(box) {
        const auto tiling = whole_tiling(domain.cells);
        for (const Solid& solid : solids) {
            TriangleMesh mesh = solid.shape.mesh;
            for (Vec3& v : mesh.vertices) v = solid.start.to_world(v);
            cuts.push_back(std::make_shared<CutSolid>(cut_solid(mesh, domain.cells, domain.h)));
        }
        constexpr double dt = 0.01;
        std::vector<Obstacle> list;
        for (std::size_t s = 0; s < solids.size(); ++s)
            list.push_back({.shape = solids[s].shape.distance,
                            .before = solids[s].start,
                            .after = solids[s].start,
                            .slip = 1,
                            .motion = {},
                            .cut = cuts[s]});
        obstacles = place_obstacles(std::move(list), domain, tiling);
        Field<double> phi(tiling, outside_distance(domain)), source(tiling, 0), potential(tiling, 0);
        for_each_cell(*tiling, domain.cells,
                      [&](Int3 c, std::int64_t n) { phi[n] = distance(domain.cell_center(c)); });
        for (int axis = 0; axis < 3; ++axis) u[axis] = Field<double>(tiling, velocity[axis]);
        report = solve_pressure(pressure_system(domain, std::move(phi), gravity, 1000, obstacles), source, dt,
                                {Solver::multigrid, {1e-11, 1e-13, 500}}, u, potential);
    }
    double largest_speed() const {
        double largest = 0;
        for (int axis = 0; axis < 3; ++axis)
            for (std::int64_t n = 0; n < u[axis].tiling().value_count(); ++n)
                if (report.changed[axis][n]) largest = larger(largest, std::abs(u[axis][n]));
        return report.solve.converged ? largest : std::numeric_limits<double>::infinity();
    }
};

Domain cube(int n) {
    Domain domain;
    domain.cells = {n, n, n};
    domain.h = 1.0 / n;
    return domain;
}

// RMS speed of all particles during two spans of time at the end of a run.
class Calm {
  public:
    Calm(const Domain& domain, double end, double span) : domain_(domain), end_(end), span_(span) {}
    void see(const World& world) {
        if (world.time <= end_ - 2 * span_) return;
        const std::vector<Vec3f> velocity = particle_velocities(world, domain_);
        double sum = 0;
        for (const Vec3f& v : velocity) sum += double(dot(v, v));
        Mean& mean = world.time <= end_ - span_ ? before_ : last_;
        mean.sum += sum / double(velocity.size());
        ++mean.count;
    }
    double last() const { return std::sqrt(last_.sum / last_.count); }
    double ratio() const { return growth(std::sqrt(before_.sum / before_.count), last(), domain_.h); }

  private:
    Domain domain_;
    struct Mean {
        double sum = 0;
        int count = 0;
    };
    double end_, span_;
    Mean before_, last_;
};

// Four walls around a square hole of side `a` in the middle of a unit cube, turned by 27 degrees about z.
// Each begins where the last one ends, so that no two share any space.
std::vector<Solid> turned_tank(double a) {
    constexpr double thickness = 0.6;  // reaches beyond the corners of the cube
    std::vector<Solid> walls;
    for (int side = 0; side < 4; ++side) {
        const Rotation turn = Rotation::about({0, 0, 1}, (27 + 90 * side) * std::numbers::pi / 180);
        const Vec3 middle{thickness / 2, -(a + thickness) / 2, 0};
        walls.push_back(fixed_solid("wall", solid_box({a + thickness, thickness, 2}),
                                    {Vec3{0.5, 0.5, 0.5} + turn * middle, turn}));
    }
    return walls;
}

// Everything outside a ball.
class OutsideBall final : public Shape {
  public:
    explicit OutsideBall(double radius) : radius_(radius) {}
    double distance(Vec3 p) const override { return radius_ - length(p); }
    Box bounds() const override { return {{-1, -1, -1}, {1, 1, 1}}; }

  private:
    double radius_;
};

// A block around the unit cube with a ball cut out of its middle.
std::vector<Solid> spherical_tank(double radius, double spacing) {
    SolidShape shape = solid_box({1.5, 1.5, 1.5});
    const TriangleMesh ball = solid_sphere(radius, spacing).mesh;
    const auto first = static_cast<std::int32_t>(shape.mesh.vertices.size());
    for (const Vec3& v : ball.vertices) shape.mesh.vertices.push_back(v);
    for (const auto& t : ball.triangles)
        shape.mesh.triangles.push_back({t[0] + first, t[2] + first, t[1] + first});
    shape.distance = std::make_shared<OutsideBall>(radius);
    return {fixed_solid("tank", std::move(shape), {{0.5, 0.5, 0.5}, {}})};
}

}  // namespace

void validate_rest_around_solids(const ValidationRun& run) {
    const Vec3 edges{0.31, 0.17, 0.23};
    const Solid box =
        fixed_solid("box", solid_box(edges), {{0.52, 0.26, 0.49}, Rotation::about({1, 2, 0.5}, 0.6)});
    const double weight = 1000 * g * edges.x * edges.y * edges.z;
    for (const int n : run.quick ? std::vector{24} : std::vector{24, 48}) {
        const double level = 0.5 + 0.37 / n, h = 1.0 / n;
        {
            const Projected rest(cube(n), {box}, {0, -g, 0}, {}, [&](Vec3 p) { return p.y - level; });
            run.report({"", "box, exact surface", "", n, "max speed / sqrt(gH)",
                        rest.largest_speed() / std::sqrt(g * level), 0, 1e-4});
            run.report({"", "box, exact surface", "", n, "force on the box [N]",
                        rest.report.loads.solids[0].force.y, weight, 0.1});
        }
        for (const auto& [name, solids] : {std::pair{"tank at 27 deg", turned_tank(0.55)},
                                           {"spherical tank", spherical_tank(0.42, 0.5 * h)}})
            for (const bool full : {false, true}) {
                const Projected rest(cube(n), solids, {0, -g, 0}, {},
                                     [&](Vec3 p) { return full ? -4 * h : p.y - level; });
                run.report({"", fmt::format("{}, {}, exact", name, full ? "full" : "half full"), "", n,
                            "max speed / sqrt(gH)", rest.largest_speed() / std::sqrt(0.5 * g), 0, 1e-4});
                if (!full) continue;
                // Without a free surface rest is trivial; that the tank carries all of the water is not.
                const double volume =
                    solids.size() > 1 ? 0.55 * 0.55 : 4 * std::numbers::pi / 3 * 0.42 * 0.42 * 0.42;
                Vec3 force;
                for (const SolidLoad& load : rest.report.loads.solids) force += load.force;
                run.report({"", fmt::format("{}, full, exact", name), "", n, "force on the tank [N]", force.y,
                            -1000 * g * volume, 0.1});
            }

        const double duration = 10 * std::sqrt(0.5 / g);
        {
            Scenario s = box_of_water({n, 3 * n / 4, n}, 1, make_level(0.5));
            s.solids = {box};
            Calm calm(s.domain, duration, 0.5);
            double force = 0, time = 0;
            simulate(s, run.method, duration, [&](const World& world, double dt) {
                calm.see(world);
                if (world.time > duration - 0.5) force += world.loads[0].force.y * dt, time += dt;
            });
            run.report({"", "box, particles", "", n, "RMS speed / sqrt(g dx)", calm.last() / std::sqrt(g * h),
                        0, 2});
            run.report(
                {"", "box, particles", "", n, "speed, last 0.5 s over 0.5 s before", calm.ratio(), 0, 100});
            run.report({"", "box, particles", "", n, "mean force on the box [N]", force / time, weight, 1});
        }
        for (const auto& [name, solids] : {std::pair{"tank at 27 deg", turned_tank(0.55)},
                                           {"spherical tank", spherical_tank(0.42, 0.5 * h)}})
            for (const bool full : {false, true}) {
                // The turned tank is a prism: a few layers of it are enough.
                const bool prism = solids.size() > 1;
                Scenario s = box_of_water({n, n, prism ? 8 : n}, 1, make_level(full ? 2 : 0.5));
                s.solids = solids;
                Calm calm(s.domain, duration, 0.5);
                double inside = 0;
                simulate(s, run.method, duration, [&](const World& world, double) {
                    calm.see(world);
                    for (const Quantity& q : quantities())
                        if (q.name == "liquid.particles_inside_solids")
                            inside = larger(inside, q.value(world, s, {}));
                });
                const std::string variant =
                    fmt::format("{}, {}, particles", name, full ? "full" : "half full");
                run.report(
                    {"", variant, "", n, "RMS speed / sqrt(g dx)", calm.last() / std::sqrt(g * h), 0, 2});
                run.report({"", variant, "", n, "particles inside solids", inside, 0, 0});
            }
    }
}

namespace {

// Mean acceleration over 0.3 s along a ramp tilted by 20 degrees, over g sin 20. Whatever shape the sheet
// takes on its way, a frictionless ramp pushes at right angles only: the ratio is 1.
double ramp_acceleration(const std::string& method, int n, double slip) {
    constexpr double angle = 20 * std::numbers::pi / 180, length = 2.4, duration = 0.3;
    const Rotation turn = Rotation::about({0, 0, 1}, -angle);
    const Vec3 top{0, 0.95, 0};  // where the ramp's surface meets the left wall
    class Sheet final : public Shape {
      public:
        Sheet(Pose pose, double from, double until, double depth)
            : pose_(pose), from_(from), until_(until), depth_(depth) {}
        double distance(Vec3 p) const override {
            const Vec3 b = pose_.to_body(p);
            return std::max({from_ - b.x, b.x - until_, b.y - depth_});
        }
        Box bounds() const override { return {{0, 0, -9}, {9, 9, 9}}; }

      private:
        Pose pose_;
        double from_, until_, depth_;
    };
    const Pose slope{top, turn};
    Scenario s = box_of_water({n, n / 2, 1}, length, std::make_shared<Sheet>(slope, 0.6, 1.4, 0.08));
    Solid ramp = fixed_solid("ramp", solid_box({6, 2, 2}), {slope.to_world({1, -1, 0}), turn});
    ramp.slip = slip;
    s.solids = {ramp};
    s.time.frames_per_second = 50;
    double speed = 0;
    simulate(s, method, duration, [&](const World& world, double) {
        Vec3 sum;
        for (const Vec3f& v : particle_velocities(world, s.domain)) sum += Vec3(v);
        speed = dot(sum / double(world.liquid.particles.count()), turn * Vec3{1, 0, 0});
    });
    return speed / duration / (g * std::sin(angle));
}

}  // namespace

void validate_free_slip(const ValidationRun& run) {
    for (const int n : run.quick ? std::vector{96} : std::vector{96, 192}) {
        const double free = ramp_acceleration(run.method, n, 1), held = ramp_acceleration(run.method, n, 0);
        run.report({"", "ramp, slip 1", "", n, "acceleration / (g sin 20)", free, 1, 5});
        run.report({"", "ramp, slip 0", "", n, "acceleration over that with slip 1", held / free, 0, 95});
    }
    // A uniform stream, projected once, is the potential flow around the sphere: 3/2 U sin(theta) on its
    // surface. The box is four diameters wide, which makes the stream faster by about 1 %.
    constexpr double radius = 0.125;
    ObservedOrder order(run, "surface speed");
    for (const int n : run.quick ? std::vector{48} : std::vector{48, 96}) {
        Domain domain = cube(n);
        domain.walls[x_low].kind = domain.walls[x_high].kind = WallKind::open;
        const Vec3 center{0.503, 0.497, 0.505};
        const Solid ball = fixed_solid("ball", solid_sphere(radius, 0.5 * domain.h), {center, {}});
        Projected flow(domain, {ball}, {}, {1, 0, 0}, [&](Vec3) { return -outside_distance(domain); });
        forget_slits(flow.report.changed, flow.obstacles, domain);
        for (int axis = 0; axis < 3; ++axis)
            extrapolate(flow.u[axis], flow.report.changed[axis], domain.cells + unit(axis), 3);
        constrain_velocity(flow.u, flow.obstacles, domain,
                           run.method == "cut-cell" ? VelocityInSolids::linear : VelocityInSolids::constant);
        double worst = 0, square = 0;
        int count = 0;
        for (int ring = 1; ring <= 9; ++ring)
            for (int around = 0; around < 24; ++around) {
                const double theta = ring * std::numbers::pi / 18, phi = around * std::numbers::pi / 12;
                const Vec3 normal{-std::cos(theta), std::sin(theta) * std::cos(phi),
                                  std::sin(theta) * std::sin(phi)};
                Vec3 u = sample_velocity(flow.u, domain, center + radius * normal);
                u -= dot(u, normal) * normal;
                const double error = length(u) / 1.5 - std::sin(theta);
                worst = larger(worst, std::abs(error));
                square += error * error;
                ++count;
            }
        run.report({"", "sphere in a stream", "", n, "surface speed, worst error / (3/2 U)", worst, 0, 5});
        order.add({"", "sphere in a stream", "", n, "surface speed, RMS error / (3/2 U)",
                   std::sqrt(square / count), 0, 5});
    }
}

void validate_spheric_2(const ValidationRun& run) {
    // Kleefsman, Fekken, Veldman, Iwanowski & Buchner 2005, J. Comput. Phys. 206, 363; SPHERIC test 2 (Issa &
    // Violeau 2006). Gauges at x from the end wall behind the container. H2 and H4 every 0.05 s, averaged
    // over 10 ms.
    static constexpr std::array h2_measured{
        0.001, 0.001, 0.001, 0.001, 0.001, 0.001, 0.001, 0.003, 0.046, 0.077, 0.099, 0.117, 0.120, 0.125,
        0.131, 0.140, 0.147, 0.157, 0.166, 0.175, 0.179, 0.184, 0.186, 0.192, 0.196, 0.201, 0.207, 0.201,
        0.201, 0.215, 0.236, 0.228, 0.256, 0.267, 0.318, 0.322, 0.332, 0.304, 0.288, 0.295, 0.287};
    static constexpr std::array h4_measured{
        0.549, 0.542, 0.534, 0.523, 0.511, 0.500, 0.487, 0.473, 0.459, 0.443, 0.427, 0.411, 0.395, 0.379,
        0.363, 0.347, 0.332, 0.317, 0.303, 0.290, 0.279, 0.266, 0.254, 0.243, 0.233, 0.223, 0.214, 0.205,
        0.197, 0.189, 0.182, 0.176, 0.170, 0.164, 0.159, 0.153, 0.147, 0.142, 0.138, 0.134, 0.130};
    constexpr double impulse_measured = 1395.5;  // of P1 over 0.4 - 0.6 s [Pa s]
    constexpr std::array x_gauge{1.488, 0.992, 0.496, 2.638};
    constexpr std::array arrival_measured{0.218, 0.368, 0.92};  // h > 2 cm [s]
    for (const int n : run.quick ? std::vector{50} : std::vector{50, 100}) {
        const double h = 3.22 / n;
        const int across = int(std::lround(1 / h));
        Scenario s = box_of_water({n, across, across}, 3.22, make_box({1.992, -9, -9}, {9, 0.55, 9}));
        s.domain.walls[y_high].kind = WallKind::open;
        const double middle = s.domain.size().z / 2;
        s.solids = {
            fixed_solid("container", solid_box({0.161, 0.161, 0.403}), {{0.744, 0.0805, middle}, {}})};
        s.time.frames_per_second = 100;
        const Probe p1{"P1", Probe::Kind::pressure, {0.8245, 0.021, middle}};
        // The front is a film thinner than a cell, which the surface shows late: its depth is also read off
        // the particles around the gauge, three cells across.
        std::array<double, 3> arrival{}, depth_arrival{}, depth_before{};
        std::array<double, 4> height_before{};
        double time_before = 0, p_before = 0, impulse = 0, square_2 = 0, square_4 = 0, inside = 0;
        std::size_t seen = 0;
        std::vector<std::array<double, 2>> h2_curve, h2_points;
        simulate(s, run.method, 2, [&](const World& world, double dt) {
            std::array<double, 4> height{};
            for (int i = 0; i < 4; ++i) {
                height[i] = surface_height(world.liquid.phi, s.domain, x_gauge[i], middle);
                if (i < 3 && arrival[i] == 0 && height[i] > 0.02)
                    arrival[i] =
                        time_before + dt * (0.02 - height_before[i]) / (height[i] - height_before[i]);
            }
            std::array<double, 3> depth{};
            for (const Vec3f& p : world.liquid.particles.position)
                for (int i = 0; i < 3; ++i)
                    if (std::abs(p.x - x_gauge[i]) < h / 2 && std::abs(p.z - middle) < 1.5 * h)
                        depth[i] += s.particle_volume() / (3 * h * h);
            for (int i = 0; i < 3; ++i)
                if (depth_arrival[i] == 0 && depth[i] > 0.02)
                    depth_arrival[i] =
                        time_before + dt * (0.02 - depth_before[i]) / (depth[i] - depth_before[i]);
            depth_before = depth;
            // Between two steps, on the line between them.
            while (seen < h2_measured.size() && 0.05 * double(seen) <= world.time + 1e-9) {
                const double share = dt > 0 ? (0.05 * double(seen) - time_before) / dt : 1;
                const auto level = [&](int i) {
                    return height_before[i] + share * (height[i] - height_before[i]);
                };
                square_2 += std::pow(level(1) - h2_measured[seen], 2);
                square_4 += std::pow(level(3) - h4_measured[seen], 2);
                ++seen;
            }
            h2_curve.push_back({world.time, height[1]});
            const double p = measure(p1, world, s);
            const double from = std::max(0.4, time_before), until = std::min(0.6, world.time);
            if (until > from) impulse += (until - from) * (p + p_before) / 2;
            time_before = world.time, height_before = height, p_before = p;
            for (const Quantity& q : quantities())
                if (q.name == "liquid.particles_inside_solids")
                    inside = larger(inside, q.value(world, s, {}));
        });
        for (std::size_t i = 0; i < h2_measured.size(); ++i)
            h2_points.push_back({0.05 * double(i), h2_measured[i]});
        run.show({"", "", n, "Water level at gauge H2", "time", "s", "level", "m", "Kleefsman et al. 2005",
                  h2_curve, h2_points});
        for (int i = 0; i < 3; ++i)
            run.report({"", "", "", n, fmt::format("arrival at H{} [s]", i + 1), arrival[i],
                        arrival_measured[i], 3});
        for (int i = 0; i < 3; ++i)
            run.report({"", "by particles", "", n, fmt::format("arrival at H{} [s]", i + 1), depth_arrival[i],
                        arrival_measured[i], 3});
        // In metres: 3 cm are 3 "percent".
        run.report(
            {"", "", "", n, "H2, RMS difference to 2 s [m]", std::sqrt(square_2 / double(seen)), 0, 3});
        run.report(
            {"", "", "", n, "H4, RMS difference to 2 s [m]", std::sqrt(square_4 / double(seen)), 0, 1.5});
        run.report({"", "", "", n, "impulse of P1, 0.4 to 0.6 s [Pa s]", impulse, impulse_measured, 15});
        run.report({"", "", "", n, "particles inside the container", inside, 0, 0});
    }
}

void validate_moving_sphere(const ValidationRun& run) {
    constexpr double radius = 0.1, crossing = 1;  // [m], [s]
    for (const int n : run.quick ? std::vector{32} : std::vector{32, 64}) {
        Scenario s = box_of_water({n, n / 2, n / 2}, 1, make_level(0.3));
        Solid ball = fixed_solid("ball", solid_sphere(radius, 0.5 * s.domain.h), {});
        ball.motion = Motion::scripted;
        ball.script.smooth = true;
        for (int i = 0; i <= 10; ++i)
            ball.script.keyframes.push_back({i * crossing, {{i % 2 ? 0.8 : 0.2, 0.15, 0.25}, {}}});
        s.solids = {ball};
        // Waves lift the mean of a bumpy surface a little; each crossing is judged by its average.
        std::array<double, 11> level{}, time{};
        double at_start = 0, crowd = 0, cut_crowd = 0, inside = 0, volume = 0, volume_at_start = 0;
        simulate(s, run.method, 11 * crossing, [&](const World& world, double dt) {
            if (world.step == 0) {
                at_start = mean_level(world, s);
                volume_at_start = liquid_volume(world.liquid.phi, s.domain, world.liquid.open_volume);
            }
            volume = liquid_volume(world.liquid.phi, s.domain, world.liquid.open_volume);
            const int i = std::min(10, int(world.time / crossing - 1e-9));
            level[i] += mean_level(world, s) * dt, time[i] += dt;
            Field<int> count(world.liquid.tiling, 0);
            for (const Vec3f& p : world.liquid.particles.position)
                ++count[world.liquid.tiling->find(s.domain.cell_of(Vec3(p)))];
            for (std::int64_t c = 0; c < world.liquid.tiling->value_count(); ++c) {
                const double open = world.liquid.open_volume[c], rest = particles_per_cell(s.domain);
                crowd = std::max(crowd, count[c] / rest);
                if (open >= 0.5) cut_crowd = std::max(cut_crowd, count[c] / (rest * open));
            }
            for (const Quantity& q : quantities())
                if (q.name == "liquid.particles_inside_solids")
                    inside = larger(inside, q.value(world, s, {}));
        });
        double worst = at_start;
        for (int i = 0; i < 11; ++i)
            if (std::abs(level[i] / time[i] - at_start) > std::abs(worst - at_start))
                worst = level[i] / time[i];
        run.report({"", "", "", n, "mean level, worst crossing [m]", worst, at_start, 0.5});
        run.report(
            {"", "", "", n, "mean level after the last crossing [m]", level[10] / time[10], at_start, 0.5});
        run.report({"", "", "", n, "volume at the end [m^3]", volume, volume_at_start, 1});
        run.report({"", "", "", n, "fullest cell / rest density", crowd, 0, 200});
        run.report({"", "", "", n, "fullest half-open cell / rest density", cut_crowd, 0, 200});
        run.report({"", "", "", n, "particles inside the sphere", inside, 0, 0});
    }
}

}  // namespace flotsam

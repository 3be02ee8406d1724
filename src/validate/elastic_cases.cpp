// Cases of elastic bodies without any liquid. No scheme takes part: only the method whose bodies these are
// reports them. `resolution` is the number of layers of cubes through the thickness.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

#include "core/check.h"
#include "solid/elastic/elastic_step.h"
#include "validate/case_tools.h"
#include "validate/cases.h"

namespace flotsam {

namespace {

constexpr double pi = std::numbers::pi;

// A sheet one cube thick (z), its cubes as square or as long as `cells` say, mapped into shape.
struct Sheet {
    ElasticProperties properties;
    std::vector<ElasticBody> bodies;
    Int3 cells;

    Sheet(Int3 cells_, double depth, const ElasticMaterial& material,
          const std::function<Vec3(double, double)>& map)
        : cells(cells_) {
        TetMesh mesh = tet_lattice({0, 0, 0}, {1, 1, 1}, cells);
        for (Vec3& p : mesh.nodes) {
            const Vec3 q = map(p.x, p.y);
            p = {q.x, q.y, depth * p.z};
        }
        properties.mesh = std::make_shared<ElasticMesh>(make_elastic_mesh(std::move(mesh), material));
        properties.newton_steps = 60;
        properties.newton_tolerance = 1e-6;
        bodies.push_back(make_elastic_body(0, properties, {}));
    }
    int node(int i, int j, int k) const { return i + (cells.x + 1) * (j + (cells.y + 1) * k); }
    std::vector<int> column(int i) const {
        std::vector<int> nodes;
        for (int k = 0; k <= cells.z; ++k)
            for (int j = 0; j <= cells.y; ++j) nodes.push_back(node(i, j, k));
        return nodes;
    }
    void hold(std::vector<int> nodes, std::array<bool, 3> axes = {true, true, true}) {
        Pin pin;
        pin.nodes = std::move(nodes);
        pin.axes = axes;
        properties.pins.push_back(pin);
    }
    // Plane strain: nothing moves along z.
    void hold_flat() {
        std::vector<int> all(properties.mesh->rest.nodes.size());
        std::iota(all.begin(), all.end(), 0);
        hold(all, {false, false, true});
    }
    // A force spread evenly over the right edge: ends of it take half.
    void load_right(Vec3 force) {
        for (int j = 0; j <= cells.y; ++j) {
            ElasticLoad load;
            load.nodes = {node(cells.x, j, 0), node(cells.x, j, 1)};
            load.force = force * ((j == 0 || j == cells.y ? 0.5 : 1.0) / cells.y);
            properties.loads.push_back(load);
        }
    }
    // Where column i is in mid-height, or the corner (i, j), against where it was [m].
    Vec3 moved(int i, int j) const {
        Vec3 sum;
        for (int k = 0; k <= 1; ++k)
            sum += 0.5 * (bodies[0].position[node(i, j, k)] - properties.mesh->rest.nodes[node(i, j, k)]);
        return sum;
    }
    void balance(Vec3 gravity) {
        ElasticStepper stepper;
        const ElasticReport report = stepper.rest(bodies, {&properties}, gravity);
        FLOTSAM_CHECK(report.converged && report.correction < 1e-4, report.correction);
    }
};

// Tip deflection over length of a slender cantilever, against the exact elastica.
double bent(int layers, double load) {
    constexpr double length = 1, height = 0.025, young = 1e6;
    ElasticMaterial material;
    material.young = young;
    material.poisson = 0;  // a strip: neither plane stress nor plane strain
    const double depth = height / layers;
    const int columns = int(std::round(length / height * layers / 2));
    Sheet beam({columns, layers, 1}, depth, material, [&](double x, double y) {
        return Vec3{length * x, height * (y - 0.5), 0};
    });
    beam.hold(beam.column(0));
    beam.hold_flat();  // or so thin a strip would turn aside
    const double inertia = depth * height * height * height / 12;
    beam.load_right({0, -load * young * inertia / (length * length), 0});
    beam.balance({});
    return -beam.moved(columns, layers / 2).y / length;
}

// Period of the first mode of a cantilever in plane strain.
double swung(int layers, int steps_per_period) {
    constexpr double length = 0.2, height = 0.02, expected = 0.25403;
    ElasticMaterial material;
    material.young = 2e6;
    material.poisson = 0.3975;
    const int columns = int(std::round(length / height * layers / 2));
    Sheet beam({columns, layers, 1}, height / layers, material, [&](double x, double y) {
        return Vec3{length * x, height * (y - 0.5), 0};
    });
    beam.hold_flat();
    beam.hold(beam.column(0));
    beam.properties.integrator = ElasticIntegrator::midpoint;
    // The first mode's shape, and little of it.
    const double k = 1.875104 / length, ratio = 0.734096;
    const std::vector<Vec3>& rest = beam.properties.mesh->rest.nodes;
    for (std::size_t n = 0; n < rest.size(); ++n) {
        const double s = k * rest[n].x;
        beam.bodies[0].velocity[n].y =
            0.01 * (std::cosh(s) - std::cos(s) - ratio * (std::sinh(s) - std::sin(s)));
    }
    ElasticStepper stepper;
    const double dt = expected / steps_per_period;
    std::vector<double> crossings;
    double last = 0;
    for (int i = 1; i <= int(1.2 * steps_per_period); ++i) {
        FLOTSAM_CHECK(stepper.step(beam.bodies, {&beam.properties}, {}, i * dt, dt).converged);
        const double y = beam.moved(columns, layers / 2).y;
        if (i > 1 && (last > 0) != (y > 0)) crossings.push_back(dt * (i - y / (y - last)));
        last = y;
    }
    // From the start, through the middle downwards, to the middle upwards.
    return crossings.size() >= 2 ? crossings[1] : 0;
}

// Rise of the top right corner of Cook's membrane under a thousandth of its load [mm].
double cook(int cubes) {
    ElasticMaterial material;
    material.model = ElasticModel::linear;
    material.young = 70e6;
    material.poisson = 1.0 / 3;
    Sheet sheet({cubes, cubes, 1}, 0.048 / cubes, material, [](double x, double y) {
        const double low = 44 * x, high = 44 + 16 * x;
        return Vec3{0.048 * x, 1e-3 * (low + (high - low) * y), 0};
    });
    sheet.hold_flat();
    sheet.hold(sheet.column(0));
    sheet.load_right({0, 6.25e6 * 1e-3 * 0.016 * (0.048 / cubes), 0});
    sheet.balance({});
    return 1e3 * sheet.moved(cubes, cubes).y;
}

// The bar of Turek & Hron, behind its cylinder.
Sheet turek_bar(int layers, double shear) {
    ElasticMaterial material;
    material.model = ElasticModel::st_venant_kirchhoff;
    material.poisson = 0.4;
    material.young = 2 * shear * 1.4;
    material.density = 1000;
    const int columns = int(std::round(0.35 / 0.02 * layers / 2));
    Sheet bar({columns, layers, 1}, 0.02 / layers, material, [](double x, double y) {
        const double height = 0.02 * (y - 0.5), left = 0.2 + std::sqrt(0.05 * 0.05 - height * height);
        return Vec3{left + (0.6 - left) * x, 0.2 + height, 0};
    });
    bar.hold_flat();
    bar.hold(bar.column(0));
    return bar;
}

}  // namespace

void validate_cantilever(const ValidationRun& run) {
    for (const auto& [load, deflection] :
         {std::pair{1.0, 0.30172}, {2.0, 0.49346}, {4.0, 0.66996}, {10.0, 0.81061}}) {
        ObservedOrder order(run, "deflection");
        for (const int layers : run.quick ? std::vector{16} : std::vector{16, 32})
            order.add({"", fmt::format("P L^2/EI = {:g}", load), "", layers, "tip deflection / L",
                       bent(layers, load), deflection, 3});
    }
    ObservedOrder order(run, "period");
    for (const int layers : run.quick ? std::vector{16} : std::vector{16, 32})
        order.add({"", "oscillating", "", layers, "period [s]", swung(layers, 3 * layers), 0.25403, 3});
}

void validate_rigid_rotation(const ValidationRun& run) {
    ElasticMaterial material;
    material.young = 1e6;
    ElasticProperties bar;
    bar.mesh = std::make_shared<ElasticMesh>(
        make_elastic_mesh(tet_lattice({-0.1, -0.1, -0.5}, {0.1, 0.1, 0.5}, {4, 4, 20}), material));
    ElasticBody body = make_elastic_body(0, bar, {});
    double stress = 0;
    for (int degree = 0; degree <= 360; degree += 5) {
        const Rotation turn = Rotation::about({1, 2, -0.5}, degree * pi / 180);
        for (std::size_t n = 0; n < body.position.size(); ++n)
            body.position[n] = turn * bar.mesh->rest.nodes[n];
        for (const Mat3& s : stresses(body)) stress = larger(stress, von_mises(s) / material.young);
    }
    run.report({"", "turned once", "", 4, "stress / E", stress, 0, 1e-8});  // 1e-10, in per cent

    bar.integrator = ElasticIntegrator::midpoint;
    bar.newton_steps = 40;
    bar.newton_tolerance = 1e-11;
    bar.velocity = {0.4, -0.3, 0.2};
    bar.spin = {0.3, 5, 0.1};
    std::vector<ElasticBody> bodies{make_elastic_body(0, bar, {})};
    const Vec3 push = momentum(bodies[0]), turn = angular_momentum(bodies[0]);
    ElasticStepper stepper;
    double linear = 0, angular = 0;
    for (int i = 0; i < (run.quick ? 60 : 600); ++i) {
        FLOTSAM_CHECK(stepper.step(bodies, {&bar}, {}, 0.01 * i, 0.01).converged);
        linear = larger(linear, length(momentum(bodies[0]) - push) / length(push));
        angular = larger(angular, length(angular_momentum(bodies[0]) - turn) / length(turn));
    }
    run.report({"", "free spinning bar", "", 4, "change of linear momentum", linear, 0, 1e-6});  // 1e-8
    run.report({"", "free spinning bar", "", 4, "change of angular momentum", angular, 0, 1e-6});
}

void validate_cook(const ValidationRun& run) {
    ObservedOrder order(run, "rise");
    for (const int cubes : run.quick ? std::vector{64} : std::vector{64, 128})
        order.add({"", "1/1000 of the load", "", cubes, "rise of the top right corner [mm]", cook(cubes),
                   0.03224, 2});
}

void validate_turek_hron(const ValidationRun& run) {
    struct Static {
        const char* name;
        double shear, ux, uy;
    };
    for (const Static& s : {Static{"CSM1", 0.5e6, -7.187, -66.10}, Static{"CSM2", 2e6, -0.4690, -16.97}}) {
        if (run.quick && s.shear < 1e6) continue;
        ObservedOrder x(run, "ux"), y(run, "uy");
        for (const int layers : run.quick ? std::vector{32} : std::vector{32, 48}) {
            Sheet bar = turek_bar(layers, s.shear);
            bar.balance({0, -2, 0});
            const Vec3 tip = bar.moved(bar.cells.x, layers / 2) * 1e3;
            x.add({"", s.name, "", layers, "ux of A [mm]", tip.x, s.ux, 2});
            y.add({"", s.name, "", layers, "uy of A [mm]", tip.y, s.uy, 2});
        }
    }
    if (run.quick) return;
    constexpr int layers = 24;
    Sheet bar = turek_bar(layers, 0.5e6);
    bar.properties.integrator = ElasticIntegrator::midpoint;
    ElasticStepper stepper;
    constexpr double dt = 0.01;
    std::vector<std::array<double, 2>> curve{{0, 0}};
    double lowest = 0, highest = -1e9;
    std::vector<double> turns;  // times of the lowest points
    for (int i = 1; i <= 160; ++i) {
        FLOTSAM_CHECK(stepper.step(bar.bodies, {&bar.properties}, {0, -2, 0}, (i - 1) * dt, dt).converged);
        curve.push_back({i * dt, bar.moved(bar.cells.x, layers / 2).y * 1e3});
        const std::size_t n = curve.size();
        lowest = std::min(lowest, curve.back()[1]);
        if (i > 50) highest = larger(highest, curve.back()[1]);
        if (n > 2 && curve[n - 2][1] < curve[n - 3][1] && curve[n - 2][1] < curve[n - 1][1]) {
            // The vertex of the parabola through the three points.
            const double a = curve[n - 3][1], b = curve[n - 2][1], c = curve[n - 1][1];
            turns.push_back(dt * (double(n - 2) + 0.5 * (a - c) / (a - 2 * b + c)));
        }
    }
    const double period = turns.size() >= 2 ? turns[1] - turns[0] : 0;
    run.report({"", "CSM3", "", layers, "uy of A, mean [mm]", 0.5 * (lowest + highest), -63.607, 2});
    run.report({"", "CSM3", "", layers, "uy of A, amplitude [mm]", 0.5 * (highest - lowest), 65.160, 2});
    run.report({"", "CSM3", "", layers, "frequency [Hz]", period > 0 ? 1 / period : 0, 1.0995, 2});
    run.show({"",
              "",
              layers,
              "Turek & Hron CSM3: tip of a bar under gravity",
              "time",
              "s",
              "uy",
              "mm",
              "",
              curve,
              {}});
}

}  // namespace flotsam

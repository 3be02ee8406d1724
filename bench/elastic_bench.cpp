// Elastic bodies: a step against one that builds its matrix anew and factorises it from scratch.
#include <fmt/format.h>

#include <Eigen/SparseCholesky>

#include "bench/bench.h"
#include "core/stopwatch.h"
#include "solid/elastic/elastic_step.h"

namespace flotsam {

namespace {

// A cube of jelly, held at one side, sags.
ElasticProperties held_cube(Int3 cells) {
    ElasticMaterial material;
    material.young = 1e6;
    ElasticProperties cube;
    cube.mesh =
        std::make_shared<ElasticMesh>(make_elastic_mesh(tet_lattice({0, 0, 0}, {1, 1, 1}, cells), material));
    Pin pin;
    for (int n = 0; n < int(cube.mesh->rest.nodes.size()); ++n)
        if (cube.mesh->rest.nodes[n].x == 0) pin.nodes.push_back(n);
    cube.pins = {pin};
    return cube;
}

// What a textbook does in every step: triplets, a new sparse matrix, a new factorisation, one solve [ms].
double from_scratch(const ElasticBody& body, const ElasticProperties& cube, double dt) {
    std::vector<Vec3> rhs = outer_forces(body, cube, {0, -9.81, 0});
    for (Vec3& impulse : rhs) impulse *= dt;
    Stopwatch watch;
    std::vector<ElementForces> forces;
    std::vector<ElementStiffness> stiffness;
    evaluate_elements(body.mesh->batches, body.mesh->material, body.position,
                      {.forces = &forces, .stiffness = &stiffness});
    std::vector<Eigen::Triplet<double>> triplets;
    for (std::size_t t = 0; t < stiffness.size(); ++t)
        for (int a = 0; a < 4; ++a)
            for (int b = 0; b < 4; ++b)
                for (int i = 0; i < 3; ++i)
                    for (int j = 0; j < 3; ++j) {
                        const int row = 3 * body.mesh->rest.tets[t][a] + i,
                                  column = 3 * body.mesh->rest.tets[t][b] + j;
                        if (row < column) continue;
                        const double k = a <= b ? stiffness[t][pair_number(a, b)].row[i][j]
                                                : stiffness[t][pair_number(b, a)].row[j][i];
                        triplets.emplace_back(row, column, dt * dt * k);
                    }
    const Eigen::Index size = Eigen::Index(3 * body.position.size());
    for (Eigen::Index d = 0; d < size; ++d) triplets.emplace_back(d, d, body.mesh->mass[d / 3]);
    Eigen::SparseMatrix<double> matrix(size, size);
    matrix.setFromTriplets(triplets.begin(), triplets.end());
    const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factor(matrix);
    const Eigen::VectorXd v = factor.solve(Eigen::Map<const Eigen::VectorXd>(&rhs[0].x, size));
    return watch.lap() + 0 * v[0];
}

}  // namespace

void bench_elastic(bool quick, const std::function<void(const BenchRow&)>& report) {
    constexpr double dt = 1 / 24.0;
    double first = 0;
    for (const Int3 cells : quick ? std::vector<Int3>{{10, 10, 10}, {14, 14, 14}}
                                  : std::vector<Int3>{{20, 20, 19}, {26, 26, 25}, {33, 32, 32}}) {
        const ElasticProperties cube = held_cube(cells);
        const double tets = double(cube.mesh->rest.tets.size());
        const std::string name = fmt::format("{:.0f} tetrahedra", tets);
        std::vector<ElasticBody> bodies{make_elastic_body(0, cube, {})};
        ElasticStepper stepper;
        ElasticReport sum;
        double time = 0;
        constexpr int warming = 3, steps = 8;
        for (int i = -warming; i < steps; ++i) {
            Stopwatch watch;
            const ElasticReport step = stepper.step(bodies, {&cube}, {0, -9.81, 0}, 0, dt);
            if (i < 0) continue;
            time += watch.lap() / steps;
            sum.newton_steps += step.newton_steps;
            sum.solver_iterations += step.solver_iterations;
        }
        report({name + ", step of 1/24 s", time, "ms"});
        report({name + ", Newton steps in it", double(sum.newton_steps) / steps, "1"});
        report({name + ", iterations in it", double(sum.solver_iterations) / steps, "1"});
        report({name + ", step for each tetrahedron", 1e3 * time / tets, "us", first, "the smallest"});
        if (first == 0) {
            first = 1e3 * time / tets;
            report({name + ", step", time, "ms", from_scratch(bodies[0], cube, dt),
                    "triplets and factors from scratch"});
        }
    }
}

}  // namespace flotsam

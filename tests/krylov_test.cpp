// Each Krylov method against a dense factorisation.
#include <doctest/doctest.h>

#include <Eigen/Dense>

#include <cmath>

#include "core/random.h"
#include "linalg/eigen_space.h"

using namespace flotsam;

namespace {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

constexpr int size = 30;

Vector noise(int seed) {
    Vector v(size);
    for (int i = 0; i < size; ++i) v[i] = 2 * uniform(combine(std::uint64_t(seed), std::uint64_t(i))) - 1;
    return v;
}
Matrix any_matrix() {
    Matrix m(size, size);
    for (int i = 0; i < size; ++i) m.col(i) = noise(100 + i);
    return m;
}
// Symmetric with the eigenvalues that `value` gives for 0 ... size - 1.
template <class Value>
Matrix symmetric(const Value& value) {
    const Matrix q = any_matrix().householderQr().householderQ();
    Vector d(size);
    for (int i = 0; i < size; ++i) d[i] = value(i);
    return q * d.asDiagonal() * q.transpose();
}

auto times(const Matrix& m) {
    return [&m](const Vector& x, Vector& y) {
        y = m * x;
        return x.dot(y);
    };
}

const SolveTolerance exact{1e-11, 0, 10 * size};

}  // namespace

TEST_CASE(
    "conjugate gradients: as many iterations as there are different eigenvalues, preconditioned or not") {
    const Matrix a = symmetric([](int i) { return 1.0 + i % 5; });
    const Vector b = noise(1), x_exact = a.ldlt().solve(b);
    EigenSpace space{size};
    const krylov::Goal goal(b.norm(), size, exact);
    const Matrix one = Matrix::Identity(size, size),
                 better = symmetric([](int i) { return (i % 2 + 1) / (1.0 + i % 5); });
    for (const Matrix* m : {&one, &better}) {
        Vector x = noise(2), r = b - a * x, z = space.zero();
        krylov::ConjugateDirections at(space, r, r.norm());
        const krylov::Outcome outcome =
            krylov::conjugate_gradients(space, times(a), times(*m), x, z, at, goal);
        CHECK((x - x_exact).norm() < 1e-9 * x_exact.norm());
        CHECK(outcome.iterations == (m == &one ? 5 : 2));  // M^-1 A has the eigenvalues 1 and 2
        CHECK(outcome.residual <= goal.wanted);
        CHECK((at.r - (b - a * x)).norm() < 1e-9 * b.norm());
    }
}

TEST_CASE("conjugate gradients go on from where they were left, and end where A is not positive definite") {
    const Matrix a = symmetric([](int i) { return i + 1.0; });
    const Vector b = noise(1);
    EigenSpace space{size};
    const krylov::Goal goal(b.norm(), size, exact);
    const Matrix one = Matrix::Identity(size, size);
    const auto solved = [&](std::initializer_list<double> stops) {
        Vector x = space.zero(), z = space.zero();
        krylov::ConjugateDirections at(space, b, b.norm());
        for (const double stop : stops) {
            krylov::Goal rough = goal;
            rough.wanted = stop * b.norm();
            const krylov::Outcome outcome =
                krylov::conjugate_gradients(space, times(a), times(one), x, z, at, rough);
            CHECK(outcome.residual <= rough.wanted);
            CHECK(outcome.residual > goal.wanted);
        }
        (void)krylov::conjugate_gradients(space, times(a), times(one), x, z, at, goal);
        return std::pair{x, at.iterations};
    };
    const auto [straight, iterations] = solved({});
    CHECK(solved({0.1, 0.01}) == std::pair{straight, iterations});

    const Matrix wrong = -a;
    Vector x = space.zero(), z = space.zero();
    krylov::ConjugateDirections at(space, b, b.norm());
    CHECK(krylov::conjugate_gradients(space, times(wrong), times(one), x, z, at, goal).iterations == 0);
    CHECK(x.norm() == 0);
}

TEST_CASE("MINRES solves what is not definite; its preconditioner shortens the way") {
    const Matrix a = symmetric([](int i) { return (i % 3 ? 1 : -1) * std::pow(10.0, i % 4); });
    const Vector b = noise(3), x_exact = a.partialPivLu().solve(b);
    EigenSpace space{size};
    const krylov::Goal goal(b.norm(), size, exact);
    const Matrix one = Matrix::Identity(size, size),
                 better = symmetric([](int i) { return std::pow(10.0, -(i % 4)); });
    for (const Matrix* m : {&one, &better}) {
        Vector x = noise(4);
        const auto residual = [&] { return (b - a * x).norm(); };
        const krylov::Outcome outcome =
            krylov::minres(space, times(a), times(*m), x, b - a * x, residual, goal);
        CHECK((x - x_exact).norm() < 1e-9 * x_exact.norm());
        // 8 eigenvalues, or 1 and -1; the residual is asked for after ten iterations, or when none is left.
        CHECK(outcome.iterations <= (m == &one ? 20 : 10));
    }
}

TEST_CASE("BiCGSTAB and flexible GMRES solve what is not symmetric") {
    Matrix a = any_matrix();
    a.diagonal().array() += 8;
    const Vector b = noise(5), x_exact = a.partialPivLu().solve(b);
    const Matrix jacobi = a.diagonal().cwiseInverse().asDiagonal();
    EigenSpace space{size};
    const krylov::Goal goal(b.norm(), size, exact);
    {
        Vector x = noise(6);
        const krylov::Outcome outcome = krylov::bicgstab(space, times(a), times(jacobi), x, b - a * x, goal);
        CHECK((x - x_exact).norm() < 1e-9 * x_exact.norm());
        CHECK(outcome.iterations <= size);
    }
    for (const int most_directions : {size, 12}) {
        Vector x = noise(6);
        int calls = 0;
        // Another preconditioner every time.
        const auto expand = [&](const Vector& v) {
            Vector z = jacobi * v * (1 + 0.3 * (calls % 3)) + 0.002 * (calls % 2) * noise(7);
            ++calls;
            Vector w = a * z;
            return std::pair{z, w};
        };
        const krylov::Outcome outcome = krylov::flexible_gmres(
            space, expand, x, [&] { return Vector(b - a * x); }, goal, most_directions);
        CHECK((x - x_exact).norm() < 1e-9 * x_exact.norm());
        CHECK(outcome.iterations == calls);
        if (most_directions == size) CHECK(outcome.iterations <= size);
    }
}

TEST_CASE("BiCGSTAB: as many iterations as there are different eigenvalues, preconditioned or not") {
    const Matrix basis = Matrix::Identity(size, size) + 0.1 * any_matrix(), back = basis.inverse();
    const auto with_eigenvalues = [&](const auto& value) {
        Vector d(size);
        for (int i = 0; i < size; ++i) d[i] = value(i);
        return Matrix(basis * d.asDiagonal() * back);
    };
    const Matrix a = with_eigenvalues([](int i) { return 1.0 + i % 5; });
    const Vector b = noise(1), x_exact = a.partialPivLu().solve(b);
    CHECK((a - a.transpose()).norm() > 0.1 * a.norm());
    EigenSpace space{size};
    const krylov::Goal goal(b.norm(), size, exact);
    const Matrix one = Matrix::Identity(size, size),
                 better = with_eigenvalues([](int i) { return (i % 2 + 1) / (1.0 + i % 5); });
    for (const Matrix* m : {&one, &better}) {
        Vector x = noise(2);
        const krylov::Outcome outcome = krylov::bicgstab(space, times(a), times(*m), x, b - a * x, goal);
        CHECK((x - x_exact).norm() < 1e-9 * x_exact.norm());
        CHECK(outcome.iterations == (m == &one ? 5 : 2));  // A M^-1 has the eigenvalues 1 and 2
    }
}

TEST_CASE("a goal is the larger of what is relative and what counts as nothing") {
    const krylov::Goal goal(100, 25, {1e-3, 1e-5, 7});
    CHECK(goal.wanted == 0.1);
    CHECK(krylov::Goal(1e-6, 25, {1e-3, 1e-5, 7}).wanted == 5e-5);
    CHECK(krylov::Goal(1e-6, 25, {1e-3, 1e-5, 7}).nothing_to_solve());
    CHECK(!goal.nothing_to_solve());
    CHECK(goal.report(0.9, 3).converged);
    CHECK(!goal.report(1.1, 3).converged);
    CHECK(!goal.report(std::nan(""), 3).converged);
    CHECK(goal.report(0.9, 3).residual == 0.9 / 100);
}

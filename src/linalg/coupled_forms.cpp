#include "linalg/coupled_forms.h"

#include <algorithm>
#include <cmath>

#include "linalg/eigen_space.h"

namespace flotsam {

namespace {

using Sparse = EigenSparse;
using Vector = Eigen::VectorXd;
using Triplets = std::vector<Eigen::Triplet<double, std::int32_t>>;

// Share of the lumped matrix that eliminates v; the rest keeps Z2 definite [Zarifi17 5.2.2].
constexpr double sigma = 0.9;

// The blocks, with the held directions left out.
struct Parts {
    std::vector<int> unknown;  // unknown[3 n + a] is the index of component a of node n; -1 where it is held
    std::int32_t count = 0;    // number of components that are not held
    Sparse b, n, z;
    Vector lumped, e, w;
    double dt;
};

Sparse from_triplets(std::int32_t rows, std::int32_t columns, const Triplets& triplets) {
    Sparse m(rows, columns);
    m.setFromTriplets(triplets.begin(), triplets.end());
    m.prune([](std::int32_t, std::int32_t, double value) { return value != 0; });
    return m;
}

Sparse full(const SymmetricMatrix& matrix) {
    // Our rows of the lower triangle are the columns of the upper one.
    const Eigen::Map<const Sparse> upper(matrix.rows(), matrix.rows(), Eigen::Index(matrix.value.size()),
                                         matrix.row_begin.data(), matrix.column.data(), matrix.value.data());
    return upper.selfadjointView<Eigen::Upper>();
}

Parts parts_of(const CoupledSystem& system) {
    const SolidEquation& solid = system.solid;
    Parts parts;
    parts.dt = system.dt;
    for (const unsigned char held : solid.held)
        for (int a = 0; a < 3; ++a) parts.unknown.push_back(held >> a & 1 ? -1 : parts.count++);
    const auto place = [&](std::int64_t node, int axis) { return parts.unknown[3 * node + axis]; };

    parts.b = full(system.liquid);
    parts.e = Eigen::Map<const Vector>(system.rhs.data(), Eigen::Index(system.rhs.size()));
    Triplets n, z;
    for (const InterfaceEntry& entry : system.interface)
        for (int a = 0; a < 3; ++a)
            if (place(entry.node, a) >= 0)
                n.emplace_back(std::int32_t(entry.cell), place(entry.node, a), entry.area[a]);
    parts.n = from_triplets(system.liquid.rows(), parts.count, n);
    for (const SolidEquation::Part& part : solid.parts) {
        const BlockMatrix& s = *part.matrix;
        for (int r = 0; r < s.rows(); ++r)
            for (int k = s.row_begin[r]; k < s.row_begin[r + 1]; ++k)
                for (int i = 0; i < 3; ++i)
                    for (int j = 0; j < 3; ++j) {
                        const int row = place(part.first + r, i), column = place(part.first + s.column[k], j);
                        if (row >= 0 && column >= 0)
                            z.emplace_back(row, column, s.value[k].row[i][j] / system.dt);
                    }
    }
    for (const BlockRow& row : solid.rows)
        for (int k = 0; k < row.count; ++k)
            for (int l = 0; l < row.count; ++l)
                for (int i = 0; i < 3; ++i)
                    for (int j = 0; j < 3; ++j) {
                        const int here = place(row.block[k], i), there = place(row.block[l], j);
                        if (here >= 0 && there >= 0)
                            z.emplace_back(
                                here, there,
                                row.stiffness * row.coefficient[k][i] * row.coefficient[l][j] / system.dt);
                    }
    parts.z = from_triplets(parts.count, parts.count, z);
    parts.lumped.resize(parts.count);
    parts.w.resize(parts.count);
    for (std::size_t k = 0; k < solid.lumped.size(); ++k)
        for (int a = 0; a < 3; ++a)
            if (const int u = place(std::int64_t(k), a); u >= 0) {
                parts.lumped[u] = solid.lumped[k] / system.dt;
                parts.w[u] = -solid.push[k][a] / system.dt;
            }
    return parts;
}

// R, including sqrt(zeta_K): our z is the thesis's times that.
Sparse factors_of(const CoupledSystem& system, const Parts& parts) {
    Triplets r;
    const std::vector<BlockRow>& factors = system.solid.factors;
    for (std::size_t f = 0; f < factors.size(); ++f)
        for (int k = 0; k < factors[f].count; ++k)
            for (int a = 0; a < 3; ++a)
                if (const int u = parts.unknown[3 * factors[f].block[k] + a]; u >= 0)
                    r.emplace_back(std::int32_t(f), u,
                                   std::sqrt(factors[f].stiffness / parts.dt) * factors[f].coefficient[k][a]);
    return from_triplets(std::int32_t(factors.size()), parts.count, r);
}

// (a, b; b^T, c); only the upper triangle of c is used.
SymmetricMatrix stacked(const Sparse& a, const Sparse& b, const Sparse& c) {
    SymmetricMatrix m;
    const auto append = [&](const Sparse& from, std::int32_t column, std::int32_t first, std::int32_t last) {
        for (Sparse::InnerIterator it(from, column); it && it.row() <= last; ++it)
            m.add(first + it.row(), it.value());
    };
    const auto size = std::int32_t(a.rows());
    for (std::int32_t k = 0; k < size; ++k) {
        append(a, k, 0, k);
        m.end_row();
    }
    for (std::int32_t k = 0; k < c.rows(); ++k) {
        append(b, k, 0, size);
        append(c, k, size, k);
        m.end_row();
    }
    return m;
}

Vector stacked(const Vector& a, const Vector& b) {
    Vector both(a.size() + b.size());
    both << a, b;
    return both;
}

AssembledForm form_of(SymmetricMatrix matrix, const Vector& first, const Vector& second, double alpha) {
    const Vector rhs = stacked(first, second);
    return {std::move(matrix), {rhs.begin(), rhs.end()}, std::int32_t(first.size()), alpha};
}

// `r` is R of the factored form.
AssembledForm assemble(const Parts& s, const Sparse& r, CoupledForm form, double alpha) {
    if (form == CoupledForm::indefinite)  // [Eq. 5.17]
        return form_of(stacked(s.b, alpha * s.n, -alpha * alpha * s.z), s.e, alpha * s.w, alpha);
    if (form == CoupledForm::factored) {
        const Vector inverse = s.lumped.cwiseInverse();  // 1 / (zeta_M M)
        const Sparse n = s.n * inverse.asDiagonal(), rt = r.transpose();
        Sparse one(r.rows(), r.rows());
        one.setIdentity();
        return form_of(stacked(s.b + Sparse(n * s.n.transpose()), -Sparse(n * rt),    // [Eq. 5.43]
                               one + Sparse(Sparse(r * inverse.asDiagonal()) * rt)),  // [Eq. 5.45]
                       s.e + n * s.w, -(r * inverse.cwiseProduct(s.w)), 1);
    }
    const Vector z1 = sigma * s.lumped, inverse = z1.cwiseInverse();
    Sparse z2 = s.z;  // [Eq. 5.31]
    z2.diagonal() -= z1;
    const Sparse n = s.n * inverse.asDiagonal();
    const Vector c1 = s.e + n * s.w, c2 = -(z2 * inverse.cwiseProduct(s.w));  // [Eq. 5.25]
    // Where nothing acts on the solids or the liquid, the norms give no scale.
    if (alpha == 0) alpha = c1.norm() > 0 && c2.norm() > 0 ? c1.norm() / c2.norm() : 1;
    const Sparse a11 = s.b + Sparse(n * s.n.transpose());                                   // [Eq. 5.27]
    const Sparse a12 = -Sparse(n * z2);                                                     // [Eq. 5.28]
    const Sparse a22 = z2 + Sparse(z2 * (inverse.asDiagonal() * z2));                       // [Eq. 5.30]
    return form_of(stacked(a11, alpha * a12, alpha * alpha * a22), c1, alpha * c2, alpha);  // [Eq. 5.36]
}

SolveReport solve_bicgstab(const SymmetricMatrix& matrix, std::span<const double> b, std::span<double> x,
                           const SolveTolerance& tolerance) {
    const Sparse a = full(matrix);
    const Eigen::Map<const Vector> rhs(b.data(), Eigen::Index(b.size()));
    const krylov::Goal goal(rhs.norm(), double(b.size()), tolerance);
    if (goal.norm == 0) return std::fill(x.begin(), x.end(), 0.0), SolveReport{.converged = true};
    EigenSpace space{rhs.size()};
    const Eigen::IncompleteLUT<double, std::int32_t> factors(a);
    Vector unknown = Eigen::Map<const Vector>(x.data(), rhs.size());
    const krylov::Outcome outcome =
        krylov::bicgstab(space, times(a), inverse_of(factors), unknown, rhs - a * unknown, goal);
    std::copy(unknown.begin(), unknown.end(), x.begin());
    return goal.report((rhs - a * unknown).norm(), outcome.iterations);
}

// A^-1 by the SPD form, whatever the form of A is.
class FormInverse {
  public:
    FormInverse(const Parts& parts, CoupledForm form, double alpha)
        : parts_(parts),
          form_(form),
          spd_(assemble(parts, {}, CoupledForm::spd, alpha)),
          matrix_(full(spd_.matrix)) {
        inverse_.compute(matrix_);
    }
    Vector operator()(const Vector& b) const {
        if (form_ == CoupledForm::spd) return solved(b);
        // The SPD form's right-hand side for any e and w [Eq. 5.25]; its velocities are scaled alike.
        const Vector by_z1 = b.tail(parts_.count).cwiseQuotient(sigma * spd_.alpha * parts_.lumped);
        Vector c = b;
        c.head(spd_.pressures) += parts_.n * by_z1;
        c.tail(parts_.count) = -spd_.alpha * (parts_.z * by_z1 - sigma * parts_.lumped.cwiseProduct(by_z1));
        return solved(c);
    }

  private:
    Vector solved(const Vector& b) const {
        Vector x = Vector::Zero(b.size());
        const SolveTolerance tolerance{.relative = 1e-8, .absolute = 0, .max_iterations = 20000};
        (void)conjugate_gradients(matrix_, inverse_, b, x, {b.norm(), double(b.size()), tolerance});
        return x;
    }

    const Parts& parts_;
    CoupledForm form_;
    AssembledForm spd_;
    Sparse matrix_;
    IncompleteCholesky inverse_;
};

}  // namespace

std::optional<CoupledForm> coupled_form(Solver solver) {
    switch (solver) {
        case Solver::spd:
            return CoupledForm::spd;
        case Solver::factored:
            return CoupledForm::factored;
        case Solver::indefinite_bicgstab:
        case Solver::indefinite_minres:
            return CoupledForm::indefinite;
        default:
            return {};
    }
}

AssembledForm assemble(const CoupledSystem& system, CoupledForm form, double alpha) {
    const Parts parts = parts_of(system);
    return assemble(parts, form == CoupledForm::factored ? factors_of(system, parts) : Sparse(), form, alpha);
}

SolveReport solve(const CoupledSystem& system, const SolverSettings& settings, std::span<double> p,
                  std::span<Vec3> v) {
    const CoupledForm form = *coupled_form(settings.solver);
    const Parts parts = parts_of(system);
    const Sparse r = form == CoupledForm::factored ? factors_of(system, parts) : Sparse();
    // The thesis scales the SPD form alone.
    const AssembledForm assembled = assemble(parts, r, form, form == CoupledForm::spd ? settings.alpha : 1);

    const SolidEquation& solid = system.solid;
    Vector moved(parts.count);  // v - from
    for (std::size_t k = 0; k < parts.unknown.size(); ++k)
        if (parts.unknown[k] >= 0)
            moved[parts.unknown[k]] = solid.before[k / 3][k % 3] - solid.from[k / 3][k % 3];
    const Eigen::Map<Vector> pressure(p.data(), Eigen::Index(p.size()));
    Vector x = stacked(pressure,
                       form == CoupledForm::factored ? Vector(r * moved) : Vector(moved / assembled.alpha));
    const std::span<double> all(x.data(), std::size_t(x.size()));
    const SolveReport report =
        settings.solver == Solver::indefinite_bicgstab
            ? solve_bicgstab(assembled.matrix, assembled.rhs, all, settings.tolerance)
        : settings.solver == Solver::indefinite_minres
            ? solve_minres(assembled.matrix, assembled.pressures, assembled.rhs, all, settings.tolerance)
            : solve_iccg(assembled.matrix, assembled.rhs, all, settings.tolerance);

    std::copy_n(x.begin(), p.size(), p.begin());
    const Vector rest = x.tail(x.size() - Eigen::Index(p.size()));
    moved = form == CoupledForm::factored
                ? Vector((parts.n.transpose() * pressure - r.transpose() * rest - parts.w)
                             .cwiseQuotient(parts.lumped))  // [Eq. 5.41]
                : Vector(assembled.alpha * rest);
    for (std::size_t k = 0; k < parts.unknown.size(); ++k) {
        v[k / 3][k % 3] = solid.from[k / 3][k % 3];
        if (parts.unknown[k] >= 0) v[k / 3][k % 3] += moved[parts.unknown[k]];
    }
    return report;
}

SolveReport solve_minres(const SymmetricMatrix& matrix, std::int32_t split, std::span<const double> b,
                         std::span<double> x, const SolveTolerance& tolerance) {
    const Sparse a = full(matrix);
    const Eigen::Map<const Vector> rhs(b.data(), Eigen::Index(b.size()));
    const krylov::Goal goal(rhs.norm(), double(b.size()), tolerance);
    if (goal.norm == 0) return std::fill(x.begin(), x.end(), 0.0), SolveReport{.converged = true};
    const Eigen::Index rest = a.rows() - split;
    const IncompleteCholesky first(Sparse(a.topLeftCorner(split, split)));
    const Sparse corner = a.bottomRightCorner(rest, rest);
    const bool negative = rest > 0 && corner.coeff(0, 0) < 0;
    const IncompleteCholesky second(negative ? Sparse(-corner) : corner);
    const auto precondition = [&](const Vector& r, Vector& z) {
        z = stacked(first.solve(r.head(split)), second.solve(r.tail(rest)));
        return r.dot(z);
    };
    EigenSpace space{rhs.size()};
    Vector unknown = Eigen::Map<const Vector>(x.data(), rhs.size());
    const auto residual = [&] { return (rhs - a * unknown).norm(); };
    const krylov::Outcome outcome =
        krylov::minres(space, times(a), precondition, unknown, rhs - a * unknown, residual, goal);
    std::copy(unknown.begin(), unknown.end(), x.begin());
    const double left = residual();
    return {left <= goal.wanted, outcome.iterations, left / goal.norm};
}

double log_condition(const CoupledSystem& system, CoupledForm form, double alpha) {
    const Parts parts = parts_of(system);
    const Sparse a = full(assemble(parts, {}, form, alpha).matrix);
    double norm = 0;
    for (Eigen::Index k = 0; k < a.cols(); ++k) norm = std::max(norm, a.col(k).cwiseAbs().sum());
    const FormInverse inverse(parts, form, alpha);
    // |A^-1 x| over |x| = 1 is largest at a corner; go uphill from the middle. A is symmetric.
    Vector x = Vector::Constant(a.rows(), 1 / double(a.rows()));
    double largest = 0;
    for (int round = 0; round < 5; ++round) {
        const Vector y = inverse(x);
        if (y.lpNorm<1>() <= largest) break;
        largest = y.lpNorm<1>();
        const Vector slope = inverse(y.unaryExpr([](double value) { return value < 0 ? -1.0 : 1.0; }));
        Eigen::Index steepest = 0;
        if (slope.cwiseAbs().maxCoeff(&steepest) <= slope.dot(x)) break;
        x.setZero();
        x[steepest] = 1;
    }
    return std::log10(norm * largest);
}

}  // namespace flotsam

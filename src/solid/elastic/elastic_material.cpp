#include "solid/elastic/elastic_material.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/parallel.h"

namespace flotsam {

namespace {

// One number of each of eight elements, so that the compiler vectorizes over them.
constexpr int lane_count = 8;
using Lanes = Eigen::Array<double, lane_count, 1>;
using Mask = Eigen::Array<bool, lane_count, 1>;
using Vector = std::array<Lanes, 3>;
using Matrix = std::array<Vector, 3>;  // rows

Lanes dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vector cross(const Vector& a, const Vector& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Vector scaled(const Vector& a, const Lanes& s) { return {a[0] * s, a[1] * s, a[2] * s}; }
Vector select(const Mask& m, const Vector& a, const Vector& b) {
    return {m.select(a[0], b[0]), m.select(a[1], b[1]), m.select(a[2], b[2])};
}

// Diagonalises symmetric matrices by Jacobi's rotations: the diagonal of `s` gets the eigenvalues, `v` (rows)
// the eigenvectors. Each sweep squares the error or better; five are enough for doubles.
void diagonalise(Matrix& s, Matrix& v) {
    constexpr std::pair<int, int> places[] = {{0, 1}, {0, 2}, {1, 2}};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) v[i][j] = i == j ? 1.0 : 0.0;
    for (int sweep = 0; sweep < 5; ++sweep)
        for (const auto& [p, q] : places) {
            const int r = 3 - p - q;
            const Lanes difference = s[q][q] - s[p][p], off = s[p][q];
            const Lanes root = (difference * difference + 4 * off * off).sqrt();
            const Lanes sign = (difference < 0).select(Lanes::Constant(-1), Lanes::Constant(1));
            // The smaller of the two angles; the tiny number is for matrices that are diagonal there.
            const Lanes t = sign * 2 * off / (difference.abs() + root + 1e-300);
            const Lanes c = 1 / (1 + t * t).sqrt(), n = t * c;
            s[p][p] -= t * off;
            s[q][q] += t * off;
            s[p][q] = s[q][p] = Lanes::Zero();
            const Lanes rp = s[r][p], rq = s[r][q];
            s[r][p] = s[p][r] = c * rp - n * rq;
            s[r][q] = s[q][r] = n * rp + c * rq;
            for (int k = 0; k < 3; ++k) {
                const Lanes vp = v[p][k], vq = v[q][k];
                v[p][k] = c * vp - n * vq;
                v[q][k] = n * vp + c * vq;
            }
        }
}

// F = sum of s_i u_i v_i^T with right-handed u and v, s_0 >= s_1 >= |s_2|: the last is negative for an
// element that is inside out. Then u v^T is the nearest rotation, whatever F is.
struct Decomposition {
    Matrix u, v;  // rows are the vectors
    Vector s;
};

Decomposition decompose(const Matrix& f) {
    Matrix square;  // F^T F [Zarifi17 Eq. 3.56]
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) square[i][j] = f[0][i] * f[0][j] + f[1][i] * f[1][j] + f[2][i] * f[2][j];
    Decomposition d;
    diagonalise(square, d.v);
    constexpr std::pair<int, int> swaps[] = {{0, 1}, {1, 2}, {0, 1}};
    for (const auto& [a, b] : swaps) {
        const Mask wrong = square[a][a] < square[b][b];
        const Vector va = d.v[a], vb = d.v[b];
        d.v[a] = select(wrong, vb, va);
        d.v[b] = select(wrong, scaled(va, Lanes::Constant(-1)), vb);  // still right-handed
        const Lanes ea = square[a][a], eb = square[b][b];
        square[a][a] = wrong.select(eb, ea);
        square[b][b] = wrong.select(ea, eb);
    }
    const auto image = [&](const Vector& v) { return Vector{dot(f[0], v), dot(f[1], v), dot(f[2], v)}; };
    const Vector first = image(d.v[0]), second = image(d.v[1]), third = image(d.v[2]);
    const Lanes first_length = dot(first, first).sqrt();
    // An element collapsed to a point has no direction of its own.
    d.u[0] = select(first_length > 1e-150, scaled(first, 1 / (first_length + 1e-300)), d.v[0]);
    const Lanes along = dot(d.u[0], second);
    Vector rest;
    for (int k = 0; k < 3; ++k) rest[k] = second[k] - along * d.u[0][k];
    const Lanes rest_length = dot(rest, rest).sqrt();
    // For an element collapsed to a line: any perpendicular direction.
    const Mask not_x = d.u[0][0].abs() < 0.7;
    const Vector axis = select(not_x, {Lanes::Constant(1), Lanes::Zero(), Lanes::Zero()},
                               {Lanes::Zero(), Lanes::Constant(1), Lanes::Zero()});
    const Vector across = cross(d.u[0], axis);
    d.u[1] = select(rest_length > 1e-12 * first_length, scaled(rest, 1 / (rest_length + 1e-300)),
                    scaled(across, 1 / dot(across, across).sqrt()));
    d.u[2] = cross(d.u[0], d.u[1]);
    d.s = {dot(d.u[0], first), dot(d.u[1], second), dot(d.u[2], third)};
    return d;
}

// The derivatives of an isotropic energy density in the axes of the decomposition. Its second derivative has
// a 3 x 3 block for stretching, and for each pair of axes one number for twisting and one for shearing:
// (p_i + p_j) / (s_i + s_j) and (p_i - p_j) / (s_i - s_j) [Irving04, Smith19].
struct Response {
    Lanes energy;
    Vector p;             // dPsi / ds
    Matrix stretch;       // d^2 Psi / ds ds
    Vector twist, shear;  // of the pair without axis k
};

// All models are sums of a term with mu and one with lambda, so elements may stand for one of them.
struct Lame {
    Lanes mu, lambda;
};

Response respond(const Vector& s, ElasticModel model, const Lame& lame) {
    Response r;
    const auto& [mu, lambda] = lame;
    const Lanes trace = s[0] + s[1] + s[2] - 3;
    const auto others = [](int k) { return std::pair{(k + 1) % 3, (k + 2) % 3}; };
    switch (model) {
        case ElasticModel::linear:
        case ElasticModel::corotational:
            // Psi = mu |S - 1|^2 + lambda / 2 tr(S - 1)^2 [Zarifi17 Eq. 3.12, with the strain S - 1].
            r.energy = 0.5 * lambda * trace * trace;
            for (int i = 0; i < 3; ++i) {
                const Lanes e = s[i] - 1;
                r.energy += mu * e * e;
                r.p[i] = 2 * mu * e + lambda * trace;
                for (int j = 0; j < 3; ++j) r.stretch[i][j] = lambda + (i == j ? 2.0 : 0.0) * mu;
                const auto [a, b] = others(i);
                // The bound avoids division by zero for flat elements. These are compressed and do not resist
                // twisting: the number is negative there and left out.
                r.twist[i] = (2 * mu * (s[a] + s[b] - 2) + 2 * lambda * trace) / (s[a] + s[b]).max(1e-8);
                r.shear[i] = 2 * mu;
            }
            break;
        case ElasticModel::neo_hookean: {
            // [Smith18 Eq. 13-14, Section 3.4]: these constants give Lame's at rest. Their alpha is
            // 1 + mu / l.
            const Lanes m = 4.0 / 3 * mu, l = lambda + 5.0 / 6 * mu;
            const Lanes square = s[0] * s[0] + s[1] * s[1] + s[2] * s[2], volume = s[0] * s[1] * s[2];
            const Lanes push = l * (volume - 1) - mu, soft = 1 / (square + 1);  // l (J - alpha)
            // Zero at rest, where square + 1 is 4.
            r.energy = 0.5 * m * (square - 3 - ((square + 1) / 4).log()) +
                       (0.5 * l * (volume - 1) - mu) * (volume - 1);
            for (int i = 0; i < 3; ++i) {
                const auto [a, b] = others(i);
                r.p[i] = m * s[i] * (1 - soft) + push * s[a] * s[b];
                r.stretch[i][i] =
                    m * (1 - soft) + 2 * m * soft * soft * s[i] * s[i] + l * s[a] * s[a] * s[b] * s[b];
                // For the pair (a, b); i is the third axis.
                r.stretch[a][b] = r.stretch[b][a] =
                    2 * m * soft * soft * s[a] * s[b] + (push + l * volume) * s[i];
                r.twist[i] = m * (1 - soft) + push * s[i];
                r.shear[i] = m * (1 - soft) - push * s[i];
            }
            break;
        }
        case ElasticModel::st_venant_kirchhoff: {
            Vector e;  // Green's strain [Zarifi17 Eq. 3.2]
            for (int i = 0; i < 3; ++i) e[i] = 0.5 * (s[i] * s[i] - 1);
            const Lanes t = e[0] + e[1] + e[2];
            r.energy = mu * (e[0] * e[0] + e[1] * e[1] + e[2] * e[2]) + 0.5 * lambda * t * t;
            for (int i = 0; i < 3; ++i) {
                const auto [a, b] = others(i);
                r.p[i] = s[i] * (2 * mu * e[i] + lambda * t);
                for (int j = 0; j < 3; ++j) r.stretch[i][j] = lambda * s[i] * s[j];
                r.stretch[i][i] += 2 * mu * e[i] + lambda * t + 2 * mu * s[i] * s[i];
                r.twist[i] = mu * (s[a] * s[a] - s[a] * s[b] + s[b] * s[b] - 1) + lambda * t;
                r.shear[i] = mu * (s[a] * s[a] + s[a] * s[b] + s[b] * s[b] - 1) + lambda * t;
            }
            break;
        }
    }
    return r;
}

// Removes the directions of negative stiffness.
void make_definite(Response& r, bool stretch_too) {
    for (int k = 0; k < 3; ++k) {
        r.twist[k] = r.twist[k].max(0.0);
        r.shear[k] = r.shear[k].max(0.0);
    }
    if (!stretch_too) return;
    Matrix values = r.stretch, vectors;
    diagonalise(values, vectors);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            r.stretch[i][j] = Lanes::Zero();
            for (int k = 0; k < 3; ++k)
                r.stretch[i][j] += values[k][k].max(0.0) * vectors[k][i] * vectors[k][j];
        }
}

struct Group {
    Lanes volume;
    Lame lame;
    Matrix f;
};

Mat3 gradient_of(const Elements& elements, const Elements::Element& element, const std::vector<Vec3>& x) {
    Mat3 f;
    for (int c = element.first; c < element.first + element.count; ++c)
        f = f + Mat3::outer(x[elements.node[c]], elements.gradient[c]);
    return f;
}

// The elements from `first` on. Lanes beyond the last element are copies of it.
Group load(const Elements& elements, std::int64_t first, const std::vector<Vec3>& x) {
    Group group;
    for (int lane = 0; lane < lane_count; ++lane) {
        const Elements::Element& element =
            elements.all[std::min(first + lane, std::int64_t(elements.all.size()) - 1)];
        group.volume[lane] = element.volume;
        group.lame.mu[lane] = element.mu;
        group.lame.lambda[lane] = element.lambda;
        const Mat3 f = gradient_of(elements, element, x);
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) group.f[i][j][lane] = f.row[i][j];
    }
    return group;
}

// Energy density and its derivatives at F, in the axes u and v.
struct State {
    Decomposition d;
    Response r;
    Matrix p;  // stress: diagonal except for the linear model, which has no such axes
};

State state_at(const Matrix& f, ElasticModel model, const Lame& lame) {
    State state;
    Matrix& p = state.p;
    for (Vector& row : p) row = {Lanes::Zero(), Lanes::Zero(), Lanes::Zero()};
    if (model != ElasticModel::linear) {
        state.d = decompose(f);
        state.r = respond(state.d.s, model, lame);
        for (int i = 0; i < 3; ++i) p[i][i] = state.r.p[i];
        return state;
    }
    // Strain (F + F^T) / 2 - 1, stress 2 mu strain + lambda trace [Zarifi17 Eq. 3.3, 3.8].
    const auto& [mu, lambda] = lame;
    state.r = respond({Lanes::Constant(1), Lanes::Constant(1), Lanes::Constant(1)}, model, lame);
    const Lanes trace = f[0][0] + f[1][1] + f[2][2] - 3;
    state.r.energy = 0.5 * lambda * trace * trace;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            const Lanes e = 0.5 * (f[i][j] + f[j][i]) - (i == j ? 1.0 : 0.0);
            state.r.energy += mu * e * e;
            p[i][j] = 2 * mu * e;
            if (i == j) p[i][j] += lambda * trace;
            state.d.u[i][j] = state.d.v[i][j] = Lanes::Constant(i == j ? 1 : 0);
        }
    return state;
}

// U^T p V: from the axes u and v to the world's.
Matrix turned_back(const Decomposition& d, const Matrix& p) {
    Matrix world;
    for (int i = 0; i < 3; ++i) {
        Vector half;
        for (int n = 0; n < 3; ++n) half[n] = d.u[0][i] * p[0][n] + d.u[1][i] * p[1][n] + d.u[2][i] * p[2][n];
        for (int k = 0; k < 3; ++k)
            world[i][k] = half[0] * d.v[0][k] + half[1] * d.v[1][k] + half[2] * d.v[2][k];
    }
    return world;
}

// dP_ik / dF_jl at [9 (3 i + k) + 3 j + l].
using Tangent = std::array<Lanes, 81>;

void find_tangent(const State& state, const Lanes& volume, Tangent& tangent) {
    const auto& [d, r, p] = state;
    // What P answers to a unit of F along each pair of axes m and n, and those pairs, in the world's axes.
    std::array<std::array<Lanes, 9>, 9> pair, answer;
    for (int m = 0; m < 3; ++m)
        for (int n = 0; n < 3; ++n)
            for (int i = 0; i < 3; ++i)
                for (int k = 0; k < 3; ++k) pair[3 * m + n][3 * i + k] = d.u[m][i] * d.v[n][k];
    for (int m = 0; m < 3; ++m)
        for (int n = 0; n < 3; ++n) {
            std::array<Lanes, 9>& out = answer[3 * m + n];
            if (m == n) {
                for (int q = 0; q < 9; ++q)
                    out[q] = volume * (r.stretch[m][0] * pair[0][q] + r.stretch[m][1] * pair[4][q] +
                                       r.stretch[m][2] * pair[8][q]);
                continue;
            }
            const int other = 3 - m - n;
            const Lanes same = 0.5 * volume * (r.shear[other] + r.twist[other]);
            const Lanes swapped = 0.5 * volume * (r.shear[other] - r.twist[other]);
            for (int q = 0; q < 9; ++q) out[q] = same * pair[3 * m + n][q] + swapped * pair[3 * n + m][q];
        }
    for (int a = 0; a < 9; ++a)
        for (int b = a; b < 9; ++b) {
            Lanes sum = pair[0][a] * answer[0][b];
            for (int mn = 1; mn < 9; ++mn) sum += pair[mn][a] * answer[mn][b];
            tangent[9 * a + b] = tangent[9 * b + a] = sum;
        }
}

void store(const Tangent& tangent, int lane, ElementStiffness& stiffness) {
    for (int k = 0; k < 3; ++k)
        for (int l = 0; l < 3; ++l)
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j)
                    stiffness[27 * k + 9 * l + 3 * i + j] = tangent[9 * (3 * i + k) + 3 * j + l][lane];
}

Mat3 lane_of(const Matrix& m, int lane) {
    Mat3 one;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) one.row[i][j] = m[i][j][lane];
    return one;
}
Matrix in_lanes(const Mat3& m) {
    Matrix all;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) all[i][j] = Lanes::Constant(m.row[i][j]);
    return all;
}
// The sum of s_i u_i v_i^T.
Mat3 composed(const Matrix& u, const Matrix& v, const Vector& s) {
    Mat3 m;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 3; ++k) m.row[i][j] += s[k][0] * u[k][i][0] * v[k][j][0];
    return m;
}

}  // namespace

void evaluate_elements(const Elements& elements, ElasticModel model, const std::vector<Vec3>& position,
                       const ElementResults& results) {
    const std::int64_t count = std::ssize(elements.all);
    if (results.energy) results.energy->resize(std::size_t(count));
    if (results.stress) results.stress->resize(std::size_t(count));
    if (results.stiffness) results.stiffness->resize(std::size_t(count));
    const std::int64_t groups = (count + lane_count - 1) / lane_count;
    parallel_blocks(groups, 16, [&](std::int64_t begin, std::int64_t end) {
        Tangent tangent;
        for (std::int64_t g = begin; g < end; ++g) {
            const std::int64_t first = g * lane_count;
            const int lanes = int(std::min<std::int64_t>(lane_count, count - first));
            const Group group = load(elements, first, position);
            State state = state_at(group.f, model, group.lame);
            if (results.energy)
                for (int lane = 0; lane < lanes; ++lane)
                    (*results.energy)[first + lane] = group.volume[lane] * state.r.energy[lane];
            if (results.stress) {
                const Matrix p = turned_back(state.d, state.p);
                for (int lane = 0; lane < lanes; ++lane)
                    (*results.stress)[first + lane] = lane_of(p, lane) * group.volume[lane];
            }
            if (!results.stiffness) continue;
            if (results.definite)
                make_definite(state.r, model == ElasticModel::neo_hookean ||
                                           model == ElasticModel::st_venant_kirchhoff);
            find_tangent(state, group.volume, tangent);
            for (int lane = 0; lane < lanes; ++lane) store(tangent, lane, (*results.stiffness)[first + lane]);
        }
    });
}

Mat3 deformation_gradient(const Elements& elements, std::size_t element, const std::vector<Vec3>& position) {
    return gradient_of(elements, elements.all[element], position);
}

Mat3 nearest_rotation(const Mat3& f) {
    const Decomposition d = decompose(in_lanes(f));
    return composed(d.u, d.v, {Lanes::Constant(1), Lanes::Constant(1), Lanes::Constant(1)});
}

Mat3 cauchy_stress(const Mat3& f, ElasticModel model, double mu, double lambda) {
    if (model == ElasticModel::linear) {
        const Mat3 strain = (f + f.transposed()) * 0.5 - Mat3::diagonal({1, 1, 1});
        return strain * (2 * mu) + Mat3::diagonal({1, 1, 1}) * (lambda * strain.trace());
    }
    const Decomposition d = decompose(in_lanes(f));
    const Response r = respond(d.s, model, {Lanes::Constant(mu), Lanes::Constant(lambda)});
    Vector principal;
    for (int k = 0; k < 3; ++k) {
        // P F^T / det F, bounded because the stress of a flat element is infinite.
        const Lanes area = d.s[(k + 1) % 3] * d.s[(k + 2) % 3];
        principal[k] = r.p[k] / (area.abs() < 1e-6).select(Lanes::Constant(1e-6), area);
    }
    return composed(d.u, d.u, principal);
}

}  // namespace flotsam

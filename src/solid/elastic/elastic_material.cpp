#include "solid/elastic/elastic_material.h"

#include <Eigen/Core>
#include <cmath>
#include <utility>

#include "core/parallel.h"

namespace flotsam {

namespace {

// One number of each of eight elements.
using Lanes = Eigen::Array<double, ElementBatch::lanes, 1>;
using Mask = Eigen::Array<bool, ElementBatch::lanes, 1>;
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
    // Of an element that is nearly a line, little more than rounding is left of `rest`, some of it along u_0.
    const Lanes slip = dot(d.u[0], d.u[1]);
    for (int k = 0; k < 3; ++k) d.u[1][k] -= slip * d.u[0][k];
    d.u[1] = scaled(d.u[1], 1 / dot(d.u[1], d.u[1]).sqrt());
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

Response respond(const Vector& s, const ElasticMaterial& material) {
    Response r;
    const double mu = material.mu(), lambda = material.lambda();
    const Lanes trace = s[0] + s[1] + s[2] - 3;
    const auto others = [](int k) { return std::pair{(k + 1) % 3, (k + 2) % 3}; };
    switch (material.model) {
        case ElasticModel::linear:
        case ElasticModel::corotational:
            // Psi = mu |S - 1|^2 + lambda / 2 tr(S - 1)^2 [Zarifi17 Eq. 3.12, with the strain S - 1].
            r.energy = 0.5 * lambda * trace * trace;
            for (int i = 0; i < 3; ++i) {
                const Lanes e = s[i] - 1;
                r.energy += mu * e * e;
                r.p[i] = 2 * mu * e + lambda * trace;
                for (int j = 0; j < 3; ++j) r.stretch[i][j] = Lanes::Constant(lambda + (i == j ? 2 * mu : 0));
                const auto [a, b] = others(i);
                // The bound avoids division by zero for flat elements. These are compressed and do not resist
                // twisting: the number is negative there and left out.
                r.twist[i] = (2 * mu * (s[a] + s[b] - 2) + 2 * lambda * trace) / (s[a] + s[b]).max(1e-8);
                r.shear[i] = Lanes::Constant(2 * mu);
            }
            break;
        case ElasticModel::neo_hookean: {
            // [Smith18 Eq. 13-14, Section 3.4]: these constants give Lame's at rest.
            const double m = 4.0 / 3 * mu, l = lambda + 5.0 / 6 * mu, alpha = 1 + 0.75 * m / l;
            const Lanes square = s[0] * s[0] + s[1] * s[1] + s[2] * s[2], volume = s[0] * s[1] * s[2];
            const Lanes excess = volume - alpha, soft = 1 / (square + 1);
            // Zero at rest, where square + 1 is 4.
            r.energy = 0.5 * m * (square - 3) + 0.5 * l * excess * excess -
                       0.5 * m * ((square + 1) / 4).log() - 0.5 * l * (1 - alpha) * (1 - alpha);
            for (int i = 0; i < 3; ++i) {
                const auto [a, b] = others(i);
                r.p[i] = m * s[i] * (1 - soft) + l * excess * s[a] * s[b];
                r.stretch[i][i] =
                    m * (1 - soft) + 2 * m * soft * soft * s[i] * s[i] + l * s[a] * s[a] * s[b] * s[b];
                // For the pair (a, b); i is the third axis.
                r.stretch[a][b] = r.stretch[b][a] =
                    2 * m * soft * soft * s[a] * s[b] + l * s[i] * (2 * volume - alpha);
                r.twist[i] = m * (1 - soft) + l * excess * s[i];
                r.shear[i] = m * (1 - soft) - l * excess * s[i];
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

Lanes load(const ElementBatch::Lane& values) { return Eigen::Map<const Lanes>(values.data()); }

Matrix gradients(const ElementBatch& batch) {
    Matrix g;
    for (int a = 0; a < 3; ++a)
        for (int j = 0; j < 3; ++j) g[a][j] = load(batch.gradient[3 * a + j]);
    return g;
}

Matrix deformation(const ElementBatch& batch, const Matrix& g, const std::vector<Vec3>& x) {
    Matrix edge;  // from node 0 to nodes 1 to 3 [Zarifi17 Eq. 3.31]
    for (int lane = 0; lane < ElementBatch::lanes; ++lane) {
        const Vec3 first = x[batch.node[0][lane]];
        for (int a = 0; a < 3; ++a) {
            const Vec3 e = x[batch.node[a + 1][lane]] - first;
            for (int i = 0; i < 3; ++i) edge[a][i][lane] = e[i];
        }
    }
    Matrix f;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            f[i][j] = edge[0][i] * g[0][j] + edge[1][i] * g[1][j] + edge[2][i] * g[2][j];
    return f;
}

struct BatchResults {
    Lanes energy;
    std::array<Vector, 4> force;
    std::array<Matrix, 10> stiffness;
};

void evaluate(const ElementBatch& batch, const ElasticMaterial& material, const std::vector<Vec3>& x,
              const ElementResults& wanted, BatchResults& out) {
    const Matrix g = gradients(batch);
    const Lanes volume = load(batch.volume);
    Matrix f = deformation(batch, g, x);
    Decomposition d;
    Response r;
    Matrix p;  // stress in the axes u and v: diagonal except for the linear model, which has no such axes
    for (Vector& row : p) row = {Lanes::Zero(), Lanes::Zero(), Lanes::Zero()};
    if (material.model == ElasticModel::linear) {
        // Strain (F + F^T) / 2 - 1, stress 2 mu strain + lambda trace [Zarifi17 Eq. 3.3, 3.8].
        const double mu = material.mu(), lambda = material.lambda();
        r = respond({Lanes::Constant(1), Lanes::Constant(1), Lanes::Constant(1)}, material);
        const Lanes trace = f[0][0] + f[1][1] + f[2][2] - 3;
        r.energy = 0.5 * lambda * trace * trace;
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                const Lanes e = 0.5 * (f[i][j] + f[j][i]) - (i == j ? 1.0 : 0.0);
                r.energy += mu * e * e;
                p[i][j] = 2 * mu * e;
                if (i == j) p[i][j] += lambda * trace;
                d.u[i][j] = d.v[i][j] = Lanes::Constant(i == j ? 1 : 0);
            }
    } else {
        d = decompose(f);
        r = respond(d.s, material);
        for (int i = 0; i < 3; ++i) p[i][i] = r.p[i];
    }
    out.energy = volume * r.energy;
    if (!wanted.forces && !wanted.stiffness) return;

    Matrix turned;  // gradients in the axes v
    for (int a = 0; a < 3; ++a)
        for (int j = 0; j < 3; ++j) turned[a][j] = dot(d.v[j], g[a]);
    if (wanted.forces) {
        for (int i = 0; i < 3; ++i) out.force[0][i] = Lanes::Zero();
        for (int a = 0; a < 3; ++a) {
            Vector along;  // in the axes u
            for (int i = 0; i < 3; ++i) along[i] = -volume * dot(p[i], turned[a]);
            for (int i = 0; i < 3; ++i) {
                out.force[a + 1][i] = d.u[0][i] * along[0] + d.u[1][i] * along[1] + d.u[2][i] * along[2];
                out.force[0][i] -= out.force[a + 1][i];
            }
        }
    }
    if (!wanted.stiffness) return;
    if (wanted.definite)
        make_definite(r, material.model == ElasticModel::neo_hookean ||
                             material.model == ElasticModel::st_venant_kirchhoff);
    // dP_ij / dF_ij and dP_ij / dF_ji for the pair without axis k.
    Vector same, swapped;
    for (int k = 0; k < 3; ++k) {
        same[k] = 0.5 * volume * (r.shear[k] + r.twist[k]);
        swapped[k] = 0.5 * volume * (r.shear[k] - r.twist[k]);
        for (int j = 0; j < 3; ++j) r.stretch[k][j] *= volume;
    }
    for (int i = 0; i < 10; ++i)
        for (Vector& row : out.stiffness[i]) row = {Lanes::Zero(), Lanes::Zero(), Lanes::Zero()};
    for (int a = 0; a < 3; ++a)
        for (int b = a; b < 3; ++b) {
            Matrix k;  // in the axes u
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j) {
                    if (i != j) {
                        const int other = 3 - i - j;
                        k[i][j] = r.stretch[i][j] * turned[a][i] * turned[b][j] +
                                  swapped[other] * turned[a][j] * turned[b][i];
                        continue;
                    }
                    const int m = (i + 1) % 3, n = (i + 2) % 3;
                    k[i][i] = r.stretch[i][i] * turned[a][i] * turned[b][i] +
                              same[n] * turned[a][m] * turned[b][m] + same[m] * turned[a][n] * turned[b][n];
                }
            Matrix half;  // k U^T's columns, then U times that
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j)
                    half[i][j] = k[i][0] * d.u[0][j] + k[i][1] * d.u[1][j] + k[i][2] * d.u[2][j];
            Matrix& block = out.stiffness[pair_number(a + 1, b + 1)];
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j) {
                    const Lanes entry =
                        d.u[0][i] * half[0][j] + d.u[1][i] * half[1][j] + d.u[2][i] * half[2][j];
                    block[i][j] = entry;
                    // Node 0 balances the others: its gradient is minus their sum.
                    out.stiffness[pair_number(0, b + 1)][i][j] -= entry;
                    if (a != b) out.stiffness[pair_number(0, a + 1)][j][i] -= entry;
                    out.stiffness[0][i][j] += entry;
                    if (a != b) out.stiffness[0][j][i] += entry;
                }
        }
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

std::vector<ElementBatch> make_batches(const TetMesh& rest) {
    constexpr int lanes = ElementBatch::lanes;
    std::vector<ElementBatch> batches((rest.tets.size() + lanes - 1) / lanes);
    for (std::size_t b = 0; b < batches.size(); ++b)
        for (int lane = 0; lane < lanes; ++lane) {
            const std::size_t wanted = b * lanes + lane, t = std::min(wanted, rest.tets.size() - 1);
            const Tet& tet = rest.tets[t];
            ElementBatch& batch = batches[b];
            for (int a = 0; a < 4; ++a) batch.node[a][lane] = tet[a];
            const Vec3 first = rest.nodes[tet[0]];
            Mat3 edges;  // columns d_i^m [Zarifi17 Eq. 3.33]
            for (int a = 0; a < 3; ++a)
                for (int i = 0; i < 3; ++i) edges.row[i][a] = (rest.nodes[tet[a + 1]] - first)[i];
            const Mat3 inverse = edges.inverse();
            for (int a = 0; a < 3; ++a)
                for (int j = 0; j < 3; ++j) batch.gradient[3 * a + j][lane] = inverse.row[a][j];
            if (t != wanted) continue;
            batch.volume[lane] =
                tet_volume(first, rest.nodes[tet[1]], rest.nodes[tet[2]], rest.nodes[tet[3]]);
            ++batch.count;
        }
    return batches;
}

void evaluate_elements(const std::vector<ElementBatch>& batches, const ElasticMaterial& material,
                       const std::vector<Vec3>& position, const ElementResults& results) {
    std::size_t elements = 0;
    for (const ElementBatch& batch : batches) elements += std::size_t(batch.count);
    if (results.energy) results.energy->resize(elements);
    if (results.forces) results.forces->resize(elements);
    if (results.stiffness) results.stiffness->resize(elements);
    parallel_blocks(std::ssize(batches), 16, [&](std::int64_t begin, std::int64_t end) {
        BatchResults out;
        for (std::int64_t b = begin; b < end; ++b) {
            evaluate(batches[b], material, position, results, out);
            for (int lane = 0; lane < batches[b].count; ++lane) {
                const std::int64_t e = b * ElementBatch::lanes + lane;
                if (results.energy) (*results.energy)[e] = out.energy[lane];
                if (results.forces)
                    for (int a = 0; a < 4; ++a)
                        (*results.forces)[e].force[a] = {out.force[a][0][lane], out.force[a][1][lane],
                                                         out.force[a][2][lane]};
                if (results.stiffness)
                    for (int k = 0; k < 10; ++k) (*results.stiffness)[e][k] = lane_of(out.stiffness[k], lane);
            }
        }
    });
}

Mat3 deformation_gradient(const ElementBatch& batch, int lane, const std::vector<Vec3>& position) {
    return lane_of(deformation(batch, gradients(batch), position), lane);
}

Mat3 nearest_rotation(const Mat3& f) {
    const Decomposition d = decompose(in_lanes(f));
    return composed(d.u, d.v, {Lanes::Constant(1), Lanes::Constant(1), Lanes::Constant(1)});
}

Mat3 cauchy_stress(const Mat3& f, const ElasticMaterial& material) {
    if (material.model == ElasticModel::linear) {
        Mat3 strain = (f + f.transposed()) * 0.5 - Mat3::diagonal({1, 1, 1});
        return strain * (2 * material.mu()) +
               Mat3::diagonal({1, 1, 1}) * (material.lambda() * strain.trace());
    }
    const Decomposition d = decompose(in_lanes(f));
    const Response r = respond(d.s, material);
    Vector principal;
    for (int k = 0; k < 3; ++k) {
        // P F^T / det F, bounded because the stress of a flat element is infinite.
        const Lanes area = d.s[(k + 1) % 3] * d.s[(k + 2) % 3];
        principal[k] = r.p[k] / (area.abs() < 1e-6).select(Lanes::Constant(1e-6), area);
    }
    return composed(d.u, d.u, principal);
}

}  // namespace flotsam

#include "linalg/block_matrix.h"

#include <Eigen/Dense>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <map>

#include "core/check.h"
#include "core/parallel.h"
#include "linalg/block_cholesky.h"
#include "linalg/krylov.h"

namespace flotsam {

namespace {

constexpr std::int64_t grain = 1024;

double inner(std::span<const Vec3> a, std::span<const Vec3> b) {
    return fixed_sum<double>(std::ssize(a), grain, [&](std::int64_t i) { return dot(a[i], b[i]); });
}

// Vectors of blocks in Krylov methods.
struct BlockSpace {
    using Vector = std::vector<Vec3>;
    std::size_t blocks;

    Vector zero() const { return Vector(blocks); }
    static void add_to_scaled(Vector& p, double s, const Vector& z) {
        parallel_for(std::ssize(p), grain, [&](std::int64_t i) { p[i] = z[i] + s * p[i]; });
    }
    static double descend(std::span<Vec3> x, Vector& r, double s, const Vector& p, const Vector& q) {
        return fixed_sum<double>(std::ssize(r), grain, [&](std::int64_t i) {
            x[i] += s * p[i];
            r[i] -= s * q[i];
            return dot(r[i], r[i]);
        });
    }
};

class Cholesky final : public BlockPreconditioner {
  public:
    explicit Cholesky(const BlockMatrix& pattern) : lower_(3 * pattern.rows(), 3 * pattern.rows()) {
        // Column c of the lower triangle is row c of the upper one, which the block rows list in order.
        std::vector<int> counts(3 * std::size_t(pattern.rows()));
        for (int r = 0; r < pattern.rows(); ++r)
            for (int i = 0; i < 3; ++i)
                counts[3 * r + i] = 3 * (pattern.row_begin[r + 1] - pattern.diagonal[r]) - i;
        lower_.reserve(counts);
        for (int r = 0; r < pattern.rows(); ++r)
            for (int i = 0; i < 3; ++i)
                for (int k = pattern.diagonal[r]; k < pattern.row_begin[r + 1]; ++k)
                    for (int j = pattern.column[k] == r ? i : 0; j < 3; ++j)
                        lower_.insert(3 * pattern.column[k] + j, 3 * r + i) = 1;
        lower_.makeCompressed();
        factor_.analyzePattern(lower_);
    }

    bool update(const BlockMatrix& matrix, std::span<const Mat3> more, std::span<const Vec3>) override {
        parallel_for(matrix.rows(), 256, [&](std::int64_t r) {
            for (int i = 0; i < 3; ++i) {
                double* value = lower_.valuePtr() + lower_.outerIndexPtr()[3 * r + i];
                for (int k = matrix.diagonal[r]; k < matrix.row_begin[r + 1]; ++k)
                    for (int j = matrix.column[k] == r ? i : 0; j < 3; ++j)
                        *value++ =
                            matrix.value[k].row[i][j] + (matrix.column[k] == r ? more[r].row[i][j] : 0);
            }
        });
        factor_.factorize(lower_);
        return factor_.info() == Eigen::Success;
    }

    void apply(std::span<const Vec3> r, std::span<Vec3> z) const override {
        const Eigen::Map<const Eigen::VectorXd> in(&r[0].x, 3 * std::ssize(r));
        Eigen::Map<Eigen::VectorXd>(&z[0].x, 3 * std::ssize(z)) = factor_.solve(in);
    }

    bool exact() const override { return true; }
    std::int64_t nonzeros() const { return factor_.nonzeros(); }

  private:
    // Eigen knows the factor's size once it has its pattern, but reports it only after factorising.
    struct Factor : Eigen::SimplicialLLT<Eigen::SparseMatrix<double>> {
        std::int64_t nonzeros() const { return m_matrix.nonZeros(); }
    };
    Eigen::SparseMatrix<double> lower_;
    Factor factor_;
};

class TwoLevel final : public BlockPreconditioner {
  public:
    TwoLevel(const BlockMatrix& pattern, std::span<const Vec3> places) : lump_(places.size()) {
        find_lumps(places);
        // The blocks of the coarse matrix, and the fine blocks that sum to each.
        std::vector<std::map<int, std::vector<int>>> rows(lumps_);
        fine_row_.resize(pattern.column.size());
        for (int r = 0; r < pattern.rows(); ++r)
            for (int k = pattern.row_begin[r]; k < pattern.row_begin[r + 1]; ++k) {
                fine_row_[k] = r;
                if (lump_[pattern.column[k]] <= lump_[r])
                    rows[lump_[r]][lump_[pattern.column[k]]].push_back(k);
            }
        coarse_.resize(lumps_);
        for (int l = 0; l < lumps_; ++l)
            for (const auto& [other, fine] : rows[l]) {
                coarse_[l].push_back({other, {}});
                terms_.push_back({l, int(coarse_[l].size()) - 1, fine});
            }
        members_.resize(lumps_);
        for (int n = 0; n < int(lump_.size()); ++n) members_[lump_[n]].push_back(n);
    }

    bool update(const BlockMatrix& matrix, std::span<const Mat3> more,
                std::span<const Vec3> places) override {
        const int rows = matrix.rows();
        arm_.resize(rows);
        inverse_.resize(rows);
        parallel_for(lumps_, 16, [&](std::int64_t l) {
            Vec3 center;
            for (const int n : members_[l]) center += places[n] / double(members_[l].size());
            double size = 0;
            for (const int n : members_[l]) size = std::max(size, length(places[n] - center));
            // Rotations are scaled so that they move nodes about as far as translations do.
            for (const int n : members_[l]) arm_[n] = (places[n] - center) / (size > 0 ? size : 1);
        });
        parallel_for(rows, grain, [&](std::int64_t r) {
            inverse_[r] = (matrix.value[matrix.diagonal[r]] + more[r]).inverse();
        });
        parallel_for(std::ssize(terms_), 8, [&](std::int64_t t) {
            const Term& term = terms_[t];
            SixBySix<double> sum{};
            for (const int k : term.fine) {
                const int r = fine_row_[k], c = matrix.column[k];
                add_coarse(sum, r == c ? matrix.value[k] + more[r] : matrix.value[k], arm_[r], arm_[c]);
            }
            // A lump whose nodes lie in a line has a rotation that moves none of them.
            if (coarse_[term.row][term.place].column == term.row)
                for (int i = 0; i < 6; ++i) sum[i][i] *= 1 + 1e-6;
            coarse_[term.row][term.place].value = sum;
        });
        factor_ = BlockCholesky::factor(coarse_, 20'000'000);
        FLOTSAM_CHECK(factor_.has_value());
        return true;
    }

    void apply(std::span<const Vec3> r, std::span<Vec3> z) const override {
        std::vector<Six<float>> coarse(lumps_);
        parallel_for(lumps_, 16, [&](std::int64_t l) {
            Vec3 push, turn;
            for (const int n : members_[l]) push += r[n], turn += cross(arm_[n], r[n]);
            for (int i = 0; i < 3; ++i) coarse[l][i] = float(push[i]), coarse[l][3 + i] = float(turn[i]);
        });
        coarse = factor_->solved(coarse);
        parallel_for(std::ssize(r), grain, [&](std::int64_t n) {
            const Six<float>& c = coarse[lump_[n]];
            z[n] = inverse_[n] * r[n] + Vec3(c[0], c[1], c[2]) + cross(Vec3(c[3], c[4], c[5]), arm_[n]);
        });
    }

  private:
    struct Term {
        int row, place;
        std::vector<int> fine;
    };

    // A lump is the nodes of one cube of a lattice: about 30, or more, because the lumps are solved for
    // exactly and in one thread. Nodes of cubes with few of them join the nearest lump.
    void find_lumps(std::span<const Vec3> places) {
        Vec3 low = places[0], high = places[0];
        for (const Vec3 p : places) low = min(low, p), high = max(high, p);
        const Vec3 size = high - low;
        double spacing = std::cbrt(std::max(size.x * size.y * size.z, 1e-300) * (30 / double(places.size())));
        // For each lump, factorising costs the square of the number of lumps in a front; a cube may have 500.
        // Long bodies have small fronts and may have more.
        const auto too_many = [&] {
            std::array<double, 3> count;
            for (int a = 0; a < 3; ++a) count[a] = std::max(1.0, std::ceil(size[a] / spacing));
            std::sort(count.begin(), count.end());
            const double front = count[0] * count[1];
            return count[2] * front * front * front > 2e6;
        };
        while (too_many()) spacing *= 1.05;
        // The boxes of plates and rods have little volume: at most 200 cubes along an axis.
        spacing = std::max({spacing, size.x / 200, size.y / 200, size.z / 200});
        std::map<std::array<int, 3>, std::vector<int>> cubes;
        for (int n = 0; n < int(places.size()); ++n) {
            const Vec3 at = (places[n] - low) / spacing;
            cubes[{int(at.x), int(at.y), int(at.z)}].push_back(n);
        }
        std::vector<Vec3> centers;
        std::vector<int> left;
        for (const auto& [cube, nodes] : cubes) {
            if (nodes.size() < 8) {
                left.insert(left.end(), nodes.begin(), nodes.end());
                continue;
            }
            Vec3 center;
            for (const int n : nodes) center += places[n] / double(nodes.size());
            for (const int n : nodes) lump_[n] = int(centers.size());
            centers.push_back(center);
        }
        if (centers.empty()) centers.push_back(low), left.clear(), std::fill(lump_.begin(), lump_.end(), 0);
        for (const int n : left) {
            double nearest = 1e300;
            for (std::size_t c = 0; c < centers.size(); ++c)
                if (const double d = length(centers[c] - places[n]); d < nearest)
                    nearest = d, lump_[n] = int(c);
        }
        lumps_ = int(centers.size());
    }

    // Adds a block between two nodes to the coarse block of their lumps, where node = push + turn x arm.
    static void add_coarse(SixBySix<double>& sum, const Mat3& block, Vec3 arm_row, Vec3 arm_column) {
        // block times (I, -[arm]): its rows v . (turn x arm) = turn . (arm x v).
        std::array<Vec3, 3> turned;
        for (int i = 0; i < 3; ++i) turned[i] = cross(arm_column, block.row[i]);
        for (int j = 0; j < 6; ++j) {
            const auto entry = [&](int i) { return j < 3 ? block.row[i][j] : turned[i][j - 3]; };
            const Vec3 column{entry(0), entry(1), entry(2)}, below = cross(arm_row, column);
            for (int i = 0; i < 3; ++i) sum[i][j] += column[i], sum[3 + i][j] += below[i];
        }
    }

    int lumps_ = 0;
    std::vector<int> lump_;  // of each unknown
    std::vector<std::vector<int>> members_;
    std::vector<int> fine_row_;  // of each block
    std::vector<Term> terms_;
    std::vector<std::vector<BlockCholesky::Block>> coarse_;
    std::vector<Vec3> arm_;
    std::vector<Mat3> inverse_;  // of the diagonal blocks
    std::optional<BlockCholesky> factor_;
};

}  // namespace

void BlockMatrix::multiply(std::span<const Vec3> x, std::span<Vec3> result) const {
    parallel_for(rows(), 256, [&](std::int64_t r) {
        Vec3 sum;
        for (int k = row_begin[r]; k < row_begin[r + 1]; ++k) sum += value[k] * x[column[k]];
        result[r] = sum;
    });
}

std::unique_ptr<BlockPreconditioner> cholesky_preconditioner(const BlockMatrix& pattern) {
    return std::make_unique<Cholesky>(pattern);
}

std::unique_ptr<BlockPreconditioner> two_level_preconditioner(const BlockMatrix& pattern,
                                                              std::span<const Vec3> places) {
    return std::make_unique<TwoLevel>(pattern, places);
}

std::unique_ptr<BlockPreconditioner> choose_preconditioner(const BlockMatrix& pattern,
                                                           std::span<const Vec3> places) {
    // Finding the pattern of a factor is itself expensive for large meshes.
    if (pattern.rows() < 60'000) {
        auto factor = std::make_unique<Cholesky>(pattern);
        const double rows = pattern.rows(), fill = double(factor->nonzeros());
        // Factorising takes about the sum of squares of the columns' lengths, conjugate gradients some ten
        // thousand operations for each row.
        if (fill * fill / (3 * rows) < 3e4 * rows) return factor;
    }
    return two_level_preconditioner(pattern, places);
}

int BlockSystem::blocks() const {
    int count = int(singles.size());
    for (const Part& part : parts) count += part.matrix->rows();
    return count;
}

void BlockSystem::multiply(std::span<const Vec3> x, std::span<Vec3> result) const {
    std::size_t at = 0;
    for (const Part& part : parts) {
        const std::size_t n = std::size_t(part.matrix->rows());
        const std::span<const Vec3> own = x.subspan(at, n);
        const std::span<Vec3> out = result.subspan(at, n);
        at += n;
        if (!part.neutral) {
            part.matrix->multiply(own, out);
            continue;
        }
        // v = Q v + P v: the mass acts on the first part, the matrix on the second.
        const NeutralModes& neutral = *part.neutral;
        std::vector<Vec3> rest(own.begin(), own.end());
        std::vector<double> share;
        for (std::size_t k = 0; k < neutral.mode.size(); ++k) {
            share.push_back(inner(neutral.momentum[k], own));
            parallel_for(std::int64_t(n), grain,
                         [&](std::int64_t i) { rest[i] -= share[k] * neutral.mode[k][i]; });
        }
        part.matrix->multiply(rest, out);
        for (std::size_t k = 0; k < neutral.mode.size(); ++k) {
            const double turned = inner(neutral.mode[k], out);
            parallel_for(std::int64_t(n), grain,
                         [&](std::int64_t i) { out[i] += (share[k] - turned) * neutral.momentum[k][i]; });
        }
    }
    for (const Mat3& block : singles) result[at] = block * x[at], ++at;
    for (const BlockRow& row : rows) {
        const double force = row.stiffness * row.times(x);
        for (int k = 0; k < row.count; ++k) result[row.block[k]] += force * row.coefficient[k];
    }
}

std::vector<BlockRow> absorb(std::vector<BlockRow> rows, int first, BlockMatrix& matrix) {
    const auto find = [&](int r, int c) {
        const auto begin = matrix.column.begin() + matrix.row_begin[r],
                   end = matrix.column.begin() + matrix.row_begin[r + 1];
        const auto at = std::lower_bound(begin, end, c);
        return at != end && *at == c ? int(at - matrix.column.begin()) : -1;
    };
    std::erase_if(rows, [&](const BlockRow& row) {
        for (int a = 0; a < row.count; ++a) {
            if (row.block[a] < first || row.block[a] >= first + matrix.rows()) return false;
            for (int b = 0; b < a; ++b)
                if (row.block[b] >= first && row.block[b] < first + matrix.rows() &&
                    find(row.block[a] - first, row.block[b] - first) < 0)
                    return false;
        }
        for (int a = 0; a < row.count; ++a)
            for (int b = 0; b < row.count; ++b) {
                Mat3& value = matrix.value[find(row.block[a] - first, row.block[b] - first)];
                value = value + Mat3::outer(row.coefficient[a], row.coefficient[b]) * row.stiffness;
            }
        return true;
    });
    return rows;
}

// More rows than this are left to the iteration: each costs a solve, and their Schur complement is dense.
constexpr std::size_t most_joined_rows = 600;

BlockSolver::BlockSolver(const BlockSystem& system, bool many) : system_(system) {
    for (const BlockSystem::Part& part : system.parts) exact_ = exact_ && part.preconditioner->exact();
    exact_ = exact_ && system.rows.size() <= (many ? most_joined_rows : 0);
    // Otherwise the preconditioner has the rows' diagonal blocks alone; their coupling is left to the
    // iteration.
    std::vector<Mat3> more(system.blocks());
    for (const BlockRow& row : system.rows)
        for (int k = 0; !exact_ && k < row.count; ++k)
            more[row.block[k]] =
                more[row.block[k]] + Mat3::outer(row.coefficient[k], row.coefficient[k]) * row.stiffness;
    std::size_t first = 0;
    for (const BlockSystem::Part& part : system.parts) {
        const std::size_t rows = std::size_t(part.matrix->rows());
        definite_ = definite_ && part.preconditioner->update(
                                     *part.matrix, std::span(more).subspan(first, rows), part.places);
        first += rows;
        neutral_.emplace_back();
        if (definite_ && part.neutral) make_neutral(part);
    }
    for (std::size_t s = 0; s < system.singles.size(); ++s)
        single_inverse_.push_back((system.singles[s] + more[first + s]).inverse());
    if (definite_ && exact_ && !system.rows.empty()) join_rows();
}

void BlockSolver::join_rows() {
    const std::vector<BlockRow>& rows = system_.rows;
    const auto count = Eigen::Index(rows.size());
    row_answer_.assign(rows.size(), std::vector<Vec3>(system_.blocks()));
    Eigen::MatrixXd joint = Eigen::MatrixXd::Zero(count, count);
    parallel_for(std::ssize(rows), 1, [&](std::int64_t i) {
        std::vector<Vec3> b(system_.blocks());
        for (int k = 0; k < rows[i].count; ++k) b[rows[i].block[k]] += rows[i].coefficient[k];
        precondition(b, row_answer_[i]);
        for (Eigen::Index j = 0; j < count; ++j) joint(j, i) = rows[j].times(row_answer_[i]);
        joint(i, i) += 1 / rows[i].stiffness;
    });
    const Eigen::LLT<Eigen::MatrixXd> factor(joint);
    definite_ = factor.info() == Eigen::Success;
    const Eigen::MatrixXd lower = factor.matrixL();
    joint_.assign(lower.data(), lower.data() + lower.size());
}

void BlockSolver::make_neutral(const BlockSystem::Part& part) {
    Neutral& own = neutral_.back();
    const auto& momentum = part.neutral->momentum;
    const auto count = Eigen::Index(momentum.size());
    Eigen::MatrixXd products(count, count);
    for (const std::vector<Vec3>& m : momentum) {
        own.answer.emplace_back(m.size());
        part.preconditioner->apply(m, own.answer.back());
    }
    for (Eigen::Index i = 0; i < count; ++i)
        for (Eigen::Index j = 0; j < count; ++j) products(i, j) = inner(momentum[i], own.answer[j]);
    const Eigen::MatrixXd inverse = products.inverse();
    own.inverse.assign(momentum.size(), std::vector<double>(momentum.size()));
    for (Eigen::Index i = 0; i < count; ++i)
        for (Eigen::Index j = 0; j < count; ++j) own.inverse[i][j] = inverse(i, j);
}

void BlockSolver::precondition(std::span<const Vec3> r, std::span<Vec3> z) const {
    std::size_t at = 0;
    for (std::size_t p = 0; p < system_.parts.size(); ++p) {
        const BlockSystem::Part& part = system_.parts[p];
        const std::size_t rows = std::size_t(part.matrix->rows());
        const std::span<const Vec3> in = r.subspan(at, rows);
        const std::span<Vec3> out = z.subspan(at, rows);
        part.preconditioner->apply(in, out);
        at += rows;
        if (!part.neutral) continue;
        // The solution in the complement of the neutral modes, and that of the modes by mass alone.
        const NeutralModes& neutral = *part.neutral;
        std::vector<double> along, by_mass;
        for (std::size_t k = 0; k < neutral.mode.size(); ++k) {
            along.push_back(inner(neutral.momentum[k], out));
            by_mass.push_back(inner(neutral.mode[k], in));
        }
        for (std::size_t k = 0; k < neutral.mode.size(); ++k) {
            double less = 0;
            for (std::size_t j = 0; j < along.size(); ++j) less += neutral_[p].inverse[k][j] * along[j];
            parallel_for(std::int64_t(rows), grain, [&](std::int64_t i) {
                out[i] += by_mass[k] * neutral.mode[k][i] - less * neutral_[p].answer[k][i];
            });
        }
    }
    for (const Mat3& inverse : single_inverse_) z[at] = inverse * r[at], ++at;
}

SolveReport BlockSolver::solve(std::span<const Vec3> b, std::span<Vec3> x,
                               const SolveTolerance& tolerance) const {
    if (!definite_) return {};
    if (exact_) {
        // Factors leave no more than rounding errors, but NaN and infinity in the input remain.
        const auto finite = [&] { return SolveReport{.converged = std::isfinite(inner(x, x))}; };
        precondition(b, x);
        if (row_answer_.empty()) return finite();
        Eigen::VectorXd s(std::ssize(row_answer_));
        for (Eigen::Index i = 0; i < s.size(); ++i) s[i] = system_.rows[i].times(x);
        const Eigen::Map<const Eigen::MatrixXd> lower(joint_.data(), s.size(), s.size());
        lower.triangularView<Eigen::Lower>().solveInPlace(s);
        lower.transpose().triangularView<Eigen::Upper>().solveInPlace(s);
        parallel_for(std::ssize(x), grain, [&](std::int64_t n) {
            for (Eigen::Index i = 0; i < s.size(); ++i) x[n] -= s[i] * row_answer_[i][n];
        });
        return finite();
    }
    BlockSpace space{b.size()};
    const krylov::Goal goal(std::sqrt(inner(b, b)), 3.0 * double(b.size()), tolerance);
    const auto multiply = [&](const std::vector<Vec3>& v, std::vector<Vec3>& y) {
        system_.multiply(v, y);
        return inner(v, y);
    };
    const auto inverse = [&](const std::vector<Vec3>& v, std::vector<Vec3>& y) {
        precondition(v, y);
        return inner(v, y);
    };
    std::vector<Vec3> r(b.size()), z(b.size());
    system_.multiply(x, z);
    parallel_for(std::ssize(b), grain, [&](std::int64_t i) { r[i] = b[i] - z[i]; });
    const double residual = std::sqrt(inner(r, r));
    krylov::ConjugateDirections at(space, std::move(r), residual);
    const krylov::Outcome outcome = krylov::conjugate_gradients(space, multiply, inverse, x, z, at, goal);
    return {.converged = outcome.residual <= goal.wanted,  // false for NaN
            .iterations = outcome.iterations,
            .residual = outcome.residual / std::max(goal.norm, 1e-300)};
}

SolveReport solve(const BlockSystem& system, std::span<const Vec3> b, std::span<Vec3> x,
                  const SolveTolerance& tolerance) {
    return BlockSolver(system, false).solve(b, x, tolerance);
}

}  // namespace flotsam

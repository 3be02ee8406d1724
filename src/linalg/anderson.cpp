#include "linalg/anderson.h"

#include <Eigen/Dense>

namespace flotsam {

std::vector<double> Anderson::next(const std::vector<double>& x, const std::vector<double>& g) {
    const auto size = Eigen::Index(x.size());
    g_.push_back(g);
    change_.push_back(g);
    for (std::size_t i = 0; i < x.size(); ++i) change_.back()[i] = weight_[i] * (g[i] - x[i]);
    const auto depth = Eigen::Index(g_.size()) - 1;
    if (depth == 0) return g;
    const auto as_vector = [&](const std::vector<double>& v) {
        return Eigen::Map<const Eigen::VectorXd>(v.data(), size);
    };
    Eigen::MatrixXd changes(size, depth), results(size, depth);
    for (Eigen::Index d = 0; d < depth; ++d) {
        changes.col(d) = as_vector(change_[d + 1]) - as_vector(change_[d]);
        results.col(d) = as_vector(g_[d + 1]) - as_vector(g_[d]);
    }
    std::vector<double> result = g;
    Eigen::Map<Eigen::VectorXd>(result.data(), size) -=
        results * changes.colPivHouseholderQr().solve(as_vector(change_.back()));
    return result;
}

}  // namespace flotsam

// Anderson's acceleration of a fixed-point iteration x -> g(x) (Walker, Ni 2011): combines the previous
// iterates so that their changes nearly cancel. For a linear g it takes only as many rounds as there are
// directions.
#pragma once

#include <vector>

namespace flotsam {

class Anderson {
  public:
    // `weight` makes the entries of x comparable.
    explicit Anderson(std::vector<double> weight) : weight_(std::move(weight)) {}

    // The next iterate after x, given g(x).
    std::vector<double> next(const std::vector<double>& x, const std::vector<double>& g);

  private:
    std::vector<double> weight_;
    std::vector<std::vector<double>> g_, change_;  // of the rounds so far: g(x), and g(x) - x times weights
};

}  // namespace flotsam

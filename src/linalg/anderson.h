// Anderson's acceleration of a fixed-point iteration x -> g(x) (Walker, Ni 2011): of the points so far, the
// combination whose changes nearly cancel. What a linear g would need many rounds for, it finds in as many as
// there are directions.
#pragma once

#include <vector>

namespace flotsam {

class Anderson {
  public:
    // `weight` makes the entries of x comparable.
    explicit Anderson(std::vector<double> weight) : weight_(std::move(weight)) {}

    // Where to go on from x, when g(x) has been found.
    std::vector<double> next(const std::vector<double>& x, const std::vector<double>& g);

  private:
    std::vector<double> weight_;
    std::vector<std::vector<double>> g_, change_;  // of the rounds so far: g(x), and g(x) - x times weights
};

}  // namespace flotsam

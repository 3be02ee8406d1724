// Several pictures as one.
#pragma once

#include <string>
#include <vector>

#include "render/image.h"

namespace flotsam {

// From left to right, each under its label. All must have the same size.
Picture side_by_side(const std::vector<Picture>& pictures, const std::vector<std::string>& labels);

}  // namespace flotsam

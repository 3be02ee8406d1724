// A scene for a method that it was not written for.
#pragma once

#include <string>
#include <vector>

#include "scene/toml_tree.h"

namespace flotsam {

// Replaces what the scene's method does not admit by the nearest that it does, where there is an honest one:
// solids made of springs become rigid ones of the same density, rigid ones become stiff springs, and the
// carrier of velocity becomes the method's own. Returns a line for each change. The rest stays for the loader
// to refuse. `root` must have its defaults.
std::vector<std::string> adapt_to_method(TomlNode& root);

}  // namespace flotsam

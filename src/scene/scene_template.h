// Commented scenes to start from: what `flotsam new` writes.
#pragma once

#include <string_view>
#include <vector>

namespace flotsam {

struct SceneTemplate {
    std::string_view kind, summary, text;
};
const std::vector<SceneTemplate>& scene_templates();

}  // namespace flotsam

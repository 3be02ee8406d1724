// Scene files: what belongs to the liquid.
#pragma once

#include <vector>

#include "fluid/grid/liquid.h"
#include "scene/scene_reader.h"
#include "scene/schema.h"

namespace flotsam {

// The table rules of [liquid] and of the regions in it.
std::vector<TableRule> liquid_tables();

LiquidSettings read_liquid(SceneReader& reader);

}  // namespace flotsam

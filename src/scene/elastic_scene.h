// Scene files: what belongs to elastic solids.
#pragma once

#include <vector>

#include "scene/scene_reader.h"
#include "scene/schema.h"
#include "world/scenario.h"

namespace flotsam {

// The keys of [[solid]] that only these have, and the table rules of those.
std::vector<KeyRule> elastic_keys();
std::vector<TableRule> elastic_tables();

// Meshes a validated [[solid]] whose shape and motion are known, or adds to the mistakes what a solid of
// another kind cannot have. `shape` is its table, for what boxes are.
void read_elastic(SceneReader& reader, const TomlNode& entry, Solid& solid);

}  // namespace flotsam

// Scene files: what belongs to all solids: their shapes, places and scripts. What only rigid ones have is in
// rigid_scene.h.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "scene/scene_reader.h"
#include "scene/schema.h"
#include "world/scenario.h"

namespace flotsam {

// The table rules of [[solid]] and of what is in it.
std::vector<TableRule> solid_tables();

// The solids of a scene and the joints between them.
void read_solids(SceneReader& reader, Scenario& scenario);

// Whether a [[solid]] is of a kind that two-dimensional scenes admit.
bool fits_slab(const TomlNode& entry);

// The index of the solid that a text names; nothing, and a mistake, when there is none.
std::optional<int> solid_named(const TomlNode& name, const std::vector<Solid>& solids, Mistakes& mistakes);

}  // namespace flotsam

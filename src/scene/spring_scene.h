// Scene files: what belongs to solids made of springs.
#pragma once

#include <vector>

#include "scene/scene_reader.h"
#include "scene/schema.h"
#include "world/scenario.h"

namespace flotsam {

// The keys of [[solid]] that only these have, and the table rule of `springs = { ... }`.
std::vector<KeyRule> spring_keys();
std::vector<TableRule> spring_tables();

// Builds the net of a validated [[solid]] whose shape and motion are known, or adds to `mistakes` what a
// solid of another kind cannot have.
void read_springs(SceneReader& reader, const TomlNode& entry, Solid& solid);

// Fits how the solid repels markers to the whole scene, which must be read by now. Warns when what the scene
// says itself lets water in, or needs shorter steps than it asks for.
void fit_springs(const TomlNode& entry, Scenario& scenario, Solid& solid, SceneReader& reader);

}  // namespace flotsam

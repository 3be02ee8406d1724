// Scene files: what is measured, and what the scene claims about it.
#pragma once

#include <vector>

#include "scene/claims.h"
#include "scene/scene_reader.h"
#include "scene/schema.h"
#include "sim/measure.h"
#include "world/scenario.h"

namespace flotsam {

// The table rules of [[probe]] and [[claim]].
std::vector<TableRule> claim_tables();

std::vector<Probe> read_probes(SceneReader& reader, const Scenario& scenario);

// `duration` of the scene: claims must not look beyond it [s].
std::vector<Claim> read_claims(SceneReader& reader, const std::vector<Probe>& probes, double duration);

}  // namespace flotsam

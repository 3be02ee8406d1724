// Scene files: what belongs to the liquid.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "fluid/grid/liquid.h"
#include "fluid/sph/sph_settings.h"
#include "scene/scene_reader.h"
#include "scene/schema.h"
#include "world/scenario.h"

namespace flotsam {

// How carriers of velocity are called.
constexpr std::pair<std::string_view, Carrier> carrier_words[] = {
    {"apic", Carrier::apic}, {"flip", Carrier::flip}, {"markers", Carrier::markers}, {"sph", Carrier::sph}};

// The table rules of [liquid] and of the regions in it.
std::vector<TableRule> liquid_tables();

LiquidSettings read_liquid(SceneReader& reader);
// Confines levels to the regions and solids that they are inside of, once the solids are known.
void confine_fills(SceneReader& reader, Scenario& scenario);
SphSettings read_sph(const SceneReader& reader);

}  // namespace flotsam

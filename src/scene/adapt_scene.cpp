#include "scene/adapt_scene.h"

#include <fmt/format.h>

#include <algorithm>

#include "coupling/scheme.h"
#include "scene/liquid_scene.h"

namespace flotsam {

namespace {

// Young's modulus of springs that stand for a rigid solid: 100 times the pressure under 1 m of water, at
// which they give by 1 % [Pa].
constexpr std::string_view rigid_like = "1e6";

void remove(TomlNode& table, std::string_view key) {
    std::erase_if(table.members, [&](const TomlNode::Member& member) { return member.key == key; });
}

void make_rigid(TomlNode& solid) {
    remove(solid, "stiffness");
    remove(solid, "springs");
}

void make_springs(TomlNode& solid) {
    const Place place = solid.place;
    if (!solid.at("shape").find("sphere")) {
        solid.set("stiffness", place, parse_toml_value(std::string(rigid_like), place.source));
        return;
    }
    TomlNode springs;
    springs.place = place;
    springs.set("structure", place, TomlNode::make_text("node", place));
    solid.set("springs", place, springs);
}

}  // namespace

std::vector<std::string> adapt_to_method(TomlNode& root) {
    std::vector<std::string> changes;
    const std::string method = root.at("scene").at("method").text;
    const auto entry = std::find_if(schemes().begin(), schemes().end(),
                                    [&](const SchemeEntry& scheme) { return scheme.name == method; });
    if (entry == schemes().end()) return changes;  // the loader says so
    const Capabilities can = entry->make()->capabilities();
    const auto admits = [&](Motion motion) {
        return std::find(can.motions.begin(), can.motions.end(), motion) != can.motions.end();
    };

    if (TomlNode* carrier = root.find("liquid")->find("carrier")) {
        const bool admitted = std::any_of(can.carriers.begin(), can.carriers.end(), [&](Carrier own) {
            return std::any_of(std::begin(carrier_words), std::end(carrier_words), [&](const auto& word) {
                return word.first == carrier->text && word.second == own;
            });
        });
        if (!admitted) {
            changes.push_back(fmt::format("the method's own carrier instead of {}", carrier->text));
            remove(*root.find("liquid"), "carrier");
        }
    }
    TomlNode* solids = root.find("solid");
    if (!solids) return changes;
    for (TomlNode& solid : solids->items) {
        TomlNode& motion = *solid.find("motion");
        const std::string name = solid.at("name").text;
        if (motion.text == "spring" && !admits(Motion::spring) && admits(Motion::rigid)) {
            motion.text = "rigid";
            make_rigid(solid);
            changes.push_back(fmt::format("{}: rigid, of the same density, instead of springs", name));
        } else if (motion.text == "rigid" && !admits(Motion::rigid) && admits(Motion::spring)) {
            motion.text = "spring";
            make_springs(solid);
            changes.push_back(
                solid.find("stiffness")
                    ? fmt::format("{}: springs of {} Pa instead of rigid", name, rigid_like)
                    : fmt::format("{}: a single node instead of rigid; it does not turn", name));
        }
    }
    return changes;
}

}  // namespace flotsam

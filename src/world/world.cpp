#include "world/world.h"

namespace flotsam {

void World::visit_state(StateVisitor& visit, const Scenario& scenario) {
    visit.scalar("time", time);
    visit.scalar("step", step);
    liquid.visit_state(visit, scenario.domain);
    loads.resize(scenario.solids.size());
    for (std::size_t s = 0; s < loads.size(); ++s) {
        const std::string name = "solids/" + scenario.solids[s].name;
        visit.scalar(name + "/force", loads[s].force);
        visit.scalar(name + "/torque", loads[s].torque);
        visit.scalar(name + "/wetted_area", loads[s].wetted_area);
    }
}

}  // namespace flotsam

#include "world/world.h"

namespace flotsam {

void World::visit_state(StateVisitor& visit, const Scenario& scenario) {
    visit.scalar("time", time);
    visit.scalar("step", step);
    liquid.visit_state(visit, scenario.domain);
}

}  // namespace flotsam

#include "world/world.h"

#include <algorithm>

#include "geometry/mesh_surface.h"

namespace flotsam {

World world_at_start(const Scenario& scenario) {
    World world;
    static_cast<Bodies&>(world) = bodies_at_start(scenario.solids);
    return world;
}

Pose pose_of(const Scenario& scenario, const std::vector<RigidBody>& bodies, double time, std::size_t s) {
    if (const RigidBody* body = body_of(bodies, s)) return pose_of(*body);
    return pose_at(scenario.solids[s], time);
}

Pose pose_of(const World& world, const Scenario& scenario, std::size_t s) {
    Pose pose = pose_at(scenario.solids[s], world.time);
    with_body(world, s, [&](const auto& body) { pose = pose_of(body); });
    return pose;
}

TriangleMesh mesh_of(const World& world, const Scenario& scenario, std::size_t s) {
    const Solid& solid = scenario.solids[s];
    TriangleMesh mesh;
    if (!with_body(world, s, [&](const auto& body) { mesh = surface_of(body, solid.shape.mesh); }))
        mesh = mesh_at(solid, world.time);
    return mesh;
}

PlacedShape shape_of(const World& world, const Scenario& scenario, std::size_t s) {
    PlacedShape shape = shape_at(scenario.solids[s], world.time);
    with_body(world, s, [&](const auto& body) {
        if (deforms(body))
            shape = {std::make_shared<MeshSurface>(surface_of(body, scenario.solids[s].shape.mesh)), {}};
        else
            shape.pose = pose_of(body);
    });
    return shape;
}

void World::visit_state(StateVisitor& visit, const Scenario& scenario) {
    visit.scalar("time", time);
    visit.scalar("step", step);
    liquid.visit_state(visit, scenario.domain);
    if (scenario.liquid.carrier == Carrier::sph) sph.visit_state(visit);
    // A world to be restored knows the bodies' masses from the scenario and only their motion from the file.
    const auto count = std::count_if(scenario.solids.begin(), scenario.solids.end(),
                                     [](const Solid& solid) { return moves_by_itself(solid.motion); });
    if (std::int64_t(count_bodies(*this)) != count)
        static_cast<Bodies&>(*this) = bodies_at_start(scenario.solids);
    for_each_kind(*this, [&](const auto& kind, auto& of_kind) {
        if (!of_kind.empty()) flotsam::visit_state(of_kind, visit, kind.state);
    });
    if (!elastics.empty()) {
        support.resize(bodies.size());
        for (std::size_t b = 0; b < support.size(); ++b)
            for (const auto& [name, value] :
                 {std::pair{"pushed", &support[b].pushed}, {"contacts", &support[b].contacts}}) {
                const std::string own = "support/" + std::to_string(b) + "/" + name;
                visit.scalar(own + "/linear", value->linear);
                visit.scalar(own + "/angular", value->angular);
            }
    }
    loads.resize(scenario.solids.size());
    for (std::size_t s = 0; s < loads.size(); ++s) {
        const std::string name = "solids/" + scenario.solids[s].name;
        visit.scalar(name + "/force", loads[s].force);
        visit.scalar(name + "/torque", loads[s].torque);
        visit.scalar(name + "/wetted_area", loads[s].wetted_area);
    }
}

}  // namespace flotsam

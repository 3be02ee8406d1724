#include "world/world.h"

#include <algorithm>

#include "geometry/mesh_surface.h"

namespace flotsam {

std::vector<RigidBody> bodies_at_start(const Scenario& scenario) {
    std::vector<RigidBody> bodies;
    for (std::size_t s = 0; s < scenario.solids.size(); ++s)
        if (const Solid& solid = scenario.solids[s]; solid.motion == Motion::rigid)
            bodies.push_back(make_rigid_body(int(s), solid.rigid, solid.start));
    return bodies;
}

std::vector<SpringBody> springs_at_start(const Scenario& scenario) {
    std::vector<SpringBody> bodies;
    for (std::size_t s = 0; s < scenario.solids.size(); ++s)
        if (const Solid& solid = scenario.solids[s]; solid.motion == Motion::spring)
            bodies.push_back(make_spring_body(int(s), solid.spring, solid.start));
    return bodies;
}

std::vector<ElasticBody> elastics_at_start(const Scenario& scenario) {
    std::vector<ElasticBody> bodies;
    for (std::size_t s = 0; s < scenario.solids.size(); ++s)
        if (const Solid& solid = scenario.solids[s]; solid.motion == Motion::elastic)
            bodies.push_back(make_elastic_body(int(s), solid.elastic, solid.start));
    return bodies;
}

const ElasticBody* elastic_body_of(const World& world, std::size_t s) {
    for (const ElasticBody& body : world.elastics)
        if (body.solid == int(s)) return &body;
    return nullptr;
}

const SpringBody* spring_body_of(const World& world, std::size_t s) {
    for (const SpringBody& body : world.springs)
        if (body.solid == int(s)) return &body;
    return nullptr;
}

const RigidBody* body_of(const std::vector<RigidBody>& bodies, std::size_t s) {
    const auto at = std::lower_bound(bodies.begin(), bodies.end(), int(s),
                                     [](const RigidBody& body, int solid) { return body.solid < solid; });
    return at != bodies.end() && at->solid == int(s) ? &*at : nullptr;
}

Pose pose_of(const Scenario& scenario, const std::vector<RigidBody>& bodies, double time, std::size_t s) {
    if (const RigidBody* body = body_of(bodies, s)) return pose_of(*body);
    return pose_at(scenario.solids[s], time);
}

Pose pose_of(const World& world, const Scenario& scenario, std::size_t s) {
    if (const SpringBody* body = spring_body_of(world, s)) return pose_of(*body);
    if (const ElasticBody* body = elastic_body_of(world, s)) return pose_of(*body);
    return pose_of(scenario, world.bodies, world.time, s);
}

TriangleMesh mesh_of(const World& world, const Scenario& scenario, std::size_t s) {
    if (const SpringBody* body = spring_body_of(world, s)) return skin_of(*body);
    if (const ElasticBody* body = elastic_body_of(world, s)) return skin_of(*body);
    TriangleMesh mesh = body_mesh_at(scenario.solids[s], world.time);
    const Pose pose = pose_of(world, scenario, s);
    for (Vec3& v : mesh.vertices) v = pose.to_world(v);
    return mesh;
}

PlacedShape shape_of(const World& world, const Scenario& scenario, std::size_t s) {
    if (const SpringBody* body = spring_body_of(world, s); body && !body->net->springs.empty())
        return {std::make_shared<MeshSurface>(skin_of(*body)), {}};
    if (const ElasticBody* body = elastic_body_of(world, s))
        return {std::make_shared<MeshSurface>(skin_of(*body)), {}};
    PlacedShape shape = shape_at(scenario.solids[s], world.time);
    shape.pose = pose_of(world, scenario, s);
    return shape;
}

void World::visit_state(StateVisitor& visit, const Scenario& scenario) {
    visit.scalar("time", time);
    visit.scalar("step", step);
    liquid.visit_state(visit, scenario.domain);
    if (scenario.liquid.carrier == Carrier::sph) sph.visit_state(visit);
    // A world to be restored knows the bodies' masses from the scenario and only their motion from the file.
    const auto rigid = std::count_if(scenario.solids.begin(), scenario.solids.end(),
                                     [](const Solid& solid) { return solid.motion == Motion::rigid; });
    if (std::int64_t(bodies.size()) != rigid) bodies = bodies_at_start(scenario);
    if (!bodies.empty()) flotsam::visit_state(bodies, visit, "bodies");
    const auto sprung = std::count_if(scenario.solids.begin(), scenario.solids.end(),
                                      [](const Solid& solid) { return solid.motion == Motion::spring; });
    if (std::int64_t(springs.size()) != sprung) springs = springs_at_start(scenario);
    flotsam::visit_state(springs, visit, "springs");
    const auto elastic = std::count_if(scenario.solids.begin(), scenario.solids.end(),
                                       [](const Solid& solid) { return solid.motion == Motion::elastic; });
    if (std::int64_t(elastics.size()) != elastic) elastics = elastics_at_start(scenario);
    flotsam::visit_state(elastics, visit, "elastic");
    if (elastic > 0) {
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

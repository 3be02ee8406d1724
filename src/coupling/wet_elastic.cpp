#include "coupling/wet_elastic.h"

#include <algorithm>
#include <cmath>

#include "linalg/coupled_forms.h"

namespace flotsam {

SurfaceNodes skin_nodes(const ElasticMesh& mesh, int first) {
    SurfaceNodes nodes;
    for (const TetPlace& place : mesh.skin_place) {
        nodes.node.emplace_back();
        nodes.weight.push_back(place.weight);
        for (int k = 0; k < 4; ++k) nodes.node.back()[k] = first + mesh.rest.tets[place.tet][k];
    }
    return nodes;
}

Obstacle still_elastic_obstacle(const ElasticBody& body, const Domain& domain) {
    const auto surface = std::make_shared<MeshSurface>(skin_of(body));
    Obstacle obstacle{.shape = surface, .before = {}, .after = {}, .motion = {}, .cut = nullptr};
    obstacle.deformation = std::make_shared<Deformation>(
        Deformation{surface, surface, std::vector<Vec3>(surface->mesh().vertices.size())});
    obstacle.nodes = std::make_shared<SurfaceNodes>(skin_nodes(*body.mesh, 0));
    obstacle.cut = std::make_shared<CutSolid>(cut_solid(surface->mesh(), domain.cells, domain.h, {}, true));
    return obstacle;
}

void WetElastic::begin(const Scenario& scenario, const World& now, const std::vector<ElasticBody>& elastics,
                       const std::vector<RigidBody>& bodies, double time, double dt) {
    std::vector<RigidPartner> partners = rigid_partners(bodies, now.support, scenario.gravity, dt);
    const ContactSurroundings around = contact_surroundings(scenario, bodies, elastics, partners, time, dt);
    std::vector<ElasticContact> contacts = find_contacts(elastics, partners, around.scene, dt);
    bodies_ = bodies;
    pushed_.assign(bodies.size(), {});
    push_left_ = 0;
    equation_.begin(elastics, elastic_properties(scenario, elastics), scenario.gravity, time, dt,
                    std::move(contacts), std::move(partners), scenario.solver.solver == Solver::multigrid);
}

bool WetElastic::linearize(std::span<const Vec3> known, const SolverSettings& solver, NodeBlocks& nodes) {
    known_.assign(known.begin(), known.end());
    if (!equation_.linearize()) return false;
    const std::size_t blocks = equation_.velocity().size();
    switch (coupling_) {
        case ElasticCoupling::strong:
            nodes.from.assign(equation_.velocity().begin(), equation_.velocity().end());
            nodes.push.assign(equation_.descent().begin(), equation_.descent().end());
            break;
        case ElasticCoupling::damping:
            nodes.from = equation_.velocity_with({});
            nodes.push.assign(blocks, {});
            if (!equation_.linearize(false)) return false;
            break;
        case ElasticCoupling::weak:
            nodes.from.assign(equation_.velocity_before().begin(), equation_.velocity_before().end());
            nodes.find_free();
            return true;
    }
    nodes.momentum = &equation_;
    for (std::size_t n = 0; n < known.size(); ++n) nodes.push[n] += known[n];
    equation_.hold(nodes.push);
    if (solver.solver != Solver::multigrid) {
        nodes.equation =
            equation_.equation(solver.inspect || coupled_form(solver.solver) == CoupledForm::factored);
        nodes.equation->from.assign(nodes.from.begin(), nodes.from.begin() + std::ssize(known));
        nodes.equation->push.assign(nodes.push.begin(), nodes.push.begin() + std::ssize(known));
    }
    nodes.find_free();
    return true;
}

WetElastic::Taken WetElastic::take(std::span<const Vec3> impulse, std::vector<Vec3> velocity) {
    std::vector<Vec3> all = known_;
    for (std::size_t n = 0; n < all.size(); ++n) all[n] += impulse[n];
    if (coupling_ == ElasticCoupling::weak) {
        while (equation_.take(equation_.velocity_with(all), all).again)
            if (!equation_.linearize()) break;
        return {};
    }
    const ElasticEquation::Round round = equation_.take(std::move(velocity), all);
    if (coupling_ == ElasticCoupling::damping) return {};
    return {round.again, round.share};
}

bool WetElastic::push_bodies(const std::vector<Twist>& motion) {
    double change = 0;
    std::vector<RigidPartner>& partners = equation_.partners();
    for (std::size_t b = 0; b < partners.size(); ++b) {
        const Impulse push = equation_.partner_push(b);
        const Vec3 inverse = inverse_mass(bodies_[b]);
        const Mat3 inverse_inertia = inverse_inertia_in_world(bodies_[b]);
        const auto gain = [&](const Impulse& i) {
            return Twist{{inverse.x * i.linear.x, inverse.y * i.linear.y, inverse.z * i.linear.z},
                         inverse_inertia * i.angular};
        };
        const Twist more = gain({push.linear - pushed_[b].linear, push.angular - pushed_[b].angular});
        change = std::max({change, length(more.velocity), length(more.spin)});
        // The body's motion without the elastic pushes so far.
        if (length(push.linear) + length(push.angular) > 0) {
            const Twist before = gain(pushed_[b]);
            partners[b].free = {motion[b].velocity - before.velocity, motion[b].spin - before.spin};
        }
        pushed_[b] = push;
    }
    const bool again = coupling_ == ElasticCoupling::strong && change > 1e-4;
    push_left_ = again ? change : 0;
    return again && equation_.may_go_on();
}

bool add_elastic_blocks(WetElastic& elastic, const PressureSystem& system, const SolverSettings& solver,
                        double dt, SolidSystem& solids, std::vector<Pocket>& sealed) {
    solids.to_impulse = impulse_scale(system);
    NodeInterface interface = node_interface(system, elastic.nodes(), dt);
    solids.nodes.interface = std::move(interface.map);
    if (!elastic.linearize(interface.known, solver, solids.nodes)) return false;
    if (!solids.nodes.momentum) return true;
    open_to(solids.nodes.interface, sealed);
    if (solver.solver == Solver::multigrid) solids.nodes.lumped = elastic.equation().lumped();
    return true;
}

}  // namespace flotsam

// Small worlds of rigid bodies without any fluid.
#pragma once

#include <string>
#include <vector>

#include "solid/rigid/rigid_step.h"

namespace flotsam {

struct RigidWorld {
    std::vector<Solid> solids{};
    std::vector<Joint> joints{};
    Vec3 gravity{0, -9.81, 0};
    ContactWalls walls{{{-100, 0, -100}, {100, 200, 100}}, {false, false, true, false, false, false}};
    std::vector<RigidBody> bodies{};
    double time = 0;

    // A solid of density 1000 at a pose; returns its index.
    int add(SolidShape shape, Pose pose, Motion motion = Motion::rigid, double friction = 0.5,
            double restitution = 0) {
        Solid solid;
        solid.name = "solid" + std::to_string(solids.size());
        solid.motion = motion;
        solid.start = pose;
        solid.rigid.mass = mass_properties(enclosed_moments(shape.mesh), 1000);
        solid.rigid.friction = friction;
        solid.rigid.restitution = restitution;
        solid.shape = std::move(shape);
        solids.push_back(solid);
        return int(solids.size()) - 1;
    }
    Solid& last() { return solids.back(); }

    // Steps on; watch(world, impulses) sees every state.
    template <class Watch>
    void run(double duration, double dt, const Watch& watch) {
        if (bodies.empty())
            for (std::size_t s = 0; s < solids.size(); ++s)
                if (solids[s].motion == Motion::rigid)
                    bodies.push_back(make_rigid_body(int(s), solids[s].rigid, solids[s].start));
        const ContactShapes shapes(solids, joints);
        const double end = time + duration;
        while (time < end - 0.5 * dt) {
            const ContactImpulses impulses =
                step_rigid(bodies, solids, joints, shapes, walls, gravity, time, dt);
            time += dt;
            watch(*this, impulses);
        }
    }
    void run(double duration, double dt) {
        run(duration, dt, [](const RigidWorld&, const ContactImpulses&) {});
    }
};

}  // namespace flotsam

// Everything that changes during a run: plain data, no algorithms.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/state.h"
#include "core/vec.h"
#include "fluid/displaced.h"
#include "fluid/grid/liquid.h"
#include "fluid/grid/solid_load.h"
#include "fluid/sph/sph_liquid.h"
#include "linalg/solve.h"
#include "world/scenario.h"

namespace flotsam {

// Impulses on a rigid body in a step: of elastic bodies, and of all other contacts.
struct BodySupport {
    Impulse pushed, contacts;
};

// The bodies are those of the scenario that move by themselves (solid/solid.h).
struct World : Bodies {
    double time = 0;        // [s]
    std::int64_t step = 0;  // steps taken
    LiquidState liquid;
    SphLiquid sph;  // the state of an SPH liquid; `liquid` is then its copy for the rest of the program
    std::vector<SolidLoad> loads;      // of the liquid on each solid of the scenario, over the last step
    std::vector<BodySupport> support;  // of each rigid body in the last step; only with elastic bodies

    void visit_state(StateVisitor& visit, const Scenario& scenario);
};

// A world before its scheme has started: bodies where they start, no liquid.
World world_at_start(const Scenario& scenario);
// Pose of solid `s`, whatever moves it: at a time when the rigid bodies are as given, or now. For one that
// deforms, the best fit.
Pose pose_of(const Scenario& scenario, const std::vector<RigidBody>& bodies, double time, std::size_t s);
Pose pose_of(const World& world, const Scenario& scenario, std::size_t s);
// Its surface and its shape in that pose.
TriangleMesh mesh_of(const World& world, const Scenario& scenario, std::size_t s);
PlacedShape shape_of(const World& world, const Scenario& scenario, std::size_t s);

// Read-only input of a step. Built anew for every step; dt is passed, never stored.
struct StepContext {
    const Scenario& scenario;
    double time;  // at the start of the step [s]
    double dt;    // [s]
    std::int64_t step;
    bool ends_frame = false;  // the state after this step is written to files
};

// Impulses during a step on the bodies that move by themselves: rigid, made of springs or elastic [kg m/s].
struct BodyLedger {
    Vec3 gravity, liquid;  // on all of them: of gravity; of the liquid's pressure and friction
    Vec3 contacts;         // of contacts and joints with walls and other solids; those among bodies cancel
    Vec3 held;             // of locked axes, pins and loads, and on bodies before their release
    Vec3 unaccounted;      // change of their momentum that nothing above explains
    std::vector<Impulse> contact;  // of contacts and joints on each: rigid, spring, elastic bodies
};

// The balance of momentum and liquid in a step.
struct StepLedger {
    Vec3 gravity;          // impulse of gravity on the liquid [kg m/s]
    Vec3 walls;            // impulse of the walls' pressure on the liquid [kg m/s]
    Vec3 solids;           // impulse of the solids' pressure on the liquid [kg m/s]
    Vec3 friction;         // impulse of walls' and solids' friction on the liquid [kg m/s]
    Vec3 inflow, outflow;  // momentum of liquid that was emitted, that left [kg m/s]
    Vec3 unaccounted;      // change of the liquid's momentum that nothing above explains [kg m/s]
    // SPH only: change of the angular momentum of liquid and bodies about the origin that nothing explains,
    // and the change by corrected positions [kg m^2/s]; the volume that all corrected particles swept [m^3];
    // contacts of particles with walls or solids.
    Vec3 unaccounted_turning, corrected_turning;
    double corrected_volume = 0;
    std::int64_t contacts = 0;
    BodyLedger bodies;
    std::int64_t particles_in = 0, particles_out = 0;  // emitted; left or drained
    Displaced pushed;                                  // particles displaced by walls and solids
    Displaced reseeded;                                // moved from crowded cells to sparse ones
    double removed_volume = 0;  // net flow into or out of sealed pockets that was removed [m^3]
    std::int64_t droplets = 0;  // particles in cells whose centre is half a cell outside the surface or more
};

// How long a stage took.
struct StageTime {
    std::string stage;
    double milliseconds;
};

// Residuals of iterations within a step that reached their limit: the change in the last round. Zero where
// they converged.
struct Disagreement {
    double contacts = 0;          // of rigid bodies with the pressure [m/s]
    double newton = 0;            // of elastic bodies with their forces and contacts [m/s]
    std::int64_t separation = 0;  // cells that would still separate from solids or attach again [1]

    Disagreement& operator+=(const Disagreement& o) {
        contacts += o.contacts, newton += o.newton, separation += o.separation;
        return *this;
    }
};

// The outcome of a step: numerical trouble is a value here, and the driver decides what to do.
struct [[nodiscard]] StepReport {
    bool accepted = true;
    std::string reason;            // why it was not
    bool hopeless = false;         // a shorter step would not be accepted, either
    int repeats = 0;               // attempts with longer steps that were not accepted before this one
    std::string repeated_because;  // why the last of them was not
    SolveReport solve;
    int newton_steps = 0, elastic_iterations = 0;  // of the elastic bodies
    double largest_divergence = 0;                 // in liquid cells after the solve [1/s]
    double mach = 0;                               // top speed over the speed of sound; SPH only
    Disagreement disagreement;
    StepLedger ledger;
    std::vector<StageTime> stages;

    StepReport& reject(std::string why) {
        accepted = false;
        reason = std::move(why);
        return *this;
    }
    StepReport& give_up(std::string why) {
        hopeless = true;
        return reject(std::move(why));
    }
};

}  // namespace flotsam

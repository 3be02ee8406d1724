// One coupled solve: the pressure together with the momentum of all solids that it moves.
//
// The linear part is solved at once (pressure_solver.h). The nonlinear part takes outer iterations, all of
// them in solve_coupled: active contacts, the stiffness of elastic bodies, liquid that separates from solids.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "coupling/contact_response.h"
#include "coupling/wet_elastic.h"
#include "fluid/grid/pressure_stages.h"
#include "fluid/grid/solid_interface.h"
#include "world/world.h"

namespace flotsam {

// The state in the middle of a step, after all forces but those of pressure and contacts.
struct CoupledProblem {
    const Scenario& scenario;
    const World& now;  // as the step began
    double time, dt;   // time of the middle; length of the step
    const Obstacles& obstacles;
    const Field<double>& phi;              // liquid where it is below zero
    const Field<double>& source;           // wanted divergence [1/s]
    const ContactShapes* shapes;           // of the rigid bodies, where there are any
    const std::vector<RigidBody>& before;  // the rigid bodies before those forces acted,
    const std::vector<RigidBody>& bodies;  // and after
    const std::vector<ElasticBody>& elastics;
    int most_contact_rounds = 8;  // solves for contacts beyond the first
};

struct CoupledSolution {
    SolveReport solve;
    std::string trouble;        // why it cannot be used; empty if it can
    bool hopeless = false;      // a shorter step would fail too
    Disagreement disagreement;  // where an iteration reached its limit
    int newton_steps = 0;       // of elastic bodies

    MacGrid u;                           // the liquid's velocity
    Field<double> potential;             // pi [Pa]
    std::array<Field<char>, 3> changed;  // the faces that it acts on, per axis
    Field<char> released;                // cells that separate from solids; empty where none may
    InterfaceLoads loads;                // of the pressure on walls and solids
    double largest_divergence = 0;       // over liquid cells [1/s]
    double removed_flux = 0;             // net flux of sealed pockets that was removed [m^3/s]

    std::vector<Twist> motion;                // of the rigid bodies
    std::vector<Impulse> pushed;              // impulse of elastic bodies on each of them
    std::vector<Impulse> supported;           // impulse of contacts and joints on each of them
    std::optional<ContactResponse> contacts;  // their contacts and joints
};

// Makes `u` divergence-free; `potential` is the initial guess. `elastic` holds the elastic bodies' equation
// and receives their velocities; may be null.
CoupledSolution solve_coupled(const CoupledProblem& problem, WetElastic* elastic, MacGrid u,
                              Field<double> potential);

std::vector<BodyInertia> body_inertias(const std::vector<RigidBody>& bodies);

}  // namespace flotsam

// One coupled solve: the pressure together with the momentum of all solids that it moves.
//
// What is linear is solved at once (pressure_solver.h). What is not takes rounds, all of them in
// solve_coupled: contacts press or do not, elastic bodies change their stiffness, liquid lets go of solids.
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

// The middle of a step, when all forces but the pressure's and the contacts' have acted.
struct CoupledProblem {
    const Scenario& scenario;
    const World& now;  // as the step began
    double time, dt;   // of the middle; of the step
    const Obstacles& obstacles;
    const Field<double>& phi;              // liquid where it is below zero
    const Field<double>& source;           // the divergence that is wanted [1/s]
    const ContactShapes* shapes;           // of the rigid bodies, where there are any
    const std::vector<RigidBody>& before;  // the rigid bodies before those forces acted,
    const std::vector<RigidBody>& bodies;  // and after
    const std::vector<ElasticBody>& elastics;
    int most_contact_rounds = 8;  // solves that contacts may ask for beyond the first
};

struct CoupledSolution {
    SolveReport solve;
    std::string trouble;        // why it cannot be used; empty if it can
    bool hopeless = false;      // nor could that of a shorter step
    Disagreement disagreement;  // where rounds ran out
    int newton_steps = 0;       // of elastic bodies

    MacGrid u;                           // the liquid's velocity
    Field<double> potential;             // pi [Pa]
    std::array<Field<char>, 3> changed;  // the faces that it acts on, per axis
    Field<char> released;                // cells that let go of solids; empty where none may
    InterfaceLoads loads;                // of the pressure on walls and solids
    double largest_divergence = 0;       // over liquid cells [1/s]
    double removed_flux = 0;  // into and out of sealed pockets, which they could not take up [m^3/s]

    std::vector<Twist> motion;                // of the rigid bodies
    std::vector<Impulse> pushed;              // what elastic bodies gave each of them
    std::optional<ContactResponse> contacts;  // what they gave each other
};

// The velocity `u` loses its divergence; `potential` is the first guess. `elastic` holds the elastic bodies'
// equation and receives their velocities; may be none.
CoupledSolution solve_coupled(const CoupledProblem& problem, WetElastic* elastic, MacGrid u,
                              Field<double> potential);

std::vector<BodyInertia> body_inertias(const std::vector<RigidBody>& bodies);

}  // namespace flotsam

// Contacts and joints of bodies that the liquid holds, agreed upon with the pressure within a step.
//
// The pressure is solved without them; their impulses are found for the velocities that came out, added to
// what the bodies do without the pressure, and the pressure is solved again, until both agree
// (docs/decisions/0007). The active set is theirs: which contacts press, and how much.
#pragma once

#include <optional>
#include <vector>

#include "fluid/grid/obstacles.h"
#include "linalg/anderson.h"
#include "solid/rigid/contact.h"
#include "solid/rigid/solve_contacts.h"
#include "world/scenario.h"

namespace flotsam {

// An estimate of each body's added mass: half of what it displaces, as with a sphere, as far as its surface
// is wet [kg].
std::vector<double> added_mass(const std::vector<RigidBody>& bodies, const Obstacles& obstacles,
                               const Field<double>& phi, const Domain& domain, double density);

class ContactResponse {
  public:
    // `before` and `bodies`: in the middle of a step, at `time`, before and after forces other than pressure
    // and contacts. Impulses are found for bodies that are heavier by their added mass. What is agreed upon
    // does not depend on that, only how soon: a light body with its own mass alone gets too little of what it
    // needs in each round.
    ContactResponse(const ContactShapes& shapes, const Scenario& scenario,
                    const std::vector<RigidBody>& before, const std::vector<RigidBody>& bodies,
                    const std::vector<double>& added_mass, double time, double dt);

    bool any() const { return !contacts_.empty() || !joints_->empty(); }
    // Bodies move by `motion`, what was given so far included. Finds what should be given instead, and says
    // whether that differs: then the pressure must be solved again.
    bool revise(const std::vector<Twist>& motion);

    // By how much they would still change how bodies move, 0 where that is no more than agreement asks for
    // [m/s].
    double disagreement(const std::vector<Twist>& motion) const;

    // What contacts and joints have given to each body.
    const std::vector<Impulse>& given() const { return given_; }
    // Pushes apart what overlaps and closes open joints: poses only.
    void repair(std::vector<RigidBody>& bodies) const;

  private:
    struct Answer {
        ContactImpulses impulses;
        double change;  // of how bodies move [m/s]
    };
    Answer ask(const std::vector<Twist>& motion) const;

    const std::vector<Joint>* joints_;
    double dt_, tolerance_;
    std::vector<PlacedSolid> placed_;
    std::vector<Contact> contacts_;
    std::vector<RigidBody> heavy_;
    std::vector<Impulse> given_;            // to each body so far
    std::optional<ContactImpulses> found_;  // in the last round
    Anderson rounds_;
};

}  // namespace flotsam

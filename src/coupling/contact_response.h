// Contacts and joints of bodies in the liquid, iterated with the pressure within a step.
//
// What holds a joint together is part of the pressure's solve (docs/decisions/0015). Contacts, limits, motors
// and springs are not: their impulses are found for the resulting velocities and added to the bodies' motion
// without pressure, and the pressure is solved again, until both agree (docs/decisions/0007). The active set
// belongs to them: which contacts press, and how much.
#pragma once

#include <optional>
#include <vector>

#include "fluid/grid/obstacles.h"
#include "linalg/anderson.h"
#include "linalg/rigid_constraints.h"
#include "solid/rigid/contact.h"
#include "solid/rigid/solve_contacts.h"
#include "world/scenario.h"

namespace flotsam {

// An estimate of each body's added mass: half of the displaced mass, as for a sphere, times the wet share of
// its surface [kg].
std::vector<double> added_mass(const std::vector<RigidBody>& bodies, const Obstacles& obstacles,
                               const Field<double>& phi, const Domain& domain, double density);

class ContactResponse {
  public:
    // `before` and `bodies`: in the middle of a step, at `time`, before and after forces other than pressure
    // and contacts. Impulses are found for bodies with their added mass. The converged result does not depend
    // on it, only the rate of convergence: with its own mass alone, a light body gets too small an impulse
    // in each round.
    ContactResponse(const ContactShapes& shapes, const Scenario& scenario,
                    const std::vector<RigidBody>& before, const std::vector<RigidBody>& bodies,
                    const std::vector<double>& added_mass, double time, double dt);

    bool any() const { return !contacts_.empty() || !joints_->empty(); }
    // The rows that hold joints together, for the pressure's solve, and their targets so far.
    std::vector<ConstraintRow> held_rows() const;
    const std::vector<double>& held_targets() const { return held_targets_; }
    // `motion` is the bodies' motion, including the impulses given so far. Revises these impulses and the
    // targets of joints, and returns whether they changed: then the pressure must be solved again.
    bool revise(const std::vector<Twist>& motion);

    // Residual: by how much they would still change the bodies' velocities, 0 if that is within the tolerance
    // [m/s].
    double disagreement(const std::vector<Twist>& motion) const;

    // Impulses on each body but those that hold joints together.
    const std::vector<Impulse>& given() const { return given_; }
    // Pushes overlapping bodies apart and closes open joints; changes poses only.
    void repair(std::vector<RigidBody>& bodies) const;

  private:
    struct Answer {
        ContactImpulses impulses;
        double change;  // of the bodies' velocities [m/s]
    };
    Answer ask(const std::vector<Twist>& motion) const;

    const std::vector<Joint>* joints_;
    double dt_, tolerance_;
    std::vector<PlacedSolid> placed_;
    std::vector<Contact> contacts_;
    std::vector<RigidBody> heavy_;
    std::vector<Row> held_rows_;
    std::vector<double> held_targets_;
    std::vector<Impulse> given_;            // to each body so far
    std::optional<ContactImpulses> found_;  // in the last round
    Anderson rounds_;
};

}  // namespace flotsam

// Where solids touch, or may touch within a step.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "core/rotation.h"
#include "solid/rigid/joint.h"
#include "solid/rigid/rigid_body.h"
#include "solid/solid.h"

namespace flotsam {

struct Contact {
    int a = the_world, b = the_world;  // solids; walls are the_world, always b
    Vec3 point;                        // half way between the two surfaces [m]
    Vec3 normal;                       // from b to a
    double distance = 0;  // between the surfaces along the normal; negative when they overlap [m]
    double approach = 0;  // closing speed of the surfaces when the contact was found [m/s]
    double friction = 0, restitution = 0;
};

// The current pose and motion of a solid, whatever moves it; `motion` is about the pose's position.
struct PlacedSolid {
    Pose pose;
    Twist motion;
};

// All solids at a time; scripted ones have their mean motion during the next `dt`.
std::vector<PlacedSolid> place_solids(const std::vector<Solid>& solids, const std::vector<RigidBody>& bodies,
                                      double time, double dt);

// The box around everything; bodies leave through sides that are not closed.
struct ContactWalls {
    Box box;
    std::array<bool, 6> closed{};  // low x, high x, low y, ...
    // Those of them that are planes of symmetry. A body meets its image there, which slides along with it:
    // there is no friction. Bodies that they cut do not touch them.
    std::array<bool, 6> mirrors{};
};

// The solids' convex pieces, prepared once for a run. Mesh files are decomposed here, each only once per
// program run however many solids and runs use it.
class ContactShapes {
  public:
    ContactShapes(const std::vector<Solid>& solids, const std::vector<Joint>& joints);
    ContactShapes(ContactShapes&&) noexcept;
    ContactShapes& operator=(ContactShapes&&) noexcept;
    ~ContactShapes();

    // All contacts of rigid solids with each other, other solids and walls that can occur within `dt` at the
    // solids' present speed, or with `slack` [m] more. Solids that a joint other than a spring holds together
    // do not touch. Calls do not depend on earlier ones, and contacts are ordered by the solids' order alone:
    // the same poses give the same bits.
    std::vector<Contact> find(const std::vector<PlacedSolid>& placed, const ContactWalls& walls, double dt,
                              double slack) const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace flotsam

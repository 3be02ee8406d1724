// Contacts between solids made of springs: their nodes as balls that do not enter each other.
#pragma once

#include <functional>
#include <vector>

#include "solid/spring/spring_body.h"

namespace flotsam {

// Friction and restitution of two bodies, which `law` finds by their indices.
struct ContactLaw {
    double friction = 0, restitution = 0;
};

// Separates nodes of different bodies that are closer than their contact radii, and removes their approach
// speed by equal and opposite impulses, pair of bodies by pair in their order. Returns the impulse on each
// body [kg m/s].
std::vector<Vec3> collide(std::vector<SpringBody>& bodies,
                          const std::function<ContactLaw(std::size_t, std::size_t)>& law);

}  // namespace flotsam

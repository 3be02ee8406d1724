// Contacts between solids made of springs: their nodes as balls that do not enter each other.
#pragma once

#include <functional>
#include <vector>

#include "solid/spring/spring_body.h"

namespace flotsam {

// How two bodies rub and rebound, by their numbers in the list.
struct ContactLaw {
    double friction = 0, restitution = 0;
};

// Pushes nodes of different bodies apart that have come nearer than their contact radii, and takes away their
// approach: equal and opposite, nearest pairs of bodies first in their order. Returns the impulse on each
// body [kg m/s].
std::vector<Vec3> collide(std::vector<SpringBody>& bodies,
                          const std::function<ContactLaw(std::size_t, std::size_t)>& law);

}  // namespace flotsam

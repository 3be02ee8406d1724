// Contact terms in the equation of an elastic step: springs that act while gaps are negative at the end of
// the step, and friction.
#pragma once

#include <span>
#include <vector>

#include "solid/elastic/elastic_contact.h"

namespace flotsam {

double gap_at_end(const ElasticContact& c, std::span<const Vec3> v, double dt);

// Friction opposes sliding in proportion to the normal impulse of the previous solve. With that impulse
// fixed, friction is the gradient of a convex energy. At low sliding speeds it acts as a damper instead.
struct FrictionState {
    bool active = false;  // the contact takes part in the equation
    double normal = 0;    // normal impulse of the last solve [N s]
    double damper = 0;    // friction impulse in the equation per sliding speed [N s^2/m]
};

// Updates the normal impulses after a solve that ended with v. A contact that was inactive in it gets zero:
// an impulse estimated from its depth alone may be wrong by orders of magnitude. Returns whether friction
// changed enough to solve again.
bool update_friction(const std::vector<ElasticContact>& contacts, std::span<const Vec3> v, double dt,
                     std::vector<FrictionState>& states);

// The states before the first solve: contacts that overlap now press with their spring's present force.
std::vector<FrictionState> friction_at_start(const std::vector<ElasticContact>& contacts, double dt);

// The contacts' terms of the linear equation: returns rows of its second derivative (of an upper bound of it
// where something slides) and adds minus the gradient at v to `descent`. Friction acts as dampers for the
// sliding velocity of `rubbing`. Where `rubbing` is v, the dampers' energy equals that of friction at v and
// is larger elsewhere, so a step that decreases the former decreases the latter as well.
std::vector<BlockRow> linearize_contacts(const std::vector<ElasticContact>& contacts, std::span<const Vec3> v,
                                         std::span<const Vec3> rubbing, double dt,
                                         std::vector<FrictionState>& states, std::span<Vec3> descent);

double contact_energy(const std::vector<ElasticContact>& contacts, const std::vector<FrictionState>& states,
                      std::span<const Vec3> v, double dt);

}  // namespace flotsam

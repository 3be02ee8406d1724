// What contacts add to the equation of an elastic step: springs that act while gaps are negative at its end,
// and friction.
#pragma once

#include <span>
#include <vector>

#include "solid/elastic/elastic_contact.h"

namespace flotsam {

double gap_at_end(const ElasticContact& c, std::span<const Vec3> v, double dt);

// Friction pulls against the sliding with a share of the pressing impulse, which is the last known one: that
// makes it the slope of an energy without other minima. Slow sliding meets a damper instead.
struct FrictionState {
    bool active = false;  // the contact takes part in the equation
    double normal = 0;    // the pressing impulse that came out of it [N s]
    double damper = 0;    // what pulls in the equation, for each m/s of sliding [N s^2/m]
};

// After a solve that ended with v. A contact that took no part in it has not been pressed by anything yet:
// what its depth alone would say of its force may be wrong by orders of magnitude. Returns whether friction
// changed enough to solve again.
bool update_friction(const std::vector<ElasticContact>& contacts, std::span<const Vec3> v, double dt,
                     std::vector<FrictionState>& states);

// Before the first solve: what pressed presses on.
std::vector<FrictionState> friction_at_start(const std::vector<ElasticContact>& contacts, double dt);

// What contacts add to the equation: rows of its second derivative, or more than that where something slides;
// and minus the gradient at v, to `descent`. The dampers are those of sliding as with `rubbing`: where that
// is v itself their energy touches friction's there and lies above it elsewhere: what makes it smaller makes
// friction's smaller as well.
std::vector<BlockRow> linearize_contacts(const std::vector<ElasticContact>& contacts, std::span<const Vec3> v,
                                         std::span<const Vec3> rubbing, double dt,
                                         std::vector<FrictionState>& states, std::span<Vec3> descent);

double contact_energy(const std::vector<ElasticContact>& contacts, const std::vector<FrictionState>& states,
                      std::span<const Vec3> v, double dt);

}  // namespace flotsam

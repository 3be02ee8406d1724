// What contacts add to the equation of an elastic step: springs that act while gaps are negative at its end,
// and friction that sticks or slides.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "solid/elastic/elastic_contact.h"

namespace flotsam {

double gap_at_end(const ElasticContact& c, std::span<const Vec3> v, double dt);

// Whether a contact sticks or slides, and which way. It sticks as a damper that gives way slowly, until that
// would ask for more than friction can give; then friction pulls against the sliding, and what slides the
// other way after that sticks again.
struct FrictionState {
    bool slides = false;
    double a = 0, b = 0;   // the direction, along the two tangents
    bool pressed = false;  // the contact took part in the last solve
    double normal = 0;     // the pressing impulse that came out of it [N s]
};

// After a solve that ended with v. A contact that took no part in it has not been pressed by anything yet:
// what its depth alone would say of its force may be wrong by orders of magnitude. Returns whether friction
// changed enough to solve again.
bool update_friction(const std::vector<ElasticContact>& contacts, std::span<const Vec3> v, double dt,
                     std::vector<FrictionState>& states);

// Before the first solve: what slid slides on, and what pressed presses on.
std::vector<FrictionState> friction_at_start(const std::vector<ElasticContact>& contacts,
                                             std::span<const Vec3> v, double dt);

// What contacts add to energy, gradient and second derivative. Pressing forces and directions of friction are
// those of the last iteration: a fixed quadratic while a step of Newton's is judged.
struct ContactTerms {
    std::vector<BlockRow> rows;
    struct Friction {
        double pull = 0;                    // along the state's direction [N s]
        double damper_a = 0, damper_b = 0;  // along and across it, or along both tangents [N s^2/m]
    };
    std::vector<Friction> friction;  // of each contact
};

// Adds minus the gradient to `descent`. Contacts that are `kept` act even where they pull.
ContactTerms linearize_contacts(const std::vector<ElasticContact>& contacts,
                                const std::vector<FrictionState>& states, std::span<const Vec3> v, double dt,
                                std::span<Vec3> descent, std::span<const char> kept = {});

double contact_energy(const std::vector<ElasticContact>& contacts, const std::vector<FrictionState>& states,
                      const ContactTerms& terms, std::span<const Vec3> v, double dt);

}  // namespace flotsam

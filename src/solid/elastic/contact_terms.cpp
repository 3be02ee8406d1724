#include "solid/elastic/contact_terms.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace flotsam {

namespace {

// Sliding up to this speed counts as sticking [m/s]: static friction needs a little sliding for its force to
// be determined.
constexpr double sticking_speed = 1e-3;

}  // namespace

double gap_at_end(const ElasticContact& c, std::span<const Vec3> v, double dt) {
    return c.gap + dt * (c.normal.times(v) + c.drift);
}

namespace {

std::array<double, 2> sliding(const ElasticContact& c, std::span<const Vec3> v) {
    return {c.tangent[0].times(v) + c.slide[0], c.tangent[1].times(v) + c.slide[1]};
}
double sliding_speed(const ElasticContact& c, std::span<const Vec3> v) {
    const auto [a, b] = sliding(c, v);
    return std::hypot(a, b);
}

// Damper that stands for a friction impulse of one newton second.
double damper_at(double speed) { return 1 / std::max(speed, sticking_speed); }

}  // namespace

bool update_friction(const std::vector<ElasticContact>& contacts, std::span<const Vec3> v, double dt,
                     std::vector<FrictionState>& states) {
    double largest = 0, change = 0;
    for (std::size_t i = 0; i < contacts.size(); ++i) {
        const ElasticContact& c = contacts[i];
        FrictionState& state = states[i];
        const double gap = gap_at_end(c, v, dt);
        const double normal = state.active ? c.stiffness * dt * std::max(0.0, -gap) : 0;
        if (c.friction > 0) {
            const double speed = sliding_speed(c, v);
            const double pulled = speed * state.damper,
                         pulls = c.friction * normal * speed * damper_at(speed);
            largest = std::max({largest, c.friction * normal, pulled});
            change =
                std::max({change, std::abs(pulls - pulled), c.friction * std::abs(normal - state.normal)});
        }
        state.normal = normal;
    }
    return change > 0.05 * largest;
}

std::vector<FrictionState> friction_at_start(const std::vector<ElasticContact>& contacts, double dt) {
    std::vector<FrictionState> states(contacts.size());
    for (std::size_t i = 0; i < contacts.size(); ++i)
        states[i].normal = contacts[i].stiffness * dt * std::max(0.0, -contacts[i].gap);
    return states;
}

std::vector<BlockRow> linearize_contacts(const std::vector<ElasticContact>& contacts, std::span<const Vec3> v,
                                         std::span<const Vec3> rubbing, double dt,
                                         std::vector<FrictionState>& states, std::span<Vec3> descent) {
    std::vector<BlockRow> rows;
    const auto add = [&](BlockRow row, double stiffness, double slope) {
        for (int k = 0; k < row.count; ++k) descent[row.block[k]] -= slope * row.coefficient[k];
        row.stiffness = stiffness;
        rows.push_back(row);
    };
    for (std::size_t i = 0; i < contacts.size(); ++i) {
        const ElasticContact& c = contacts[i];
        FrictionState& state = states[i];
        const double gap = gap_at_end(c, v, dt);
        state.active = gap < 0;
        if (state.active) add(c.normal, c.stiffness * dt * dt, c.stiffness * dt * gap);
        state.damper = c.friction * state.normal * damper_at(sliding_speed(c, rubbing));
        if (state.damper == 0) continue;
        const std::array<double, 2> slide = sliding(c, v);
        for (int k = 0; k < 2; ++k) add(c.tangent[k], state.damper, state.damper * slide[k]);
    }
    return rows;
}

double contact_energy(const std::vector<ElasticContact>& contacts, const std::vector<FrictionState>& states,
                      std::span<const Vec3> v, double dt) {
    double sum = 0;
    for (std::size_t i = 0; i < contacts.size(); ++i) {
        const ElasticContact& c = contacts[i];
        const double gap = std::min(0.0, gap_at_end(c, v, dt));
        sum += 0.5 * c.stiffness * gap * gap;
        if (c.friction * states[i].normal == 0) continue;
        const double speed = sliding_speed(c, v);
        sum += c.friction * states[i].normal *
               (speed < sticking_speed ? 0.5 * speed * speed / sticking_speed : speed - 0.5 * sticking_speed);
    }
    return sum;
}

}  // namespace flotsam

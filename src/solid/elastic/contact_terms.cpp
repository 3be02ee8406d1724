#include "solid/elastic/contact_terms.h"

#include <algorithm>
#include <cmath>

namespace flotsam {

namespace {

// Sliding up to this speed counts as sticking [m/s]: a node that is held needs to give way a little, for the
// force that holds it to be known.
constexpr double sticking_speed = 1e-3;

}  // namespace

double gap_at_end(const ElasticContact& c, std::span<const Vec3> v, double dt) {
    return c.gap + dt * (c.normal.times(v) + c.drift);
}

namespace {

std::array<double, 2> sliding(const ElasticContact& c, std::span<const Vec3> v) {
    return {c.tangent[0].times(v) + c.slide[0], c.tangent[1].times(v) + c.slide[1]};
}

}  // namespace

bool update_friction(const std::vector<ElasticContact>& contacts, std::span<const Vec3> v, double dt,
                     std::vector<FrictionState>& states) {
    bool changed = false;
    double largest = 0;
    std::vector<double> before(contacts.size());
    for (std::size_t i = 0; i < contacts.size(); ++i) {
        FrictionState& state = states[i];
        const double gap = gap_at_end(contacts[i], v, dt);
        before[i] = state.normal;
        state.normal = state.pressed ? contacts[i].stiffness * dt * std::max(0.0, -gap) : 0;
        state.pressed = gap < 0;
        largest = std::max(largest, state.normal);
        if (contacts[i].friction == 0 || gap >= 0) continue;
        const auto [a, b] = sliding(contacts[i], v);
        const double speed = std::hypot(a, b);
        const bool slides = state.slides ? a * state.a + b * state.b > 0 : speed > sticking_speed;
        changed |= slides != state.slides;
        state.slides = slides;
        if (slides) state.a = a / speed, state.b = b / speed;
    }
    for (std::size_t i = 0; i < contacts.size(); ++i)
        changed |= contacts[i].friction > 0 && std::abs(states[i].normal - before[i]) > 0.05 * largest;
    return changed;
}

std::vector<FrictionState> friction_at_start(const std::vector<ElasticContact>& contacts,
                                             std::span<const Vec3> v, double dt) {
    std::vector<FrictionState> states(contacts.size());
    for (std::size_t i = 0; i < contacts.size(); ++i) {
        FrictionState& state = states[i];
        state.pressed = contacts[i].gap < 0;
        state.normal = contacts[i].stiffness * dt * std::max(0.0, -contacts[i].gap);
        const auto [a, b] = sliding(contacts[i], v);
        const double speed = std::hypot(a, b);
        state.slides = speed > sticking_speed;
        if (state.slides) state.a = a / speed, state.b = b / speed;
    }
    return states;
}

namespace {

// Sliding along a direction and across it.
std::array<double, 2> turned(const FrictionState& state, std::array<double, 2> slide) {
    if (!state.slides) return slide;
    return {slide[0] * state.a + slide[1] * state.b, slide[1] * state.a - slide[0] * state.b};
}
BlockRow turned_row(const ElasticContact& c, double a, double b) {
    BlockRow row = c.tangent[0];
    for (int k = 0; k < row.count; ++k)
        row.coefficient[k] = a * c.tangent[0].coefficient[k] + b * c.tangent[1].coefficient[k];
    return row;
}

}  // namespace

ContactTerms linearize_contacts(const std::vector<ElasticContact>& contacts,
                                const std::vector<FrictionState>& states, std::span<const Vec3> v, double dt,
                                std::span<Vec3> descent, std::span<const char> kept) {
    ContactTerms terms;
    terms.friction.resize(contacts.size());
    const auto add = [&](BlockRow row, double stiffness, double slope) {
        for (int k = 0; k < row.count; ++k) descent[row.block[k]] -= slope * row.coefficient[k];
        row.stiffness = stiffness;
        terms.rows.push_back(row);
    };
    for (std::size_t i = 0; i < contacts.size(); ++i) {
        const ElasticContact& c = contacts[i];
        const double gap = gap_at_end(c, v, dt);
        if (gap >= 0 && (kept.empty() || !kept[i])) continue;
        add(c.normal, c.stiffness * dt * dt, c.stiffness * dt * gap);
        const FrictionState& state = states[i];
        if (c.friction * state.normal == 0) continue;
        const std::array<double, 2> slide = sliding(c, v), own = turned(state, slide);
        const double most = c.friction * state.normal;
        ContactTerms::Friction& f = terms.friction[i];
        if (state.slides) {
            f.pull = most;
            f.damper_b = most / std::max(std::hypot(slide[0], slide[1]), sticking_speed);
            add(turned_row(c, state.a, state.b), 0, f.pull);
            add(turned_row(c, -state.b, state.a), f.damper_b, f.damper_b * own[1]);
        } else {
            f.damper_a = f.damper_b = most / sticking_speed;
            add(c.tangent[0], f.damper_a, f.damper_a * own[0]);
            add(c.tangent[1], f.damper_b, f.damper_b * own[1]);
        }
    }
    return terms;
}

double contact_energy(const std::vector<ElasticContact>& contacts, const std::vector<FrictionState>& states,
                      const ContactTerms& terms, std::span<const Vec3> v, double dt) {
    double sum = 0;
    for (std::size_t i = 0; i < contacts.size(); ++i) {
        const double gap = std::min(0.0, gap_at_end(contacts[i], v, dt));
        sum += 0.5 * contacts[i].stiffness * gap * gap;
        const ContactTerms::Friction& f = terms.friction[i];
        if (f.damper_b == 0) continue;
        const std::array<double, 2> own = turned(states[i], sliding(contacts[i], v));
        sum += f.pull * own[0] + 0.5 * (f.damper_a * own[0] * own[0] + f.damper_b * own[1] * own[1]);
    }
    return sum;
}

}  // namespace flotsam

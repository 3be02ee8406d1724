#include "linalg/solid_system.h"

#include <cmath>
#include <utility>

namespace flotsam {

void NodeBlocks::find_free() {
    free.clear();
    if (kept() || equation) return;
    free = from;
    if (!momentum) return;
    std::vector<Vec3> w = push, d(push.size());
    momentum->hold(w);
    momentum->invert(w, d, 1e-10);
    for (std::size_t n = 0; n < d.size(); ++n) free[n] += d[n];
}

void SolidSystem::add_outflow(const SolidVelocities& v, double sign, std::span<double> y) const {
    if (!rigid.interface.empty()) rigid.interface.scatter(v.rigid, y, [=](std::int64_t) { return sign; });
    if (!nodes.interface.empty()) nodes.interface.scatter(v.nodes, y, sign);
}

std::vector<Vec3> SolidSystem::node_impulse(std::span<const double> x) const {
    std::vector<Vec3> w(nodes.from.size());
    nodes.interface.gather(x, w);
    for (Vec3& value : w) value *= to_impulse;
    if (nodes.momentum) nodes.momentum->hold(w);
    return w;
}

namespace {

// v += S^-1 impulse
void add_gain(const RigidBlocks& rigid, const std::vector<Six<double>>& impulse,
              std::vector<Six<double>>& v) {
    for (std::size_t b = 0; b < v.size(); ++b) {
        const Six<double> gain = multiply(rigid.inverse[b], impulse[b]);
        for (int k = 0; k < 6; ++k) v[b][k] += gain[k];
    }
}

}  // namespace

SolidVelocities SolidSystem::known_velocity() const {
    SolidVelocities v{rigid.from, nodes.free.empty() ? nodes.from : nodes.free};
    add_gain(rigid, rigid.push, v.rigid);
    if (!rigid.joints.empty()) add_gain(rigid, rigid.joints.impulses(v.rigid), v.rigid);
    return v;
}

std::vector<Six<double>> SolidSystem::joint_impulses(std::span<const double> x) const {
    if (rigid.joints.empty()) return std::vector<Six<double>>(rigid.from.size());
    return rigid.joints.impulses(unjointed_velocity(x));
}

std::vector<Six<double>> SolidSystem::rigid_velocity(std::span<const double> x) const {
    std::vector<Six<double>> v = unjointed_velocity(x);
    if (!rigid.joints.empty()) add_gain(rigid, rigid.joints.impulses(v), v);
    return v;
}

std::vector<Six<double>> SolidSystem::unjointed_velocity(std::span<const double> x) const {
    std::vector<Six<double>> v = rigid.from;
    if (v.empty()) return v;
    std::vector<Six<double>> impulse = rigid.interface.gather(x);
    for (std::size_t b = 0; b < v.size(); ++b)
        for (int k = 0; k < 6; ++k) impulse[b][k] = to_impulse * impulse[b][k] + rigid.push[b][k];
    add_gain(rigid, impulse, v);
    return v;
}

SolidVelocities SolidSystem::velocity(std::span<const double> x, SolidVelocities found) const {
    found.rigid = rigid_velocity(x);
    if (nodes.free.empty()) return found;
    found.nodes = nodes.free;
    if (!nodes.momentum) return found;
    const std::vector<Vec3> w = node_impulse(x);
    std::vector<Vec3> d(w.size());
    nodes.momentum->invert(w, d, 1e-10);
    for (std::size_t n = 0; n < d.size(); ++n) found.nodes[n] += d[n];
    return found;
}

void SolidSystem::add_eliminated_nodes(std::span<const double> x, std::span<double> y) const {
    const std::vector<Vec3> w = node_impulse(x);
    std::vector<Vec3> d(w.size());
    nodes.momentum->invert(w, d, 1e-10);
    nodes.interface.scatter(d, y, 1);
}

double SolidSystem::add_rigid(std::span<const double> x, std::span<double> y) const {
    const LowRank<double>& modes = rigid.eliminated();
    const std::vector<Six<double>> w = modes.gather(x);
    const std::vector<Six<double>> z = modes.times_compliance(w);
    modes.scatter(z, y, [](std::int64_t) { return 1.0; });
    double product = 0;
    for (std::size_t g = 0; g < w.size(); ++g)
        for (int k = 0; k < 6; ++k) product += w[g][k] * z[g][k];
    return product;
}

LowRank<double> SolidSystem::rank_six_terms(std::int64_t slots) const {
    if (!nodes.momentum) return rigid.eliminated();
    std::vector<ModeEntry<double>> entries = rigid.eliminated().entries();
    std::vector<SixBySix<double>> compliance = rigid.eliminated().compliance();
    const auto bodies = std::int32_t(compliance.size());
    const LumpedMomentum& lumped = nodes.lumped;
    for (const InterfaceEntry& entry : nodes.interface.entries()) {
        const Vec3 turning = cross(lumped.arm[entry.node], entry.area);
        entries.push_back({entry.cell,
                           bodies + lumped.lump[entry.node],
                           {entry.area.x, entry.area.y, entry.area.z, turning.x, turning.y, turning.z}});
    }
    for (SixBySix<double> c : lumped.compliance) {
        for (Six<double>& row : c)
            for (double& value : row) value *= to_impulse;
        compliance.push_back(c);
    }
    return {slots, std::move(entries), std::move(compliance)};
}

std::vector<GroundLink> SolidSystem::ground_links() const {
    std::vector<GroundLink> grounds;
    if (!nodes.momentum) return grounds;
    const std::vector<InterfaceEntry>& entries = nodes.interface.entries();
    std::vector<Vec3> yields(nodes.interface.nodes());
    for (const InterfaceEntry& entry : entries) yields[entry.node] += entry.area;
    for (std::size_t n = 0; n < yields.size(); ++n) yields[n] = nodes.lumped.own[n] * yields[n] * to_impulse;
    for (std::size_t e = 0; e < entries.size();) {
        const std::uint32_t cell = entries[e].cell;
        double conductance = 0;
        Vec3 across;
        for (; e < entries.size() && entries[e].cell == cell; ++e) {
            conductance += dot(entries[e].area, yields[entries[e].node]);
            for (int a = 0; a < 3; ++a) across[a] += std::abs(entries[e].area[a]);
        }
        const int axis = across.x >= across.y && across.x >= across.z ? 0 : across.y >= across.z ? 1 : 2;
        if (conductance > 0) grounds.push_back({cell, axis, conductance});
    }
    return grounds;
}

}  // namespace flotsam

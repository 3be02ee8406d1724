#include "fluid/grid/solid_interface.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace flotsam {

namespace {

void add(Six<double>& six, Vec3 linear, Vec3 angular) {
    for (int a = 0; a < 3; ++a) six[a] += linear[a], six[3 + a] += angular[a];
}

// The part of net fluxes that joints do not balance, on bodies that `all` says are wet.
std::vector<Six<double>> unbalanced_where_wet(const RigidConstraints& joints, std::vector<Six<double>> sum,
                                              const std::vector<Six<double>>& all) {
    sum = joints.unbalanced(std::move(sum));
    for (std::size_t b = 0; b < sum.size(); ++b)
        for (int k = 0; k < 6; ++k)
            if (all[b][k] <= 0) sum[b][k] = 0;
    return sum;
}

// Whether a pocket's liquid can push a body aside. A constant pressure cannot push a body, or bodies that
// joints hold together, entirely inside the pocket: small net fluxes, which closed slivers leave, are
// removed, or that pressure would grow until they balance the inflow of the pocket.
bool gives_way(const Pocket& pocket, const PressureSystem& system, const std::vector<BodyInertia>& bodies,
               const RigidConstraints& joints, std::vector<ModeEntry<double>>& entries) {
    std::vector<char> inside(system.network.value_count(), 0);
    for (const std::int64_t n : pocket) inside[n] = 1;
    // Upper bound of an entry's fluxes, up to a factor.
    const auto size = [&](const ModeEntry<double>& entry) {
        const Vec3 at = system.domain->cell_center(system.network.place(entry.cell));
        const double area = std::hypot(entry.flux[0], entry.flux[1], entry.flux[2]);
        const double arm = area * length(at - bodies[entry.group].center);
        return Six<double>{area, area, area, arm, arm, arm};
    };
    std::vector<Six<double>> sum(bodies.size()), all(bodies.size());
    for (const ModeEntry<double>& entry : entries)
        if (inside[entry.cell])
            for (int k = 0; k < 6; ++k) {
                sum[entry.group][k] += entry.flux[k];
                all[entry.group][k] += size(entry)[k];
            }
    std::vector<Six<double>> removed = unbalanced_where_wet(joints, sum, all);
    for (std::size_t b = 0; b < bodies.size(); ++b)
        for (int k = 0; k < 6; ++k)
            if (std::abs(removed[b][k]) > 0.01 * all[b][k]) return true;
    // Bodies that this liquid does not touch are moved by their joints, too: what is removed for their sake
    // comes from those that it touches. A few dry bodies among wet ones are done with in a few rounds.
    constexpr int rounds = 40;
    for (int round = 0; round < rounds && !joints.empty(); ++round) {
        std::vector<Six<double>> left = sum;
        for (std::size_t b = 0; b < bodies.size(); ++b)
            for (int k = 0; k < 6; ++k) left[b][k] -= removed[b][k];
        left = unbalanced_where_wet(joints, std::move(left), all);
        for (std::size_t b = 0; b < bodies.size(); ++b)
            for (int k = 0; k < 6; ++k) removed[b][k] += left[b][k];
    }
    for (ModeEntry<double>& entry : entries) {
        if (!inside[entry.cell]) continue;
        const Six<double> share = size(entry);
        for (int k = 0; k < 6; ++k)
            if (const double whole = all[entry.group][k]; whole > 0)
                entry.flux[k] -= removed[entry.group][k] * share[k] / whole;
    }
    return false;
}

}  // namespace

double impulse_scale(const PressureSystem& system) { return system.density * std::pow(system.domain->h, 3); }

RigidBlocks rigid_blocks(const PressureSystem& system, const std::vector<BodyInertia>& bodies,
                         std::vector<ConstraintRow> joints, double dt, std::vector<Pocket>& sealed) {
    RigidBlocks rigid;
    if (bodies.empty()) return rigid;
    const double h = system.domain->h, to_impulse = impulse_scale(system);
    std::vector<int> body_of(system.obstacles->list.size(), -1);
    for (std::size_t b = 0; b < bodies.size(); ++b) body_of[bodies[b].obstacle] = int(b);
    std::vector<ModeEntry<double>> entries;
    rigid.from.resize(bodies.size());
    rigid.push.resize(bodies.size());
    for (const ObstaclePatch& patch : system.obstacles->patches) {
        const int b = body_of[patch.obstacle];
        if (b < 0 || felt_unknown(system, patch) < 0) continue;
        const Vec3 arm = patch.center - bodies[b].center;
        // The known part of the pressure: the datum of pi and the hydrostatic part.
        const Vec3 weight = hydrostatic_force(system, patch) * dt;
        const Vec3 turning = cross(arm, patch.area) + patch.curl;
        const double datum = system.density * system.datum * h * h * dt;
        add(rigid.push[b], weight + datum * patch.area,
            cross(arm, weight) + hydrostatic_torque(system, patch) * dt + datum * turning);
        const std::int64_t unknown = bounded_unknown(system, patch);
        if (unknown < 0) continue;
        entries.push_back({std::uint32_t(unknown), b, {}});
        add(entries.back().flux, patch.area, turning);
    }
    std::vector<SixBySix<double>> compliance(bodies.size());
    rigid.inverse.resize(bodies.size());
    for (std::size_t b = 0; b < bodies.size(); ++b)
        for (int i = 0; i < 3; ++i) {
            rigid.inverse[b][i][i] = bodies[b].inverse_mass[i];
            compliance[b][i][i] = to_impulse * bodies[b].inverse_mass[i];
            for (int j = 0; j < 3; ++j) {
                rigid.inverse[b][3 + i][3 + j] = bodies[b].inverse_inertia.row[i][j];
                compliance[b][3 + i][3 + j] = to_impulse * bodies[b].inverse_inertia.row[i][j];
            }
        }
    if (!joints.empty()) rigid.joints = RigidConstraints(rigid.inverse, std::move(joints));
    std::erase_if(sealed, [&](const Pocket& pocket) {
        return gives_way(pocket, system, bodies, rigid.joints, entries);
    });
    const std::int64_t slots = system.network.slot_count();
    rigid.interface = LowRank<double>(slots, std::move(entries), std::move(compliance));
    if (!rigid.joints.empty()) rigid.modes = rigid.joints.modes(rigid.interface, slots, to_impulse);
    return rigid;
}

NodeInterface node_interface(const PressureSystem& system, std::int64_t nodes, double dt) {
    const double h = system.domain->h;
    std::vector<InterfaceEntry> entries;
    NodeInterface interface { {}, std::vector<Vec3>(nodes) };
    for (const NodePatch& patch : system.obstacles->node_patches) {
        if (felt_unknown(system, patch) < 0) continue;
        const double datum = system.density * system.datum * h * h;
        interface.known[patch.node] += dt * (hydrostatic_force(system, patch) + datum * patch.exact);
        if (const std::int64_t unknown = bounded_unknown(system, patch); unknown >= 0)
            entries.push_back({std::uint32_t(unknown), patch.node, patch.area});
    }
    interface.map = InterfaceMap(system.network.slot_count(), nodes, std::move(entries));
    return interface;
}

void open_to(const InterfaceMap& map, std::vector<Pocket>& sealed) {
    std::erase_if(sealed, [&](const Pocket& pocket) {
        const auto by_cell = [](const InterfaceEntry& e, std::int64_t n) { return e.cell < n; };
        return std::any_of(pocket.begin(), pocket.end(), [&](std::int64_t n) {
            const auto at = std::lower_bound(map.entries().begin(), map.entries().end(), n, by_cell);
            return at != map.entries().end() && at->cell == n;
        });
    });
}

}  // namespace flotsam

#include "fluid/grid/solid_terms.h"

#include <algorithm>
#include <cmath>

namespace flotsam {

namespace {
constexpr int block = Tiling::cells_per_tile;
}

BodyTerm::BodyTerm(const PressureSystem& system, std::vector<MovableBody>& bodies, double dt)
    : bodies_(bodies), to_impulse_(system.density * std::pow(system.domain->h, 3)), sealed_(system.sealed) {
    if (bodies.empty()) return;
    const double h = system.domain->h;
    const Tiling& tiling = system.network.tiling();
    std::vector<int> body_of(system.obstacles->list.size(), -1);
    for (std::size_t b = 0; b < bodies.size(); ++b) body_of[bodies[b].obstacle] = int(b);
    std::vector<ModeEntry<double>> entries;
    weight_.resize(bodies.size());
    for (const ObstaclePatch& patch : system.obstacles->patches) {
        const int b = body_of[patch.obstacle];
        if (b < 0 || felt_cell(system, patch) < 0) continue;
        const Vec3 arm = patch.center - bodies[b].center;
        // What is known of pi beforehand: the datum and the weight of the water.
        const Vec3 weight = hydrostatic_force(system, patch) * dt;
        const Vec3 turning = cross(arm, patch.area) + patch.curl;
        const double datum = system.density * system.datum * h * h * dt;
        add(weight_[b], weight + datum * patch.area, cross(arm, weight) + datum * turning);
        if (system.phi[patch.cell] >= 0) continue;
        entries.push_back({std::uint32_t(tiling.find(patch.at)), b, {}});
        add(entries.back().flux, patch.area, turning);
    }
    std::erase_if(sealed_, [&](const auto& pocket) { return yields(pocket, system, entries); });
    std::vector<SixBySix<double>> compliance(bodies.size());
    for (std::size_t b = 0; b < bodies.size(); ++b)
        for (int i = 0; i < 3; ++i) {
            compliance[b][i][i] = to_impulse_ * bodies[b].inverse_mass[i];
            for (int j = 0; j < 3; ++j)
                compliance[b][3 + i][3 + j] = to_impulse_ * bodies[b].inverse_inertia.row[i][j];
        }
    modes_ = LowRank<double>(tiling.tile_count(), std::move(entries), std::move(compliance));
}

void BodyTerm::move(const std::vector<double>& x) {
    if (bodies_.empty()) return;
    std::vector<Six<double>> impulse = modes_.gather(x);
    for (std::size_t b = 0; b < bodies_.size(); ++b) {
        for (double& value : impulse[b]) value *= to_impulse_;
        bodies_[b].motion = moved(b, impulse[b]);
    }
}

bool BodyTerm::yields(const Pocket& pocket, const PressureSystem& system,
                      std::vector<ModeEntry<double>>& entries) const {
    const Tiling& tiling = system.network.tiling();
    std::vector<char> inside(tiling.value_count(), 0);
    for (const std::int64_t n : pocket) inside[n] = 1;
    // What an entry could be at most, all but for a factor.
    const auto size = [&](const ModeEntry<double>& entry) {
        const Vec3 at = system.domain->cell_center(cell_at(tiling, entry.cell / block, entry.cell % block));
        const double area = std::hypot(entry.flux[0], entry.flux[1], entry.flux[2]);
        const double arm = area * length(at - bodies_[entry.group].center);
        return Six<double>{area, area, area, arm, arm, arm};
    };
    std::vector<Six<double>> sum(bodies_.size()), all(bodies_.size());
    for (const ModeEntry<double>& entry : entries)
        if (inside[entry.cell])
            for (int k = 0; k < 6; ++k) {
                sum[entry.group][k] += entry.flux[k];
                all[entry.group][k] += size(entry)[k];
            }
    for (std::size_t b = 0; b < bodies_.size(); ++b)
        for (int k = 0; k < 6; ++k)
            if (std::abs(sum[b][k]) > 0.01 * all[b][k]) return true;
    for (ModeEntry<double>& entry : entries) {
        if (!inside[entry.cell]) continue;
        const Six<double> share = size(entry);
        for (int k = 0; k < 6; ++k)
            if (const double whole = all[entry.group][k]; whole > 0)
                entry.flux[k] -= sum[entry.group][k] * share[k] / whole;
    }
    return false;
}

Twist BodyTerm::moved(std::size_t b, const Six<double>& impulse) const {
    const MovableBody& body = bodies_[b];
    Twist twist = body.free;
    Vec3 angular;
    for (int a = 0; a < 3; ++a) {
        twist.velocity[a] += body.inverse_mass[a] * (impulse[a] + weight_[b][a]);
        angular[a] = impulse[3 + a] + weight_[b][3 + a];
    }
    twist.spin += body.inverse_inertia * angular;
    return twist;
}

YieldingTerm::YieldingTerm(const PressureSystem& system, YieldingSolids* solids, double dt, bool together)
    : solids_(solids),
      together_(together && solids && solids->answers()),
      to_impulse_(system.density * std::pow(system.domain->h, 3)) {
    if (!solids) return;
    const double h = system.domain->h;
    const Tiling& tiling = system.network.tiling();
    std::vector<InterfaceEntry> entries;
    known_.assign(solids->nodes(), {});
    for (const NodePatch& patch : system.obstacles->node_patches) {
        if (felt_cell(system, patch) < 0) continue;
        const double datum = system.density * system.datum * h * h;
        known_[patch.node] += dt * (hydrostatic_force(system, patch) + datum * patch.exact);
        if (system.phi[patch.cell] < 0)
            entries.push_back({std::uint32_t(tiling.find(patch.at)), patch.node, patch.area});
    }
    map_ = InterfaceMap(tiling.tile_count(), solids->nodes(), std::move(entries));
    impulse_.resize(known_.size());
    velocity_.resize(known_.size());
    seen_.resize(known_.size());
}

void YieldingTerm::keep_sealed(std::vector<Pocket>& sealed) const {
    if (!answers()) return;
    std::erase_if(sealed, [&](const Pocket& pocket) {
        const auto by_cell = [](const InterfaceEntry& e, std::int64_t n) { return e.cell < n; };
        return std::any_of(pocket.begin(), pocket.end(), [&](std::int64_t n) {
            const auto at = std::lower_bound(map_.entries().begin(), map_.entries().end(), n, by_cell);
            return at != map_.entries().end() && at->cell == n;
        });
    });
}

void YieldingTerm::add_known_outflow(std::vector<double>& to, double sign) const {
    if (!solids_) return;
    const bool kept = together_ || dear();
    map_.scatter(kept ? solids_->from().first(known_.size()) : solids_->free(), to, sign);
}

CoupledSystem YieldingTerm::coupled(const PressureSystem& system, AssembledNetwork assembled, double dt,
                                    const std::vector<double>& rhs, bool factors) const {
    const double h = system.domain->h;
    CoupledSystem coupled{std::move(assembled.matrix), map_.entries(), solids_->equation(factors), dt, {}};
    std::vector<std::uint32_t> row(rhs.size());
    for (const std::int64_t n : assembled.cell_index) {
        row[n] = std::uint32_t(coupled.rhs.size());
        coupled.rhs.push_back(h * h * rhs[n]);
    }
    for (double& value : coupled.liquid.value) value *= dt * h / system.density;
    for (InterfaceEntry& entry : coupled.interface)
        entry.cell = row[entry.cell], entry.area = h * h * entry.area;
    return coupled;
}

SolveReport YieldingTerm::solve_together(const PressureSystem& system, double dt, SolverSettings settings,
                                         const std::vector<double>& rhs, std::vector<double>& x) {
    const double h = system.domain->h, to_pressure = system.density * h / dt;
    if (settings.name == "iccg") settings.name = "spd";
    settings.tolerance.absolute *= h * h;
    AssembledNetwork assembled = assemble(system.network);
    const std::vector<std::int64_t> cell = assembled.cell_index;
    const bool factors = settings.inspect || coupled_form(settings.name) == CoupledForm::factored;
    const CoupledSystem all = coupled(system, std::move(assembled), dt, rhs, factors);
    if (settings.inspect) settings.inspect(all);
    std::vector<double> p(cell.size());
    for (std::size_t r = 0; r < p.size(); ++r) p[r] = to_pressure * x[cell[r]];
    const SolveReport report = flotsam::solve(all, settings, p, seen_);
    for (std::size_t r = 0; r < p.size(); ++r) x[cell[r]] = p[r] / to_pressure;
    return report;
}

SolveReport YieldingTerm::solve_keeping(Multigrid& multigrid, const std::vector<double>& rhs,
                                        std::vector<double>& x, const SolveTolerance& tolerance) {
    const std::span<const Vec3> from = solids_->from();
    std::vector<Vec3> d(from.size());  // from what was found last
    for (std::size_t n = 0; n < found_.size(); ++n) d[n] = found_[n] - from[n];
    solids_->hold(d);
    const SolveReport report = flotsam::solve(multigrid, *this, rhs, solids_->push(), x, d, tolerance);
    found_.assign(from.begin(), from.end());
    for (std::size_t n = 0; n < d.size(); ++n) found_[n] += d[n];
    seen_.assign(found_.begin(), found_.begin() + std::ssize(known_));
    return report;
}

void YieldingTerm::impulse(std::span<const double> x, std::span<Vec3> w) const {
    std::fill(w.begin(), w.end(), Vec3{});
    map_.gather(x, w.first(known_.size()));
    for (Vec3& value : w.first(known_.size())) value *= to_impulse_;
    solids_->hold(w);
}

void YieldingTerm::move(const std::vector<double>& x) {
    if (!solids_) return;
    find_impulse(x);
    if (together_ || dear()) return;  // it was found with x
    seen_.assign(solids_->free().begin(), solids_->free().end());
    if (!answers()) return;
    solids_->answer(impulse_, velocity_);
    for (std::size_t n = 0; n < seen_.size(); ++n) seen_[n] += velocity_[n];
}

bool YieldingTerm::take(std::vector<double>& x) {
    if (!solids_) return false;
    std::span<const Vec3> velocity;
    if (dear()) velocity = found_;
    if (together_) velocity = seen_;
    const YieldingSolids::Taken taken = solids_->take(impulse_, velocity);
    if (const double share = taken.share; share < 1) {
        for (std::size_t n = 0; n < x.size(); ++n) x[n] = last_x_[n] + share * (x[n] - last_x_[n]);
        for (std::size_t n = 0; n < seen_.size(); ++n)
            seen_[n] = last_seen_[n] + share * (seen_[n] - last_seen_[n]);
    }
    if (taken.again) last_x_ = x, last_seen_ = seen_;
    return taken.again;
}

void YieldingTerm::add(std::span<const double> x, std::span<double> y) const {
    find_impulse(x);
    solids_->answer(impulse_, velocity_);
    map_.scatter(velocity_, y, 1);
}

AddedGuess YieldingTerm::guess() const {
    AddedGuess guess;
    if (!answers()) return guess;
    YieldingSolids::Lumps lumps = solids_->lumps();
    std::vector<Vec3> yields(known_.size());
    for (const InterfaceEntry& entry : map_.entries()) yields[entry.node] += entry.area;
    for (std::size_t n = 0; n < yields.size(); ++n) yields[n] = lumps.own[n] * yields[n] * to_impulse_;
    const std::vector<InterfaceEntry>& entries = map_.entries();
    for (std::size_t e = 0; e < entries.size();) {
        const std::uint32_t cell = entries[e].cell;
        double conductance = 0;
        Vec3 across;
        for (; e < entries.size() && entries[e].cell == cell; ++e) {
            const InterfaceEntry& entry = entries[e];
            conductance += dot(entry.area, yields[entry.node]);
            for (int a = 0; a < 3; ++a) across[a] += std::abs(entry.area[a]);
            const Vec3 turning = cross(lumps.arm[entry.node], entry.area);
            guess.entries.push_back(
                {cell,
                 lumps.lump[entry.node],
                 {entry.area.x, entry.area.y, entry.area.z, turning.x, turning.y, turning.z}});
        }
        const int axis = across.x >= across.y && across.x >= across.z ? 0 : across.y >= across.z ? 1 : 2;
        if (conductance > 0) guess.grounds.push_back({cell, axis, conductance});
    }
    guess.compliance = std::move(lumps.compliance);
    for (SixBySix<double>& c : guess.compliance)
        for (Six<double>& row : c)
            for (double& value : row) value *= to_impulse_;
    return guess;
}

void YieldingTerm::find_impulse(std::span<const double> x) const {
    map_.gather(x, impulse_);
    for (Vec3& w : impulse_) w *= to_impulse_;
}

}  // namespace flotsam

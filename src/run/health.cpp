#include "run/health.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace flotsam {

namespace {

// Values up to these are harmless. They do not guarantee accuracy, but larger values deserve attention.
constexpr double harmless_change = 0.05;  // of velocity in the last round, relative to gravity's in a step
constexpr double harmless_push = 2;  // of a particle, in cells: solids may carry particles along that far
constexpr double harmless_reseeding = 0.01;  // share of all particles that are moved per step
constexpr double harmless_volume = 0.05;     // gained or lost, relative to the liquid's
constexpr double harmless_flux = 1e-3;       // removed from sealed pockets in a run, relative to that volume
constexpr double harmless_mach = 0.12;       // compresses by 1 %
constexpr double harmless_density = 1.1;     // largest, relative to rest; includes the kernel's noise

// A column of the audit, and the times beside it.
class Column {
  public:
    Column(const NumberTable& audit, std::string_view name) : time_(*audit.find("time")) {
        const std::vector<double>* found = audit.find(name);
        FLOTSAM_CHECK(found != nullptr);
        value_ = *found;
    }
    // A copy in which values up to limit(row) are zero.
    template <class Limit>
    Column beyond(const Limit& limit) const {
        Column rest = *this;
        for (std::size_t row = 0; row < value_.size(); ++row)
            if (value_[row] <= limit(row)) rest.value_[row] = 0;
        return rest;
    }
    double operator[](std::size_t row) const { return value_[row]; }
    double sum() const {
        double total = 0;
        for (const double value : value_) total += value;
        return total;
    }
    std::int64_t count_beyond(double limit) const {
        return std::count_if(value_.begin(), value_.end(), [&](double v) { return v > limit; });
    }
    double largest() const { return *std::max_element(value_.begin(), value_.end()); }
    double time_of_largest() const {
        return time_[std::max_element(value_.begin(), value_.end()) - value_.begin()];
    }
    std::string worst(std::string_view unit) const {
        return fmt::format("worst {:.2g}{} at t = {:.4g} s", largest(), unit, time_of_largest());
    }

  private:
    const std::vector<double>& time_;
    std::vector<double> value_;
};

std::string of_steps(std::int64_t count, std::size_t steps) {
    return fmt::format("in {} of {} steps", count, steps);
}

}  // namespace

std::vector<HealthNote> health_of(const NumberTable& audit, const Scenario& scenario) {
    std::vector<HealthNote> notes;
    const std::size_t steps = audit.rows();
    if (steps == 0) return notes;
    const auto column = [&](std::string_view name) { return Column(audit, name); };
    const auto note = [&](std::string what, std::string advice) {
        notes.push_back({std::move(what), std::move(advice)});
    };

    if (const Column repeated = column("steps.repeated"); repeated.largest() > 0)
        note(
            fmt::format(
                "{} of {} steps were repeated with smaller ones ({} attempts lost), most at t = {:.4g} s",
                repeated.count_beyond(0), steps, repeated.sum(), repeated.time_of_largest()),
            "A few are how trouble is caught. Many cost time: choose a smaller scene.cfl, or look at what is "
            "so fast or so stiff there.");
    const Column dt = column("dt");
    const auto harmless = [&](std::size_t row) {
        return harmless_change * std::max(length(scenario.gravity), 1.0) * dt[row];
    };
    if (const Column contacts = column("disagreement.contacts").beyond(harmless); contacts.largest() > 0)
        note(fmt::format("contacts and pressure did not agree {}, {}",
                         of_steps(contacts.count_beyond(0), steps), contacts.worst(" m/s")),
             "Bodies may creep or shake by that much: choose a smaller scene.cfl, or take bodies apart that "
             "touch along whole faces.");
    if (const Column newton = column("disagreement.newton").beyond(harmless); newton.largest() > 0)
        note(fmt::format("elastic bodies did not come to rest within their Newton steps {}, {}",
                         of_steps(newton.count_beyond(0), steps), newton.worst(" m/s")),
             "Raise newton_steps of the solid, or choose a smaller scene.cfl.");
    if (const Column cells = column("disagreement.separation"); cells.largest() > 0)
        note(fmt::format("where the liquid lets go of solids was not decided {}, {}",
                         of_steps(cells.count_beyond(0), steps), cells.worst(" cells")),
             "A few cells of a splash do no harm. Many: choose a smaller scene.cfl.");

    const double most_volume = column("liquid.particle_volume").largest();
    if (const Column removed = column("sealed.removed_volume"); removed.sum() > harmless_flux * most_volume)
        note(fmt::format(
                 "{:.3g} m^3 ({:.2g} % of the liquid) should have flowed into or out of places that are "
                 "full and closed, {}",
                 removed.sum(), 100 * removed.sum() / most_volume, removed.worst(" m^3")),
             "Solids that move as they are told squeeze liquid there, or it is crowded: leave it a way out, "
             "or room for air.");
    if (const Column left = column("liquid.particles_inside_solids"); left.largest() > 0)
        note(fmt::format("particles were inside solids or outside the domain {}, {}",
                         of_steps(left.count_beyond(0), steps), left.worst("")),
             "Solids are too thin or too fast for the method there: choose more cells or smaller steps.");
    const double h = scenario.domain.h;
    if (const Column farthest = column("particles.pushed_farthest"); farthest.largest() > harmless_push * h)
        note(fmt::format(
                 "particles were put up to {:.1f} cells away from where they went, at t = {:.4g} s; by "
                 "more than {} cells {}",
                 farthest.largest() / h, farthest.time_of_largest(), harmless_push,
                 of_steps(farthest.count_beyond(harmless_push * h), steps)),
             "A gap closes faster than its liquid can leave, or in a narrow one the liquid got wild (see "
             "liquid.top_speed there): choose more cells or smaller steps, or let the solid come slower.");
    {
        const Column moved = column("particles.reseeded"), all = column("liquid.particles");
        const double share = moved.sum() / std::max(all.sum(), 1.0);
        if (share > harmless_reseeding)
            note(fmt::format(
                     "{:.1f} % of the particles were moved from crowded places to sparse ones in a step, "
                     "{}",
                     100 * share, moved.worst(" particles")),
                 "Liquid is pressed together somewhere: choose smaller steps, or look at what presses it.");
    }
    if (most_volume > 0) {
        const Column volume = column("liquid.volume"), drops = column("liquid.droplet_volume"),
                     wanted = column("liquid.particle_volume"), time = column("time");
        double worst = 0, when = 0;
        for (std::size_t row = 0; row < steps; ++row)
            if (const double gain = volume[row] + drops[row] - wanted[row]; std::abs(gain) > std::abs(worst))
                worst = gain, when = time[row];
        if (std::abs(worst) > harmless_volume * most_volume)
            note(fmt::format(
                     "the surface encloses up to {:.1f} % {} than the particles stand for, at t = {:.4g} s",
                     100 * std::abs(worst) / most_volume, worst > 0 ? "more" : "less", when),
                 "Thin sheets and spray are more than cells can show, and foam less: choose more cells.");
    }
    if (const Column mach = column("liquid.mach"); mach.largest() > harmless_mach)
        note(fmt::format("the liquid came to Mach {:.2f} at t = {:.4g} s, above {} {}", mach.largest(),
                         mach.time_of_largest(), harmless_mach,
                         of_steps(mach.count_beyond(harmless_mach), steps)),
             "It is as compressible as that: raise liquid.speed_of_sound to ten times its top speed.");
    if (const Column density = column("liquid.density_ratio"); density.largest() > harmless_density)
        note(fmt::format("the liquid was pressed to {:.2f} times its density at t = {:.4g} s, above {} {}",
                         density.largest(), density.time_of_largest(), harmless_density,
                         of_steps(density.count_beyond(harmless_density), steps)),
             "Raise liquid.speed_of_sound, or choose more cells where it is squeezed.");
    return notes;
}

std::string health_text(const std::vector<HealthNote>& notes, std::size_t steps) {
    if (notes.empty()) return fmt::format("health: nothing to report in {} steps\n", steps);
    std::string text = "health:\n";
    for (const HealthNote& note : notes) text += fmt::format("- {}.\n  {}\n", note.what, note.advice);
    return text + "  docs/health.md tells more; every step is in audit.csv.\n";
}

void Health::on_step(const World&, const StepReport& report, double) {
    if (report.repeats > 0) ++reasons_[report.repeated_because];
}

void Health::on_finish(World& world, int, bool) {
    if (world.step == 0) return;  // there is no audit yet
    try {
        const NumberTable audit = read_number_table(audit_);
        std::vector<HealthNote> notes = health_of(audit, scenario_);
        std::string reasons;
        for (const auto& [reason, count] : reasons_)
            reasons += fmt::format("{}{} ({}x)", reasons.empty() ? "" : ", ", reason, count);
        if (!reasons.empty()) notes.front().what += ": " + reasons;  // repeated steps come first
        if (!notes.empty() || !quiet_) fmt::print(stderr, "{}", health_text(notes, audit.rows()));
    } catch (const std::runtime_error& error) {  // an error here must not keep the run from finishing
        fmt::print(stderr, "flotsam: no health summary: {}\n", error.what());
    }
}

}  // namespace flotsam

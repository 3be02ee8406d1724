#include "validate/validation.h"

#include <algorithm>
#include <cmath>

#include "core/stopwatch.h"
#include "coupling/scheme.h"
#include "validate/cases.h"

namespace flotsam {

double ValidationRow::error_percent() const {
    if (order) return value > reference ? 0 : 100 * (reference - value);
    return 100 * (reference == 0 ? std::abs(value) : std::abs(value / reference - 1));
}

bool ValidationRow::pass() const { return error_percent() <= tolerance_percent; }

RowVerdict ValidationRow::verdict() const {
    if (known_failure.empty()) return pass() ? RowVerdict::pass : RowVerdict::fail;
    return pass() ? RowVerdict::holds_now : RowVerdict::known;
}

ValidationRow observed_order(const std::string& quantity, const ValidationRow& coarse,
                             const ValidationRow& fine, std::string why_low) {
    const double order = std::log(coarse.error_percent() / fine.error_percent()) /
                         std::log(double(fine.resolution) / coarse.resolution);
    ValidationRow row{"", fine.variant, "", fine.resolution, "order of " + quantity, order, least_order,
                      0,  true};
    if (!why_low.empty()) row.reference = 0;
    row.why_low = std::move(why_low);
    return row;
}

const std::vector<ValidationCase>& validation_cases() {
    static const std::vector<ValidationCase> cases{
        {"rest", "water in a tank stays at rest", validate_rest},
        {"standing-wave", "period of a standing wave, against dispersion theory", validate_standing_wave},
        {"zalesak", "a slotted disc turned once keeps its area", validate_zalesak},
        {"cantilever", "an elastic beam bends, against the exact elastica, and swings", validate_cantilever,
         Motion::elastic},
        {"rigid-rotation", "elastic bodies turn without stress and keep their momentum",
         validate_rigid_rotation, Motion::elastic},
        {"cook", "Cook's membrane: shear and bending of a tapered sheet", validate_cook, Motion::elastic},
        {"dam-break-front", "front of a collapsing column, against Martin & Moyce 1952",
         validate_dam_break_front, Motion::fixed, ForPressure::any},
        {"sph-column", "a column of particles at rest: pressure and density", validate_sph_column,
         Motion::fixed, ForPressure::sound},
        {"sph-draft", "how deep a cuboid floats in particles, against Archimedes", validate_sph_draft,
         Motion::rigid, ForPressure::sound},
        {"spheric-2", "dam break onto a container, against Kleefsman et al. 2005", validate_spheric_2},
        {"free-slip", "water slides along solids: a ramp, a sphere in a stream", validate_free_slip},
        {"moving-sphere", "a sphere that crosses a tank ten times eats no water", validate_moving_sphere,
         Motion::scripted},
        {"added-mass", "a body released in a closed box full of water: buoyancy and added mass",
         validate_added_mass, Motion::rigid},
        {"kirchhoff-ellipse", "an ellipse flies through an unbounded liquid, against Kirchhoff's equations",
         validate_kirchhoff_ellipse, Motion::rigid},
        {"draft", "how deep bodies float, and which way up", validate_draft, Motion::rigid},
        {"heave-cylinder", "a floating cylinder comes to rest by the waves it makes, against linear theory",
         validate_heave_cylinder, Motion::rigid},
        {"cylinder-entry", "a cylinder falls into water, against Greenhow & Lin 1983",
         validate_cylinder_entry, Motion::rigid},
        {"rigid-alone", "rigid bodies without liquid: slide, roll, swing, tumble, stack, bounce",
         validate_rigid_alone, Motion::rigid},
        {"turek-hron", "a bar bends and swings under gravity, against Turek & Hron 2006 (CSM1 to CSM3)",
         validate_turek_hron, Motion::elastic},
        {"plate-column", "a clamped plate under a column of water: how far it sags, how fast it swings",
         validate_plate_column, Motion::elastic},
        {"elastic-gate", "water opens a rubber gate, against Antoci et al. 2007", validate_elastic_gate,
         Motion::elastic},
        {"zarifi", "an elastic slab in equilibrium with water, against Tables 6.5 and 6.6 of Zarifi 2017",
         validate_zarifi, Motion::elastic},
        {"sloshing", "volume of a sloshing tank over 10 s", validate_sloshing},
    };
    return cases;
}

std::vector<KnownFailure> run_validation(const ValidationCase& c, bool quick,
                                         const std::function<void(const ValidationRow&)>& report,
                                         const std::function<void(const ValidationCurve&)>& show) {
    std::vector<KnownFailure> unmet;
    for (const KnownFailure& entry : known_failures())
        if (entry.name == c.name && entry.level != (quick ? RunLevel::full : RunLevel::quick))
            unmet.push_back(entry);
    for (const SchemeEntry& scheme : schemes()) {
        const Capabilities able = scheme.make()->capabilities();
        const ForPressure other = able.compressible ? ForPressure::solved : ForPressure::sound;
        if (!able.liquid || able.comparison || c.pressure == other ||
            std::find(able.motions.begin(), able.motions.end(), c.needs) == able.motions.end())
            continue;
        Stopwatch watch;
        c.run({std::string(scheme.name), quick,
               [&](ValidationRow row) {
                   row.name = c.name;
                   row.method = scheme.name;
                   row.seconds = watch.lap() / 1000;
                   const auto entry =
                       std::find_if(unmet.begin(), unmet.end(), [&](const KnownFailure& known) {
                           return known.variant == row.variant && known.method == row.method &&
                                  known.resolution == row.resolution && known.quantity == row.quantity;
                       });
                   if (entry != unmet.end()) {
                       row.known_failure = entry->reason;
                       unmet.erase(entry);
                   }
                   report(row);
               },
               [&](ValidationCurve curve) {
                   curve.name = c.name;
                   curve.method = scheme.name;
                   show(curve);
               }});
    }
    return unmet;
}

}  // namespace flotsam

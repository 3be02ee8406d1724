#include "scene/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace flotsam {

namespace {

// Steps end at window borders only up to rounding.
constexpr double time_slack = 1e-9;  // [s]

std::string_view over_text(Claim::Over over) {
    switch (over) {
        case Claim::Over::every:
            return "";
        case Claim::Over::mean:
            return ", mean";
        case Claim::Over::max:
            return ", max";
        case Claim::Over::min:
            return ", min";
        case Claim::Over::rms:
            return ", rms";
        case Claim::Over::final:
            break;
    }
    return ", final";
}

std::string event_text(const Event& event) {
    return fmt::format("{} is {} {:g}", event.what, event.above ? "above" : "below", event.level);
}

std::string claim_text(const Claim& claim) {
    std::string text = claim.what;
    if (claim.relative_to_start) text += " relative to start";
    text += over_text(claim.over);
    if (claim.from_event && claim.from_event == claim.until_event)
        text += fmt::format(", when {}", event_text(*claim.from_event));
    else if (claim.from_event || claim.until_event)
        text += fmt::format("{}{}", claim.from_event ? ", once " + event_text(*claim.from_event) : "",
                            claim.until_event ? ", until " + event_text(*claim.until_event) : "");
    else if (claim.from == claim.until)
        text += fmt::format(", at {:g} s", claim.from);
    else if (claim.from > 0 && std::isfinite(claim.until))
        text += fmt::format(", {:g} to {:g} s", claim.from, claim.until);
    else if (claim.from > 0)
        text += fmt::format(", from {:g} s", claim.from);
    else if (std::isfinite(claim.until))
        text += fmt::format(", until {:g} s", claim.until);
    return claim.says.empty() ? text : fmt::format("{} ({})", claim.says, text);
}

std::string demand_text(const Claim& claim) {
    if (std::isinf(claim.min)) return fmt::format("at most {:g}", claim.max);
    if (std::isinf(claim.max)) return fmt::format("at least {:g}", claim.min);
    return fmt::format("{:g} .. {:g}", claim.min, claim.max);
}

}  // namespace

std::string_view word_of(ClaimVerdict::Kind kind) {
    switch (kind) {
        case ClaimVerdict::Kind::holds:
            return "holds";
        case ClaimVerdict::Kind::failed:
            return "FAILED";
        case ClaimVerdict::Kind::known_failure:
            return "known";
        case ClaimVerdict::Kind::mended:
            return "MENDED";
        case ClaimVerdict::Kind::unseen:
            break;
    }
    return "unseen";
}

std::string verdict_line(const ClaimVerdict& verdict) {
    std::string line = fmt::format("{:<6}  {}: measured {}, demanded {}", word_of(verdict.kind), verdict.text,
                                   verdict.measured, verdict.demanded);
    if (verdict.kind == ClaimVerdict::Kind::known_failure) line += "; known to fail: " + verdict.fails;
    if (verdict.kind == ClaimVerdict::Kind::mended)
        line += "; the scene says that it fails (" + verdict.fails + "): remove 'fails' from the claim";
    return line;
}

std::string verdict_summary(const std::vector<ClaimVerdict>& verdicts) {
    if (verdicts.empty()) return "the scene makes no claims";
    const auto count = [&](ClaimVerdict::Kind kind) {
        return std::count_if(verdicts.begin(), verdicts.end(),
                             [&](const ClaimVerdict& verdict) { return verdict.kind == kind; });
    };
    using Kind = ClaimVerdict::Kind;
    std::string text =
        fmt::format("{} of {} claims hold", count(Kind::holds) + count(Kind::mended), verdicts.size());
    if (count(Kind::known_failure) > 0) text += fmt::format(", {} known to fail", count(Kind::known_failure));
    if (count(Kind::unseen) > 0)
        text += fmt::format(", {} not judged: the run was cut short", count(Kind::unseen));
    for (const auto& [kind, heading] : {std::pair{Kind::failed, "\nfailed:"},
                                        {Kind::mended, "\nno longer failing, remove their 'fails':"}}) {
        if (count(kind) == 0) continue;
        text += heading;
        for (const ClaimVerdict& verdict : verdicts)
            if (verdict.kind == kind) text += "\n  " + verdict.text;
    }
    return text;
}

ClaimJudge::ClaimJudge(std::vector<Claim> claims, std::vector<Probe> probes)
    : claims_(std::move(claims)), probes_(std::move(probes)), records_(claims_.size()) {
    constexpr double never = std::numeric_limits<double>::infinity();
    for (std::size_t n = 0; n < claims_.size(); ++n) {
        const Claim& claim = claims_[n];
        records_[n].from = claim.from_event ? never : claim.from;
        records_[n].until = claim.until_event ? never : claim.until;
        if (claim.from_event) watches_.push_back({*claim.from_event, n, &Record::from});
        if (claim.until_event) watches_.push_back({*claim.until_event, n, &Record::until});
    }
}

void ClaimJudge::sample(double time, const World& world, const Scenario& scenario, const StepReport& report) {
    const auto value_of = [&](const std::string& what) {
        for (const Quantity& quantity : quantities())
            if (quantity.name == what) return quantity.value(world, scenario, report);
        for (const Probe& probe : probes_)
            if ("probe." + probe.name == what) return measure(probe, world, scenario);
        return std::numeric_limits<double>::quiet_NaN();
    };
    std::vector<double> values;
    values.reserve(claims_.size() + watches_.size());
    for (const Claim& claim : claims_) values.push_back(value_of(claim.what));
    for (const Watch& watch : watches_) values.push_back(value_of(watch.event.what));
    sample(time, values);
}

void ClaimJudge::sample(double time, const std::vector<double>& values) {
    FLOTSAM_CHECK(values.size() == claims_.size() + watches_.size(), values.size(), claims_.size());
    for (std::size_t w = 0; w < watches_.size(); ++w) sample(watches_[w], time, values[claims_.size() + w]);
    for (std::size_t n = 0; n < claims_.size(); ++n) sample(records_[n], time, values[n]);
}

void ClaimJudge::sample(Watch& watch, double time, double value) {
    const double level = watch.event.level;
    double& border = records_[watch.claim].*watch.border;
    if (std::isinf(border) && (watch.event.above ? value > level : value < level)) {
        // Between two steps: where the line between them passes the level.
        const double share = watch.any_sample ? (level - watch.last_value) / (value - watch.last_value) : 1;
        border = time - (1 - share) * (time - watch.last_time);
    }
    watch.any_sample = true;
    watch.last_time = time;
    watch.last_value = value;
}

void ClaimJudge::sample(Record& record, double time, double value) {
    if (!record.any_sample) record.start = value;
    double seen_time = time, seen = value;
    bool inside = time >= record.from - time_slack && time <= record.until + time_slack;
    if (record.from == record.until && !record.in_window && record.any_sample && !inside &&
        record.last_time < record.from && time > record.from) {
        // A moment between two steps: read it off the line between them.
        const double share = (record.from - record.last_time) / (time - record.last_time);
        seen = record.last_value + share * (value - record.last_value);
        seen_time = record.from;
        inside = true;
    }
    record.any_sample = true;
    record.last_time = time;
    record.last_value = value;
    if (!inside) return;

    if (!std::isfinite(seen) && !record.broken) {
        record.broken = true;
        record.broken_time = seen_time;
    }
    if (!record.in_window) {
        record.first_time = seen_time;
        record.low = record.high = seen;
        record.low_time = record.high_time = seen_time;
    } else {
        const double dt = seen_time - record.newest_time;
        record.integral += dt * (seen + record.newest) / 2;
        record.square_integral += dt * (seen * seen + record.newest * record.newest) / 2;
        if (seen < record.low) record.low = seen, record.low_time = seen_time;
        if (seen > record.high) record.high = seen, record.high_time = seen_time;
    }
    record.in_window = true;
    record.newest_time = seen_time;
    record.newest = seen;
}

std::vector<ClaimVerdict> ClaimJudge::verdicts(bool cut_short) const {
    std::vector<ClaimVerdict> all;
    for (std::size_t n = 0; n < claims_.size(); ++n)
        all.push_back(verdict(claims_[n], records_[n], cut_short));
    return all;
}

ClaimVerdict ClaimJudge::verdict(const Claim& claim, const Record& record, bool cut_short) const {
    using Kind = ClaimVerdict::Kind;
    ClaimVerdict result{claim_text(claim), "", demand_text(claim), Kind::failed, claim.fails};
    const bool within = holds(claim, record, result.measured);
    // What must hold at every step can be broken before its time is over.
    const bool open = cut_short && record.last_time < record.until - time_slack;
    if (open && (within || !record.in_window || claim.over != Claim::Over::every))
        result.kind = Kind::unseen;
    else if (claim.fails.empty())
        result.kind = within ? Kind::holds : Kind::failed;
    else
        result.kind = within ? Kind::mended : Kind::known_failure;
    return result;
}

bool ClaimJudge::holds(const Claim& claim, const Record& record, std::string& measured) const {
    if (!record.in_window) {
        measured = record.any_sample
                       ? fmt::format("nothing: the run ended at {:g} s, before that time", record.last_time)
                       : "nothing: no step was taken";
        return false;
    }
    if (record.broken) {
        measured = fmt::format("no finite number at {:g} s", record.broken_time);
        return false;
    }
    // Values are divided by it, not multiplied by 1 / start: what stays as it was is then exactly 1.
    double start = 1;
    if (claim.relative_to_start) {
        if (record.start == 0 || !std::isfinite(record.start)) {
            measured = fmt::format("no ratio: it was {} at the start", record.start);
            return false;
        }
        start = record.start;
    }
    // Time-weighted, so that short steps do not count for more; a single sample is its own mean.
    // Rounding in the sums must not bring either outside of what was seen.
    const double span = record.newest_time - record.first_time;
    const double mean =
        span > 0 ? std::clamp(record.integral / span, record.low, record.high) : record.newest;
    const double least = std::max({0.0, record.low, -record.high}), most = std::max(-record.low, record.high);
    const double rms = span > 0 ? std::clamp(std::sqrt(record.square_integral / span), least, most)
                                : std::abs(record.newest);
    const auto within = [&](double value) { return value >= claim.min && value <= claim.max; };
    double value = 0;
    switch (claim.over) {
        case Claim::Over::every: {
            // A negative start turns the order around.
            const bool turned = start < 0;
            const double low = (turned ? record.high : record.low) / start;
            const double high = (turned ? record.low : record.high) / start;
            if (low == high) {
                measured = fmt::format("{:.6g}", low);
                return within(low);
            }
            const double low_time = turned ? record.high_time : record.low_time;
            const double high_time = turned ? record.low_time : record.high_time;
            measured =
                fmt::format("{:.6g} (at {:g} s) .. {:.6g} (at {:g} s)", low, low_time, high, high_time);
            return within(low) && within(high);
        }
        case Claim::Over::mean:
            value = mean / start;
            break;
        case Claim::Over::rms:
            value = rms / std::abs(start);
            break;
        case Claim::Over::max:
            value = (start < 0 ? record.low : record.high) / start;
            break;
        case Claim::Over::min:
            value = (start < 0 ? record.high : record.low) / start;
            break;
        case Claim::Over::final:
            value = record.newest / start;
            break;
    }
    measured = fmt::format("{:.6g}", value);
    return within(value);
}

}  // namespace flotsam

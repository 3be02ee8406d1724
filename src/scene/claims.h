// What a scene says must be seen, and the judge who watches a run and decides.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sim/measure.h"

namespace flotsam {

// The first moment at which a quantity or a probe passes a level.
struct Event {
    std::string what;
    double level = 0;
    bool above = false;  // or below

    bool operator==(const Event&) const = default;
};

struct Claim {
    enum class Over { every, mean, max, min, rms, final };

    std::string what;  // a quantity's name, or "probe.NAME"
    std::string says;  // in words; may be empty
    double min = -std::numeric_limits<double>::infinity(), max = std::numeric_limits<double>::infinity();
    bool relative_to_start = false;  // min and max bound the value divided by its value at the start
    double from = 0, until = std::numeric_limits<double>::infinity();  // [s]; equal for a moment
    Over over = Over::every;
    std::string fails{};  // why it is known to fail at this scale; empty: it must hold
    // Instead of times; the same for a moment. A window that never begins is never seen.
    std::optional<Event> from_event = {}, until_event = {};
};

struct ClaimVerdict {
    enum class Kind {
        holds,
        failed,
        known_failure,  // fails, as the scene says it does
        mended,         // holds, although the scene says that it fails
        unseen,         // the run was cut short before its time was over
    };

    std::string text;      // what was claimed
    std::string measured;  // "0.9971 .. 1.0012", or why there is nothing
    std::string demanded;  // "0.99 .. 1.01"
    Kind kind = Kind::failed;
    std::string fails{};  // why it is known to fail

    // A claim that fails unexpectedly is trouble, and so is one that a scene calls failing without reason.
    bool good() const { return kind != Kind::failed && kind != Kind::mended; }
    bool holds() const { return kind == Kind::holds || kind == Kind::mended; }
};
std::string_view word_of(ClaimVerdict::Kind kind);  // "holds", "FAILED", ...

// "holds   liquid.volume relative to start: measured 0.998 .. 1.002, demanded 0.99 .. 1.01"
std::string verdict_line(const ClaimVerdict& verdict);
// How many claims held, and which did not.
std::string verdict_summary(const std::vector<ClaimVerdict>& verdicts);

// Watches a run from its start; keeps running sums only.
class ClaimJudge {
  public:
    ClaimJudge(std::vector<Claim> claims, std::vector<Probe> probes);

    // Call at the start and after every step, in order of time.
    void sample(double time, const World& world, const Scenario& scenario, const StepReport& report);
    // The same with one value for each claim, followed by those that the events of the claims watch.
    void sample(double time, const std::vector<double>& values);

    // Of a run that was cut short, a claim whose time is not over is left open.
    std::vector<ClaimVerdict> verdicts(bool cut_short = false) const;

  private:
    // What has been seen of one claim's quantity inside its window.
    struct Record {
        double start = 0;                      // value of the very first sample
        double last_time = 0, last_value = 0;  // of the newest sample, inside the window or not
        bool any_sample = false;
        double from = 0, until = 0;  // of the window [s]; infinite until its event
        bool in_window = false;      // at least one sample was
        bool broken = false;         // a value was not a finite number
        double broken_time = 0;      // when [s]
        double low = 0, high = 0;    // over the window
        double low_time = 0, high_time = 0;
        double first_time = 0, newest_time = 0, newest = 0;  // of the window
        double integral = 0, square_integral = 0;            // over time, trapezoids
    };
    // The border of a window that waits for its event.
    struct Watch {
        Event event;
        std::size_t claim;
        double Record::*border;  // of its window; infinite until then
        double last_time = 0, last_value = 0;
        bool any_sample = false;
    };
    void sample(Watch& watch, double time, double value);
    void sample(Record& record, double time, double value);
    ClaimVerdict verdict(const Claim& claim, const Record& record, bool cut_short) const;
    // Fills in what was measured; tells whether that is within the claim's bounds.
    bool holds(const Claim& claim, const Record& record, std::string& measured) const;

    std::vector<Claim> claims_;
    std::vector<Probe> probes_;
    std::vector<Record> records_;
    std::vector<Watch> watches_;
};

}  // namespace flotsam

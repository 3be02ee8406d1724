#include "sim/driver.h"

#include <cmath>

#include "core/format.h"
#include "core/free_memory.h"

namespace flotsam {

namespace {
// A failed step is tried again with half the time step at most this often (1/1024 of the planned step).
constexpr int most_halvings = 10;
// Times that differ by less than this share of a frame are the same.
constexpr double rounding = 1e-6;
}  // namespace

Driver::Driver(const Scenario& scenario, std::unique_ptr<Scheme> scheme)
    : scenario_(scenario), scheme_(std::move(scheme)) {}

void Driver::start() {
    now_ = world_at_start(scenario_);
    frame_ = 0;
    scheme_->start(now_, scenario_);
    return_free_memory();
}

void Driver::visit_state(StateVisitor& visit) {
    visit.scalar("frame", frame_);
    now_.visit_state(visit, scenario_);
    scheme_->visit_state(visit);
}

int Driver::last_frame() const {
    return std::min(most_frames_, frame_at(scenario_.time, scenario_.time.duration));
}

int frame_at(const TimeSettings& settings, double time) {
    return std::max(1, static_cast<int>(std::ceil(time * settings.frames_per_second - rounding)));
}

bool same_time(const TimeSettings& settings, double a, double b) {
    return std::abs(a - b) * settings.frames_per_second <= rounding;
}

double Driver::frame_time(int frame) const { return frame / scenario_.time.frames_per_second; }

std::pair<StepReport, double> Driver::advance(double until) {
    // Split what is left of this frame into equal steps that are all short enough.
    const double frame_end = frame_time(frame_ + 1);
    const double target =
        same_time(scenario_.time, until, frame_end) ? frame_end : std::min(frame_end, until);
    const double left = target - now_.time;
    const double wanted =
        scenario_.time.time_step > 0 ? scenario_.time.time_step : scheme_->stable_dt(now_, scenario_);
    const double steps = std::max(1.0, std::ceil(left / wanted - 1e-9));
    double dt = left / steps;
    std::string reason;  // why the last attempt failed
    for (int halving = 0;; ++halving) {
        set_reproduction_hint(format_text("step {} at t = {} s with dt = {} s", now_.step, now_.time, dt));
        StepReport report =
            scheme_->step(now_, next_, {scenario_, now_.time, dt, now_.step, steps == 1 && halving == 0});
        if (report.accepted) {
            report.repeats = halving;
            report.repeated_because = std::move(reason);
            std::swap(now_, next_);
            if (steps == 1 && halving == 0) {
                now_.time = target;  // exactly, so that frames do not drift
                if (target == frame_end) ++frame_;
            }
            return {std::move(report), dt};
        }
        if (!scenario_.time.retry || report.hopeless || halving == most_halvings)
            throw StepFailure(
                format_text("step {} failed at t = {} s with dt = {} s: {}{}", now_.step,
                            rounded(now_.time, 6), rounded(dt, 3), report.reason,
                            scenario_.time.retry || report.hopeless ? "" : " (retries are off)"));
        reason = std::move(report.reason);
        dt *= 0.5;
    }
}

bool Driver::run(const std::vector<Observer*>& observers, const std::atomic<bool>& stop) {
    for (Observer* o : observers) o->on_start(now_, frame_);
    while (frame_ < last_frame()) {
        if (stop) {
            for (Observer* o : observers) o->on_finish(now_, frame_, false);
            return false;
        }
        const int before = frame_;
        const auto [report, dt] = advance();
        for (Observer* o : observers) o->on_step(now_, report, dt);
        if (frame_ != before)
            for (Observer* o : observers) o->on_frame(now_, frame_);
    }
    for (Observer* o : observers) o->on_finish(now_, frame_, true);
    return true;
}

}  // namespace flotsam

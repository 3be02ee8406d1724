// The driver owns what is not physics: it plans dt, calls the scheme, swaps in the new state, retries a
// failed step with half the time step, and tells its observers.
#pragma once

#include <atomic>
#include <functional>
#include <limits>
#include <memory>

#include "coupling/scheme.h"
#include "world/world.h"

namespace flotsam {

// Called by the driver; exporters, audit, progress bar and checkpoints are observers.
class Observer {
  public:
    virtual ~Observer() = default;
    virtual void on_start(const World&, int /*frame*/) {}  // before the first step of this process
    virtual void on_step(const World&, const StepReport&, double /*dt*/) {}
    virtual void on_frame(World&, int /*frame*/) {}  // the world stands exactly at this frame's time
    virtual void on_finish(World&, int /*frame*/, bool /*completed*/) {}  // also after Ctrl-C
};

class Driver {
  public:
    Driver(const Scenario& scenario, std::unique_ptr<Scheme> scheme);

    // A fresh world at time zero, frame 0.
    void start();
    // Save, restore or hash everything that the future of this run depends on.
    void visit_state(StateVisitor& visit);

    // Steps to the end of the scene, or until `*stop` becomes true (checked between steps).
    // Returns false when stopped early; throws StepFailure when a step fails and cannot be retried.
    bool run(const std::vector<Observer*>& observers, const std::atomic<bool>& stop);

    // One step towards the next frame, not beyond the time `until`; returns its report and the dt it took.
    std::pair<StepReport, double> advance(double until = std::numeric_limits<double>::infinity());

    int frame() const { return frame_; }  // the last one reached
    int last_frame() const;
    void end_at(int frame) { most_frames_ = frame; }  // if that is before the end of the scene
    const World& world() const { return now_; }
    World& world() { return now_; }
    Scheme& scheme() { return *scheme_; }

  private:
    double frame_time(int frame) const;

    const Scenario& scenario_;
    std::unique_ptr<Scheme> scheme_;
    World now_, next_;
    int frame_ = 0;
    int most_frames_ = std::numeric_limits<int>::max();
};

// The first frame at or after a time, at least 1. A time that is a whole number of frames up to rounding is
// that frame's.
int frame_at(const TimeSettings& settings, double time);
// Whether two times are the same up to rounding: there is no step between them.
bool same_time(const TimeSettings& settings, double a, double b);

// A step failed at the smallest time step that we try; the message says how to reproduce it.
struct StepFailure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace flotsam

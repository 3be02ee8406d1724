// The progress of a run: a bar on a terminal, a line per frame elsewhere.
#pragma once

#include <chrono>
#include <string>

#include "sim/driver.h"

namespace flotsam {

class Progress : public Observer {
  public:
    Progress(int last_frame, double duration);

    void on_start(const World& world, int frame) override;
    void on_step(const World& world, const StepReport& report, double dt) override;
    void on_frame(World& world, int frame) override;
    void on_finish(World& world, int frame, bool completed) override;

  private:
    using Clock = std::chrono::steady_clock;
    double seconds_since(Clock::time_point then) const;
    void draw(const World& world);
    std::string time_left(const World& world) const;

    int last_frame_;
    double duration_;  // of the scene [s]
    bool terminal_;
    int frame_ = 0;
    double first_time_ = 0;                         // simulated, when this process began [s]
    std::int64_t first_step_ = 0, frame_step_ = 0;  // steps at the start of this process, of this frame
    Clock::time_point start_, frame_start_, drawn_;
};

// "[======      ]", `share` of it full.
std::string progress_bar(double share);
// Draws over the line that was drawn before, on a terminal.
void draw_progress_line(std::string line);

// "1:05" or "2:03:09".
std::string clock_text(double seconds);

}  // namespace flotsam

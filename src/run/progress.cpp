#include "run/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace flotsam {

namespace {

std::size_t terminal_columns() {
    winsize size{};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

}  // namespace

// To stderr: standard output belongs to results that other programs read.

Progress::Progress(int last_frame, double duration)
    : last_frame_(last_frame), duration_(duration), terminal_(::isatty(STDERR_FILENO) == 1) {}

double Progress::seconds_since(Clock::time_point then) const {
    return std::chrono::duration<double>(Clock::now() - then).count();
}

void Progress::on_start(const World& world, int frame) {
    start_ = frame_start_ = drawn_ = Clock::now();
    frame_ = frame;
    first_time_ = world.time;
    first_step_ = frame_step_ = world.step;
}

void Progress::on_step(const World& world, const StepReport&, double) {
    if (!terminal_ || seconds_since(drawn_) < 0.1) return;  // faster updates only flicker
    draw(world);
}

void Progress::on_frame(World& world, int frame) {
    frame_ = frame;
    if (terminal_) {
        draw(world);
    } else {
        fmt::print(stderr, "frame {}/{}  {:.3f} s  {} steps in {:.2f} s  {} left\n", frame, last_frame_,
                   world.time, world.step - frame_step_, seconds_since(frame_start_), time_left(world));
    }
    frame_step_ = world.step;
    frame_start_ = Clock::now();
}

void Progress::on_finish(World& world, int, bool) {
    if (terminal_) {
        draw(world);
        fmt::print(stderr, "\n");
    }
}

void Progress::draw(const World& world) {
    drawn_ = Clock::now();
    const double frames =
        (world.time - first_time_) / duration_ * last_frame_;  // since the start of this process
    const double seconds_per_frame = frames > 0 ? seconds_since(start_) / frames : 0;
    const double steps_per_frame = frames > 0 ? double(world.step - first_step_) / frames : 0;
    draw_progress_line(fmt::format("{} frame {}/{}  {:.3f} s  {} left  {:.2f} s/frame  {:.1f} steps/frame",
                                   progress_bar(world.time / duration_), frame_, last_frame_, world.time,
                                   time_left(world), seconds_per_frame, steps_per_frame));
}

std::string progress_bar(double share) {
    constexpr int width = 24;
    const int full = std::clamp(int(width * share), 0, width);
    return fmt::format("[{:=<{}}{:<{}}]", "", full, "", width - full);
}

void draw_progress_line(std::string line) {
    // A line that wraps could not be drawn over.
    line.resize(std::min(line.size(), terminal_columns() - 1));
    fmt::print(stderr, "\r{}\x1b[K", line);
    std::fflush(stderr);
}

std::string Progress::time_left(const World& world) const {
    const double done = world.time - first_time_;
    return done > 0 ? clock_text(seconds_since(start_) * std::max(duration_ - world.time, 0.0) / done) : "?";
}

std::string clock_text(double seconds) {
    const long whole = std::lround(seconds);
    const long minutes = whole / 60 % 60, hours = whole / 3600;
    return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60)
                     : fmt::format("{}:{:02}", minutes, whole % 60);
}

}  // namespace flotsam

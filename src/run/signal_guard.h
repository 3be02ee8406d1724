// Handles Ctrl-C as a request to stop.
#pragma once

#include <signal.h>

#include <atomic>
#include <iterator>

namespace flotsam {

// While it lives, Ctrl-C, SIGTERM and a closed terminal ask the work under way to stop soon; a second time
// they end the process at once. Writing beyond the limit of ulimit -f becomes an error instead of killing the
// process, and so does writing to a program that has ended. Only one may exist at a time.
class SignalGuard {
  public:
    // `promise` tells the user what happens now: "stopping after this step".
    explicit SignalGuard(const char* promise);
    SignalGuard(const SignalGuard&) = delete;
    SignalGuard& operator=(const SignalGuard&) = delete;
    ~SignalGuard();

    const std::atomic<bool>& stop() const { return stop_; }
    int signal() const { return signal_; }

  private:
    static constexpr int handled[] = {SIGINT, SIGTERM, SIGHUP};
    static constexpr int ignored[] = {SIGXFSZ, SIGPIPE};

    static void on_signal(int number);

    static std::atomic<bool> stop_;
    static std::atomic<int> signal_;
    static const char* promise_;
    static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);
    struct sigaction before_[std::size(handled)];
    void (*ignored_before_[std::size(ignored)])(int);
};

}  // namespace flotsam

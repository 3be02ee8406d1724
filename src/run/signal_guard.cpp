#include "run/signal_guard.h"

#include <unistd.h>

#include <cstring>

namespace flotsam {

std::atomic<bool> SignalGuard::stop_;
std::atomic<int> SignalGuard::signal_;
const char* SignalGuard::promise_;

SignalGuard::SignalGuard(const char* promise) {
    stop_ = false;
    signal_ = 0;
    promise_ = promise;
    for (std::size_t n = 0; n < std::size(handled); ++n) {
        struct sigaction action {};
        action.sa_handler = on_signal;
        sigemptyset(&action.sa_mask);
        ::sigaction(handled[n], nullptr, &before_[n]);
        if (before_[n].sa_handler != SIG_IGN) ::sigaction(handled[n], &action, nullptr);  // nohup stays nohup
    }
    for (std::size_t n = 0; n < std::size(ignored); ++n) ignored_before_[n] = ::signal(ignored[n], SIG_IGN);
}

SignalGuard::~SignalGuard() {
    for (std::size_t n = 0; n < std::size(handled); ++n) ::sigaction(handled[n], &before_[n], nullptr);
    for (std::size_t n = 0; n < std::size(ignored); ++n) ::signal(ignored[n], ignored_before_[n]);
}

void SignalGuard::on_signal(int number) {
    if (stop_.exchange(true)) {
        ::signal(number, SIG_DFL);
        ::raise(number);
        return;
    }
    signal_ = number;
    constexpr char advice[] = "; Ctrl-C again to quit at once\n";
    [[maybe_unused]] ssize_t unheard = ::write(STDERR_FILENO, "\n", 1);
    unheard = ::write(STDERR_FILENO, promise_, std::strlen(promise_));
    unheard = ::write(STDERR_FILENO, advice, sizeof advice - 1);
}

}  // namespace flotsam

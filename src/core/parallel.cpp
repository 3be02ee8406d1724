#include "core/parallel.h"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>

#include <memory>

#ifdef __SANITIZE_THREAD__
#include <algorithm>
#include <atomic>
#include <thread>
#endif

namespace flotsam {

namespace {
std::unique_ptr<tbb::global_control>& control() {
    static std::unique_ptr<tbb::global_control> c;
    return c;
}
int& requested_threads() {
    static int n = 0;
    return n;
}
}  // namespace

void set_thread_count(int count) {
    requested_threads() = count;
    control().reset();
    if (count > 0)
        control() =
            std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, count);
}

int thread_count() {
    return requested_threads() > 0 ? requested_threads() : tbb::info::default_concurrency();
}

void parallel_blocks(std::int64_t count, std::int64_t grain,
                     FunctionRef<void(std::int64_t, std::int64_t)> body) {
    const std::int64_t blocks = (count + grain - 1) / grain;
    const auto run = [&](std::int64_t b) { body(b * grain, std::min(count, (b + 1) * grain)); };
    if (blocks <= 1 || requested_threads() == 1) {
        for (std::int64_t b = 0; b < blocks; ++b) run(b);
        return;
    }
#ifdef __SANITIZE_THREAD__
    // ThreadSanitizer cannot see how TBB's own binary synchronises and would report every loop. It
    // understands plain threads; the relaxed counter orders nothing, so that races between blocks stay
    // visible.
    std::atomic<std::int64_t> next{0};
    std::vector<std::thread> threads(std::min<std::int64_t>(blocks, std::max(2, thread_count())));
    for (std::thread& thread : threads)
        thread = std::thread([&] {
            for (std::int64_t b; (b = next.fetch_add(1, std::memory_order_relaxed)) < blocks;) run(b);
        });
    for (std::thread& thread : threads) thread.join();
#else
    tbb::parallel_for(std::int64_t{0}, blocks, run);
#endif
}

}  // namespace flotsam

// Parallel loops and sums whose result does not depend on the number of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace flotsam {

// A non-owning reference to a callable; keeps the thread library out of every header.
template <class Signature>
class FunctionRef;
template <class R, class... Args>
class FunctionRef<R(Args...)> {
  public:
    template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>)
        FunctionRef(F&& f)  // NOLINT(bugprone-forwarding-reference-overload): excluded by the constraint
        : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
          call_([](void* object, Args... args) -> R {
              return (*static_cast<std::remove_reference_t<F>*>(object))(args...);
          }) {}
    R operator()(Args... args) const { return call_(object_, args...); }

  private:
    void* object_;
    R (*call_)(void*, Args...);
};

// Use this many threads from now on; 0 means all cores.
void set_thread_count(int count);
int thread_count();

// Calls body(begin, end) for consecutive blocks of `grain` indices of [0, count), in any order.
void parallel_blocks(std::int64_t count, std::int64_t grain,
                     FunctionRef<void(std::int64_t, std::int64_t)> body);

// Calls body(i) for every i of [0, count).
template <class Body>
void parallel_for(std::int64_t count, std::int64_t grain, const Body& body) {
    parallel_blocks(count, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) body(i);
    });
}

// Sum over [0, count): blocks of fixed size are summed front to back, then their results in order. The same
// bits on any number of threads. T needs a default constructor that is zero, and +=.
template <class T, class Term>
T fixed_sum(std::int64_t count, std::int64_t grain, const Term& term) {
    std::vector<T> partial((count + grain - 1) / grain);
    parallel_blocks(count, grain, [&](std::int64_t begin, std::int64_t end) {
        T sum{};
        for (std::int64_t i = begin; i < end; ++i) sum += term(i);
        partial[begin / grain] = sum;
    });
    T total{};
    for (const T& p : partial) total += p;
    return total;
}

// Largest value of term over [0, count), or `least` when there is none.
template <class Term>
double parallel_max(std::int64_t count, std::int64_t grain, double least, const Term& term) {
    std::vector<double> partial((count + grain - 1) / grain, least);
    parallel_blocks(count, grain, [&](std::int64_t begin, std::int64_t end) {
        double m = least;
        for (std::int64_t i = begin; i < end; ++i) {
            const double value = term(i);
            m = value > m ? value : m;
        }
        partial[begin / grain] = m;
    });
    double m = least;
    for (const double p : partial) m = p > m ? p : m;
    return m;
}

}  // namespace flotsam

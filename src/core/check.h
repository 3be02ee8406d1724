// FLOTSAM_CHECK: fails only through a bug of ours. It prints the expression, its place and how to reproduce
// the step, then aborts the run; files on disk stay valid. A user's mistake is a UserError instead.
#pragma once

#include <stdexcept>
#include <string>

namespace flotsam {

// A mistake in the user's input: the message says where and what it is, and what to do about it.
struct UserError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A failure of the disk, not of the user or the program: full, read-only, unreadable.
struct IoError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The disk fails for every file: continuing with the next file is useless.
struct DiskError : IoError {
    using IoError::IoError;
};

// What the driver is doing now, printed when a check fails ("flotsam run x.toml --resume, step 12, dt 0.01").
void set_reproduction_hint(std::string hint);

[[noreturn]] void check_failed(const char* expression, const char* file, int line,
                               const std::string& operands);

namespace detail {
std::string operand_text(double a);
std::string operand_text(double a, double b);
}  // namespace detail

}  // namespace flotsam

// FLOTSAM_CHECK(condition), (condition, a) or (condition, a, b): the numbers are printed on failure.
#define FLOTSAM_CHECK_SELECT(_1, _2, _3, NAME, ...) NAME
#define FLOTSAM_CHECK_1(c) ((c) ? void() : ::flotsam::check_failed(#c, __FILE__, __LINE__, ""))
#define FLOTSAM_CHECK_2(c, a) \
    ((c) ? void()             \
         : ::flotsam::check_failed(#c, __FILE__, __LINE__, ::flotsam::detail::operand_text(double(a))))
#define FLOTSAM_CHECK_3(c, a, b)                           \
    ((c) ? void()                                          \
         : ::flotsam::check_failed(#c, __FILE__, __LINE__, \
                                   ::flotsam::detail::operand_text(double(a), double(b))))
#define FLOTSAM_CHECK(...) \
    FLOTSAM_CHECK_SELECT(__VA_ARGS__, FLOTSAM_CHECK_3, FLOTSAM_CHECK_2, FLOTSAM_CHECK_1)(__VA_ARGS__)

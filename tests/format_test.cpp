#include "core/format.h"

#include <doctest/doctest.h>

#include <limits>

using namespace flotsam;

TEST_CASE("numbers are written with as few digits as read back to the same number") {
    CHECK(to_text(0.1) == "0.1");
    CHECK(to_text(1.0 / 3) == "0.3333333333333333");
    CHECK(to_text(100000.0) == "100000");
    CHECK(to_text(-2.5e-7) == "-2.5e-07");
    CHECK(to_text(1e300) == "1e+300");
    CHECK(to_text(0.0) == "0");
    CHECK(to_text(std::numeric_limits<double>::infinity()) == "inf");
    CHECK(rounded(1.0 / 3, 3) == "0.333");
    CHECK(rounded(0.25, 6) == "0.25");
}

TEST_CASE("values stand where the pattern has braces, one after the other") {
    CHECK(format_text("{}: {} of {} m", "a.obj", 3, 0.5) == "a.obj: 3 of 0.5 m");
    CHECK(format_text("{}{}", std::string("{}"), 7u) == "{}7");  // what is filled in is not looked at again
    CHECK(format_text("nothing") == "nothing");
}

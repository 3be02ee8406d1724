#include "near.h"

#include <string>

using namespace flotsam;

TEST_CASE("near: a tolerance is relative to the reference, or absolute, and nothing is added") {
    CHECK(1.0009e-5 == near(1e-5).relative(1e-3));
    CHECK_FALSE(1.0011e-5 == near(1e-5).relative(1e-3));
    CHECK_FALSE(0.0 == near(1e-5).relative(0.5));
    CHECK(-1.0009e8 == near(-1e8).relative(1e-3));
    CHECK_FALSE(1e8 == near(-1e8).relative(0.9));
    CHECK(1 + 1e-13 == near(1).relative(1e-12));
    CHECK_FALSE(1 + 1e-11 == near(1).relative(1e-12));
    CHECK(9e-10 == near(0).absolute(1e-9));
    CHECK_FALSE(1.1e-9 == near(0).absolute(1e-9));
    CHECK(1e6 + 0.5 == near(1e6).absolute(0.6));
    CHECK_FALSE(1e6 + 0.7 == near(1e6).absolute(0.6));
}

TEST_CASE("near: what is no number is near nothing") {
    const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
    CHECK_FALSE(nan == near(1).relative(0.5));
    CHECK_FALSE(nan == near(1).absolute(1e300));
    CHECK_FALSE(inf == near(1).absolute(1e300));
    CHECK_THROWS(near(nan).absolute(1));
    CHECK_THROWS(near(inf).relative(0.1));
}

TEST_CASE("near: a tolerance that could not fail, or that only fails, is an error") {
    CHECK_THROWS(near(0).relative(1e-3));
    CHECK_THROWS(near(3).relative(1));  // zero would pass
    CHECK_THROWS(near(3).relative(0));
    CHECK_THROWS(near(3).absolute(-1));
    CHECK_THROWS(near(3).absolute(std::nan("")));
}

TEST_CASE("near: a failure shows reference and tolerance") {
    CHECK(std::string(toString(near(0.1).relative(1e-3)).c_str()) ==
          "0.10000000000000001 within 0.001 of that");
    CHECK(std::string(toString(near(2).absolute(1e-9)).c_str()) == "2 within 1e-09");
}

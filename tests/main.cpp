#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/places.h"

namespace flotsam {

namespace {

std::string place(const char* variable, const char* built) {
    const char* given = std::getenv(variable);
    return given ? given : built;
}

}  // namespace

const std::string& source_folder() {
    static const std::string path = place("FLOTSAM_SOURCE_DIR", FLOTSAM_SOURCE_DIR);
    return path;
}

const std::string& program_file() {
    static const std::string path = place("FLOTSAM_BINARY", FLOTSAM_BINARY);
    return path;
}

}  // namespace flotsam

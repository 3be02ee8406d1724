// The program as a user calls it.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdio>
#include <string>

#include "tests/places.h"

namespace flotsam {

struct Said {
    int code = -1;
    std::string text;  // standard output and error together
};

// `before`: what a shell line begins with, such as variables.
inline Said flotsam_says(const std::string& arguments, const std::string& before = "") {
    std::FILE* pipe = ::popen((before + " '" + program_file() + "' " + arguments + " 2>&1").c_str(), "r");
    REQUIRE(pipe != nullptr);
    Said said;
    char buffer[4096];
    while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, pipe))
        said.text.append(buffer, count);
    const int status = ::pclose(pipe);
    said.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return said;
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}
inline bool contains(const Said& said, const std::string& part) { return contains(said.text, part); }

}  // namespace flotsam

// Where the sources and the program under test are. The environment variables FLOTSAM_SOURCE_DIR and
// FLOTSAM_BINARY say so where the tests were taken to another machine; otherwise it is where they were built.
#pragma once

#include <string>

namespace flotsam {

const std::string& source_folder();
const std::string& program_file();

}  // namespace flotsam

#include <fmt/format.h>

#include <fstream>
#include <iostream>

#include "apps/commands.h"
#include "core/check.h"
#include "scene/schema.h"

namespace flotsam {

int docs_command(const std::filesystem::path& file) {
    if (file == "-") {
        std::cout << scene_reference();
        return 0;
    }
    std::ofstream stream(file, std::ios::binary);
    stream << scene_reference();
    stream.close();
    if (!stream)
        throw IoError(
            fmt::format("{}: cannot be written\n  check that its folder exists and that the disk is not full",
                        file.string()));
    return 0;
}

}  // namespace flotsam

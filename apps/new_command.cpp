#include <fmt/format.h>

#include <fstream>
#include <iostream>

#include "apps/commands.h"
#include "core/check.h"
#include "scene/scene_template.h"
#include "scene/suggest.h"

namespace flotsam {

int new_command(const NewOptions& options) {
    const SceneTemplate* chosen = nullptr;
    std::vector<std::string_view> kinds;
    for (const SceneTemplate& entry : scene_templates()) {
        kinds.push_back(entry.kind);
        if (entry.kind == options.kind) chosen = &entry;
    }
    if (!chosen)
        throw UserError(fmt::format("--kind {}: there is no such kind of scene\n  {}", options.kind,
                                    suggestion(options.kind, kinds)));
    std::filesystem::path file = options.file;
    if (file.extension() != ".toml") file += ".toml";
    std::error_code error;
    if (std::filesystem::exists(std::filesystem::symlink_status(file, error)))
        throw UserError(
            fmt::format("{}: exists already\n  choose another name, or remove it first", file.string()));
    std::ofstream stream(file, std::ios::binary);
    stream << chosen->text;
    stream.close();
    if (!stream)
        throw IoError(
            fmt::format("{}: cannot be written\n  check that its folder exists and that the disk is not full",
                        file.string()));
    std::cout << fmt::format("wrote {0} ({1})\n  {2} check --dry {0}\n  {2} run {0}\n", file.string(),
                             chosen->summary, program_name());
    return 0;
}

}  // namespace flotsam

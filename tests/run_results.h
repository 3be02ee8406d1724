// What a run wrote and must not depend on interruptions, threads or the speed of the machine.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>

#include "io/atomic_file.h"

namespace flotsam {

// An audit without its columns of milliseconds, which are the last.
inline std::string without_times(const std::string& table) {
    std::istringstream in(table);
    std::string line, result;
    std::getline(in, line);
    const auto kept = std::count(line.begin(), line.begin() + std::ptrdiff_t(line.find(",ms.")), ',') + 1;
    do {
        std::size_t end = 0;
        for (std::ptrdiff_t n = 0; n < kept; ++n) end = line.find(',', end + 1);
        result += line.substr(0, end) + '\n';
    } while (std::getline(in, line));
    return result;
}

// Name and bytes of every frame file, of the audit and of the probes, and where solids went.
using RunResults = std::map<std::string, std::string>;
inline RunResults run_results(const std::filesystem::path& folder) {
    RunResults files;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "frames"))
        files[entry.path().filename().string()] = read_file(entry.path());
    files["audit.csv"] = without_times(read_file(folder / "audit.csv"));
    files["probes.csv"] = read_file(folder / "probes.csv");
    for (const char* name : {"transforms.csv", "bodies.csv", "solids.glb", "solids.pc2"})
        if (std::filesystem::exists(folder / name)) files[name] = read_file(folder / name);
    return files;
}

// The names of files that are missing, too many or different.
inline std::string different_results(RunResults a, const RunResults& b) {
    std::string names;
    for (const auto& [name, bytes] : b) {
        if (a[name] != bytes) names += name + " ";
        a.erase(name);
    }
    for (const auto& [name, bytes] : a) names += name + " ";
    return names;
}

}  // namespace flotsam

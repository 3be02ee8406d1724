// Random numbers that are functions of a key (a seed and a place) instead of a hidden generator's state: the
// same bits on any number of threads and after any restart.
#pragma once

#include <cstdint>

namespace flotsam {

// Mixes a 64-bit key thoroughly (the finaliser of SplitMix64).
constexpr std::uint64_t mix(std::uint64_t key) {
    key += 0x9e3779b97f4a7c15ULL;
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9ULL;
    key = (key ^ (key >> 27)) * 0x94d049bb133111ebULL;
    return key ^ (key >> 31);
}
constexpr std::uint64_t combine(std::uint64_t a, std::uint64_t b) { return mix(a ^ mix(b)); }

// Uniform in [0, 1).
constexpr double uniform(std::uint64_t key) { return static_cast<double>(mix(key) >> 11) * 0x1.0p-53; }

}  // namespace flotsam

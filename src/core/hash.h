// A fast 64-bit hash of bytes, for detecting damaged files and for comparing states. Not cryptographic.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/random.h"

namespace flotsam {

// Four lanes of multiply and rotate over 8-byte words. Every step is a bijection of the word it takes in, so
// a change of any single word always changes the result. How the bytes are split among calls does not matter.
class Hasher {
  public:
    void add(const void* data, std::size_t size) {
        if (size == 0) return;  // an empty vector's data() may be null
        const auto* bytes = static_cast<const unsigned char*>(data);
        length_ += size;
        if (pending_size_ > 0) {
            const std::size_t taken = std::min(size, pending_.size() - pending_size_);
            std::memcpy(pending_.data() + pending_size_, bytes, taken);
            pending_size_ += taken;
            bytes += taken;
            size -= taken;
            if (pending_size_ < pending_.size()) return;
            absorb(pending_.data());
            pending_size_ = 0;
        }
        for (; size >= pending_.size(); bytes += pending_.size(), size -= pending_.size()) absorb(bytes);
        if (size > 0) std::memcpy(pending_.data(), bytes, size);
        pending_size_ = size;
    }

    std::uint64_t value() const {
        Hasher last = *this;
        std::memset(last.pending_.data() + pending_size_, 0, pending_.size() - pending_size_);
        last.absorb(last.pending_.data());
        std::uint64_t result = mix(length_);  // distinguishes a zero at the end from no byte at the end
        for (const std::uint64_t lane : last.lanes_) result = mix(result ^ lane);
        return result;
    }

  private:
    void absorb(const unsigned char* block) {
        std::array<std::uint64_t, 4> words;
        std::memcpy(words.data(), block, sizeof words);
        for (int n = 0; n < 4; ++n) {
            const std::uint64_t mixed = (lanes_[n] ^ words[n]) * 0x9fb21c651e98df25ULL;
            lanes_[n] = (mixed << 29) | (mixed >> 35);
        }
    }

    std::array<std::uint64_t, 4> lanes_{mix(1), mix(2), mix(3), mix(4)};
    std::array<unsigned char, 32> pending_{};
    std::size_t pending_size_ = 0;
    std::uint64_t length_ = 0;
};

inline std::uint64_t hash_bytes(const void* data, std::size_t size) {
    Hasher hasher;
    hasher.add(data, size);
    return hasher.value();
}

}  // namespace flotsam

// Files that appear whole or not at all: written beside their place, then renamed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/check.h"

namespace flotsam {

// An error with the operation and the file that failed, the reason, and advice. `error` is an errno.
DiskError disk_error(std::string_view what, const std::filesystem::path& file, int error);

// Writes all bytes to an open file; throws a disk_error about `file` when the disk does not take them.
void write_fully(int descriptor, const void* bytes, std::size_t size, const std::filesystem::path& file);

class AtomicFile {
  public:
    // Opens `target`.tmp.
    explicit AtomicFile(std::filesystem::path target);
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;
    // Without commit() nothing is left behind.
    ~AtomicFile();

    void write(const void* bytes, std::size_t size);
    void write(std::string_view bytes) { write(bytes.data(), bytes.size()); }
    // Waits until the bytes are on the disk, then gives the file its name.
    void commit();

  private:
    std::filesystem::path target_, temporary_;
    int descriptor_;
};

void write_file(const std::filesystem::path& target, std::string_view bytes);

// The whole file.
std::string read_file(const std::filesystem::path& file);

}  // namespace flotsam

// A disk of a few hundred kilobytes, to be filled; needs the right to mount.
#pragma once

#include <sys/mount.h>

#include <cstdio>
#include <string>

#include "tests/scratch_folder.h"

namespace flotsam {

class SmallDisk {
  public:
    explicit SmallDisk(const std::string& size) {
        mounted_ = ::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
        if (!mounted_) std::puts("skipped: this user may not mount a small disk");
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;
    ~SmallDisk() {
        if (mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
    }
    bool mounted() const { return mounted_; }
    void resize(const std::string& size) { remount(0, "size=" + size); }
    void make_read_only() { remount(MS_RDONLY, ""); }
    std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }

  private:
    void remount(unsigned long flags, const std::string& options) {
        ::mount("tmpfs", folder_.path().c_str(), "tmpfs", MS_REMOUNT | flags, options.c_str());
    }

    ScratchFolder folder_;
    bool mounted_;
};

}  // namespace flotsam

#include "io/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace flotsam {

namespace fs = std::filesystem;

namespace {

std::string space_left(const fs::path& file) {
    std::error_code error;
    const fs::space_info space =
        fs::space(file.has_parent_path() ? file.parent_path() : fs::path("."), error);
    if (error) return "";
    return fmt::format(" ({:.1f} MB are free there)", double(space.available) / 1e6);
}

// Makes a rename or a new file survive a power cut. Some file systems cannot do it for folders: not an error.
void sync_folder(const fs::path& folder) {
    const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    ::fsync(descriptor);
    ::close(descriptor);
}

}  // namespace

DiskError disk_error(std::string_view what, const fs::path& file, int error) {
    std::string text = fmt::format("cannot {} {}: {}", what, file.string(), std::strerror(error));
    switch (error) {
        case ENOSPC:
        case EDQUOT:
            text += space_left(file) + "\n  Free some space, then try again; a run goes on with --resume.";
            break;
        case EFBIG:
            text += "\n  The file is larger than the limit (ulimit -f) or the file system allows.";
            break;
        case EROFS:
            text +=
                "\n  The disk is read-only: choose another folder with --out, or remount it and go on with "
                "--resume.";
            break;
        case EACCES:
        case EPERM:
            text +=
                "\n  You may not write there: choose another folder with --out, or change its permissions.";
            break;
        default:
            break;
    }
    return DiskError(text);
}

void write_fully(int descriptor, const void* bytes, std::size_t size, const fs::path& file) {
    const char* next = static_cast<const char*>(bytes);
    while (size > 0) {
        const ssize_t written = ::write(descriptor, next, size);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) throw disk_error("write", file, errno);
        next += written;
        size -= static_cast<std::size_t>(written);
    }
}

AtomicFile::AtomicFile(fs::path target) : target_(std::move(target)), temporary_(target_) {
    temporary_ += ".tmp";
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) throw disk_error("write", target_, errno);
}

AtomicFile::~AtomicFile() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* bytes, std::size_t size) {
    write_fully(descriptor_, bytes, size, target_);
}

void AtomicFile::commit() {
    if (::fsync(descriptor_) != 0) throw disk_error("write", target_, errno);
    const int descriptor = std::exchange(descriptor_, -1);
    const bool renamed = ::close(descriptor) == 0 && ::rename(temporary_.c_str(), target_.c_str()) == 0;
    if (!renamed) {
        const int error = errno;
        ::unlink(temporary_.c_str());
        throw disk_error("write", target_, error);
    }
    sync_folder(target_.parent_path());
}

void write_file(const fs::path& target, std::string_view bytes) {
    AtomicFile file(target);
    file.write(bytes);
    file.commit();
}

std::string read_file(const fs::path& file) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) throw disk_error("read", file, errno);
    std::string text;
    char buffer[1 << 16];
    for (;;) {
        const ssize_t got = ::read(descriptor, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            const int error = errno;
            ::close(descriptor);
            if (got < 0) throw disk_error("read", file, error);
            return text;
        }
        text.append(buffer, static_cast<std::size_t>(got));
    }
}

}  // namespace flotsam

#include "io/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include "core/hash.h"
#include "io/atomic_file.h"

namespace flotsam {

namespace fs = std::filesystem;

namespace {

// Increase it whenever the meaning of the stored arrays changes.
constexpr int format_version = 2;
constexpr std::size_t seal_size = 512;  // HDF5's smallest user block
constexpr std::string_view seal_begin = "Flotsam checkpoint, format ";

std::string seal(std::uint64_t length, std::uint64_t hash) {
    std::string text =
        fmt::format("{}{}\nbytes {}\nhash {:016x}\n", seal_begin, format_version, length, hash);
    text.resize(seal_size, '\0');
    return text;
}

// Owns an HDF5 identifier. `what` describes the operation that failed when it is invalid.
class Handle {
  public:
    Handle(hid_t id, herr_t (*close)(hid_t), const char* what) : id_(id), close_(close) {
        if (id < 0) throw IoError(fmt::format("HDF5 cannot {}", what));
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() { close_(id_); }
    operator hid_t() const { return id_; }  // NOLINT: stands for the identifier in HDF5's calls

  private:
    hid_t id_;
    herr_t (*close_)(hid_t);
};

void require(herr_t status, const char* what) {
    if (status < 0) throw IoError(fmt::format("HDF5 cannot {}", what));
}

// Otherwise HDF5 prints its own stack of errors; our messages are more useful.
void silence_hdf5() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

hid_t type_of(ElementKind kind) {
    switch (kind) {
        case ElementKind::int32:
            return H5T_NATIVE_INT32;
        case ElementKind::int64:
            return H5T_NATIVE_INT64;
        case ElementKind::uint64:
            return H5T_NATIVE_UINT64;
        case ElementKind::float32:
            return H5T_NATIVE_FLOAT;
        case ElementKind::float64:
            return H5T_NATIVE_DOUBLE;
    }
    FLOTSAM_CHECK(false);
    return -1;
}

class Writer : public StateVisitor {
  public:
    explicit Writer(hid_t file)
        : file_(file),
          links_(H5Pcreate(H5P_LINK_CREATE), H5Pclose, "prepare groups"),
          creation_(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "prepare arrays") {
        require(H5Pset_create_intermediate_group(links_, 1), "prepare groups");
        require(H5Pset_obj_track_times(creation_, false), "prepare arrays");  // equal states, equal bytes
    }

  protected:
    void visit(const std::string& name, ElementKind kind, std::size_t width, std::size_t count,
               const void* data, Resize, void*) override {
        const std::array<hsize_t, 2> size{count, width};
        const Handle space(H5Screate_simple(width > 1 ? 2 : 1, size.data(), nullptr), H5Sclose,
                           "describe an array");
        const Handle set(
            H5Dcreate2(file_, name.c_str(), type_of(kind), space, links_, creation_, H5P_DEFAULT), H5Dclose,
            "create an array");
        if (count > 0)
            require(H5Dwrite(set, type_of(kind), H5S_ALL, H5S_ALL, H5P_DEFAULT, data), "write an array");
    }

  private:
    hid_t file_;
    Handle links_, creation_;
};

class Reader : public StateVisitor {
  public:
    explicit Reader(hid_t file) : file_(file) {}

  protected:
    void visit(const std::string& name, ElementKind kind, std::size_t width, std::size_t, const void*,
               Resize resize, void* vector) override {
        const std::string what = fmt::format("find '{}' as this version of Flotsam stores it", name);
        const Handle set(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose, what.c_str());
        const Handle type(H5Dget_type(set), H5Tclose, what.c_str());
        const Handle space(H5Dget_space(set), H5Sclose, what.c_str());
        std::array<hsize_t, 2> size{0, 1};
        const int rank = width > 1 ? 2 : 1;
        const bool expected =
            H5Tequal(type, type_of(kind)) > 0 && H5Sget_simple_extent_ndims(space) == rank &&
            H5Sget_simple_extent_dims(space, size.data(), nullptr) == rank && size[1] == width;
        require(expected ? 0 : -1, what.c_str());
        void* data = resize(vector, size[0]);
        if (size[0] > 0)
            require(H5Dread(set, type_of(kind), H5S_ALL, H5S_ALL, H5P_DEFAULT, data), what.c_str());
    }

  private:
    hid_t file_;
};

// Attributes of the file's root.
void write_attribute(hid_t file, const char* name, hid_t type, const void* value) {
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose, "describe an attribute");
    const Handle attribute(H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                           "create an attribute");
    require(H5Awrite(attribute, type, value), "write an attribute");
}

void read_attribute(hid_t file, const char* name, hid_t type, void* value) {
    const Handle attribute(H5Aopen(file, name, H5P_DEFAULT), H5Aclose, "find an attribute");
    require(H5Aread(attribute, type, value), "read an attribute");
}

Handle text_type(std::size_t size) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, std::max<std::size_t>(size, 1));
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    return {type, H5Tclose, "describe text"};
}

void write_info(hid_t file, const CheckpointInfo& info) {
    write_attribute(file, "format_version", H5T_NATIVE_INT, &format_version);
    write_attribute(file, "frame", H5T_NATIVE_INT, &info.frame);
    write_attribute(file, "step", H5T_NATIVE_INT64, &info.step);
    write_attribute(file, "time", H5T_NATIVE_DOUBLE, &info.time);
    std::string text = info.scene_hash;
    text.resize(std::max<std::size_t>(text.size(), 1));
    write_attribute(file, "scene_hash", text_type(text.size()), text.data());
}

CheckpointInfo read_info(hid_t file) {
    CheckpointInfo info;
    read_attribute(file, "frame", H5T_NATIVE_INT, &info.frame);
    read_attribute(file, "step", H5T_NATIVE_INT64, &info.step);
    read_attribute(file, "time", H5T_NATIVE_DOUBLE, &info.time);
    const Handle attribute(H5Aopen(file, "scene_hash", H5P_DEFAULT), H5Aclose, "find an attribute");
    info.scene_hash.resize(H5Aget_storage_size(attribute));
    require(H5Aread(attribute, text_type(info.scene_hash.size()), info.scene_hash.data()),
            "read an attribute");
    info.scene_hash.resize(std::min(info.scene_hash.size(), info.scene_hash.find('\0')));
    return info;
}

// Throws unless every byte of the file is as it was written.
void verify(const fs::path& file) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) throw disk_error("read", file, errno);
    std::string begin;
    Hasher hasher;
    std::uint64_t length = 0;
    std::vector<char> buffer(1 << 20);
    for (;;) {
        const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            const int error = errno;
            ::close(descriptor);
            throw disk_error("read", file, error);
        }
        if (got == 0) break;
        const std::size_t to_seal = std::min<std::size_t>(got, seal_size - begin.size());
        begin.append(buffer.data(), to_seal);
        hasher.add(buffer.data() + to_seal, got - to_seal);
        length += got;
    }
    ::close(descriptor);

    const auto bad = [&](const std::string& why) {
        return IoError(fmt::format("{} {}", file.string(), why));
    };
    if (length == 0) throw bad("is empty");
    if (begin == seal(length, hasher.value())) return;

    // Which kind of damage? The numbers in the seal may themselves be damaged: they only choose the message.
    const auto number_after = [&](std::string_view label) {
        std::uint64_t value = 0;
        if (const std::size_t at = begin.find(label); at != std::string::npos)
            std::from_chars(begin.data() + at + label.size(), begin.data() + begin.size(), value);
        return value;
    };
    if (!begin.starts_with(seal_begin))
        throw bad("is not a checkpoint of Flotsam, or its beginning was altered");
    if (const auto version = number_after(seal_begin); version != format_version)
        throw bad(fmt::format("was written by another version of Flotsam (format {}, this one reads {})",
                              version, format_version));
    if (const auto whole = number_after("\nbytes "); whole != length)
        throw bad(fmt::format("has {} bytes instead of {}: it was cut off or altered", length, whole));
    throw bad("was altered: its contents do not match its checksum");
}

Handle open_verified(const fs::path& file) {
    silence_hdf5();
    verify(file);
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "prepare reading");
    H5Pset_file_locking(access, false, true);  // network disks often cannot lock, and nobody writes to it
    return {H5Fopen(file.c_str(), H5F_ACC_RDONLY, access), H5Fclose, "open the checkpoint"};
}

}  // namespace

void write_checkpoint(const fs::path& file, const CheckpointInfo& info, const VisitState& visit_state) {
    silence_hdf5();
    // In memory first: after a failed write to a full disk HDF5 can neither close the file nor exit cleanly.
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "prepare writing");
    require(H5Pset_fapl_core(access, std::size_t{8} << 20, /*backing_store=*/false), "prepare writing");
    const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose, "prepare writing");
    require(H5Pset_userblock(creation, seal_size), "prepare writing");
    const Handle image(H5Fcreate(file.c_str(), H5F_ACC_TRUNC, creation, access), H5Fclose,
                       "begin a checkpoint");
    write_info(image, info);
    {
        Writer writer(image);
        visit_state(writer);
    }
    require(H5Fflush(image, H5F_SCOPE_GLOBAL), "finish a checkpoint");

    const ssize_t size = H5Fget_file_image(image, nullptr, 0);
    require(size > 0 ? 0 : -1, "finish a checkpoint");
    std::vector<char> bytes(size);
    require(H5Fget_file_image(image, bytes.data(), bytes.size()) == size ? 0 : -1, "finish a checkpoint");

    AtomicFile out(file);
    out.write(seal(seal_size + bytes.size(), hash_bytes(bytes.data(), bytes.size())));
    out.write(bytes.data(), bytes.size());
    out.commit();
}

CheckpointInfo inspect_checkpoint(const fs::path& file) { return read_info(open_verified(file)); }

CheckpointInfo read_checkpoint(const fs::path& file, const VisitState& visit_state) {
    const Handle source = open_verified(file);
    Reader reader(source);
    visit_state(reader);
    return read_info(source);
}

std::string checkpoint_name(std::int64_t step) { return fmt::format("step_{:08}.h5", step); }

std::vector<fs::path> list_checkpoints(const fs::path& folder) {
    std::vector<std::pair<std::int64_t, fs::path>> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        const std::string name = entry.path().filename().string();
        std::int64_t step = 0;
        if (!name.starts_with("step_")) continue;
        std::from_chars(name.data() + 5, name.data() + name.size(), step);
        if (name == checkpoint_name(step)) found.emplace_back(step, entry.path());
    }
    std::sort(found.rbegin(), found.rend());
    std::vector<fs::path> files;
    files.reserve(found.size());
    for (auto& [step, file] : found) files.push_back(std::move(file));
    return files;
}

std::optional<GoodCheckpoint> find_newest_good_checkpoint(const fs::path& folder,
                                                          std::vector<std::string>& problems) {
    for (const fs::path& file : list_checkpoints(folder)) try {
            return GoodCheckpoint{file, inspect_checkpoint(file)};
        } catch (const IoError& error) {
            problems.emplace_back(error.what());
        }
    return std::nullopt;
}

void remove_old_checkpoints(const fs::path& folder, int keep) {
    const std::vector<fs::path> files = list_checkpoints(folder);
    for (std::size_t n = keep; n < files.size(); ++n) {
        std::error_code error;  // a file that cannot be removed is no reason to stop a run
        fs::remove(files[n], error);
    }
}

}  // namespace flotsam

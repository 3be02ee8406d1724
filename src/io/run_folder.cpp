#include "io/run_folder.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <thread>
#include <vector>

#include "core/check.h"
#include "core/parallel.h"
#include "io/atomic_file.h"
#include "io/checkpoint.h"
#include "io/frames.h"

namespace flotsam {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view beside = ".tmp";  // AtomicFile's suffix while it writes

std::string toml_string(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            quoted += fmt::format("\\u{:04x}", c);
        else
            quoted += c;
    }
    return quoted + '"';
}

std::string now_text() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

// The value of the first line of /proc/... that begins with `key`.
std::string proc_value(const char* file, std::string_view key) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);)
        if (line.starts_with(key)) {
            const std::size_t at = line.find_first_not_of(" \t", line.find(':') + 1);
            return at == std::string::npos ? "" : line.substr(at);
        }
    return "unknown";
}

std::string run_toml(const RunRecord& record) {
    const double gibibytes = double(::sysconf(_SC_PHYS_PAGES)) * double(::sysconf(_SC_PAGESIZE)) / (1 << 30);
    return fmt::format(
        "[run]\nversion = {}\ncommand = {}\nstarted = {}\nthreads = {}\n\n"
        "[scene]\nhash = {}\ntitle = {}\nfile = {}\n\n"
        "[machine]\ncpu = {}\ncores = {}\nmemory_gib = {:.1f}\n",
        toml_string(record.version), toml_string(record.command), now_text(), thread_count(),
        toml_string(record.scene_hash), toml_string(record.title), toml_string(record.scene_file),
        toml_string(proc_value("/proc/cpuinfo", "model name")), std::thread::hardware_concurrency(),
        gibibytes);
}

// A text that run_toml wrote under `key`; empty when it is not there.
std::string text_in(const std::string& toml, std::string_view key) {
    const std::string begin = fmt::format("\n{} = \"", key);
    std::size_t at = toml.find(begin);
    if (at == std::string::npos) return "";
    std::string text;
    for (at += begin.size(); at < toml.size() && toml[at] != '"'; ++at) {
        const bool escaped = toml[at] == '\\';
        if (escaped && ++at == toml.size()) break;
        if (escaped && toml[at] == 'u') {  // followed by four digits, as toml_string writes it
            text += static_cast<char>(std::strtol(toml.substr(at + 1, 4).c_str(), nullptr, 16));
            at += 4;
        } else {
            text += toml[at];
        }
    }
    return text;
}

template <class IsOurs>
void remove_files(const fs::path& folder, const IsOurs& is_ours) {
    std::error_code error;
    std::vector<fs::path> ours;
    for (const auto& entry : fs::directory_iterator(folder, error))
        if (entry.is_regular_file() && is_ours(entry.path().filename().string()))
            ours.push_back(entry.path());
    for (const fs::path& file : ours)
        if (!fs::remove(file, error) && error) throw disk_error("delete", file, error.value());
}

bool is_root_file(const std::string& name) {
    return name == "run.toml" || name == "scene.toml" || name == "audit.csv" || name == "bodies.csv" ||
           name == "probes.csv" || name == "transforms.csv" || name == "solids.glb" || name == "solids.pc2";
}
bool is_picture(const std::string& name) { return name.ends_with(".png") || name.ends_with(".mp4"); }
bool is_plot(const std::string& name) { return name == "index.html" || name.ends_with(".svg"); }
bool is_checkpoint(const std::string& name) { return name.starts_with("step_") && name.ends_with(".h5"); }

template <class IsOurs>
auto left_over(const IsOurs& is_ours) {
    return [&is_ours](const std::string& name) {
        return name.ends_with(beside) && is_ours(name.substr(0, name.size() - beside.size()));
    };
}

// Deletes the files that a killed run was writing.
void remove_left_overs(const fs::path& folder) {
    remove_files(folder, left_over(is_root_file));
    remove_files(folder / "frames", left_over(is_frame_file));
    remove_files(folder / "checkpoints", left_over(is_checkpoint));
    remove_files(folder / "pictures", left_over(is_picture));
    remove_files(folder / "plots", left_over(is_plot));
}

// Deletes the files of a run and nothing else that someone may have put beside them. run.toml goes last:
// while it is there, the folder can be recognised as ours.
void remove_run(const fs::path& folder) {
    remove_left_overs(folder);
    remove_files(folder / "plots", is_plot);
    remove_files(folder / "checkpoints", is_checkpoint);
    remove_files(folder / "pictures", is_picture);  // they show the frames that are about to be deleted
    remove_files(folder / "frames", is_frame_file);
    remove_files(folder, [](const std::string& name) { return is_root_file(name) && name != "run.toml"; });
    remove_files(folder, is_root_file);
}

// Whether the folder is empty except, perhaps, for the first file of a run that was killed while writing it.
bool is_unused(const fs::path& folder) {
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().filename() != "run.toml.tmp") return false;
    return true;
}

const fs::path& make_folder(const fs::path& folder) {
    if (fs::exists(folder) && !fs::is_directory(folder))
        throw UserError(fmt::format("{} is a file.\n  Choose another folder with --out.", folder.string()));
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw disk_error("make the folder", folder, error.value());
    return folder;
}

}  // namespace

RunRecord read_run_record(const fs::path& folder) {
    if (!fs::exists(folder / "run.toml"))
        throw UserError(fmt::format(
            "{} is not the folder of a run: {}\n  Give a folder that `flotsam run` "
            "wrote, such as runs/dam_break.",
            folder.string(), fs::exists(folder) ? "there is no run.toml in it" : "it does not exist"));
    const std::string toml = read_file(folder / "run.toml");
    return {.version = text_in(toml, "version"),
            .command = text_in(toml, "command"),
            .scene_file = text_in(toml, "file"),
            .scene_hash = text_in(toml, "hash"),
            .scene_text = {},
            .title = text_in(toml, "title")};
}

FolderLock::FolderLock(const fs::path& folder)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (descriptor_ < 0) throw disk_error("open the folder", folder, errno);
    // A file system that cannot lock is no reason to refuse; another run in this folder is.
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        ::close(descriptor_);
        throw UserError(
            fmt::format("another run is writing to {} now.\n"
                        "  Wait for it, or choose another folder with --out.",
                        folder.string()));
    }
}

FolderLock::~FolderLock() { ::close(descriptor_); }

RunFolder::RunFolder(const RunFolderOptions& options, const RunRecord& record)
    : path_(options.folder), lock_(make_folder(path_)) {
    if (!is_unused(path_)) {
        const bool ours = fs::exists(path_ / "run.toml");
        if (!ours)
            throw UserError(
                fmt::format("{} holds other things than a run of Flotsam.\n"
                            "  Choose another folder with --out.",
                            path_.string()));
        if (!options.resume && !options.overwrite)
            throw UserError(
                fmt::format("{} already holds a run.\n"
                            "  Go on with it: --resume. Replace it: --overwrite. Keep it: choose another "
                            "folder with --out.",
                            path_.string()));
        if (options.resume) {
            const std::string before = text_in(read_file(path_ / "run.toml"), "hash");
            if (before.empty())
                throw UserError(
                    fmt::format("{} was altered: it does not say which scene it belongs to.\n"
                                "  Put the file back, or start anew with --overwrite.",
                                (path_ / "run.toml").string()));
            if (before != record.scene_hash)
                throw UserError(
                    fmt::format("{} holds a run of another scene (hash {}, now {}): the scene file or an "
                                "option like --set, "
                                "--scale or --method changed.\n"
                                "  Resume with the scene as it was ({}), or start anew with --overwrite or "
                                "another --out.",
                                path_.string(), before, record.scene_hash, (path_ / "scene.toml").string()));
            remove_left_overs(path_);
            continues_ = true;
        } else {
            remove_run(path_);
        }
    }
    // run.toml first: from then on --resume and --overwrite recognise the folder.
    if (!continues_) write_file(path_ / "run.toml", run_toml(record));
    write_file(path_ / "scene.toml", record.scene_text);
    make_folder(frames());
    make_folder(checkpoints());
}

void RunFolder::note_resumed(std::int64_t step) const {
    const fs::path file = path_ / "run.toml";
    write_file(file, fmt::format("{}\n[[resumed]]\nfrom_step = {}\nat = {}\nthreads = {}\n", read_file(file),
                                 step, now_text(), thread_count()));
}

}  // namespace flotsam

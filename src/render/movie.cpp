#include "render/movie.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/check.h"
#include "io/atomic_file.h"

namespace flotsam {

namespace fs = std::filesystem;

namespace {

// A child process that reads from us; its messages go to an unnamed file.
class Listener {
  public:
    explicit Listener(std::vector<std::string> words) {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) throw IoError(std::strerror(errno));
        said_ = std::tmpfile();
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        if (said_) posix_spawn_file_actions_adddup2(&actions, ::fileno(said_), STDERR_FILENO);
        std::vector<char*> arguments;
        arguments.reserve(words.size() + 1);
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        // We handle Ctrl-C ourselves: in its own process group the program does not die before it has all
        // pictures.
        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
        error_ = ::posix_spawnp(&process_, arguments[0], &actions, &attributes, arguments.data(), environ);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
        ::close(ends[0]);
        to_ = ends[1];
    }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    ~Listener() {
        hang_up();
        if (said_) std::fclose(said_);
    }

    bool started() const { return error_ == 0; }
    int error() const { return error_; }
    // Returns false when the program does not read any more.
    bool tell(const std::string& bytes) {
        std::size_t done = 0;
        while (done < bytes.size()) {
            const ssize_t written = ::write(to_, bytes.data() + done, bytes.size() - done);
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) return false;
            done += std::size_t(written);
        }
        return true;
    }
    // Waits for its end; returns true when it succeeded.
    bool hang_up() {
        if (to_ >= 0) ::close(to_);
        to_ = -1;
        if (error_ != 0 || process_ <= 0) return false;
        int status = 0;
        while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
        }
        process_ = -1;
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    std::string last_words() const {
        if (!said_) return {};
        std::string text(2000, '\0');
        const long end = (std::fseek(said_, 0, SEEK_END), std::ftell(said_));
        std::fseek(said_, std::max(0L, end - long(text.size())), SEEK_SET);
        text.resize(std::fread(text.data(), 1, text.size(), said_));
        return text;
    }

  private:
    int to_ = -1, error_ = 0;
    pid_t process_ = -1;
    std::FILE* said_ = nullptr;
};

}  // namespace

double movie_rate(double frames_per_second) { return frames_per_second > 60 ? 30 : frames_per_second; }

MovieResult make_movie(const std::vector<fs::path>& pictures, double frames_per_second,
                       const fs::path& movie) {
    const fs::path beside = movie.string() + ".tmp";
    Listener ffmpeg({"ffmpeg", "-hide_banner", "-loglevel", "error", "-y", "-f", "image2pipe", "-framerate",
                     fmt::format("{:g}", frames_per_second), "-c:v", "png", "-i", "-",
                     // Even sides and this pixel format, or browsers and phones refuse to play it.
                     "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf",
                     "18", "-movflags", "+faststart", "-f", "mp4", beside.string()});
    if (!ffmpeg.started())
        return {false,
                ffmpeg.error() == ENOENT
                    ? "there is no ffmpeg on this machine, so there is no movie; the pictures are there\n"
                      "  install it (apt-get install ffmpeg) and render again: only the movie is made then"
                    : fmt::format("ffmpeg cannot be started: {}", std::strerror(ffmpeg.error()))};
    bool listening = true;
    for (const fs::path& picture : pictures) listening = listening && ffmpeg.tell(read_file(picture));
    if (!ffmpeg.hang_up() || !listening) {
        std::error_code ignored;
        fs::remove(beside, ignored);
        return {false, fmt::format("ffmpeg could not make {}; the pictures are there. It said:\n{}",
                                   movie.string(), ffmpeg.last_words())};
    }
    std::error_code error;
    fs::rename(beside, movie, error);
    if (error) throw disk_error("write", movie, error.value());
    return {true, {}};
}

}  // namespace flotsam

// Drives the program itself: killed at any moment and resumed, or on any number of threads, it writes the
// same bytes.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <random>
#include <thread>

#include "io/atomic_file.h"
#include "io/number_table.h"
#include "tests/places.h"
#include "tests/run_results.h"
#include "tests/scratch_folder.h"

using namespace flotsam;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

constexpr const char* scene = R"(
[scene]
duration = 1.0
dimensions = 2
[domain]
size = [1.0, 0.6]
resolution = 50
walls = { right = "open" }
[[liquid.fill]]
box = { min = [0, 0], max = [0.3, 0.4] }
[[liquid.emitter]]
sphere = { center = [0.6, 0.5], radius = 0.05 }
velocity = [0.5, 0]
until = 0.3
[output]
particles = true
checkpoint_every = 3
[[probe]]
name = "middle"
height = 0.5
)";

// A dam break against rigid bodies: a stack of two, a float tied to an anchor, a wheel with a motor, and a
// buoy on a spring.
constexpr const char* bodies_scene = R"(
[scene]
duration = 0.5
[domain]
size = [1.0, 0.8, 0.6]
resolution = 20
[[liquid.fill]]
box = { min = [0, 0, 0], max = [0.3, 0.64, 0.6] }
[output]
particles = true
checkpoint_every = 3
[[solid]]
name = "lower"
motion = "rigid"
shape = { box = [0.15, 0.15, 0.15] }
position = [0.42, 0.075, 0.2]
density = 300
[[solid]]
name = "upper"
motion = "rigid"
shape = { cylinder = [0.06, 0.1] }
position = [0.42, 0.2, 0.2]
density = 600
[[solid]]
name = "float"
motion = "rigid"
shape = { sphere = 0.08 }
position = [0.62, 0.1, 0.3]
density = 100
[[solid]]
name = "anchor"
motion = "rigid"
shape = { box = [0.12, 0.1, 0.2] }
position = [0.8, 0.05, 0.3]
density = 4000
[[solid]]
name = "wheel"
motion = "rigid"
shape = { gear = [0.09, 0.06, 6] }
rotation = { axis = [1, 0, 0], degrees = 90 }
position = [0.45, 0.15, 0.45]
density = 800
[[solid]]
name = "buoy"
motion = "rigid"
shape = { capsule = [0.05, 0.06] }
position = [0.88, 0.2, 0.5]
density = 200
[[joint]]
name = "tie"
kind = "ball"
a = "float"
b = "anchor"
at = [0.71, 0.08, 0.3]
[[joint]]
name = "axle"
kind = "hinge"
a = "wheel"
at = [0.45, 0.15, 0.45]
axis = [0, 0, 1]
motor_speed = 3
motor_torque = 0.5
[[joint]]
name = "rope"
kind = "spring"
a = "buoy"
at = [0.88, 0.2, 0.5]
to = [0.95, 0.6, 0.5]
stiffness = 20
damping = 0.5
[[probe]]
name = "push"
force = "lower"
)";

// Soft bodies that meet each other, a rigid crate and the floor.
constexpr const char* elastic_scene = R"(
[scene]
duration = 0.5
[domain]
size = [1.0, 1.0, 1.0]
resolution = 20
[output]
checkpoint_every = 3
stress = true
[[solid]]
name = "cube"
motion = "elastic"
shape = { box = [0.3, 0.3, 0.3] }
position = [0.5, 0.4, 0.5]
density = 1000
stiffness = 1e4
elastic = { cells = [4, 4, 4] }
[[solid]]
name = "ball"
motion = "elastic"
shape = { sphere = 0.12 }
position = [0.52, 0.75, 0.5]
velocity = [0, -2, 0]
density = 800
stiffness = 3e4
elastic = { model = "neo-hookean", spacing = 0.06, integrator = "midpoint" }
[[solid]]
name = "crate"
motion = "rigid"
shape = { box = [0.4, 0.2, 0.4] }
position = [0.5, 0.1, 0.5]
density = 300
[[probe]]
name = "volume"
volume = "cube"
)";

// The same in a wave.
std::string wet_elastic_scene() {
    return elastic_scene + std::string(R"(
[[liquid.fill]]
box = { min = [0, 0, 0], max = [0.3, 0.6, 1] }
)");
}

// Particles alone, which meet a rigid crate and a paddle.
constexpr const char* sph_scene = R"(
[scene]
duration = 0.25
method = "direct-forcing"
[domain]
size = [1.0, 0.8, 0.3]
resolution = 24
[[liquid.fill]]
box = { min = [0, 0, 0], max = [0.35, 0.5, 0.3] }
[output]
particles = true
checkpoint_every = 2
[[solid]]
name = "crate"
motion = "rigid"
shape = { box = [0.12, 0.12, 0.12] }
position = [0.45, 0.08, 0.15]
density = 400
[[solid]]
name = "paddle"
motion = "scripted"
shape = { box = [0.04, 0.2, 0.2] }
position = [0.2, 0.25, 0.15]
spin = [0, 0, 4]
[[probe]]
name = "push"
force = "crate"
)";

// A soft cube of springs and a ball of one node in a dam break.
constexpr const char* spring_scene = R"(
[scene]
duration = 0.4
method = "marker-springs"
[domain]
size = [1.0, 0.8, 0.5]
resolution = 20
[[liquid.fill]]
box = { min = [0, 0, 0], max = [0.35, 0.6, 0.5] }
[output]
particles = true
checkpoint_every = 3
[[solid]]
name = "cube"
motion = "spring"
shape = { box = [0.16, 0.16, 0.16] }
position = [0.5, 0.1, 0.25]
density = 300
stiffness = 1e5
[[solid]]
name = "ball"
motion = "spring"
shape = { sphere = 0.08 }
position = [0.18, 0.3, 0.25]
density = 500
springs = { structure = "node" }
[[probe]]
name = "push"
force = "cube"
)";

class Program {
  public:
    explicit Program(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), program_file());
        std::vector<char*> argv;
        argv.reserve(arguments.size() + 1);
        for (std::string& argument : arguments) argv.push_back(argument.data());
        argv.push_back(nullptr);
        pid_ = ::fork();
        REQUIRE(pid_ >= 0);  // kill(-1, SIGKILL) would end every process that we may signal
        if (pid_ == 0) {
            const int nowhere = ::open("/dev/null", O_WRONLY);
            ::dup2(nowhere, STDOUT_FILENO);
            ::dup2(nowhere, STDERR_FILENO);
            ::execv(program_file().c_str(), argv.data());
            ::_exit(127);
        }
    }
    void send(int signal) const { ::kill(pid_, signal); }
    bool ended() const {
        siginfo_t info{};
        ::waitid(P_PID, id_t(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
        return info.si_pid != 0;
    }
    // Its exit code, or 128 + the signal that ended it.
    int wait() const {
        int status = 0;
        ::waitpid(pid_, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

  private:
    pid_t pid_;
};

// Runs of one scene, each in a folder of its own.
struct Runs {
    ScratchFolder folder;
    fs::path scene_file;
    std::vector<std::string> settings;  // to make the scene small

    std::vector<std::string> arguments(const std::string& name, std::vector<std::string> more = {}) const {
        std::vector<std::string> all{"run", scene_file.string(), "--out", (folder / name).string()};
        for (const std::string& setting : settings) all.insert(all.end(), {"--set", setting});
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
    explicit Runs(const char* text = scene) : scene_file(folder / "scene.toml") {
        write_file(scene_file, text);
    }
    // A scene of the repository.
    Runs(const std::string& name, std::vector<std::string> small)
        : scene_file(fs::path(source_folder()) / "scenes" / name), settings(std::move(small)) {
        settings.insert(settings.end(), {"output.particles=true", "output.checkpoint_every=3"});
    }

    RunResults results(const std::string& name) const { return run_results(folder / name); }
};

// Kills runs at random moments, resumes them, and compares each with one that was left alone. A moment is a
// number of frames: seconds mean little on a machine that is busy with other things. One in the last frame
// may still come too late; `least` kills must have happened.
void kill_and_resume(const Runs& runs, int count, int least) {
    const auto begin = Clock::now();
    REQUIRE(Program(runs.arguments("whole")).wait() == 0);
    const std::chrono::duration<double> whole = Clock::now() - begin;
    const auto expected = runs.results("whole");
    const auto surface = [&](const std::string& name, int frame) {
        return runs.folder / name / fmt::format("frames/surface_{:04}.ply", frame);
    };
    int frames = 0;
    while (fs::exists(surface("whole", frames + 1))) ++frames;
    const auto frame_time = whole / frames;

    std::mt19937 random(2);
    int killed = 0;
    for (int n = 0; n < count; ++n) {
        const std::string name = std::to_string(n);
        // Every other run is killed a second time, on its way from the checkpoint.
        double moment = -1;  // before the first frame
        for (int kill = 0; kill <= n % 2; ++kill) {
            moment = std::uniform_real_distribution<double>(moment, frames)(random);
            const int frame = int(std::floor(moment));
            const Program program(runs.arguments(name, {"--resume"}));
            while (frame >= 0 && !fs::exists(surface(name, frame)) && !program.ended())
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            std::this_thread::sleep_for((moment - frame) * frame_time);
            program.send(SIGKILL);
            killed += program.wait() == 128 + SIGKILL;
        }
        CHECK(Program(runs.arguments(name, {"--resume"})).wait() == 0);
        CAPTURE(n);
        CHECK(different_results(runs.results(name), expected) == "");
        fs::remove_all(runs.folder / name);
    }
    CHECK(killed >= least);
}

void compare_threads(const Runs& runs) {
    for (const char* threads : {"1", "2", "7"})
        REQUIRE(Program(runs.arguments(threads, {"--threads", threads})).wait() == 0);
    const auto expected = runs.results("1");
    CHECK(different_results(runs.results("2"), expected) == "");
    CHECK(different_results(runs.results("7"), expected) == "");
}

// Scenes with solids: at rest, by a script, and thinner than a cell.
struct SolidScene {
    std::string file;
    std::vector<std::string> small;
};
const std::vector<SolidScene> solid_scenes{
    {"start/post.toml", {"domain.resolution=20", "scene.duration=0.5"}},
    // Claims must not look beyond the end.
    {"start/stirrer.toml",
     {"domain.resolution=20", "scene.duration=0.5", "claim.1.until=0.5", "claim.2.from=0"}},
    {"bench/two_levels_moving.toml",
     {"domain.resolution=32", "scene.duration=0.6", "claim.0.from=0", "claim.1.from=0"}},
};

}  // namespace

TEST_CASE("killed at ten random moments and resumed: ten identical results") {
    const Runs runs;
    kill_and_resume(runs, 10, 12);
    CHECK(runs.results("whole").size() > 24 * 3);
}

TEST_CASE("the same with solids in the scene") {
    for (const SolidScene& entry : solid_scenes) {
        CAPTURE(entry.file);
        kill_and_resume(Runs(entry.file, entry.small), 4, 4);
    }
}

TEST_CASE("the same with rigid bodies, contacts and joints") {
    const Runs runs(bodies_scene);
    kill_and_resume(runs, 4, 4);
    // Bodies that nothing touches would prove nothing.
    const NumberTable places = read_number_table(runs.folder / "whole/transforms.csv");
    const auto moved = [&](const std::string& what, std::size_t frame) {
        const std::vector<double>* column = places.find(what);
        REQUIRE(column != nullptr);
        return column->at(frame) - column->front();
    };
    CHECK(std::abs(moved("upper.y", 3)) < 1e-3);  // it would have fallen by 8 cm
    for (const char* what : {"lower.x", "upper.x", "float.x", "buoy.x"})
        CHECK(std::abs(moved(what, 12)) > 0.01);
    CHECK(std::abs(moved("wheel.qz", 12)) > 0.1);
    CHECK(std::hypot(moved("wheel.x", 12), moved("wheel.y", 12)) < 1e-3);
}

TEST_CASE("the same with elastic bodies") { kill_and_resume(Runs(elastic_scene), 2, 2); }

TEST_CASE("the same with elastic bodies in water") {
    kill_and_resume(Runs(wet_elastic_scene().c_str()), 2, 2);
}

TEST_CASE("the same with SPH, and with solids made of springs") {
    for (const char* text : {sph_scene, spring_scene}) {
        const Runs runs(text);
        kill_and_resume(runs, 2, 2);
        // A body that nothing touches would prove nothing.
        const NumberTable places = read_number_table(runs.folder / "whole/transforms.csv");
        const std::vector<double>* x = places.find(text == sph_scene ? "crate.x" : "cube.x");
        REQUIRE(x != nullptr);
        CHECK(x->back() - x->front() > 0.005);
    }
}

TEST_CASE("asked to stop, a run leaves a checkpoint and says so by its exit code") {
    const Runs runs;
    const Program program(runs.arguments("a"));
    while (!fs::exists(runs.folder / "a/frames/surface_0001.ply"))
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    program.send(SIGTERM);
    CHECK(program.wait() == 128 + SIGTERM);
    CHECK_FALSE(fs::is_empty(runs.folder / "a/checkpoints"));
}

TEST_CASE("1, 2 and 7 threads give the same bytes") {
    compare_threads(Runs());
    compare_threads(Runs(bodies_scene));
    compare_threads(Runs(elastic_scene));
    compare_threads(Runs(wet_elastic_scene().c_str()));
    for (const SolidScene& entry : solid_scenes) {
        CAPTURE(entry.file);
        compare_threads(Runs(entry.file, entry.small));
    }
}

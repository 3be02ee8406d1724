// Flotsam as a library: load a scene, step it, look at its liquid and bodies, save and restore it.
//
//     flotsam::Simulation simulation = flotsam::Simulation::from_file("duck.toml");
//     simulation.advance_frame();
//     const flotsam::Mesh water = simulation.surface();
//
// Units are metres, kilograms, seconds and radians; y is up. What is returned is a copy and stays as it is.
// Nothing is printed and no signal is caught.
//
// Errors are thrown as flotsam::Error, and as std::bad_alloc when memory runs out. (A bug in Flotsam prints
// where it was found and aborts.)
//
// Threads: a step uses all cores, or as many as `set_threads` says. All calls, also those for different
// simulations, must come one after the other; from which threads does not matter. The result is the same, bit
// for bit, on any number of threads.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace flotsam {

using Point = std::array<float, 3>;
using Vector = std::array<double, 3>;

struct Error : std::runtime_error {
    enum class Cause {
        input,  // a scene, an option or a file that does not fit; the message says where and what to do
        disk,   // a file cannot be read or written, or is damaged
        step,   // no time step succeeds any more; the simulation stands before the one that failed
    };
    Cause cause;
    Error(Cause why, const std::string& message) : std::runtime_error(message), cause(why) {}
};

// How a scene is changed while it is loaded.
struct LoadOptions {
    std::vector<std::string> set{};       // keys of the scene: "domain.resolution=32"
    double scale = 1;                     // times its resolution
    std::string method{};                 // of coupling, instead of the scene's
    std::filesystem::path mesh_folder{};  // of mesh files that a text names; empty: the current one
};

struct Mesh {
    std::vector<Point> vertices;                // [m]
    std::vector<Point> velocities;              // of the vertices [m/s]
    std::vector<std::array<int, 3>> triangles;  // counter-clockwise seen from outside
};

struct Droplets {
    std::vector<Point> positions, velocities;  // [m], [m/s]
    double volume = 0;                         // that each of them stands for [m^3]
};

// A solid of the scene, whatever moves it.
struct Body {
    std::string name;
    std::string motion;                // as in the scene: "fixed", "scripted", "rigid", ...
    Vector position{};                 // of its origin in the scene's coordinates [m]
    std::array<double, 4> rotation{};  // a quaternion x, y, z, w
    Vector velocity{}, spin{};         // of its origin [m/s], about it [rad/s]; what deforms: on the whole
    Vector force{}, torque{};          // of the liquid over the last step [N], about its origin [N m]
};

struct Measurement {
    std::string probe;  // its name in the scene
    double value = 0;   // in the unit that docs/scene_reference.md gives
};

class Simulation {
  public:
    // A scene at its start, from a file or from TOML text. Needs no other file but the meshes that it names.
    static Simulation from_file(const std::filesystem::path& scene, const LoadOptions& options = {});
    static Simulation from_text(const std::string& scene, const LoadOptions& options = {});
    Simulation(Simulation&&) noexcept;
    Simulation& operator=(Simulation&&) noexcept;
    ~Simulation();

    // What is odd in the scene, but not wrong.
    const std::vector<std::string>& warnings() const;
    double duration() const;  // as the scene says; one may go on after it [s]
    double frames_per_second() const;
    Vector size() const;       // of the domain, which begins at the origin [m]
    double cell_size() const;  // edge of a grid cell [m]

    double time() const;  // [s]
    int frame() const;    // the last one that was reached; 0 at the start

    // Steps to the next frame, or to a time, and ends there exactly, or at a frame that is less than a
    // millionth of a frame away; a time that is past changes nothing. Where the last step ends changes the
    // result a little, as any change of the time step does.
    void advance_frame();
    void advance_to(double time);

    double liquid_volume() const;  // inside the surface [m^3]
    Droplets particles() const;    // all that carry the liquid
    // The surface of the liquid, drawn on a grid that is `refinement` times finer than the simulation's. What
    // is too small for it is only among the particles.
    Mesh surface(int refinement = 2) const;

    std::vector<Body> bodies() const;               // in the scene's order
    Mesh body_mesh(std::size_t body) const;         // its surface where it is now; always the same triangles
    std::vector<Measurement> measurements() const;  // of the scene's probes

    // Everything that the future depends on. A state can be restored into a simulation of the same scene with
    // the same options, also in another process; it then goes on with the same bits.
    void save(const std::filesystem::path& file) const;
    void restore(const std::filesystem::path& file);

  private:
    struct State;
    explicit Simulation(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

// For all simulations of this process; 0 means all cores.
void set_threads(int count);

}  // namespace flotsam

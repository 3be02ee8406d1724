#include <flotsam/flotsam.h>

#include <cmath>
#include <utility>

#include "core/check.h"
#include "core/parallel.h"
#include "fluid/grid/surface.h"
#include "io/checkpoint.h"
#include "io/frames.h"
#include "scene/scene.h"
#include "scene/solid_scene.h"
#include "sim/driver.h"

namespace flotsam {

namespace {

// Returns the result of `work` and translates its errors to the library's own type.
template <class Work>
auto translating_errors(const Work& work) {
    try {
        return work();
    } catch (const UserError& error) {
        throw Error(Error::Cause::input, error.what());
    } catch (const IoError& error) {
        throw Error(Error::Cause::disk, error.what());
    } catch (const StepFailure& error) {
        throw Error(Error::Cause::step, error.what());
    }
}

Vector to_vector(Vec3 v) { return {v.x, v.y, v.z}; }

std::vector<Point> to_points(const std::vector<Vec3f>& from) {
    std::vector<Point> points;
    points.reserve(from.size());
    for (const Vec3f& v : from) points.push_back({v.x, v.y, v.z});
    return points;
}

Mesh to_mesh(const SurfaceMesh& mesh, const std::vector<Vec3f>& velocity) {
    return {to_points(mesh.vertices), to_points(velocity), mesh.triangles};
}

// The motion of a solid's origin, or of its centre of mass if it deforms.
Twist motion_of(const World& world, const Scenario& scenario, std::size_t s, const Pose& pose) {
    if (const RigidBody* body = body_of(world.bodies, s)) {
        const Twist about_center = twist_of(*body);
        return {about_center.at(pose.position - body->center), about_center.spin};
    }
    if (const SpringBody* body = body_of(world.springs, s))
        return {momentum(*body) / body->net->total_mass(), spin_of(*body)};
    if (const ElasticBody* body = body_of(world.elastics, s))
        return {momentum(*body) / body->mesh->total_mass(), spin_of(*body)};
    constexpr double moment = 1e-3;  // [s]
    return twist_between(pose_at(scenario.solids[s], world.time - moment), pose, moment);
}

}  // namespace

struct Simulation::State {
    Scene scene;
    Driver driver;  // refers to the scene beside it: a State is never moved

    explicit State(Scene loaded)
        : scene(std::move(loaded)), driver(scene.scenario, make_scheme(scene.scenario.method)) {}
};

Simulation::Simulation(std::unique_ptr<State> state) : state_(std::move(state)) {}
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;
Simulation::~Simulation() = default;

Simulation Simulation::from_file(const std::filesystem::path& scene, const LoadOptions& options) {
    return translating_errors([&] {
        auto state = std::make_unique<State>(load_scene(scene, options.set, options.scale, options.method));
        state->driver.start();
        return Simulation(std::move(state));
    });
}

Simulation Simulation::from_text(const std::string& scene, const LoadOptions& options) {
    return translating_errors([&] {
        auto state = std::make_unique<State>(
            parse_scene(scene, "scene", options.set, options.scale, options.method, options.mesh_folder));
        state->driver.start();
        return Simulation(std::move(state));
    });
}

const std::vector<std::string>& Simulation::warnings() const { return state_->scene.warnings; }
double Simulation::duration() const { return state_->scene.scenario.time.duration; }
double Simulation::frames_per_second() const { return state_->scene.scenario.time.frames_per_second; }
Vector Simulation::size() const { return to_vector(state_->scene.scenario.domain.size()); }
double Simulation::cell_size() const { return state_->scene.scenario.domain.h; }
double Simulation::time() const { return state_->driver.world().time; }
int Simulation::frame() const { return state_->driver.frame(); }

void Simulation::advance_frame() {
    translating_errors([&] {
        const int before = frame();
        while (frame() == before) (void)state_->driver.advance();
    });
}

void Simulation::advance_to(double time) {
    if (!std::isfinite(time)) throw Error(Error::Cause::input, "advance_to: the time must be a number");
    translating_errors([&] {
        const TimeSettings& settings = state_->scene.scenario.time;
        while (this->time() < time && !same_time(settings, this->time(), time))
            (void)state_->driver.advance(time);
    });
}

double Simulation::liquid_volume() const {
    const Scenario& scenario = state_->scene.scenario;
    const LiquidState& liquid = state_->driver.world().liquid;
    return flotsam::liquid_volume(liquid.phi, scenario.domain, liquid.open_volume);
}

Droplets Simulation::particles() const {
    const Scenario& scenario = state_->scene.scenario;
    const World& world = state_->driver.world();
    const Particles& particles = world.liquid.particles;
    return {to_points(particles.position), to_points(particle_velocities(particles, world, scenario)),
            scenario.particle_volume()};
}

Mesh Simulation::surface(int refinement) const {
    if (refinement < 1 || refinement > 4)
        throw Error(Error::Cause::input, "surface: the refinement must be from 1 to 4");
    const LiquidSurface surface = liquid_surface(state_->driver.world(), state_->scene.scenario, refinement);
    return to_mesh(surface.mesh, surface.velocity);
}

std::vector<Body> Simulation::bodies() const {
    const Scenario& scenario = state_->scene.scenario;
    const World& world = state_->driver.world();
    std::vector<Body> bodies;
    for (std::size_t s = 0; s < scenario.solids.size(); ++s) {
        const Solid& solid = scenario.solids[s];
        const Pose pose = pose_of(world, scenario, s);
        const Twist motion = motion_of(world, scenario, s, pose);
        Body body{.name = solid.name,
                  .motion = {},
                  .position = to_vector(pose.position),
                  .rotation = quaternion(pose.rotation),
                  .velocity = to_vector(motion.velocity),
                  .spin = to_vector(motion.spin)};
        for (const auto& [word, kind] : motion_words)
            if (kind == solid.motion) body.motion = word;
        if (s < world.loads.size()) {
            body.force = to_vector(world.loads[s].force);
            body.torque = to_vector(world.loads[s].torque);
        }
        bodies.push_back(std::move(body));
    }
    return bodies;
}

Mesh Simulation::body_mesh(std::size_t body) const {
    const Scenario& scenario = state_->scene.scenario;
    if (body >= scenario.solids.size())
        throw Error(Error::Cause::input,
                    "body_mesh: there are only " + std::to_string(scenario.solids.size()) + " bodies");
    SurfaceMesh mesh;
    std::vector<Vec3f> velocity;
    append_solid(state_->driver.world(), scenario, body, mesh, velocity);
    return to_mesh(mesh, velocity);
}

std::vector<Measurement> Simulation::measurements() const {
    std::vector<Measurement> values;
    for (const Probe& probe : state_->scene.probes)
        values.push_back({probe.name, measure(probe, state_->driver.world(), state_->scene.scenario)});
    return values;
}

void Simulation::save(const std::filesystem::path& file) const {
    translating_errors([&] {
        Driver& driver = state_->driver;
        write_checkpoint(file, {state_->scene.hash, driver.frame(), driver.world().step, driver.world().time},
                         [&](StateVisitor& visitor) { driver.visit_state(visitor); });
    });
}

void Simulation::restore(const std::filesystem::path& file) {
    translating_errors([&] {
        if (inspect_checkpoint(file).scene_hash != state_->scene.hash)
            throw UserError(file.string() +
                            ": it was saved by another scene, or by this one with other options");
        // Restore into a new state: an error must not leave half of one behind.
        auto restored = std::make_unique<State>(state_->scene);
        read_checkpoint(file, [&](StateVisitor& visitor) { restored->driver.visit_state(visitor); });
        state_ = std::move(restored);
    });
}

void set_threads(int count) {
    if (count < 0) throw Error(Error::Cause::input, "set_threads: the number must be 0 or more");
    set_thread_count(count);
}

}  // namespace flotsam

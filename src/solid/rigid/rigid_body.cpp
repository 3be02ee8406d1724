#include "solid/rigid/rigid_body.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace flotsam {

namespace {

bool turns_freely(const RigidBody& body) {
    return !body.locked[lock_rotate_x] && !body.locked[lock_rotate_y] && !body.locked[lock_rotate_z];
}

Vec3 without_locked_axes(Vec3 v, const Locks& locked, int first) {
    for (int axis = 0; axis < 3; ++axis)
        if (locked[first + axis]) v[axis] = 0;
    return v;
}

// One step of a free top. Let Pi be the angular momentum in body axes, and Omega the spin that belongs to the
// mean of Pi before and after. When the body rotates about Omega, the change of Pi is perpendicular to both
// Omega and that mean: the energy Pi.I^-1.Pi / 2 and |Pi| are conserved. (The implicit midpoint rule, with
// the exact rotation instead of Cayley's.)
void turn_free_top(RigidBody& body, double dt) {
    const Vec3 before = body.rotation.inverse() * body.angular_momentum;
    Vec3 spin = body.inverse_inertia * before;
    // Converges by a factor of about |spin| dt / 2, which the caller keeps below 1/4.
    constexpr int most_iterations = 60;
    for (int i = 0; i < most_iterations; ++i) {
        const Vec3 after = rotation_by(spin * -dt) * before;
        const Vec3 better = body.inverse_inertia * (0.5 * (before + after));
        const double change = length(better - spin);
        spin = better;
        if (change <= 1e-16 * length(spin)) break;
    }
    body.rotation = orthonormal(body.rotation * rotation_by(spin * dt));
}

// Locked axes are fixed in the world: the spin follows from the pose half way.
void turn_locked(RigidBody& body, double dt) {
    RigidBody middle = body;
    constexpr int iterations = 4;  // each gains an order of |spin| dt
    for (int i = 0; i < iterations; ++i)
        middle.rotation = rotation_by(spin_of(middle) * (0.5 * dt)) * body.rotation;
    body.rotation = orthonormal(rotation_by(spin_of(middle) * dt) * body.rotation);
}

}  // namespace

Locks locks_of(const RigidProperties& properties) {
    Locks locked = properties.locked;
    for (int side = 0; side < 6; ++side)
        if (const int normal = side / 2; properties.mirrored[side]) {
            locked[lock_x + normal] = true;
            for (int axis = 0; axis < 3; ++axis)
                if (axis != normal) locked[lock_rotate_x + axis] = true;
        }
    return locked;
}

RigidBody make_rigid_body(int solid, const RigidProperties& properties, const Pose& start) {
    FLOTSAM_CHECK(properties.mass.mass > 0, properties.mass.mass);
    RigidBody body;
    body.solid = solid;
    // Half of it is on this side of each mirror.
    const double share =
        std::pow(0.5, std::count(properties.mirrored.begin(), properties.mirrored.end(), true));
    body.mass = share * properties.mass.mass;
    body.center_in_body = properties.mass.center;
    body.inertia = properties.mass.inertia * share;
    body.inverse_inertia = body.inertia.inverse();
    body.friction = properties.friction;
    body.restitution = properties.restitution;
    body.locked = locks_of(properties);
    body.one_way = properties.one_way;
    place(body, start);
    body.velocity = without_locked_axes(properties.velocity, body.locked, lock_x);
    set_spin(body, properties.spin);
    return body;
}

void hold_until_release(RigidBody& body, const RigidProperties& properties, double time) {
    body.locked = locks_of(properties);
    if (time < properties.release) body.locked.fill(true);
}

Pose pose_of(const RigidBody& body) {
    return {body.center - body.rotation * body.center_in_body, body.rotation};
}

double mass_of(const RigidBody& body) { return body.mass; }

Vec3 velocity_of(const RigidBody& body) { return body.velocity; }

std::span<Vec3> velocities(RigidBody& body) { return {&body.velocity, 1}; }

double distortion(const RigidBody&) { return 0; }

bool deforms(const RigidBody&) { return false; }

TriangleMesh surface_of(const RigidBody& body, const TriangleMesh& rest) {
    TriangleMesh surface = rest;
    const Pose pose = pose_of(body);
    for (Vec3& v : surface.vertices) v = pose.to_world(v);
    return surface;
}

std::vector<Vec3> surface_velocity(const RigidBody& body, const TriangleMesh& surface) {
    std::vector<Vec3> velocity;
    const Twist motion = twist_of(body);
    for (const Vec3 v : surface.vertices) velocity.push_back(motion.at(v - body.center));
    return velocity;
}

double largest_speed(const RigidBody& body, const Box& box) {
    return length(body.velocity) + length(spin_of(body)) * 0.5 * length(box.high - box.low);
}

void place(RigidBody& body, const Pose& pose) {
    body.rotation = pose.rotation;
    body.center = pose.to_world(body.center_in_body);
}

Mat3 inertia_in_world(const RigidBody& body) { return turned(body.inertia, body.rotation); }

Mat3 inverse_inertia_in_world(const RigidBody& body) {
    if (turns_freely(body)) return turned(body.inverse_inertia, body.rotation);
    // Only the free axes count: invert their block. Ones on the locked diagonal keep it invertible.
    Mat3 block = inertia_in_world(body);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            if (body.locked[lock_rotate_x + i] || body.locked[lock_rotate_x + j]) block.row[i][j] = i == j;
    Mat3 inverse = block.inverse();
    for (int i = 0; i < 3; ++i)
        if (body.locked[lock_rotate_x + i]) inverse.row[i][i] = 0;
    return inverse;
}

Vec3 inverse_mass(const RigidBody& body) {
    const double w = 1 / body.mass;
    return without_locked_axes({w, w, w}, body.locked, lock_x);
}

Vec3 spin_of(const RigidBody& body) { return inverse_inertia_in_world(body) * body.angular_momentum; }

void set_spin(RigidBody& body, Vec3 spin) {
    spin = without_locked_axes(spin, body.locked, lock_rotate_x);
    body.angular_momentum = without_locked_axes(inertia_in_world(body) * spin, body.locked, lock_rotate_x);
}

void apply_impulse(RigidBody& body, const Impulse& impulse) {
    body.velocity += without_locked_axes(impulse.linear, body.locked, lock_x) / body.mass;
    body.angular_momentum += without_locked_axes(impulse.angular, body.locked, lock_rotate_x);
}

void advance(RigidBody& body, double dt) {
    body.center += body.velocity * dt;
    if (body.angular_momentum == Vec3{}) return;
    // At most half a radian at a time: otherwise the iteration for a fast top would not converge.
    const int pieces = std::max(1, int(std::ceil(std::min(2 * length(spin_of(body)) * std::abs(dt), 1e6))));
    for (int i = 0; i < pieces; ++i)
        if (turns_freely(body))
            turn_free_top(body, dt / pieces);
        else
            turn_locked(body, dt / pieces);
}

double kinetic_energy(const RigidBody& body) {
    return 0.5 * (body.mass * dot(body.velocity, body.velocity) + dot(body.angular_momentum, spin_of(body)));
}

void visit_state(std::vector<RigidBody>& bodies, StateVisitor& visit, const std::string& name) {
    const auto list = [&](const char* what, auto member) {
        std::vector<Vec3> values;
        values.reserve(bodies.size());
        for (RigidBody& body : bodies) values.push_back(member(body));
        visit.array(name + "/" + what, values);
        for (std::size_t i = 0; i < std::min(values.size(), bodies.size()); ++i)
            member(bodies[i]) = values[i];
    };
    list("center", [](RigidBody& b) -> Vec3& { return b.center; });
    list("rotation_x", [](RigidBody& b) -> Vec3& { return b.rotation.row[0]; });
    list("rotation_y", [](RigidBody& b) -> Vec3& { return b.rotation.row[1]; });
    list("rotation_z", [](RigidBody& b) -> Vec3& { return b.rotation.row[2]; });
    list("velocity", [](RigidBody& b) -> Vec3& { return b.velocity; });
    list("angular_momentum", [](RigidBody& b) -> Vec3& { return b.angular_momentum; });
}

}  // namespace flotsam

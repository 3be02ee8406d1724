// Rigid bodies: their properties and their state.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "core/mat3.h"
#include "core/rotation.h"
#include "core/state.h"
#include "geometry/mass_properties.h"
#include "geometry/triangle_mesh.h"

namespace flotsam {

// Degrees of freedom that can be locked: translations along and rotations about the world's axes.
enum LockedAxis { lock_x, lock_y, lock_z, lock_rotate_x, lock_rotate_y, lock_rotate_z };
using Locks = std::array<bool, 6>;

// A rigid solid as its scene describes it: constant during a run.
struct RigidProperties {
    MassProperties mass;
    double friction = 0.5;     // Coulomb's coefficient; a pair has the root of the product
    double restitution = 0.2;  // rebound over approach speed; a pair has the larger one
    Locks locked{};
    Vec3 velocity;         // at the start, of the centre of mass [m/s]
    Vec3 spin;             // at the start [rad/s]
    double release = 0;    // it is held where it is until then [s]
    bool one_way = false;  // moves the liquid and does not feel it
    // The sides of the domain (low x, high x, low y, ...) that are planes of symmetry and cut it. `mass` is
    // that of the whole; only the part inside the domain is simulated, and moves as the symmetry allows.
    std::array<bool, 6> mirrored{};
};
// Its locks, and what mirrors deny it: motion across them, and turning but about their normals.
Locks locks_of(const RigidProperties& properties);
inline bool deforms(const RigidProperties&) { return false; }

// A body during a run. The state holds angular momentum, not spin: it is constant while nothing acts on the
// body, however it tumbles.
struct RigidBody {
    // Constant.
    int solid = 0;  // its index in the scenario
    double mass = 1;
    Vec3 center_in_body;  // the centre of mass in the coordinates of the solid's shape [m]
    Mat3 inertia = Mat3::diagonal({1, 1, 1});          // about the centre, in body axes [kg m^2]
    Mat3 inverse_inertia = Mat3::diagonal({1, 1, 1});  // of that
    double friction = 0.5, restitution = 0.2;
    Locks locked{};
    bool one_way = false;  // does not feel the liquid

    // State.
    Vec3 center;            // of mass [m]
    Rotation rotation;      // from body to world axes
    Vec3 velocity;          // of the centre [m/s]
    Vec3 angular_momentum;  // about the centre, world axes; zero along locked axes [kg m^2/s]
};

RigidBody make_rigid_body(int solid, const RigidProperties& properties, const Pose& start);
// Locks all axes of a body before its release, and those that its scene locks after it.
void hold_until_release(RigidBody& body, const RigidProperties& properties, double time);

// The interface that the rest of the program needs of every kind of body. Kinds that deform also have
// `follow` and `place_of`.
Pose pose_of(const RigidBody& body);      // of its shape in the world; the best fit if it deforms
double mass_of(const RigidBody& body);    // [kg]
Vec3 velocity_of(const RigidBody& body);  // of its centre of mass [m/s]
Vec3 spin_of(const RigidBody& body);      // [rad/s]
inline Vec3 momentum(const RigidBody& body) { return body.mass * body.velocity; }  // [kg m/s]
double kinetic_energy(const RigidBody& body);                                      // [J]
std::span<Vec3> velocities(RigidBody& body);  // of its nodes, or of its centre [m/s]
double distortion(const RigidBody& body);     // mass-weighted RMS distance from its shape at rest [m]
bool deforms(const RigidBody& body);
// Its surface in the world, with the vertices of `rest` in the coordinates of its shape, and their
// velocities.
TriangleMesh surface_of(const RigidBody& body, const TriangleMesh& rest);
std::vector<Vec3> surface_velocity(const RigidBody& body, const TriangleMesh& surface);
// Visits what changes during a run.
void visit_state(std::vector<RigidBody>& bodies, StateVisitor& visit, const std::string& name);

// Moves the body to a pose of its shape; velocity and momentum stay.
void place(RigidBody& body, const Pose& pose);

// Velocity from momentum and back, with locked axes left out. In world axes.
Mat3 inertia_in_world(const RigidBody& body);
Mat3 inverse_inertia_in_world(const RigidBody& body);  // zero along locked axes
Vec3 inverse_mass(const RigidBody& body);              // per axis; zero along locked ones [1/kg]
void set_spin(RigidBody& body, Vec3 spin);
// The motion of its centre; `Twist::at` takes arms from the centre of mass.
inline Twist twist_of(const RigidBody& body) { return {body.velocity, spin_of(body)}; }

// Changes of momentum: linear [kg m/s], and angular about the centre [kg m^2/s].
struct Impulse {
    Vec3 linear, angular;
    friend Impulse operator+(const Impulse& a, const Impulse& b) {
        return {a.linear + b.linear, a.angular + b.angular};
    }
    Impulse& operator+=(const Impulse& b) { return *this = *this + b; }
};
void apply_impulse(RigidBody& body, const Impulse& impulse);

// Free motion for a time: the centre moves uniformly, the axes turn as those of a free top. Conserves
// momentum and energy to rounding, and rotates a steady spin by exactly its angle.
void advance(RigidBody& body, double dt);

// Upper bound of the speed of any point of a body whose shape lies within `box` [m/s].
double largest_speed(const RigidBody& body, const Box& box);

}  // namespace flotsam

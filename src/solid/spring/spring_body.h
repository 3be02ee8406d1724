// Solids of point masses joined by visco-elastic springs [Genevaux03 2.2].
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/rotation.h"
#include "core/state.h"
#include "geometry/solid_shape.h"

namespace flotsam {

// Pushes two nodes apart when they are closer than `length`, pulls them together when they are further away.
struct Spring {
    int a = 0, b = 0;
    double length = 0;     // at rest: d_coh [m]
    double stiffness = 0;  // k_coh [N/m]
    double damping = 0;    // z_coh [N s/m]
};

// A vertex of the surface and the nodes that carry it along.
struct SkinAnchor {
    static constexpr int most = 8;
    int count = 0;
    std::array<int, most> node{};
    std::array<double, most> weight{};
};

// What a spring solid is made of: constant during a run, in body coordinates.
struct SpringNet {
    std::vector<Vec3> rest;    // where its nodes are [m]
    std::vector<double> mass;  // of each [kg]
    std::vector<Spring> springs;
    double spacing = 0;            // between neighbouring nodes; 0 for a single one [m]
    double contact_radius = 0;     // nodes keep this far from walls and fixed solids [m]
    TriangleMesh mesh;             // the surface that follows the nodes
    std::vector<SkinAnchor> skin;  // one per vertex

    double total_mass() const;
};

// A spring solid as its scene describes it.
struct SpringProperties {
    std::shared_ptr<const SpringNet> net;
    Vec3 velocity;  // of its centre of mass at the start [m/s]
    Vec3 spin;      // about that [rad/s]
    // How it repels the liquid's markers [Genevaux03 3.1].
    double radius = 0;             // of each node: R [m]
    double repulsion = 0;          // for each marker: k_int [N/m]
    double repulsion_damping = 0;  // z_int [N s/m]
    int share = 1;                 // every share-th marker takes part and represents the others
};
bool deforms(const SpringProperties& properties);  // every net but a single node does

// During a run.
struct SpringBody {
    int solid = 0;  // its index in the scenario
    std::shared_ptr<const SpringNet> net;
    std::vector<Vec3> position;  // of the nodes [m]
    std::vector<Vec3> velocity;  // [m/s]
};
SpringBody make_spring_body(int solid, const SpringProperties& properties, const Pose& start);

// How nets are built. `stiffness` is Young's modulus [Pa]; `damping` is that of a spring between two nodes,
// as a share of critical damping.
struct SpringMaterial {
    double density = 1000;  // [kg/m^3]
    double stiffness = 1e5;
    double damping = 0.1;
};

// One node: a ball.
SpringNet single_node(SolidShape ball, double radius, double density);

// Nodes in the middle of cubes with the edge `spacing` that the shape fills, with springs along the edges and
// the diagonals of the lattice's faces. Equal springs k = 0.4 E spacing make it isotropic, with Poisson's
// ratio 1/4: the elastic constants of such a lattice are C11 = 3 k / spacing, C12 = C44 = k / spacing.
// Shells keep only the outermost nodes, and brace each by struts along the axes to the ones across.
// Empty when the shape holds less than two nodes along some axis.
enum class NetKind { lattice, shell };
SpringNet spring_lattice(const SolidShape& shape, double spacing, const SpringMaterial& material,
                         NetKind kind = NetKind::lattice);

// The same net under another surface, in body coordinates.
SpringNet with_skin(SpringNet net, TriangleMesh mesh);

// Adds the springs' forces [N] to `force`: f = -k (|xi - xj| - d) - z d|xi - xj|/dt along xi - xj
// [Genevaux03 2.2].
void add_spring_forces(const SpringNet& net, std::span<const Vec3> position, std::span<const Vec3> velocity,
                       std::span<Vec3> force);
double spring_energy(const SpringNet& net, std::span<const Vec3> position);  // [J]

// The longest stable sub-step of `advance` [s]; infinite without springs.
double stable_dt(const SpringNet& net);

// What stops nodes: closed sides of a box and solids that stand still.
struct NodeConfines {
    Box sides;
    std::array<bool, 6> closed{};  // side 2 * axis, plus one for the high end
    struct Fixed {
        ShapePtr shape;
        Pose pose;
        Box reach;
    };
    std::vector<Fixed> fixed;
    double friction = 0, restitution = 0;
};

// Moves the nodes for a time by their springs and gravity alone: position Verlet (half of the way, forces,
// the other half), in as many equal sub-steps as stability needs. Returns the impulse from walls and fixed
// solids [kg m/s].
Vec3 advance(SpringBody& body, Vec3 gravity, double dt, const NodeConfines& confines);

// Its deformed surface. Each vertex follows the nodes around it, and the rotation and stretch of their
// neighbourhood.
TriangleMesh skin_of(const SpringNet& net, std::span<const Vec3> position);
inline TriangleMesh skin_of(const SpringBody& body) { return skin_of(*body.net, body.position); }
Vec3 center_of_mass(const SpringBody& body);
Vec3 angular_momentum(const SpringBody& body);  // about the origin [kg m^2/s]
double largest_speed(const SpringBody& body);   // of a node [m/s]

// The interface of every kind of body (rigid/rigid_body.h).
Pose pose_of(const SpringBody& body);
double mass_of(const SpringBody& body);
Vec3 velocity_of(const SpringBody& body);
Vec3 spin_of(const SpringBody& body);  // of a rigid body with the same angular momentum; 0 for a single node
Vec3 momentum(const SpringBody& body);
double kinetic_energy(const SpringBody& body);
std::span<Vec3> velocities(SpringBody& body);
double distortion(const SpringBody& body);
bool deforms(const SpringBody& body);
TriangleMesh surface_of(const SpringBody& body, const TriangleMesh& rest);
std::vector<Vec3> surface_velocity(const SpringBody& body, const TriangleMesh& surface);

// A point that the nodes carry along: the only vertex of a surface over the body's net.
struct SpringPoint {
    std::shared_ptr<const SpringNet> net;
};
SpringPoint follow(const SpringBody& body, Vec3 point);
Vec3 place_of(const SpringBody& body, const SpringPoint& point);

void visit_state(std::vector<SpringBody>& bodies, StateVisitor& visit, const std::string& name);

}  // namespace flotsam

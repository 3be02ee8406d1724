// Elastic bodies: linear tetrahedra with their mass in the nodes [Zarifi17 Chapter 3].
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/rotation.h"
#include "core/state.h"
#include "geometry/tet_mesh.h"
#include "linalg/block_matrix.h"
#include "solid/elastic/elastic_material.h"
#include "solid/script.h"

namespace flotsam {

// What a body is made of: constant during a run, in body coordinates.
struct ElasticMesh {
    TetMesh rest;
    ElasticMaterial material;
    std::vector<double> mass;  // of each node: a quarter of its tetrahedra's mass [Zarifi17 Alg. 1, 4] [kg]
    std::vector<ElementBatch> batches;
    double edge = 0;                // mean length of an edge [m]
    std::vector<Int3> triangles;    // of the surface, by node index
    std::vector<int> skin_nodes;    // nodes on the surface
    std::vector<double> skin_area;  // surface area of each node; 0 inside [m^2]

    // The matrix's sparsity pattern (its values are unused), and the element entries that sum to each block:
    // element * 16 + row corner * 4 + column corner, in the elements' order.
    BlockMatrix pattern;
    std::vector<std::int64_t> block_begin, block_source;
    std::vector<std::int64_t> node_begin, node_source;  // for forces: element * 4 + corner

    // The surface that pictures show, and the tetrahedron that carries each of its vertices.
    TriangleMesh skin;
    std::vector<TetPlace> skin_place;

    double total_mass() const;
};
// `skin` may be finer than the tetrahedra; without vertices, their own surface is taken.
ElasticMesh make_elastic_mesh(TetMesh rest, const ElasticMaterial& material, TriangleMesh skin = {});

// Nodes that are fixed, or moved by a script.
struct Pin {
    std::vector<int> nodes;
    std::array<bool, 3> axes{true, true, true};  // held axes
    Script script;                               // of a frame that starts at `frame`; all axes must be held
    Pose frame;
    double release = 1e300;  // when the pin lets go [s]
};

// Two dimensions: nothing moves along z (plane strain).
Pin hold_flat(const ElasticMesh& mesh);

// Forces that do not depend on how the body moves.
struct ElasticLoad {
    std::vector<int> nodes;       // a point load: `force` is shared among them
    Vec3 force;                   // [N]
    std::vector<Int3> triangles;  // a pressure: on these surface triangles, along their current normals
    double pressure = 0;          // [Pa]
};

// Implicit Euler is the thesis's choice and dissipates energy; the midpoint rule is of second order and
// conserves momentum and nearly all energy.
enum class ElasticIntegrator { backward_euler, midpoint };

// An elastic solid as its scene describes it.
struct ElasticProperties {
    std::shared_ptr<const ElasticMesh> mesh;
    Vec3 velocity;          // of its centre of mass at the start [m/s]
    Vec3 spin;              // about that [rad/s]
    Vec3 squeeze{1, 1, 1};  // initial size along its axes, relative to the size at rest
    std::vector<Pin> pins{};
    std::vector<ElasticLoad> loads{};
    ElasticIntegrator integrator = ElasticIntegrator::backward_euler;
    int newton_steps = 10;           // at most; 1 solves the thesis's linear equation only
    double newton_tolerance = 1e-3;  // Newton's method ends below this largest correction, in edges
};
inline bool deforms(const ElasticProperties&) { return true; }

// During a run.
struct ElasticBody {
    int solid = 0;  // its index in the scenario
    std::shared_ptr<const ElasticMesh> mesh;
    std::vector<Vec3> position;  // of the nodes [m]
    std::vector<Vec3> velocity;  // [m/s]
};
ElasticBody make_elastic_body(int solid, const ElasticProperties& properties, const Pose& start);

// Its deformed surface, and the velocities of its vertices.
TriangleMesh skin_of(const ElasticMesh& mesh, const std::vector<Vec3>& position);
inline TriangleMesh skin_of(const ElasticBody& body) { return skin_of(*body.mesh, body.position); }
std::vector<Vec3> skin_velocity(const ElasticBody& body);
// The surface of the tetrahedra, by node index.
TriangleMesh node_surface(const ElasticBody& body);

Vec3 center_of_mass(const ElasticBody& body);
Vec3 angular_momentum(const ElasticBody& body);        // about the origin [kg m^2/s]
double elastic_energy(const ElasticBody& body);        // [J]
double volume(const ElasticBody& body);                // [m^3]
double largest_speed(const ElasticBody& body);         // of a node [m/s]
double smallest_determinant(const ElasticBody& body);  // of F: 1 at rest, 0 flat, negative inside out
std::vector<Mat3> stresses(const ElasticBody& body);   // Cauchy stress of each tetrahedron [Pa]
double von_mises(const Mat3& stress);                  // [Pa]

// The interface of every kind of body (rigid/rigid_body.h).
Pose pose_of(const ElasticBody& body);
double mass_of(const ElasticBody& body);
Vec3 velocity_of(const ElasticBody& body);
Vec3 spin_of(const ElasticBody& body);  // of a rigid body with the same angular momentum
Vec3 momentum(const ElasticBody& body);
double kinetic_energy(const ElasticBody& body);
std::span<Vec3> velocities(ElasticBody& body);
double distortion(const ElasticBody& body);
bool deforms(const ElasticBody& body);
TriangleMesh surface_of(const ElasticBody& body, const TriangleMesh& rest);
std::vector<Vec3> surface_velocity(const ElasticBody& body, const TriangleMesh& surface);

// A point that a tetrahedron carries along.
struct ElasticPoint {
    TetPlace place;
};
ElasticPoint follow(const ElasticBody& body, Vec3 point);
Vec3 place_of(const ElasticBody& body, const ElasticPoint& point);

// Inertia tensor of nodes at x about `center` [kg m^2].
Mat3 inertia_about(const ElasticMesh& mesh, std::span<const Vec3> x, Vec3 center);

void visit_state(std::vector<ElasticBody>& bodies, StateVisitor& visit, const std::string& name);

}  // namespace flotsam

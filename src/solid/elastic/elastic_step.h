// Implicit steps of elastic bodies, alone or touching each other and rigid bodies.
//
// clang-format off
// Paper box
//   [Zarifi17] Zarifi, thesis, Waterloo 2017, Chapter 3 and Algorithm 2.
//   Eq. 3.27-3.28  lumped mass             ElasticMesh::mass
//   Eq. 3.30-3.34  deformation gradient    make_batches, deformation_gradient
//   Eq. 3.35-3.45  element stiffness       evaluate_elements
//   Eq. 3.50       Rayleigh damping        linearize_share, ElasticEquation
//   Eq. 3.52-3.55  corotational system     linearize_share: (M + dt D + dt^2 K) v = M v* + dt (f - K x + b)
//   Eq. 3.56-3.58  polar decomposition     decompose (elastic_material.cpp)
//   [Smith18] Smith, de Goes, Kim, "Stable Neo-Hookean Flesh Simulation", TOG 2018.
// Where the code deviates, and why
//   - The stiffness is the true derivative of the forces, including the rotations, without its negative
//     directions; K of Eq. 3.53 omits the derivative of the rotations, which Newton's method needs.
//   - Newton's method with a line search on the step's energy: Eq. 3.55 is its first step (newton_steps = 1).
//   - Rotations come from a signed singular value decomposition: Eq. 3.58 divides by zero for flat elements
//     and gives a reflection for inverted ones.
//   - Contact is a stiff spring in the same solve (docs/decisions/0009), not an explicit correction.
// clang-format on
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "linalg/block_matrix.h"
#include "solid/elastic/elastic_body.h"
#include "solid/elastic/elastic_contact.h"

namespace flotsam {

// The momentum that an elastic body received from outside in a step [kg m/s].
struct ElasticReceived {
    Vec3 outside;   // gravity and loads
    Vec3 damping;   // mass damping
    Vec3 contacts;  // with others
};

struct ElasticReport {
    bool solved = false;  // every linear solve converged, and all numbers are finite: otherwise nothing moved
    bool converged = false;  // Newton's method converged, too, where more than one step is allowed: its last
                             // correction is small, was not cut short, and leaves friction unchanged
    int newton_steps = 0;
    int solver_iterations = 0;  // of all Newton steps
    double correction = 0;      // largest one of the last Newton step, in edges
    double disagreement = 0;    // change of velocity in the last Newton step, where it did not converge [m/s]
    std::vector<ElasticReceived> received{};  // of each body
};

// Keeps data between steps that depends on the meshes alone, such as sparsity patterns of factors.
class ElasticStepper {
  public:
    ElasticStepper();
    ElasticStepper(ElasticStepper&&) noexcept;
    ElasticStepper& operator=(ElasticStepper&&) noexcept;
    ~ElasticStepper();

    // Moves the bodies from `time` on by dt; partners get their velocities after contact. properties[b]
    // belongs to bodies[b].
    ElasticReport step(std::vector<ElasticBody>& bodies,
                       const std::vector<const ElasticProperties*>& properties, Vec3 gravity, double time,
                       double dt, std::vector<ElasticContact> contacts = {},
                       std::vector<RigidPartner>* partners = nullptr);

    // Moves the bodies from where they are to static equilibrium: no masses, no time.
    ElasticReport rest(std::vector<ElasticBody>& bodies,
                       const std::vector<const ElasticProperties*>& properties, Vec3 gravity);

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

// Finds contacts and steps, in sub-steps where bodies are fast for their size and something is near. Partners
// move along, and end with their velocities after contact.
ElasticReport advance_with_contacts(ElasticStepper& stepper, std::vector<ElasticBody>& bodies,
                                    const std::vector<const ElasticProperties*>& properties,
                                    ContactScene scene, std::vector<RigidPartner>& partners, double time,
                                    double dt);

// Which of a body's three directions are held at a time, node by node (bits 1, 2, 4).
std::vector<unsigned char> held_axes(const ElasticBody& body, const ElasticProperties& properties,
                                     double time);
// Sets the held components of the nodes' velocities v so that pinned nodes are at their prescribed places
// after dt.
void impose_pins(const ElasticProperties& properties, std::span<const Vec3> position, double time, double dt,
                 std::span<Vec3> v);
// Sets held components to zero in values on nodes; in a block of a matrix; and in rows on nodes from `first`
// on. The matrix keeps its diagonal: entries of the same size as their neighbours suit iterative solvers
// better than a 1.
void leave_out(std::span<const unsigned char> held, std::span<Vec3> values);
void leave_out(std::span<const unsigned char> held, int row, int column, Mat3& block);
void leave_out(std::span<const unsigned char> held, int first, std::span<BlockRow> rows);
// External forces on the nodes: gravity and loads [N].
std::vector<Vec3> outer_forces(const ElasticBody& body, const ElasticProperties& properties, Vec3 gravity);
// Sums over elements, in the elements' order.
void gather_forces(const ElasticMesh& mesh, const std::vector<ElementForces>& forces, std::vector<Vec3>& sum);
void gather_stiffness(const ElasticMesh& mesh, const std::vector<ElementStiffness>& blocks, BlockMatrix& sum);

}  // namespace flotsam

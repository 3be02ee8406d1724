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
//   - The stiffness is the true derivative of the forces, with how rotations change, and without its negative
//     directions; K of Eq. 3.53 leaves the former out, and what it leaves out is what Newton's method needs.
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

// What an elastic body received in a step from what is not itself [kg m/s].
struct ElasticReceived {
    Vec3 outside;   // gravity and loads
    Vec3 damping;   // of its mass
    Vec3 contacts;  // with others
};

struct ElasticReport {
    bool solved = false;     // every linear solve was, and all numbers are finite: otherwise nothing moved
    bool converged = false;  // Newton's method came to its end, too, where it was asked for: its last
                             // correction is small, was not cut short, and leaves friction as it is
    int newton_steps = 0;
    int solver_iterations = 0;  // of all of them
    double correction = 0;      // the last one's largest, in edges
    double disagreement = 0;    // what it still wanted to change, where it did not converge [m/s]
    std::vector<ElasticReceived> received{};  // of each body
};

// What is kept between steps, because it follows from the meshes: patterns of factors and the like.
class ElasticStepper {
  public:
    ElasticStepper();
    ElasticStepper(ElasticStepper&&) noexcept;
    ElasticStepper& operator=(ElasticStepper&&) noexcept;
    ~ElasticStepper();

    // Moves the bodies from `time` on by dt; partners get the velocities that contacts leave them.
    // properties[b] belongs to bodies[b].
    ElasticReport step(std::vector<ElasticBody>& bodies,
                       const std::vector<const ElasticProperties*>& properties, Vec3 gravity, double time,
                       double dt, std::vector<ElasticContact> contacts = {},
                       std::vector<RigidPartner>* partners = nullptr);

    // Moves the bodies to where their forces balance, from where they are: no masses, no time.
    ElasticReport rest(std::vector<ElasticBody>& bodies,
                       const std::vector<const ElasticProperties*>& properties, Vec3 gravity);

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

// Finds contacts and steps, in pieces where bodies are fast for their size and something is near. Partners
// move along, and end with what the contacts leave them.
ElasticReport advance_with_contacts(ElasticStepper& stepper, std::vector<ElasticBody>& bodies,
                                    const std::vector<const ElasticProperties*>& properties,
                                    ContactScene scene, std::vector<RigidPartner>& partners, double time,
                                    double dt);

// Which of a body's three directions are held at a time, node by node (bits 1, 2, 4).
std::vector<unsigned char> held_axes(const ElasticBody& body, const ElasticProperties& properties,
                                     double time);
// Gives held directions of the nodes' velocities v what takes them where they must be after dt.
void impose_pins(const ElasticProperties& properties, std::span<const Vec3> position, double time, double dt,
                 std::span<Vec3> v);
// Takes held directions out of values on nodes; out of a block of a matrix, but for its diagonal: of the same
// size as its neighbours', iterations like that better than a 1; out of rows on nodes from `first` on.
void leave_out(std::span<const unsigned char> held, std::span<Vec3> values);
void leave_out(std::span<const unsigned char> held, int row, int column, Mat3& block);
void leave_out(std::span<const unsigned char> held, int first, std::span<BlockRow> rows);
// External forces on the nodes: gravity and loads [N].
std::vector<Vec3> outer_forces(const ElasticBody& body, const ElasticProperties& properties, Vec3 gravity);
// Sums over elements, in the elements' order.
void gather_forces(const ElasticMesh& mesh, const std::vector<ElementForces>& forces, std::vector<Vec3>& sum);
void gather_stiffness(const ElasticMesh& mesh, const std::vector<ElementStiffness>& blocks, BlockMatrix& sum);

}  // namespace flotsam

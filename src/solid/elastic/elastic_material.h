// Elastic materials: energy, stress and stiffness of tetrahedra.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/mat3.h"
#include "geometry/tet_mesh.h"

namespace flotsam {

enum class ElasticModel { linear, corotational, neo_hookean, st_venant_kirchhoff };

struct ElasticMaterial {
    ElasticModel model = ElasticModel::corotational;
    double young = 1e5;     // [Pa]
    double poisson = 0.3;   // below 0.5
    double density = 1000;  // [kg/m^3]
    // Rayleigh's damping D = tau_M M + tau_K K [Zarifi17 Eq. 3.50].
    double mass_damping = 0;       // tau_M [1/s]
    double stiffness_damping = 0;  // tau_K [s]

    double lambda() const { return young * poisson / ((1 + poisson) * (1 - 2 * poisson)); }  // [Eq. 3.9]
    double mu() const { return young / (2 * (1 + poisson)); }                                // [Eq. 3.10]
};

// Eight tetrahedra as a structure of arrays, so that the compiler vectorizes over them. Unused lanes of the
// last batch are copies without volume.
struct ElementBatch {
    static constexpr int lanes = 8;
    using Lane = std::array<double, lanes>;
    std::array<std::array<int, lanes>, 4> node{};
    std::array<Lane, 9> gradient{};  // of the shape functions of nodes 1 to 3: the rows of inverse D_m
    Lane volume{};                   // at rest [m^3]
    int count = 0;
};
std::vector<ElementBatch> make_batches(const TetMesh& rest);

// The ten blocks of an element's symmetric stiffness that are on or above the diagonal.
constexpr int pair_number(int a, int b) { return a * 4 - a * (a - 1) / 2 + (b - a); }  // a <= b
using ElementStiffness = std::array<Mat3, 10>;

struct ElementForces {
    std::array<Vec3, 4> force;  // on its nodes [N]
};

// The results wanted for all elements; null for those that are not. Stiffness is the derivative of minus the
// force. `definite` leaves out directions of negative stiffness: with them the matrix may give no descent
// direction, without them it is positive semi-definite.
struct ElementResults {
    std::vector<double>* energy = nullptr;  // [J]
    std::vector<ElementForces>* forces = nullptr;
    std::vector<ElementStiffness>* stiffness = nullptr;
    bool definite = true;
};
void evaluate_elements(const std::vector<ElementBatch>& batches, const ElasticMaterial& material,
                       const std::vector<Vec3>& position, const ElementResults& results);

// Deformation gradient of a tetrahedron: F = D_s inverse(D_m) [Zarifi17 3.5.2].
Mat3 deformation_gradient(const ElementBatch& batch, int lane, const std::vector<Vec3>& position);
// The nearest rotation to a matrix, also to one that is flat or inside out.
Mat3 nearest_rotation(const Mat3& f);
// Force per area of the deformed body [Pa]: the stress in pictures and files [Zarifi17 Eq. 3.6].
Mat3 cauchy_stress(const Mat3& f, const ElasticMaterial& material);

}  // namespace flotsam

// Elastic materials: energy, stress and stiffness of elements.
#pragma once

#include <array>
#include <vector>

#include "core/mat3.h"
#include "solid/elastic/elements.h"

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

// The derivative of an element's stress P by its deformation gradient F, times its volume [J]:
// dP_ik / dF_jl is at [27 k + 9 l + 3 i + j].
using ElementStiffness = std::array<double, 81>;

// The results wanted for all elements; null for those that are not. `definite` leaves out directions of
// negative stiffness: with them the matrix may give no descent direction, without them it is positive
// semi-definite.
struct ElementResults {
    std::vector<double>* energy = nullptr;  // [J]
    std::vector<Mat3>* stress = nullptr;    // P, force per area at rest, times the volume [J]
    std::vector<ElementStiffness>* stiffness = nullptr;
    bool definite = true;
};
void evaluate_elements(const Elements& elements, ElasticModel model, const std::vector<Vec3>& position,
                       const ElementResults& results);

// Deformation gradient of an element; for a tetrahedron F = D_s inverse(D_m) [Zarifi17 3.5.2].
Mat3 deformation_gradient(const Elements& elements, std::size_t element, const std::vector<Vec3>& position);
// The nearest rotation to a matrix, also to one that is flat or inside out.
Mat3 nearest_rotation(const Mat3& f);
// Force per area of the deformed body [Pa]: the stress in pictures and files [Zarifi17 Eq. 3.6].
Mat3 cauchy_stress(const Mat3& f, ElasticModel model, double mu, double lambda);

}  // namespace flotsam

// Elastic bodies for tests.
#pragma once

#include "core/random.h"
#include "solid/elastic/elastic_step.h"

namespace flotsam {

inline ElasticProperties lattice_properties(Vec3 size, Int3 cells, const ElasticMaterial& material) {
    ElasticProperties properties;
    properties.mesh = std::make_shared<ElasticMesh>(
        make_elastic_mesh(tet_lattice(size * -0.5, size * 0.5, cells), material));
    return properties;
}

inline double noise(std::uint64_t key) { return 2 * uniform(key) - 1; }

// Every node off its place by up to `amount` along each axis.
inline std::vector<Vec3> shaken(std::vector<Vec3> nodes, double amount, std::uint64_t seed = 1) {
    for (std::size_t n = 0; n < nodes.size(); ++n)
        for (int a = 0; a < 3; ++a) nodes[n][a] += amount * noise(combine(seed, 3 * n + a));
    return nodes;
}

}  // namespace flotsam

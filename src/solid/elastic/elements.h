// The elements of an elastic body: regions of its tetrahedra, each with one deformation gradient.
//
// Linear tetrahedra are too stiff where a body bends: with two layers of them a beam gives way half as much
// as it should, and a third as much where Poisson's ratio is 0.45 (docs/decisions/0016). Smoothed elements
// take the mean gradient of all tetrahedra around an edge for changes of shape, and of all around a node for
// changes of volume [Liu10 Chapters 7 and 10]. Nodes and masses stay the same, and a strain that is constant
// is as exact as before.
#pragma once

#include <span>
#include <vector>

#include "geometry/tet_mesh.h"

namespace flotsam {

enum class ElasticElements {
    linear,   // every tetrahedron by itself [Zarifi17 Chapter 3]
    smoothed  // means around edges and nodes
};

struct Elements {
    struct Element {
        int first, count;   // its corners
        double volume;      // at rest [m^3]
        double mu, lambda;  // Lame's constants as far as it stands for them [Pa]
    };
    std::vector<Element> all;
    // Of each corner: its node, and the gradient of that node's shape function [1/m].
    std::vector<int> node;
    std::vector<Vec3> gradient;

    // The elements that a tetrahedron is part of, and their weights in its mean stress; as many for each
    // tetrahedron.
    struct Part {
        int element;
        double weight;
    };
    std::vector<Part> parts;
    int parts_of_each = 0;

    std::span<const Part> parts_of(std::size_t tet) const {
        return std::span(parts).subspan(tet * std::size_t(parts_of_each), std::size_t(parts_of_each));
    }
};
Elements make_elements(const TetMesh& rest, ElasticElements kind, double mu, double lambda);

}  // namespace flotsam

// Volume, centre and inertia of bodies.
#pragma once

#include "core/mat3.h"
#include "geometry/shape.h"
#include "geometry/triangle_mesh.h"

namespace flotsam {

// Integrals over a region of space.
struct VolumeMoments {
    double volume = 0;  // [m^3]
    Vec3 center;        // [m]
    Mat3 spread;        // of (x - center)(x - center)^T [m^5]

    // The moments of a region without a part of it.
    friend VolumeMoments operator-(const VolumeMoments& whole, const VolumeMoments& part);
};

// Exact, by the divergence theorem: a closed mesh is a sum of signed tetrahedra.
VolumeMoments enclosed_moments(const TriangleMesh& mesh);

// The part of `shape` that is deeper than `depth` [m] under its surface: the room inside a wall of that
// thickness. Cubes that its boundary crosses are subdivided, down to a quarter of `depth`; the smallest ones
// count by the depth of their centre. Walls of boxes and balls come out to 0.2 %.
VolumeMoments moments_deeper_than(const Shape& shape, double depth);

struct MassProperties {
    double mass = 0;  // [kg]
    Vec3 center;      // of mass, in body coordinates [m]
    Mat3 inertia;     // about the centre, in body axes [kg m^2]
};
MassProperties mass_properties(const VolumeMoments& moments, double density);
// Two bodies that are one; a point mass has no inertia of its own.
MassProperties together(const MassProperties& a, const MassProperties& b);

}  // namespace flotsam

// Regions of space given by a signed distance: where liquid starts, is emitted or drained.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/vec.h"

namespace flotsam {

class Shape {
  public:
    virtual ~Shape() = default;
    // Signed distance to the surface, negative inside [m]. Exact outside and near the surface.
    virtual double distance(Vec3 p) const = 0;
    // The outward unit normal; here by differences over `step` [m].
    virtual Vec3 normal(Vec3 p, double step) const;
    // A box that holds the shape; may reach to infinity.
    virtual Box bounds() const = 0;

    bool contains(Vec3 p) const { return distance(p) <= 0; }
};
using ShapePtr = std::shared_ptr<const Shape>;

// Whether the straight path from a to b comes nearer to a shape than `gap` [m]. It is tested every
// `least_step` [m], or less often where the shape is farther away.
bool meets(const Shape& shape, Vec3 a, Vec3 b, double gap, double least_step);

ShapePtr make_sphere(Vec3 center, double radius);
ShapePtr make_box(Vec3 low, Vec3 high);

// Everything below y = level + amplitude cos(2 pi (x - crest) / wavelength).
ShapePtr make_level(double level, double amplitude = 0, double wavelength = 1, double crest = 0);

struct Plane {
    Vec3 normal;      // of unit length, out of the shape
    double distance;  // of the plane from the origin along the normal [m]
};
// What lies behind all planes. Beside its edges distances come out too small.
ShapePtr make_convex(std::vector<Plane> planes, const Box& bounds);
// What lies in both. Where the surfaces meet, distances outside come out too small.
ShapePtr make_common(ShapePtr a, ShapePtr b);

// The inside of a closed triangle mesh file (.obj, .ply, .stl), scaled, then moved. Throws UserError with the
// reason when the file cannot be read or the mesh is not closed. `spacing` is the accuracy of the distance
// field [m].
ShapePtr make_mesh_shape(const std::string& file, double scale, Vec3 position, double spacing);

}  // namespace flotsam

// The shapes that solids are made of: a signed distance and a closed mesh of the same surface, in body
// coordinates, and convex pieces for contact.
#pragma once

#include <string>

#include "geometry/convex_piece.h"
#include "geometry/shape.h"
#include "geometry/triangle_mesh.h"

namespace flotsam {

struct SolidShape {
    ShapePtr distance;
    TriangleMesh mesh;                  // round shapes are inscribed so that the mesh has the exact volume
    std::vector<ConvexPiece> pieces{};  // none for mesh files, which are decomposed when contact needs it
};

// Centred on the origin; axes of symmetry along y. `spacing` is the size of the mesh's facets on round parts
// [m].
SolidShape solid_box(Vec3 edges);
SolidShape solid_sphere(double radius, double spacing);
SolidShape solid_capsule(double radius, double length, double spacing);  // length between the caps' centres
SolidShape solid_cylinder(double radius, double length, double spacing);
SolidShape solid_cone(double radius, double height, double spacing);  // tip up
SolidShape solid_torus(double ring_radius, double tube_radius, double spacing);
SolidShape solid_gear(double radius, double thickness, int teeth);
SolidShape solid_duck(double length, double spacing);  // a rubber duck that looks along x
// An open boat, its bow along x: outer measures, and the thickness of its shell.
SolidShape solid_boat(double length, double height, double width, double wall, double spacing);
// For slabs: figures in the x-y plane, extruded along z.
SolidShape solid_disc(double radius, double depth, double spacing);
SolidShape solid_rectangle(double width, double height, double depth);
SolidShape solid_flat_gear(double radius, double depth, int teeth);
// The section of a closed mesh with the plane z = `height`. Throws UserError when the plane cuts nothing, or
// the section is open.
SolidShape solid_section(const TriangleMesh& mesh, double height, double depth);
// A shape's distance in the plane z = 0, used at all z, for a figure of thickness `depth`.
ShapePtr through_slab(ShapePtr shape, double depth);
// A closed mesh file; throws UserError with the reason when it is not closed. When its triangles face
// different ways or it overlaps itself, the enclosed volume is remeshed, to `spacing`.
SolidShape solid_mesh(const std::string& file, double scale, double spacing);

}  // namespace flotsam

// Solids cut exactly into a grid: the share of every face and every cell that they cover, and their surface
// within each cell.
//
// Face areas come from rasterising the mesh's sections with the grid planes, as a font renderer finds the
// coverage of pixels: each piece of outline adds its height to all pixels on its left, and a trapezoid to the
// pixel it lies in. This is exact for polygons, needs no case distinctions, and sums to zero for closed
// meshes whatever the rounding. Volumes are the same one dimension higher. A vertex exactly on a plane counts
// as above it; one on a side of the grid, to a ten-thousandth of a cell, counts as beyond that side.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/vec.h"
#include "geometry/triangle_mesh.h"

namespace flotsam {

// The solid's surface inside one cell.
struct Patch {
    Int3 cell;
    Vec3 area;  // sum of outward area vectors [m^2]
    // Row d: sum of area vectors times the d-th coordinate of their centres; each component separately for
    // the pieces that face its negative and its positive direction [m^3].
    std::array<std::array<Vec3, 3>, 2> moment;
    std::array<Vec3, 3> turning;  // row d: integral of x_d (x cross the outward area vector) [m^4]
    double swept = 0;             // volume that it sweeps per time, outwards positive [m^3/s]
};

// The motion of a mesh: its vertices move with constant velocities for a time. The volume that all patches
// together sweep in that time is exactly the change of the mesh's volume.
struct SurfaceMotion {
    std::vector<Vec3> velocity;  // [m/s]; empty when swept volumes are not needed
    double time = 0;             // [s]
};

// The part of one triangle inside one cell, and how it is divided among the triangle's corners.
struct SurfacePiece {
    Int3 cell;
    int triangle = 0;
    Vec3 area;                   // outward [m^2]
    Vec3 weight;                 // mean of each corner's weight over it; their sum is 1
    std::array<Vec3, 3> moment;  // mean of each corner's weight times position; their sum is its centre [m]
};

struct CutSolid {
    Int3 low, size;  // the cells that the solid reaches: [low, low + size)
    std::array<std::vector<double>, 3>
        face;                          // covered share of the low faces of cells [low, low + size], per axis
    std::vector<double> volume;        // covered share of cells [low, low + size)
    std::vector<Patch> patches;        // sorted by cell: z, y, x
    std::vector<SurfacePiece> pieces;  // layer by layer along z; only on request
    // Extremes of the cells' shares before they were clamped: beyond [0, 1] where the mesh overlaps itself or
    // is turned inside out.
    double least_volume = 0, most_volume = 0;
    bool by_distance =
        false;  // its faces come from cover_by_distance, and agree with its surface only roughly

    // Covered share of the low face of any cell, and of any cell.
    double face_cover(int axis, Int3 c) const {
        c = c - low;
        for (int a = 0; a < 3; ++a)
            if (c[a] < 0 || c[a] > (a == axis ? size[a] : size[a] - 1)) return 0;
        return face[axis][index(c)];
    }
    double cell_cover(Int3 c) const {
        c = c - low;
        for (int a = 0; a < 3; ++a)
            if (c[a] < 0 || c[a] >= size[a]) return 0;
        return volume[index(c)];
    }
    // Index into both arrays, which have one more entry than cells along every axis.
    std::size_t index(Int3 c) const {
        return c.x + std::size_t(size.x + 1) * (c.y + std::size_t(size.y + 1) * c.z);
    }
};

// Cuts a closed mesh in world coordinates into a grid of `cells` cells with edge `h`, starting at the origin.
// `pieces` requests the parts of its triangles, too.
CutSolid cut_solid(const TriangleMesh& mesh, Int3 cells, double h, const SurfaceMotion& motion = {},
                   bool pieces = false);

// Replaces the face shares of a cut solid by those that follow from its signed distance at the corners of the
// grid, linear along the edges, shares below 0.01 and above 0.99 rounded [Zarifi17 Fig. 5.2, Section 4.6].
void cover_by_distance(CutSolid& cut, double h, const std::function<double(Vec3)>& distance);

}  // namespace flotsam

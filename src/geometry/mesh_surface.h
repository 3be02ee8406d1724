// The nearest point on a closed mesh and the exact signed distance to it, also where the mesh is thinner than
// any voxel. Rebuilt whenever the mesh deforms.
#pragma once

#include <array>
#include <memory>

#include "geometry/shape.h"
#include "geometry/triangle_mesh.h"

namespace flotsam {

class MeshSurface final : public Shape {
  public:
    // Every edge must belong to two triangles that agree on which side is out (see mesh_defect). `detail` is
    // the number of lattice points along the mesh's longest side at which distances are precomputed: many are
    // worth it for a mesh that keeps its shape.
    explicit MeshSurface(TriangleMesh mesh, int detail = 16);

    struct Nearest {
        int triangle = 0;
        Vec3 weight;          // of the triangle's corners
        Vec3 point;           // on the surface
        Vec3 normal;          // out of the mesh, of the face, edge or corner that the point lies on
        double distance = 0;  // negative inside [m]
    };
    Nearest nearest(Vec3 p) const;

    // Exact near the surface. Further away than two spacings of the lattice it is somewhat too small, so that
    // a step of this length is always free.
    double distance(Vec3 p) const override;
    Vec3 normal(Vec3 p, double step) const override;
    Box bounds() const override { return nodes_.front().box; }
    const TriangleMesh& mesh() const { return mesh_; }
    // The point of a triangle with these weights of its corners.
    Vec3 point(int triangle, Vec3 weight) const;

  private:
    // Boxes around triangles, a binary tree in depth-first order. A node's first child follows it.
    struct Node {
        Box box;
        int second_child = 0;      // 0: a leaf
        int first = 0, count = 0;  // of the leaf, in order_
    };
    int build(int first, int count, const std::vector<Vec3>& centers);
    void find_normals();
    void fill_lattice(int detail);
    // The nearest point, given any triangle to begin with: the nearer the triangle, the fewer boxes are
    // opened.
    Nearest nearest_from(Vec3 p, int triangle) const;
    // The interpolated distance where that is accurate enough; else 0.
    double far_distance(Vec3 p) const;
    std::size_t lattice_index(Int3 c) const {
        return c.x + std::size_t(lattice_size_.x) * (c.y + std::size_t(lattice_size_.y) * c.z);
    }

    TriangleMesh mesh_;
    std::vector<Node> nodes_;
    std::vector<int> order_;  // triangles, leaf after leaf
    // A coarse lattice around the mesh with the distance and the nearest triangle at each point: gives
    // distances far from the surface, where the boxes are of little use, and the triangle to begin with near
    // it.
    struct LatticePoint {
        double distance;
        int triangle;
    };
    Int3 lattice_size_;
    Vec3 lattice_low_;
    double lattice_spacing_ = 1;
    std::vector<LatticePoint> lattice_;
    // The sign of the distance comes from the normal at the nearest point; at an edge or a corner that is the
    // mean over the triangles there, weighted by angle [Baerentzen & Aanaes 2005].
    std::vector<Vec3> corner_normal_;
    std::vector<std::array<Vec3, 3>> edge_normal_;  // of the edges that leave each corner of a triangle
};

// How a surface deforms while particles move: the same triangles with their corners before and after.
struct Deformation {
    std::shared_ptr<const MeshSurface> before, after;
    std::vector<Vec3> velocity;  // of the corners after the deformation, for the liquid [m/s]

    // Where a point beside the surface goes with it: it follows the place that was nearest to it, at the same
    // distance and on the same side.
    Vec3 moved_along(Vec3 p) const;
    // Velocity of the place on the deformed surface that is nearest to p.
    Vec3 velocity_at(Vec3 p) const;
};

}  // namespace flotsam

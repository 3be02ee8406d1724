// The support mapping of a convex piece: the part of its true surface that faces a direction.
#pragma once

#include <vector>

#include "geometry/convex_piece.h"
#include "solid/rigid/bullet.h"

namespace flotsam {

class Support {
  public:
    explicit Support(const ConvexPiece& piece);

    // The farthest point in a direction; all in body coordinates.
    Vec3 farthest(Vec3 direction) const;
    // The flat part of the surface that faces a direction most: a polygon, counter-clockwise seen from
    // outside, or an edge, or a point. It holds the farthest point.
    std::vector<Vec3> face(Vec3 direction) const;
    double smallest_half_extent() const;

  private:
    Vec3 farthest_of_piece(Vec3 d) const;
    std::vector<Vec3> face_of_piece(Vec3 d) const;
    std::vector<Vec3> rim(double y, Vec3 d) const;

    ConvexPiece piece_;
    HullFaces hull_;
    std::vector<Vec3> normals_;  // of the hull's faces
};

}  // namespace flotsam

// All that we use Bullet for: the direction that separates two convex pieces, and convex hulls. It handles no
// bodies, no time and no forces, and none of its types appear here.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/rotation.h"
#include "geometry/convex_piece.h"

namespace flotsam {

// A hull's corners and its faces, counter-clockwise seen from outside.
struct HullFaces {
    std::vector<Vec3> corners;
    std::vector<std::vector<int>> faces;
};
HullFaces convex_hull(const std::vector<Vec3>& points);

struct SeparatingPlane {
    Vec3 normal;  // from b to a
    Vec3 point;   // on b, nearest to a
};

// A piece prepared for `separation`.
class BulletPiece {
  public:
    explicit BulletPiece(const ConvexPiece& piece);
    BulletPiece(BulletPiece&&) noexcept;
    BulletPiece& operator=(BulletPiece&&) noexcept;
    ~BulletPiece();

  private:
    friend std::optional<SeparatingPlane> separation(const BulletPiece& a, const Pose& pose_a,
                                                     const BulletPiece& b, const Pose& pose_b, double reach);
    struct Core;
    std::unique_ptr<Core> core_;
};

// The direction in which two pieces are nearest to each other, or overlap least; nothing when they are
// farther apart than `reach` [m]. Poses are those of the pieces' bodies. Corners are taken as slightly
// rounded.
std::optional<SeparatingPlane> separation(const BulletPiece& a, const Pose& pose_a, const BulletPiece& b,
                                          const Pose& pose_b, double reach);

}  // namespace flotsam

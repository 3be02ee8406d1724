// Replaces bullet.cpp in builds without Bullet: solids of simple shapes can touch walls but must not come
// near each other.
#include "core/check.h"
#include "solid/rigid/bullet.h"

namespace flotsam {

namespace {
[[noreturn]] void refuse(const char* what) {
    throw UserError(std::string(what) + " by Bullet, and this is a build without it");
}
}  // namespace

struct BulletPiece::Core {};
BulletPiece::BulletPiece(const ConvexPiece&) {}
BulletPiece::BulletPiece(BulletPiece&&) noexcept = default;
BulletPiece& BulletPiece::operator=(BulletPiece&&) noexcept = default;
BulletPiece::~BulletPiece() = default;

std::optional<SeparatingPlane> separation(const BulletPiece&, const Pose&, const BulletPiece&, const Pose&,
                                          double) {
    refuse("two solids came near each other: contacts are found");
}

HullFaces convex_hull(const std::vector<Vec3>&) { refuse("convex hulls are found"); }

}  // namespace flotsam

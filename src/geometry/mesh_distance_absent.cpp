// Replaces mesh_distance.cpp in builds without OpenVDB.
#include "core/check.h"
#include "geometry/mesh_distance.h"

namespace flotsam {

namespace {
[[noreturn]] void refuse(const std::string& name) {
    throw UserError(name + ": the distance to a mesh is sampled by OpenVDB, and this is a build without it");
}
}  // namespace

ShapePtr mesh_distance(const TriangleMesh&, const std::string& name, double) { refuse(name); }

TriangleMesh mesh_from_distance(const TriangleMesh&, const std::string& name, double) { refuse(name); }

}  // namespace flotsam

// The only file of this folder that uses OpenVDB: the signed distance to a closed triangle mesh.
#include <fmt/format.h>
#include <openvdb/openvdb.h>
#include <openvdb/tools/Interpolation.h>
#include <openvdb/tools/MeshToVolume.h>
#include <openvdb/tools/VolumeToMesh.h>

#include "core/check.h"
#include "geometry/mesh_defect.h"
#include "geometry/mesh_distance.h"
#include "geometry/shape.h"

namespace flotsam {

namespace {

// Distances are kept within this many voxels of the surface; further away, only the sign is.
constexpr float band = 8;

class MeshShape final : public Shape {
  public:
    MeshShape(openvdb::FloatGrid::Ptr grid, Box box, double spacing)
        : grid_(std::move(grid)), box_(box), spacing_(spacing) {}

    double distance(Vec3 p) const override {
        const Vec3 beyond = max(max(box_.low - p, p - box_.high), Vec3{});
        const double to_box = length(beyond);
        const double limit = band * spacing_;
        // Outside the band the mesh is at least as far as its box, and the grid's coordinates stay small.
        if (to_box >= limit) return to_box;
        const openvdb::Vec3d index(p.x / spacing_, p.y / spacing_, p.z / spacing_);
        const double sampled = openvdb::tools::BoxSampler::sample(grid_->constTree(), index);
        return sampled > 0 ? std::max(sampled, to_box) : sampled;
    }
    Box bounds() const override { return box_; }

  private:
    openvdb::FloatGrid::Ptr grid_;
    Box box_;
    double spacing_;  // of the voxels [m]
};

openvdb::FloatGrid::Ptr sampled_distance(const TriangleMesh& mesh, const std::string& file, double spacing) {
    FLOTSAM_CHECK(spacing > 0, spacing);
    check_closed(mesh, file);
    const Box box = bounds(mesh);
    for (int axis = 0; axis < 3; ++axis)
        // Voxel coordinates are 32-bit integers in OpenVDB and floats here.
        if (!(std::max(std::abs(box.low[axis]), std::abs(box.high[axis])) / spacing < 1e6))
            throw UserError(
                fmt::format("{}: the mesh reaches from {} to {} m, far beyond what cells of {} m can "
                            "follow\n  give it another 'scale'",
                            file, box.low[axis], box.high[axis], spacing));
    const double voxels = 2 * band * surface_area(mesh) / (spacing * spacing);
    if (!(voxels < 3e8))
        throw UserError(
            fmt::format("{}: its surface crosses about {:.0f} million voxels of {} m\n"
                        "  the mesh is much larger than the domain: give it another 'scale'",
                        file, voxels / 1e6, spacing));

    openvdb::initialize();
    std::vector<openvdb::Vec3s> points;
    std::vector<openvdb::Vec3I> triangles;
    points.reserve(mesh.vertices.size());
    triangles.reserve(mesh.triangles.size());
    for (const Vec3& v : mesh.vertices) points.emplace_back(v.x, v.y, v.z);
    for (const Int3& t : mesh.triangles) triangles.emplace_back(t.x, t.y, t.z);
    const auto transform = openvdb::math::Transform::createLinearTransform(spacing);
    // Flood-fills the sign from outside, so that it holds everywhere and does not depend on how triangles
    // face.
    openvdb::FloatGrid::Ptr grid = openvdb::tools::meshToLevelSet<openvdb::FloatGrid>(
        *transform, points, triangles, std::vector<openvdb::Vec4I>{}, band);
    bool inside = false;
    for (auto value = grid->cbeginValueOn(); value && !inside; ++value) inside = *value < 0;
    if (!inside)
        throw UserError(
            fmt::format("{}: the mesh encloses nothing that cells of {} m can see\n"
                        "  give it a larger 'scale' or the domain a higher 'resolution'",
                        file, 2 * spacing));
    return grid;
}

}  // namespace

ShapePtr mesh_distance(const TriangleMesh& mesh, const std::string& file, double spacing) {
    return std::make_shared<MeshShape>(sampled_distance(mesh, file, spacing), bounds(mesh), spacing);
}

TriangleMesh mesh_from_distance(const TriangleMesh& mesh, const std::string& file, double spacing) {
    std::vector<openvdb::Vec3s> points;
    std::vector<openvdb::Vec4I> quads;
    openvdb::tools::volumeToMesh(*sampled_distance(mesh, file, spacing), points, quads);
    TriangleMesh clean;
    for (const openvdb::Vec3s& p : points) clean.vertices.push_back({p.x(), p.y(), p.z()});
    for (const openvdb::Vec4I& q : quads) {
        // OpenVDB goes around them clockwise.
        clean.triangles.push_back({int(q[0]), int(q[2]), int(q[1])});
        clean.triangles.push_back({int(q[0]), int(q[3]), int(q[2])});
    }
    if (const std::string defect = mesh_defect(clean); !defect.empty())
        throw UserError(
            fmt::format("{}: the mesh {}, and so does what was rebuilt from its distance field: that {}\n"
                        "  clean it in a mesh editor (Blender: Remesh modifier)",
                        file, mesh_defect(mesh), defect));
    return clean;
}

}  // namespace flotsam

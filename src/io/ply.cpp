#include "io/ply.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "core/check.h"
#include "io/atomic_file.h"

namespace flotsam {

namespace {

static_assert(std::endian::native == std::endian::little,
              "PLY files are written as the numbers lie in memory");
static_assert(sizeof(Vec3f) == 12);

std::string header(std::size_t vertices, const std::string& more) {
    return fmt::format(
        "ply\nformat binary_little_endian 1.0\ncomment Flotsam; metres, metres per second, y up\nelement "
        "vertex {}\n"
        "property float x\nproperty float y\nproperty float z\n"
        "property float vx\nproperty float vy\nproperty float vz\n{}end_header\n",
        vertices, more);
}

std::string vertex_bytes(const std::vector<Vec3f>& position, const std::vector<Vec3f>& velocity) {
    FLOTSAM_CHECK(position.size() == velocity.size(), position.size(), velocity.size());
    std::string bytes(position.size() * 24, '\0');
    for (std::size_t n = 0; n < position.size(); ++n) {
        std::memcpy(&bytes[24 * n], &position[n], 12);
        std::memcpy(&bytes[24 * n + 12], &velocity[n], 12);
    }
    return bytes;
}

}  // namespace

void write_ply(const std::filesystem::path& file, const SurfaceMesh& mesh,
               const std::vector<Vec3f>& velocity) {
    AtomicFile out(file);
    out.write(header(
        mesh.vertices.size(),
        fmt::format("element face {}\nproperty list uchar int vertex_indices\n", mesh.triangles.size())));
    out.write(vertex_bytes(mesh.vertices, velocity));
    std::string faces(mesh.triangles.size() * 13, char(3));  // each: the number of corners, then the corners
    for (std::size_t n = 0; n < mesh.triangles.size(); ++n)
        std::memcpy(&faces[13 * n + 1], &mesh.triangles[n], 12);
    out.write(faces);
    out.commit();
}

void write_ply(const std::filesystem::path& file, const std::vector<Vec3f>& position,
               const std::vector<Vec3f>& velocity) {
    AtomicFile out(file);
    out.write(header(position.size(), ""));
    out.write(vertex_bytes(position, velocity));
    out.commit();
}

}  // namespace flotsam

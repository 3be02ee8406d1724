#include "io/ply.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
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

constexpr std::string_view face_property = "property list uchar int vertex_indices\n";

std::string face_header(std::size_t faces) {
    return fmt::format("element face {}\n{}", faces, face_property);
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
    out.write(header(mesh.vertices.size(), face_header(mesh.triangles.size())));
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

PlyContent read_ply(const std::filesystem::path& file) {
    const std::string bytes = read_file(file);
    const auto bad = [&](std::string_view why) { return IoError(fmt::format("{}: {}", file.string(), why)); };
    constexpr std::string_view end = "end_header\n";
    const std::size_t header_size = bytes.substr(0, 1024).find(end);
    if (!bytes.starts_with("ply\n") || header_size == std::string::npos) throw bad("not a PLY file");
    const std::string head = bytes.substr(0, header_size + end.size());
    const auto count_of = [&](std::string_view element) {
        std::uint64_t count = 0;
        if (const std::size_t at = head.find(element); at != std::string::npos)
            std::from_chars(head.data() + at + element.size(), head.data() + head.size(), count);
        return count;
    };
    const std::uint64_t vertices = count_of("element vertex "), faces = count_of("element face ");
    const bool has_faces = head.find("element face ") != std::string::npos;
    if (head != header(vertices, has_faces ? face_header(faces) : ""))
        throw bad("not a PLY file of Flotsam's");
    // Divisions, so that a damaged count cannot overflow.
    const std::size_t size = bytes.size() - head.size();
    if (vertices > size / 24 || faces > (size - 24 * vertices) / 13 || size != 24 * vertices + 13 * faces)
        throw bad(fmt::format("cut off or altered: {} bytes do not hold {} vertices and {} triangles", size,
                              vertices, faces));

    PlyContent content;
    content.mesh.vertices.resize(vertices);
    content.velocity.resize(vertices);
    const char* next = bytes.data() + head.size();
    for (std::size_t n = 0; n < vertices; ++n, next += 24) {
        std::memcpy(&content.mesh.vertices[n], next, 12);
        std::memcpy(&content.velocity[n], next + 12, 12);
        const Vec3f& p = content.mesh.vertices[n];
        if (!std::isfinite(p.x + p.y + p.z)) throw bad(fmt::format("vertex {} is not a number", n));
    }
    content.mesh.triangles.resize(faces);
    for (std::size_t n = 0; n < faces; ++n, next += 13) {
        std::memcpy(&content.mesh.triangles[n], next + 1, 12);
        for (const std::int32_t v : content.mesh.triangles[n])
            if (*next != 3 || v < 0 || std::uint64_t(v) >= vertices)
                throw bad(fmt::format("triangle {} has a corner that does not exist", n));
    }
    return content;
}

}  // namespace flotsam

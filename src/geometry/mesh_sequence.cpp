#include "geometry/mesh_sequence.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/format.h"
#include "geometry/mesh_defect.h"
#include "geometry/mesh_reader.h"

namespace flotsam {

namespace {

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& what) {
    throw UserError(format_text(
        "{}: {}\n  export the files as one animation of one mesh, without modifiers that change its "
        "triangles",
        file.string(), what));
}

// The two files of the sequence before and after a time, and the share of the way from one to the other.
struct KeyPosition {
    std::size_t from, to;
    double share;
};
KeyPosition position_in_keys(const MeshSequence& sequence, double time) {
    const auto count = double(sequence.vertices.size());
    double at = time * sequence.rate;
    if (sequence.loop) at -= count * std::floor(at / count);
    at = std::clamp(at, 0.0, sequence.loop ? count : count - 1);
    const auto from = std::size_t(std::min(std::floor(at), count - 1));
    const std::size_t next = from + 1 < sequence.vertices.size() ? from + 1 : sequence.loop ? 0 : from;
    return {from, next, at - double(from)};
}

}  // namespace

MeshSequence read_mesh_sequence(const std::vector<std::filesystem::path>& files, double scale) {
    FLOTSAM_CHECK(!files.empty());
    const TriangleMesh first = read_unmerged_mesh(files.front());
    const double tolerance = merging_distance(first);
    const std::vector<int> number = merged_numbers(first.vertices, tolerance);
    const std::string reference = files.front().filename().string();
    MeshSequence sequence;
    bool inwards = false;
    for (const std::filesystem::path& file : files) {
        const TriangleMesh mesh = read_unmerged_mesh(file);
        if (mesh.vertices.size() != first.vertices.size())
            refuse(file, format_text("it has {} vertices, but {} has {}", mesh.vertices.size(), reference,
                                     first.vertices.size()));
        if (mesh.triangles.size() != first.triangles.size())
            refuse(file, format_text("it has {} triangles, but {} has {}", mesh.triangles.size(), reference,
                                     first.triangles.size()));
        for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
            const Int3 a = mesh.triangles[t], b = first.triangles[t];
            if (a != b)
                refuse(file,
                       format_text("its triangle {} joins vertices {}, {} and {}, but that of {} joins "
                                   "{}, {} and {}",
                                   t + 1, a.x + 1, a.y + 1, a.z + 1, reference, b.x + 1, b.y + 1, b.z + 1));
        }
        TriangleMesh placed = merged(mesh, number);
        for (std::size_t v = 0; v < number.size(); ++v)
            if (length(mesh.vertices[v] - placed.vertices[number[v]]) > 2 * tolerance)
                refuse(file, format_text("vertex {} is torn from one that it shares its place with in {}",
                                         v + 1, reference));
        if (sequence.vertices.empty()) {
            check_closed(placed, file.string());
            inwards = enclosed_volume(placed) < 0;
        }
        if (inwards)
            for (Int3& t : placed.triangles) std::swap(t.y, t.z);
        // A single mesh file with a defect would be remeshed; here that would change the triangles.
        if (const std::string defect = mesh_defect(placed); !defect.empty())
            refuse(file, format_text("the mesh {}", defect));
        for (Vec3& v : placed.vertices) v *= scale;
        sequence.triangles = std::move(placed.triangles);
        sequence.vertices.push_back(std::move(placed.vertices));
    }
    return sequence;
}

std::vector<Vec3> vertices_at(const MeshSequence& sequence, double time) {
    const KeyPosition at = position_in_keys(sequence, time);
    std::vector<Vec3> vertices = sequence.vertices[at.from];
    const std::vector<Vec3>& next = sequence.vertices[at.to];
    for (std::size_t v = 0; v < vertices.size(); ++v) vertices[v] += (next[v] - vertices[v]) * at.share;
    return vertices;
}

double largest_speed(const MeshSequence& sequence, double from, double until) {
    // Between two files speeds are constant: one time within each interval is enough.
    double speed = 0;
    const double first = std::floor(from * sequence.rate), last = std::ceil(until * sequence.rate);
    const double intervals = std::min(last - first, double(sequence.vertices.size()));
    for (int i = 0; i < int(intervals); ++i) {
        const double middle = (first + i + 0.5) / sequence.rate;
        if (!sequence.loop && (middle < 0 || middle * sequence.rate > double(sequence.vertices.size()) - 1))
            continue;
        const KeyPosition at = position_in_keys(sequence, middle);
        const std::vector<Vec3>&a = sequence.vertices[at.from], &b = sequence.vertices[at.to];
        for (std::size_t v = 0; v < a.size(); ++v)
            speed = std::max(speed, length(b[v] - a[v]) * sequence.rate);
    }
    return speed;
}

Box bounds(const MeshSequence& sequence) {
    Box box{sequence.vertices.front().front(), sequence.vertices.front().front()};
    for (const std::vector<Vec3>& file : sequence.vertices)
        for (const Vec3 v : file) box = {min(box.low, v), max(box.high, v)};
    return box;
}

}  // namespace flotsam

#include "io/gltf.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <numbers>
#include <tuple>

#include "core/check.h"
#include "io/atomic_file.h"

namespace flotsam {

namespace {

static_assert(std::endian::native == std::endian::little,
              "glTF files are written as the numbers lie in memory");

// Numbers that glTF defines.
constexpr int of_floats = 5126, of_indices = 5125, vertex_data = 34962, index_data = 34963;

std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : ",") + part;
    return text;
}

// Names come from scene files, where they are letters, digits, - and _; anything else would need escaping.
std::string quoted(const std::string& name) {
    std::string text = "\"";
    for (const char c : name) {
        if (c == '"' || c == '\\') text += '\\';
        text += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return text + '"';
}

// A mesh with a normal for every vertex: a vertex on a sharp edge appears once for each side.
struct ShadedMesh {
    std::vector<Vec3f> positions, normals;
    std::vector<std::uint32_t> indices;
};
ShadedMesh shaded(const TriangleMesh& mesh) {
    std::vector<Vec3> face_normals;  // their length is proportional to the area of the face
    std::vector<std::vector<int>> faces_at(mesh.vertices.size());
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
        const Int3 v = mesh.triangles[t];
        const Vec3 a = mesh.vertices[v.x];
        face_normals.push_back(cross(mesh.vertices[v.y] - a, mesh.vertices[v.z] - a));
        for (const int corner : {v.x, v.y, v.z}) faces_at[corner].push_back(int(t));
    }
    const double sharp = std::cos(40 * std::numbers::pi / 180);
    ShadedMesh result;
    std::map<std::tuple<int, float, float, float>, std::uint32_t> known;
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
        const Int3 v = mesh.triangles[t];
        const Vec3 own = face_normals[t];
        for (const int corner : {v.x, v.y, v.z}) {
            Vec3 sum;
            for (const int face : faces_at[corner])
                if (dot(face_normals[face], own) >= sharp * length(face_normals[face]) * length(own))
                    sum += face_normals[face];
            const double size = length(sum);
            const Vec3f normal(size > 0 ? sum / size : Vec3{0, 1, 0});
            const auto [entry, is_new] = known.try_emplace({corner, normal.x, normal.y, normal.z},
                                                           std::uint32_t(result.positions.size()));
            if (is_new) {
                result.positions.emplace_back(mesh.vertices[corner]);
                result.normals.push_back(normal);
            }
            result.indices.push_back(entry->second);
        }
    }
    return result;
}

// Converts an sRGB value to linear light.
double linear(double value) {
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

class GltfWriter {
  public:
    // Returns the accessor's number.
    int add(const std::vector<Vec3f>& values, int target) {
        Vec3f low = values.front(), high = low;
        for (const Vec3f& v : values) low = min(low, v), high = max(high, v);
        return add(values.data(), values.size() * sizeof(Vec3f), values.size(), of_floats, "VEC3", target,
                   fmt::format(",\"min\":[{},{},{}],\"max\":[{},{},{}]", low.x, low.y, low.z, high.x, high.y,
                               high.z));
    }
    int add(const std::vector<std::uint32_t>& values) {
        return add(values.data(), values.size() * 4, values.size(), of_indices, "SCALAR", index_data, "");
    }
    int add(const std::vector<std::array<float, 4>>& values) {
        return add(values.data(), values.size() * 16, values.size(), of_floats, "VEC4", 0, "");
    }
    int add(const std::vector<float>& values) {
        return add(values.data(), values.size() * 4, values.size(), of_floats, "SCALAR", 0,
                   fmt::format(",\"min\":[{}],\"max\":[{}]", values.front(), values.back()));
    }

    void add_solid(const AnimatedSolid& solid, int times) {
        const int node = int(nodes_.size());
        const ShadedMesh mesh = shaded(*solid.mesh);
        const int positions = add(mesh.positions, vertex_data), normals = add(mesh.normals, vertex_data),
                  indices = add(mesh.indices);
        meshes_.push_back(fmt::format(
            R"({{"name":{},"primitives":[{{"attributes":{{"POSITION":{},"NORMAL":{}}},"indices":{},"material":{}}}]}})",
            quoted(solid.name), positions, normals, indices, node));
        materials_.push_back(fmt::format(
            R"({{"pbrMetallicRoughness":{{"baseColorFactor":[{:.4f},{:.4f},{:.4f},1],"metallicFactor":0,"roughnessFactor":0.5}}}})",
            linear(solid.color.x), linear(solid.color.y), linear(solid.color.z)));
        const Pose& first = solid.poses.front();
        const auto turn = quaternion(first.rotation);
        nodes_.push_back(
            fmt::format(R"({{"name":{},"mesh":{},"translation":[{},{},{}],"rotation":[{},{},{},{}]}})",
                        quoted(solid.name), node, first.position.x, first.position.y, first.position.z,
                        turn[0], turn[1], turn[2], turn[3]));
        if (times >= 0 && solid.poses.size() > 1) animate(solid, node, times);
    }

    // The file: header, JSON, numbers.
    std::string bytes() const {
        std::string scene_nodes;
        for (std::size_t n = 0; n < nodes_.size(); ++n)
            scene_nodes += fmt::format("{}{}", n > 0 ? "," : "", n);
        std::string json = fmt::format(
            R"({{"asset":{{"version":"2.0","generator":"Flotsam"}},"scene":0,"scenes":[{{"nodes":[{}]}}],"nodes":[{}],"meshes":[{}],"materials":[{}],"accessors":[{}],"bufferViews":[{}],"buffers":[{{"byteLength":{}}}])",
            scene_nodes, joined(nodes_), joined(meshes_), joined(materials_), joined(accessors_),
            joined(views_), binary_.size());
        if (!channels_.empty())
            json += fmt::format(R"(,"animations":[{{"name":"run","channels":[{}],"samplers":[{}]}}])",
                                joined(channels_), joined(samplers_));
        json += '}';
        json.resize((json.size() + 3) / 4 * 4, ' ');
        std::string file = "glTF";
        const auto number = [&](std::size_t value) {
            const auto word = std::uint32_t(value);
            file.append(reinterpret_cast<const char*>(&word), 4);
        };
        number(2);
        number(12 + 8 + json.size() + 8 + binary_.size());
        number(json.size());
        file += "JSON" + json;
        number(binary_.size());
        file += std::string("BIN\0", 4) + binary_;
        return file;
    }

  private:
    int add(const void* data, std::size_t size, std::size_t count, int component, const char* type,
            int target, const std::string& range) {
        // Everything is made of words of four bytes, so every view starts on one.
        views_.push_back(fmt::format(R"({{"buffer":0,"byteOffset":{},"byteLength":{}{}}})", binary_.size(),
                                     size, target ? fmt::format(",\"target\":{}", target) : ""));
        accessors_.push_back(fmt::format(R"({{"bufferView":{},"componentType":{},"count":{},"type":"{}"{}}})",
                                         views_.size() - 1, component, count, type, range));
        binary_.append(static_cast<const char*>(data), size);
        return int(accessors_.size()) - 1;
    }

    void animate(const AnimatedSolid& solid, int node, int times) {
        std::vector<Vec3f> positions;
        std::vector<std::array<float, 4>> turns;
        std::array<double, 4> last{0, 0, 0, 1};
        for (const Pose& pose : solid.poses) {
            positions.emplace_back(pose.position);
            std::array<double, 4> turn = quaternion(pose.rotation);
            // Of the two quaternions of a rotation take the one near the last: viewers interpolate linearly
            // from one to the next.
            double agreement = 0;
            for (int i = 0; i < 4; ++i) agreement += turn[i] * last[i];
            if (agreement < 0)
                for (double& part : turn) part = -part;
            turns.push_back({float(turn[0]), float(turn[1]), float(turn[2]), float(turn[3])});
            last = turn;
        }
        const auto channel = [&](const char* path, int values) {
            channels_.push_back(fmt::format(R"({{"sampler":{},"target":{{"node":{},"path":"{}"}}}})",
                                            samplers_.size(), node, path));
            samplers_.push_back(
                fmt::format(R"({{"input":{},"output":{},"interpolation":"LINEAR"}})", times, values));
        };
        channel("translation", add(positions, 0));
        channel("rotation", add(turns));
    }

    std::string binary_;
    std::vector<std::string> views_, accessors_, meshes_, materials_, nodes_, channels_, samplers_;
};

}  // namespace

void write_gltf(const std::filesystem::path& file, const std::vector<AnimatedSolid>& solids,
                const std::vector<double>& times) {
    GltfWriter writer;
    int times_accessor = -1;
    if (times.size() > 1) times_accessor = writer.add(std::vector<float>(times.begin(), times.end()));
    for (const AnimatedSolid& solid : solids) {
        FLOTSAM_CHECK(solid.poses.size() == times.size() || solid.poses.size() == 1, solid.poses.size(),
                      times.size());
        if (!solid.mesh->triangles.empty()) writer.add_solid(solid, times_accessor);
    }
    write_file(file, writer.bytes());
}

}  // namespace flotsam

#include "geometry/tet_mesh.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

#include "core/format.h"
#include "core/parallel.h"

namespace flotsam {

namespace {

// The face opposite each corner, facing outwards.
constexpr int face_across[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

struct Face {
    std::array<int, 3> sorted;
    Int3 corners;
    int tet;
    friend bool operator<(const Face& a, const Face& b) {
        return a.sorted != b.sorted ? a.sorted < b.sorted : a.tet < b.tet;
    }
};

std::vector<Face> sorted_faces(const TetMesh& mesh) {
    std::vector<Face> faces;
    faces.reserve(4 * mesh.tets.size());
    for (std::size_t t = 0; t < mesh.tets.size(); ++t)
        for (const auto& corner : face_across) {
            const Tet& n = mesh.tets[t];
            Face f{{n[corner[0]], n[corner[1]], n[corner[2]]},
                   {n[corner[0]], n[corner[1]], n[corner[2]]},
                   int(t)};
            std::sort(f.sorted.begin(), f.sorted.end());
            faces.push_back(f);
        }
    std::sort(faces.begin(), faces.end());
    return faces;
}

// Disjoint sets of numbers.
class Groups {
  public:
    explicit Groups(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0); }
    int find(int a) {
        while (parent_[a] != a) a = parent_[a] = parent_[parent_[a]];
        return a;
    }
    void join(int a, int b) { parent_[std::max(find(a), find(b))] = std::min(find(a), find(b)); }

  private:
    std::vector<int> parent_;
};

std::string first_few(const std::vector<int>& numbers) {
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(numbers.size(), 8); ++i)
        text += format_text("{}{}", i ? ", " : "", numbers[i]);
    return text + (numbers.size() > 8 ? format_text(" and {} more", numbers.size() - 8) : "");
}

std::array<double, 4> weights_in(const TetMesh& mesh, const Tet& t, Vec3 p) {
    const Vec3 a = mesh.nodes[t[0]], b = mesh.nodes[t[1]], c = mesh.nodes[t[2]], d = mesh.nodes[t[3]];
    const double whole = tet_volume(a, b, c, d);
    return {tet_volume(p, b, c, d) / whole, tet_volume(a, p, c, d) / whole, tet_volume(a, b, p, d) / whole,
            tet_volume(a, b, c, p) / whole};
}

}  // namespace

double tet_volume(Vec3 a, Vec3 b, Vec3 c, Vec3 d) { return dot(cross(b - a, c - a), d - a) / 6; }

double volume(const TetMesh& mesh) {
    return fixed_sum<double>(std::ssize(mesh.tets), 4096, [&](std::int64_t t) {
        const Tet& n = mesh.tets[t];
        return tet_volume(mesh.nodes[n[0]], mesh.nodes[n[1]], mesh.nodes[n[2]], mesh.nodes[n[3]]);
    });
}

std::vector<Int3> surface_of(const TetMesh& mesh) {
    const std::vector<Face> faces = sorted_faces(mesh);
    std::vector<Face> outer;
    for (std::size_t f = 0; f < faces.size(); ++f) {
        const bool shared = (f > 0 && faces[f - 1].sorted == faces[f].sorted) ||
                            (f + 1 < faces.size() && faces[f + 1].sorted == faces[f].sorted);
        if (!shared) outer.push_back(faces[f]);
    }
    std::vector<Int3> triangles;
    triangles.reserve(outer.size());
    for (const Face& f : outer) triangles.push_back(f.corners);
    return triangles;
}

TetQuality quality(const TetMesh& mesh) {
    TetQuality q{180, 0, 1e300, 0};
    double edges = 0;
    for (const Tet& t : mesh.tets) {
        std::array<Vec3, 4> out;  // normals of the faces
        for (int f = 0; f < 4; ++f) {
            const Vec3 a = mesh.nodes[t[face_across[f][0]]];
            out[f] = cross(mesh.nodes[t[face_across[f][1]]] - a, mesh.nodes[t[face_across[f][2]]] - a);
        }
        for (int i = 0; i < 4; ++i)
            for (int j = i + 1; j < 4; ++j) {
                const double angle = 180 - std::atan2(length(cross(out[i], out[j])), dot(out[i], out[j])) *
                                               180 / std::numbers::pi;
                q.smallest_angle = std::min(q.smallest_angle, angle);
                q.largest_angle = std::max(q.largest_angle, angle);
                edges += length(mesh.nodes[t[i]] - mesh.nodes[t[j]]);
            }
        q.smallest_volume = std::min(q.smallest_volume, tet_volume(mesh.nodes[t[0]], mesh.nodes[t[1]],
                                                                   mesh.nodes[t[2]], mesh.nodes[t[3]]));
    }
    q.mean_edge = mesh.tets.empty() ? 0 : edges / (6 * double(mesh.tets.size()));
    return q;
}

std::string tet_defect(const TetMesh& mesh) {
    if (mesh.tets.empty()) return "has no tetrahedra";
    const int nodes = int(mesh.nodes.size());
    std::vector<int> bad;
    for (int n = 0; n < nodes; ++n)
        if (!std::isfinite(mesh.nodes[n].x) || !std::isfinite(mesh.nodes[n].y) ||
            !std::isfinite(mesh.nodes[n].z))
            bad.push_back(n);
    if (!bad.empty()) return format_text("has nodes that are nowhere: {}", first_few(bad));
    for (std::size_t t = 0; t < mesh.tets.size(); ++t)
        for (const int n : mesh.tets[t])
            if (n < 0 || n >= nodes)
                return format_text("names node {} in tetrahedron {}, but has only {} nodes", n, t, nodes);

    std::vector<int> inverted, flat;
    for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
        const Tet& n = mesh.tets[t];
        double longest = 0;
        for (int i = 0; i < 4; ++i)
            for (int j = i + 1; j < 4; ++j)
                longest = std::max(longest, length(mesh.nodes[n[i]] - mesh.nodes[n[j]]));
        const double v = tet_volume(mesh.nodes[n[0]], mesh.nodes[n[1]], mesh.nodes[n[2]], mesh.nodes[n[3]]);
        // A regular tetrahedron has 0.118 times its edge cubed. Below this share the gradients of its shape
        // functions exceed 1e6 per edge and the stiffness loses its digits.
        if (std::abs(v) <= 1e-7 * longest * longest * longest)
            flat.push_back(int(t));
        else if (v < 0)
            inverted.push_back(int(t));
    }
    if (!flat.empty()) return format_text("has flat tetrahedra: {}", first_few(flat));
    if (!inverted.empty()) return format_text("has inverted tetrahedra: {}", first_few(inverted));

    const std::vector<Face> faces = sorted_faces(mesh);
    Groups groups(mesh.tets.size());
    for (std::size_t f = 1; f < faces.size(); ++f) {
        if (faces[f].sorted != faces[f - 1].sorted) continue;
        if (f > 1 && faces[f].sorted == faces[f - 2].sorted)
            return format_text("has more than two tetrahedra on the face of nodes {}, {}, {}: {}, {}, {}",
                               faces[f].sorted[0], faces[f].sorted[1], faces[f].sorted[2], faces[f - 2].tet,
                               faces[f - 1].tet, faces[f].tet);
        // Two adjacent tetrahedra see their common face from opposite sides.
        const auto turns = [](const Face& a) {
            const Int3 c = a.corners;
            return (c.x < c.y) + (c.y < c.z) + (c.z < c.x) == 2;
        };
        if (turns(faces[f]) == turns(faces[f - 1]))
            return format_text("has tetrahedra that lie in each other: {} and {}", faces[f - 1].tet,
                               faces[f].tet);
        groups.join(faces[f].tet, faces[f - 1].tet);
    }
    std::vector<char> used(mesh.nodes.size(), 0);
    std::vector<int> apart, unused;
    for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
        for (const int n : mesh.tets[t]) used[n] = 1;
        if (groups.find(int(t)) != 0) apart.push_back(int(t));
    }
    if (!apart.empty())
        return format_text("is not one piece: no way through faces leads from tetrahedron 0 to {}",
                           first_few(apart));
    for (int n = 0; n < nodes; ++n)
        if (!used[n]) unused.push_back(n);
    if (!unused.empty()) return format_text("has nodes that belong to no tetrahedron: {}", first_few(unused));
    return {};
}

TetMesh tet_lattice(Vec3 low, Vec3 high, Int3 cells) {
    TetMesh mesh;
    const auto number = [&](Int3 c) { return c.x + (cells.x + 1) * (c.y + (cells.y + 1) * c.z); };
    for (int k = 0; k <= cells.z; ++k)
        for (int j = 0; j <= cells.y; ++j)
            for (int i = 0; i <= cells.x; ++i) {
                const Vec3 share{double(i) / cells.x, double(j) / cells.y, double(k) / cells.z};
                const Vec3 size = high - low;
                mesh.nodes.push_back(low + Vec3{share.x * size.x, share.y * size.y, share.z * size.z});
            }
    // From the low to the high corner in three steps along the axes: one tetrahedron for each order of them.
    constexpr int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int k = 0; k < cells.z; ++k)
        for (int j = 0; j < cells.y; ++j)
            for (int i = 0; i < cells.x; ++i)
                for (int o = 0; o < 6; ++o) {
                    Int3 at{i, j, k};
                    Tet t{number(at), 0, 0, 0};
                    for (int s = 0; s < 3; ++s) t[s + 1] = number(at = at + unit(orders[o][s]));
                    // Odd permutations have the opposite orientation.
                    if (o == 1 || o == 2 || o == 5) std::swap(t[2], t[3]);
                    mesh.tets.push_back(t);
                }
    return mesh;
}

std::vector<TetPlace> places_in(const TetMesh& mesh, const std::vector<Vec3>& points) {
    // Buckets about as large as a tetrahedron, each with the tetrahedra whose boxes touch it.
    const double size = std::max(quality(mesh).mean_edge, 1e-12);
    std::map<std::array<int, 3>, std::vector<int>> buckets;
    const auto bucket = [&](Vec3 p) {
        return Int3(int(std::floor(p.x / size)), int(std::floor(p.y / size)), int(std::floor(p.z / size)));
    };
    for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
        Vec3 low = mesh.nodes[mesh.tets[t][0]], high = low;
        for (const int n : mesh.tets[t]) low = min(low, mesh.nodes[n]), high = max(high, mesh.nodes[n]);
        const Int3 a = bucket(low), b = bucket(high);
        for (int k = a.z; k <= b.z; ++k)
            for (int j = a.y; j <= b.y; ++j)
                for (int i = a.x; i <= b.x; ++i) buckets[{i, j, k}].push_back(int(t));
    }
    std::vector<TetPlace> places(points.size());
    parallel_for(std::ssize(points), 256, [&](std::int64_t p) {
        // Find the tetrahedron where the smallest weight is largest, which contains the point or is nearest,
        // in a growing neighbourhood.
        double best = -1e300;
        const Int3 center = bucket(points[p]);
        for (int reach = 0; reach < 64 && best < 0; ++reach) {
            bool any = false;
            for (int k = -reach; k <= reach; ++k)
                for (int j = -reach; j <= reach; ++j)
                    for (int i = -reach; i <= reach; ++i) {
                        if (std::max({std::abs(i), std::abs(j), std::abs(k)}) != reach) continue;
                        const auto at = buckets.find({center.x + i, center.y + j, center.z + k});
                        if (at == buckets.end()) continue;
                        any = true;
                        for (const int t : at->second) {
                            const std::array<double, 4> w = weights_in(mesh, mesh.tets[t], points[p]);
                            const double least = *std::min_element(w.begin(), w.end());
                            if (least > best) best = least, places[p] = {t, w};
                        }
                    }
            if (any && reach >= 1) break;
        }
    });
    return places;
}

}  // namespace flotsam

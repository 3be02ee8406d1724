#include "geometry/mesh_surface.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "core/check.h"
#include "core/parallel.h"

namespace flotsam {

namespace {

double squared_distance(const Box& box, Vec3 p) {
    const Vec3 beyond = max(max(box.low - p, p - box.high), Vec3{});
    return dot(beyond, beyond);
}

Vec3 normalized(Vec3 v) {
    const double size = length(v);
    return size > 0 ? v / size : v;
}

// Weights of the corners of the point of triangle abc that is nearest to p [Ericson, Real-Time Collision
// Detection, 5.1.5]. Weights are exactly zero on edges and corners.
Vec3 nearest_weights(Vec3 p, Vec3 a, Vec3 b, Vec3 c) {
    const Vec3 ab = b - a, ac = c - a, ap = p - a;
    const double d1 = dot(ab, ap), d2 = dot(ac, ap);
    if (d1 <= 0 && d2 <= 0) return {1, 0, 0};
    const Vec3 bp = p - b;
    const double d3 = dot(ab, bp), d4 = dot(ac, bp);
    if (d3 >= 0 && d4 <= d3) return {0, 1, 0};
    const double vc = d1 * d4 - d3 * d2;
    if (vc <= 0 && d1 >= 0 && d3 <= 0) {
        const double v = d1 - d3 > 0 ? d1 / (d1 - d3) : 0;
        return {1 - v, v, 0};
    }
    const Vec3 cp = p - c;
    const double d5 = dot(ab, cp), d6 = dot(ac, cp);
    if (d6 >= 0 && d5 <= d6) return {0, 0, 1};
    const double vb = d5 * d2 - d1 * d6;
    if (vb <= 0 && d2 >= 0 && d6 <= 0) {
        const double w = d2 - d6 > 0 ? d2 / (d2 - d6) : 0;
        return {1 - w, 0, w};
    }
    const double va = d3 * d6 - d5 * d4;
    if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        const double across = (d4 - d3) + (d5 - d6);
        const double w = across > 0 ? (d4 - d3) / across : 0;
        return {0, 1 - w, w};
    }
    const double v = vb / (va + vb + vc), w = vc / (va + vb + vc);
    return {1 - v - w, v, w};
}

}  // namespace

MeshSurface::MeshSurface(TriangleMesh mesh, int detail) : mesh_(std::move(mesh)) {
    FLOTSAM_CHECK(!mesh_.triangles.empty());
    std::vector<Vec3> centers;
    for (const Int3 t : mesh_.triangles)
        centers.push_back((mesh_.vertices[t.x] + mesh_.vertices[t.y] + mesh_.vertices[t.z]) / 3.0);
    order_.resize(mesh_.triangles.size());
    std::iota(order_.begin(), order_.end(), 0);
    build(0, int(order_.size()), centers);
    find_normals();
    fill_lattice(detail);
}

int MeshSurface::build(int first, int count, const std::vector<Vec3>& centers) {
    const int own = int(nodes_.size());
    nodes_.push_back({});
    constexpr double huge = 1e300;
    Box box{{huge, huge, huge}, {-huge, -huge, -huge}}, middles = box;
    for (int i = first; i < first + count; ++i) {
        const Int3 t = mesh_.triangles[order_[i]];
        for (const int v : {t.x, t.y, t.z})
            box = {min(box.low, mesh_.vertices[v]), max(box.high, mesh_.vertices[v])};
        middles = {min(middles.low, centers[order_[i]]), max(middles.high, centers[order_[i]])};
    }
    Node node{box, 0, first, count};
    constexpr int leaf = 2;
    if (count > leaf) {
        const Vec3 spread = middles.high - middles.low;
        const int axis = spread.x >= spread.y && spread.x >= spread.z ? 0 : spread.y >= spread.z ? 1 : 2;
        const int half = count / 2;
        const auto begin = order_.begin() + first;
        // Equal centres are ordered by index, so that the tree is the same everywhere.
        std::nth_element(begin, begin + half, begin + count, [&](int a, int b) {
            const double u = centers[a][axis], v = centers[b][axis];
            return u != v ? u < v : a < b;
        });
        build(first, half, centers);
        node.second_child = build(first + half, count - half, centers);
    }
    nodes_[own] = node;
    return own;
}

void MeshSurface::find_normals() {
    struct Edge {
        int low, high;  // vertices
        int triangle, corner;
    };
    std::vector<Edge> edges;
    std::vector<Vec3> face(mesh_.triangles.size());
    corner_normal_.assign(mesh_.vertices.size(), {});
    for (std::size_t t = 0; t < mesh_.triangles.size(); ++t) {
        const Int3 v = mesh_.triangles[t];
        const Vec3 p[3] = {mesh_.vertices[v.x], mesh_.vertices[v.y], mesh_.vertices[v.z]};
        face[t] = normalized(cross(p[1] - p[0], p[2] - p[0]));
        for (int c = 0; c < 3; ++c) {
            const Vec3 along = normalized(p[(c + 1) % 3] - p[c]), back = normalized(p[(c + 2) % 3] - p[c]);
            corner_normal_[v[c]] += face[t] * std::acos(std::clamp(dot(along, back), -1.0, 1.0));
            const int next = v[(c + 1) % 3];
            edges.push_back({std::min(v[c], next), std::max(v[c], next), int(t), c});
        }
    }
    std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
        return std::tie(a.low, a.high, a.triangle) < std::tie(b.low, b.high, b.triangle);
    });
    edge_normal_.resize(mesh_.triangles.size());
    for (std::size_t i = 0; i < edges.size();) {
        std::size_t end = i;
        Vec3 sum;
        for (; end < edges.size() && edges[end].low == edges[i].low && edges[end].high == edges[i].high;
             ++end)
            sum += face[edges[end].triangle];
        for (; i < end; ++i) edge_normal_[edges[i].triangle][edges[i].corner] = normalized(sum);
    }
    for (Vec3& n : corner_normal_) n = normalized(n);
}

Vec3 MeshSurface::point(int triangle, Vec3 weight) const {
    const Int3 t = mesh_.triangles[triangle];
    return weight.x * mesh_.vertices[t.x] + weight.y * mesh_.vertices[t.y] + weight.z * mesh_.vertices[t.z];
}

void MeshSurface::fill_lattice(int detail) {
    const Box box = bounds();
    const Vec3 size = box.high - box.low;
    lattice_spacing_ = std::max({size.x, size.y, size.z, 1e-300}) / detail;
    lattice_low_ = box.low - Vec3{2, 2, 2} * lattice_spacing_;
    for (int a = 0; a < 3; ++a) lattice_size_[a] = int(std::ceil(size[a] / lattice_spacing_)) + 5;
    lattice_.resize(lattice_index({0, 0, lattice_size_.z}));
    parallel_for(std::int64_t(lattice_size_.y) * lattice_size_.z, 1, [&](std::int64_t row) {
        const int j = int(row % lattice_size_.y), k = int(row / lattice_size_.y);
        int triangle = 0;
        for (int i = 0; i < lattice_size_.x; ++i) {
            const Vec3 p = lattice_low_ + Vec3(Int3{i, j, k}) * lattice_spacing_;
            const Nearest found = nearest_from(p, triangle);
            triangle = found.triangle;
            lattice_[lattice_index({i, j, k})] = {found.distance, triangle};
        }
    });
}

double MeshSurface::far_distance(Vec3 p) const {
    const Vec3 at = (p - lattice_low_) / lattice_spacing_;
    for (int a = 0; a < 3; ++a)
        if (!(at[a] >= 0 && at[a] < lattice_size_[a] - 1)) return std::sqrt(squared_distance(bounds(), p));
    const Int3 base{int(at.x), int(at.y), int(at.z)};
    const Vec3 part = at - Vec3(base);
    double sum = 0, least = 1e300;
    for (int corner = 0; corner < 8; ++corner) {
        const Int3 c{corner & 1, corner >> 1 & 1, corner >> 2};
        const double d = lattice_[lattice_index(base + c)].distance;
        least = std::min(least, std::abs(d));
        sum += d * (c.x ? part.x : 1 - part.x) * (c.y ? part.y : 1 - part.y) * (c.z ? part.z : 1 - part.z);
    }
    // A corner of the cell is at most 1.74 spacings away, so the surface is not in the cell and all corners
    // have one sign. Interpolation is off by less than an eighth of a spacing there: a tenth less is safe.
    return least > 2 * lattice_spacing_ ? 0.9 * sum : 0;
}

double MeshSurface::distance(Vec3 p) const {
    const double far = far_distance(p);
    return far != 0 ? far : nearest(p).distance;
}

Vec3 MeshSurface::normal(Vec3 p, double step) const {
    if (far_distance(p) != 0) return Shape::normal(p, step);
    const Nearest place = nearest(p);
    // On the surface itself there is no direction to the nearest point.
    if (std::abs(place.distance) < 1e-3 * step) return place.normal;
    return (p - place.point) / place.distance;
}

MeshSurface::Nearest MeshSurface::nearest(Vec3 p) const {
    const Vec3 at = (p - lattice_low_) / lattice_spacing_;
    Int3 c;
    for (int a = 0; a < 3; ++a) c[a] = int(std::clamp(std::round(at[a]), 0.0, double(lattice_size_[a] - 1)));
    return nearest_from(p, lattice_[lattice_index(c)].triangle);
}

MeshSurface::Nearest MeshSurface::nearest_from(Vec3 p, int triangle) const {
    Nearest best;
    double least = 1e300;
    const auto try_triangle = [&](int number) {
        const Int3 t = mesh_.triangles[number];
        const Vec3 weight = nearest_weights(p, mesh_.vertices[t.x], mesh_.vertices[t.y], mesh_.vertices[t.z]);
        const Vec3 q = point(number, weight), off = p - q;
        if (const double squared = dot(off, off); squared < least) {
            least = squared;
            best.triangle = number;
            best.weight = weight;
            best.point = q;
        }
    };
    try_triangle(triangle);
    struct Waiting {
        int node;
        double squared;
    };
    std::array<Waiting, 64> stack;  // halving 2^31 triangles goes 31 deep, and leaves one waiting per level
    int waiting = 0;
    stack[waiting++] = {0, 0};
    while (waiting > 0) {
        const Waiting next = stack[--waiting];
        if (next.squared >= least) continue;
        const Node& node = nodes_[next.node];
        if (node.second_child == 0) {
            for (int i = node.first; i < node.first + node.count; ++i) try_triangle(order_[i]);
            continue;
        }
        Waiting one{next.node + 1, squared_distance(nodes_[next.node + 1].box, p)};
        Waiting other{node.second_child, squared_distance(nodes_[node.second_child].box, p)};
        if (one.squared < other.squared) std::swap(one, other);
        stack[waiting++] = one;
        stack[waiting++] = other;  // the nearer one is looked at first
    }
    const Int3 t = mesh_.triangles[best.triangle];
    const Vec3 w = best.weight;
    const int zeros = (w.x == 0) + (w.y == 0) + (w.z == 0);
    if (zeros == 2) {
        best.normal = corner_normal_[w.x != 0 ? t.x : w.y != 0 ? t.y : t.z];
    } else if (zeros == 1) {
        best.normal = edge_normal_[best.triangle][w.z == 0 ? 0 : w.x == 0 ? 1 : 2];
    } else {
        const Vec3 a = mesh_.vertices[t.x];
        best.normal = normalized(cross(mesh_.vertices[t.y] - a, mesh_.vertices[t.z] - a));
    }
    best.distance = std::sqrt(least) * (dot(p - best.point, best.normal) < 0 ? -1 : 1);
    return best;
}

Vec3 Deformation::moved_along(Vec3 p) const {
    const MeshSurface::Nearest place = before->nearest(p);
    const Vec3 there = after->point(place.triangle, place.weight);
    const Vec3 shifted = there + (p - place.point);
    if (place.distance <= 0 || after->distance(shifted) >= 0.5 * place.distance) return shifted;
    // The surface has turned, and the shift alone would lead into it.
    return there + after->nearest(there).normal * place.distance;
}

Vec3 Deformation::velocity_at(Vec3 p) const {
    const MeshSurface::Nearest place = after->nearest(p);
    const Int3 t = after->mesh().triangles[place.triangle];
    return place.weight.x * velocity[t.x] + place.weight.y * velocity[t.y] + place.weight.z * velocity[t.z];
}

}  // namespace flotsam

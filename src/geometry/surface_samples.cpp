#include "geometry/surface_samples.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/random.h"

namespace flotsam {

namespace {

struct Candidate {
    SurfaceSample sample;
    std::uint64_t order;
};

// Samples whose normals differ by more than 45 degrees lie on different sides of an edge.
constexpr double same_side = 0.7;

// Points of a triangle, its corners and edges included, a third of the spacing apart. Points on corners come
// first, then those on edges: a gap at an edge could not be filled later.
void add_candidates(const TriangleMesh& mesh, std::int64_t triangle, const Shape& distance, double spacing,
                    bool flat, std::vector<Candidate>& candidates) {
    const Int3 t = mesh.triangles[triangle];
    const Vec3 a = mesh.vertices[t.x], ab = mesh.vertices[t.y] - a, ac = mesh.vertices[t.z] - a;
    Vec3 normal = cross(ab, ac);
    if (length(normal) == 0) return;
    normal = normal / length(normal);
    if (flat && std::abs(normal.z) > same_side) return;  // front and back of the slab
    const double longest = std::max({length(ab), length(ac), length(ac - ab)});
    const int n = std::max(1, int(std::ceil(3 * longest / spacing)));
    for (int i = 0; i <= n; ++i)
        for (int j = 0; i + j <= n; ++j) {
            Vec3 p = a + ab * (double(i) / n) + ac * (double(j) / n);
            if (flat) p.z = 0;
            SurfaceSample sample{p, normal};
            // A round shape is rounder than its mesh; at an edge the mesh is more accurate.
            const double step = 0.05 * spacing, off = distance.distance(p);
            const Vec3 smooth = distance.normal(p, step);
            if (dot(smooth, normal) > 0.9 && std::abs(off) < 0.5 * spacing)
                sample = {p - smooth * off, smooth};
            if (flat) sample.normal.z = 0, sample.normal = sample.normal / length(sample.normal);
            const int inner = (i > 0) + (j > 0) + (i + j < n);  // 1 at a corner, 2 on an edge
            candidates.push_back(
                {sample, std::uint64_t(inner) << 60 | mix(std::uint64_t(candidates.size())) >> 4});
        }
}

}  // namespace

std::vector<SurfaceSample> sample_surface(const SolidShape& shape, double spacing, bool flat) {
    std::vector<Candidate> candidates;
    for (std::int64_t t = 0; t < std::ssize(shape.mesh.triangles); ++t)
        add_candidates(shape.mesh, t, *shape.distance, spacing, flat, candidates);
    std::sort(candidates.begin(), candidates.end(),
              [](const Candidate& a, const Candidate& b) { return a.order < b.order; });

    // Takes each candidate unless one near it on the same side was taken before.
    std::vector<SurfaceSample> taken;
    std::map<std::array<int, 3>, std::vector<std::size_t>> cells;
    const auto cell_of = [&](Vec3 p) {
        return std::array{int(std::floor(p.x / spacing)), int(std::floor(p.y / spacing)),
                          int(std::floor(p.z / spacing))};
    };
    for (const Candidate& candidate : candidates) {
        const SurfaceSample& sample = candidate.sample;
        const auto cell = cell_of(sample.point);
        bool free = true;
        for (int k = -1; k <= 1 && free; ++k)
            for (int j = -1; j <= 1 && free; ++j)
                for (int i = -1; i <= 1 && free; ++i)
                    if (const auto at = cells.find({cell[0] + i, cell[1] + j, cell[2] + k});
                        at != cells.end())
                        for (const std::size_t other : at->second)
                            free = free && (length(taken[other].point - sample.point) >= spacing ||
                                            dot(taken[other].normal, sample.normal) < same_side);
        if (!free) continue;
        cells[cell].push_back(taken.size());
        taken.push_back(sample);
    }
    return taken;
}

SampledSurface::SampledSurface(std::vector<SurfaceSample> samples, double radius) : radius_(radius) {
    if (samples.empty()) return;
    std::vector<Vec3> center;
    Box box{samples[0].point, samples[0].point};
    for (const SurfaceSample& s : samples) {
        center.push_back(s.point - s.normal * radius);
        box = {min(box.low, center.back()), max(box.high, center.back())};
    }
    const Vec3 room = Vec3{1, 1, 1} * cell_width();
    bounds_ = {box.low - room, box.high + room};
    low_ = box.low;
    for (int axis = 0; axis < 3; ++axis)
        cells_[axis] = int((box.high[axis] - box.low[axis]) / cell_width()) + 1;

    std::vector<std::int32_t> order(samples.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = std::int32_t(i);
    const auto place = [&](std::int32_t i) { return place_of(cell_of(center[i])); };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t a, std::int32_t b) { return place(a) < place(b); });
    begin_.assign(place_of({0, 0, cells_.z}) + 1, 0);
    for (const std::int32_t i : order) {
        ++begin_[place(i) + 1];
        samples_.push_back(samples[i]);
        center_.push_back(center[i]);
    }
    for (std::size_t n = 1; n < begin_.size(); ++n) begin_[n] += begin_[n - 1];
}

Int3 SampledSurface::cell_of(Vec3 p) const {
    const Vec3 c = (p - low_) / cell_width();
    return {int(std::floor(c.x)), int(std::floor(c.y)), int(std::floor(c.z))};
}

std::optional<SurfaceSample> SampledSurface::touched(Vec3 p, Vec3 before) const {
    if (!bounds_.contains(p)) return {};
    const Int3 c = cell_of(p), low = max(c - Int3{1, 1, 1}, Int3{0, 0, 0}),
               high = min(c + Int3{1, 1, 1}, cells_ - Int3{1, 1, 1});
    double nearest = cell_width();
    std::int32_t found = -1;
    for (int k = low.z; k <= high.z; ++k)
        for (int j = low.y; j <= high.y; ++j)
            for (int i = low.x; i <= high.x; ++i) {
                const std::int64_t cell = place_of({i, j, k});
                for (std::int32_t n = begin_[cell]; n < begin_[cell + 1]; ++n) {
                    const double distance = length(p - center_[n]);
                    if (distance >= nearest) continue;
                    const Vec3 normal = samples_[n].normal, off = p - samples_[n].point;
                    const double above = dot(off, normal);
                    if (above >= radius_ || length(off - above * normal) > 0.8 * radius_) continue;
                    // Half a radius of slack: a particle that was pressed in a little is still in front.
                    if (dot(before - samples_[n].point, normal) < -0.5 * radius_) continue;
                    nearest = distance;
                    found = n;
                }
            }
    if (found < 0) return {};
    return samples_[found];
}

}  // namespace flotsam

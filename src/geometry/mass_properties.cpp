#include "geometry/mass_properties.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace flotsam {

namespace {

// Sums of plain moments about a fixed point, turned into central ones at the end.
struct Sums {
    double volume = 0;
    Vec3 first;
    Mat3 second;

    // Adds a share of a cube of the given edge about `p`.
    void add_cube(Vec3 p, double edge, double share) {
        const double v = share * edge * edge * edge, own = v * edge * edge / 12;
        volume += v;
        first += v * p;
        second = second + Mat3::outer(p, p) * v + Mat3::diagonal({own, own, own});
    }
    VolumeMoments about(Vec3 origin) const {
        if (volume == 0) return {0, origin, {}};
        const Vec3 mean = first / volume;
        return {volume, origin + mean, second - Mat3::outer(mean, mean) * volume};
    }
};

class DeepCells {
  public:
    DeepCells(const Shape& shape, double depth, double finest)
        : shape_(shape), depth_(depth), finest_(finest) {}
    void visit(Vec3 center, double edge) {
        const double level = shape_.distance(center) + depth_;
        const double reach = 0.5 * std::sqrt(3.0) * edge;
        if (level >= reach) return;
        if (level <= -reach) {
            sums.add_cube(center, edge, 1);
        } else if (edge > finest_) {
            for (int child = 0; child < 8; ++child)
                visit(center +
                          Vec3{child & 1 ? 0.25 : -0.25, child & 2 ? 0.25 : -0.25, child & 4 ? 0.25 : -0.25} *
                              edge,
                      0.5 * edge);
        } else {
            sums.add_cube(center, edge, std::clamp(0.5 - level / edge, 0.0, 1.0));
        }
    }
    Sums sums;

  private:
    const Shape& shape_;
    double depth_, finest_;
};

}  // namespace

VolumeMoments operator-(const VolumeMoments& whole, const VolumeMoments& part) {
    const double volume = whole.volume - part.volume;
    FLOTSAM_CHECK(volume > 0, whole.volume, part.volume);
    const Vec3 center = (whole.volume * whole.center - part.volume * part.center) / volume;
    const auto about_center = [&](const VolumeMoments& m) {
        return m.spread + Mat3::outer(m.center - center, m.center - center) * m.volume;
    };
    return {volume, center, about_center(whole) - about_center(part)};
}

VolumeMoments enclosed_moments(const TriangleMesh& mesh) {
    const Box box = bounds(mesh);
    const Vec3 apex = 0.5 * (box.low + box.high);
    Sums sums;
    for (const Int3& t : mesh.triangles) {
        const Vec3 a = mesh.vertices[t.x] - apex, b = mesh.vertices[t.y] - apex,
                   c = mesh.vertices[t.z] - apex;
        const double volume = dot(a, cross(b, c)) / 6;
        const Vec3 sum = a + b + c;
        sums.volume += volume;
        sums.first += volume / 4 * sum;
        sums.second = sums.second +
                      (Mat3::outer(sum, sum) + Mat3::outer(a, a) + Mat3::outer(b, b) + Mat3::outer(c, c)) *
                          (volume / 20);
    }
    return sums.about(apex);
}

VolumeMoments moments_deeper_than(const Shape& shape, double depth) {
    FLOTSAM_CHECK(depth > 0, depth);
    const Box box = shape.bounds();
    const Vec3 size = box.high - box.low;
    // Cubes about as thick as the body's smallest side; a needle is cut into a few hundred. Along z they fit
    // exactly: the distance of what goes through a slab says nothing of where the slab ends. Below a
    // thousandth of the longest side they would be too many.
    const double longest = std::max({size.x, size.y, size.z}), least = longest / 1024;
    const double widest = std::max(std::min({size.x, size.y, size.z}), longest / 256);
    const double edge = std::max(size.z / std::ceil(size.z / widest - 1e-9), least);
    DeepCells cells(shape, depth, std::max(std::min(depth / 4, longest / 128), least));
    const Int3 count{int(std::ceil(size.x / edge - 1e-9)), int(std::ceil(size.y / edge - 1e-9)),
                     int(std::ceil(size.z / edge - 1e-9))};
    const Vec3 middle = 0.5 * (box.low + box.high);
    for (int k = 0; k < count.z; ++k)
        for (int j = 0; j < count.y; ++j)
            for (int i = 0; i < count.x; ++i)
                cells.visit(
                    middle + Vec3{i + 0.5 * (1 - count.x), j + 0.5 * (1 - count.y), k + 0.5 * (1 - count.z)} *
                                 edge,
                    edge);
    return cells.sums.about({});
}

MassProperties mass_properties(const VolumeMoments& moments, double density) {
    const double trace = moments.spread.trace();
    return {moments.volume * density, moments.center,
            (Mat3::diagonal({trace, trace, trace}) - moments.spread) * density};
}

MassProperties together(const MassProperties& a, const MassProperties& b) {
    const double total = a.mass + b.mass;
    const Vec3 arm = b.center - a.center;
    // Two masses turn about their common centre like the reduced mass at the arm between them.
    const double reduced = a.mass * b.mass / total, square = dot(arm, arm);
    return {
        total, a.center + b.mass / total * arm,
        a.inertia + b.inertia + (Mat3::diagonal({square, square, square}) - Mat3::outer(arm, arm)) * reduced};
}

}  // namespace flotsam

#include "geometry/shape.h"

#include <limits>
#include <numbers>

#include "core/check.h"
#include "geometry/mesh_distance.h"
#include "geometry/mesh_reader.h"

namespace flotsam {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class Sphere final : public Shape {
  public:
    Sphere(Vec3 center, double radius) : center_(center), radius_(radius) {}
    double distance(Vec3 p) const override { return length(p - center_) - radius_; }
    Box bounds() const override {
        const Vec3 r{radius_, radius_, radius_};
        return {center_ - r, center_ + r};
    }

  private:
    Vec3 center_;
    double radius_;
};

class BoxShape final : public Shape {
  public:
    BoxShape(Vec3 low, Vec3 high) : box_{low, high} {}
    double distance(Vec3 p) const override {
        // How far p is beyond the nearer face of each pair; negative between the two.
        const Vec3 beyond = max(box_.low - p, p - box_.high);
        const double outside = length(max(beyond, Vec3{}));
        const double inside = std::min(0.0, std::max({beyond.x, beyond.y, beyond.z}));
        return outside + inside;
    }
    Box bounds() const override { return box_; }

  private:
    Box box_;
};

class Level final : public Shape {
  public:
    Level(double level, double amplitude, double wavelength, double crest)
        : level_(level),
          amplitude_(amplitude),
          wave_number_(2 * std::numbers::pi / wavelength),
          crest_(crest) {}
    double distance(Vec3 p) const override {
        const double phase = wave_number_ * (p.x - crest_);
        const double surface = level_ + amplitude_ * std::cos(phase);
        const double slope = -amplitude_ * wave_number_ * std::sin(phase);
        // Height over the tangent: exact for a flat level, off by curvature times distance squared for a
        // wave.
        return (p.y - surface) / std::sqrt(1 + slope * slope);
    }
    Box bounds() const override {
        return {{-infinity, -infinity, -infinity}, {infinity, level_ + std::abs(amplitude_), infinity}};
    }

  private:
    double level_, amplitude_, wave_number_, crest_;
};

class Convex final : public Shape {
  public:
    Convex(std::vector<Plane> planes, const Box& bounds) : planes_(std::move(planes)), bounds_(bounds) {}
    double distance(Vec3 p) const override {
        double most = -infinity;
        for (const Plane& plane : planes_) most = std::max(most, dot(plane.normal, p) - plane.distance);
        return most;
    }
    Box bounds() const override { return bounds_; }

  private:
    std::vector<Plane> planes_;
    Box bounds_;
};

class Common final : public Shape {
  public:
    Common(ShapePtr a, ShapePtr b) : a_(std::move(a)), b_(std::move(b)) {}
    double distance(Vec3 p) const override { return std::max(a_->distance(p), b_->distance(p)); }
    Box bounds() const override {
        const Box a = a_->bounds(), b = b_->bounds();
        return {max(a.low, b.low), min(a.high, b.high)};
    }

  private:
    ShapePtr a_, b_;
};

}  // namespace

bool meets(const Shape& shape, Vec3 a, Vec3 b, double gap, double least_step) {
    const double total = length(b - a);
    for (double walked = 0; walked < total;) {
        const double d = shape.distance(a + (b - a) * (walked / total));
        if (d < gap) return true;
        walked += std::max(d, least_step);
    }
    return false;
}

Vec3 Shape::normal(Vec3 p, double step) const {
    const auto slope = [&](Vec3 at) {
        Vec3 s;
        for (int a = 0; a < 3; ++a) {
            const Vec3 d = Vec3(unit(a)) * step;
            s[a] = distance(at + d) - distance(at - d);
        }
        return s;
    };
    Vec3 s = slope(p);
    // The gradient vanishes in the very middle of a plate: evaluate it a little beside.
    if (length(s) < 0.2 * step) s = slope(p + step * Vec3{0.83, 0.71, 0.59});
    const double size = length(s);
    return size > 0 ? s / size : Vec3{0, 1, 0};
}

ShapePtr make_sphere(Vec3 center, double radius) { return std::make_shared<Sphere>(center, radius); }
ShapePtr make_box(Vec3 low, Vec3 high) { return std::make_shared<BoxShape>(low, high); }
ShapePtr make_level(double level, double amplitude, double wavelength, double crest) {
    return std::make_shared<Level>(level, amplitude, wavelength, crest);
}
ShapePtr make_convex(std::vector<Plane> planes, const Box& bounds) {
    return std::make_shared<Convex>(std::move(planes), bounds);
}
ShapePtr make_common(ShapePtr a, ShapePtr b) { return std::make_shared<Common>(std::move(a), std::move(b)); }

ShapePtr make_mesh_shape(const std::string& file, double scale, Vec3 position, double spacing) {
    FLOTSAM_CHECK(scale > 0, scale);
    TriangleMesh mesh = read_mesh(file);
    for (Vec3& v : mesh.vertices) v = v * scale + position;
    return mesh_distance(mesh, file, spacing);
}

}  // namespace flotsam

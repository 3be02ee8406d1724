#include "render/camera.h"

#include <cmath>
#include <numbers>

namespace flotsam {

namespace {

Vec3 corner(const Box& box, int n) {
    return {n & 1 ? box.high.x : box.low.x, n & 2 ? box.high.y : box.low.y, n & 4 ? box.high.z : box.low.z};
}

}  // namespace

Camera::Camera(const ViewSettings& view, const Box& subject, int width, int height, Vec3 moved)
    : width_(width), height_(height) {
    half_height_ = std::tan(0.5 * view.field_of_view * std::numbers::pi / 180);
    half_width_ = half_height_ * width / height;
    const Vec3 middle = 0.5 * (subject.low + subject.high);
    const Vec3 target = view.target.value_or(middle);
    if (view.camera)
        position_ = *view.camera;
    else
        choose_distance(target, subject);
    position_ += {moved.x, 0, moved.z};
    look_at(target + moved);
}

void Camera::choose_distance(Vec3 target, const Box& subject) {
    // From the front, a little from the right and from above; as near as possible with everything in view.
    const Vec3 from = Vec3{0.42, 0.40, 1.0} / length(Vec3{0.42, 0.40, 1.0});
    double near = 0, far = 1000 * length(subject.high - subject.low);
    for (int halving = 0; halving < 60; ++halving) {
        const double distance = 0.5 * (near + far);
        position_ = target + from * distance;
        look_at(target);
        (shows(subject) ? far : near) = distance;
    }
    position_ = target + from * far;
}

void Camera::look_at(Vec3 target) {
    const Vec3 way = target - position_;
    forward_ = length(way) > 0 ? way / length(way) : Vec3{0, 0, -1};
    // Looking straight down or up, there is no horizon: keep x to the right.
    const Vec3 sideways = cross(forward_, Vec3{0, 1, 0});
    right_ = length(sideways) > 1e-6 ? sideways / length(sideways) : Vec3{1, 0, 0};
    up_ = cross(right_, forward_);
}

bool Camera::shows(const Box& subject) const {
    constexpr double margin = 0.93;  // of the picture's half sizes
    for (int n = 0; n < 8; ++n) {
        const Vec3 way = corner(subject, n) - position_;
        const double depth = dot(way, forward_);
        if (depth <= 0 || std::abs(dot(way, right_)) > margin * half_width_ * depth ||
            std::abs(dot(way, up_)) > margin * half_height_ * depth)
            return false;
    }
    return true;
}

Ray Camera::ray(double x, double y) const {
    const double across = (2 * x / width_ - 1) * half_width_, upwards = (1 - 2 * y / height_) * half_height_;
    const Vec3 way = forward_ + right_ * across + up_ * upwards;
    return {Vec3f(position_), Vec3f(way / length(way))};
}

}  // namespace flotsam

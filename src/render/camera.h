// The camera of a picture.
#pragma once

#include "render/ray_scene.h"
#include "sim/run_settings.h"

namespace flotsam {

class Camera {
  public:
    // As the view sets it; unset values are chosen so that `subject` fills a picture of `width` by `height`
    // pixels. The horizon is level. `moved` is how far the solid that the camera follows has moved since the
    // start: the camera looks there, and moves along at its own height.
    Camera(const ViewSettings& view, const Box& subject, int width, int height, Vec3 moved = {});

    // The ray through a point of the picture, in pixels from the top left.
    Ray ray(double x, double y) const;
    Vec3 position() const { return position_; }
    double pixel_angle() const { return 2 * half_height_ / height_; }  // [rad], at the picture's middle

  private:
    void choose_distance(Vec3 target, const Box& subject);
    bool shows(const Box& subject) const;
    void look_at(Vec3 target);

    Vec3 position_, forward_, right_, up_;
    double half_width_, half_height_;  // of the picture at distance 1
    int width_, height_;
};

}  // namespace flotsam

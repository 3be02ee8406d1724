// Traces light backwards from the camera through the stage.
#pragma once

#include <atomic>

#include "render/camera.h"
#include "render/floor_light.h"
#include "render/quality.h"
#include "render/stage.h"

namespace flotsam {

class Tracer {
  public:
    Tracer(const Stage& stage, const Quality& quality, double pixel_angle);

    // The light that arrives along a ray from a camera; `key` is the key of its random numbers.
    Color seen(const Ray& ray, std::uint64_t key) const;

  private:
    // The first object that a ray meets.
    struct Meeting {
        enum class Kind { sky, floor, solid, liquid } kind = Kind::sky;
        float distance = 1e30f;
        Vec3f normal, face_normal;
        Color color;  // of a solid
    };

    Color follow(const Ray& ray, bool inside, int bounce, float weight, std::uint64_t key) const;
    Meeting meet(Ray ray, bool inside) const;
    Meeting meet_whole(const Ray& ray, bool inside) const;
    Meeting meet_cut(const Ray& ray, bool inside, const CutAway& cut) const;
    bool in_liquid(Vec3f point) const;
    Color at_liquid(const Ray& ray, const Meeting& meeting, int bounce, float weight,
                    std::uint64_t key) const;
    Color of_solid(const Ray& ray, const Meeting& meeting, bool inside, std::uint64_t key) const;
    Color of_floor(const Ray& ray, float distance) const;
    Color behind_tank(const Ray& ray, float distance, Color behind) const;

    const Stage& stage_;
    Quality quality_;
    FloorLight floor_light_;
    float size_;         // of the tank
    float tile_;         // edge of the floor's squares [m]
    float pixel_angle_;  // [rad]
};

// A picture of the stage. Stops early, with a picture that is not finished, when `stop` becomes true.
Image photograph(const Stage& stage, const Camera& camera, int width, int height, const Quality& quality,
                 const std::atomic<bool>& stop);

}  // namespace flotsam

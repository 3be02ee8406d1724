// The objects that rays can hit. The only interface to Embree.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/vec.h"

namespace flotsam {

struct Ray {
    Vec3f origin, direction;  // the direction has length 1
    float near = 0, far = 1e30f;

    Vec3f at(float distance) const { return origin + direction * distance; }
};

struct RayHit {
    float distance = 1e30f;
    int object = -1;        // as add_* numbered it; -1: nothing was hit
    std::int32_t part = 0;  // triangle or sphere
    float u = 0, v = 0;     // weights of a triangle's second and third corner
    Vec3f face_normal;      // outwards, length 1

    explicit operator bool() const { return object >= 0; }
};

class RayScene {
  public:
    RayScene();
    RayScene(const RayScene&) = delete;
    RayScene& operator=(const RayScene&) = delete;
    ~RayScene();

    // Each returns the object's number, counted from 0. Triangles face outwards counter-clockwise.
    int add_triangles(const std::vector<Vec3f>& vertices,
                      const std::vector<std::array<std::int32_t, 3>>& triangles);
    int add_spheres(const std::vector<Vec3f>& centers, const std::vector<float>& radii);
    // Must follow the last add_*; throws std::bad_alloc when there is no memory for it.
    void commit();

    bool empty() const { return objects_ == 0; }
    RayHit nearest(const Ray& ray) const;
    bool blocked(const Ray& ray) const;

  private:
    struct Handles;
    std::unique_ptr<Handles> handles_;
    int objects_ = 0;
};

}  // namespace flotsam

// The illumination of the floor: by the sun, past and through everything on it, and by the sky.
//
// Light that a liquid refracts is traced from the sun to the floor, where it forms bright lines (caustics);
// tracing rays from the floor to the sun could not find them. The result is kept in a map, so that the floor
// has no speckle however few rays a pixel has.
#pragma once

#include <vector>

#include "render/quality.h"
#include "render/stage.h"

namespace flotsam {

class FloorLight {
  public:
    FloorLight(const Stage& stage, const Quality& quality);

    // Light that arrives at a point of the floor, per light that leaves white paper there.
    Color at(float x, float z) const;

  private:
    struct Map {
        int columns = 0, rows = 0;
        std::vector<Color> texels;
        Color& at(int column, int row) { return texels[std::size_t(row) * columns + column]; }
        const Color& at(int column, int row) const { return texels[std::size_t(row) * columns + column]; }
        Color between(float column, float row) const;
    };

    Vec3f place(const Map& map, float column, float row) const;  // of a texel
    void shine_past(const Stage& stage, const Quality& quality);
    void shine_through(const Stage& stage, const Quality& quality);
    void add_sky(const Stage& stage, const Quality& quality);

    float left_ = 0, back_ = 0, width_ = 1, depth_ = 1;  // the part of the floor that the maps cover [m]
    Map sun_, sky_;
};

}  // namespace flotsam

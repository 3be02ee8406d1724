// Flat pictures: a plane through the liquid, plain or with a quantity as a colour map. 2D scenes are shown
// this way, and it is the view for debugging what happens inside.
#pragma once

#include <optional>
#include <string_view>

#include "io/vdb.h"
#include "render/image.h"
#include "scene/scene.h"

namespace flotsam {

enum class SliceField { none, pressure, speed, distance, vorticity };
std::string_view name_of(SliceField field);
// Throws UserError with a suggestion for an unknown name.
SliceField slice_field(std::string_view name);

struct PlaneView {
    SliceField field = SliceField::none;  // none: the liquid in one colour
    int axis = 2;                         // the plane is perpendicular to it
    std::optional<double> at;             // position along that axis [m]; otherwise the middle
    std::optional<double> limit;  // highest value of the colour map; otherwise this frame's, rounded up
};

Image draw_plane(const Scene& scene, const VolumeFrame& volume, double time, const PlaneView& view, int width,
                 int height);

}  // namespace flotsam

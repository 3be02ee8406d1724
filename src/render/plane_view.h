// Flat pictures: a plane through the liquid, plain or with a quantity as a colour map. 2D scenes are shown
// this way, and it is the view for finding out what goes wrong inside.
#pragma once

#include <optional>
#include <string_view>

#include "io/vdb.h"
#include "render/image.h"
#include "scene/scene.h"

namespace flotsam {

enum class SliceField { none, pressure, speed, distance, vorticity };
std::string_view name_of(SliceField field);
// UserError with a suggestion for a name that is none.
SliceField slice_field(std::string_view name);

struct PlaneView {
    SliceField field = SliceField::none;  // none: the liquid in one colour
    int axis = 2;                         // the plane is at right angles to it
    std::optional<double> at;             // place along that axis [m]; otherwise the middle
    std::optional<double> limit;  // highest value of the colour map; otherwise this frame's, rounded up
};

Image draw_plane(const Scene& scene, const VolumeFrame& volume, double time, const PlaneView& view, int width,
                 int height);

}  // namespace flotsam

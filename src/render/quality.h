// The effort that goes into a picture.
#pragma once

namespace flotsam {

struct Quality {
    int samples = 2;         // rays along each side of a pixel
    int bounces = 5;         // largest number of surfaces that a ray meets
    int floor_texels = 256;  // along the longer side of the lit floor
    int light_samples = 4;   // of the sun's disc and, times 4, of the sky, per texel
    int photons = 2;         // along each side of a texel
    int shadow_samples = 1;  // per ray that meets a solid
};

constexpr Quality draft_quality{};
constexpr Quality good_quality{
    .samples = 4, .bounces = 9, .floor_texels = 640, .light_samples = 16, .photons = 3, .shadow_samples = 2};

}  // namespace flotsam

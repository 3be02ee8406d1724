// Pictures as plain data: light while it is gathered, bytes once it is shown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/vec.h"

namespace flotsam {

using Color = Vec3f;  // red, green and blue; linear light unless said otherwise

inline Color operator%(Color a, Color b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }  // light on a colour
inline Color mix(Color a, Color b, float share) { return a * (1 - share) + b * share; }
inline float brightness(Color c) { return 0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z; }

// From what a screen shows (sRGB, 0 to 1) to light.
Color light_of(Color shown);

// Linear light, row by row from the top left.
struct Image {
    int width = 0, height = 0;
    std::vector<Color> pixels;

    Image() = default;
    Image(int w, int h, Color fill = {}) : width(w), height(h), pixels(std::size_t(w) * h, fill) {}
    Color& at(int x, int y) { return pixels[std::size_t(y) * width + x]; }
    const Color& at(int x, int y) const { return pixels[std::size_t(y) * width + x]; }
};

// What a screen shows: three bytes a pixel, sRGB.
struct Picture {
    int width = 0, height = 0;
    std::vector<std::uint8_t> bytes;
};

// Rolls bright light off softly, as film does, so that all of it lies between 0 and 1. Not for diagrams,
// whose colours mean something.
void expose(Image& image);

// Light from 0 to 1 as a screen shows it.
Picture develop(const Image& image);

// How different two pictures of the same size look: both are blurred a little, as an eye at some distance
// does, and compared by eye's sense of brightness and colour. The mean difference, 0 to 1; `worst` is that of
// the worst 16th part of the picture, so that something small that is missing is not averaged away.
struct PictureDifference {
    double mean = 0, worst = 0;
};
PictureDifference difference(const Picture& a, const Picture& b);

}  // namespace flotsam

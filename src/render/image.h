// Pictures as plain data: linear light while rendering, bytes for display.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/vec.h"

namespace flotsam {

using Color = Vec3f;  // red, green and blue; linear light unless stated otherwise

inline Color operator%(Color a, Color b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }  // light on a colour
inline Color mix(Color a, Color b, float share) { return a * (1 - share) + b * share; }
inline float brightness(Color c) { return 0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z; }

// Converts sRGB (0 to 1) to linear light.
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

// A picture for display: three bytes per pixel, sRGB.
struct Picture {
    int width = 0, height = 0;
    std::vector<std::uint8_t> bytes;
};

// Tone mapping: compresses bright light softly, as film does, to between 0 and 1. Not for diagrams, whose
// colours encode values.
void expose(Image& image);

// Converts linear light from 0 to 1 to sRGB.
Picture develop(const Image& image);

// How different two pictures of the same size look: both are blurred a little, as an eye at some distance
// does, and compared by perceived brightness and colour. The mean difference, 0 to 1; `worst` is that of the
// worst 16th part of the picture, so that a small missing object is not averaged away.
struct PictureDifference {
    double mean = 0, worst = 0;
};
PictureDifference difference(const Picture& a, const Picture& b);

}  // namespace flotsam

// Numbers as colours, and the legend that explains them.
#pragma once

#include <string>

#include "render/image.h"

namespace flotsam {

enum class ColorMap {
    rising,     // from low to high: dark blue, green, yellow
    diverging,  // about a middle: blue, white, red
};

// `share` of the way from the lowest to the highest value; clamped to 0 and 1.
Color color_at(ColorMap map, double share);

// The next of 1, 2, 5, 10, 20, ... times a power of ten that is at least `value`: legends stay readable, and
// the same from frame to frame.
double round_up(double value);

// Text whose capital letters are 7 `scale` pixels high, its top left corner at (x, y). Latin letters only.
void draw_text(Image& image, int x, int y, const std::string& text, Color color, int scale = 1);
int text_width(const std::string& text, int scale = 1);
int text_scale(const Image& image);  // a legible size for this image

struct Legend {
    ColorMap map = ColorMap::rising;
    double low = 0, high = 1;
    std::string title;  // with the unit
};
// In the lower right corner, on a light plate.
void draw_legend(Image& image, const Legend& legend);

}  // namespace flotsam

#include "render/color_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#define STB_EASY_FONT_IMPLEMENTATION
#include <stb/stb_easy_font.h>

namespace flotsam {

namespace {

// Viridis and cool-warm in a few steps, in sRGB; interpolated linearly in between.
constexpr std::array<Vec3f, 7> rising_steps{Vec3f{0.267f, 0.005f, 0.329f}, Vec3f{0.270f, 0.226f, 0.510f},
                                            Vec3f{0.204f, 0.383f, 0.554f}, Vec3f{0.128f, 0.567f, 0.551f},
                                            Vec3f{0.237f, 0.718f, 0.440f}, Vec3f{0.600f, 0.840f, 0.220f},
                                            Vec3f{0.993f, 0.906f, 0.144f}};
constexpr std::array<Vec3f, 7> diverging_steps{Vec3f{0.085f, 0.180f, 0.520f}, Vec3f{0.230f, 0.430f, 0.790f},
                                               Vec3f{0.620f, 0.760f, 0.930f}, Vec3f{0.960f, 0.960f, 0.950f},
                                               Vec3f{0.950f, 0.720f, 0.600f}, Vec3f{0.800f, 0.300f, 0.250f},
                                               Vec3f{0.480f, 0.020f, 0.120f}};

// The font's letters as rectangles in pixels.
struct FontQuad {
    float x0, y0, x1, y1;
};
std::vector<FontQuad> quads_of(const std::string& text) {
    struct Vertex {
        float x, y, z;
        unsigned char color[4];
    };
    std::vector<Vertex> vertices(4 * 70 *
                                 (text.size() + 1));  // the font needs at most about 270 bytes a letter
    std::string line = text;
    const int count = stb_easy_font_print(0, 0, line.data(), nullptr, vertices.data(),
                                          int(vertices.size() * sizeof(Vertex)));
    std::vector<FontQuad> quads;
    quads.reserve(count);
    for (int q = 0; q < count; ++q)
        quads.push_back({vertices[4 * q].x, vertices[4 * q].y, vertices[4 * q + 2].x, vertices[4 * q + 2].y});
    return quads;
}

void fill(Image& image, int x0, int y0, int x1, int y1, Color color, float opacity = 1) {
    for (int y = std::max(0, y0); y < std::min(image.height, y1); ++y)
        for (int x = std::max(0, x0); x < std::min(image.width, x1); ++x)
            image.at(x, y) = mix(image.at(x, y), color, opacity);
}

}  // namespace

Color color_at(ColorMap map, double share) {
    const auto& steps = map == ColorMap::rising ? rising_steps : diverging_steps;
    const double at = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) * double(steps.size() - 1) : 0;
    const auto step = std::min(std::size_t(at), steps.size() - 2);
    return light_of(mix(steps[step], steps[step + 1], float(at - double(step))));
}

double round_up(double value) {
    if (!(value > 1e-300) || !std::isfinite(value)) return 1;
    const double power = std::pow(10, std::floor(std::log10(value) + 1e-9));
    for (const double step : {1.0, 1.5, 2.0, 3.0, 5.0, 7.0})
        if (value <= step * power * (1 + 1e-9)) return step * power;
    return 10 * power;
}

int text_scale(const Image& image) { return std::max(1, (image.height + 150) / 300); }

void draw_text(Image& image, int x, int y, const std::string& text, Color color, int scale) {
    for (const FontQuad& q : quads_of(text))
        fill(image, x + int(q.x0) * scale, y + int(q.y0) * scale, x + int(q.x1) * scale,
             y + int(q.y1) * scale, color);
}

int text_width(const std::string& text, int scale) {
    std::string line = text;
    return stb_easy_font_width(line.data()) * scale;
}

void draw_legend(Image& image, const Legend& legend) {
    const int scale = text_scale(image), unit = 6 * scale;
    const int bar = std::min(std::max(20 * unit, text_width(legend.title, scale)), image.width / 2),
              height = 2 * unit;
    const int left = image.width - bar - 4 * unit, top = image.height - height - 5 * unit;
    const Color ink = light_of({0.10f, 0.11f, 0.13f});
    fill(image, left - 2 * unit, top - 3 * unit, left + bar + 2 * unit, image.height - unit, {1, 1, 1},
         0.82f);
    draw_text(image, left, top - 2 * unit, legend.title, ink, scale);
    for (int x = 0; x < bar; ++x)
        fill(image, left + x, top, left + x + 1, top + height, color_at(legend.map, (x + 0.5) / bar));
    for (int tick = 0; tick <= 4; tick += 2) {
        const int x = left + bar * tick / 4;
        fill(image, x - (tick == 4 ? scale : 0), top + height, x + (tick == 4 ? 0 : scale),
             top + height + unit / 2, ink);
        const std::string label = fmt::format("{:.4g}", legend.low + (legend.high - legend.low) * tick / 4);
        const int width = text_width(label, scale);
        draw_text(image, std::clamp(x - width / 2, left - unit, left + bar + unit - width),
                  top + height + unit / 2 + scale, label, ink, scale);
    }
}

}  // namespace flotsam

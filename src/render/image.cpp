#include "render/image.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/check.h"

namespace flotsam {

namespace {

float shown(float light) {
    return light <= 0.0031308f ? 12.92f * light : 1.055f * std::pow(light, 1 / 2.4f) - 0.055f;
}

float lit(float value) {
    return value <= 0.04045f ? value / 12.92f : std::pow((value + 0.055f) / 1.055f, 2.4f);
}

// Hable's curve, scaled so that white paper in the light stays white: bright water keeps its colour instead
// of burning out.
float rolled_off(float light) {
    const auto curve = [](float x) {
        return (x * (0.22f * x + 0.03f) + 0.002f) / (x * (0.22f * x + 0.30f) + 0.06f) - 0.002f / 0.06f;
    };
    constexpr float white = 6.0f;  // this much light is shown as pure white
    const float soft = std::min(1.0f, curve(1.9f * std::max(light, 0.0f)) / curve(white));
    // The curve alone looks like haze: a little more contrast about the middle.
    return soft + 0.45f * (soft * soft * (3 - 2 * soft) - soft);
}

}  // namespace

Color light_of(Color c) { return {lit(c.x), lit(c.y), lit(c.z)}; }

void expose(Image& image) {
    for (Color& pixel : image.pixels) pixel = {rolled_off(pixel.x), rolled_off(pixel.y), rolled_off(pixel.z)};
}

Picture develop(const Image& image) {
    Picture picture{image.width, image.height, std::vector<std::uint8_t>(image.pixels.size() * 3)};
    for (std::size_t n = 0; n < image.pixels.size(); ++n)
        for (int c = 0; c < 3; ++c) {
            const float value = shown(std::clamp(image.pixels[n][c], 0.0f, 1.0f));
            picture.bytes[3 * n + c] = std::uint8_t(std::lround(255 * value));
        }
    return picture;
}

namespace {

// Means over blocks of 4 x 4 pixels, each weighted like brightness and two opposed colours.
std::vector<Vec3f> blurred(const Picture& picture, int& columns, int& rows) {
    constexpr int block = 4;
    columns = (picture.width + block - 1) / block;
    rows = (picture.height + block - 1) / block;
    std::vector<Vec3f> means(std::size_t(columns) * rows);
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column) {
            Vec3f sum;
            int count = 0;
            for (int y = row * block; y < std::min((row + 1) * block, picture.height); ++y)
                for (int x = column * block; x < std::min((column + 1) * block, picture.width);
                     ++x, ++count) {
                    const std::uint8_t* p = &picture.bytes[3 * (std::size_t(y) * picture.width + x)];
                    const float r = p[0] / 255.0f, g = p[1] / 255.0f, b = p[2] / 255.0f;
                    sum += {0.30f * r + 0.59f * g + 0.11f * b, 0.5f * (r - g), 0.5f * (0.5f * (r + g) - b)};
                }
            means[std::size_t(row) * columns + column] = sum / float(count);
        }
    return means;
}

}  // namespace

PictureDifference difference(const Picture& a, const Picture& b) {
    FLOTSAM_CHECK(a.width == b.width && a.height == b.height, a.width, b.width);
    int columns = 0, rows = 0;
    const std::vector<Vec3f> of_a = blurred(a, columns, rows), of_b = blurred(b, columns, rows);
    PictureDifference result;
    std::array<double, 16> part{};
    std::array<int, 16> count{};
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column) {
            const std::size_t n = std::size_t(row) * columns + column;
            const double d = length(of_a[n] - of_b[n]);
            const int where = 4 * (4 * row / rows) + 4 * column / columns;
            part[where] += d;
            ++count[where];
            result.mean += d / double(of_a.size());
        }
    for (int n = 0; n < 16; ++n)
        if (count[n] > 0) result.worst = std::max(result.worst, part[n] / count[n]);
    return result;
}

}  // namespace flotsam

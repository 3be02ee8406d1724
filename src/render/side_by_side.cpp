#include "render/side_by_side.h"

#include <algorithm>

#include "core/check.h"
#include "render/color_map.h"

namespace flotsam {

Picture side_by_side(const std::vector<Picture>& pictures, const std::vector<std::string>& labels) {
    FLOTSAM_CHECK(!pictures.empty() && pictures.size() == labels.size());
    const int width = pictures[0].width, height = pictures[0].height, columns = int(pictures.size());
    const int scale = text_scale(Image(width, height)), bar = 14 * scale;
    Image title(width * columns, bar, {1, 1, 1});
    for (int n = 0; n < columns; ++n)
        draw_text(title, n * width + (width - text_width(labels[n], scale)) / 2, 4 * scale, labels[n],
                  light_of({0.10f, 0.11f, 0.13f}), scale);
    Picture all = develop(title);
    all.height = bar + height;
    all.bytes.resize(std::size_t(all.width) * all.height * 3);
    for (int n = 0; n < columns; ++n) {
        const Picture& one = pictures[n];
        FLOTSAM_CHECK(one.width == width && one.height == height, one.width, width);
        for (int y = 0; y < height; ++y)
            std::copy_n(one.bytes.begin() + std::ptrdiff_t(3) * y * width, 3 * width,
                        all.bytes.begin() + std::ptrdiff_t(3) * ((bar + y) * all.width + n * width));
    }
    return all;
}

}  // namespace flotsam

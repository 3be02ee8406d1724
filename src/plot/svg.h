// SVG, written by hand: the few elements that charts are made of.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace flotsam {

struct PlotPoint {
    double x, y;
};

// Any bytes as text that XML accepts: markup is escaped, what is not UTF-8 or not printable is replaced.
std::string xml_text(std::string_view text);

// About how wide a text will be. No font is asked: the reader's machine decides which one it is.
double text_width(std::string_view text, double size);

struct Stroke {
    std::string_view color;
    double width = 1;
    std::string_view dashes = {};  // "4 3"; empty for a solid line
};

enum class Anchor { start, middle, end };
struct TextStyle {
    double size = 12;
    std::string_view color = "#222222";
    Anchor anchor = Anchor::start;
    bool bold = false;
};

class Svg {
  public:
    Svg(double width, double height, std::string_view title);

    void line(PlotPoint from, PlotPoint to, Stroke stroke);
    void polyline(std::span<const PlotPoint> points, Stroke stroke);
    void polygon(std::span<const PlotPoint> points, std::string_view fill);
    void rect(PlotPoint corner, double width, double height, std::string_view fill);
    void circle(PlotPoint center, double radius, std::string_view fill, Stroke stroke = {"none"});

    void text(PlotPoint baseline, std::string_view text, TextStyle style);

    std::string finish() const { return body_ + "</svg>\n"; }

  private:
    std::string body_;
};

}  // namespace flotsam

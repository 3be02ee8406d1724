#include "plot/svg.h"

#include <fmt/format.h>

#include <iterator>

namespace flotsam {

namespace {

// Length in bytes of the UTF-8 character at the front of `text`; 0 when there is none.
std::size_t utf8_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    std::size_t length = 1;
    if (lead >= 0x80) length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    const bool no_lead = (lead >= 0x80 && lead < 0xc2) || lead > 0xf4;
    if (no_lead || length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xc0) != 0x80) return 0;
    // Too long a form of a shorter code, half of a surrogate pair, beyond the last code, and the two codes
    // that XML forbids.
    if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) > 0x9f)) return 0;
    if ((lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) > 0x8f)) return 0;
    if (lead == 0xef && byte(1) == 0xbf && byte(2) >= 0xbe) return 0;
    return length;
}

std::string coordinates(std::span<const PlotPoint> points) {
    // A tenth of a pixel is finer than anyone sees, and keeps files small.
    fmt::memory_buffer text;
    for (const PlotPoint& p : points) fmt::format_to(std::back_inserter(text), "{:.1f},{:.1f} ", p.x, p.y);
    return {text.data(), text.size() - (points.empty() ? 0 : 1)};
}

std::string attributes(const Stroke& stroke) {
    return fmt::format("stroke=\"{}\" stroke-width=\"{}\"{}", stroke.color, stroke.width,
                       stroke.dashes.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", stroke.dashes));
}

}  // namespace

std::string xml_text(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        const char c = text.front();
        if (length == 0 || (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n') || c == 0x7f)
            result += "\xef\xbf\xbd";  // U+FFFD, the replacement character
        else if (c == '&')
            result += "&amp;";
        else if (c == '<')
            result += "&lt;";
        else if (c == '>')
            result += "&gt;";
        else if (c == '"')
            result += "&quot;";
        else
            result += text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return result;
}

double text_width(std::string_view text, double size) {
    double width = 0;  // in units of the font's size, as in Helvetica and a little more
    for (const char c : text) {
        if ((static_cast<unsigned char>(c) & 0xc0) == 0x80) continue;  // counted with its first byte
        if (std::string_view("ijl.,:;'|!()[] tfr/").find(c) != std::string_view::npos)
            width += 0.36;
        else if (std::string_view("mwMW%").find(c) != std::string_view::npos)
            width += 0.9;
        else
            width += c >= 'A' && c <= 'Z' ? 0.72 : 0.6;
    }
    return width * size;
}

Svg::Svg(double width, double height, std::string_view title) {
    body_ = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 "
        "{0:.0f} "
        "{1:.0f}\" role=\"img\" font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', "
        "sans-serif\">\n<title>{2}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        width, height, xml_text(title));
}

void Svg::line(PlotPoint from, PlotPoint to, Stroke stroke) {
    body_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", from.x,
                         from.y, to.x, to.y, attributes(stroke));
}

void Svg::polyline(std::span<const PlotPoint> points, Stroke stroke) {
    body_ += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke-linejoin=\"round\" {}/>\n",
                         coordinates(points), attributes(stroke));
}

void Svg::polygon(std::span<const PlotPoint> points, std::string_view fill) {
    body_ += fmt::format("<polygon points=\"{}\" fill=\"{}\"/>\n", coordinates(points), fill);
}

void Svg::rect(PlotPoint corner, double width, double height, std::string_view fill) {
    body_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
                         corner.x, corner.y, width, height, fill);
}

void Svg::circle(PlotPoint center, double radius, std::string_view fill, Stroke stroke) {
    body_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\" {}/>\n", center.x,
                         center.y, radius, fill, attributes(stroke));
}

void Svg::text(PlotPoint baseline, std::string_view text, TextStyle style) {
    const char* anchor = style.anchor == Anchor::start    ? ""
                         : style.anchor == Anchor::middle ? " text-anchor=\"middle\""
                                                          : " text-anchor=\"end\"";
    body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" fill=\"{}\"{}{}>{}</text>\n",
                         baseline.x, baseline.y, style.size, style.color, anchor,
                         style.bold ? " font-weight=\"bold\"" : "", xml_text(text));
}

}  // namespace flotsam

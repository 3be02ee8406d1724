#include "plot/chart.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "core/check.h"
#include "plot/axis.h"
#include "plot/decimate.h"

namespace flotsam {

namespace {

constexpr double chart_width = 760, chart_height = 380;
constexpr double left = 68, top = 84, bottom = chart_height - 52;
constexpr double label_size = 12, label_spacing = 16, label_gap = 22;  // labels right of the curves
constexpr std::string_view dark = "#222222", soft = "#666666", grid = "#e4e4e4", frame = "#888888";

// The smallest and the largest of many values, leaving out what is not finite.
struct Extent {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    void add(double value) {
        if (!std::isfinite(value)) return;
        low = std::min(low, value), high = std::max(high, value);
    }
    bool empty() const { return low > high; }
};

// Bands of a stack that are wider than a step hold the mean of the steps in them: areas stay true.
constexpr int most_bins = 320;
std::vector<Curve> stacked_up(const std::vector<Curve>& curves) {
    const std::size_t rows = curves.front().points.size();
    const std::size_t bins = std::min<std::size_t>(rows, most_bins);
    std::vector<Curve> stacked;
    std::vector<double> below(bins, 0);
    for (const Curve& curve : curves) {
        FLOTSAM_CHECK(curve.points.size() == rows, curve.points.size(), rows);
        Curve& result = stacked.emplace_back(Curve{curve.name, {}});
        for (std::size_t bin = 0; bin < bins; ++bin) {
            const std::size_t begin = bin * rows / bins, end = (bin + 1) * rows / bins;
            double x = 0, y = 0;
            for (std::size_t row = begin; row < end; ++row) {
                x += curve.points[row].x;
                if (std::isfinite(curve.points[row].y)) y += curve.points[row].y;
            }
            below[bin] += y / double(end - begin);
            result.points.push_back({x / double(end - begin), below[bin]});
        }
    }
    return stacked;
}

// The sum of all curves, step by step: what no bin may hide.
std::vector<PlotPoint> total_of(const std::vector<Curve>& curves) {
    std::vector<PlotPoint> total = curves.front().points;
    for (PlotPoint& p : total) p.y = 0;
    for (const Curve& curve : curves)
        for (std::size_t i = 0; i < total.size(); ++i)
            if (std::isfinite(curve.points[i].y)) total[i].y += curve.points[i].y;
    return total;
}

class Drawing {
  public:
    explicit Drawing(const Chart& chart) : chart_(chart), svg_(chart_width, chart_height, chart.title) {
        FLOTSAM_CHECK(chart.curves.size() <= most_curves, chart.curves.size(), most_curves);
        double widest = 0;
        for (const Curve& curve : chart.curves)
            widest = std::max(widest, text_width(label_of(curve), label_size));
        right_ = chart_width - std::max(24.0, widest + label_gap + 10);
        right_ = std::max(right_, 0.55 * chart_width);  // names longer than that are cut off at the edge
    }

    std::string draw() {
        svg_.text({16, 26}, chart_.title, {.size = 17, .color = dark, .bold = true});
        svg_.text({16, 46}, chart_.note, {.size = 12.5, .color = soft});
        if (!place_axes()) {
            svg_.text({chart_width / 2, chart_height / 2}, "no values yet",
                      {.size = 15, .color = soft, .anchor = Anchor::middle});
            return svg_.finish();
        }
        draw_axes();
        chart_.kind == Chart::Kind::stacked ? draw_stack() : draw_curves();
        draw_labels();
        return svg_.finish();
    }

  private:
    struct Label {
        std::size_t curve;
        double from, y;  // where the curve ends, and where its name stands
    };

    bool shown(double y) const {
        return std::isfinite(y) && (chart_.kind != Chart::Kind::logarithmic || y > 0);
    }
    std::string label_of(const Curve& curve) const {
        const bool any = std::any_of(curve.points.begin(), curve.points.end(),
                                     [&](const PlotPoint& p) { return shown(p.y); });
        return any || curve.name.empty() ? curve.name : curve.name + " (no values)";
    }
    PlotPoint place(const PlotPoint& p) const {
        return {left + x_.share(p.x) * (right_ - left), bottom - y_.share(p.y) * (bottom - top)};
    }

    bool place_axes() {
        const bool stacked = chart_.kind == Chart::Kind::stacked;
        Extent x, y;
        for (const Curve& curve : chart_.curves)
            for (const PlotPoint& p : curve.points)
                if (shown(p.y)) x.add(p.x), y.add(p.y);
        if (stacked && !x.empty())
            for (const PlotPoint& p : total_of(chart_.curves)) y.add(p.y);
        if (x.empty()) return false;
        if (stacked || chart_.kind == Chart::Kind::from_zero) y.add(0);
        // The audit begins with the end of the first step; the axis begins with the start.
        if (x.low > 0 && x.low < 0.1 * x.high) x.low = 0;
        x_ = linear_axis(x.low, x.high, 9, false);
        y_ = chart_.kind == Chart::Kind::logarithmic ? log_axis(y.low, y.high, 7)
                                                     : linear_axis(y.low, y.high, 8, true);
        return true;
    }

    void draw_axes() {
        for (const Tick& tick : y_.ticks) {
            const double y = place({x_.low, tick.value}).y;
            const bool zero = tick.value == 0 && y_.low < 0;
            svg_.line({left, y}, {right_, y}, {zero ? frame : grid, 1});
            svg_.text({left - 8, y + 4}, tick.label, {.size = 12, .color = soft, .anchor = Anchor::end});
        }
        svg_.line({left, bottom}, {right_, bottom}, {frame, 1});
        for (const Tick& tick : x_.ticks) {
            const double x = place({tick.value, y_.low}).x;
            svg_.line({x, bottom}, {x, bottom + 5}, {frame, 1});
            svg_.text({x, bottom + 19}, tick.label, {.size = 12, .color = soft, .anchor = Anchor::middle});
        }
        svg_.text({(left + right_) / 2, bottom + 40}, x_.name(chart_.x_quantity, chart_.x_unit),
                  {.size = 12.5, .color = dark, .anchor = Anchor::middle});
        // Level and above its axis: no head must be turned to read it.
        svg_.text({16, top - 14}, y_.name(chart_.y_quantity, chart_.y_unit), {.size = 12.5, .color = dark});
    }

    void draw_line(std::span<const PlotPoint> points, Stroke stroke) {
        std::vector<PlotPoint> visible(points.begin(), points.end());
        for (PlotPoint& p : visible)
            if (!shown(p.y)) p.y = std::numeric_limits<double>::quiet_NaN();
        for (const std::vector<PlotPoint>& piece : finite_pieces(visible)) {
            std::vector<PlotPoint> kept = decimate(piece, x_.low, x_.high, int(right_ - left));
            for (PlotPoint& p : kept) p = place(p);
            // A value between two gaps would be a line without length.
            if (kept.size() == 1)
                svg_.circle(kept.front(), 1.5 * stroke.width, stroke.color);
            else
                svg_.polyline(kept, stroke);
        }
    }

    void draw_curves() {
        // The first curve is the most important one, and lies on top.
        for (std::size_t n = chart_.curves.size(); n-- > 0;) {
            const Curve& curve = chart_.curves[n];
            if (curve.kind == Curve::Kind::line) {
                draw_line(curve.points, {plot_colors[n], 1.8});
            } else {
                for (const PlotPoint& p : curve.points)
                    if (shown(p.y)) svg_.circle(place(p), 4, "#ffffff", {plot_colors[n], 1.8});
            }
            const auto last = std::find_if(curve.points.rbegin(), curve.points.rend(),
                                           [&](const PlotPoint& p) { return shown(p.y); });
            const double y = last == curve.points.rend() ? bottom : place(*last).y;
            labels_.push_back({n, y, y});
        }
    }

    void draw_stack() {
        const std::vector<Curve> stacked = stacked_up(chart_.curves);
        std::vector<PlotPoint> lower;
        for (const PlotPoint& p : stacked.front().points) lower.push_back(place({p.x, 0}));
        for (std::size_t n = 0; n < stacked.size(); ++n) {
            std::vector<PlotPoint> upper;
            for (const PlotPoint& p : stacked[n].points) upper.push_back(place(p));
            const double middle = (upper.back().y + lower.back().y) / 2;
            labels_.push_back({n, middle, middle});
            std::vector<PlotPoint> band = upper;
            band.insert(band.end(), lower.rbegin(), lower.rend());
            svg_.polygon(band, plot_colors[n]);
            if (n > 0) svg_.polyline(lower, {"#ffffff", 0.5});
            lower = std::move(upper);
        }
        draw_line(total_of(chart_.curves), {dark, 0.7});
    }

    // Names stand beside the ends of their curves, moved apart where they would overlap.
    void draw_labels() {
        std::sort(labels_.begin(), labels_.end(), [](const Label& a, const Label& b) {
            return std::pair(a.y, a.curve) < std::pair(b.y, b.curve);
        });
        for (std::size_t i = 1; i < labels_.size(); ++i)
            labels_[i].y = std::max(labels_[i].y, labels_[i - 1].y + label_spacing);
        double limit = bottom;
        for (std::size_t i = labels_.size(); i-- > 0; limit -= label_spacing)
            labels_[i].y = std::min(labels_[i].y, limit);
        for (const Label& label : labels_) {
            if (chart_.curves[label.curve].name.empty()) continue;
            const std::string_view color = plot_colors[label.curve];
            const Curve& curve = chart_.curves[label.curve];
            if (curve.kind == Curve::Kind::dots)
                svg_.circle({right_ + label_gap - 9, label.y}, 4, "#ffffff", {color, 1.8});
            else
                svg_.line({right_ + 3, label.from}, {right_ + label_gap - 4, label.y}, {color, 2.4});
            svg_.text({right_ + label_gap, label.y + 4}, label_of(curve),
                      {.size = label_size, .color = dark});
        }
    }

    const Chart& chart_;
    Svg svg_;
    double right_;
    Axis x_, y_;
    std::vector<Label> labels_;
};

}  // namespace

std::string svg_of(const Chart& chart) { return Drawing(chart).draw(); }

}  // namespace flotsam

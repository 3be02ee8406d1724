#include "plot/score_chart.h"

#include <algorithm>
#include <cmath>

#include "plot/axis.h"
#include "plot/svg.h"

namespace flotsam {

namespace {

constexpr double row_height = 20, group_height = 34, plot_width = 300, top = 96, size = 12;
constexpr std::string_view dark = "#222222", soft = "#666666", faint = "#eeeeee", frame = "#888888";
constexpr std::string_view pass_color = "#0072b2", fail_color = "#d55e00", neutral_color = "#555555";

std::string_view color_of(ScoreRow::Verdict verdict) {
    return verdict == ScoreRow::Verdict::pass   ? pass_color
           : verdict == ScoreRow::Verdict::fail ? fail_color
                                                : neutral_color;
}

std::string_view text_of(ScoreRow::Verdict verdict) {
    return verdict == ScoreRow::Verdict::pass   ? "pass"
           : verdict == ScoreRow::Verdict::fail ? "FAIL"
                                                : "known";
}

// A disc is good, a cross is not, and a grey one is known not to be: the colour only repeats it.
void draw_mark(Svg& svg, PlotPoint at, ScoreRow::Verdict verdict) {
    if (verdict == ScoreRow::Verdict::fail || verdict == ScoreRow::Verdict::known) {
        svg.line({at.x - 5, at.y - 5}, {at.x + 5, at.y + 5}, {color_of(verdict), 2.6});
        svg.line({at.x - 5, at.y + 5}, {at.x + 5, at.y - 5}, {color_of(verdict), 2.6});
    } else {
        svg.circle(at, 4.5, color_of(verdict));
    }
}

Axis axis_of(const ScoreChart& chart) {
    if (!chart.logarithmic) {
        Axis axis = linear_axis(0, 2, 5, false);
        for (Tick& tick : axis.ticks) tick.label = number_text(100 * tick.value) + " %";
        return axis;
    }
    double low = 1, high = 1;
    for (const ScoreRow& row : chart.rows)
        if (std::isfinite(row.share) && row.share > 0)
            low = std::min(low, row.share), high = std::max(high, row.share);
    return log_axis(low, high, 6);
}

double widest(const std::vector<ScoreRow>& rows, std::string ScoreRow::*text) {
    double width = 0;
    for (const ScoreRow& row : rows) width = std::max(width, text_width(row.*text, size));
    return width;
}

}  // namespace

std::string svg_of(const ScoreChart& chart) {
    double height = top;
    for (std::size_t i = 0; i < chart.rows.size(); ++i)
        height += row_height + (i == 0 || chart.rows[i].group != chart.rows[i - 1].group ? group_height : 0);
    const double bottom = height + 6;
    const double left = 44 + widest(chart.rows, &ScoreRow::label), right = left + plot_width;
    const double numbers = right + 24;
    Svg svg(std::max(640.0, numbers + widest(chart.rows, &ScoreRow::numbers) + 76), bottom + 56, chart.title);
    svg.text({16, 26}, chart.title, {.size = 17, .color = dark, .bold = true});
    svg.text({16, 46}, chart.note, {.size = 12.5, .color = soft});

    const Axis axis = axis_of(chart);
    const auto place = [&](double share) { return left + axis.share(share) * plot_width; };
    for (const Tick& tick : axis.ticks) {
        svg.line({place(tick.value), top}, {place(tick.value), bottom}, {faint, 1});
        svg.text({place(tick.value), bottom + 18}, tick.label,
                 {.size = size, .color = soft, .anchor = Anchor::middle});
    }
    svg.line({left, bottom}, {right, bottom}, {frame, 1});
    svg.text({(left + right) / 2, bottom + 40}, chart.axis,
             {.size = 12.5, .color = dark, .anchor = Anchor::middle});
    svg.line({place(1), top - 6}, {place(1), bottom}, {dark, 1.4, "5 3"});
    svg.text({place(1), top - 12}, chart.line, {.size = size, .color = dark, .anchor = Anchor::middle});

    double y = top;
    const std::string* group = nullptr;
    for (const ScoreRow& row : chart.rows) {
        if (!group || *group != row.group) {
            svg.text({16, y + group_height - 10}, row.group, {.size = 13, .color = dark, .bold = true});
            y += group_height;
            group = &row.group;
        }
        const double middle = y + row_height / 2;
        svg.text({28, middle + 4}, row.label, {.size = size, .color = dark});
        svg.text({numbers, middle + 4}, row.numbers, {.size = size, .color = soft});
        const double numbers_end = numbers + widest(chart.rows, &ScoreRow::numbers) + 12;
        if (row.verdict != ScoreRow::Verdict::none)
            svg.text({numbers_end, middle + 4}, text_of(row.verdict),
                     {.size = size,
                      .color = color_of(row.verdict),
                      .bold = row.verdict == ScoreRow::Verdict::fail});
        y += row_height;
        // On a logarithmic axis nothing is at zero.
        if (std::isnan(row.share) || (chart.logarithmic && row.share <= 0)) continue;
        const double at = place(std::min(row.share, axis.high));
        const double from = place(chart.logarithmic ? 1 : 0);
        svg.line({from, middle}, {at, middle}, {color_of(row.verdict), 1.6});
        draw_mark(svg, {at, middle}, row.verdict);
        if (row.share > axis.high) {
            const PlotPoint head[] = {{at + 8, middle - 5}, {at + 16, middle}, {at + 8, middle + 5}};
            svg.polygon(head, color_of(row.verdict));
        }
    }
    return svg.finish();
}

}  // namespace flotsam

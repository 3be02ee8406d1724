#include "plot/validation_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "plot/axis.h"
#include "plot/chart.h"
#include "plot/score_chart.h"

namespace flotsam {

namespace {

ScoreRow score_of(const ValidationRow& row, bool with_method) {
    ScoreRow score;
    score.group = with_method ? fmt::format("{} ({})", row.name, row.method) : row.name;
    score.label = fmt::format("{}{}{}, {} cells", row.variant, row.variant.empty() ? "" : ": ",
                              unit_text(row.quantity), row.resolution);
    const RowVerdict verdict = row.verdict();
    score.verdict = verdict == RowVerdict::pass    ? ScoreRow::Verdict::pass
                    : verdict == RowVerdict::known ? ScoreRow::Verdict::known
                                                   : ScoreRow::Verdict::fail;
    if (row.order) {  // the higher the better: it has no tolerance to be drawn against
        score.share = std::numeric_limits<double>::quiet_NaN();
        score.numbers =
            fmt::format("{}, must be above {}", number_text(row.value), number_text(row.reference));
        return score;
    }
    // Where nothing is allowed, nothing is well within the limit and anything is far beyond it.
    score.share = row.error_percent() == 0 ? 0 : row.error_percent() / row.tolerance_percent;
    score.numbers =
        row.reference == 0
            ? fmt::format("{}, at most {}", number_text(row.value), number_text(row.tolerance_percent / 100))
            : fmt::format("{} for {} (± {} %)", number_text(row.value), number_text(row.reference),
                          number_text(row.tolerance_percent));
    return score;
}

// Curves of one case and title share a chart: every method and resolution, and the reference once.
struct Comparison {
    std::string name;
    Chart chart;
};

void add(std::vector<Comparison>& comparisons, const ValidationCurve& curve, bool with_method) {
    const auto curve_of = [](std::string name, const std::vector<std::array<double, 2>>& points,
                             Curve::Kind kind) {
        Curve result{std::move(name), {}, kind};
        for (const auto& [x, y] : points) result.points.push_back({x, y});
        return result;
    };
    auto at = std::find_if(comparisons.begin(), comparisons.end(), [&](const Comparison& c) {
        return c.name == curve.name && c.chart.title == curve.title;
    });
    if (at == comparisons.end()) {
        Chart chart;
        chart.title = curve.title;
        chart.note = fmt::format("case {}: {}", curve.name,
                                 curve.exact ? "measured points and the exact curve"
                                             : "measured curves and the reference's points");
        chart.x_quantity = curve.x_quantity, chart.x_unit = curve.x_unit;
        chart.y_quantity = curve.y_quantity, chart.y_unit = curve.y_unit;
        chart.curves.push_back(curve_of(curve.reference_name, curve.reference,
                                        curve.exact ? Curve::Kind::line : Curve::Kind::dots));
        comparisons.push_back({curve.name, chart});
        at = comparisons.end() - 1;
    }
    if (at->chart.curves.size() == most_curves) return;  // no colour is left for more methods
    at->chart.curves.push_back(
        curve_of(fmt::format("{}{} cells", with_method ? curve.method + ", " : "", curve.resolution),
                 curve.measured, curve.exact ? Curve::Kind::dots : Curve::Kind::line));
}

}  // namespace

std::vector<ChartFile> validation_pictures(const std::vector<ValidationRow>& rows,
                                           const std::vector<ValidationCurve>& curves) {
    const bool several_methods = std::any_of(rows.begin(), rows.end(), [&](const ValidationRow& row) {
        return row.method != rows.front().method;
    });
    ScoreChart scores{.title = "Measured against reference",
                      .axis = "error as a share of its tolerance",
                      .line = "tolerance"};
    std::map<ScoreRow::Verdict, int> count;
    for (const ValidationRow& row : rows) {
        scores.rows.push_back(score_of(row, several_methods));
        ++count[scores.rows.back().verdict];
    }
    scores.note = fmt::format("{} passed, {} failed, {} known to fail", count[ScoreRow::Verdict::pass],
                              count[ScoreRow::Verdict::fail], count[ScoreRow::Verdict::known]);
    if (!rows.empty() && !several_methods) scores.note += fmt::format("; method {}", rows.front().method);

    std::vector<ChartFile> pictures{{"scores.svg", scores.title, svg_of(scores)}};
    std::vector<Comparison> comparisons;
    for (const ValidationCurve& curve : curves) add(comparisons, curve, several_methods);
    for (std::size_t n = 0; n < comparisons.size(); ++n)
        pictures.push_back({fmt::format("{}_{}.svg", file_name_of(comparisons[n].name), n + 1),
                            comparisons[n].chart.title, svg_of(comparisons[n].chart)});
    return pictures;
}

}  // namespace flotsam

// Curves, their decimation, and the SVG that charts become.
#include "plot/chart.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/random.h"
#include "plot/decimate.h"
#include "plot/score_chart.h"
#include "tests/xml_checker.h"

using namespace flotsam;

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

std::vector<PlotPoint> noise(int count) {
    std::vector<PlotPoint> points(count);
    for (int i = 0; i < count; ++i) points[i] = {i / double(count), uniform(combine(std::uint64_t(i), 7))};
    return points;
}

int count_of(const std::string& text, const std::string& part) {
    int count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

Chart chart_of(std::vector<Curve> curves, Chart::Kind kind = Chart::Kind::linear) {
    Chart chart;
    chart.title = "A <title> & \"more\"";
    chart.y_quantity = "volume", chart.y_unit = "m^3";
    chart.curves = std::move(curves);
    chart.kind = kind;
    return chart;
}

}  // namespace

TEST_CASE("decimation keeps every column's extremes, the ends, and the order") {
    std::vector<PlotPoint> points = noise(100000);
    points[31234].y = 50;  // one step of a long run
    points[31235].y = -40;
    constexpr int columns = 600;
    const std::vector<PlotPoint> kept = decimate(points, 0, 1, columns);
    CHECK(kept.size() <= 4 * columns);
    CHECK(kept.size() > 2 * columns);
    CHECK(kept.front().x == points.front().x);
    CHECK(kept.back().x == points.back().x);
    CHECK(std::is_sorted(kept.begin(), kept.end(), [](PlotPoint a, PlotPoint b) { return a.x < b.x; }));
    const auto extremes = [&](const std::vector<PlotPoint>& all, int column) {
        double low = 1e9, high = -1e9;
        for (const PlotPoint& p : all)
            if (int(p.x * columns) == column) low = std::min(low, p.y), high = std::max(high, p.y);
        return std::pair(low, high);
    };
    for (const int column : {0, 1, 100, 187, 188, 599})
        CHECK(extremes(kept, column) == extremes(points, column));
    CHECK(std::any_of(kept.begin(), kept.end(), [](PlotPoint p) { return p.y == 50; }));
    CHECK(std::any_of(kept.begin(), kept.end(), [](PlotPoint p) { return p.y == -40; }));
}

TEST_CASE("short curves are kept as they are, also when all points share one x") {
    CHECK(decimate(noise(100), 0, 1, 600).size() == 100);
    std::vector<PlotPoint> upright(5000, {0.5, 1});
    CHECK(decimate(upright, 0.5, 0.5, 100).size() == 5000);
}

TEST_CASE("a curve is cut where a value is missing") {
    const std::vector<PlotPoint> points{{0, 1}, {1, nan_value}, {2, 3}, {3, 4}, {4, INFINITY}, {5, NAN}};
    const auto pieces = finite_pieces(points);
    REQUIRE(pieces.size() == 2);
    CHECK(pieces[0].size() == 1);
    CHECK(pieces[1].size() == 2);
    CHECK(pieces[1][0].x == 2);
    CHECK(finite_pieces(std::vector<PlotPoint>{{0, nan_value}}).empty());
}

TEST_CASE("the checker of XML finds what is wrong") {
    CHECK(xml_problem("<?xml version=\"1.0\"?>\n<a b=\"c\"><d/>text &amp; − </a>\n") == "");
    for (const char* broken : {"<a>", "<a></b>", "<a/><b/>", "<a b=c/>", "<a b=\"1\" b=\"2\"/>", "<a>&</a>",
                               "<a>\x01</a>", "<a>\xff</a>", "text", "<a b=\"<\"/>", ""})
        CHECK_MESSAGE(xml_problem(broken) != "", broken);
}

TEST_CASE("any bytes become text that XML accepts") {
    CHECK(xml_text("a < b & \"c\" > d") == "a &lt; b &amp; &quot;c&quot; &gt; d");
    CHECK(xml_text("m³ −") == "m³ −");
    CHECK(xml_text(std::string("a\0b", 3)) ==
          "a\xef\xbf\xbd"
          "b");
    for (const std::string bytes :
         {"\xff", "\xc3", "\xe2\x82", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\x1b"}) {
        const std::string text = xml_text(bytes);
        CHECK(text.find("\xef\xbf\xbd") == 0);
        CHECK(xml_problem("<a>" + text + "</a>") == "");
    }
}

TEST_CASE("a chart is well-formed and says title, axes, units and names") {
    for (const auto kind :
         {Chart::Kind::linear, Chart::Kind::from_zero, Chart::Kind::logarithmic, Chart::Kind::stacked}) {
        const std::string svg = svg_of(chart_of({{"first <1>", noise(5000)}, {"second", noise(5000)}}, kind));
        CHECK(xml_problem(svg) == "");
        for (const char* text : {"A &lt;title&gt; &amp; &quot;more&quot;", "time [s]", "volume [m³]",
                                 "first &lt;1&gt;", "second"})
            CHECK_MESSAGE(svg.find(text) != std::string::npos, text);
        CHECK(svg.find("nan") == std::string::npos);
        CHECK(svg.size() < 200000);
    }
}

TEST_CASE("a missing value is a gap, and a value between gaps is a dot") {
    const std::string svg =
        svg_of(chart_of({{"a", {{0, 1}, {1, 2}, {2, nan_value}, {3, 5}, {4, nan_value}, {5, 1}, {6, 0}}}}));
    CHECK(count_of(svg, "<polyline") == 2);
    CHECK(count_of(svg, "<circle") == 1);
    CHECK(svg.find("nan") == std::string::npos);
}

TEST_CASE("charts without values, with one value and with a constant are charts") {
    const std::string nothing = svg_of(chart_of({{"a", {}}, {"b", {{0, nan_value}}}}));
    CHECK(xml_problem(nothing) == "");
    CHECK(nothing.find("no values yet") != std::string::npos);
    CHECK(svg_of(chart_of({{"a", {{0, -1}, {1, 0}}}}, Chart::Kind::logarithmic)).find("no values yet") !=
          std::string::npos);
    CHECK(svg_of(chart_of({{"a", {}}}, Chart::Kind::stacked)).find("no values yet") != std::string::npos);

    const std::string half = svg_of(chart_of({{"a", {{0, 1}, {1, 2}}}, {"b", {{0, nan_value}}}}));
    CHECK(half.find("b (no values)") != std::string::npos);
    for (const auto kind : {Chart::Kind::linear, Chart::Kind::logarithmic, Chart::Kind::stacked})
        for (const std::vector<PlotPoint>& points :
             {std::vector<PlotPoint>{{0.5, 3}}, std::vector<PlotPoint>{{0, 3}, {1, 3}, {2, 3}}}) {
            const std::string svg = svg_of(chart_of({{"a", points}}, kind));
            CHECK(xml_problem(svg) == "");
            CHECK(svg.find("nan") == std::string::npos);
            CHECK(svg.find("inf") == std::string::npos);
        }
}

TEST_CASE("names beside curves that end together do not overlap") {
    std::vector<Curve> curves(most_curves);
    for (int n = 0; n < int(most_curves); ++n)
        curves[n] = {"name" + std::to_string(n), {{0, 0.01 * n}, {1, 1}, {2, n == 0 ? 1.5 : 1}}};
    const std::string svg = svg_of(chart_of(curves));
    std::vector<double> heights;
    for (std::size_t at = 0; (at = svg.find("<text ", at)) != std::string::npos; ++at) {
        const std::string element = svg.substr(at, svg.find("</text>", at) - at);
        if (element.find(">name") == std::string::npos) continue;
        heights.push_back(std::stod(element.substr(element.find(" y=\"") + 4)));
    }
    std::sort(heights.begin(), heights.end());
    REQUIRE(heights.size() == most_curves);
    for (std::size_t i = 1; i < heights.size(); ++i) CHECK(heights[i] - heights[i - 1] >= 12);
}

TEST_CASE("the whole of a stack is drawn step by step, whatever its bands average") {
    std::vector<Curve> curves{{"a", noise(20000)}, {"b", noise(20000)}};
    curves[0].points[7777].y = 1000;
    curves[1].points[7777].y = 1000;
    const std::string svg = svg_of(chart_of(curves, Chart::Kind::stacked));
    CHECK(svg.find(">2000<") != std::string::npos);  // the axis reaches the spike of the sum
    // The highest point of the line is near the top of the plot; the bands alone would stay far below.
    const std::size_t line = svg.rfind("<polyline");
    double highest = 1e9;
    for (std::size_t at = svg.find(',', line); at < svg.find("\" fill", line); at = svg.find(',', at + 1))
        highest = std::min(highest, std::stod(svg.substr(at + 1)));
    CHECK(highest < 120);
}

TEST_CASE("rows against a limit: marks by verdict, an arrow beyond the axis, nothing where nothing is") {
    using Verdict = ScoreRow::Verdict;
    ScoreChart chart{.title = "Scores", .axis = "share", .line = "tolerance"};
    chart.rows = {{"group & co", "good", 0.5, "0.5 of 1", Verdict::pass}};
    const std::string good = svg_of(chart);
    chart.rows[0] = {"group & co", "bad", 1.5, "1.5 of 1", Verdict::fail};
    const std::string bad = svg_of(chart);
    chart.rows[0].share = INFINITY;
    const std::string far = svg_of(chart);
    chart.rows[0].share = nan_value;
    const std::string none = svg_of(chart);
    for (const std::string* svg : {&good, &bad, &far, &none}) {
        CHECK(xml_problem(*svg) == "");
        CHECK(svg->find("nan") == std::string::npos);
        CHECK(svg->find("inf") == std::string::npos);
    }
    CHECK(count_of(good, "<circle") == 1);
    CHECK(count_of(bad, "<circle") == 0);
    CHECK(good.find(">pass<") != std::string::npos);
    CHECK(bad.find(">FAIL<") != std::string::npos);
    CHECK(count_of(bad, "<polygon") == 0);
    CHECK(count_of(far, "<polygon") == 1);
    CHECK(count_of(bad, "<line") == count_of(none, "<line") + 3);  // a stem and the cross
    chart.logarithmic = true;
    chart.rows = {{"g", "zero", 0, "", Verdict::none}, {"g", "more", 20, "", Verdict::none}};
    CHECK(xml_problem(svg_of(chart)) == "");
    CHECK(count_of(svg_of(chart), "<circle") == 1);
}

TEST_CASE("the bands of a stack reach as high as the line of their sum, however many steps share a band") {
    // 3200 steps in 320 bands, all alike: the uppermost band ends at the line.
    std::vector<PlotPoint> points;
    points.reserve(3200);
    for (int i = 0; i < 3200; ++i) points.push_back({i / 3200.0, 1});
    const std::string svg = svg_of(chart_of({{"a", points}, {"b", points}}, Chart::Kind::stacked));
    const auto highest_after = [&](std::size_t at) {
        double highest = 1e9;
        const std::size_t end = svg.find('"', svg.find("points=\"", at) + 8);
        for (std::size_t comma = svg.find(',', svg.find("points=\"", at)); comma < end;
             comma = svg.find(',', comma + 1))
            highest = std::min(highest, std::stod(svg.substr(comma + 1)));
        return highest;
    };
    const double line = highest_after(svg.rfind("<polyline")), band = highest_after(svg.rfind("<polygon"));
    CHECK(line > 84);  // within the plot
    CHECK(line < 200);
    CHECK(std::abs(band - line) < 0.2);
}

// A table as a chart: one row per measured quantity, a mark where it lies against its limit or reference.
#pragma once

#include <string>
#include <vector>

namespace flotsam {

struct ScoreRow {
    std::string group, label;  // rows of one group stand together, under its name
    double share;              // of the limit or the reference; NaN when there is none
    std::string numbers;       // what was measured, as text at the right
    enum class Verdict { none, pass, fail, known } verdict = Verdict::none;
};

struct ScoreChart {
    std::string title = {}, note = {};
    std::string axis;          // what the shares are, in words
    std::string line;          // what lies at a share of 1: "tolerance"
    bool logarithmic = false;  // otherwise from 0 to 2, and what is beyond is drawn as an arrow
    std::vector<ScoreRow> rows = {};
};

std::string svg_of(const ScoreChart& chart);

}  // namespace flotsam

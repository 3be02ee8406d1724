#include "io/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/vec.h"
#include "io/number_table.h"

namespace flotsam {

namespace {

using Value = std::optional<double>;

struct Track {
    std::string solid;
    std::vector<Vec3> place;  // at every frame
};

struct RunTables {
    NumberTable audit, transforms;
    std::vector<double> time;  // of the frames
    std::vector<Track> tracks;
};

NumberTable table_if_there(const std::filesystem::path& file) {
    std::error_code error;
    return std::filesystem::exists(file, error) ? read_number_table(file) : NumberTable{};
}

RunTables tables_of(const ComparedRun& run) {
    RunTables tables{
        table_if_there(run.folder / "audit.csv"), table_if_there(run.folder / "transforms.csv"), {}, {}};
    const NumberTable& t = tables.transforms;
    if (const auto* time = t.find("time")) tables.time = *time;
    for (const std::string& name : t.names) {
        if (!name.ends_with(".qw")) continue;
        Track track{name.substr(0, name.size() - 3), {}};
        const auto *x = t.find(track.solid + ".x"), *y = t.find(track.solid + ".y"),
                   *z = t.find(track.solid + ".z");
        if (!x || !y || !z) continue;
        for (std::size_t r = 0; r < t.rows(); ++r) track.place.push_back({(*x)[r], (*y)[r], (*z)[r]});
        tables.tracks.push_back(std::move(track));
    }
    return tables;
}

const Track* track_of(const RunTables& tables, const std::string& solid) {
    for (const Track& track : tables.tracks)
        if (track.solid == solid) return &track;
    return nullptr;
}

// Interpolated between frames; nothing beyond the last.
Value coordinate_at(const RunTables& tables, const Track& track, int axis, double time) {
    for (std::size_t f = 0; f < tables.time.size(); ++f) {
        if (tables.time[f] < time - 1e-9) continue;
        if (f == 0) return track.place[0][axis];
        const double share = (time - tables.time[f - 1]) / (tables.time[f] - tables.time[f - 1]);
        return track.place[f - 1][axis] + share * (track.place[f][axis] - track.place[f - 1][axis]);
    }
    return {};
}

// The time when a solid first crosses a height.
Value crossing_time(const RunTables& tables, const Track& track, double height) {
    for (std::size_t f = 1; f < track.place.size(); ++f) {
        const double before = track.place[f - 1].y - height, after = track.place[f].y - height;
        if ((before < 0) == (after < 0)) continue;
        return tables.time[f - 1] + (tables.time[f] - tables.time[f - 1]) * before / (before - after);
    }
    return {};
}

double sum_of(const NumberTable& table, std::string_view name) {
    const auto* column = table.find(name);
    return column ? std::accumulate(column->begin(), column->end(), 0.0) : 0;
}

// The sum over steps of the length of a vector with three columns.
double sum_of_lengths(const NumberTable& table, const std::string& name) {
    const auto *x = table.find(name + ".x"), *y = table.find(name + ".y"), *z = table.find(name + ".z");
    double sum = 0;
    for (std::size_t r = 0; x && y && z && r < table.rows(); ++r)
        sum += length(Vec3{(*x)[r], (*y)[r], (*z)[r]});
    return sum;
}

double milliseconds(const NumberTable& audit) {
    double sum = 0;
    for (const std::string& name : audit.names)
        if (name.starts_with("ms.")) sum += sum_of(audit, name);
    return sum;
}

}  // namespace

std::vector<ComparisonRow> compare_runs(const std::vector<ComparedRun>& runs) {
    std::vector<RunTables> all;
    all.reserve(runs.size());
    for (const ComparedRun& run : runs) all.push_back(tables_of(run));
    std::vector<ComparisonRow> rows;
    const auto add = [&](std::string quantity, std::string unit, const auto& value) {
        ComparisonRow row{std::move(quantity), std::move(unit), {}};
        for (const RunTables& tables : all) row.value.push_back(value(tables));
        if (std::any_of(row.value.begin(), row.value.end(), [](const Value& v) { return v.has_value(); }))
            rows.push_back(std::move(row));
    };

    std::vector<std::string> solids;
    double end = 0;
    for (const RunTables& tables : all) {
        if (!tables.time.empty()) end = std::max(end, tables.time.back());
        for (const Track& track : tables.tracks)
            if (std::find(solids.begin(), solids.end(), track.solid) == solids.end())
                solids.push_back(track.solid);
    }
    for (const std::string& solid : solids) {
        // Axes along which it hardly moves are not worth a row.
        Vec3 way;
        for (const RunTables& tables : all)
            if (const Track* track = track_of(tables, solid))
                for (const Vec3 place : track->place) {
                    const Vec3 moved = place - track->place.front();
                    way = max(way, Vec3{std::abs(moved.x), std::abs(moved.y), std::abs(moved.z)});
                }
        for (int axis = 0; axis < 3; ++axis) {
            if (way[axis] < 0.1 * std::max({way.x, way.y, way.z})) continue;
            for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0})
                add(fmt::format("{}: {} at {:.3g} s", solid, "xyz"[axis], share * end), "m",
                    [&](const RunTables& tables) {
                        const Track* track = track_of(tables, solid);
                        return track ? coordinate_at(tables, *track, axis, share * end) : Value{};
                    });
        }
        add(solid + ": highest", "m", [&](const RunTables& tables) {
            const Track* track = track_of(tables, solid);
            Value top;
            if (track)
                for (const Vec3 place : track->place) top = std::max(top.value_or(place.y), place.y);
            return top;
        });
        // The liquid's level at the start of the first run is used for all runs.
        if (const auto* level = all[0].audit.find("liquid.top"); level && !level->empty())
            add(fmt::format("{}: centre passes {:.3g} m, the liquid's top at the start, at", solid,
                            level->front()),
                "s", [&](const RunTables& tables) {
                    const Track* track = track_of(tables, solid);
                    return track ? crossing_time(tables, *track, level->front()) : Value{};
                });
        if (runs.size() > 1)
            add(fmt::format("{}: furthest from where {} has it", solid, runs[0].label), "m",
                [&](const RunTables& tables) {
                    const Track *track = track_of(tables, solid), *first = track_of(all[0], solid);
                    if (!track || !first) return Value{};
                    double furthest = 0;
                    for (std::size_t f = 0; f < std::min(track->place.size(), first->place.size()); ++f)
                        furthest = std::max(furthest, length(track->place[f] - first->place[f]));
                    return Value(furthest);
                });
    }

    const auto of_start = [](const RunTables& tables, std::string_view name) -> Value {
        const auto* column = tables.audit.find(name);
        if (!column || column->empty() || column->front() == 0) return {};
        return 100 * (column->back() / column->front() - 1);
    };
    add("liquid: volume inside its surface, change", "%",
        [&](const RunTables& t) { return of_start(t, "liquid.volume"); });
    add("liquid: volume of its particles, change", "%",
        [&](const RunTables& t) { return of_start(t, "liquid.particle_volume"); });
    add("leaks: most particles inside solids", "1", [](const RunTables& t) -> Value {
        const auto* column = t.audit.find("liquid.particles_inside_solids");
        if (!column || column->empty()) return {};
        return *std::max_element(column->begin(), column->end());
    });
    add("momentum unaccounted, sum over steps / gravity's", "%", [](const RunTables& t) -> Value {
        const double gravity =
            sum_of_lengths(t.audit, "impulse.gravity") + sum_of_lengths(t.audit, "impulse.bodies.gravity");
        if (gravity == 0) return {};
        return 100 * sum_of_lengths(t.audit, "system.unaccounted") / gravity;
    });
    add("steps", "1", [](const RunTables& t) { return Value(double(t.audit.rows())); });
    add("time per step", "ms", [](const RunTables& t) -> Value {
        if (t.audit.rows() == 0) return {};
        return milliseconds(t.audit) / double(t.audit.rows());
    });
    add("time per frame", "ms", [](const RunTables& t) -> Value {
        const auto* frame = t.audit.find("frame");
        if (!frame || frame->empty()) return {};
        return milliseconds(t.audit) / frame->back();
    });
    return rows;
}

std::string comparison_text(const std::vector<ComparedRun>& runs, const std::vector<ComparisonRow>& rows) {
    std::size_t width = 8;
    for (const ComparisonRow& row : rows) width = std::max(width, row.quantity.size());
    std::string text = fmt::format("{:<{}} {:<4}", "", width, "");
    for (const ComparedRun& run : runs) text += fmt::format(" {:>14}", run.label);
    for (const ComparisonRow& row : rows) {
        text += fmt::format("\n{:<{}} {:<4}", row.quantity, width, row.unit);
        for (const Value& value : row.value)
            text += fmt::format(" {:>14}", value ? fmt::format("{:.4g}", *value) : "-");
    }
    return text + "\n";
}

std::string comparison_csv(const std::vector<ComparedRun>& runs, const std::vector<ComparisonRow>& rows) {
    std::string text = "quantity,unit";
    for (const ComparedRun& run : runs) text += "," + run.label;
    for (const ComparisonRow& row : rows) {
        text += fmt::format("\n\"{}\",{}", row.quantity, row.unit);
        for (const Value& value : row.value) text += value ? fmt::format(",{}", *value) : ",";
    }
    return text + "\n";
}

std::string motion_csv(const std::vector<ComparedRun>& runs) {
    std::vector<RunTables> all;
    std::string text = "time";
    std::vector<double> time;
    for (const ComparedRun& run : runs) {
        all.push_back(tables_of(run));
        for (const Track& track : all.back().tracks)
            for (const char axis : {'x', 'y', 'z'})
                text += fmt::format(",{}.{}.{}", run.label, track.solid, axis);
        if (all.back().time.size() > time.size()) time = all.back().time;
    }
    for (std::size_t f = 0; f < time.size(); ++f) {
        text += fmt::format("\n{}", time[f]);
        for (const RunTables& tables : all)
            for (const Track& track : tables.tracks)
                for (int axis = 0; axis < 3; ++axis)
                    text += f < track.place.size() ? fmt::format(",{}", track.place[f][axis]) : ",";
    }
    return text + "\n";
}

}  // namespace flotsam

#include "plot/run_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/check.h"
#include "io/atomic_file.h"
#include "io/run_folder.h"
#include "plot/axis.h"
#include "plot/gallery.h"

namespace flotsam {

namespace fs = std::filesystem;

namespace {

// A table over time must say the time, and time must go on.
NumberTable read_time_table(const fs::path& file) {
    NumberTable table = read_number_table(file);
    const std::vector<double>* time = table.find("time");
    if (!time)
        throw UserError(fmt::format("{}:1: there is no column 'time'\n  The file is not a table of a run.",
                                    file.string()));
    for (std::size_t row = 0; row < time->size(); ++row)
        if (!std::isfinite((*time)[row]) || (row > 0 && (*time)[row] < (*time)[row - 1]))
            throw UserError(
                fmt::format("{}:{}: the time {} does not follow on the row before\n  The file was "
                            "altered or damaged.",
                            file.string(), row + 2, (*time)[row]));
    return table;
}

// What a probe of a kind measures.
struct ProbeFamily {
    std::string_view title, quantity, unit, note = {};
    bool vector = false;    // with one chart per probe for its components
    bool of_solid = false;  // what the liquid does to a solid
};
ProbeFamily family_of(Probe::Kind kind) {
    switch (kind) {
        case Probe::Kind::height:
            return {"Height of the surface", "height", "m", "the highest surface above each probe"};
        case Probe::Kind::pressure:
            return {"Pressure", "pressure", "Pa", "at each probe; zero outside the liquid"};
        case Probe::Kind::speed:
            return {"Speed", "speed", "m/s", "at each probe"};
        case Probe::Kind::velocity_x:
        case Probe::Kind::velocity_y:
        case Probe::Kind::velocity_z:
            return {.title = "Velocity",
                    .quantity = "velocity",
                    .unit = "m/s",
                    .note = "at each probe",
                    .vector = true};
        case Probe::Kind::force_x:
        case Probe::Kind::force_y:
        case Probe::Kind::force_z:
            return {.title = "Force of the liquid on",
                    .quantity = "force",
                    .unit = "N",
                    .vector = true,
                    .of_solid = true};
        case Probe::Kind::torque_x:
        case Probe::Kind::torque_y:
        case Probe::Kind::torque_z:
            return {.title = "Torque of the liquid on",
                    .quantity = "torque",
                    .unit = "N m",
                    .vector = true,
                    .of_solid = true};
        case Probe::Kind::wetted_area:
            return {"Wetted area of solids", "area", "m^2", "as each probe's solid shows it to the liquid"};
        case Probe::Kind::distortion:
            return {"Distortion of solids", "distortion", "m",
                    "from the shape at rest of each probe's solid"};
        case Probe::Kind::distance:
            return {"Distance of solids", "distance", "m", "between the two of each probe"};
        case Probe::Kind::filled:
            return {"Filled share", "share", "1", "of each probe's box"};
        case Probe::Kind::mean:
        case Probe::Kind::largest:
        case Probe::Kind::smallest:
        case Probe::Kind::difference:
            return {"Combined probes", "value", "", "in the unit of what each combines"};
        case Probe::Kind::volume:
            return {"Volume of solids", "volume", "m^3", "inside the surface of each probe's solid"};
        case Probe::Kind::position_x:
        case Probe::Kind::position_y:
        case Probe::Kind::position_z:
            return {.title = "Position of",
                    .quantity = "position",
                    .unit = "m",
                    .vector = true,
                    .of_solid = true};
        case Probe::Kind::point_x:
        case Probe::Kind::point_y:
        case Probe::Kind::point_z:
            return {.title = "Place of a point of",
                    .quantity = "point",
                    .unit = "m",
                    .vector = true,
                    .of_solid = true};
        case Probe::Kind::tilt:
            return {"Tilt of solids", "angle", "deg", "between each solid's y axis and the vertical"};
    }
    return {"Probes", "value", "1"};
}

// One chart under construction, and what decides which probes it takes.
struct ProbeGroup {
    std::string key;
    NamedChart named;
    bool of_parts = false;  // curves are called x, y, z; the chart has the probe's name
};

// "beside" of "beside.x".
std::string base_of(const std::string& name) {
    const std::size_t dot = name.rfind('.');
    return dot == std::string::npos || dot + 2 != name.size() ? name : name.substr(0, dot);
}

ProbeGroup group_of(const std::string& column, const std::optional<Scene>& scene) {
    Chart chart;
    const Probe* probe = nullptr;
    if (scene)
        for (const Probe& p : scene->probes)
            if (p.name == column) probe = &p;
    if (!probe) {  // without the scene nobody knows the unit: each probe stands alone, a vector's parts
                   // together
        chart.title = fmt::format("Probe {}", base_of(column));
        chart.y_quantity = "value", chart.y_unit = "unit not known";
        return {
            base_of(column), {"probe_" + file_name_of(base_of(column)), chart}, base_of(column) != column};
    }
    const ProbeFamily family = family_of(probe->kind);
    chart.y_quantity = family.quantity, chart.y_unit = family.unit;
    chart.title = family.title;
    // A scene may name velocity_x alone; NAME.x is one part of a vector.
    const std::string base = base_of(column);
    if (!family.vector || base == column) {
        chart.note = family.note;
        return {fmt::format("{} [{}]", family.title, family.unit),
                {fmt::format("probe_{}", file_name_of(std::string(family.quantity))), chart}};
    }
    if (family.of_solid) {
        chart.title += fmt::format(" {}", scene->scenario.solids.at(probe->solid).name);
        chart.note = fmt::format("probe {}, along each axis", base);
    } else {
        const Vec3 p = probe->point;
        chart.title += fmt::format(" at {}", base);
        chart.note = fmt::format("probe at ({}, {}, {}) m, along each axis", number_text(p.x),
                                 number_text(p.y), number_text(p.z));
    }
    return {fmt::format("{} {}", family.title, base), {"probe_" + file_name_of(base), chart}, true};
}

// The components of a vector over time.
struct VectorCurves {
    std::vector<Curve> curves{{"x", {}}, {"y", {}}, {"z", {}}};
    void add(double time, Vec3 value) {
        for (int axis = 0; axis < 3; ++axis) curves[axis].points.push_back({time, value[axis]});
    }
};

}  // namespace

RunTables read_run_tables(const fs::path& run_folder) {
    const RunRecord record = read_run_record(run_folder);
    RunTables run;
    run.command = record.command;
    run.title = record.title.empty() ? run_folder.filename().string() : record.title;
    const fs::path audit = run_folder / "audit.csv", probes = run_folder / "probes.csv";
    if (!fs::exists(audit))
        throw UserError(
            fmt::format("{} is missing: there is nothing to plot\n  It appears with the run's first "
                        "step.",
                        audit.string()));
    run.audit = read_time_table(audit);
    try {
        // Mesh files are looked for beside the scene as it was, not beside its copy in the run folder.
        run.scene = parse_scene(read_file(run_folder / "scene.toml"), record.scene_file);
    } catch (const std::exception& error) {
        run.warnings.push_back(
            fmt::format("the scene of the run cannot be read, so that units of probes and "
                        "motions of solids are missing:\n  {}",
                        error.what()));
    }
    if (fs::exists(probes))
        run.probes = read_time_table(probes);
    else if (run.scene && !run.scene->probes.empty())
        run.warnings.push_back(fmt::format("{} is missing, though the scene has probes", probes.string()));
    return run;
}

std::vector<NamedChart> probe_charts(const NumberTable& probes, const std::optional<Scene>& scene) {
    const std::vector<double>& time = *probes.find("time");
    std::vector<ProbeGroup> groups;
    for (std::size_t n = 0; n < probes.names.size(); ++n) {
        const std::string& column = probes.names[n];
        if (column == "step" || column == "time") continue;
        ProbeGroup fresh = group_of(column, scene);
        const auto open = [&](const ProbeGroup& g) {
            return g.key == fresh.key && g.named.chart.curves.size() < most_curves;
        };
        auto group = std::find_if(groups.begin(), groups.end(), open);
        if (group == groups.end()) {
            const auto full = std::count_if(groups.begin(), groups.end(),
                                            [&](const ProbeGroup& g) { return g.key == fresh.key; });
            if (full > 0) {
                fresh.named.name += fmt::format("_{}", full + 1);
                fresh.named.chart.title += fmt::format(" ({})", full + 1);
            }
            groups.push_back(std::move(fresh));
            group = groups.end() - 1;
        }
        Curve curve{group->of_parts ? column.substr(base_of(column).size() + 1) : column, {}};
        for (std::size_t i = 0; i < time.size(); ++i) curve.points.push_back({time[i], probes.columns[n][i]});
        group->named.chart.curves.push_back(std::move(curve));
    }
    std::vector<NamedChart> charts;
    charts.reserve(groups.size());
    for (ProbeGroup& group : groups) charts.push_back(std::move(group.named));
    return charts;
}

std::vector<NamedChart> motion_charts(const std::vector<double>& times, const Scenario& scenario) {
    std::vector<NamedChart> charts;
    for (const Solid& solid : scenario.solids) {
        if (solid.motion != Motion::scripted) continue;
        VectorCurves position, turn;
        Vec3 turned;
        bool turns = false, moves = false;
        Pose before = pose_at(solid, 0);
        const Vec3 start = before.position;
        for (const double time : times) {
            const Pose pose = pose_at(solid, time);
            turned += rotation_vector(pose.rotation * before.rotation.inverse()) * (180 / std::numbers::pi);
            position.add(time, pose.position);
            turn.add(time, turned);
            moves = moves || length(pose.position - start) > 0;
            turns = turns || length(turned) > 0;
            before = pose;
        }
        const std::string name = file_name_of(solid.name);
        if (moves || !turns)
            charts.push_back({"motion_" + name,
                              {.title = fmt::format("Position of {}", solid.name),
                               .note = "as its script says",
                               .y_quantity = "position",
                               .y_unit = "m",
                               .curves = position.curves}});
        if (turns)
            charts.push_back({"turn_" + name,
                              {.title = fmt::format("Turn of {}", solid.name),
                               .note = "as its script says: angle turned about each axis since the start",
                               .y_quantity = "angle",
                               .y_unit = "°",
                               .curves = turn.curves}});
    }
    return charts;
}

std::vector<NamedChart> charts_of(const RunTables& run) {
    std::vector<NamedChart> charts = audit_charts(run.audit);
    const auto append = [&](std::vector<NamedChart> more) {
        charts.insert(charts.end(), std::make_move_iterator(more.begin()),
                      std::make_move_iterator(more.end()));
    };
    if (run.probes) append(probe_charts(*run.probes, run.scene));
    if (run.scene) append(motion_charts(*run.audit.find("time"), run.scene->scenario));
    return charts;
}

}  // namespace flotsam

#include "io/transforms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "io/gltf.h"
#include "io/number_table.h"

namespace flotsam {

namespace {

bool moves_as_a_whole(const Solid& solid) {
    return solid.motion == Motion::rigid || solid.motion == Motion::scripted;
}

std::vector<std::string> columns(const Scenario& scenario) {
    std::vector<std::string> names{"frame", "time"};
    for (const Solid& solid : scenario.solids)
        if (moves_as_a_whole(solid))
            for (const char* part : {"x", "y", "z", "qx", "qy", "qz", "qw"})
                names.push_back(fmt::format("{}.{}", solid.name, part));
    return names;
}

Rotation rotation_from(const std::array<double, 4>& q) {
    const Vec3 axis{q[0], q[1], q[2]};
    const double sine = length(axis);
    return sine > 0 ? Rotation::about(axis, 2 * std::atan2(sine, q[3])) : Rotation{};
}

}  // namespace

bool has_moving_solids(const Scenario& scenario) {
    return std::any_of(scenario.solids.begin(), scenario.solids.end(), moves_as_a_whole);
}

void TransformLog::on_start(const World& world, int frame) {
    if (world.step == 0) {
        log_.emplace(CsvLog::create(csv_, columns(scenario_)));
        write(world, frame);
    } else {
        log_.emplace(resume_log(csv_, frame, columns(scenario_)));
    }
}

void TransformLog::on_frame(World& world, int frame) {
    write(world, frame);
    log_->sync();
}

void TransformLog::write(const World& world, int frame) {
    std::vector<double> row{double(frame), world.time};
    for (std::size_t s = 0; s < scenario_.solids.size(); ++s) {
        if (!moves_as_a_whole(scenario_.solids[s])) continue;
        const Pose pose = pose_of(world, scenario_, s);
        const std::array<double, 4> turn = quaternion(pose.rotation);
        row.insert(row.end(), {pose.position.x, pose.position.y, pose.position.z});
        row.insert(row.end(), turn.begin(), turn.end());
    }
    log_->write(row);
}

// From the table and not from memory: it also holds the frames before a restart.
void TransformLog::on_finish(World&, int, bool) {
    const NumberTable table = read_number_table(csv_);
    static constexpr Vec3 palette[] = {{0.95, 0.77, 0.20}, {0.55, 0.36, 0.22}, {0.45, 0.47, 0.50},
                                       {0.78, 0.25, 0.20}, {0.25, 0.50, 0.35}, {0.30, 0.40, 0.65}};
    std::vector<AnimatedSolid> solids;
    std::size_t column = 2;
    for (std::size_t s = 0; s < scenario_.solids.size(); ++s) {
        const Solid& solid = scenario_.solids[s];
        AnimatedSolid animated{
            solid.name, &solid.shape.mesh, solid.color.value_or(palette[s % std::size(palette)]), {}};
        if (moves_as_a_whole(solid)) {
            const auto at = [&](std::size_t part, std::size_t row) {
                return table.columns[column + part][row];
            };
            for (std::size_t r = 0; r < table.rows(); ++r)
                animated.poses.push_back({{at(0, r), at(1, r), at(2, r)},
                                          rotation_from({at(3, r), at(4, r), at(5, r), at(6, r)})});
            column += 7;
        } else {
            animated.poses = {solid.start};
        }
        // A mesh that changes its shape is no rigid node; frames/ has it.
        if (!solid.sequence) solids.push_back(std::move(animated));
    }
    write_gltf(gltf_, solids, table.columns[1]);
}

}  // namespace flotsam

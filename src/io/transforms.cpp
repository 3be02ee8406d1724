#include "io/transforms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "geometry/mesh_surface.h"
#include "io/gltf.h"
#include "io/number_table.h"
#include "io/ply.h"

namespace flotsam {

namespace {

constexpr std::array parts{"x", "y", "z", "qx", "qy", "qz", "qw"};

// Does the table hold its pose?
bool moves(const Solid& solid) { return solid.motion == Motion::scripted || moves_by_itself(solid.motion); }

std::vector<std::string> columns(const Scenario& scenario) {
    std::vector<std::string> names{"frame", "time"};
    for (const Solid& solid : scenario.solids)
        if (moves(solid))
            for (const char* part : parts) names.push_back(fmt::format("{}.{}", solid.name, part));
    return names;
}

Rotation rotation_from(const std::array<double, 4>& q) {
    const Vec3 axis{q[0], q[1], q[2]};
    const double sine = length(axis);
    return sine > 0 ? Rotation::about(axis, 2 * std::atan2(sine, q[3])) : Rotation{};
}

// The poses of a solid, row by row; empty when the table does not have it.
std::vector<Pose> poses_in(const NumberTable& table, const Solid& solid) {
    std::array<const std::vector<double>*, 7> part{};
    for (std::size_t p = 0; p < parts.size(); ++p) {
        part[p] = table.find(fmt::format("{}.{}", solid.name, parts[p]));
        if (!part[p]) return {};
    }
    std::vector<Pose> poses;
    for (std::size_t r = 0; r < table.rows(); ++r)
        poses.push_back({{(*part[0])[r], (*part[1])[r], (*part[2])[r]},
                         rotation_from({(*part[3])[r], (*part[4])[r], (*part[5])[r], (*part[6])[r]})});
    return poses;
}

}  // namespace

void start_at_frame(Scenario& scenario, const std::filesystem::path& csv, int frame) {
    std::error_code error;
    if (std::none_of(scenario.solids.begin(), scenario.solids.end(),
                     [](const Solid& solid) { return moves_by_itself(solid.motion); }) ||
        !std::filesystem::exists(csv, error))
        return;
    const NumberTable table = read_number_table(csv);
    const std::vector<double>* frames = table.find("frame");
    if (!frames) return;
    const auto row = std::find(frames->begin(), frames->end(), double(frame)) - frames->begin();
    for (Solid& solid : scenario.solids) {
        if (!moves_by_itself(solid.motion)) continue;
        const std::vector<Pose> poses = poses_in(table, solid);
        if (row < std::ssize(poses)) solid.start = poses[row];
    }
}

void take_shapes_from_frame(Scenario& scenario, const std::filesystem::path& solids) {
    std::error_code error;
    if (!has_deforming_solids(scenario) || !std::filesystem::exists(solids, error)) return;
    const std::vector<Vec3f> vertices = read_ply(solids).mesh.vertices;
    std::size_t first = 0;
    for (Solid& solid : scenario.solids) {
        const std::size_t count = body_mesh_at(solid, 0).vertices.size();
        if (deforms(solid) && first + count <= vertices.size()) {
            for (std::size_t v = 0; v < count; ++v) solid.shape.mesh.vertices[v] = Vec3(vertices[first + v]);
            solid.shape.distance = std::make_shared<MeshSurface>(solid.shape.mesh);
            solid.start = {};
        }
        first += count;
    }
}

bool has_deforming_solids(const Scenario& scenario) {
    return std::any_of(scenario.solids.begin(), scenario.solids.end(),
                       [](const Solid& solid) { return deforms(solid); });
}

bool has_moving_solids(const Scenario& scenario) {
    return std::any_of(scenario.solids.begin(), scenario.solids.end(), moves);
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
        if (!moves(scenario_.solids[s])) continue;
        const Pose pose = pose_of(world, scenario_, s);
        const std::array<double, 4> turn = quaternion(pose.rotation);
        row.insert(row.end(), {pose.position.x, pose.position.y, pose.position.z});
        row.insert(row.end(), turn.begin(), turn.end());
    }
    log_->write(row);
}

// From the table and not from memory: it also holds the frames before a restart.
void TransformLog::on_finish(World&, int, bool) {
    if (gltf_.empty()) return;
    const NumberTable table = read_number_table(csv_);
    static constexpr Vec3 palette[] = {{0.95, 0.77, 0.20}, {0.55, 0.36, 0.22}, {0.45, 0.47, 0.50},
                                       {0.78, 0.25, 0.20}, {0.25, 0.50, 0.35}, {0.30, 0.40, 0.65}};
    std::vector<AnimatedSolid> solids;
    for (std::size_t s = 0; s < scenario_.solids.size(); ++s) {
        const Solid& solid = scenario_.solids[s];
        AnimatedSolid animated{
            solid.name, &solid.shape.mesh, solid.color.value_or(palette[s % std::size(palette)]), {}};
        animated.poses = moves(solid) ? poses_in(table, solid) : std::vector{solid.start};
        // A mesh that deforms cannot be a rigid node; it is in frames/.
        if (!solid.sequence && !deforms(solid)) solids.push_back(std::move(animated));
    }
    write_gltf(gltf_, solids, table.columns[1]);
}

}  // namespace flotsam

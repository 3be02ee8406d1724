#include "io/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/check.h"

namespace flotsam {

namespace {

constexpr std::string_view milliseconds = "ms.";
// Holds stages that the first step did not have, so that a row's times still add up to the whole step.
constexpr std::string_view other_stages = "other";

std::vector<std::string> physics_columns() {
    std::vector<std::string> columns{"step", "frame", "time", "dt"};
    for (const Quantity& quantity : quantities()) columns.emplace_back(quantity.name);
    columns.insert(columns.end(), {"solver.iterations", "solver.residual"});
    for (const char* impulse : {"gravity", "walls", "solids", "friction", "inflow", "outflow"})
        for (const char axis : {'x', 'y', 'z'})
            columns.push_back(fmt::format("impulse.{}.{}", impulse, axis));
    for (const char* impulse : {"gravity", "liquid", "contacts", "held"})
        for (const char axis : {'x', 'y', 'z'})
            columns.push_back(fmt::format("impulse.bodies.{}.{}", impulse, axis));
    columns.insert(columns.end(), {"particles.in", "particles.out"});
    for (const char* displaced : {"pushed", "reseeded"})
        for (const char* what : {"", "_distance", "_farthest", "_momentum.x", "_momentum.y", "_momentum.z"})
            columns.push_back(fmt::format("particles.{}{}", displaced, what));
    columns.insert(columns.end(), {"steps.repeated", "disagreement.contacts", "disagreement.newton",
                                   "disagreement.separation", "sealed.removed_volume"});
    return columns;
}

}  // namespace

void Audit::on_start(const World& world, int frame) {
    frame_ = frame;
    if (world.step == 0) return;
    const std::vector<std::string> columns = physics_columns();
    log_.emplace(resume_log(file_, world.step, columns));
    std::string_view rest = std::string_view(log_->header()).substr(CsvLog::header_of(columns).size());
    while (!rest.empty()) {
        rest.remove_prefix(1);  // the comma
        const std::string_view column = rest.substr(0, rest.find(','));
        stages_.emplace_back(column.substr(std::min(milliseconds.size(), column.size())));
        rest.remove_prefix(column.size());
    }
}

void Audit::begin(const std::vector<std::string>& stages) {
    stages_ = stages;
    std::vector<std::string> columns = physics_columns();
    for (const std::string& stage : stages_) columns.push_back(fmt::format("{}{}", milliseconds, stage));
    log_.emplace(CsvLog::create(file_, columns));
}

void Audit::on_step(const World& world, const StepReport& report, double dt) {
    if (!log_) {
        std::vector<std::string> stages;
        for (const StageTime& time : report.stages)
            if (std::find(stages.begin(), stages.end(), time.stage) == stages.end())
                stages.push_back(time.stage);
        stages.emplace_back(other_stages);
        begin(stages);
    }
    std::vector<double> row{double(world.step), double(frame_ + 1), world.time, dt};
    for (const Quantity& quantity : quantities()) row.push_back(quantity.value(world, scenario_, report));
    row.insert(row.end(), {double(report.solve.iterations), report.solve.residual});
    const StepLedger& ledger = report.ledger;
    for (const Vec3 impulse :
         {ledger.gravity, ledger.walls, ledger.solids, ledger.friction, ledger.inflow, ledger.outflow})
        row.insert(row.end(), {impulse.x, impulse.y, impulse.z});
    const BodyLedger& bodies = ledger.bodies;
    for (const Vec3 impulse : {bodies.gravity, bodies.liquid, bodies.contacts, bodies.held})
        row.insert(row.end(), {impulse.x, impulse.y, impulse.z});
    row.insert(row.end(), {double(ledger.particles_in), double(ledger.particles_out)});
    const double mass = scenario_.particle_mass();
    const auto add = [&](const Displaced& displaced, Vec3 momentum) {
        row.insert(row.end(), {double(displaced.count), displaced.distance, displaced.farthest, momentum.x,
                               momentum.y, momentum.z});
    };
    add(ledger.pushed, ledger.pushed.way * (mass / dt));  // that would have moved them there in this step
    add(ledger.reseeded, ledger.reseeded.velocity * mass);
    row.insert(row.end(), {double(report.repeats), report.disagreement.contacts, report.disagreement.newton,
                           double(report.disagreement.separation), ledger.removed_volume});

    std::vector<double> times(stages_.size(), 0);
    for (const StageTime& time : report.stages) {
        auto column = std::find(stages_.begin(), stages_.end(), time.stage);
        if (column == stages_.end()) column = std::find(stages_.begin(), stages_.end(), other_stages);
        if (column != stages_.end()) times[column - stages_.begin()] += time.milliseconds;
    }
    for (const double time : times) row.push_back(std::round(time * 1000) / 1000);
    log_->write(row);
}

// Rows reach the disk before the checkpoint of this frame does: a power cut must not leave a gap between
// them.
void Audit::on_frame(World&, int frame) {
    frame_ = frame;
    if (log_) log_->sync();
}

void Audit::on_finish(World&, int, bool) {
    if (log_) log_->sync();
}

void BodyLog::on_start(const World& world, int) {
    std::vector<std::string> columns{"step", "time"};
    std::vector<int> solids;
    for_each_body(world, [&](const auto& body) { solids.push_back(body.solid); });
    for (const int solid : solids) {
        const std::string& name = scenario_.solids[solid].name;
        const auto add = [&](const char* what, std::string_view parts) {
            for (const char part : parts) columns.push_back(fmt::format("{}.{}.{}", name, what, part));
        };
        add("position", "xyz");
        add("orientation", "xyzw");
        for (const char* what : {"velocity", "spin", "force", "torque", "contact"}) add(what, "xyz");
    }
    if (world.step > 0) {
        log_.emplace(resume_log(file_, world.step, columns));
    } else {
        log_.emplace(CsvLog::create(file_, columns));
        write(world, std::vector<Impulse>(solids.size()));
    }
}

void BodyLog::on_step(const World& world, const StepReport& report, double) {
    write(world, report.ledger.bodies.contact);
}

void BodyLog::write(const World& world, const std::vector<Impulse>& contact) {
    std::vector<double> row{double(world.step), world.time};
    std::size_t number = 0;  // of the body
    const auto put = [&](Vec3 v) { row.insert(row.end(), {v.x, v.y, v.z}); };
    for_each_body(world, [&](const auto& body) {
        const Pose pose = pose_of(body);
        const std::array<double, 4> turn = quaternion(pose.rotation);
        put(pose.position);
        row.insert(row.end(), turn.begin(), turn.end());
        put(velocity_of(body));
        put(spin_of(body));
        put(world.loads[body.solid].force);
        put(world.loads[body.solid].torque);
        put(contact[number++].linear);
    });
    log_->write(row);
}

void BodyLog::on_frame(World&, int) { log_->sync(); }
void BodyLog::on_finish(World&, int, bool) { log_->sync(); }

void ProbeLog::on_start(const World& world, int) {
    std::vector<std::string> columns{"step", "time"};
    for (const Probe& probe : probes_) columns.push_back(probe.name);
    if (world.step > 0) {
        log_.emplace(resume_log(file_, world.step, columns));
    } else {
        log_.emplace(CsvLog::create(file_, columns));
        write(world);
    }
}

void ProbeLog::on_step(const World& world, const StepReport&, double) { write(world); }
void ProbeLog::on_frame(World&, int) { log_->sync(); }
void ProbeLog::on_finish(World&, int, bool) { log_->sync(); }

void ProbeLog::write(const World& world) {
    std::vector<double> row{double(world.step), world.time};
    for (const Probe& probe : probes_) row.push_back(measure(probe, world, scenario_));
    log_->write(row);
}

}  // namespace flotsam

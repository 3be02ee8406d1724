// audit.csv, bodies.csv and probes.csv: the physics of every step, in numbers that can be checked.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "io/csv_log.h"
#include "sim/driver.h"
#include "sim/measure.h"

namespace flotsam {

// One row per step: step, frame (the one under way), time, dt, every quantity of sim/measure.h, the solver,
// the ledger of momentum and particles, and milliseconds per stage.
class Audit : public Observer {
  public:
    Audit(std::filesystem::path file, const Scenario& scenario)
        : file_(std::move(file)), scenario_(scenario) {}

    void on_start(const World& world, int frame) override;
    void on_step(const World& world, const StepReport& report, double dt) override;
    void on_frame(World&, int frame) override;
    void on_finish(World&, int, bool) override;

  private:
    void begin(const std::vector<std::string>& stages);

    std::filesystem::path file_;
    const Scenario& scenario_;
    std::optional<CsvLog> log_;        // from the first step on: the first report names the stages
    std::vector<std::string> stages_;  // that have a column
    int frame_ = 0;
};

// One row per step, and one for the start: step, time, and for every solid that moves by itself its position
// and orientation (of its shape's coordinates; the best fit if it deforms), velocity (of its centre of mass)
// and spin, force and torque of the liquid (about its position), and the impulse of contacts and joints.
class BodyLog : public Observer {
  public:
    BodyLog(std::filesystem::path file, const Scenario& scenario)
        : file_(std::move(file)), scenario_(scenario) {}

    void on_start(const World& world, int frame) override;
    void on_step(const World& world, const StepReport& report, double dt) override;
    void on_frame(World&, int frame) override;
    void on_finish(World&, int, bool) override;

  private:
    void write(const World& world, const std::vector<Impulse>& contact);

    std::filesystem::path file_;
    const Scenario& scenario_;
    std::optional<CsvLog> log_;
};

// One row per step, and one for the start: step, time, every probe.
class ProbeLog : public Observer {
  public:
    ProbeLog(std::filesystem::path file, const Scenario& scenario, std::vector<Probe> probes)
        : file_(std::move(file)), scenario_(scenario), probes_(std::move(probes)) {}

    void on_start(const World& world, int frame) override;
    void on_step(const World& world, const StepReport& report, double dt) override;
    void on_frame(World&, int frame) override;
    void on_finish(World&, int, bool) override;

  private:
    void write(const World& world);

    std::filesystem::path file_;
    const Scenario& scenario_;
    std::vector<Probe> probes_;
    std::optional<CsvLog> log_;
};

}  // namespace flotsam

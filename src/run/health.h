// A summary of problems when a run ends, which no single number of a result shows.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "io/number_table.h"
#include "sim/driver.h"

namespace flotsam {

// One kind of problem: what happened, how often or how much and when it was worst; and what can be done.
struct HealthNote {
    std::string what, advice;
};

// The problems in all rows of a run's audit, including those that an earlier process wrote. Empty for a
// healthy run.
std::vector<HealthNote> health_of(const NumberTable& audit, const Scenario& scenario);
// The notes as they are printed; `steps` is that of the whole run.
std::string health_text(const std::vector<HealthNote>& notes, std::size_t steps);

// Prints the notes to standard error when a run ends, however it ends; without problems, only if not `quiet`.
class Health : public Observer {
  public:
    Health(std::filesystem::path audit, const Scenario& scenario, bool quiet)
        : audit_(std::move(audit)), scenario_(scenario), quiet_(quiet) {}

    void on_step(const World& world, const StepReport& report, double dt) override;
    void on_finish(World& world, int frame, bool completed) override;

  private:
    std::filesystem::path audit_;
    const Scenario& scenario_;
    bool quiet_;
    std::map<std::string, int> reasons_;  // why steps were repeated by this process, and how often
};

}  // namespace flotsam

// What a run has to say about itself when it ends: trouble that no single number of a result shows.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "io/number_table.h"
#include "sim/driver.h"

namespace flotsam {

// One kind of trouble: what happened, how often or how much and when it was worst; and what can be done.
struct HealthNote {
    std::string what, advice;
};

// What the rows of an audit tell, all of the run's, also those that another process wrote. Nothing for a run
// that is well.
std::vector<HealthNote> health_of(const NumberTable& audit, const Scenario& scenario);
// As it is printed; `steps` of the run.
std::string health_text(const std::vector<HealthNote>& notes, std::size_t steps);

// Prints that to standard error when a run ends, however it ends; where nothing is wrong, only if not
// `quiet`.
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
